//! Neural forecasting: fit, predict, cross-validate, save and load.
//!
//! A [`Forecaster`] holds models before training. [`Forecaster::fit`] turns it into a [`Fitted`], which
//! predicts and can be saved; [`Forecaster::cross_validate`] also scores it on the past. Data come in as a
//! [`Panel`] of series and go out as a [`Frame`].
//!
//! ```
//! use foretell::jiff::civil::date;
//! use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel, TableError};
//!
//! // Two series of 100 days.
//! let wave = |phase: f32| (0..100).map(|day| (day as f32 * 0.9 + phase).sin()).collect::<Vec<_>>();
//! let first = date(2024, 1, 1);
//! let panel = Panel::from_series(Freq::parse("D")?, [("a", first, wave(0.0)), ("b", first, wave(1.0))])?;
//!
//! let spec = ModelSpec::new("NLinear", 7, 28)?.set("max_steps", 200)?.set("learning_rate", 1e-2)?;
//! let fitted = Forecaster::new([spec])?.fit(&panel)?;
//! let forecast = fitted.predict(&panel, None)?;
//! assert_eq!(forecast.n_rows(), 2 * 7);
//! let expected = (100.0_f32 * 0.9).sin();
//! assert!((forecast.column("NLinear").unwrap()[0] - expected).abs() < 0.1);
//!
//! # let home = std::env::temp_dir().join(format!("foretell-doc-{}", std::process::id()));
//! # let dir = home.join("model");
//! # std::fs::create_dir_all(&home)?;
//! fitted.save(&dir, true)?;
//! let again = Fitted::load(&dir)?.predict(&panel, None)?;
//! assert_eq!(again.column("NLinear"), forecast.column("NLinear"));
//! # std::fs::remove_dir_all(&home)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! Each is on by default, unless it says otherwise, and passed down to the crates below. [`Acceleration::current`] says which ones a program
//! was built with.
//!
//! * `networks`: the networks that are trained. Without it there are classical models, FLAIR, Prophet and networks that others
//!   trained, and a network by its name, in a directory or of your own is an error.
//! * `flash`: attention in tiles, without the matrix of scores in memory. Without it the whole matrix of a head's scores is
//!   computed at once.
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `amp`: products in bfloat16, half precision and int8, chosen at run time. Without it all are in `f32`, and any other
//!   precision is an error.
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `pickle`: [`Fitted::import`], which reads files of PyTorch's and directories of neuralforecast 3.2 and older.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
//! * `timellm`, off by default: TimeLLM, whose language model needs a reader of tokenizers. Without it the model is an error.
#![forbid(unsafe_code)]

mod bench;
mod by_series;
mod calibration;
mod coherence;
mod columns;
mod conformal;
mod contributions;
mod decompose;
mod decompose_options;
mod directory;
mod distillation;
mod ensemble;
mod error;
mod error_facts;
mod explain_options;
mod explanation_error;
mod explanations;
mod fallbacks;
mod fitted;
mod fitted_model;
mod forecaster;
mod forecasts;
mod foresight;
mod hierarchies;
mod importances;
mod imported;
mod inputs;
mod insample_options;
mod interval_error;
mod interval_words;
mod intervals;
mod intervals_by_dropout;
mod joined;
mod kept_models;
mod kept_settings;
mod last_rows;
mod learned;
mod memory;
mod model_spec;
mod onnx;
mod packed_model;
mod partial_forecasts;
mod pipeline;
mod plan_error;
mod pooled_errors;
mod predict_options;
mod pruning;
mod reconciliation_error;
mod registry;
pub mod report;
mod sample_paths;
mod saved_panel;
mod saved_reading;
mod scores;
mod series_fallback;
mod setters;
mod simulate_options;
mod smaller_error;
mod stage;
mod stages;
mod sums_gain;
mod told_columns;
mod trained_models;
mod training;
mod training_record;
mod usage_error;
mod warm_up;
mod warning;
mod warning_listener;
mod warning_words;

