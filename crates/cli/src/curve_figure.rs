//! Forecasts a second by batch, a small chart for each model.

use foretell::{CurvePoint, ForecastCurve};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::lettering::text_width;
use crate::picture::{Drawn, FAINT, GRID, INK, Picture, WIDTH, colour, head_height, text, titled};
use crate::ticks::{number, value_ticks};

const COLUMNS: usize = 3;
/// Pixels of a chart, and of what stands around its lines.
const HEIGHT: u32 = 190;
const TOP: i32 = 34;
const BOTTOM: i32 = 30;
const RIGHT: i32 = 14;
const LABEL: f64 = 12.0;
/// A batch between two that are marked is as large as their geometric mean at least.
const MARKED: usize = 4;

/// The curves of several models.
pub(crate) struct CurveFigure<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) curves: &'a [ForecastCurve],
}

impl Picture for CurveFigure<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, head_height(&self.title, &self.subtitle) + self.layout().0 as u32 * HEIGHT + 8)
    }

    fn names(&self) -> Vec<&str> {
        let models = self.curves.iter().map(|curve| &*curve.model);
        [&*self.title, &*self.subtitle].into_iter().chain(models).collect()
    }

    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        let body = titled(area, &self.title, &self.subtitle)?;
        for (curve, area) in self.curves.iter().zip(body.split_evenly(self.layout())) {
            chart(curve, &area)?;
        }
        Ok(())
    }
}

impl CurveFigure<'_> {
    /// The rows and columns of charts.
    fn layout(&self) -> (usize, usize) {
        let columns = self.curves.len().clamp(1, COLUMNS);
        (self.curves.len().div_ceil(columns).max(1), columns)
    }
}

fn chart<B>(curve: &ForecastCurve, area: &DrawingArea<B, Shift>) -> Drawn
where
    B: DrawingBackend<ErrorType: 'static>,
{
    let points = &curve.points;
    let best = points.iter().map(|point| point.per_second).fold(0.0, f64::max);
    let high = if best > 0.0 { 1.1 * best } else { 1.0 };
    let values = value_ticks(0.0, high, 4);
    let longest = values.iter().map(|(_, label)| text_width(label, LABEL)).fold(0.0, f64::max);
    let (width, height) = area.dim_in_pixel();
    let (left, right, bottom) = (24 + longest as i32 + 8, width as i32 - RIGHT, height as i32 - BOTTOM);
    let logs = || points.iter().map(|point| (point.batch as f64).log2());
    let (first, last) = logs().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let along = |batch: usize| {
        let share = ((batch as f64).log2() - first) / (last - first).max(1.0);
        left + (share * f64::from(right - left)) as i32
    };
    let up = |rate: f64| bottom - (rate / high * f64::from(bottom - TOP)) as i32;
    let at = |point: &CurvePoint| (along(point.batch), up(point.per_second));

    area.draw(&Text::new(curve.model.clone(), (24, 8), text(16.0, &INK)))?;
    for (value, label) in &values {
        area.draw(&PathElement::new([(left, up(*value)), (right, up(*value))], GRID))?;
        let style = text(LABEL, &FAINT).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(label.clone(), (left - 8, up(*value)), style))?;
    }
    let mut marked = None;
    for CurvePoint { batch, .. } in points {
        if marked.is_none_or(|before: usize| *batch >= MARKED * before) {
            marked = Some(*batch);
            let style = text(LABEL, &FAINT).pos(Pos::new(HPos::Center, VPos::Top));
            area.draw(&Text::new(number(*batch as f64), (along(*batch), bottom + 6), style))?;
        }
    }
    let ink = colour(0);
    area.draw(&PathElement::new(points.iter().map(at).collect::<Vec<_>>(), ink.stroke_width(2)))?;
    let chosen = points.iter().filter(|point| point.batch == curve.choice);
    chosen.map(at).try_for_each(|place| area.draw(&Circle::new(place, 6, ink.filled())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::{Acceleration, WeightPrecision};

    #[test]
    fn each_model_has_a_chart_with_its_batches_and_a_mark_at_the_choice() {
        let curve = |model: &str, rates: &[f64]| ForecastCurve {
            model: model.to_owned(),
            acceleration: Acceleration::current(),
            precision: WeightPrecision::F32,
            threads: 2,
            parameters: 9,
            points: rates
                .iter()
                .enumerate()
                .map(|(power, &per_second)| CurvePoint { batch: 1 << power, ms: 1.0, per_second })
                .collect(),
            choice: 4,
        };
        let curves =
            [curve("A & B", &[1e5, 2e5, 4e5, 4.1e5]), curve("C", &[3.0, 3.0, 3.0, 2.0]), curve("D", &[5.0])];
        let figure =
            CurveFigure { title: "Rates".to_owned(), subtitle: "by batch".to_owned(), curves: &curves };
        let svg = figure.svg().unwrap();
        for part in ["Rates", "by batch", "A &amp; B", "400,000", "<polyline"] {
            assert!(svg.contains(part), "{part} is missing: {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 2, "D has no batch of 4");
        assert!(figure.png().unwrap().starts_with(b"\x89PNG"));
        let none = CurveFigure { curves: &[], ..figure };
        assert!(none.svg().unwrap().contains("</svg>"));
    }
}
