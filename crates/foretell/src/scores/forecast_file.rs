//! Scores of any tables of forecasts, whatever their source.

use std::collections::HashMap;
use std::sync::Arc;

use foretell_data::{ForecastTable, ModelInTable, SAMPLE_ID};
use foretell_evaluate::{
    DieboldMariano, EvaluationError, Metric, ScoreBy, ScoreHistory, ScoreOptions, ScoreTable, ScoredRows,
    diebold_mariano, evaluate,
};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::sample_paths::are_several;
use crate::scores::model_columns::ModelColumns;

/// Forecasts of any tool beside the actual values, ready to be scored.
///
/// A row of a forecast is compared with the row of the same series and time. Columns such as `NHITS-lo-80` and `NHITS-hi-80` are
/// intervals of the model `NHITS`, `NHITS-median` is its point forecast where it has no other.
#[derive(Debug)]
pub struct ScoredForecasts {
    /// The series, by their numbers.
    ids: Vec<Arc<str>>,
    y: Vec<f64>,
    series: Vec<u32>,
    cutoffs: Vec<i64>,
    times: Vec<i64>,
    steps: Vec<u32>,
    models: Vec<ModelColumns>,
    /// Times and values of each series, in the order of time.
    history: Vec<Vec<(i64, f64)>>,
    /// The values before each forecast.
    known: HashMap<(u32, i64), Vec<f64>>,
}

impl ScoredForecasts {
    /// Forecasts beside `actual`, or beside the target in their own table. The values before each forecast, which scaled metrics
    /// are relative to, is taken from `history` and from `actual`.
    ///
    /// # Errors
    /// If no table has the target, no column is a forecast, no row of a forecast has come true, or the forecasts are several sample
    /// paths.
    pub fn new(
        forecast: &ForecastTable,
        actual: Option<&ForecastTable>,
        history: Option<&ForecastTable>,
        columns: &ColumnNames,
    ) -> Result<Self, Error> {
        if forecast.columns.iter().any(|(name, numbers)| name == SAMPLE_ID && are_several(numbers)) {
            return Err(Error::SamplePaths { table: forecast.file.clone() });
        }
        let (ids, series) = numbered(&forecast.ids);
        let place: HashMap<&str, u32> = ids.iter().zip(0..).map(|(id, number)| (&**id, number)).collect();
        let mut values: Vec<Vec<(i64, f64)>> = vec![Vec::new(); ids.len()];
        for table in [history, actual].into_iter().flatten() {
            let y = table.column(&columns.target)?;
            for ((id, time), y) in table.ids.iter().zip(&table.times).zip(y) {
                if let Some(&series) = place.get(&**id) {
                    values[series as usize].push((*time, *y));
                }
            }
        }
        for values in &mut values {
            values.sort_by_key(|(time, _)| *time);
            // An actual value takes precedence over one of the history.
            values.reverse();
            values.dedup_by_key(|(time, _)| *time);
            values.reverse();
        }
        let y = match actual {
            None => forecast.column(&columns.target)?.to_vec(),
            Some(_) => {
                let truth = |(series, time): (&u32, &i64)| {
                    let values = &values[*series as usize];
                    values.binary_search_by_key(time, |(time, _)| *time).map_or(f64::NAN, |i| values[i].1)
                };
                series.iter().zip(&forecast.times).map(truth).collect()
            }
        };
        if y.iter().all(|y| y.is_nan()) {
            return Err(Error::NothingCameTrue { forecast: forecast.file.clone() });
        }
        let models = models(forecast, &columns.target);
        if models.is_empty() {
            return Err(Error::NoForecasts { forecast: forecast.file.clone() });
        }
        let mut scored = Self {
            ids,
            y,
            cutoffs: cutoffs(forecast, &series),
            series,
            times: forecast.times.clone(),
            steps: Vec::new(),
            models,
            history: values,
            known: HashMap::new(),
        };
        scored.steps = scored.steps();
        scored.known = scored.known();
        Ok(scored)
    }

