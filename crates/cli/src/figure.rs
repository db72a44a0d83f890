//! Figures of series with their forecasts and intervals, as SVG and as PNG.

use foretell::TimeKind;
use plotters::coord::Shift;
use plotters::coord::combinators::BindKeyPoints as _;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::picture::{CHARACTER, Drawn, FAINT, GRID, INK, Picture, WIDTH, colour, text, titled};
use crate::ticks::{number, ticks, value_range};

/// Beside the axes of a facet.
const LEFT: u32 = 68;
const RIGHT: u32 = 26;
/// The opacity of the widest interval of several; those within add to it.
const OPACITY: f64 = 0.18;

/// The contents of a figure.
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The kind of the times; timestamps are on civil clocks.
    pub(crate) kind: TimeKind,
    /// The models' names.
    pub(crate) models: Vec<String>,
    pub(crate) facets: Vec<Facet>,
}

/// One series.
#[derive(Clone)]
pub(crate) struct Facet {
    /// Nothing where the figure's title says it.
    pub(crate) title: Option<String>,
    pub(crate) history: Vec<(i64, f32)>,
    pub(crate) forecasts: Vec<Forecast>,
}

/// One forecast of one model. It begins at its cutoff, the last known value, so that it hangs together with the
/// history.
#[derive(Clone)]
pub(crate) struct Forecast {
    /// The model's place in [`Figure::models`].
    pub(crate) model: usize,
    pub(crate) line: Vec<(i64, f32)>,
    /// The widest first.
    pub(crate) bands: Vec<Band>,
    /// Whether its values decide the range of the axis: not if no history came before it, so that the model saw nothing but
    /// padding.
    pub(crate) sets_axis: bool,
}

/// An interval along a forecast.
#[derive(Clone)]
pub(crate) struct Band {
    /// As in the column's name: `80`.
    pub(crate) level: String,
    /// Times, lower and upper ends.
    pub(crate) steps: Vec<(i64, f32, f32)>,
}

impl Picture for Figure {
    fn size(&self) -> (u32, u32) {
        let (rows, _) = self.layout();
        let height = match self.facets.len() {
            0 | 1 => 430,
            2..=8 => 250,
            _ => 200,
        };
        (WIDTH, 90 + rows as u32 * height)
    }

    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        let [head, body] = titled(area, &self.title, &self.subtitle)?;
        self.legend(&head)?;
        for (facet, area) in self.facets.iter().zip(body.split_evenly(self.layout())) {
            self.facet(facet, &area)?;
        }
        Ok(())
    }
}

impl Figure {
    /// The rows and columns of facets.
    fn layout(&self) -> (usize, usize) {
        let columns = match self.facets.len() {
            0 | 1 => 1,
            2..=8 => 2,
            _ => 3,
        };
        (self.facets.len().div_ceil(columns).max(1), columns)
    }

    /// A row that says what lines and areas are.
    fn legend<B>(&self, head: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        let (mut x, y) = (24, 74);
        let write = |x: &mut i32, name: &str| -> Drawn {
            head.draw(&Text::new(name.to_owned(), (*x + 30, y - 7), text(15.0, &INK)))?;
            // About as wide as the font is on average.
            *x += 30 + 8 * name.chars().count() as i32 + 22;
            Ok(())
        };
        head.draw(&PathElement::new([(x, y), (x + 24, y)], INK.stroke_width(2)))?;
        write(&mut x, "history")?;
        for (model, name) in self.models.iter().enumerate() {
            head.draw(&PathElement::new([(x, y), (x + 24, y)], colour(model).stroke_width(2)))?;
            write(&mut x, name)?;
        }
        let bands =
            || self.facets.iter().flat_map(|facet| &facet.forecasts).flat_map(|forecast| &forecast.bands);
        let mut levels: Vec<&str> = Vec::new();
        bands().for_each(|band| {
            if !levels.contains(&&*band.level) {
                levels.push(&band.level)
            }
        });
        for (depth, level) in levels.iter().enumerate() {
            // Bands of several levels are painted over each other.
            let opacity = 1.0 - (1.0 - OPACITY).powi(depth as i32 + 1);
            let shape = Rectangle::new([(x, y - 6), (x + 24, y + 6)], colour(0).mix(opacity).filled());
            head.draw(&shape)?;
            write(&mut x, &format!("{level} % interval"))?;
        }
        Ok(())
    }

    fn facet<B>(&self, facet: &Facet, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        let lines = facet.forecasts.iter().flat_map(|forecast| &forecast.line);
        let times = || facet.history.iter().chain(lines.clone()).map(|&(time, _)| time);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(1));
        let measure = || facet.forecasts.iter().filter(|forecast| forecast.sets_axis);
        let values = facet.history.iter().chain(measure().flat_map(|forecast| &forecast.line));
        let ends = measure().flat_map(|forecast| &forecast.bands).flat_map(|band| &band.steps);
        let ends = ends.flat_map(|&(_, lo, hi)| [lo, hi]);
        let (low, high) = value_range(values.map(|&(_, value)| value).chain(ends));
        let (width, height) = area.dim_in_pixel();
        let small = height < 300;
        let label_size = if small { 13.0 } else { 15.0 };
        let along = f64::from(width) - f64::from(LEFT + RIGHT);
        let marks = ticks(self.kind, first, last, (along / (CHARACTER * label_size)) as usize);
        let label = |time: &i64| marks.iter().find(|(mark, _)| mark == time).map(|(_, label)| label.clone());

