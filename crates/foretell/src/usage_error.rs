//! Mistakes in requests: models, hyper-parameters, settings.

use std::path::PathBuf;

use foretell_estimator::{TooManyThreads, TooMuchMemory};
use foretell_features::FeatureError;
use foretell_messages::Setting;
use foretell_neural::{NetworkError, SpecError, WithoutAmp};

use crate::interval_words::{dropout_to_set, other_loss, own_intervals};
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
    /// Features that no model reads.
    #[error(
        "no model reads {kind}, as the features {columns} are: {models}; leave them out, or add a model that does"
    )]
    FeaturesUnread {
        /// The models.
        models: String,
        /// The kind of columns.
        kind: &'static str,
        /// The columns.
        columns: String,
    },
    /// A column that holds categories for one model and numbers for another.
    #[error(
        "{model}: column {column} is in cat_exog_list of another model; list it in this one's too, or give it another column"
    )]
    #[strum(serialize = "categories_of_another_model")]
    Categorical {
        /// The alias of the model that reads it as numbers.
        model: String,
        /// The column.
        column: String,
    },
    /// A column of categories that stands in the data and in the static table.
    #[error("column {column} holds categories in the data and in the static table; rename one of the two")]
    #[strum(serialize = "column_in_two_tables")]
    TwoColumns {
        /// The column.
        column: String,
    },
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
    /// A forecaster without models.
    #[error("a forecaster needs at least one model")]
    NoModels,
    /// Models of different horizons.
    #[error(
        "all models of a forecaster forecast the same horizon; {first} has h = {h}, {other} has h = {found}"
    )]
    #[strum(serialize = "unequal_horizons")]
    Horizons {
        /// The first model.
        first: String,
        /// Its horizon.
        h: usize,
        /// A model of another horizon.
        other: String,
        /// Its horizon.
        found: usize,
    },
    /// A validation part that is shorter than the horizon.
    #[error("val_size must be 0 or at least h = {h}, found {found}")]
    #[strum(serialize = "val_size_too_small")]
    ValSize {
        /// The horizon.
        h: usize,
        /// The length of the validation part that was set.
        found: usize,
    },
    /// Rows to validate on in two places.
    #[error(
        "the models are validated on data of their own or on the last {val_size} rows (val_size), not on both; leave one out"
    )]
    TwoValidations {
        /// The length of the validation part that was set.
        val_size: usize,
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
    /// Two columns of one name.
    #[error("two columns of the forecast would be called {name}; give the models other aliases (alias)")]
    #[strum(serialize = "two_columns_of_one_name")]
    Columns {
        /// The name.
        name: String,
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
    /// One name for two kinds of models.
    #[error("models of two kinds, {first} and {second}, have the alias {alias}; give one of them another")]
    #[strum(serialize = "two_models_of_one_alias")]
    Aliases {
        /// The alias.
        alias: String,
        /// A model of that alias.
        first: &'static str,
        /// Another model of that alias.
        second: &'static str,
    },
    /// Models of parts of a panel that make no model of the whole.
    #[error("models of parts of the series cannot be joined: {reason}; fit them to all series at once")]
    NotJoined {
        /// Why.
        reason: String,
    },
    /// A model that is to continue from a trained one that there is not.
    #[error("{model} is to be trained on from where it is, but the trained models are {known}")]
    NoStart {
        /// The model's column.
        model: String,
        /// The columns of the trained models.
        known: String,
    },
    /// A column of categories that the trained model does not read.
    #[error(
        "{model} was trained without the categories of column {column}, so its training cannot continue with them; leave the \
         column out of cat_exog_list, or train anew"
    )]
    NoStartCategories {
        /// The model's column.
        model: String,
        /// The column.
        column: String,
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
    /// An ensemble of a single model.
    #[error("an ensemble combines the forecasts of several models; name two or more")]
    EnsembleOfOne,
    /// A level that is no percentage.
    #[error("a level is a percentage of 1 or more and below 100, as 80, found {found}")]
    #[strum(serialize = "level_out_of_range")]
    Level {
        /// The level asked for.
        found: f64,
    },
    /// A quantile that is no share.
    #[error("a quantile is a number above 0 and below 1, found {found}")]
    #[strum(serialize = "quantile_out_of_range")]
    Quantile {
        /// The quantile asked for.
        found: f64,
    },
    /// One quantile to draw sample paths from.
    #[error(
        "sample paths are drawn from two quantiles or more, as 0.1,0.5,0.9, found {found} alone; name more, or none for the hundredths"
    )]
    OneQuantile {
        /// The quantile.
        found: f64,
    },
    /// Levels and quantiles at once.
    #[error(
        "a forecast has either intervals of some levels or some quantiles, found both; leave one of them out"
    )]
    LevelAndQuantiles,
    /// Intervals of a model that has none.
    #[error(
        "{model} has no intervals, since it forecasts one number: calibrate them, with the training ({}) or on the end of the \
         data ({}){}",
        Setting::Intervals.to(10),
        Setting::Calibrate.to(10),
        other_loss(*has_loss, "a loss of quantiles or of a distribution")
    )]
    NoIntervals {
        /// The model.
        model: String,
        /// Whether it is trained by a loss, which may be one of quantiles.
        has_loss: bool,
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
    /// A model without contributions, or that there is not, to be explained.
    #[error("{found}: contributions are of networks that foretell trains and of Foretell0, and {known}")]
    NotExplained {
        /// The name that was asked for.
        found: String,
        /// Which models here have some, as the end of the sentence.
        known: String,
    },
    /// Models that make their forecasts in one piece.
    #[error(
        "{found}: forecasts in parts are those of NBEATS, NBEATSx, NHITS, DLinear, Autoformer, FEDformer, ETS, Theta, MSTL, FLAIR and \
         Prophet; train one of them"
    )]
    NoParts {
        /// The models that were asked.
        found: String,
    },
    /// Contributions to values behind a curve.
    #[error(
        "series are scaled by a power (boxcox), over which contributions do not add up; train with another scaler of series"
    )]
    ExplainedCurve,
    /// A scaler of series over columns that no scaler may change.
    #[error(
        "{model} reads {columns} unchanged, of the target's scale or as marks, which a scaler of series would change; train without one"
    )]
    ScaledColumns {
        /// The name of the model's column.
        model: String,
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
    /// Feature importances of models that have none.
    #[error(
        "feature importances need a model that weighs columns and steps ({known}), found {found}; train one of them"
    )]
    NoImportances {
        /// The models that were asked.
        found: String,
        /// The models that have them.
        known: String,
    },
    /// Intervals that a model was not trained for.
    #[error(
        "{model} has learned the quantiles of its loss, {quantiles}; the intervals among them are: {known}; choose \
             of these, or train it with others"
    )]
    OtherLevels {
        /// The model.
        model: String,
        /// The intervals that there are.
        known: String,
        /// The quantiles that there are.
        quantiles: String,
    },
    /// Prediction intervals of too few windows, or of windows that do not move on.
    #[error(
        "prediction intervals need n_windows of at least 2 and a step_size of at least 1, found {n_windows} and \
             {step_size}"
    )]
    #[strum(serialize = "too_few_interval_windows")]
    Intervals {
        /// Windows asked for.
        n_windows: usize,
        /// Steps between them.
        step_size: usize,
    },
    /// A text that says no prediction intervals.
    #[error(
        "{found:?} is no N[:METHOD[:STEP]], as 10, 10:conformal_error or 10:conformal_distribution:6: windows, at least \
             2, the method, and the steps from one window to the next; nor is it dropout[:N], with 2 to 10000 forecasts, or spread"
    )]
    #[strum(serialize = "unknown_intervals")]
    IntervalsText {
        /// The text.
        found: String,
    },
    /// Intervals of the spread of members without an ensemble of several.
    #[error(
        "intervals of the spread are those of an ensemble of two models or more, found {models} model(s) or no ensemble; \
         name more models, and how they are combined"
    )]
    NoSpread {
        /// The models.
        models: usize,
    },
    /// Intervals by dropout without a model that has any.
    #[error(
        "intervals by dropout are those of networks that forecast a single number and drop something, and none of the models is one: \
         {models}; {}, or calibrate intervals on errors of the past: {}",
        dropout_to_set(to_set),
        Setting::Calibrate.to(20)
    )]
    NoDropout {
        /// The models.
        models: String,
        /// Networks that would be, each with the hyper-parameter that is to be set.
        to_set: Vec<(String, String)>,
    },
    /// Prediction intervals for models that have their own.
    #[error(
        "{}, so there is nothing to calibrate; leave the prediction intervals away, and ask for levels when you forecast",
        own_intervals(any, fixed)
    )]
    NothingToCalibrate {
        /// The models that have intervals of any level.
        any: Vec<String>,
        /// The models that have those that they were made for.
        fixed: Vec<String>,
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
    /// Calibrated intervals further ahead than they were calibrated for.
    #[error("the intervals of {model} were calibrated for h = {h} steps, so there are none for {found}")]
    IntervalsAhead {
        /// The model.
        model: String,
        /// The horizon.
        h: usize,
        /// Steps asked for.
        found: usize,
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
