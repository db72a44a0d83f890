//! Metrics over groups of rows.
//!
//! A *window* is the forecast of one series from one cutoff. Its score is that of its rows, divided by its scale; scores of a
//! series, of a cutoff or of all are means over windows, as in `utilsforecast`. By step, and over all rows at once, the rows are
//! one sample instead, each row's score divided by the scale of its window: a root of a mean over steps is what is meant there,
//! not a mean of roots of single rows.

use rustc_hash::FxHashMap;

use crate::error::EvaluationError;
use crate::history::{ScoreHistory, mean, seasonal_mean};
use crate::metric::{Metric, RowAggregate, RowScore, Scale};
use crate::rows::{ModelForecasts, ScoredRows, same, short};

/// The rows that one score covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoreBy<'a> {
    /// Each forecast of each series.
    Window,
    /// Each series: the mean over its windows.
    Series,
    /// Each cutoff: the mean over its windows.
    Cutoff,
    /// Series with the same label, of which there is one for each: the mean over their windows.
    Labels(&'a [u32]),
    /// All: the mean over windows.
    All,
    /// Each step ahead: its rows as one sample.
    Step,
    /// All rows as one sample.
    Rows,
}

/// The history and baseline that metrics are relative to, and the weights of windows.
#[derive(Clone, Copy, Default)]
pub struct ScoreOptions<'a> {
    /// Steps of a season, for scaled metrics; at least 1 is taken.
    pub season: usize,
    /// The values before each forecast.
    pub history: Option<&'a dyn ScoreHistory>,
    /// The model that `rmae` divides by.
    pub baseline: Option<&'a str>,
    /// A weight for each series; the same for all by default.
    pub weights: Option<&'a [f64]>,
}

/// The rows of one row of a [`ScoreTable`]: the series, cutoff, label or step that they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScoreGroup {
    /// The series, if it is of one.
    pub series: Option<u32>,
    /// The cutoff, if it is of one.
    pub cutoff: Option<i64>,
    /// The label of its series, if they have one.
    pub label: Option<u32>,
    /// The step ahead, if it is of one.
    pub step: Option<u32>,
}

/// One metric of all groups and models.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricScores {
    /// The metric, with its quantile or level: `mae`, `quantile_loss_q0.1`, `coverage_level80`.
    pub name: String,
    /// A row for each group, a value for each model; NaN where there is none.
    pub values: Vec<Vec<f64>>,
}

/// Scores of forecasts.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreTable {
    /// The groups of the rows, in the order in which they appear.
    pub groups: Vec<ScoreGroup>,
    /// The models.
    pub models: Vec<String>,
    /// The metrics in the order asked for.
    pub metrics: Vec<MetricScores>,
}

/// Scores forecasts.
///
/// Rows whose truth or forecast is NaN do not count, nor do windows without a score in a mean over windows: that of a series whose
/// history does not change over the season, for example, by which its error cannot be divided.
///
/// # Errors
/// A metric that is relative to a history or a baseline that is missing, and weights that are no weights.
pub fn evaluate(
    rows: &ScoredRows<'_>,
    metrics: &[Metric],
    by: ScoreBy<'_>,
    options: &ScoreOptions<'_>,
) -> Result<ScoreTable, EvaluationError> {
    let windows = Windows::of(rows);
    check_weights(&windows, options)?;
    let grouping = Grouping::of(rows, &windows, by);
    let mut table = ScoreTable {
        groups: grouping.groups.clone(),
        models: rows.models.iter().map(|model| model.name.clone()).collect(),
        metrics: Vec::new(),
    };
    for metric in metrics {
        for column in Column::all(metric, &rows.models) {
            let scales = scales(rows, &windows, &column, options)?;
            let of_model = |model| grouping.scores(rows, &windows, &column, model, &scales, options.weights);
            let by_model: Vec<Vec<f64>> = rows.models.iter().map(of_model).collect();
            let groups = 0..grouping.groups.len();
            let values = groups.map(|group| by_model.iter().map(|scores| scores[group]).collect()).collect();
            table.metrics.push(MetricScores { name: column.name(), values });
        }
    }
    Ok(table)
}

