//! What requests ask of the settings that models keep.

use foretell::KeptSettings;
use serde::Deserialize;

use crate::series::Series;

/// Those of the settings that a request may set; a misspelt one is refused.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KeptAsked {
    non_negative: bool,
    integer: bool,
}

impl KeptAsked {
    /// What models keep that are trained on these series: also what became of those that end before others.
    pub(crate) fn of(self, series: &Series) -> KeptSettings {
        let Self { non_negative, integer } = self;
        KeptSettings { end: series.end, non_negative, integer, ..KeptSettings::default() }
    }
}