    /// The place of each row among those of its series and cutoff, by time, from 1.
    fn steps(&self) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.y.len()).collect();
        order.sort_by_key(|&row| (self.series[row], self.cutoffs[row], self.times[row]));
        let (mut steps, mut before) = (vec![1; order.len()], None);
        for row in order {
            let window = (self.series[row], self.cutoffs[row]);
            steps[row] = match before {
                Some((same, step)) if same == window => step + 1,
                _ => 1,
            };
            before = Some((window, steps[row]));
        }
        steps
    }

    fn known(&self) -> HashMap<(u32, i64), Vec<f64>> {
        let windows: HashMap<(u32, i64), ()> =
            self.series.iter().copied().zip(self.cutoffs.iter().copied()).map(|key| (key, ())).collect();
        let before = |&(series, cutoff): &(u32, i64)| {
            let values = &self.history[series as usize];
            values[..values.partition_point(|(time, _)| *time <= cutoff)].iter().map(|(_, y)| *y).collect()
        };
        windows.into_keys().map(|window| (window, before(&window))).collect()
    }

    /// The series, by the numbers that [`ScoreGroup`](foretell_evaluate::ScoreGroup) has.
    pub fn ids(&self) -> &[Arc<str>] {
        &self.ids
    }

    /// The names of the models.
    pub fn models(&self) -> Vec<&str> {
        self.models.iter().map(|model| model.name.as_str()).collect()
    }

    /// Whether any model has quantiles.
    pub fn has_quantiles(&self) -> bool {
        self.models.iter().any(|model| !model.quantiles.is_empty())
    }

    /// Whether any model has central intervals: two quantiles that are as far from the median.
    pub fn has_intervals(&self) -> bool {
        self.models.iter().any(|model| model.forecasts().levels().next().is_some())
    }

    /// Whether something is known of before each forecast.
    pub fn has_history(&self) -> bool {
        self.known.values().any(|known| !known.is_empty())
    }

    /// The metrics that these forecasts have where nobody names any; errors beside those of a baseline if there is one.
    pub fn usual_metrics(&self, has_baseline: bool) -> Vec<&'static str> {
        let mut names = vec!["mae", "rmse", "bias", "smape"];
        names.extend(self.has_history().then_some("mase"));
        names.extend(has_baseline.then_some("rmae"));
        names.extend(self.has_quantiles().then_some("mqloss"));
        names.extend(self.has_intervals().then_some("coverage"));
        names
    }

    /// Rows of forecasts, and how many of them have come true.
    pub fn rows(&self) -> [usize; 2] {
        [self.y.len(), self.y.iter().filter(|y| !y.is_nan()).count()]
    }

    /// Scores of all models. Weights and labels have one entry per series, in the order of [`ScoredForecasts::ids`].
    ///
    /// # Errors
    /// The errors of [`evaluate`].
    pub fn scores(
        &self,
        metrics: &[Metric],
        by: ScoreBy<'_>,
        season: usize,
        baseline: Option<&str>,
        weights: Option<&[f64]>,
    ) -> Result<ScoreTable, EvaluationError> {
        let history = self.has_history().then_some(self as &dyn ScoreHistory);
        evaluate(&self.scored()?, metrics, by, &ScoreOptions { season, history, baseline, weights })
    }

    fn scored(&self) -> Result<ScoredRows<'_>, EvaluationError> {
        let models = self.models.iter().map(ModelColumns::forecasts).collect();
        ScoredRows::new(&self.y, &self.series, &self.cutoffs, &self.steps, models)
    }

    /// Whether the absolute errors of the first model are smaller than those of the second, by the test of Diebold and Mariano over
    /// the mean differences of all series at each time.
    ///
    /// # Errors
    /// A name that no model has, or fewer than two times.
    pub fn compare(&self, first: &str, second: &str) -> Result<DieboldMariano, Error> {
        let find = |name: &str| {
            let model = self.models.iter().find(|known| known.name == name);
            model.ok_or_else(|| EvaluationError::NoBaseline {
                metric: "a comparison",
                models: self.models.iter().map(|model| model.name.clone()).collect(),
            })
        };
        let (first, second) = (find(first)?, find(second)?);
        let mut by_time: HashMap<(i64, i64), [f64; 3]> = HashMap::new();
        for (row, y) in self.y.iter().enumerate() {
            let errors = [first, second].map(|model| (y - model.point[row]).abs());
            if errors.iter().all(|error| !error.is_nan()) {
                let sums = by_time.entry((self.cutoffs[row], self.times[row])).or_default();
                *sums = [sums[0] + errors[0], sums[1] + errors[1], sums[2] + 1.0];
            }
        }
        let mut times: Vec<_> = by_time.into_iter().collect();
        times.sort_by_key(|(time, _)| *time);
        let mean = |side: usize| times.iter().map(|(_, sums)| sums[side] / sums[2]).collect::<Vec<f64>>();
        let horizon = self.steps.iter().copied().max().unwrap_or(1) as usize;
        Ok(diebold_mariano(&mean(0), &mean(1), horizon)?)
    }
}

impl ScoreHistory for ScoredForecasts {
    fn until(&self, series: u32, cutoff: i64) -> &[f64] {
        self.known.get(&(series, cutoff)).map_or(&[], Vec::as_slice)
    }
}

/// The different ids in the order in which they appear, and the number of that of each row.
fn numbered(ids: &[Arc<str>]) -> (Vec<Arc<str>>, Vec<u32>) {
    let (mut places, mut known) = (HashMap::<&str, u32>::new(), Vec::new());
    let series = ids.iter().map(|id| {
        *places.entry(&**id).or_insert_with(|| {
            known.push(id.clone());
            known.len() as u32 - 1
        })
    });
    let series = series.collect();
    (known, series)
}

