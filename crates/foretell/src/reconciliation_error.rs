//! Errors of the reconciliation of tables of forecasts.

use foretell_calendar::Freq;
use foretell_data::early_ends_remedy;

/// A table of forecasts, of errors or of history that does not fit a hierarchy.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ReconciliationError {
    /// A series that the hierarchy does not have.
    #[error(
        "{file} has the series {id}, which is not in the hierarchy; add it to the hierarchy, or leave its rows out"
    )]
    OtherSeries {
        /// The file.
        file: String,
        /// The series.
        id: String,
    },
    /// A series of the data that the hierarchy does not have.
    #[error(
        "the data have the series {id}, which is not in the hierarchy and would vanish; add it to the hierarchy, or leave its rows out"
    )]
    NotInHierarchy {
        /// The series.
        id: String,
    },
    /// Further columns of series at the bottom alone, which their sums have no values of.
    #[error(
        "the models read {columns}, of which the sums of the hierarchy have no values: give rows of the sums, too, with values \
         of these columns, or choose models that do not read them"
    )]
    FurtherColumns {
        /// The columns.
        columns: String,
    },
    /// Two forecasts of a series and time.
    #[error(
        "{file} has two rows of series {id} at {time}; keep one (a table of cross-validation has a column `cutoff`)"
    )]
    #[strum(serialize = "duplicate_row")]
    TwoRows {
        /// The file.
        file: String,
        /// The series.
        id: String,
        /// The time.
        time: String,
    },
    /// An aggregate that is not forecast.
    #[error(
        "{file} has no row of {id}, a sum of series, at {time}; forecast the sums as series too, \
         or choose BottomUp, which adds them up"
    )]
    NoAggregate {
        /// The file.
        file: String,
        /// The aggregate.
        id: String,
        /// The time.
        time: String,
    },
    /// A series at the bottom without a row.
    #[error(
        "{file} has no row of series {id} at {time}, where others have one; forecast all series at the same times"
    )]
    #[strum(serialize = "empty_series")]
    NoSeries {
        /// The file.
        file: String,
        /// The series.
        id: String,
        /// The time.
        time: String,
    },
    /// A value that is no number.
    #[error("{file}, column `{column}`: the value of series {id} at {time} is no finite number; complete it")]
    #[strum(serialize = "forecast_not_known")]
    Unknown {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The series.
        id: String,
        /// The time.
        time: String,
    },
    /// A model whose errors are unknown.
    #[error(
        "{file} has no forecasts of {model} in the past; give a table of cross-validation with its column beside the true values"
    )]
    NoPastForecasts {
        /// The file.
        file: String,
        /// The model.
        model: String,
    },
    /// A row of steps that does not follow the one before.
    #[error(
        "{file}: the row of series {id} at {time} is not one step ({freq}) after the row before, so that steps cannot be added up; \
         give each series all steps of a forecast"
    )]
    StepMissing {
        /// The file.
        file: String,
        /// The series.
        id: String,
        /// The time.
        time: String,
        /// The step of the table.
        freq: Freq,
    },
    /// A forecast of a sum whose steps are not forecast.
    #[error(
        "{file}: the sum of series {id} at {time} stands for no period of `{period}` whose steps are all forecast; give each sum the time \
         of its first step or of its last, and forecast these steps"
    )]
    NoPeriod {
        /// The file.
        file: String,
        /// The series.
        id: String,
        /// The time.
        time: String,
        /// The period as written.
        period: String,
    },
    /// A history whose mean is no share.
    #[error(
        "{file}: the values of series {id} have the mean {mean}, and sums are divided by the means of histories, each at least 0 and not \
         all of them 0; choose a method that divides nothing, as BottomUp or MinTraceOLS"
    )]
    HistoryMean {
        /// The file.
        file: String,
        /// The series.
        id: String,
        /// The mean.
        mean: f64,
    },
    /// Series of a panel that end at different times.
    #[error(
        "series {id} ends at {found}, others at {expected}, so that sums would fall where it ends; give its rows up to there, or {}",
        early_ends_remedy()
    )]
    #[strum(serialize = "ends_differ")]
    Ends {
        /// The series.
        id: String,
        /// Its last time.
        found: String,
        /// The last time of the others.
        expected: String,
    },
    /// A panel without a series of the hierarchy.
    #[error(
        "the data have no series {id}, which the hierarchy sums up; add its rows, or leave it out of the hierarchy"
    )]
    NotInData {
        /// The series.
        id: String,
    },
}
