//! All errors, by who can mend them.

use std::path::PathBuf;

use foretell_calendar::{CalendarError, Freq};
use foretell_checkpoint::CheckpointError;
use foretell_data::DataError;
use foretell_estimator::{EstimatorError, TooManyThreads, TooMuchMemory, is_wanted};
use foretell_features::FeatureError;
use foretell_messages::Setting;
use foretell_neural::{NetworkError, SpecError, WithoutAmp};
use foretell_scores::ScoresError;
use foretell_simulation::SimulationError;
use foretell_tables::TableError;

use crate::explanation_error::ExplanationError;
use crate::interval_error::IntervalError;
use crate::plan_error::PlanError;
use crate::reconciliation_error::ReconciliationError;
use crate::series_fallback::SeriesFallback;
use crate::smaller_error::SmallerError;
use crate::usage_error::UsageError;

/// Whether anyone still waits for what is computed ([`while_wanted`](crate::while_wanted)); asked before a result is used that may
/// have been left unfinished.
pub(crate) fn check_wanted() -> Result<(), Error> {
    if is_wanted() { Ok(()) } else { Err(Error::NotWanted) }
}

/// An error of forecasting; the message says what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Error {
    /// Models, hyper-parameters or settings that no data would suit.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// Data that cannot be read, or does not fit the models.
    #[error(transparent)]
    Data(DataError),
    /// A model that cannot be trained on the data, or cannot forecast them.
    #[error(transparent)]
    Estimator(EstimatorError),
    /// The training of a network that could not continue, or its state, which cannot be kept.
    #[error(transparent)]
    Network(NetworkError),
    /// Work that was given up, as no one waits for it any more ([`while_wanted`](crate::while_wanted)).
    #[error("the work was given up, since no one waits for it any more; ask again")]
    NotWanted,
    /// A model directory that cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A model directory whose model is not one that foretell can run.
    #[error("{path}: model {alias}: {reason}", path = path.display())]
    #[strum(serialize = "model_not_runnable")]
    Model {
        /// The directory.
        path: PathBuf,
        /// The model's alias.
        alias: String,
        /// Why.
        reason: String,
    },
    /// Models that were written and could not be read back; what was at their place stays there.
    #[error(
        "{path}: what was written could not be read back, so that nothing was put in its place: {source}; this is a fault of the \
         program: please report it",
        path = path.display()
    )]
    NotReadBack {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// A model directory whose panel cannot be read.
    #[error("{path}: its dataset: {reason}; give the series to forecast", path = path.display())]
    StoredPanel {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A training that was stopped before any model was trained.
    #[error("training was stopped before any model was trained")]
    NothingTrained,
    /// A cross-validation whose training was interrupted before anything was forecast.
    #[error("training stopped after {after}, before any model could forecast")]
    NothingForecast {
        /// How far training came, in words.
        after: String,
    },
    /// Processes that are to train together, and would not train the same.
    #[error(
        "{process} would train something else than {first}: {differences}; start all processes with the same program, arguments and \
         data, on machines with the same SIMD level (the environment variable FORETELL_SIMD sets a lower one)"
    )]
    #[strum(serialize = "processes_disagree")]
    Disagreement {
        /// The process that differs.
        process: String,
        /// Process 0.
        first: String,
        /// The settings that differ, and how.
        differences: String,
    },
    /// A training that diverged, although all numbers stayed finite.
    #[error(
        "{model}: the training diverged: the loss rose from {first:.3e} to {last:.3e}, and forecasts of what it was trained on \
         are off by {error:.3e} on average, where repeating the last value is off by {naive:.3e}; lower learning_rate, set \
         gradient_clip_val, or set a scaler_type if the values are large"
    )]
    Diverged {
        /// The name of the model's column.
        model: String,
        /// The loss in the beginning.
        first: f64,
        /// The loss in the end.
        last: f64,
        /// The mean absolute error over the last horizon that was trained on.
        error: f64,
        /// The mean absolute error of the naive forecast.
        naive: f64,
    },
    /// Data to validate on of other series than those that are trained on.
    #[error(
        "series {id} is {} the data to validate on; these have the series that are trained on, and no others",
        if *.extra { "only in" } else { "missing in" }
    )]
    OtherValidationSeries {
        /// The series.
        id: String,
        /// Whether it is in the data to validate on alone.
        extra: bool,
    },
    /// Data to validate on that no forecast fits into.
    #[error(
        "the data to validate on need rows for a forecast, of each series at least h = {h}, found {rows}; give more rows"
    )]
    ShortValidation {
        /// Rows of each series.
        rows: usize,
        /// The horizon.
        h: usize,
    },
    /// Data to validate on whose series differ in length.
    #[error(
        "all series of the data to validate on need as many rows, found {shortest} of one and {longest} of another; cut them to the \
         same times"
    )]
    UnequalValidation {
        /// Rows of the shortest.
        shortest: usize,
        /// Rows of the longest.
        longest: usize,
    },
    /// A series of which no paths come.
    #[error("series {id}: {source}")]
    Simulation {
        /// The series.
        id: String,
        /// Why.
        source: SimulationError,
    },
    /// A column of categories without any.
    #[error("column {column} of cat_exog_list holds no category where models are trained; leave it out")]
    NoCategories {
        /// The column.
        column: String,
    },
    /// More categories than a model has room for.
    #[error(
        "{model}: column {column} has {found} categories in the training data, and categorical_cardinalities says {most}; \
         raise it, or leave the column out of categorical_cardinalities to have it counted"
    )]
    #[strum(serialize = "too_many_categories")]
    Cardinality {
        /// The model's alias.
        model: String,
        /// The column.
        column: String,
        /// The most that were expected.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// Data of another frequency than that of training.
    #[error(
        "the models were trained on data of frequency {trained}; this panel has frequency {found}; read it with \
         the frequency of training if that is what it has ({})",
        Setting::Freq
    )]
    #[strum(serialize = "other_frequency")]
    Frequency {
        /// The frequency of training.
        trained: Freq,
        /// The frequency of the panel.
        found: Freq,
    },
    /// Series that no lesson of a student fits into.
    #[error(
        "a lesson has the rows that the student reads and those that its teacher forecasts, {needed}, and the longest series has \
         {rows}; lower input_size, keep fewer rows apart, or give longer series"
    )]
    ShortForLessons {
        /// Rows of the longest series.
        rows: usize,
        /// Rows of a lesson.
        needed: usize,
    },
    /// A series that has too few rows to calibrate intervals on.
    #[error(
        "prediction intervals, weights of an ensemble, or errors that weigh the series of a hierarchy, with these settings need {needed} \
         rows of each series, and series {id} has {rows}; \
         lower n_windows, step_size, val_size or h, or leave the series that are too short out of the data"
    )]
    ShortForIntervals {
        /// The series.
        id: String,
        /// Its rows.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// A series that intervals were not calibrated on.
    #[error(
        "the intervals were calibrated on other series than {id}; calibrate them on these data ({})",
        Setting::Calibrate.to(10)
    )]
    NotCalibrated {
        /// The series.
        id: String,
    },
    /// Scores of forecasts that cannot be computed.
    #[error(transparent)]
    Evaluation(#[from] foretell_evaluate::EvaluationError),
    /// A hierarchy that is none, or a reconciliation that lacks something.
    #[error(transparent)]
    Hierarchy(#[from] foretell_hierarchy::HierarchyError),
    /// A file of a hierarchy that is none.
    #[error("{}: {source}", path.display())]
    HierarchyFile {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: foretell_hierarchy::HierarchyError,
    },
    /// A table that does not fit a hierarchy.
    #[error(transparent)]
    Reconciliation(#[from] ReconciliationError),
    /// Tables of forecasts that cannot be scored.
    #[error(transparent)]
    Scores(#[from] ScoresError),
    /// Series that are shorter than what models read, where that is asked to be an error
    /// ([`PredictOptions::strict`](crate::PredictOptions::strict)).
    #[error(
        "{} of {series} series have fewer rows than the {input_size} that {} reads, the first {id} with {rows}; give more rows, \
         leave these series out, or train with a smaller input_size",
        count,
        models.join(" or ")
    )]
    ShortHistory {
        /// Models that read this many rows.
        models: Vec<String>,
        /// Rows that they read.
        input_size: usize,
        /// How many series are shorter,
        count: usize,
        /// of how many.
        series: usize,
        /// The first of them,
        id: String,
        /// and its rows.
        rows: usize,
    },
    /// Series that a model would forecast in another way than its hyper-parameters say, where that is asked to be an error
    /// ([`PredictOptions::strict`](crate::PredictOptions::strict)).
    #[error(
        "{}: series {} has {}, and would be forecast by {} (such series: {count}); {}, or leave such series out",
        .first.model,
        .first.series,
        .first.reason,
        .first.instead,
        .first.remedy
    )]
    #[strum(serialize = "series_fallback")]
    Fallback {
        /// How many series of the first model,
        count: usize,
        /// and the first of them.
        first: Box<SeriesFallback>,
    },
    /// A series that no forecast fits in.
    #[error(
        "a forecast of h = {h} steps of the history needs {needed} rows, more than series {id}, which has {rows} rows; \
         leave such series out ({})",
        Setting::DropShort
    )]
    ShortForInsample {
        /// The series.
        id: String,
        /// Its rows.
        rows: usize,
        /// The horizon.
        h: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Series of which no known end can be forecast.
    #[error(
        "no forecast to compare with what is known: that of h = {h} steps needs {needed} rows, one of them before it, and \
         the longest series has {rows}; give more rows"
    )]
    ShortForValidation {
        /// Rows of the longest series.
        rows: usize,
        /// The horizon.
        h: usize,
        /// Rows needed.
        needed: usize,
    },
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Table(TableError::NotWanted) => Self::NotWanted,
            error => Self::Data(error),
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        DataError::from(error).into()
    }
}

