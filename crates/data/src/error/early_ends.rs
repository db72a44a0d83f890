//! Series that end before others of their panel.

use std::fmt;

/// Series that end a step or more before the last time of their panel; its text says how many there are, and when the first
/// few of them end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyEnds {
    /// The last time of the panel.
    pub last: String,
    /// Their ids, and their last times.
    pub series: Vec<(String, String)>,
    /// Series of the panel.
    pub of: usize,
}

impl fmt::Display for EarlyEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let Self { last, series, of } = self;
        let shown = series.iter().take(SHOWN).map(|(id, end)| format!("{id} ({end})"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let verb = if series.len() == 1 { "ends" } else { "end" };
        write!(
            f,
            "{} of {of} series {verb} before {last}, the last time of the data: {shown}",
            series.len()
        )?;
        match series.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