fn check_weights(windows: &Windows, options: &ScoreOptions<'_>) -> Result<(), EvaluationError> {
    let Some(weights) = options.weights else { return Ok(()) };
    let weight = |series: u32| weights.get(series as usize).copied().unwrap_or(f64::NAN);
    let wrong = |weight: f64| !(weight.is_finite() && weight >= 0.0);
    let sum: f64 = windows.keys.iter().map(|(series, _)| weight(*series)).sum();
    match windows.keys.iter().map(|(series, _)| *series).find(|series| wrong(weight(*series))) {
        Some(series) => Err(EvaluationError::Weight { series, found: weight(series) }),
        None if sum == 0.0 && !windows.keys.is_empty() => {
            Err(EvaluationError::Weight { series: windows.keys[0].0, found: 0.0 })
        }
        None => Ok(()),
    }
}

/// Forecasts of one series from one cutoff each, in the order in which they appear.
struct Windows {
    keys: Vec<(u32, i64)>,
    /// The window of each row.
    of_row: Vec<usize>,
}

impl Windows {
    fn of(rows: &ScoredRows<'_>) -> Self {
        let keys = rows.series.iter().copied().zip(rows.cutoff.iter().copied());
        let (keys, of_row) = numbered(keys);
        Self { keys, of_row }
    }
}

/// The different keys in the order in which they appear, and the number of each.
fn numbered<K: Copy + Eq + std::hash::Hash>(keys: impl Iterator<Item = K>) -> (Vec<K>, Vec<usize>) {
    let (mut known, mut places) = (Vec::new(), FxHashMap::default());
    let numbers = keys.map(|key| {
        *places.entry(key).or_insert_with(|| {
            known.push(key);
            known.len() - 1
        })
    });
    let numbers = numbers.collect();
    (known, numbers)
}

/// A metric with the quantile or the level that it is of.
struct Column<'a> {
    metric: &'a Metric,
    at: Option<f64>,
}

impl<'a> Column<'a> {
    /// The columns of a metric: for those of single quantiles and levels, one for each that any model has.
    fn all(metric: &'a Metric, models: &[ModelForecasts<'_>]) -> Vec<Self> {
        let at: Vec<f64> = match metric.score {
            RowScore::Point(_) | RowScore::Quantiles(_) => return vec![Self { metric, at: None }],
            RowScore::EachQuantile(_) => {
                models.iter().flat_map(|model| model.quantiles.iter().map(|(q, _)| *q)).collect()
            }
            RowScore::Interval(_) => models.iter().flat_map(ModelForecasts::intervals).collect(),
        };
        let mut at = at;
        at.sort_by(f64::total_cmp);
        at.dedup_by(|a, b| same(*a, *b));
        at.into_iter().map(|at| Self { metric, at: Some(at) }).collect()
    }

    fn name(&self) -> String {
        match (self.metric.score, self.at) {
            (RowScore::Interval(_), Some(level)) => format!("{}_level{}", self.metric, short(100.0 * level)),
            (_, Some(q)) => format!("{}_q{}", self.metric, short(q)),
            (_, None) => self.metric.to_string(),
        }
    }

    /// The score of each row of a model; `None` if it lacks the quantiles or intervals that the metric needs.
    fn scorer<'m>(
        &self,
        y: &'m [f64],
        model: &'m ModelForecasts<'m>,
    ) -> Option<Box<dyn Fn(usize) -> f64 + 'm>> {
        let parameter = self.metric.parameter.unwrap_or(0.0);
        Some(match (self.metric.score, self.at) {
            (RowScore::EachQuantile(score), Some(q)) => {
                let values = model.quantile(q)?;
                Box::new(move |i| score(y[i], values[i], q))
            }
            (RowScore::Interval(score), Some(level)) => {
                let ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0].map(|q| model.quantile(q));
                let (low, high) = (ends[0]?, ends[1]?);
                Box::new(move |i| score(y[i], [low[i], high[i]], level))
            }
            (RowScore::Quantiles(score), _) => {
                let quantiles = (!model.quantiles.is_empty()).then_some(&model.quantiles)?;
                let count = quantiles.len() as f64;
                Box::new(move |i| {
                    quantiles.iter().map(|(q, values)| score(y[i], values[i], *q)).sum::<f64>() / count
                })
            }
            (RowScore::Point(score), _) => Box::new(move |i| score(y[i], model.point[i], parameter)),
            (_, None) => return None,
        })
    }
}

