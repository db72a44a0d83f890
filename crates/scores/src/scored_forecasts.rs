//! Scores of any tables of forecasts, whatever their source.

use std::collections::HashMap;
use std::sync::Arc;

use foretell_calendar::{Freq, TimeKind, Zone, usual_season};
use foretell_data::ForecastTable;
use foretell_evaluate::{
    DieboldMariano, EvaluationError, Metric, ScoreBy, ScoreHistory, ScoreOptions, ScoreTable, ScoredRows,
    diebold_mariano, evaluate,
};
use foretell_tables::{ModelInTable, SAMPLE_ID};

use crate::crossed_quantiles::CrossedQuantiles;
use crate::error::ScoresError;
use crate::known_values::KnownValues;
use crate::model_columns::{ModelColumns, QuantileColumn};
use crate::same_steps::check_same_steps;
use crate::same_zone::check_same_zone;
use crate::sample_tables::are_several;
use crate::time_steps::{freq_of, steps_ahead};

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
    /// The kind and the zone of the times.
    kind: TimeKind,
    zone: Option<Zone>,
    /// The frequency, if the times tell it.
    freq: Option<Freq>,
    steps: Vec<u32>,
    models: Vec<ModelColumns>,
    known: KnownValues,
    /// Series of the actual values that are not forecast.
    not_forecast: usize,
}

impl ScoredForecasts {
    /// Forecasts beside `actual`, or beside the target in their own table. The values before each forecast, which scaled metrics
    /// are relative to, are taken from `history` and from `actual`.
    ///
    /// # Errors
    /// If one of the tables has times with a zone and the other has none, the tables spell ids differently or have rows of other steps, no table has the target, no
    /// column is a forecast, no row of a forecast has come true, a series and time is there twice, or the forecasts are several sample paths.
    pub fn new(
        forecast: &ForecastTable,
        actual: Option<&ForecastTable>,
        history: Option<&ForecastTable>,
        target: &str,
    ) -> Result<Self, ScoresError> {
        if forecast.columns.iter().any(|(name, numbers)| name == SAMPLE_ID && are_several(numbers)) {
            return Err(ScoresError::SamplePaths { table: forecast.file.clone() });
        }
        // Forecasts without ids are those of the only series.
        let named = actual.or(history).filter(|_| forecast.is_unnamed);
        let named = named.map(|beside| of_the_series(forecast, beside)).transpose()?;
        let forecast = named.as_ref().unwrap_or(forecast);
        for beside in [actual, history].into_iter().flatten() {
            check_same_zone(forecast, beside)?;
        }
        if let Some(actual) = actual {
            forecast.check_spelling(actual)?;
            check_same_steps(forecast, actual)?;
        }
        let (ids, series) = numbered(&forecast.ids);
        let freq = freq_of(&[history, actual, Some(forecast)].into_iter().flatten().collect::<Vec<_>>());
        let known = KnownValues::of(&ids, [actual, history], target, freq)?;
        let y = match actual {
            None => forecast.column(target)?.to_vec(),
            Some(_) => {
                series.iter().zip(&forecast.times).map(|(&series, &time)| known.at(series, time)).collect()
            }
        };
        if y.iter().all(|y| y.is_nan()) {
            let found = [Some(forecast), actual].into_iter().flatten().map(told).collect::<Vec<_>>();
            return Err(ScoresError::NothingCameTrue {
                forecast: forecast.file.clone(),
                found: found.join("; "),
            });
        }
        let models = models(forecast, target);
        if models.is_empty() {
            return Err(ScoresError::NoForecasts { forecast: forecast.file.clone() });
        }
        let not_forecast =
            actual.map_or(0, |actual| numbered(&actual.ids).0.iter().filter(|id| !known.has(id)).count());
        let cutoffs = cutoffs(forecast, &series);
        let steps = steps_ahead(forecast, &series, &cutoffs, freq)?;
        let (times, kind, zone) = (forecast.times.clone(), forecast.kind, forecast.zone.clone());
        Ok(Self { ids, y, cutoffs, series, times, kind, zone, freq, steps, models, known, not_forecast })
    }

