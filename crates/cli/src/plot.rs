//! A chart of a series with its forecasts, as SVG.

use foretell::{Freq, TimeKind};
use plotters::coord::combinators::BindKeyPoints as _;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (1000, 520);
const FONT: &str = "Helvetica, Arial, sans-serif";
const INK: RGBColor = RGBColor(45, 52, 64);
const FAINT: RGBColor = RGBColor(112, 120, 133);
const GRID: RGBColor = RGBColor(229, 232, 237);
const BLUE: RGBColor = RGBColor(31, 107, 184);
/// The blue, translucent: lines beneath stay visible.
const BAND: RGBAColor = RGBAColor(31, 107, 184, 0.24);

/// What to draw.
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Times (timestamps) and values.
    pub(crate) history: Vec<(i64, f32)>,
    /// Each begins at its cutoff, the last known value, so that it hangs together with the history.
    pub(crate) forecasts: Vec<Vec<Step>>,
    pub(crate) forecast_name: String,
    pub(crate) interval_name: String,
}

/// A step of a forecast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) time: i64,
    pub(crate) value: f32,
    pub(crate) lo: f32,
    pub(crate) hi: f32,
}

impl Chart {
    /// The chart as the text of an SVG file.
    pub(crate) fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area())
            .map_err(|error| anyhow::anyhow!("cannot draw the chart: {error}"))?;
        Ok(svg)
    }

    fn draw(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    ) -> Result<(), Box<dyn std::error::Error + '_>> {
        let steps = || self.forecasts.iter().flatten();
        let times = || self.history.iter().map(|&(time, _)| time).chain(steps().map(|step| step.time));
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let values = || self.history.iter().map(|&(_, y)| y).chain(steps().flat_map(|s| [s.lo, s.hi]));
        let (low, high) = value_range(values());
        let ticks = ticks(first, last);
        let label = |time: &i64| match ticks.iter().find(|(tick, _)| tick == time) {
            Some((_, label)) => label.clone(),
            None => String::new(),
        };

        area.fill(&WHITE)?;
        let text =
            |size: f64, color: &'static RGBColor| TextStyle::from((FONT, size).into_font()).color(color);
        area.draw(&Text::new(self.title.as_str(), (24, 18), text(24.0, &INK)))?;
        area.draw(&Text::new(self.subtitle.as_str(), (24, 46), text(16.0, &FAINT)))?;

        let x = (first..last).with_key_points(ticks.iter().map(|(time, _)| *time).collect());
        let mut chart = ChartBuilder::on(area)
            .margin_top(78)
            .margin_right(28)
            .margin_left(16)
            .margin_bottom(12)
            .set_label_area_size(LabelAreaPosition::Left, 48)
            .set_label_area_size(LabelAreaPosition::Bottom, 32)
            .build_cartesian_2d(x, low..high)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .y_labels(8)
            .y_label_style(text(15.0, &FAINT).pos(Pos::new(HPos::Right, VPos::Center)))
            .x_label_style(text(15.0, &FAINT).pos(Pos::new(HPos::Center, VPos::Top)))
            .x_label_formatter(&label)
            .y_label_formatter(&|y| y.to_string())
            .draw()?;

        let points = self.history.iter().map(|&(time, y)| (time, f64::from(y)));
        chart
            .draw_series(LineSeries::new(points, INK.stroke_width(2)))?
            .label("history")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], INK.stroke_width(2)));
        let lines = self.forecasts.iter().map(|forecast| {
            let points = forecast.iter().map(|step| (step.time, f64::from(step.value)));
            PathElement::new(points.collect::<Vec<_>>(), BLUE.stroke_width(2))
        });
        chart
            .draw_series(lines)?
            .label(&self.forecast_name)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], BLUE.stroke_width(2)));
        let bands = self.forecasts.iter().map(|forecast| {
            let upper = forecast.iter().map(|step| (step.time, f64::from(step.hi)));
            let lower = forecast.iter().rev().map(|step| (step.time, f64::from(step.lo)));
            Polygon::new(upper.chain(lower).collect::<Vec<_>>(), BAND)
        });
        chart
            .draw_series(bands)?
            .label(&self.interval_name)
            .legend(|(x, y)| Rectangle::new([(x, y - 6), (x + 24, y + 6)], BAND.filled()));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .margin(14)
            .legend_area_size(34)
            .background_style(WHITE)
            .label_font(text(16.0, &INK))
            .draw()?;
        area.present()?;
        Ok(())
    }
}

