//! Series that end before others of their panel.

use std::fmt;

use foretell_messages::Setting;

/// Series that end a step or more before the last time of their panel, or before that of a column; its text says how many there
/// are, and when the first few of them end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyEnds {
    /// The last time of the panel.
    pub last: String,
    /// Their ids, and their last times.
    pub series: Vec<(String, String)>,
    /// Series of the panel.
    pub of: usize,
    /// The static column that holds the times they should end at, if they are not compared with the panel's last.
    pub column: Option<String>,
}

/// What becomes of series that end before others, by why they do, with what it costs.
pub fn early_ends_remedy() -> String {
    format!(
        "leave such series out if they are over ({}); continue them to the last time with rows that are not known yet if their values are \
         late ({}), or with rows of 0 if they were 0 since ({})",
        Setting::End.to("drop"),
        Setting::End.to("masked"),
        Setting::End.to("common")
    )
}

impl fmt::Display for EarlyEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let Self { last, series, of, column } = self;
        let shown = series.iter().take(SHOWN).map(|(id, end)| format!("{id} ({end})"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let verb = if series.len() == 1 { "ends" } else { "end" };
        write!(f, "{} of {of} series {verb} before ", series.len())?;
        match column {
            Some(column) => write!(f, "the time of column `{column}`: {shown}")?,
            None => write!(f, "{last}, the last time of the data: {shown}")?,
        }
        match series.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