    /// The same without the models that are not among these.
    ///
    /// # Errors
    /// A name that no model has.
    pub fn of_models(mut self, names: &[String]) -> Result<Self, ScoresError> {
        let found: Vec<String> = self.models.iter().map(|model| model.name.clone()).collect();
        match names.iter().find(|name| !found.contains(name)) {
            Some(name) => Err(ScoresError::UnknownForecasts { name: name.clone(), found }),
            None => {
                self.models.retain(|model| names.contains(&model.name));
                Ok(self)
            }
        }
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
        let windows = self.series.iter().zip(&self.cutoffs);
        windows.into_iter().any(|(&series, &cutoff)| !self.known.until(series, cutoff).is_empty())
    }

    /// The usual season of the frequency, in steps; nothing where the times do not tell it.
    pub fn usual_season(&self) -> Option<usize> {
        self.freq.map(usual_season)
    }

    /// The metrics that these forecasts have where no one names any; errors beside those of a baseline if there is one. By step there
    /// is no `rmse`: of the single row that a window has of a step it is `mae`.
    pub fn usual_metrics(&self, has_baseline: bool, by: ScoreBy<'_>) -> Vec<&'static str> {
        let mut names = vec!["mae"];
        names.extend((by != ScoreBy::Step).then_some("rmse"));
        names.extend(["bias", "smape"]);
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

    /// Of each model the rows that have come true and that it has no forecast of.
    pub fn missing(&self) -> Vec<usize> {
        let of_model = |model: &ModelColumns| {
            let rows = self.y.iter().zip(&model.point);
            rows.filter(|(y, forecast)| !y.is_nan() && forecast.is_nan()).count()
        };
        self.models.iter().map(of_model).collect()
    }

    /// The columns of quantiles that lack some of the rows that have come true, and how many beside those that their model has no forecast
    /// of: metrics of quantiles and intervals leave these rows out for all models. Nothing of columns without any number.
    pub fn missing_quantiles(&self) -> Vec<(&str, usize)> {
        self.models.iter().flat_map(|model| model.missing_quantiles(&self.y)).collect()
    }

    /// Quantiles that are the wrong way round, of each model that has some: the ends of intervals, of each level, and others.
    pub fn crossed_quantiles(&self) -> Vec<CrossedQuantiles> {
        let place = |row: usize| {
            let id = self.ids[self.series[row] as usize].to_string();
            [id, self.kind.display_in(self.zone.as_ref(), self.times[row])]
        };
        self.models.iter().flat_map(|model| CrossedQuantiles::of(model, place)).collect()
    }

    /// Series of the forecasts of which no value at all is known.
    pub fn without_values(&self) -> Vec<&str> {
        let is_unknown = |series: &usize| self.known.until(*series as u32, i64::MAX).is_empty();
        let mut has_come_true = vec![false; self.ids.len()];
        let known = self.series.iter().zip(&self.y).filter(|(_, y)| !y.is_nan());
        known.for_each(|(series, _)| has_come_true[*series as usize] = true);
        let unknown = (0..self.ids.len()).filter(|series| !has_come_true[*series]).filter(is_unknown);
        unknown.map(|series| &*self.ids[series]).collect()
    }

    /// Series of the actual values that are not forecast.
    pub fn not_forecast(&self) -> usize {
        self.not_forecast
    }

    /// Scores of all models, on the rows that all have. Weights and labels have one entry per series, in the order of [`ScoredForecasts::ids`].
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
        let history = self.has_history().then_some(&self.known as &dyn ScoreHistory);
        let options = ScoreOptions::default().season(season).history(history);
        evaluate(&self.scored()?, metrics, by, &options.baseline(baseline).weights(weights))
    }

    fn scored(&self) -> Result<ScoredRows<'_>, EvaluationError> {
        let models = self.models.iter().map(ModelColumns::forecasts).collect();
        ScoredRows::new(&self.y, &self.series, &self.cutoffs, &self.steps, models)
    }