/// Sums over rows.
#[derive(Clone, Copy, Default)]
struct RowSums {
    score: f64,
    rows: f64,
    truth: f64,
}

impl RowSums {
    fn add(&mut self, score: f64, y: f64, scale: f64, weight: f64) {
        if !(y.is_nan() || score.is_nan() || scale.is_nan()) {
            self.score += weight * score / scale;
            self.rows += weight;
            self.truth += weight * y.abs();
        }
    }

    /// NaN where there is no row.
    fn total(self, aggregate: RowAggregate) -> f64 {
        match aggregate {
            _ if self.rows == 0.0 => f64::NAN,
            RowAggregate::Mean => self.score / self.rows,
            RowAggregate::RootMean => (self.score / self.rows).sqrt(),
            RowAggregate::Sum => self.score,
            RowAggregate::PerTruth if self.truth == 0.0 => f64::NAN,
            RowAggregate::PerTruth => self.score / self.truth,
        }
    }
}

/// The divisor of each window's score; NaN where that is 0 or unknown.
fn scales(
    rows: &ScoredRows<'_>,
    windows: &Windows,
    column: &Column<'_>,
    options: &ScoreOptions<'_>,
) -> Result<Vec<f64>, EvaluationError> {
    let metric = column.metric;
    let scales: Vec<f64> = match metric.scale {
        Scale::None => return Ok(vec![1.0; windows.keys.len()]),
        Scale::Baseline => {
            let baseline = rows.models.iter().find(|model| Some(&*model.name) == options.baseline);
            let baseline = baseline.ok_or_else(|| EvaluationError::NoBaseline {
                metric: metric.name,
                models: rows.models.iter().map(|model| model.name.clone()).collect(),
            })?;
            window_scores(rows, windows, column, baseline, &vec![1.0; windows.keys.len()])
        }
        scale => {
            let history = options.history.ok_or(EvaluationError::NoHistory { metric: metric.name })?;
            let season = options.season.max(1);
            let scale_of = |(series, cutoff): &(u32, i64)| {
                let known = history.until(*series, *cutoff);
                match scale {
                    Scale::SeasonalError => seasonal_mean(known, season, f64::abs),
                    Scale::SeasonalSquare => seasonal_mean(known, season, |change| change * change),
                    _ => mean(known),
                }
            };
            windows.keys.iter().map(scale_of).collect()
        }
    };
    Ok(scales.into_iter().map(|scale| if scale == 0.0 { f64::NAN } else { scale }).collect())
}

/// The score of each window of a model.
fn window_scores(
    rows: &ScoredRows<'_>,
    windows: &Windows,
    column: &Column<'_>,
    model: &ModelForecasts<'_>,
    scales: &[f64],
) -> Vec<f64> {
    let mut sums = vec![RowSums::default(); windows.keys.len()];
    if let Some(score) = column.scorer(rows.y, model) {
        for (i, &window) in windows.of_row.iter().enumerate() {
            sums[window].add(score(i), rows.y[i], scales[window], 1.0);
        }
    }
    sums.into_iter().map(|sums| sums.total(column.metric.aggregate)).collect()
}

/// How rows and windows come together.
struct Grouping {
    groups: Vec<ScoreGroup>,
    members: Members,
}

