//! Errors of columns: those that lack, and those that are not what they should be.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::place::Place;
use super::whereabouts::Whereabouts;
use foretell_messages::{Setting, did_you_mean, listed};

/// A column that a table lacks, or that is not what it should be.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ColumnError {
    /// A column that is needed is not there.
    #[error("{table} has no column `{column}`{}; it has {}", did_you_mean(.nearest), columns_and_remedy(.available, .remedy))]
    #[strum(serialize = "missing_column")]
    Missing {
        /// The file or table.
        table: Arc<str>,
        /// The column that was looked for.
        column: String,
        /// The column it may be a slip of.
        nearest: Option<String>,
        /// The columns there are.
        available: Vec<String>,
        /// The remedy.
        remedy: ColumnRemedy,
    },
    /// Several columns may be the one that is needed.
    #[error("{0}")]
    #[strum(serialize = "unclear_column")]
    Unclear(Box<UnclearColumn>),
    /// A column that has another meaning.
    #[error("{table}: column `{column}` holds {what} and cannot be exogenous as well; leave it out")]
    #[strum(serialize = "taken_column")]
    Taken {
        /// The file or table.
        table: Arc<str>,
        /// The column.
        column: String,
        /// Its meaning.
        what: &'static str,
    },
    /// Two columns have the same name.
    #[error("{table}: column `{column}` appears twice; rename or remove one of them")]
    #[strum(serialize = "duplicate_column")]
    Duplicate {
        /// The file or table.
        table: Arc<str>,
        /// The name.
        column: String,
    },
    /// A wide file has no column but that of the times.
    #[error(
        "{0} has no column beside that of the times; a wide file has one for each series: add them, or read it as long"
    )]
    NoSeries(Arc<str>),
    /// A column of a wide file has no name.
    #[error(
        "{at}: column {number} has values but no name; in a wide file each column after the time is a \
         series: name it in the header or remove it"
    )]
    #[strum(serialize = "unnamed_column")]
    Unnamed {
        /// A row that has a value in it.
        at: Place,
        /// Its position, from 1.
        number: usize,
    },
    /// A column of categories that is used as one of numbers.
    #[error(
        "column `{column}` holds categories, which only models see that embed them; list it in cat_exog_list"
    )]
    #[strum(serialize = "categories_as_numbers")]
    Labels {
        /// The column.
        column: String,
    },
    /// A static column of the data that changes.
    #[error(
        "column `{column}` is to be static, but series `{id}` has {one} in one row and {other} in another; leave it out of the \
         static columns, or correct the rows"
    )]
    NotConstant {
        /// The column.
        column: String,
        /// The series.
        id: String,
        /// A value,
        one: String,
        /// and another one.
        other: String,
    },
}

impl ColumnError {
    /// Where the mistake is.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Missing { table, column, .. }
            | Self::Taken { table, column, .. }
            | Self::Duplicate { table, column } => Whereabouts::file(table).column(column),
            Self::Unclear(unclear) => Whereabouts::file(&unclear.table),
            Self::NoSeries(table) => Whereabouts::file(table),
            Self::Unnamed { at, .. } => Whereabouts::at(at),
            Self::Labels { column } => Whereabouts::default().column(column),
            Self::NotConstant { column, id, .. } => Whereabouts::of_series(id).column(column),
        }
    }
}

/// What to do about a column that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnRemedy {
    /// To say which columns have these roles, all of which are missing.
    Name(ColumnRoles),
    /// Whatever this says.
    Other(Cow<'static, str>),
    /// A remedy, and something else about the table.
    With(Box<(Self, String)>),
}

/// Roles of the columns of a table that no column has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnRoles {
    /// The ids of series.
    pub ids: bool,
    /// The times.
    pub times: bool,
    /// The values of the target.
    pub values: bool,
    /// Whether the table may be read as one in which each further column is a series.
    pub or_wide: bool,
}