    /// Whether the absolute errors of the first model are smaller than those of the second, by the test of Diebold and Mariano over
    /// the mean differences of all series at each time, over the rows that both have.
    ///
    /// # Errors
    /// A name that no model has, or fewer than two times.
    pub fn compare(&self, first: &str, second: &str) -> Result<DieboldMariano, ScoresError> {
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

/// The same of a table of forecasts that none is scored of.
pub fn crossed_quantiles(forecast: &ForecastTable, target: &str) -> Vec<CrossedQuantiles> {
    let place = |row: usize| {
        let time = forecast.kind.display_in(forecast.zone.as_ref(), forecast.times[row]);
        [forecast.ids[row].to_string(), time]
    };
    models(forecast, target).iter().flat_map(|model| CrossedQuantiles::of(model, place)).collect()
}

/// Forecasts without ids as those of the only series of another table.
fn of_the_series(forecast: &ForecastTable, beside: &ForecastTable) -> Result<ForecastTable, ScoresError> {
    let first = beside.ids.first();
    match first.zip(beside.ids.iter().find(|id| Some(*id) != first)) {
        Some((one, other)) => Err(ScoresError::UnnamedForecasts {
            forecast: forecast.file.clone(),
            beside: beside.file.clone(),
            series: Box::new([one.clone(), other.clone()]),
        }),
        None => Ok(forecast.clone().of_series(&beside.ids)?),
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

/// The first series and the times of a table in a few words.
fn told(table: &ForecastTable) -> String {
    let shown = |time: Option<&i64>| {
        time.map_or_else(String::new, |time| table.kind.display_in(table.zone.as_ref(), *time))
    };
    let id = table.ids.first().map_or("", |id| &**id);
    let more = if table.ids.iter().any(|other| &**other != id) { ", ..." } else { "" };
    let [first, last] = [shown(table.times.iter().min()), shown(table.times.iter().max())];
    format!("{} has the series {id:?}{more}, from {first} to {last}", table.file)
}

/// The models that a table forecasts.
fn models(forecast: &ForecastTable, target: &str) -> Vec<ModelColumns> {
    let values = |place: usize| forecast.columns[place].1.clone();
    let model = |model: ModelInTable| ModelColumns {
        name: model.model.to_string(),
        point: model.point().map_or_else(|| vec![f64::NAN; forecast.ids.len()], values),
        quantiles: (model.quantiles_within())
            .map(|(q, place)| {
                let name = forecast.columns[place].0.clone();
                QuantileColumn { q, name, values: values(place) }
            })
            .collect(),
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
            is_unnamed: false,
            times: vec![5, 6, 6, 5],
            kind: foretell_calendar::TimeKind::Integer,
            zone: None,
            cutoffs: cutoffs.map(<[i64]>::to_vec),
            columns: columns.collect(),
            known: Default::default(),
            notes: Vec::new(),
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
        let scored = ScoredForecasts::new(&forecast, Some(&actual), None, "y").unwrap();
        assert_eq!((scored.models(), scored.rows()), (vec!["M", "N"], [4, 4]));
        assert_eq!(scored.steps, [1, 2, 2, 1]);
        let metrics = ["mae", "coverage"].map(|name| Metric::parse(name).unwrap());
        let table = scored.scores(&metrics, ScoreBy::Series, 1, None, None).unwrap();
        assert_eq!(table.metrics[0].values, [[1.0, 1.5], [1.0, 3.5]]);
        assert_eq!((&*table.metrics[1].name, table.metrics[1].values[0][0]), ("coverage_level80", 0.5));
        assert!(!scored.has_history() && scored.has_quantiles() && scored.has_intervals());
    }

    #[test]
    fn a_table_of_one_series_has_no_others() {
        let mut forecast = table(&[("M", &[1.0; 4])], None);
        assert_eq!(told(&forecast), "f.csv has the series \"a\", ..., from 5 to 6");
        forecast.ids = vec!["a".into(); 4];
        assert_eq!(told(&forecast), "f.csv has the series \"a\", from 5 to 6");
    }

    #[test]
    fn rows_that_are_there_twice_are_refused() {
        let mut forecast = table(&[("M", &[9.0, 1000.0, 1.0, 1.0])], None);
        forecast.times = vec![5, 5, 5, 6];
        let actual = table(&[("y", &[1.0, 4.0, 5.0, 4.0])], None);
        let scored = |forecast: &ForecastTable, actual: &ForecastTable| {
            ScoredForecasts::new(forecast, Some(actual), None, "y")
        };
        let error = scored(&forecast, &actual).unwrap_err().to_string();
        assert!(error.starts_with("f.csv has the series a at 5 twice, in the rows 1 and 2;"), "{error}");
        // From two cutoffs they are two forecasts.
        forecast.cutoffs = Some(vec![3, 4, 4, 4]);
        assert!(scored(&forecast, &actual).is_ok());
        let mut twice = table(&[("y", &[1.0, 1.0, 5.0, 4.0])], None);
        twice.times = vec![5, 5, 5, 6];
        assert_eq!(scored(&forecast, &twice).unwrap().rows(), [4, 4], "the same value twice is one");
        twice.columns[0].1[1] = 2.0;
        let error = scored(&forecast, &twice).unwrap_err().to_string();
        assert!(error.contains("series a at 5 twice"), "{error}");
    }

    #[test]
    fn models_without_some_forecasts_are_counted_and_left_out_by_name() {
        const GAP: f64 = f64::NAN;
        let columns = [("A", &[2.0, 2.0, 9.0, 9.0][..]), ("B", &[1.5, 1.5, GAP, GAP]), ("y", &[1.0; 4])];
        let scored = || ScoredForecasts::new(&table(&columns, None), None, None, "y");
        let mae = |scored: &ScoredForecasts| {
            let metrics = [Metric::parse("mae").unwrap()];
            scored.scores(&metrics, ScoreBy::All, 1, None, None).unwrap().metrics[0].values[0].clone()
        };
        assert_eq!(scored().unwrap().missing(), [0, 2]);
        assert_eq!(mae(&scored().unwrap()), [1.0, 0.5]);
        let alone = scored().unwrap().of_models(&["A".to_owned()]).unwrap();
        assert_eq!((mae(&alone), alone.missing()), (vec![4.5], vec![0]));
        let error = scored().unwrap().of_models(&["C".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there are no forecasts of C; the models are A, B");
    }

    #[test]
    fn ends_of_intervals_that_are_the_wrong_way_round_are_told() {
        const GAP: f64 = f64::NAN;
        let told = |low: &[f64], high: &[f64]| {
            let columns = [("M", &[1.0; 4][..]), ("M-lo-80", low), ("M-hi-80", high), ("y", &[1.0; 4])];
            let scored = ScoredForecasts::new(&table(&columns, None), None, None, "y").unwrap();
            scored.crossed_quantiles().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            told(&[2.0, 0.0, 2.5, GAP], &[0.0, 2.0, -1.0, 1.0]),
            [
                "the lower end of the 80 % interval of M is above its upper end in 2 of 3 rows, the first of series a at 5 (2 and 0): such \
              an interval holds no value; its two columns seem to be exchanged, so exchange them"
            ]
        );
        let few = told(&[2.0, 0.0, 0.0, 0.0], &[0.0, 2.0, 2.0, 2.0]);
        assert!(
            few[0].contains("in 1 of 4 rows") && few[0].ends_with("exchange the ends in these rows"),
            "{few:?}"
        );
        assert!(told(&[0.0, 1.0, 1.0, GAP], &[2.0, 1.0, 3.0, 0.0]).is_empty(), "an interval may be a point");
    }

    #[test]
    fn ids_under_another_spelling_are_told() {
        let spelt = |ids: [&str; 4], columns: &[(&str, &[f64])]| ForecastTable {
            ids: ids.map(Arc::from).to_vec(),
            ..table(columns, None)
        };
        let forecast = spelt(["7", "7", "b", "b"], &[("M", &[1.0; 4])]);
        let scored = |ids: [&str; 4]| {
            let actual = spelt(ids, &[("y", &[1.0; 4])]);
            ScoredForecasts::new(&forecast, Some(&actual), None, "y").map(|_| ())
        };
        let error = scored(["007", "007", "b", "b"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "f.csv and the data spell the ids of series differently: `7` there, `007` in the data; write them alike"
        );
        assert!(scored(["7", "7", "B ", "b"]).is_ok(), "both files have these ids");
    }

    #[test]
    fn an_instant_is_compared_with_no_clock() {
        let timed = |columns: &[(&str, &[f64])], zone: Option<&str>| {
            let zone = zone.map(|zone| Zone::parse(zone).unwrap());
            ForecastTable { kind: TimeKind::Timestamp, zone, ..table(columns, None) }
        };
        let scored = |[forecast, actual]: [Option<&str>; 2]| {
            let forecast = timed(&[("M", &[1.0; 4])], forecast);
            let actual = timed(&[("y", &[1.0; 4])], actual);
            ScoredForecasts::new(&forecast, Some(&actual), None, "y").map(|_| ())
        };
        for zones in [[Some("+01:00"), None], [None, Some("+01:00")]] {
            let error = scored(zones).unwrap_err().to_string();
            assert!(
                error.starts_with("the times of f.csv have a zone (+01:00), and those of f.csv have none")
            );
        }
        assert!(scored([None, None]).is_ok() && scored([Some("UTC"), Some("+01:00")]).is_ok());
    }

    #[test]
    fn one_end_is_no_interval() {
        let one_end = table(&[("M", &[1.0; 4]), ("M-lo-80", &[0.0; 4]), ("y", &[1.0; 4])], None);
        let scored = ScoredForecasts::new(&one_end, None, None, "y").unwrap();
        assert!(scored.has_quantiles() && !scored.has_intervals());
    }

    #[test]
    fn what_is_missing_is_said() {
        let forecast = table(&[("M", &[1.0; 4])], None);
        let none = ScoredForecasts::new(&forecast, None, None, "y").unwrap_err().to_string();
        assert!(none.contains("no column `y`"), "{none}");
        let unknown = table(&[("y", &[f64::NAN; 4])], None);
        let none = ScoredForecasts::new(&forecast, Some(&unknown), None, "y").unwrap_err();
        assert!(matches!(none, ScoresError::NothingCameTrue { .. }));
        let none = ScoredForecasts::new(&table(&[("y", &[1.0; 4])], None), None, None, "y").unwrap_err();
        assert!(matches!(none, ScoresError::NoForecasts { .. }));
    }

    #[test]
    fn one_path_is_a_forecast_and_several_are_refused() {
        let scored = |sample_ids: [f64; 4]| {
            let columns: [(&str, &[f64]); 3] =
                [("sample_id", &sample_ids), ("M", &[1.0; 4]), ("y", &[2.0; 4])];
            ScoredForecasts::new(&table(&columns, None), None, None, "y")
        };
        assert_eq!(scored([3.0; 4]).unwrap().models(), ["M"]);
        let several = scored([0.0, 0.0, 1.0, 1.0]).unwrap_err().to_string();
        assert!(several.starts_with("f.csv holds sample paths, which its column `sample_id`"), "{several}");
    }
}
