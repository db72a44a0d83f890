//! The levels that models see series at, in training and in forecasts alike.

use std::collections::BTreeMap;

use foretell_data::{LocalScaler, Panel, SeriesLevel};
use foretell_estimator::LevelsSeen;
use serde::{Deserialize, Serialize};

use crate::inputs::local_scalers::LocalScalers;

/// The levels of series ([`Panel::level`]) as models were trained with them.
///
/// A network without a scaler forecasts otherwise what is held at another level, so a series keeps its level, whatever rows of it
/// are forecast; one that training did not see has its own where all that it saw had one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeriesLevels {
    /// Offset and scale of each series that had a level.
    series: BTreeMap<String, [f64; 2]>,
    /// Whether all series had one.
    all: bool,
}

/// Whether models see series without levels: a scale or a loss of theirs is relative to zero.
pub(crate) fn sees_none(models: &[LevelsSeen], scalers: LocalScalers) -> bool {
    scalers.series == Some(LocalScaler::BoxCox) || models.contains(&LevelsSeen::None)
}

impl SeriesLevels {
    /// Those of the series of a panel, as models in training see it.
    pub(crate) fn of(panel: &Panel) -> Self {
        let levels = (0..panel.n_series()).map(|series| (panel.id(series).to_string(), panel.level(series)));
        let series: BTreeMap<_, _> =
            levels.filter(|(_, level)| !level.is_default()).map(|(id, level)| (id, level.into())).collect();
        Self { all: !series.is_empty() && series.len() == panel.n_series(), series }
    }

    /// These, and others of series that are not among them.
    pub(crate) fn with(mut self, others: &Self) -> Self {
        for (id, level) in &others.series {
            self.series.entry(id.clone()).or_insert(*level);
        }
        Self { all: others.all, ..self }
    }

    /// Those of parts of a panel.
    pub(crate) fn joined<'l>(parts: impl Iterator<Item = &'l Self> + Clone) -> Self {
        let all = parts.clone().all(|part| part.all);
        Self { all, ..parts.fold(Self::default(), |levels, part| levels.with(part)) }
    }

    /// A panel as these models see it.
    pub(crate) fn held(&self, panel: &Panel, models: &[LevelsSeen], scalers: LocalScalers) -> Panel {
        if sees_none(models, scalers) {
            return panel.with_levels(|_| SeriesLevel::default());
        }
        if models.iter().all(|seen| *seen == LevelsSeen::Any) {
            return panel.clone();
        }
        let own = |id: &str| match self.all {
            true => panel.find(id).map(|series| panel.level(series)),
            false => None,
        };
        panel.with_levels(|id| {
            self.series.get(id).copied().map(SeriesLevel::from).or_else(|| own(id)).unwrap_or_default()
        })
    }

    /// Takes the values of a panel for what is held at these levels.
    pub(crate) fn place(&self, panel: Panel) -> Panel {
        panel.held_at(|id| self.series.get(id).copied().map(SeriesLevel::from).unwrap_or_default())
    }

    /// Why they are no levels, if they are none.
    pub(crate) fn check(&self) -> Result<(), String> {
        let sound = |[offset, scale]: &[f64; 2]| offset.is_finite() && scale.is_finite() && *scale > 0.0;
        match self.series.iter().find(|(_, level)| !sound(level)) {
            Some((id, level)) => Err(format!("{level:?} is no level of series {id}")),
            None => Ok(()),
        }
    }
}