impl ColumnRoles {
    /// The ids alone.
    pub const IDS: Self = Self { ids: true, times: false, values: false, or_wide: false };
    /// The times alone.
    pub const TIMES: Self = Self { ids: false, times: true, ..Self::IDS };
}

impl From<ColumnRoles> for ColumnRemedy {
    fn from(roles: ColumnRoles) -> Self {
        Self::Name(roles)
    }
}

impl From<&'static str> for ColumnRemedy {
    fn from(text: &'static str) -> Self {
        Self::Other(text.into())
    }
}

impl From<String> for ColumnRemedy {
    fn from(text: String) -> Self {
        Self::Other(text.into())
    }
}

impl fmt::Display for ColumnRemedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = match self {
            Self::Name(roles) => roles,
            Self::Other(text) => return f.write_str(text),
            Self::With(both) => return write!(f, "{}; {}", both.0, both.1),
        };
        let all = [
            (roles.times, "the times", Setting::TimeColumn),
            (roles.values, "the values to forecast", Setting::TargetColumn),
            (roles.ids, "the ids of the series", Setting::IdColumn),
        ];
        f.write_str("say which column has ")?;
        let mut before = "";
        for (_, what, setting) in all.into_iter().filter(|(missing, ..)| *missing) {
            write!(f, "{before}{what} ({setting})")?;
            before = ", and which ";
        }
        // One series needs none.
        if roles.ids && (roles.times || roles.values) {
            f.write_str(" if there are several")?;
        }
        match roles.or_wide {
            true => write!(f, ", or, if each further column is a series, say so ({})", Setting::Wide),
            false => Ok(()),
        }
    }
}

/// How a remedy for a missing column begins where another one may have been meant.
const GIVE_ONE: &str = "give one of these names, or ";

/// The columns that a table has, and the remedy for one that it lacks: no name can be given where there are none.
fn columns_and_remedy(available: &[String], remedy: &ColumnRemedy) -> String {
    match available {
        [] => {
            let remedy = remedy.to_string();
            let remedy = remedy.strip_prefix(GIVE_ONE).unwrap_or(&remedy);
            format!("no columns beside those it must have, such as ids and times; {remedy}")
        }
        available => format!("{}; {remedy}", listed(available)),
    }
}

/// A table of which several columns may be the one that is needed; its text is the question which it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnclearColumn {
    /// The file or table.
    pub table: Arc<str>,
    /// The column that tells the series apart or, if it is none of these, that of the values.
    pub is_id: bool,
    /// The columns that may be meant; those that only tell series apart together are one, `store,item`.
    pub candidates: Vec<String>,
    /// The columns that are clear: that of the times, and the other one of ids and values, if there is one.
    pub time: String,
    /// See there.
    pub other: Option<String>,
    /// Whether each of the columns may be a series.
    pub may_be_wide: bool,
}

impl fmt::Display for UnclearColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, is_id, candidates, time, other, may_be_wide } = self;
        let (candidates, known) = (listed(candidates), other.iter());
        if *is_id {
            let setting = Setting::IdColumn;
            write!(f, "{table}: which column tells the series apart? Times in `{time}` come again: ")?;
            match &self.candidates[..] {
                [several] if several.contains(',') => {
                    write!(f, "none does alone, and these do together ({})", setting.to(several))?;
                }
                _ => write!(f, "name it by {setting} ({candidates})")?,
            }
            return known.into_iter().try_for_each(|target| write!(f, "; values are in `{target}`"));
        }
        let setting = Setting::TargetColumn;
        write!(
            f,
            "{table}: which column is to be forecast? Numbers are in {candidates}: name one by {setting}"
        )?;
        if *may_be_wide {
            write!(f, ", or read each as a series ({})", Setting::Wide)?;
        }
        write!(f, "; times are in `{time}`")?;
        known.into_iter().try_for_each(|id| write!(f, ", ids in `{id}`"))
    }
}