/// The values with some air; from 0 where that is near, so that heights can be compared.
fn value_range(values: impl Iterator<Item = f32>) -> (f64, f64) {
    let (low, high) = values
        .map(f64::from)
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let air = if high > low { 0.05 * (high - low) } else { 0.5 * high.abs().max(1.0) };
    let from_zero = low >= 0.0 && low < 0.5 * high;
    (if from_zero { 0.0 } else { low - air }, high + air)
}

/// Distances of ticks, and how many characters of a time they need.
const LADDER: [(&str, usize); 15] = [
    ("min", 16),
    ("5min", 16),
    ("15min", 16),
    ("h", 16),
    ("3h", 16),
    ("6h", 16),
    ("D", 10),
    ("7D", 10),
    ("MS", 7),
    ("QS", 7),
    ("YS", 4),
    ("2YS", 4),
    ("5YS", 4),
    ("10YS", 4),
    ("50YS", 4),
];

/// Times between `first` and `last` that a calendar marks, as dense as their labels have room.
fn ticks(first: i64, last: i64) -> Vec<(i64, String)> {
    const ROOM: usize = 84;
    let clock = TimeKind::Timestamp;
    let century = clock.display(first).get(..2).map(|century| format!("{century}00-01-01"));
    let Some(anchor) = century.and_then(|century| clock.parse(&century).ok()) else { return Vec::new() };
    for (word, characters) in LADDER {
        let step = Freq::parse(word).expect("the ladder is made of frequencies");
        let tick = |n: i64| step.next(anchor, n).unwrap_or(i64::MAX);
        let (mut low, mut high) = (0, 1 << 26);
        while low < high {
            let middle = (low + high) / 2;
            if tick(middle) < first { low = middle + 1 } else { high = middle }
        }
        let most = ROOM / (characters + 2);
        let times: Vec<i64> = (low..).map(tick).take_while(|&time| time <= last).take(most + 1).collect();
        if times.len() <= most {
            let label = |time| clock.display(time).chars().take(characters).collect();
            return times.into_iter().map(|time| (time, label(time))).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(first: &str, last: &str) -> Vec<String> {
        let time = |text| TimeKind::Timestamp.parse(text).unwrap();
        ticks(time(first), time(last)).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_what_a_calendar_marks() {
        assert_eq!(labels("1950-02-01", "1953-12-01"), ["1951", "1952", "1953"]);
        assert_eq!(
            labels("1931-05-01", "1971-05-01"),
            ["1935", "1940", "1945", "1950", "1955", "1960", "1965", "1970"]
        );
        assert_eq!(labels("2024-01-15", "2024-04-15"), ["2024-02", "2024-03", "2024-04"]);
        assert_eq!(labels("2024-02-28", "2024-03-01"), ["2024-02-28", "2024-02-29", "2024-03-01"]);
        assert_eq!(labels("2024-02-28 20:00", "2024-02-29 10:00"), ["2024-02-29", "2024-02-29 06:00"]);
        assert!(labels("0001-01-01", "9999-01-01").is_empty());
    }

    #[test]
    fn values_have_air_and_begin_at_zero_where_it_is_near() {
        assert_eq!(value_range([100.0, 600.0, f32::NAN].into_iter()), (0.0, 625.0));
        assert_eq!(value_range([500.0, 600.0].into_iter()), (495.0, 605.0));
        assert_eq!(value_range([-1.0, 1.0].into_iter()), (-1.1, 1.1));
        assert_eq!(value_range([3.0].into_iter()), (1.5, 4.5));
        assert_eq!(value_range(std::iter::empty()), (0.0, 1.0));
    }

    #[test]
    fn a_chart_is_svg_with_all_its_parts() {
        let step = |time: i64, value: f32| Step { time, value, lo: value - 1.0, hi: value + 1.0 };
        let year = 31_557_600_000_000;
        let chart = Chart {
            title: "Fish & chips".to_owned(),
            subtitle: "sold".to_owned(),
            history: vec![(0, 1.0), (year, 2.0)],
            forecasts: vec![vec![step(year, 2.0), step(2 * year, 3.0)]],
            forecast_name: "NHITS".to_owned(),
            interval_name: "80 %".to_owned(),
        };
        let svg = chart.svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for part in ["Fish &amp; chips", "sold", "NHITS", "80 %", "history", "<polyline", "<polygon", "1971"]
        {
            assert!(svg.contains(part), "{part} is missing");
        }
    }
}
