//! The record of the data that models were trained on, which is kept with them.

use foretell_checkpoint::Configuration;
use foretell_data::Panel;
use serde::{Deserialize, Serialize};

use crate::own_settings::{ENTRY, put};

/// Where it is in the entry of the configuration.
const NAME: &str = "training";

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

    pub(crate) fn store(&self, configuration: &mut Configuration) {
        put(configuration, NAME, serde_json::to_value(self).expect("names and plain values"));
    }

    /// That of a configuration. It is told and decides nothing: one that cannot be read is none.
    pub(crate) fn read(configuration: &Configuration) -> Option<Self> {
        let entry = configuration.other.get(ENTRY)?.get(NAME)?;
        serde_json::from_value(entry.clone()).ok()
    }
}
