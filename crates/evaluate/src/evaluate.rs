//! Metrics over groups of rows.
//!
//! A *window* is the forecast of one series from one cutoff. Its score is that of its rows, divided by its scale; scores of a
//! series, of a cutoff or of all are means over windows, as in `utilsforecast`. By step they are means over the windows' rows of
//! that step, each of them a sample of its own: what `utilsforecast` gives for these rows alone, so that `rmse` is `mae` there.
//! Over all rows at once the rows are one sample, each row's score divided by the scale of its window.
//!
//! Models are compared on the same rows: those of which all have what the metric reads.

use crate::error::EvaluationError;
use crate::history::{mean, seasonal_mean};
use crate::metric::{Metric, RowAggregate, RowScore, Scale};
use crate::metrics::METRICS;
use crate::rows::{ModelForecasts, ScoredRows, percent, same, short};
use crate::samples::Samples;
use crate::score_table::{MetricScores, ScoreBy, ScoreOptions, ScoreTable};

/// Scores forecasts.
///
/// Models are compared on the same rows: where the truth is NaN, or what a metric reads of any model, the row does not count for
/// any of them. A model that has none of it in any row has no score, and takes none away from the others. Rows and windows of
/// which a metric has no score are not in its means ([`Uncounted`](crate::Uncounted)): those of a series whose history does not change over the
/// season, for example, by which its error cannot be divided.
///
/// # Errors
/// A metric that is relative to a history, a season or a baseline that is missing, one of quantiles or intervals that no model
/// forecasts, and weights that are no weights.
pub fn evaluate(
    rows: &ScoredRows<'_>,
    metrics: &[Metric],
    by: ScoreBy<'_>,
    options: &ScoreOptions<'_>,
) -> Result<ScoreTable, EvaluationError> {
    let samples = Samples::of(rows, by);
    check_weights(&samples, options)?;
    let points = Column { metric: &POINTS, at: None }.common(rows);
    let mut table = ScoreTable {
        models: rows.models.iter().map(|model| model.name.clone()).collect(),
        metrics: Vec::new(),
        compared: samples.counts(|row| points[row]),
        missing: missing(rows, &samples),
        groups: Vec::new(),
    };
    for metric in metrics {
        check_columns(metric, &rows.models)?;
        for column in Column::all(metric, &rows.models) {
            table.metrics.push(column.scores(rows, &samples, &points, options)?);
        }
    }
    table.groups = samples.groups;
    Ok(table)
}

/// What stands for all metrics of points where only the rows that they read matter.
const POINTS: Metric = METRICS[0];

/// Of each group and model the rows whose truth is known and whose point forecast is not.
fn missing(rows: &ScoredRows<'_>, samples: &Samples) -> Vec<Vec<usize>> {
    let of_model =
        |model: &ModelForecasts<'_>| samples.counts(|row| !rows.y[row].is_nan() && model.point[row].is_nan());
    by_group(samples, rows.models.iter().map(of_model).collect())
}

/// Counts of each model by group as counts of each group by model.
fn by_group(samples: &Samples, by_model: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    (0..samples.groups.len()).map(|group| by_model.iter().map(|counts| counts[group]).collect()).collect()
}

/// Whether a row has a number in all of these columns.
fn has(columns: &[&[f64]], row: usize) -> bool {
    columns.iter().all(|values| !values[row].is_nan())
}

