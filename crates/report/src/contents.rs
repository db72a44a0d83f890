//! The contents of a report.

use std::collections::HashMap;

use crate::error::ReportError;

/// A report on forecasts. Sections without contents are left out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The heading of the page.
    pub title: String,
    /// What the forecast says, above all else.
    pub answer: Option<Answer>,
    /// The facts of the forecast: names and values, in this order.
    pub facts: Vec<(String, String)>,
    /// Remarks to be read before the figures.
    pub notes: Vec<String>,
    /// The model that errors are told relative to.
    pub baseline: Option<String>,
    /// Scores, over all and by whatever groups there are.
    pub scores: Vec<ScoreSheet>,
    /// Where the scores come from, and of which models they are.
    pub scores_of: Vec<String>,
    /// The weights behind the models' forecasts.
    pub importances: Vec<Importances>,
    /// The models' settings.
    pub settings: Vec<ModelSettings>,
    /// Commands that repeat the work, one a line.
    pub commands: Vec<String>,
    /// The series and their forecasts.
    pub charts: Charts,
}

/// What a forecast says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// In words.
    pub sentences: Vec<String>,
    /// The sum over the series, where there are several.
    pub total: Option<TotalLines>,
}

/// Sums over the series of a forecast, by their times.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalLines {
    /// The known ones.
    pub known: Vec<(i64, f64)>,
    /// Of each model those that it forecasts.
    pub models: Vec<(String, Vec<(i64, f64)>)>,
}

/// The kind of the keys of a [`ScoreSheet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoredBy {
    /// All rows: one key, which is not shown.
    All,
    /// Steps ahead, as numbers.
    Step,
    /// The times that were known last.
    Cutoff,
    /// Ids of series.
    Series,
}

/// Scores of models.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreSheet {
    /// The kind of the keys.
    pub by: ScoredBy,
    /// The keys, one for each group of rows that was scored.
    pub keys: Vec<String>,
    /// The metrics: `mae`, `mase`, `coverage_level80`, ...
    pub metrics: Vec<String>,
    /// The models.
    pub models: Vec<String>,
    /// `[keys, metrics, models]`; NaN where there is none.
    pub values: Vec<f64>,
}

impl ScoreSheet {
    /// The scores of a table: of each row its key, its metric and the score of each model. Of rows of the same key and metric the
    /// last one counts.
    ///
    /// # Errors
    /// [`ReportError::Scores`] if a row has more scores than there are models.
    pub fn of_rows<T: AsRef<str>>(
        by: ScoredBy,
        models: Vec<String>,
        rows: impl IntoIterator<Item = (T, T, Vec<f64>)>,
    ) -> Result<Self, ReportError> {
        let (mut keys, mut metrics) = (Names::default(), Names::default());
        let place = |(key, metric, scores): (T, T, Vec<f64>)| {
            if scores.len() > models.len() {
                return Err(ReportError::Scores { models: models.len(), found: scores.len() });
            }
            Ok((keys.place(key.as_ref()), metrics.place(metric.as_ref()), scores))
        };
        let rows: Vec<(usize, usize, Vec<f64>)> = rows.into_iter().map(place).collect::<Result<_, _>>()?;
        let (keys, metrics) = (keys.names, metrics.names);
        let mut values = vec![f64::NAN; keys.len() * metrics.len() * models.len()];
        for (key, metric, scores) in rows {
            let first = (key * metrics.len() + metric) * models.len();
            values[first..first + scores.len()].copy_from_slice(&scores);
        }
        Ok(Self { by, keys, metrics, models, values })
    }

    /// The score of a model by their places.
    ///
    /// # Panics
    /// If there are fewer values than keys, metrics and models ask for.
    #[track_caller]
    pub fn value(&self, key: usize, metric: usize, model: usize) -> f64 {
        self.values[(key * self.metrics.len() + metric) * self.models.len() + model]
    }
}

/// Different names in the order in which they appear.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

/// The weights behind one model's forecasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Importances {
    /// The model.
    pub model: String,
    /// Columns: their kind (past, future, static), name and mean weight.
    pub columns: Vec<(String, String, f64)>,
    /// The steps that the horizon attends to, 0 the last of the history, with their mean weights.
    pub attention: Vec<(String, f64)>,
}

/// The settings of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// The model, as its columns are called.
    pub model: String,
    /// Its settings: names and values.
    pub settings: Vec<(String, String)>,
}

/// Series and their forecasts.
#[derive(Clone, Debug, Default)]
pub struct Charts {
    /// Whether times are numbers of steps; else they are microseconds since 1970-01-01 00:00 on a civil clock.
    pub integer_times: bool,
    /// The models that forecast.
    pub models: Vec<ModelLines>,
    /// The series.
    pub series: Vec<SeriesLines>,
}

/// The lines of one model in a forecast's chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelLines {
    /// The model.
    pub name: String,
    /// The levels of its intervals in percent, the widest first.
    pub levels: Vec<String>,
}

/// One series.
#[derive(Clone, Debug)]
pub struct SeriesLines {
    /// Its id.
    pub id: String,
    /// The times of its values, rising.
    pub times: Vec<i64>,
    /// Its values, NaN where one is missing.
    pub values: Vec<f32>,
    /// Its forecasts.
    pub forecasts: Vec<ForecastLines>,
}

/// One forecast of a series by all models.
#[derive(Clone, Debug)]
pub struct ForecastLines {
    /// The times, rising.
    pub times: Vec<i64>,
    /// `[columns, times]`: for each of [`Charts::models`] its points, then the lower and upper ends of each level; NaN where there
    /// is none.
    pub values: Vec<f32>,
}

impl Charts {
    /// The columns that each forecast has.
    pub fn columns(&self) -> usize {
        self.models.iter().map(|model| 1 + 2 * model.levels.len()).sum()
    }
}