pub use bench::{bench, forecast_curve, thread_curve};
pub use columns::ColumnNames;
pub use decompose_options::DecomposeOptions;
pub use directory::import::ImportOptions;
pub use directory::inspect::{
    Chosen, ChosenOfSeries, Contents, HierarchyContents, ModelContents, TensorInfo,
};
pub use distillation::options::{DistillationOptions, Distilled};
pub use error::Error;
pub use error_facts::ErrorFacts;
pub use explain_options::ExplainOptions;
pub use fitted::Fitted;
pub use fitted_model::FittedModel;
pub use forecaster::Forecaster;
pub use forecasts::blocks::ForecastBlocks;
pub use foretell_calendar::{
    CalendarError, Freq, Locale, Time, TimeFlaw, TimeFormat, TimeKind, TimeStyle, Zone, calendar_seasons,
    jiff, usual_season,
};
pub use foretell_checkpoint::{CheckpointError, ModelDirectory};
pub use foretell_classical::{Classical, ClassicalError, Naive, SeasonalNaive};
pub use foretell_data::{
    AVAILABLE_MASK, Aggregate, Categories, ColumnLevel, DataError, EarlyEnds, End, FilesError, Fill, Filled,
    FirstTimes, ForecastTable, Future, FutureError, Gap, LabelFiles, LocalScaler, MisreadTable, Notation,
    Panel, PanelBuilder, ReadOptions, Roles, SeriesError, SeriesLabels, SeriesLevel, StepError, Trimmed,
    UnseenCategories, Vocabulary, WindowError,
};
pub use foretell_features::Features;
/// The name that was probably meant, for messages.
pub use foretell_messages::{
    Setting, SettingWords, in_words_of, nearest, request_field, request_value, word_settings, words_here,
};
pub use foretell_scores::{
    CrossedQuantiles, OneZone, OtherSteps, ScoredForecasts, ScoresError, check_zone_of_data,
    crossed_quantiles, name_quantiles, refuse_sample_paths, skipped_hour,
};
pub use foretell_tables::{
    Across, AnomalyMark, CellError, CellTable, Cells, ColumnError, ColumnPart, CsvWriter, Encoding,
    FileFormat, FileOptions, Flaw, ForecastColumn, Frame, FrameWriter, Hours, KnownColumns, MemoryTable,
    ModelInTable, NumberFormat, Place, ReadNote, SAMPLE_ID, SettingError, TableColumns, TableError, TooLarge,
    UnclearColumn, UnreadableTable, Whereabouts, column_names, id_name, is_json_by_columns, is_of_id,
    joined_ids, keep_beginnings_of_pipes, table_files, unpacked_beginning,
};
/// Columns computed from a panel's target and times, and the holidays of countries.
pub mod features {
    pub use foretell_features::{FEATURES, FeatureEntry, FeatureError, Features, day_file_of, read_days};
}
/// Metrics of any forecasts.
pub mod evaluate {
    pub use foretell_evaluate::*;
}
/// Hierarchies and their reconciliation, over slices.
pub mod hierarchy {
    pub use foretell_hierarchy::*;
}
/// Sample paths from quantiles, over slices.
pub mod simulation {
    pub use foretell_simulation::*;
}
#[cfg(feature = "parquet")]
pub use foretell_tables::{ArrowTable, ParquetWriter, RecordBatch};
/// Networks that others trained, in folders of their weights: such a folder is the name of a model
/// ([`ModelSpec::new`](crate::ModelSpec::new)), and a directory of trained ones ([`Fitted::load`](crate::Fitted::load)).
pub mod pretrained {
    pub use foretell_pretrained::*;
}