enum Members {
    /// The group of each window: its scores are averaged.
    Windows(Vec<usize>),
    /// The group of each row: the rows of a group are one sample.
    Rows(Vec<usize>),
}

impl Grouping {
    fn of(rows: &ScoredRows<'_>, windows: &Windows, by: ScoreBy<'_>) -> Self {
        let none = ScoreGroup::default();
        let of_window = |&(series, cutoff): &(u32, i64)| match by {
            ScoreBy::Window => ScoreGroup { series: Some(series), cutoff: Some(cutoff), ..none },
            ScoreBy::Series => ScoreGroup { series: Some(series), ..none },
            ScoreBy::Cutoff => ScoreGroup { cutoff: Some(cutoff), ..none },
            ScoreBy::Labels(labels) => ScoreGroup { label: labels.get(series as usize).copied(), ..none },
            ScoreBy::All | ScoreBy::Step | ScoreBy::Rows => none,
        };
        let (groups, members) = match by {
            ScoreBy::Step | ScoreBy::Rows => {
                let step = |&step: &u32| ScoreGroup { step: (by == ScoreBy::Step).then_some(step), ..none };
                let (groups, of_row) = numbered(rows.step.iter().map(step));
                (groups, Members::Rows(of_row))
            }
            _ => {
                let (groups, of_window) = numbered(windows.keys.iter().map(of_window));
                (groups, Members::Windows(of_window))
            }
        };
        Self { groups, members }
    }

