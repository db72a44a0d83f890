//! Mistakes in requests: models, hyper-parameters, settings.

use std::path::PathBuf;

use foretell_estimator::{TooManyThreads, TooMuchMemory};
use foretell_features::FeatureError;
use foretell_messages::Setting;
use foretell_neural::{NetworkError, SpecError, WithoutAmp};

use crate::explanation_error::ExplanationError;
use crate::interval_error::IntervalError;
use crate::plan_error::PlanError;
use crate::smaller_error::SmallerError;

/// A mistake in the request, whatever the data are; the message says what to ask for instead. A command line ends
/// with exit code 2 for it.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum UsageError {
    /// An unknown model, or a hyper-parameter that it refuses.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// More threads than anyone can use.
    #[error(transparent)]
    Threads(#[from] TooManyThreads),
    /// A precision that this program was built without.
    #[error(transparent)]
    WithoutAmp(#[from] WithoutAmp),
    /// A feature that cannot be read or computed.
    #[error(transparent)]
    Features(#[from] FeatureError),
    /// Models and settings that cannot be trained together.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Intervals or quantiles that cannot be had as they were asked for.
    #[error(transparent)]
    Interval(#[from] IntervalError),
    /// An explanation that a model does not have.
    #[error(transparent)]
    Explanation(#[from] ExplanationError),
    /// Networks that cannot become smaller as it was asked for.
    #[error(transparent)]
    Smaller(#[from] SmallerError),
    /// Work that would take more memory than it may.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// An error of a network's own settings or requests.
    #[error(transparent)]
    Network(Box<NetworkError>),
    /// An error of the settings or requests of a model that is no network.
    #[error(transparent)]
    Estimator(Box<dyn std::error::Error + Send + Sync>),
    /// A request for something that only networks have, to another model.
    #[error("{model} is no network, so there is no {what} of it; name one of {known}")]
    NoNetwork {
        /// The model.
        model: &'static str,
        /// The thing asked for.
        what: &'static str,
        /// The networks that there are.
        known: String,
    },
    /// Places of models that are none, or come twice.
    #[error("expected different places of models, from 0 to {}, found {found:?}", models - 1)]
    #[strum(serialize = "wrong_places")]
    Places {
        /// The places.
        found: Vec<usize>,
        /// The number of models.
        models: usize,
    },
    /// Cross-validation with data of their own to validate on.
    #[error(
        "cross-validation trains on parts of the data, so it validates on the last rows of these: set val_size in place of data \
             of their own"
    )]
    ValidationOfParts,
    /// Cross-validation over no windows.
    #[error(
        "cross-validation needs n_windows and step_size of at least 1, found {n_windows} and {step_size}"
    )]
    #[strum(serialize = "no_validation_windows")]
    NoWindows {
        /// Windows asked for.
        n_windows: usize,
        /// Steps between them.
        step_size: usize,
    },
    /// Weights in fewer bits without a network that has some.
    #[error(
        "only networks have weights that can be held in fewer bits, and none of the models is one: {models}; name models with a network"
    )]
    NoWeights {
        /// The models.
        models: String,
    },
    /// A network that is to be exported and is not there, or not named among several.
    #[error(
        "{} is to be exported, and the networks are {}; name one of them, or train one",
        model.as_deref().unwrap_or("the only network"),
        if found.is_empty() { "none".to_owned() } else { found.join(", ") }
    )]
    NoSuchNetwork {
        /// The name that was given, if one was.
        model: Option<String>,
        /// The names of the networks.
        found: Vec<String>,
    },
    /// Models of parts of a panel that make no model of the whole.
    #[error("models of parts of the series cannot be joined: {reason}; fit them to all series at once")]
    NotJoined {
        /// Why.
        reason: String,
    },
    /// No way of combining forecasts.
    #[error(
        "an ensemble is mean, median or weighted:N, with N windows of at least 2 to learn the weights by, found {found:?}"
    )]
    #[strum(serialize = "unknown_ensemble")]
    EnsembleText {
        /// The text.
        found: String,
    },
    /// Columns that are read of a wide table, each column of which is a series.
    #[error(
        "the models read {columns}, and every column of a wide table ({}) is a series; give a long one",
        Setting::Wide
    )]
    WideWithColumns {
        /// The columns.
        columns: String,
    },
    /// Sample paths of a series that are none, or too many.
    #[error("a simulation draws 1 to {most} paths of each series, found {found}")]
    #[strum(serialize = "paths_out_of_range")]
    Paths {
        /// The most that there may be.
        most: usize,
        /// The paths asked for.
        found: usize,
    },
    /// Paths of its own, of a model that draws none.
    #[error(
        "{model} draws no paths of its own, as a recurrent network of a distribution's loss does (DeepAR, or LSTM with \
         recurrent=true); draw them from its quantiles, by gaussian_copula or schaake_shuffle"
    )]
    NoOwnPaths {
        /// The model.
        model: String,
    },
    /// Future columns in windows that are shorter than what is read of them.
    #[error(
        "{model} reads the columns {columns} over all of its horizon, h = {h}, which the data do not cover after a last window \
             of {found} steps; score all {h} steps"
    )]
    FutureOfFewerSteps {
        /// The model.
        model: String,
        /// The horizon.
        h: usize,
        /// The columns.
        columns: String,
        /// Steps asked for.
        found: usize,
    },
    /// Options of a training for models that are scored unchanged.
    #[error(
        "models that are scored unchanged, without training, forecast their own horizon: expected h = {own} and refit = 0, found h = {h} \
         and refit = {refit}; leave both out, or cross-validate with training"
    )]
    ValidationOfTrained {
        /// Every this many windows they were to be trained.
        refit: usize,
        /// Steps asked for.
        h: usize,
        /// The horizon.
        own: usize,
    },
    /// Historic columns where nothing is known of them.
    #[error(
        "{model} reads the historic columns {columns}, which are not known beyond its horizon, so it cannot forecast \
             more than h = {h} steps"
    )]
    HistoryAhead {
        /// The model.
        model: String,
        /// The horizon.
        h: usize,
        /// The columns.
        columns: String,
    },
    /// Quantiles without a median to continue from.
    #[error(
        "{model} forecasts more than h = {h} steps only from its own median, which is not among the quantiles of its \
             loss"
    )]
    NoMedian {
        /// The model.
        model: String,
        /// The horizon.
        h: usize,
    },
    /// A file of weights whose name does not say of which model they are.
    #[error("{path} does not say which model its weights are of; name its class ({})", Setting::ImportClass.to("NHITS"), path = path.display())]
    #[strum(serialize = "import_without_class")]
    NoClass {
        /// The file.
        path: PathBuf,
    },
    /// A file of a model alone, which says nothing of the data.
    #[error(
        "{path} does not say how far apart the times of the model's data are; name their frequency, as in pandas ({})",
        Setting::ImportFreq.to("D"),
        path = path.display()
    )]
    #[strum(serialize = "import_without_frequency")]
    NoFreq {
        /// The file, or the directory.
        path: PathBuf,
    },
}
