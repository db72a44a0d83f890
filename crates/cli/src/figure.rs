//! Figures of series with their forecasts and intervals, as SVG and as PNG.

use foretell::TimeKind;
use plotters::coord::Shift;
use plotters::coord::combinators::BindKeyPoints as _;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::lettering::{CHARACTER, fitted, shortened, text_width};
use crate::picture::{Drawn, FAINT, GRID, INK, Picture, WIDTH, colour, head_height, text, titled};
use crate::ticks::{ticks, value_range, value_ticks};
use crate::value_axis::ValueAxis;

/// Beside the axes of a facet; on the left at least, and more where numbers are long.
const LEFT: u32 = 68;
const RIGHT: u32 = 26;
/// Pixels of a row of the legend.
const LEGEND_ROW: u32 = 22;
/// Models whose intervals are filled: more areas over each other could not be told apart, and are drawn as lines.
const MOST_FILLED: usize = 2;
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

impl Band {
    /// The parts between steps that have no interval.
    fn pieces(&self) -> impl Iterator<Item = &[(i64, f32, f32)]> {
        let lacks = |step: &(i64, f32, f32)| !(step.1.is_finite() && step.2.is_finite());
        self.steps.split(lacks).filter(|part| !part.is_empty())
    }
}

impl Picture for Figure {
    fn size(&self) -> (u32, u32) {
        let (rows, _) = self.layout();
        let height = match self.facets.len() {
            0 | 1 => 430,
            2..=8 => 250,
            _ => 200,
        };
        let head = head_height(&self.title, &self.subtitle) + self.legend_height();
        (WIDTH, head + 4 + rows as u32 * height)
    }

    fn names(&self) -> Vec<&str> {
        let facets = self.facets.iter().filter_map(|facet| facet.title.as_deref());
        [&*self.title, &*self.subtitle]
            .into_iter()
            .chain(self.models.iter().map(String::as_str))
            .chain(facets)
            .collect()
    }

    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        let below = titled(area, &self.title, &self.subtitle)?;
        let (legend, body) = below.split_vertically(self.legend_height());
        self.legend(&legend)?;
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

    /// The models with intervals, in their order.
    fn models_with_bands(&self) -> Vec<usize> {
        let with = |model: &usize| {
            let mut forecasts = self.facets.iter().flat_map(|facet| &facet.forecasts);
            forecasts.any(|forecast| forecast.model == *model && !forecast.bands.is_empty())
        };
        (0..self.models.len()).filter(with).collect()
    }

    fn is_filled(&self, model: usize) -> bool {
        self.models_with_bands().into_iter().take(MOST_FILLED).any(|filled| filled == model)
    }

    /// What lines and areas are: rows of keys and names that fit in the width, each with its place.
    fn legend_rows(&self) -> Vec<Vec<(i32, Key, String)>> {
        let mut entries = vec![(Key::History, "history".to_owned())];
        entries.extend(self.models.iter().enumerate().map(|(model, name)| (Key::Model(model), name.clone())));
        let bands =
            || self.facets.iter().flat_map(|facet| &facet.forecasts).flat_map(|forecast| &forecast.bands);
        let mut levels: Vec<&str> = Vec::new();
        bands().for_each(|band| {
            if !levels.contains(&&*band.level) {
                levels.push(&band.level)
            }
        });
        entries.extend(
            levels.iter().enumerate().map(|(depth, level)| (Key::Band(depth), format!("{level} % interval"))),
        );
        if self.models_with_bands().len() > MOST_FILLED {
            entries.push((Key::Ends, "ends of the intervals of further models".to_owned()));
        }
        let (mut rows, mut x) = (vec![Vec::new()], 24);
        for (key, name) in entries {
            let longest = (f64::from(WIDTH) - 48.0 - 30.0) / (CHARACTER * 15.0);
            let name = shortened(&name, longest as usize);
            let width = 30 + text_width(&name, 15.0) as i32 + 22;
            if x > 24 && x + width - 22 > WIDTH as i32 - 24 {
                rows.push(Vec::new());
                x = 24;
            }
            rows.last_mut().expect("there is a row").push((x, key, name));
            x += width;
        }
        rows
    }

    fn legend_height(&self) -> u32 {
        LEGEND_ROW * self.legend_rows().len() as u32
    }