/// The cutoff of each row: as the table says, or the last microsecond before the first time of its series.
fn cutoffs(forecast: &ForecastTable, series: &[u32]) -> Vec<i64> {
    if let Some(cutoffs) = &forecast.cutoffs {
        return cutoffs.clone();
    }
    let mut first: HashMap<u32, i64> = HashMap::new();
    for (series, time) in series.iter().zip(&forecast.times) {
        first.entry(*series).and_modify(|first| *first = (*first).min(*time)).or_insert(*time);
    }
    series.iter().map(|series| first[series] - 1).collect()
}

/// The models that a table forecasts.
fn models(forecast: &ForecastTable, target: &str) -> Vec<ModelColumns> {
    let values = |place: usize| forecast.columns[place].1.clone();
    let model = |model: ModelInTable| ModelColumns {
        name: model.model.to_string(),
        point: model.point().map_or_else(|| vec![f64::NAN; forecast.ids.len()], values),
        quantiles: model.quantiles_within().map(|(q, place)| (q, values(place))).collect(),
    };
    forecast.models(target).into_iter().filter(ModelInTable::is_forecast).map(model).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, &[f64])], cutoffs: Option<&[i64]>) -> ForecastTable {
        let ids = ["a", "a", "b", "b"].map(Arc::from).to_vec();
        let columns = columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec()));
        ForecastTable {
            file: "f.csv".into(),
            ids,
            integer_ids: false,
            times: vec![5, 6, 6, 5],
            kind: foretell_data::TimeKind::Integer,
            zone: None,
            cutoffs: cutoffs.map(<[i64]>::to_vec),
            columns: columns.collect(),
            known: Default::default(),
        }
    }

    #[test]
    fn rows_are_compared_by_series_and_time() {
        let forecast = table(
            &[
                ("M", &[1.0, 2.0, 3.0, 4.0]),
                ("M-lo-80", &[0.0; 4]),
                ("M-hi-80", &[3.0; 4]),
                ("N-median", &[1.0; 4]),
            ],
            None,
        );
        let actual = table(&[("y", &[1.0, 4.0, 5.0, 4.0])], None);
        let scored = ScoredForecasts::new(&forecast, Some(&actual), None, &ColumnNames::default()).unwrap();
        assert_eq!((scored.models(), scored.rows()), (vec!["M", "N"], [4, 4]));
        assert_eq!(scored.steps, [1, 2, 2, 1]);
        let metrics = ["mae", "coverage"].map(|name| Metric::parse(name).unwrap());
        let table = scored.scores(&metrics, ScoreBy::Series, 1, None, None).unwrap();
        assert_eq!(table.metrics[0].values, [[1.0, 1.5], [1.0, 3.5]]);
        assert_eq!((&*table.metrics[1].name, table.metrics[1].values[0][0]), ("coverage_level80", 0.5));
        assert!(!scored.has_history() && scored.has_quantiles() && scored.has_intervals());
    }

    #[test]
    fn one_end_is_no_interval() {
        let one_end = table(&[("M", &[1.0; 4]), ("M-lo-80", &[0.0; 4]), ("y", &[1.0; 4])], None);
        let scored = ScoredForecasts::new(&one_end, None, None, &ColumnNames::default()).unwrap();
        assert!(scored.has_quantiles() && !scored.has_intervals());
    }

    #[test]
    fn what_is_missing_is_said() {
        let columns = ColumnNames::default();
        let forecast = table(&[("M", &[1.0; 4])], None);
        let none = ScoredForecasts::new(&forecast, None, None, &columns).unwrap_err().to_string();
        assert!(none.contains("no column `y`"), "{none}");
        let unknown = table(&[("y", &[f64::NAN; 4])], None);
        let none = ScoredForecasts::new(&forecast, Some(&unknown), None, &columns).unwrap_err();
        assert!(matches!(none, Error::NothingCameTrue { .. }));
        let none = ScoredForecasts::new(&table(&[("y", &[1.0; 4])], None), None, None, &columns).unwrap_err();
        assert!(matches!(none, Error::NoForecasts { .. }));
    }

    #[test]
    fn one_path_is_a_forecast_and_several_are_refused() {
        let scored = |sample_ids: [f64; 4]| {
            let columns: [(&str, &[f64]); 3] =
                [("sample_id", &sample_ids), ("M", &[1.0; 4]), ("y", &[2.0; 4])];
            ScoredForecasts::new(&table(&columns, None), None, None, &ColumnNames::default())
        };
        assert_eq!(scored([3.0; 4]).unwrap().models(), ["M"]);
        let several = scored([0.0, 0.0, 1.0, 1.0]).unwrap_err().to_string();
        assert!(several.starts_with("f.csv holds sample paths, which its column `sample_id`"), "{several}");
    }
}
