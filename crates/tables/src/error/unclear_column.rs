//! Columns of which it is not clear what they hold.

use std::fmt;
use std::sync::Arc;

use foretell_messages::{Setting, listed};

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