    fn legend<B>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        for (row, entries) in self.legend_rows().into_iter().enumerate() {
            let y = 10 + LEGEND_ROW as i32 * row as i32;
            for (x, key, name) in entries {
                let line = |style: ShapeStyle| PathElement::new([(x, y), (x + 24, y)], style);
                match key {
                    Key::History => area.draw(&line(INK.stroke_width(2)))?,
                    Key::Model(model) => area.draw(&line(colour(model).stroke_width(2)))?,
                    Key::Ends => area.draw(&line(FAINT.stroke_width(1)))?,
                    Key::Band(depth) => {
                        // Bands of several levels are painted over each other.
                        let opacity = 1.0 - (1.0 - OPACITY).powi(depth as i32 + 1);
                        let first = self.models_with_bands().first().copied().unwrap_or(0);
                        let style = colour(first).mix(opacity).filled();
                        area.draw(&Rectangle::new([(x, y - 6), (x + 24, y + 6)], style))?;
                    }
                }
                area.draw(&Text::new(name, (x + 30, y - 7), text(15.0, &INK)))?;
            }
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
        let drawn = facet.history.iter().chain(measure().flat_map(|forecast| &forecast.line));
        let ends = measure().flat_map(|forecast| &forecast.bands).flat_map(|band| &band.steps);
        let ends = ends.flat_map(|&(_, lo, hi)| [lo, hi]);
        let (low, high) = value_range(drawn.map(|&(_, value)| value).chain(ends));
        let (width, height) = area.dim_in_pixel();
        let small = height < 300;
        let label_size = if small { 13.0 } else { 15.0 };
        let values = value_ticks(low, high, if small { 5 } else { 8 });
        let longest = values.iter().map(|(_, label)| text_width(label, label_size)).fold(0.0, f64::max);
        let left = LEFT.max(longest as u32 + 30);
        let along = f64::from(width) - f64::from(left + RIGHT);
        let mut marks = ticks(self.kind, first, last, (along / (CHARACTER * label_size)) as usize);
        // A label that would stand out of the picture is left away.
        let span = (i128::from(last) - i128::from(first)).max(1) as f64;
        marks.retain(|(time, label)| {
            let place = along * (i128::from(*time) - i128::from(first)) as f64 / span;
            place + text_width(label, label_size) / 2.0 <= along + f64::from(RIGHT)
        });
        let label = |time: &i64| marks.iter().find(|(mark, _)| mark == time).map(|(_, label)| label.clone());

        let title = facet.title.as_deref().map(|title| fitted(title, 16.0, f64::from(width) - 48.0, 2));
        let title = title.unwrap_or_default();
        for (row, line) in title.iter().enumerate() {
            area.draw(&Text::new(line.clone(), (24, 6 + 19 * row as i32), text(16.0, &INK)))?;
        }
        let x = (first..last.max(first + 1)).with_key_points(marks.iter().map(|(time, _)| *time).collect());
        let axis = ValueAxis { low, high, marks: values.iter().map(|(value, _)| *value).collect() };
        let mut chart = ChartBuilder::on(area)
            .margin_top(if title.is_empty() { 10 } else { 11 + 19 * title.len() as u32 })
            .margin_right(RIGHT)
            .margin_left(14)
            .margin_bottom(10)
            .set_label_area_size(LabelAreaPosition::Left, left - 14)
            .set_label_area_size(LabelAreaPosition::Bottom, 28)
            .build_cartesian_2d(x, axis)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .y_label_style(text(label_size, &FAINT).pos(Pos::new(HPos::Right, VPos::Center)))
            .x_label_style(text(label_size, &FAINT).pos(Pos::new(HPos::Center, VPos::Top)))
            .x_label_formatter(&|time: &i64| label(time).unwrap_or_default())
            .y_label_formatter(&|value: &f64| {
                let label = values.iter().find(|(mark, _)| mark == value).map(|(_, label)| label.clone());
                label.unwrap_or_default()
            })
            .draw()?;

        for forecast in &facet.forecasts {
            let (ink, filled) = (colour(forecast.model), self.is_filled(forecast.model));
            for steps in forecast.bands.iter().flat_map(Band::pieces) {
                let lower: Vec<_> = steps.iter().map(|&(time, lo, _)| (time, f64::from(lo))).collect();
                let upper: Vec<_> = steps.iter().map(|&(time, _, hi)| (time, f64::from(hi))).collect();
                let style =
                    if filled { ink.mix(OPACITY).stroke_width(5) } else { ink.mix(0.7).stroke_width(1) };
                match (steps.len(), filled) {
                    // Around a single step there is no area.
                    (1, _) => {
                        chart.draw_series([PathElement::new([lower, upper].concat(), style)])?;
                    }
                    (_, true) => {
                        let outline: Vec<_> = upper.into_iter().chain(lower.into_iter().rev()).collect();
                        chart.draw_series([Polygon::new(outline, ink.mix(OPACITY))])?;
                    }
                    (_, false) => {
                        chart.draw_series([lower, upper].map(|line| PathElement::new(line, style)))?;
                    }
                }
            }
        }
        let width: u32 = if small { 1 } else { 2 };
        let history = pieces(&facet.history).map(|line| (line, INK, width));
        let forecasts = facet
            .forecasts
            .iter()
            .flat_map(|forecast| pieces(&forecast.line).map(move |line| (line, colour(forecast.model), 2)));
        for (line, ink, width) in history.chain(forecasts) {
            if line.len() == 1 {
                // No line goes through a single value.
                chart.draw_series([Circle::new(line[0], width + 1, ink.filled())])?;
            } else {
                chart.draw_series([PathElement::new(line, ink.stroke_width(width))])?;
            }
        }
        Ok(())
    }
}