        let title = facet.title.as_deref().unwrap_or_default();
        area.draw(&Text::new(title.to_owned(), (24, 6), text(16.0, &INK)))?;
        let x = (first..last.max(first + 1)).with_key_points(marks.iter().map(|(time, _)| *time).collect());
        let mut chart = ChartBuilder::on(area)
            .margin_top(if title.is_empty() { 10 } else { 30 })
            .margin_right(RIGHT)
            .margin_left(14)
            .margin_bottom(10)
            .set_label_area_size(LabelAreaPosition::Left, LEFT - 14)
            .set_label_area_size(LabelAreaPosition::Bottom, 28)
            .build_cartesian_2d(x, low..high)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .y_labels(if small { 5 } else { 8 })
            .y_label_style(text(label_size, &FAINT).pos(Pos::new(HPos::Right, VPos::Center)))
            .x_label_style(text(label_size, &FAINT).pos(Pos::new(HPos::Center, VPos::Top)))
            .x_label_formatter(&|time: &i64| label(time).unwrap_or_default())
            .y_label_formatter(&|value: &f64| number(*value))
            .draw()?;

        for forecast in &facet.forecasts {
            for band in &forecast.bands {
                let whole = |step: &&(i64, f32, f32)| step.1.is_finite() && step.2.is_finite();
                let steps = || band.steps.iter().filter(whole);
                let upper = steps().map(|&(time, _, hi)| (time, f64::from(hi)));
                let lower = steps().rev().map(|&(time, lo, _)| (time, f64::from(lo)));
                let outline: Vec<_> = upper.chain(lower).collect();
                chart.draw_series([Polygon::new(outline, colour(forecast.model).mix(OPACITY))])?;
            }
        }
        let width = if small { 1 } else { 2 };
        for line in pieces(&facet.history) {
            chart.draw_series([PathElement::new(line, INK.stroke_width(width))])?;
        }
        for forecast in &facet.forecasts {
            for line in pieces(&forecast.line) {
                chart.draw_series([PathElement::new(line, colour(forecast.model).stroke_width(2))])?;
            }
        }
        Ok(())
    }
}

/// The parts of a line between its missing values.
fn pieces(line: &[(i64, f32)]) -> impl Iterator<Item = Vec<(i64, f64)>> {
    let parts = line.split(|(_, value)| !value.is_finite()).filter(|part| !part.is_empty());
    parts.map(|part| part.iter().map(|&(time, value)| (time, f64::from(value))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::is_xml;

    fn facet(title: Option<&str>) -> Facet {
        let year = 31_557_600_000_000;
        let band = Band { level: "80".to_owned(), steps: vec![(year, 2.0, 2.0), (2 * year, 2.0, 4.0)] };
        Facet {
            title: title.map(str::to_owned),
            history: vec![(0, 1.0), (year / 2, f32::NAN), (year, 2.0)],
            forecasts: vec![Forecast {
                model: 0,
                line: vec![(year, 2.0), (2 * year, 3.0)],
                bands: vec![band],
                sets_axis: true,
            }],
        }
    }

    fn figure(facets: Vec<Facet>) -> String {
        let figure = Figure {
            title: "Fish & chips".to_owned(),
            subtitle: "sold".to_owned(),
            kind: TimeKind::Timestamp,
            models: vec!["NHITS".to_owned()],
            facets,
        };
        figure.svg().unwrap()
    }

    #[test]
    fn a_figure_is_svg_with_all_its_parts() {
        let svg = figure(vec![facet(None)]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for part in
            ["Fish &amp; chips", "sold", "NHITS", "80 % interval", "history", "<polyline", "<polygon", "1971"]
        {
            assert!(svg.contains(part), "{part} is missing");
        }
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn a_figure_is_a_picture_with_letters() {
        let figure = |title: &str| Figure {
            title: title.to_owned(),
            subtitle: String::new(),
            kind: TimeKind::Timestamp,
            models: vec!["NHITS".to_owned()],
            facets: vec![facet(None)],
        };
        let [picture, other] = ["Ärger mit Ω и 日", "Aerger"].map(|title| figure(title).png().unwrap());
        assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n") && picture.ends_with(b"IEND\xae\x42\x60\x82"));
        assert_ne!(picture, other);
    }

    #[test]
    fn a_forecast_from_padding_does_not_stretch_the_axis() {
        let mut wild = facet(None);
        let usual = figure(vec![facet(None)]);
        wild.forecasts.push(Forecast {
            model: 0,
            line: vec![(0, 5000.0)],
            bands: Vec::new(),
            sets_axis: false,
        });
        let labels =
            |svg: &str| svg.lines().map(str::trim).filter(|line| line.parse::<f64>().is_ok()).count();
        assert_eq!(labels(&figure(vec![wild.clone()])), labels(&usual));
        wild.forecasts[1].sets_axis = true;
        assert!(figure(vec![wild]).contains("5000"));
    }

    #[test]
    fn every_series_has_its_place() {
        let svg = figure(["north", "south", "east"].map(|name| facet(Some(name))).into());
        assert!(["north", "south", "east"].iter().all(|name| svg.contains(name)));
        assert_eq!(svg.matches("<polygon").count(), 3);
        assert!(figure(Vec::new()).contains("</svg>"));
    }

    #[test]
    fn names_with_control_characters_leave_it_well_formed() {
        let svg = figure(vec![facet(Some("a\0b\u{1b}[1mc")), facet(Some("x"))]);
        assert!(svg.contains("a\u{fffd}b\u{fffd}[1mc") && svg.chars().all(is_xml), "{svg}");
    }

    #[test]
    fn a_line_is_broken_where_values_are_missing() {
        let line = [(1, 1.0), (2, f32::NAN), (3, f32::INFINITY), (4, 2.0), (5, 3.0)];
        assert_eq!(pieces(&line).map(|piece| piece.len()).collect::<Vec<_>>(), [1, 2]);
    }
}
