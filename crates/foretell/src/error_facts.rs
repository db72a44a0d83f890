//! What programs read of an error: the same facts from a command line, a server and Python.

use std::error::Error as StdError;
use std::io;
use std::path::Path;

use foretell_calendar::CalendarError;
use foretell_checkpoint::CheckpointError;
use foretell_classical::ClassicalError;
use foretell_data::DataError;
use foretell_estimator::hyper::RefusedHyperParameter;
use foretell_estimator::{EstimatorError, TooManyThreads, TooMuchMemory, WithoutParts};
use foretell_evaluate::EvaluationError;
use foretell_features::FeatureError;
use foretell_files::FileError;
use foretell_hierarchy::HierarchyError;
use foretell_messages::settings_named;
use foretell_neural::{HyperParameterError, NetworkError, SpecError, StateError, TrainError, WithoutAmp};
use foretell_pretrained::PretrainedError;
use foretell_prophet::ProphetError;
use foretell_scores::ScoresError;
use foretell_simulation::SimulationError;
use foretell_tables::{TableError, Whereabouts};
use serde::Serialize;

use crate::error::Error;
use crate::reconciliation_error::ReconciliationError;
use crate::smaller_error::SmallerError;
use crate::usage_error::UsageError;

/// What programs read of an error, in place of its text. `docs/errors.md` lists the codes.
///
/// ```
/// use foretell::{ErrorFacts, Panel, ReadOptions};
///
/// let text = "unique_id,ds,y\na,2024-01-01,1\na,2024-01-02,many\n";
/// let error = Panel::read_csv(text.as_bytes(), "sales.csv", &ReadOptions::new()).unwrap_err();
/// let facts = ErrorFacts::of(&error);
/// assert_eq!((&*facts.code, facts.row, facts.column.as_deref()), ("bad_value", Some(3), Some("y")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ErrorFacts {
    /// The kind of the error: a word that stays the same whatever the message says.
    pub code: String,
    /// The setting that it is about, else the first that its advice names, as the host calls it: a flag, an argument, a field; or
    /// a hyper-parameter.
    pub setting: Option<String>,
    /// The file or directory.
    pub file: Option<String>,
    /// The line of a text file, counted from 1 with its header, or the row of any other table, counted from 0.
    pub row: Option<u64>,
    /// The column.
    pub column: Option<String>,
    /// The series.
    pub series: Option<String>,
    /// What to do: the end of the message.
    pub advice: Option<String>,
    /// What was expected, what was found, where, and what to do.
    pub message: String,
}

/// What a type of errors knows of itself.
#[derive(Default)]
struct Known {
    code: &'static str,
    setting: Option<String>,
    place: Whereabouts,
}