/// A table without any score of a metric that was asked for would pass for one without errors.
fn check_columns(metric: &Metric, models: &[ModelForecasts<'_>]) -> Result<(), EvaluationError> {
    let (has_columns, expected) = match metric.score {
        RowScore::Point(_) => (true, ""),
        RowScore::Quantiles(_) | RowScore::EachQuantile(_) => {
            (models.iter().any(|model| !model.quantiles.is_empty()), "quantiles")
        }
        RowScore::Interval(_) => (models.iter().any(|model| model.intervals().next().is_some()), "intervals"),
    };
    if has_columns { Ok(()) } else { Err(EvaluationError::NoQuantiles { metric: metric.name, expected }) }
}

fn check_weights(samples: &Samples, options: &ScoreOptions<'_>) -> Result<(), EvaluationError> {
    let Some(weights) = options.weights else { return Ok(()) };
    let weight = |series: u32| weights.get(series as usize).copied().unwrap_or(f64::NAN);
    let wrong = |weight: f64| !(weight.is_finite() && weight >= 0.0);
    let series = || samples.windows.iter().map(|(series, _)| *series);
    match (series().find(|series| wrong(weight(*series))), series().next()) {
        (Some(series), _) => Err(EvaluationError::Weight { series, found: weight(series) }),
        (None, Some(first)) if series().map(weight).sum::<f64>() == 0.0 => {
            Err(EvaluationError::Weight { series: first, found: 0.0 })
        }
        (None, _) => Ok(()),
    }
}

/// A metric with the quantile or the level that it is of.
struct Column<'a> {
    metric: &'a Metric,
    at: Option<f64>,
}

