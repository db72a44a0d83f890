//! The columns of a table of forecasts: which models there are, their points and intervals.

use foretell::{Frame, SAMPLE_ID};

/// The columns of a model.
#[derive(Debug, PartialEq)]
pub struct ForecastColumns<'a> {
    /// The name, without the suffixes of its outputs.
    pub model: &'a str,
    /// The column of the point forecast: the model's own, or its median.
    point: Option<&'a str>,
    /// Level and columns of each interval, the widest first.
    intervals: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> ForecastColumns<'a> {
    /// The point forecast, a value per row; nothing where there are intervals only.
    pub fn point<'f>(&self, frame: &'f Frame) -> Option<&'f [f32]> {
        frame.column(self.point?)
    }

    /// The levels of the intervals in percent, as they are written.
    pub fn levels(&self) -> impl Iterator<Item = &'a str> {
        self.intervals.iter().map(|(level, ..)| *level)
    }

    /// The intervals: level, lower and upper ends, a value per row.
    pub fn intervals<'f>(&self, frame: &'f Frame) -> Vec<(&'a str, &'f [f32], &'f [f32])> {
        let interval =
            |&(level, lo, hi): &(&'a str, &str, &str)| Some((level, frame.column(lo)?, frame.column(hi)?));
        self.intervals.iter().filter_map(interval).collect()
    }
}

/// The models that a table of these columns forecasts, in their order. `target` is the truth beside them, and the number of a sample
/// path is no forecast.
pub fn forecast_columns<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    target: &str,
) -> Vec<ForecastColumns<'a>> {
    let mut models: Vec<ForecastColumns<'a>> = Vec::new();
    for name in names.clone().filter(|name| ![target, SAMPLE_ID].contains(name)) {
        let (model, part) = split(name);
        let place = models.iter().position(|columns| columns.model == model).unwrap_or_else(|| {
            models.push(ForecastColumns { model, point: None, intervals: Vec::new() });
            models.len() - 1
        });
        let columns = &mut models[place];
        match part {
            Part::Point => columns.point = Some(name),
            Part::Median => columns.point = columns.point.or(Some(name)),
            Part::Lo(level) => {
                let other = |other: &&str| {
                    *other != target
                        && matches!(split(other), (of, Part::Hi(hi)) if of == model && hi == level)
                };
                columns.intervals.extend(names.clone().find(|name| other(name)).map(|hi| (level, name, hi)));
            }
            Part::Hi(_) => {}
        }
    }
    let width = |level: &str| level.parse().unwrap_or(0.0_f64);
    for columns in &mut models {
        columns.intervals.sort_by(|a, b| width(b.0).total_cmp(&width(a.0)));
    }
    models.retain(|columns| columns.point.is_some() || !columns.intervals.is_empty());
    models
}

#[derive(Debug, PartialEq)]
enum Part<'a> {
    Point,
    Median,
    Lo(&'a str),
    Hi(&'a str),
}

/// A column's name as the model's and what of its forecast it holds.
fn split(name: &str) -> (&str, Part<'_>) {
    if let Some(model) = name.strip_suffix("-median") {
        return (model, Part::Median);
    }
    let level = |side: &str| {
        let (model, level) = name.rsplit_once(side)?;
        level.parse::<f64>().is_ok_and(|level| (0.0..=100.0).contains(&level)).then_some((model, level))
    };
    match (level("-lo-"), level("-hi-")) {
        (Some((model, level)), _) => (model, Part::Lo(level)),
        (_, Some((model, level))) => (model, Part::Hi(level)),
        _ => (name, Part::Point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_intervals_are_found() {
        let names = [
            "y",
            "sample_id",
            "MLP-median",
            "MLP-lo-80",
            "MLP-lo-95.5",
            "MLP-hi-80",
            "MLP-hi-95.5",
            "a-lo-b",
            "T",
            "T-median",
            "X-lo-90",
        ];
        let expected = [
            ForecastColumns {
                model: "MLP",
                point: Some("MLP-median"),
                intervals: vec![("95.5", "MLP-lo-95.5", "MLP-hi-95.5"), ("80", "MLP-lo-80", "MLP-hi-80")],
            },
            ForecastColumns { model: "a-lo-b", point: Some("a-lo-b"), intervals: vec![] },
            ForecastColumns { model: "T", point: Some("T"), intervals: vec![] },
        ];
        assert_eq!(forecast_columns(names.into_iter(), "y"), expected);
        assert!(forecast_columns(["y", "sample_id"].into_iter(), "y").is_empty());
    }
}