impl ErrorFacts {
    /// The facts of an error, or of the first of its causes that is known; [`ErrorFacts::OTHER`] is the code where there is none.
    pub fn of(error: &(dyn StdError + 'static)) -> Self {
        let (message, named) = settings_named(error);
        let mut causes =
            std::iter::successors(Some(error), |error: &&(dyn StdError + 'static)| (*error).source());
        let known = causes.find_map(known).unwrap_or(Known { code: Self::OTHER, ..Known::default() });
        let Known { code, setting, place: Whereabouts { file, row, column, series } } = known;
        let setting = setting.or_else(|| named.first().map(|setting| setting.in_words().into_owned()));
        Self { setting, file, row, column, series, ..Self::told(code, message) }
    }

    /// The code of errors of which nothing else is known.
    pub const OTHER: &str = "other";

    /// An error of which a program knows the code and the message.
    pub fn told(code: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code: code.into(), advice: advice(&message).map(str::to_owned), message, ..Self::default() }
    }

    /// The same error with more said of it.
    pub fn saying(self, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { advice: advice(&message).map(str::to_owned), message, ..self }
    }
}

/// The end of a message, which says what to do: messages say what is wrong, a semicolon, and this. What is quoted may hold any
/// characters, and what is in brackets semicolons of its own.
fn advice(message: &str) -> Option<&str> {
    let (mut quote, mut brackets) = (None, 0_usize);
    let ends = message.char_indices().find(|&(at, character)| match (quote, character) {
        (Some(open), _) if open == character => {
            quote = None;
            false
        }
        (None, '`' | '"') => {
            // One that is never closed belongs to the text.
            quote = message[at + 1..].contains(character).then_some(character);
            false
        }
        (None, '(') => {
            brackets += usize::from(message[at + 1..].contains(')'));
            false
        }
        (None, ')') => {
            brackets = brackets.saturating_sub(1);
            false
        }
        (quoted, _) => quoted.is_none() && brackets == 0 && message[at..].starts_with("; "),
    });
    ends.map(|(at, _)| &message[at + 2..])
}

fn coded(code: &'static str) -> Option<Known> {
    at(code, Whereabouts::default())
}

fn at(code: &'static str, place: Whereabouts) -> Option<Known> {
    Some(Known { code, setting: None, place })
}

fn about(code: &'static str, setting: &str) -> Option<Known> {
    Some(Known { code, setting: Some(setting.to_owned()), ..Known::default() })
}

fn at_path(code: &'static str, path: &Path) -> Option<Known> {
    at(code, Whereabouts { file: Some(path.display().to_string()), ..Whereabouts::default() })
}

fn in_column(code: &'static str, column: &str) -> Option<Known> {
    at(code, Whereabouts { column: Some(column.to_owned()), ..Whereabouts::default() })
}

fn of_series(code: &'static str, id: &str) -> Option<Known> {
    at(code, Whereabouts { series: Some(id.to_owned()), ..Whereabouts::default() })
}

/// What is known of an error by its type; nothing of one that only wraps another, or of a type of others.
fn known(error: &(dyn StdError + 'static)) -> Option<Known> {
    macro_rules! by_type {
        ($($type:ty => $known:expr,)+) => {
            $(if let Some(error) = error.downcast_ref::<$type>() {
                let known: fn(&$type) -> Option<Known> = $known;
                return known(error);
            })+
        };
    }
    by_type! {
        Error => of_error,
        UsageError => of_usage,
        DataError => of_data,
        TableError => of_table,
        NetworkError => of_network,
        EstimatorError => of_estimator,
        SpecError => of_spec,
        ScoresError => of_scores,
        StateError => of_state,
        PretrainedError => of_pretrained,
        CheckpointError => of_checkpoint,
        FileError => of_file,
        ReconciliationError => of_reconciliation,
        HyperParameterError => |error| about("hyper_parameter_value", &error.name),
        RefusedHyperParameter => |error| about(error.into(), error.name()),
        ClassicalError => |error| match error {
            ClassicalError::ReadsNoColumns { found, .. } => about(error.into(), found),
            _ => coded(error.into()),
        },
        FeatureError => |error| match error {
            FeatureError::Data(inner) => of_data(inner),
            _ => about(error.into(), "features"),
        },
        TrainError => |error| match error {
            TrainError::WithoutAmp(_) => coded("without_amp"),
            error => coded(error.into()),
        },
        ProphetError => |error| coded(error.into()),
        CalendarError => |error| coded(error.into()),
        EvaluationError => |error| coded(error.into()),
        HierarchyError => |error| coded(error.into()),
        SimulationError => |error| coded(error.into()),
        WithoutParts => |_| coded("no_parts"),
        TooManyThreads => |_| coded("too_many_threads"),
        TooMuchMemory => |_| coded("too_much_memory"),
        WithoutAmp => |_| coded("without_amp"),
        io::Error => |_| coded("io"),
    }
    None
}

fn of_error(error: &Error) -> Option<Known> {
    let code = error.into();
    match error {
        Error::Usage(inner) => of_usage(inner),
        Error::Data(inner) => of_data(inner),
        Error::Estimator(inner) => of_estimator(inner),
        Error::Network(inner) => of_network(inner),
        Error::Checkpoint(inner) => known(inner),
        Error::Evaluation(inner) => known(inner),
        Error::Hierarchy(inner) => known(inner),
        Error::Scores(inner) => of_scores(inner),
        Error::Reconciliation(inner) => known(inner),
        Error::HierarchyFile { path, source } => {
            Some(Known { place: at_path("", path)?.place, ..known(source)? })
        }
        Error::Simulation { id, source } => Some(Known { place: of_series("", id)?.place, ..known(source)? }),
        Error::Model { path, .. } | Error::NotReadBack { path, .. } | Error::StoredPanel { path, .. } => {
            at_path(code, path)
        }
        Error::NoCategories { column } => in_column(code, column),
        Error::Cardinality { column, .. } => {
            Some(Known { setting: Some("categorical_cardinalities".to_owned()), ..in_column(code, column)? })
        }
        Error::OtherValidationSeries { id, .. }
        | Error::ShortForIntervals { id, .. }
        | Error::NotCalibrated { id }
        | Error::ShortHistory { id, .. }
        | Error::ShortForInsample { id, .. } => of_series(code, id),
        Error::Fallback { first, .. } => of_series(code, &first.series),
        _ => coded(code),
    }
}

fn of_scores(error: &ScoresError) -> Option<Known> {
    let code = error.into();
    match error {
        ScoresError::Data(inner) => of_data(inner),
        ScoresError::Evaluation(inner) => known(inner),
        ScoresError::DoubledRow { table, id, rows, .. } => {
            let place = Whereabouts {
                file: Some(table.to_string()),
                row: Some(rows[1] as u64),
                ..of_series(code, id)?.place
            };
            at(code, place)
        }
        ScoresError::OtherSteps(steps) => at_path(code, Path::new(&*steps.forecast)),
        ScoresError::OneZone(zones) => at_path(code, Path::new(&*zones.without)),
        ScoresError::NothingCameTrue { forecast: table, .. }
        | ScoresError::NoForecasts { forecast: table }
        | ScoresError::SamplePaths { table } => at_path(code, Path::new(&**table)),
        _ => coded(code),
    }
}

fn of_usage(error: &UsageError) -> Option<Known> {
    let code = error.into();
    match error {
        UsageError::Spec(inner) => of_spec(inner),
        UsageError::Network(inner) => of_network(inner),
        UsageError::Estimator(inner) => known(&**inner).or_else(|| coded(code)),
        UsageError::Threads(inner) => known(inner),
        UsageError::WithoutAmp(inner) => known(inner),
        UsageError::Features(inner) => known(inner),
        UsageError::Memory(inner) => known(inner),
        UsageError::Plan(inner) => {
            let place = Whereabouts { column: inner.column().map(str::to_owned), ..Whereabouts::default() };
            Some(Known { code: inner.into(), setting: inner.setting().map(str::to_owned), place })
        }
        UsageError::Interval(inner) => {
            Some(Known { setting: inner.setting().map(str::to_owned), ..coded(inner.into())? })
        }
        UsageError::Explanation(inner) => coded(inner.into()),
        UsageError::Smaller(inner) => match inner {
            SmallerError::OtherHorizon { .. } => about(inner.into(), "h"),
            SmallerError::SparsityOutOfRange { .. } => about(inner.into(), "sparsity"),
            _ => coded(inner.into()),
        },
        UsageError::ValidationOfParts => about(code, "val_size"),
        UsageError::NoWindows { .. } => about(code, "n_windows"),
        UsageError::EnsembleText { .. } => about(code, "ensemble"),
        UsageError::HistoryAhead { .. } | UsageError::NoMedian { .. } => about(code, "h"),
        UsageError::Paths { .. } => about(code, "paths"),
        UsageError::NoClass { path } | UsageError::NoFreq { path } => at_path(code, path),
        _ => coded(code),
    }
}

fn of_data(error: &DataError) -> Option<Known> {
    let code: &'static str = match error {
        DataError::Table(inner) => return of_table(inner),
        DataError::Misread(inner) => inner.into(),
        DataError::Files(inner) => inner.into(),
        DataError::Series(inner) => inner.into(),
        DataError::Steps(inner) => inner.into(),
        DataError::Future(inner) => inner.into(),
        DataError::Windows(inner) => inner.into(),
        error => error.into(),
    };
    at(code, error.whereabouts())
}

fn of_table(error: &TableError) -> Option<Known> {
    let (code, setting): (&'static str, _) = match error {
        TableError::Unreadable(inner) => (inner.into(), None),
        TableError::TooLarge(inner) => (inner.into(), None),
        TableError::Calendar(inner) => (inner.into(), None),
        TableError::Column(inner) => (inner.into(), None),
        TableError::Cell(inner) => (inner.into(), None),
        TableError::Settings(inner) => (inner.into(), inner.setting().map(str::to_owned)),
        error => (error.into(), None),
    };
    Some(Known { code, setting, place: error.whereabouts() })
}

fn of_network(error: &NetworkError) -> Option<Known> {
    let code = error.into();
    match error {
        NetworkError::Spec(inner) => of_spec(inner),
        NetworkError::WithoutAmp(inner) => known(inner),
        NetworkError::Threads(inner) => known(inner),
        NetworkError::Memory(inner) => known(inner),
        NetworkError::Estimator(inner) => of_estimator(inner),
        NetworkError::Checkpoint(inner) => known(inner),
        NetworkError::Train { source, .. } => known(source),
        NetworkError::State(inner) => of_state(inner),
        _ => coded(code),
    }
}

fn of_state(error: &StateError) -> Option<Known> {
    let code = error.into();
    match error {
        StateError::OtherTraining { dir, .. }
        | StateError::StateOfOthers { dir, .. }
        | StateError::StateDirectory { dir, .. } => at_path(code, dir),
        StateError::State { path, .. } => at_path(code, path),
        StateError::Checkpoint(inner) => known(inner),
        _ => coded(code),
    }
}

fn of_estimator(error: &EstimatorError) -> Option<Known> {
    let code = error.into();
    match error {
        EstimatorError::Data(inner) => of_data(inner),
        EstimatorError::Usage(inner) | EstimatorError::Failed(inner) => {
            known(&**inner).or_else(|| coded("estimator"))
        }
        EstimatorError::Support { series, .. } => of_series(code, series),
        _ => coded(code),
    }
}

fn of_spec(error: &SpecError) -> Option<Known> {
    let code = error.into();
    match error {
        SpecError::HyperParameter(inner) => known(inner),
        SpecError::Other(inner) => known(&**inner).or_else(|| coded("estimator")),
        // What its advice names is the list.
        SpecError::UnknownModel { .. } => about(code, "model"),
        SpecError::UnknownName { found, .. } => about(code, found),
        SpecError::NothingToWatch { .. } => about(code, "val_size"),
        _ => coded(code),
    }
}

fn of_pretrained(error: &PretrainedError) -> Option<Known> {
    match error {
        PretrainedError::File(error) => of_file(error),
        PretrainedError::Checkpoint(error) => of_checkpoint(error),
        PretrainedError::Train { source, .. } => known(&**source),
        PretrainedError::State(error) => known(&**error),
        PretrainedError::NothingToWatch { .. } => about(error.into(), "val_size"),
        _ => coded(error.into()),
    }
}

fn of_checkpoint(error: &CheckpointError) -> Option<Known> {
    let code = error.into();
    match error {
        CheckpointError::File(inner) => known(inner),
        CheckpointError::Io { path, .. }
        | CheckpointError::Missing { path, .. }
        | CheckpointError::Legacy { dir: path }
        | CheckpointError::Format { path, .. }
        | CheckpointError::Corrupt { path, .. }
        | CheckpointError::Checksum { path, .. }
        | CheckpointError::Pickle { path, .. }
        | CheckpointError::Dtype { path, .. }
        | CheckpointError::NotADirectory { path }
        | CheckpointError::Exists { path }
        | CheckpointError::NotACheckpoint { path, .. } => at_path(code, path),
        CheckpointError::Json { place, .. }
        | CheckpointError::Field { place, .. }
        | CheckpointError::Names { place, .. } => at_path(code, Path::new(place)),
        _ => coded(code),
    }
}

fn of_file(error: &FileError) -> Option<Known> {
    match error {
        FileError::Io { path, .. }
        | FileError::Busy { path, .. }
        | FileError::Kept { path }
        | FileError::NotRegular { path }
        | FileError::NotALock { path, .. }
        | FileError::MountPoint { path }
        | FileError::Stranded { path, .. }
        | FileError::Unfinished { path, .. }
        | FileError::Appeared { path, .. }
        | FileError::Restless { path } => at_path(error.into(), path),
        _ => coded(error.into()),
    }
}

fn of_reconciliation(error: &ReconciliationError) -> Option<Known> {
    let (file, id) = match error {
        ReconciliationError::OtherSeries { file, id }
        | ReconciliationError::TwoRows { file, id, .. }
        | ReconciliationError::NoAggregate { file, id, .. }
        | ReconciliationError::NoSeries { file, id, .. }
        | ReconciliationError::StepMissing { file, id, .. }
        | ReconciliationError::NoPeriod { file, id, .. }
        | ReconciliationError::HistoryMean { file, id, .. }
        | ReconciliationError::Unknown { file, id, .. } => (Some(file), Some(id)),
        ReconciliationError::NoPastForecasts { file, .. } => (Some(file), None),
        ReconciliationError::NotInHierarchy { id }
        | ReconciliationError::Ends { id, .. }
        | ReconciliationError::NotInData { id } => (None, Some(id)),
        ReconciliationError::FurtherColumns { .. } => (None, None),
    };
    let place = Whereabouts { file: file.cloned(), series: id.cloned(), ..Whereabouts::default() };
    at(error.into(), place)
}

#[cfg(test)]
#[path = "error_facts_tests.rs"]
mod tests;
