//! Trained models, with the facts about their training data that forecasts need.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use foretell_calendar::Freq;
use foretell_checkpoint::FittedScaler;
use foretell_data::{Future, Panel, Vocabulary};
use foretell_estimator::{Estimator, LevelsSeen, MemoryLimit, Workers};
use foretell_pretrained::TrainedPretrained;
use foretell_tables::Frame;

use crate::columns::{ColumnNames, column_names};
use crate::conformal::Conformal;
use crate::ensemble::Combination;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::inputs::categories::encode_categories;
use crate::inputs::features::{future_with_features, with_features};
use crate::inputs::local_scalers::{LocalScalers, LocallyScaled};
use crate::inputs::series_levels::SeriesLevels;
use crate::pipeline::Pipeline;
use crate::training_record::TrainingRecord;
use crate::warning_listener::WarningListener;

/// Trained models with all that a forecast of a panel needs.
#[derive(Clone)]
pub(crate) struct TrainedModels {
    pub(crate) models: Vec<FittedModel>,
    pub(crate) freq: Freq,
    pub(crate) pipeline: Pipeline,
    /// The levels of the series of training.
    pub(crate) levels: SeriesLevels,
    /// The statistics that series and static columns were scaled by in training, which saved directories hold.
    pub(crate) scalers: [BTreeMap<String, FittedScaler>; 2],
    /// The categories of training.
    pub(crate) vocabulary: Vocabulary,
    pub(crate) workers: Workers,
    pub(crate) raw_quantiles: bool,
    pub(crate) conformal: Option<Conformal>,
    /// Combined forecasts, whose columns follow those of the models.
    pub(crate) ensembles: Vec<Combination>,
    /// The data that they were trained on, where that is known.
    pub(crate) record: Option<TrainingRecord>,
    pub(crate) warnings: WarningListener,
    pub(crate) memory: MemoryLimit,
}

impl TrainedModels {
    /// Steps that they forecast.
    pub(crate) fn h(&self) -> usize {
        self.models[0].spec().h()
    }

    /// The steps that are forecast where this many are asked for: no more, if each model forecasts any number of steps and nothing that
    /// is done to forecasts is of their whole horizon.
    pub(crate) fn steps_forecast(&self, shown: usize) -> usize {
        let any = self.models.iter().all(|model| {
            let trained = model.trained();
            trained.reaches_any_horizon() && trained.estimator().columns_read().hist.is_empty()
        });
        let any = any && self.conformal.is_none() && self.pipeline.coherence.is_none();
        if any { shown } else { shown.max(self.h()) }
    }

    /// The models by themselves: what they forecast is to add up later, and is bounded then.
    pub(crate) fn without_sums(&self) -> Cow<'_, Self> {
        match self.pipeline.coherence.is_some() {
            true => {
                let settings = self.pipeline.settings.without_bounds();
                let pipeline = Pipeline { coherence: None, settings, ..self.pipeline.clone() };
                Cow::Owned(Self { pipeline, ..self.clone() })
            }
            false => Cow::Borrowed(self),
        }
    }

    /// The models as they were before training.
    pub(crate) fn estimators(&self) -> impl Iterator<Item = &dyn Estimator> {
        self.models.iter().map(|model| model.trained().estimator())
    }

    /// The names of the models' columns, without the suffixes of their outputs.
    pub(crate) fn column_names(&self) -> Vec<String> {
        column_names(self.estimators())
    }

    /// The models with the names of their columns.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&FittedModel, String)> + Clone {
        self.models.iter().zip(self.column_names())
    }

    /// How many of the models ensembles combine: all but the baselines, which are the last ones.
    pub(crate) fn n_members(&self) -> usize {
        self.models.len().saturating_sub(self.pipeline.settings.baselines)
    }

    /// Whether one of the models of these columns is trained by a loss.
    pub(crate) fn have_loss(&self, columns: &[String]) -> bool {
        self.named().any(|(model, name)| columns.contains(&name) && model.needs().max_steps.is_some())
    }

    /// Whether one of the models forecasts all series together.
    pub(crate) fn is_joint(&self) -> bool {
        self.models.iter().any(|model| model.needs().is_joint)
    }

    /// A panel whose series have the levels that the models see them at.
    pub(crate) fn held(&self, panel: &Panel) -> Panel {
        let seen: Vec<LevelsSeen> = self.models.iter().map(|model| model.needs().levels_seen).collect();
        self.levels.held(panel, &seen, self.pipeline.local_scalers)
    }

    /// A panel as the models see it, scaled by the statistics of all rows but the last `held_out` of each series.
    pub(crate) fn seen<'p>(&self, panel: &'p Panel, held_out: usize) -> Result<LocallyScaled<'p>, Error> {
        self.scaled_with(self.pipeline.local_scalers, panel, held_out)
    }

    /// The same with these scalers.
    pub(crate) fn scaled_with<'p>(
        &self,
        local_scalers: LocalScalers,
        panel: &'p Panel,
        held_out: usize,
    ) -> Result<LocallyScaled<'p>, Error> {
        let panel = with_features(panel, &self.pipeline.features, &self.workers)?;
        Ok(local_scalers.scale(
            encode_categories(panel, &self.vocabulary, &self.workers)?,
            held_out,
            &self.workers,
        )?)
    }

    /// The future values that the models read in the `h` rows after each series of a panel, of which these are given.
    pub(crate) fn future(
        &self,
        given: Option<Future>,
        panel: &Panel,
        h: usize,
    ) -> Result<Option<Future>, Error> {
        let future = future_with_features(
            given,
            (panel, h),
            &self.pipeline.features,
            self.estimators(),
            &self.workers,
        )?;
        Ok(future.map(|future| future.encode_categories(&self.vocabulary)).transpose()?)
    }

    /// The frequency of the training data; nothing of pretrained networks that were trained on data of any, and of none of the user's.
    pub(crate) fn freq_of_data(&self) -> Option<Freq> {
        let is_pretrained = |model: &FittedModel| {
            let any: &dyn Any = model.trained();
            any.is::<TrainedPretrained>()
        };
        let of_any = self.record.is_none() && self.models.iter().all(is_pretrained);
        (!of_any).then_some(self.freq)
    }

    /// Whether a panel has the frequency of the training data.
    pub(crate) fn check_frequency(&self, panel: &Panel) -> Result<(), Error> {
        let found = panel.freq();
        match self.freq_of_data().filter(|trained| *trained != found) {
            Some(trained) => Err(Error::Frequency { trained, found }),
            None => Ok(()),
        }
    }

    /// An empty frame with the names of these columns, for times like the panel's.
    pub(crate) fn frame(&self, panel: &Panel) -> Frame {
        let ColumnNames { id, time, .. } = self.pipeline.columns.clone();
        let (zone, integer_ids) = (panel.zone().cloned(), panel.has_integer_ids());
        Frame { id_col: id, time_col: time, zone, integer_ids, ..Frame::new(panel.freq()) }
    }

    /// The same with the ids and times of the `h` steps after each series.
    pub(crate) fn frame_ahead(&self, panel: &Panel, h: usize) -> Result<Frame, Error> {
        let mut frame = self.frame(panel);
        for series in 0..panel.n_series() {
            frame.ids.extend(std::iter::repeat_n(panel.id(series), h).cloned());
            frame.times.extend(panel.future_times(series, h)?);
        }
        Ok(frame)
    }
}

/// Names and sizes, not every weight.
impl fmt::Debug for TrainedModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (models, freq) = (self.column_names(), self.freq.to_string());
        f.debug_struct("Fitted").field("models", &models).field("h", &self.h()).field("freq", &freq).finish()
    }
}