/// FLAIR: its hyper-parameters in code, and the levels of its forecasts.
pub mod flair {
    pub use foretell_flair::*;
}
/// Prophet: its hyper-parameters in code, and the parts of its forecasts.
pub mod prophet {
    pub use foretell_prophet::*;
}
/// The buffers that training and forecasts recycle: how much idle memory is kept, and how it is returned. A fit gives back its
/// own.
pub mod pool {
    pub use foretell_pool::{
        Limits, OutOfMemory, PoolMetrics, ProgramMemory, limits, metrics, set_limits, trim,
    };
}
/// The types that an estimator of your own needs; [`register_estimator`] makes it known by its name.
pub mod own_estimator {
    pub use foretell_data::Span;
    pub use foretell_estimator::{
        Asked, ColumnKind, ColumnsRead, Contributions, Cutoff, Described, Estimator, EstimatorEntry,
        EstimatorNeeds, Fallback, ForecastPart, ForecastValues, HeldOut, ImportanceSum, KnownColumn, Learned,
        LevelsSeen, MemoryEstimate, Moment, OneProcess, Output, Reduction, Run, StateFile, Trained,
        TrainingSize, WithoutParts, add_in_order, cutoffs, cutoffs_beside, hyper, hyper_field, point_column,
        quantile,
    };
}
pub use conformal::{ConformalMethod, PredictionIntervals};
pub use ensemble::Ensemble;
pub use explanation_error::ExplanationError;
pub use foretell_estimator::{
    Attribution, EstimatorError, FeatureImportances, MemoryLimit, Outcome, Precision, Progress,
    SparsityScope, StepSettings, StepWeights, StillWanted, TooManyThreads, TooMuchMemory, Verdict, Workers,
    is_wanted, while_wanted,
};
/// The types that a network of your own needs: an [`Architecture`](own_model::Architecture) states its hyper-parameters and
/// builds a [`Model`](own_model::Model), the forward pass; [`ModelSpec::of`] then makes it a model like the zoo's.
/// `examples/own_model.rs` is one, and `docs/own-model.md` explains it.
pub use foretell_neural::own_model;
pub use foretell_neural::{
    Acceleration, Bench, BenchProduct, CurvePoint, Exogenous, ForecastCurve, HyperParameterError, Level,
    Loss, ModelEntry, NetworkError, NetworkSpec, NoNumber, OnnxError, SpecError, StateError, StepForecaster,
    ThreadCurve, ThreadPoint, TrainError, TrainedNetwork, UnknownWeightPrecision, WeightPrecision,
    WithoutAmp, check_amp, check_simd_level,
};
#[cfg(feature = "parallel")]
pub use foretell_threads::ThreadPool;
pub use hierarchies::below_zero::{bounded, newly_below_zero};
pub use hierarchies::borrowed_widths::without_intervals;
pub use hierarchies::complete_models::of_complete_models;
pub use hierarchies::pooled_residuals::without_past_forecasts;
pub use hierarchies::reading::{read_hierarchy, read_levels};
pub use hierarchies::reconcile::{ReconcileOptions, reconcile};
pub use hierarchies::static_columns::{StaticOfSums, levels_of, statics_of_sums};
pub use hierarchies::sums::{sum_series, warnings_of_sums, with_sums};
pub use hierarchies::without_forecasts::without_forecasts;
pub use imported::Imported;
pub use insample_options::InsampleOptions;
pub use interval_error::IntervalError;
pub use intervals::Intervals;
pub use kept_settings::{KeptSettings, TableLibrary};
pub use model_spec::ModelSpec;
pub use packed_model::{pack_model, unpack_model};
pub use plan_error::PlanError;
pub use predict_options::PredictOptions;
pub use pruning::{options::PruneOptions, prune::Pruned, score::PruneScore};
pub use reconciliation_error::ReconciliationError;
pub use registry::{MODELS, estimators, model_names, register_estimator};
pub use saved_reading::SeriesColumns;
pub use scores::actual_values::actual_values;
pub use scores::cross_validation::{CrossValidation, ValidationOptions, ValidationScores};
pub use scores::metrics::{Coverage, Metrics};
pub use scores::precision::PrecisionScore;
/// The values that [`ModelSpec::set`] takes.
pub use serde_json::{Map, Value, json};
pub use series_fallback::SeriesFallback;
pub use simulate_options::{PathMethod, SimulateOptions};
pub use smaller_error::SmallerError;
pub use stage::{Source, Stage};
pub use stages::asked_quantiles::check_quantiles;
pub use sums_gain::SumsGain;
pub use told_columns::{
    ask_for_column, columns_meant, is_of_texts, statics_and_texts, texts_not_read, told_columns,
};
pub use training::checkpointing::{StateDirectory, is_noted_at, note_models_at, remove_training_state};
pub use training::interruption::{InterruptedModel, Interruption};
pub use training::model_state::ModelState;
pub use training_record::TrainingRecord;
pub use usage_error::UsageError;
pub use warning::{FarColumn, LastValue, LevelBreak, OddValue, Warning};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