/// What stands before a name of the legend.
#[derive(Clone, Copy)]
enum Key {
    History,
    Model(usize),
    /// A filled interval, by the place of its level.
    Band(usize),
    /// The ends of an interval that is not filled.
    Ends,
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
        assert!(figure(vec![wild]).contains("5,000"));
    }

    /// The x of texts of a picture, and what they say.
    fn texts(svg: &str) -> Vec<(f64, String)> {
        let texts = svg.split("<text ").skip(1).map(|rest| {
            let x = rest.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            (x, rest.split('>').nth(1).unwrap().split('<').next().unwrap().trim().to_owned())
        });
        texts.collect()
    }

    #[test]
    fn labels_are_whole_at_any_magnitude() {
        for size in [1e-12, 1.0, -3e5, 1e12] {
            let mut of_size = facet(Some("a"));
            of_size.history = vec![(0, 0.2 * size), (31_557_600_000_000, size)];
            of_size.forecasts[0].line = vec![(31_557_600_000_000, size), (63_115_200_000_000, 1.3 * size)];
            of_size.forecasts[0].bands.clear();
            let svg = figure(vec![of_size.clone(), of_size]);
            // Labels of values end at their x.
            let ends: Vec<_> = svg.split("text-anchor=\"end\"").skip(1).collect();
            assert!(ends.len() >= 6, "{size}: {svg}");
            let labels = svg.split("<text ").filter(|text| text.contains("text-anchor=\"end\""));
            for label in labels {
                let (x, text) = texts(&format!("<text {label}")).remove(0);
                let start = x - text_width(&text, 13.0);
                // Of the facet on the right the left edge is at 500.
                assert!(start >= 0.0 && (x < 500.0 || start >= 500.0), "{size}: {text} from {start} to {x}");
            }
        }
    }

    #[test]
    fn legends_take_as_many_rows_as_they_need() {
        let names: Vec<String> =
            (0..7).map(|model| format!("a model with a long name, number {model}")).collect();
        let figure = Figure {
            title: "x".repeat(300),
            subtitle: String::new(),
            kind: TimeKind::Timestamp,
            models: names.clone(),
            facets: vec![facet(None)],
        };
        let svg = figure.svg().unwrap();
        for name in &names {
            let (x, text) =
                texts(&svg).into_iter().find(|(_, text)| text == name).expect("its name is there");
            assert!(x + text_width(&text, 15.0) <= f64::from(WIDTH), "{text} at {x}");
        }
        assert!(figure.legend_rows().len() >= 3 && texts(&svg).iter().all(|(_, text)| text.len() < 120));
    }

    #[test]
    fn intervals_of_two_models_are_filled() {
        let mut of_three = facet(None);
        let one = of_three.forecasts[0].clone();
        of_three.forecasts = (0..3).map(|model| Forecast { model, ..one.clone() }).collect();
        let figure = Figure {
            title: String::new(),
            subtitle: String::new(),
            kind: TimeKind::Timestamp,
            models: ["A", "B", "C"].map(str::to_owned).into(),
            facets: vec![of_three],
        };
        let svg = figure.svg().unwrap();
        assert_eq!(svg.matches("<polygon").count(), 2);
        assert!(svg.contains("ends of the intervals of further models"));
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
    fn single_values_are_dots_and_no_interval_is_drawn_where_there_is_none() {
        let mut gaps = facet(None);
        let usual = figure(vec![facet(None)]);
        gaps.history = vec![(0, 1.0), (1, f32::NAN), (2, 3.0), (3, f32::NAN), (4, 5.0)];
        gaps.forecasts[0].line = vec![(4, 5.0), (5, 5.5), (6, f32::NAN), (7, 6.0)];
        let steps = [(4, 5.0), (5, 5.5), (6, f32::NAN), (7, 6.0), (8, f32::NAN), (9, 6.0), (10, 6.5)];
        gaps.forecasts[0].bands[0].steps = steps.map(|(time, y)| (time, y - 1.0, y + 1.0)).into();
        let svg = figure(vec![gaps]);
        let count = |svg: &str, what: &str| svg.matches(what).count();
        assert_eq!((count(&usual, "<circle"), count(&svg, "<circle")), (2, 4), "{svg}");
        assert_eq!((count(&usual, "<polygon"), count(&svg, "<polygon")), (1, 2), "{svg}");
    }

    #[test]
    fn a_line_is_broken_where_values_are_missing() {
        let line = [(1, 1.0), (2, f32::NAN), (3, f32::INFINITY), (4, 2.0), (5, 3.0)];
        assert_eq!(pieces(&line).map(|piece| piece.len()).collect::<Vec<_>>(), [1, 2]);
    }
}
