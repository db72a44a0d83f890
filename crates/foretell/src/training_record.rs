//! The record of the data that models were trained on, which is kept with them.

use foretell_data::Panel;
use serde::{Deserialize, Serialize};

/// By what and on what models were trained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// The version of foretell.
    pub version: String,
    /// Series that there were.
    pub series: usize,
    /// Their rows, those of validation included.
    pub rows: usize,
    /// The first time of any series.
    pub first: String,
    /// The last one.
    pub last: String,
}

impl TrainingRecord {
    /// That of a training on this panel without the last `test_size` rows of each series; nothing without rows.
    pub(crate) fn of(panel: &Panel, test_size: usize) -> Option<Self> {
        let rows = |series: usize| panel.len(series).saturating_sub(test_size);
        let known = || (0..panel.n_series()).filter(|&series| rows(series) > 0);
        let first = known().map(|series| panel.time(series, 0)).min()?;
        let last = known().map(|series| panel.time(series, rows(series) - 1)).max()?;
        let told = |time: i64| {
            let civil = panel.zone().and_then(|zone| zone.civil(time)).unwrap_or(time);
            panel.freq().kind().display(civil).to_string()
        };
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            series: known().count(),
            rows: known().map(rows).sum(),
            first: told(first),
            last: told(last),
        })
    }
}