    /// The score of each group of a model.
    fn scores(
        &self,
        rows: &ScoredRows<'_>,
        windows: &Windows,
        column: &Column<'_>,
        model: &ModelForecasts<'_>,
        scales: &[f64],
        weights: Option<&[f64]>,
    ) -> Vec<f64> {
        let mut sums = vec![RowSums::default(); self.groups.len()];
        let weight = |window: usize| weights.map_or(1.0, |weights| weights[windows.keys[window].0 as usize]);
        match &self.members {
            Members::Windows(groups) => {
                let scores = window_scores(rows, windows, column, model, scales);
                for (window, (&group, score)) in groups.iter().zip(scores).enumerate() {
                    sums[group].add(score, 1.0, 1.0, weight(window));
                }
                sums.into_iter().map(|sums| sums.total(RowAggregate::Mean)).collect()
            }
            Members::Rows(groups) => {
                let Some(score) = column.scorer(rows.y, model) else { return vec![f64::NAN; sums.len()] };
                for (i, (&group, &window)) in groups.iter().zip(&windows.of_row).enumerate() {
                    sums[group].add(score(i), rows.y[i], scales[window], weight(window));
                }
                sums.into_iter().map(|sums| sums.total(column.metric.aggregate)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known(Vec<f64>);

    impl ScoreHistory for Known {
        fn until(&self, _: u32, _: i64) -> &[f64] {
            &self.0
        }
    }

    fn metrics(names: &[&str]) -> Vec<Metric> {
        names.iter().map(|name| Metric::parse(name).unwrap()).collect()
    }

    fn value(table: &ScoreTable, metric: usize, group: usize) -> f64 {
        table.metrics[metric].values[group][0]
    }

    const GAP: f64 = f64::NAN;

    #[test]
    fn windows_are_averaged_and_steps_are_samples() {
        let model = ModelForecasts::of_points("m", &[1.0, 4.0, 2.0, GAP]);
        let y = [0.0, 0.0, 0.0, 5.0];
        let rows = ScoredRows::new(&y, &[0, 0, 1, 1], &[9, 9, 9, 9], &[1, 2, 1, 2], vec![model]).unwrap();
        let score = |by| evaluate(&rows, &metrics(&["rmse", "mae"]), by, &ScoreOptions::default()).unwrap();
        let series = score(ScoreBy::Series);
        assert_eq!((value(&series, 0, 0), value(&series, 0, 1)), (8.5_f64.sqrt(), 2.0));
        assert_eq!(value(&score(ScoreBy::All), 1, 0), (2.5 + 2.0) / 2.0);
        assert_eq!(value(&score(ScoreBy::Rows), 1, 0), 7.0 / 3.0);
        let step = score(ScoreBy::Step);
        assert_eq!(step.groups.iter().map(|group| group.step).collect::<Vec<_>>(), [Some(1), Some(2)]);
        assert_eq!((value(&step, 0, 0), value(&step, 0, 1)), (2.5_f64.sqrt(), 4.0));
    }

    #[test]
    fn what_cannot_be_scaled_does_not_count() {
        let model = || ModelForecasts::of_points("m", &[1.0]);
        let rows = ScoredRows::new(&[3.0], &[0], &[0], &[1], vec![model()]).unwrap();
        let mase = metrics(&["mase"]);
        let score = |history: &Known| {
            let options = ScoreOptions { season: 1, history: Some(history), ..ScoreOptions::default() };
            value(&evaluate(&rows, &mase, ScoreBy::All, &options).unwrap(), 0, 0)
        };
        assert_eq!(score(&Known(vec![1.0, 2.0, 4.0])), 2.0 / 1.5);
        assert!(score(&Known(vec![1.0, 1.0])).is_nan() && score(&Known(vec![1.0])).is_nan());
        let error = evaluate(&rows, &mase, ScoreBy::All, &ScoreOptions::default()).unwrap_err();
        assert_eq!(error, EvaluationError::NoHistory { metric: "mase" });
        let error = evaluate(&rows, &metrics(&["rmae"]), ScoreBy::All, &ScoreOptions::default()).unwrap_err();
        assert!(error.to_string().contains("name one of the models: m"), "{error}");
    }

    #[test]
    fn series_are_weighted() {
        let model = ModelForecasts::of_points("m", &[1.0, 3.0]);
        let rows = ScoredRows::new(&[0.0, 0.0], &[0, 1], &[0, 0], &[1, 1], vec![model]).unwrap();
        let score = |weights: &[f64]| {
            let options = ScoreOptions { weights: Some(weights), ..ScoreOptions::default() };
            evaluate(&rows, &metrics(&["mae"]), ScoreBy::All, &options).map(|table| value(&table, 0, 0))
        };
        assert_eq!(score(&[3.0, 1.0]).unwrap(), 1.5);
        assert!(score(&[3.0]).is_err() && score(&[-1.0, 2.0]).is_err() && score(&[0.0, 0.0]).is_err());
    }

    #[test]
    fn a_model_without_quantiles_has_no_score_of_them() {
        let (low, high, point) = ([0.0], [2.0], [1.0]);
        let with = ModelForecasts::of_points("q", &point).with_quantiles([(0.9, &high[..]), (0.1, &low[..])]);
        let rows =
            ScoredRows::new(&[1.5], &[0], &[0], &[1], vec![with, ModelForecasts::of_points("p", &point)]);
        let names = ["mqloss", "quantile_loss", "coverage", "winkler_score"];
        let table =
            evaluate(&rows.unwrap(), &metrics(&names), ScoreBy::All, &ScoreOptions::default()).unwrap();
        let names: Vec<&str> = table.metrics.iter().map(|metric| &*metric.name).collect();
        assert_eq!(
            names,
            [
                "mqloss",
                "quantile_loss_q0.1",
                "quantile_loss_q0.9",
                "coverage_level80",
                "winkler_score_level80"
            ]
        );
        assert!(table.metrics.iter().all(|metric| metric.values[0][1].is_nan()));
        assert_eq!((value(&table, 3, 0), value(&table, 4, 0)), (1.0, 2.0));
    }

    #[test]
    fn columns_have_a_value_per_row() {
        let model = ModelForecasts::of_points("m", &[1.0]);
        let error = ScoredRows::new(&[1.0, 2.0], &[0, 0], &[0, 0], &[1, 2], vec![model]).unwrap_err();
        assert_eq!(error.to_string(), "m: 1 values where 2 are expected, one per row");
    }
}