impl<'a> Column<'a> {
    /// The columns of a metric: for those of single quantiles and levels, one for each that any model has.
    fn all(metric: &'a Metric, models: &[ModelForecasts<'_>]) -> Vec<Self> {
        let mut at: Vec<f64> = match metric.score {
            RowScore::Point(_) | RowScore::Quantiles(_) => return vec![Self { metric, at: None }],
            RowScore::EachQuantile(_) => {
                models.iter().flat_map(|model| model.quantiles.iter().map(|(q, _)| *q)).collect()
            }
            RowScore::Interval(_) => models.iter().flat_map(ModelForecasts::intervals).collect(),
        };
        at.sort_by(f64::total_cmp);
        at.dedup_by(|a, b| same(*a, *b));
        at.into_iter().map(|at| Self { metric, at: Some(at) }).collect()
    }

    fn name(&self) -> String {
        match (self.metric.score, self.at) {
            (RowScore::Interval(_), Some(level)) => format!("{}_level{}", self.metric, percent(level)),
            (_, Some(q)) => format!("{}_q{}", self.metric, short(q)),
            (_, None) => self.metric.to_string(),
        }
    }

    /// The columns of a model that the metric reads; none if it lacks the quantiles or intervals that the metric needs.
    fn read<'m>(&self, model: &ModelForecasts<'m>) -> Vec<&'m [f64]> {
        let columns: Option<Vec<&[f64]>> = match (self.metric.score, self.at) {
            (RowScore::EachQuantile(_), Some(q)) => model.quantile(q).map(|values| vec![values]),
            (RowScore::Interval(_), Some(level)) => {
                [(1.0 - level) / 2.0, (1.0 + level) / 2.0].iter().map(|q| model.quantile(*q)).collect()
            }
            (RowScore::Quantiles(_), _) => Some(model.quantiles.iter().map(|(_, values)| *values).collect()),
            (RowScore::Point(_), _) => Some(vec![model.point]),
            (_, None) => None,
        };
        columns.unwrap_or_default()
    }

    /// The score of each row of a model that has these columns.
    fn score(&self, y: f64, model: &ModelForecasts<'_>, columns: &[&[f64]], row: usize) -> f64 {
        match (self.metric.score, self.at) {
            (RowScore::EachQuantile(score), Some(q)) => score(y, columns[0][row], q),
            (RowScore::Interval(score), Some(level)) => score(y, [columns[0][row], columns[1][row]], level),
            (RowScore::Quantiles(score), _) => {
                let sum: f64 = model.quantiles.iter().map(|(q, values)| score(y, values[row], *q)).sum();
                sum / columns.len() as f64
            }
            (RowScore::Point(score), _) => score(y, columns[0][row], self.metric.parameter.unwrap_or(0.0)),
            (RowScore::EachQuantile(_) | RowScore::Interval(_), None) => f64::NAN,
        }
    }

    /// The rows whose truth is known, with all that the metric reads of the models that have any of it.
    fn common(&self, rows: &ScoredRows<'_>) -> Vec<bool> {
        let mut common: Vec<bool> = rows.y.iter().map(|y| !y.is_nan()).collect();
        for columns in rows.models.iter().filter_map(|model| self.forecast(rows, model)) {
            common.iter_mut().enumerate().for_each(|(row, common)| *common &= has(&columns, row));
        }
        common
    }

    /// The columns of a model that has them in any row whose truth is known.
    fn forecast<'m>(&self, rows: &ScoredRows<'_>, model: &ModelForecasts<'m>) -> Option<Vec<&'m [f64]>> {
        let columns = self.read(model);
        let is_there = |row: usize| !rows.y[row].is_nan() && has(&columns, row);
        (!columns.is_empty() && (0..rows.y.len()).any(is_there)).then_some(columns)
    }

    /// Of each group and model the rows whose truth is known and that it lacks these columns of, if it has them in others.
    fn missing(&self, rows: &ScoredRows<'_>, samples: &Samples) -> Vec<Vec<usize>> {
        let of_model = |model: &ModelForecasts<'_>| match self.forecast(rows, model) {
            Some(columns) => samples.counts(|row| !rows.y[row].is_nan() && !has(&columns, row)),
            None => vec![0; samples.groups.len()],
        };
        by_group(samples, rows.models.iter().map(of_model).collect())
    }

    /// The scores of all groups and models; `points` are the rows of which all have a point forecast.
    fn scores(
        &self,
        rows: &ScoredRows<'_>,
        samples: &Samples,
        points: &[bool],
        options: &ScoreOptions<'_>,
    ) -> Result<MetricScores, EvaluationError> {
        let read: Vec<Vec<&[f64]>> = rows.models.iter().map(|model| self.read(model)).collect();
        let own = (!matches!(self.metric.score, RowScore::Point(_))).then(|| self.common(rows));
        let common = own.as_deref().unwrap_or(points);
        let score =
            |model: usize, row: usize| self.score(rows.y[row], &rows.models[model], &read[model], row);
        let scored: Vec<bool> = read.iter().map(|columns| !columns.is_empty()).collect();
        // A score that is undefined for one model is so for all: by the truth alone, or a difference of infinities.
        let is_defined = |row: usize| {
            (0..scored.len()).all(|m| {
                !scored[m] || !score(m, row).is_nan() || read[m].iter().any(|values| values[row].is_nan())
            })
        };
        let counts: Vec<bool> =
            common.iter().enumerate().map(|(row, common)| *common && is_defined(row)).collect();
        let scales = self.scales(rows, samples, options, &counts)?;
        let weight = |window: usize| {
            options.weights.map_or(1.0, |weights| weights[samples.windows[window].0 as usize])
        };
        let of_model = |model: usize| {
            let score = |row| if scored[model] { score(model, row) } else { f64::NAN };
            samples.scores(rows.y, &counts, &scales, score, self.metric.aggregate, weight)
        };
        let by_model: Vec<Vec<f64>> = (0..rows.models.len()).map(of_model).collect();
        let groups = 0..samples.groups.len();
        let values = groups.map(|group| by_model.iter().map(|scores| scores[group]).collect()).collect();
        let per_truth = self.metric.aggregate == RowAggregate::PerTruth;
        let uncounted = samples.uncounted(rows.y, common, &counts, &scales, per_truth);
        let missing = own.as_ref().map_or_else(Vec::new, |_| self.missing(rows, samples));
        Ok(MetricScores { name: self.name(), values, has_columns: scored, uncounted, missing })
    }

    /// The divisor of each window's score; NaN where that is 0 or unknown.
    fn scales(
        &self,
        rows: &ScoredRows<'_>,
        samples: &Samples,
        options: &ScoreOptions<'_>,
        counts: &[bool],
    ) -> Result<Vec<f64>, EvaluationError> {
        let metric = self.metric;
        let scales: Vec<f64> = match metric.scale {
            Scale::None => return Ok(vec![1.0; samples.windows.len()]),
            Scale::Baseline => {
                let baseline = rows.models.iter().find(|model| Some(&*model.name) == options.baseline);
                let baseline = baseline.ok_or_else(|| EvaluationError::NoBaseline {
                    metric: metric.name,
                    models: rows.models.iter().map(|model| model.name.clone()).collect(),
                })?;
                let columns = self.read(baseline);
                let score = |row| self.score(rows.y[row], baseline, &columns, row);
                samples.window_scores(rows.y, counts, score, metric.aggregate)
            }
            scale => {
                let history = options.history.ok_or(EvaluationError::NoHistory { metric: metric.name })?;
                let season = match (scale, options.season) {
                    (Scale::HistoryMean, season) => season.max(1),
                    (_, 0) => return Err(EvaluationError::NoSeason { metric: metric.name }),
                    (_, season) => season,
                };
                let scale_of = |(series, cutoff): &(u32, i64)| {
                    let known = history.until(*series, *cutoff);
                    match scale {
                        Scale::SeasonalError => seasonal_mean(known, season, f64::abs),
                        Scale::SeasonalSquare => seasonal_mean(known, season, |change| change * change),
                        _ => mean(known),
                    }
                };
                samples.windows.iter().map(scale_of).collect()
            }
        };
        Ok(scales.into_iter().map(|scale| if scale == 0.0 { f64::NAN } else { scale }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ScoreHistory;

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
        // A row of a window is a sample of its own.
        assert_eq!((value(&step, 0, 0), value(&step, 0, 1)), (1.5, 4.0));
        assert_eq!((value(&step, 1, 0), value(&step, 1, 1)), (1.5, 4.0));
    }

    #[test]
    fn models_are_compared_on_the_rows_that_all_have() {
        let (low, high) = ([0.0, GAP, 0.0], [2.0, GAP, 2.0]);
        let a = ModelForecasts::of_points("A", &[2.0, 5.0, 1.0])
            .with_quantiles([(0.1, &low[..]), (0.9, &high[..])]);
        let models = vec![
            a,
            ModelForecasts::of_points("B", &[1.5, GAP, 1.0]),
            ModelForecasts::of_points("none", &[GAP, GAP, GAP]),
        ];
        let rows = ScoredRows::new(&[1.0, 1.0, GAP], &[0, 1, 1], &[0; 3], &[1, 1, 2], models).unwrap();
        let score =
            |by| evaluate(&rows, &metrics(&["mae", "coverage"]), by, &ScoreOptions::default()).unwrap();
        let all = score(ScoreBy::All);
        // Of the second series A is further off, which B does not forecast.
        assert_eq!(all.metrics[0].values[0][..2], [1.0, 0.5]);
        assert!(all.metrics[0].values[0][2].is_nan());
        assert_eq!((&all.missing, &all.compared), (&vec![vec![0, 1, 2]], &vec![1]));
        let counted = all.clone().with_counts();
        let count = |at: usize| (&*counted.metrics[at].name, &*counted.metrics[at].values[0]);
        assert_eq!(count(2), ("coverage_level80_missing", &[1.0, 0.0, 0.0][..]));
        assert_eq!(count(3), ("missing", &[0.0, 1.0, 2.0][..]));
        assert_eq!(all.metrics[1].values[0][0], 1.0, "coverage of the row that has an interval");
        let series = score(ScoreBy::Series);
        assert!(series.metrics[0].values[1].iter().all(|value| value.is_nan()));
        assert_eq!((series.missing, series.compared), (vec![vec![0, 0, 1], vec![0, 1, 1]], vec![1, 0]));
    }

    #[test]
    fn what_a_metric_has_no_score_of_is_counted() {
        let model = ModelForecasts::of_points("m", &[1.0, 3.0, 1.0]);
        let rows = ScoredRows::new(&[0.0, 2.0, 0.0], &[0, 0, 1], &[0; 3], &[1, 2, 1], vec![model]).unwrap();
        let names = ["mae", "mape", "nd", "mase", "smape"];
        let options =
            ScoreOptions { season: 1, history: Some(&Known(vec![1.0, 1.0])), ..ScoreOptions::default() };
        let table = evaluate(&rows, &metrics(&names), ScoreBy::All, &options).unwrap();
        let uncounted: Vec<(usize, usize)> = table
            .metrics
            .iter()
            .map(|metric| (metric.uncounted[0].rows, metric.uncounted[0].windows))
            .collect();
        assert_eq!(uncounted, [(0, 0), (2, 1), (0, 1), (0, 2), (0, 0)]);
        assert_eq!((value(&table, 1, 0), value(&table, 2, 0)), (0.5, 1.0));
        let no_season = ScoreOptions { season: 0, ..options };
        let error = evaluate(&rows, &metrics(&["mase"]), ScoreBy::All, &no_season).unwrap_err();
        assert_eq!(error, EvaluationError::NoSeason { metric: "mase" });
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
                "mqloss", "quantile_loss_q0.1", "quantile_loss_q0.9", "coverage_level80",
                "winkler_score_level80"
            ]
        );
        assert!(table.metrics.iter().all(|metric| metric.values[0][1].is_nan()));
        assert!(table.metrics.iter().all(|metric| metric.has_columns == [true, false]));
        assert_eq!((value(&table, 3, 0), value(&table, 4, 0)), (1.0, 2.0));
    }

    #[test]
    fn quantiles_that_no_model_forecasts_are_an_error() {
        let (point, median) = ([1.0], [(0.5, &[1.0][..])]);
        let scored = |model, name| {
            let rows = ScoredRows::new(&[1.5], &[0], &[0], &[1], vec![model]).unwrap();
            evaluate(&rows, &metrics(&[name]), ScoreBy::All, &ScoreOptions::default())
        };
        for name in ["mqloss", "quantile_loss", "coverage", "winkler_score"] {
            let error = scored(ModelForecasts::of_points("p", &point), name).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} scores ")), "{error}");
        }
        let of_median = |name| scored(ModelForecasts::of_points("p", &point).with_quantiles(median), name);
        assert!(of_median("mqloss").is_ok() && of_median("coverage").is_err());
    }

    #[test]
    fn intervals_that_a_model_lacks_are_counted_by_model_and_column() {
        let (low, high) = ([0.0; 3], [2.0; 3]);
        let (few_low, few_high) = ([0.0, GAP, 0.0], [2.0, 2.0, GAP]);
        let point = [1.0; 3];
        let of = |name, low, high| {
            ModelForecasts::of_points(name, &point).with_quantiles([(0.1, low), (0.9, high)])
        };
        let models = vec![
            of("A", &low[..], &high[..]),
            of("B", &few_low[..], &few_high[..]),
            ModelForecasts::of_points("points", &point),
        ];
        // A misses the truth in the rows that B has no interval of.
        let rows = ScoredRows::new(&[1.0, 9.0, 9.0], &[0, 0, 1], &[0; 3], &[1, 2, 1], models).unwrap();
        let names = metrics(&["mae", "coverage", "quantile_loss", "mqloss"]);
        let table = evaluate(&rows, &names, ScoreBy::Series, &ScoreOptions::default()).unwrap();
        let coverage = &table.metrics[1];
        assert_eq!(coverage.values[0][..2], [1.0, 1.0]);
        assert_eq!(coverage.missing, [[0, 1, 0], [0, 1, 0]]);
        let counted = table.with_counts();
        let counts: Vec<(&str, &[Vec<f64>])> = (counted.metrics.iter())
            .filter(|metric| crate::is_count(&metric.name))
            .map(|metric| (&*metric.name, &metric.values[..]))
            .collect();
        let [none, one] = [vec![0.0; 3], vec![0.0, 1.0, 0.0]];
        assert_eq!(
            counts,
            [
                ("coverage_level80_missing", &[one.clone(), one.clone()][..]),
                ("quantile_loss_q0.1_missing", &[one.clone(), none.clone()]),
                ("quantile_loss_q0.9_missing", &[none, one.clone()]),
                ("mqloss_missing", &[one.clone(), one]),
            ]
        );
    }

    #[test]
    fn columns_have_a_value_per_row() {
        let model = ModelForecasts::of_points("m", &[1.0]);
        let error = ScoredRows::new(&[1.0, 2.0], &[0, 0], &[0, 0], &[1, 2], vec![model]).unwrap_err();
        assert_eq!(error.to_string(), "m: 1 values where 2 are expected, one per row");
    }
}
