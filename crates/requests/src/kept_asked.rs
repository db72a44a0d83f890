//! What requests ask of the settings that models keep, and forecasters with these.

use foretell::{Forecaster, KeptSettings, StepSettings};
use serde::Deserialize;

use crate::kept::{Heard, Kept, warnings};
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
    fn of(self, series: &Series) -> KeptSettings {
        let Self { non_negative, integer } = self;
        KeptSettings { end: series.end, non_negative, integer, ..KeptSettings::default() }
    }
}

impl Kept {
    /// A forecaster of these series, as a request asks and the host allows, and what it warns of.
    pub(crate) fn prepared(
        &self,
        forecaster: Forecaster,
        series: &Series,
        kept: KeptAsked,
        step: StepSettings,
    ) -> (Forecaster, Heard) {
        let (listener, heard) = warnings();
        let forecaster = forecaster
            .reading(&series.options)
            .columns(series.names())
            .keep(kept.of(series))
            .steps_as(step)
            .max_memory(self.most().memory)
            .threads(self.most().threads)
            .on_warning(listener)
            .on_progress(self.listener());
        (forecaster, heard)
    }
}
