//! Scalers of whole series and of static columns, between the panel that users give and the one that models
//! see.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foretell_checkpoint::{FittedScaler, TensorData};
use foretell_data::{DataError, Future, LocalScaler, LocalScales, LocalStats, Panel};
use foretell_estimator::{Estimator, Workers};

use crate::plan_error::PlanError;

/// Which scalers are used (`local_scaler_type`, `local_static_scaler_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LocalScalers {
    pub(crate) series: Option<LocalScaler>,
    pub(crate) statics: Option<LocalScaler>,
}

/// A panel as models see it, and the way back.
pub(crate) struct LocallyScaled<'p> {
    pub(crate) panel: Cow<'p, Panel>,
    series: Option<LocalScales>,
    statics: Option<(LocalScaler, BTreeMap<String, LocalStats>)>,
}

impl LocalScalers {
    /// Whether no scaler of series changes a column that a model reads as it is.
    pub(crate) fn check(self, models: &[&dyn Estimator]) -> Result<(), PlanError> {
        let unscaled = |model: &&dyn Estimator| {
            Some(model.needs().unscaled_columns).filter(|columns| !columns.is_empty())
        };
        match models.iter().find_map(|model| Some((model, unscaled(model)?))) {
            Some((model, columns)) if self.series.is_some() => {
                Err(PlanError::ScaledColumns { model: model.alias().to_owned(), columns: columns.join(", ") })
            }
            _ => Ok(()),
        }
    }

    /// Scales a panel by the statistics of all rows but the last `held_out` of each series.
    pub(crate) fn scale<'p>(
        self,
        panel: Cow<'p, Panel>,
        held_out: usize,
        workers: &Workers,
    ) -> Result<LocallyScaled<'p>, DataError> {
        let mut scaled = LocallyScaled { panel, series: None, statics: None };
        if let Some(scaler) = self.series {
            let (panel, scales) = scaled.panel.scaled(scaler, held_out, workers)?;
            (scaled.panel, scaled.series) = (Cow::Owned(panel), Some(scales));
        }
        if let Some(scaler) = self.statics {
            let (panel, stats) = scaled.panel.into_owned().with_scaled_statics(scaler)?;
            (scaled.panel, scaled.statics) = (Cow::Owned(panel), Some((scaler, stats)));
        }
        Ok(scaled)
    }
}

impl LocallyScaled<'_> {
    /// The future values on the panel's new scale.
    pub(crate) fn future(&self, future: Option<&Future>) -> Result<Option<Future>, DataError> {
        match &self.series {
            None => Ok(future.cloned()),
            Some(scales) => future.map(|future| scales.future(future)).transpose(),
        }
    }

    /// Brings forecasts back to the scale of the data: `values` holds one stretch of `each` numbers for
    /// each of `series`.
    pub(crate) fn inverse(&self, series: impl Iterator<Item = usize>, values: &mut [f32], each: usize) {
        let Some(scales) = &self.series else { return };
        series.zip(values.chunks_mut(each)).for_each(|(series, values)| scales.inverse(series, values));
    }

    /// The statistics of each column that is scaled: a pair for each series, and of static columns one.
    pub(crate) fn statistics(&self, target: &str) -> [BTreeMap<String, Vec<LocalStats>>; 2] {
        let mut series = BTreeMap::new();
        if let Some(scales) = &self.series {
            series.extend(scales.columns().clone());
            series.insert(target.to_owned(), scales.target().to_vec());
        }
        let mut statics = BTreeMap::new();
        if let Some((_, stats)) = &self.statics {
            statics.extend(stats.iter().map(|(name, stats)| (name.clone(), vec![*stats])));
        }
        [series, statics]
    }

    /// The scalers as neuralforecast's directories keep them: by column, of series and of static columns.
    pub(crate) fn stored(&self, target: &str) -> [BTreeMap<String, FittedScaler>; 2] {
        let [series, statics] = self.statistics(target);
        let of_series = self.series.as_ref().map(LocalScales::scaler);
        let of_statics = self.statics.as_ref().map(|(scaler, _)| *scaler);
        [stored(of_series, series), stored(of_statics, statics)]
    }
}

fn stored(
    scaler: Option<LocalScaler>,
    statistics: BTreeMap<String, Vec<LocalStats>>,
) -> BTreeMap<String, FittedScaler> {
    let Some(scaler) = scaler else { return BTreeMap::new() };
    let stored = |stats: Vec<LocalStats>| FittedScaler {
        kind: scaler.name().to_owned(),
        stats: Some(TensorData::f32([stats.len(), 2], stats.concat())),
    };
    statistics.into_iter().map(|(name, stats)| (name, stored(stats))).collect()
}