impl From<CalendarError> for Error {
    fn from(error: CalendarError) -> Self {
        DataError::from(error).into()
    }
}

impl From<FeatureError> for Error {
    fn from(error: FeatureError) -> Self {
        match error {
            FeatureError::Data(error) => error.into(),
            error => UsageError::from(error).into(),
        }
    }
}

/// Errors of a kind of requests are usage errors.
macro_rules! of_requests {
    ($($error:ty),+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                UsageError::from(error).into()
            }
        })+
    };
}

of_requests!(
    ExplanationError, IntervalError, PlanError, SmallerError, SpecError, TooManyThreads, TooMuchMemory,
    WithoutAmp
);

impl From<NetworkError> for Error {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Spec(error) => error.into(),
            NetworkError::WithoutAmp(error) => error.into(),
            NetworkError::Threads(error) => error.into(),
            NetworkError::Memory(error) => error.into(),
            NetworkError::Checkpoint(error) => error.into(),
            NetworkError::Estimator(error) => error.into(),
            error if error.is_usage() => UsageError::Network(Box::new(error)).into(),
            error => Self::Network(error),
        }
    }
}

impl From<EstimatorError> for Error {
    fn from(error: EstimatorError) -> Self {
        let (source, is_usage) = match error {
            EstimatorError::Data(error) => return error.into(),
            EstimatorError::Usage(source) => (source, true),
            EstimatorError::Failed(source) => (source, false),
            error => return Self::Estimator(error),
        };
        match source.downcast::<NetworkError>() {
            Ok(error) => (*error).into(),
            Err(source) if is_usage => UsageError::Estimator(source).into(),
            Err(source) => Self::Estimator(EstimatorError::Failed(source)),
        }
    }
}
