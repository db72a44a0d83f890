//! Errors of hierarchies and of reconciliation.

/// A hierarchy that is none, or a reconciliation that lacks something.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum HierarchyError {
    /// Nothing to sum up.
    #[error("a hierarchy needs series to sum up, found none; give a row per series")]
    #[strum(serialize = "empty_hierarchy")]
    Empty,
    /// Two series of one id.
    #[error(
        "two rows or series of the hierarchy are called {id}; leave one out, or rename it: a sum of labels is called as these, joined by \
         /, and no series may be called so"
    )]
    #[strum(serialize = "duplicate_series")]
    Duplicate {
        /// The id.
        id: String,
    },
    /// An aggregate of nothing, or of a series that there is not, or of one twice.
    #[error("{id} sums up {what}; name each of its series once, by their numbers from 0 to {last}")]
    #[strum(serialize = "wrong_members")]
    Members {
        /// The aggregate.
        id: String,
        /// The fault.
        what: String,
        /// The last series' number.
        last: usize,
    },
    /// A row of a summing matrix that is no sum.
    #[error(
        "row {id} of the summing matrix has {found} in column {column}; a row sums up series, so write 1 where {column} belongs to \
         {id}, else 0"
    )]
    #[strum(serialize = "not_a_summing_matrix")]
    NoSum {
        /// The row.
        id: String,
        /// The column.
        column: String,
        /// The entry.
        found: f64,
    },
    /// A row of a summing matrix without a one.
    #[error(
        "row {id} of the summing matrix sums up nothing; write 1 in the columns of its series, or leave the row out"
    )]
    #[strum(serialize = "empty_summing_row")]
    EmptyRow {
        /// The row.
        id: String,
    },
    /// A column of a summing matrix whose own row sums up something else, or is missing.
    #[error(
        "column {id} of the summing matrix needs a row {id} with a 1 in this column and 0 elsewhere, found {found}; correct it, or \
         rename the column as its series is called"
    )]
    #[strum(serialize = "no_bottom_row")]
    NoBottomRow {
        /// The column.
        id: String,
        /// The row found instead.
        found: &'static str,
    },
    /// Numbers that do not fit.
    #[error("{what}: {found} values where {expected} are expected")]
    #[strum(serialize = "unequal_lengths")]
    Length {
        /// The values.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Series with different numbers of levels.
    #[error(
        "series {id} has {found} labels where others have {expected}; give each series a label of every level"
    )]
    #[strum(serialize = "unequal_levels")]
    Levels {
        /// The series.
        id: String,
        /// The number of labels of the first series.
        expected: usize,
        /// The number of its labels.
        found: usize,
    },
    /// A series without a label.
    #[error("series {id} has no label of level {level}; give it one")]
    NoLabel {
        /// The series.
        id: String,
        /// The level, counted from 1.
        level: usize,
    },
    /// An unknown method.
    #[error("unknown method of reconciliation `{found}`; known are {known}")]
    #[strum(serialize = "unknown_reconciliation")]
    UnknownMethod {
        /// The method.
        found: String,
        /// The known ones.
        known: String,
    },
    /// A method that needs residuals, without them.
    #[error(
        "{method} weighs series by the errors of their past forecasts, and none were given; give a table with forecasts and actual \
         values of the past, or choose MinTraceWLS"
    )]
    NoResiduals {
        /// The method.
        method: &'static str,
    },
    /// Too few residuals to say anything.
    #[error(
        "the errors of past forecasts are known for all series together at {found} times, and at least {needed} are needed; validate \
         over more windows, or choose MinTraceWLS"
    )]
    FewResiduals {
        /// Times.
        found: usize,
        /// The least.
        needed: usize,
    },
    /// Residuals that are all zero.
    #[error(
        "all errors of past forecasts are 0, so that they weigh nothing; give those of rows that no model was trained on"
    )]
    ZeroResiduals,
    /// A reconciliation that divides sums, without shares.
    #[error(
        "{method} divides sums by the shares of the series in the past, and none were given; give their history"
    )]
    NoShares {
        /// The method.
        method: &'static str,
    },
    /// Shares that divide nothing.
    #[error("the share of series {id} is {found}; a share is a number of at least 0, and not all are 0")]
    #[strum(serialize = "shares_out_of_range")]
    Share {
        /// The series.
        id: String,
        /// The share.
        found: f64,
    },
    /// A hierarchy without a total.
    #[error("TopDown needs a series that sums up all others, and the hierarchy has none; add it")]
    NoTotal,
    /// A hierarchy without a level between the total and the bottom.
    #[error(
        "MiddleOut needs a level of sums below the total, each within one of the level above, that have every series once; here \
         there is none, or groups cross: add such a level, or choose BottomUp or TopDown"
    )]
    #[strum(serialize = "no_middle_level")]
    NoMiddle,
    /// Quantiles that are none.
    #[error("quantiles must rise from above 0 to below 1, found {found}")]
    #[strum(serialize = "quantile_out_of_range")]
    Quantiles {
        /// The value found.
        found: String,
    },
    /// Weights that no matrix can be solved with.
    #[error(
        "the equations of {method} cannot be solved, as its weights differ by too many orders of magnitude; choose MinTraceWLS"
    )]
    #[strum(serialize = "unsolvable_weights")]
    Unsolvable {
        /// The method.
        method: &'static str,
    },
}
