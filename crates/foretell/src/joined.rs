//! Models that are fitted to parts of the series of a panel, and then joined to those of the whole.

use foretell_estimator::{Estimator, SeriesNumbers};

use crate::directory::saving::{plain_model, restore};
use crate::ensemble::{Combination, Ensemble};
use crate::error::Error;
use crate::fitted::Fitted;
use crate::fitted_model::FittedModel;
use crate::forecaster::Forecaster;
use crate::inputs::local_scalers::LocalScalers;
use crate::inputs::series_levels::SeriesLevels;
use crate::trained_models::TrainedModels;
use crate::training_record::TrainingRecord;
use crate::usage_error::UsageError;

/// Fits to parts of a panel.
impl Forecaster {
    /// Whether fits to parts of the series make the same models as one fit to all, by [`Fitted::joined`]: if all models learn of each series
    /// by itself, as classical ones and Prophet do, and nothing else is learned of all series: neither their common end, nor what the
    /// models start from.
    pub fn fits_by_parts(&self) -> bool {
        let plan = &self.plan;
        let is_weighted = |ensemble: &Ensemble| matches!(ensemble, Ensemble::Weighted { .. });
        let alone = plan.models().iter().all(|model| model.needs().learns_of_single_series);
        alone
            && plan.intervals.is_none()
            && plan.pipeline.coherence.is_none()
            && plan.pipeline.local_scalers == LocalScalers::default()
            && plan.pipeline.settings.end.is_none()
            && !plan.start.has_models()
            && plan.val_size == 0
            && plan.validation.is_none()
            && self.categories().is_empty()
            && !plan.ensembles.iter().any(is_weighted)
    }
}

/// Models of parts of a panel.
impl Fitted {
    /// The models of a panel, of those that forecasters of the same settings fitted to parts of its series, in the order of the series: to the
    /// last bit those of one fit, where [`Forecaster::fits_by_parts`].
    ///
    /// ```
    /// # use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel};
    /// # let wave = |from: i32| (from..from + 40).map(|day| (day as f32 * 0.9).sin()).collect::<Vec<_>>();
    /// let panel = |ids: &[i32]| {
    ///     Panel::from_series(Freq::parse("D")?, ids.iter().map(|&id| (format!("{id}"), 0, wave(id))))
    /// };
    /// let forecaster = || Forecaster::new([ModelSpec::new("AutoETS", 3, 1)?]);
    /// assert!(forecaster()?.fits_by_parts());
    /// let parts = [forecaster()?.fit(&panel(&[1, 2])?)?, forecaster()?.fit(&panel(&[3])?)?];
    /// let whole = forecaster()?.fit(&panel(&[1, 2, 3])?)?;
    /// assert_eq!(Fitted::joined(parts)?.to_bytes()?, whole.to_bytes()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`UsageError::NotJoined`] if there are no parts, they differ in their models or settings, or something was learned of all series of
    /// a part together.
    pub fn joined(parts: impl IntoIterator<Item = Self>) -> Result<Self, Error> {
        let parts: Vec<TrainedModels> = parts.into_iter().map(|part| part.trained).collect();
        let joined = join(&parts).map_err(|reason| UsageError::NotJoined { reason })?;
        Ok(Self::of(joined, None))
    }
}

fn join(parts: &[TrainedModels]) -> Result<TrainedModels, String> {
    let first = parts.first().ok_or_else(|| "there are none".to_owned())?;
    for part in parts {
        let is_weighted = |ensemble: &Combination| matches!(ensemble, Combination::Weighted { .. });
        let shared = [
            (part.conformal.is_some(), "calibrated intervals"),
            (part.pipeline.coherence.is_some(), "a hierarchy"),
            (part.pipeline.local_scalers != LocalScalers::default(), "scalers of series"),
            (!part.vocabulary.is_empty(), "categories"),
            (part.ensembles.iter().any(is_weighted), "the weights of an ensemble"),
        ];
        if let Some((_, what)) = shared.iter().find(|(is_there, _)| *is_there) {
            return Err(format!("they have {what}"));
        }
        let differ = [
            (part.freq != first.freq, "frequency"),
            (part.pipeline.columns != first.pipeline.columns, "names of columns"),
            (!part.estimators().eq(first.estimators()), "hyper-parameters"),
            (part.ensembles != first.ensembles, "ensembles"),
            (part.pipeline.settings != first.pipeline.settings, "settings of forecasts"),
            (part.raw_quantiles != first.raw_quantiles, "order of quantiles"),
            (part.pipeline.features != first.pipeline.features, "features"),
            (part.pipeline.reading != first.pipeline.reading, "ways of reading"),
        ];
        if let Some((_, what)) = differ.iter().find(|(differs, _)| *differs) {
            return Err(format!("they differ in their {what}"));
        }
    }
    let models = (0..first.models.len()).map(|place| join_models(parts, place)).collect::<Result<_, _>>()?;
    let levels = SeriesLevels::joined(parts.iter().map(|part| &part.levels));
    let records = parts.iter().map(|part| part.record.clone());
    let record = records.reduce(|all, part| Some(TrainingRecord::joined(all?, part?))).flatten();
    Ok(TrainedModels { models, levels, record, ..first.clone() })
}

/// The model in this place.
fn join_models(parts: &[TrainedModels], place: usize) -> Result<FittedModel, String> {
    let first = parts[0].models[place].trained();
    let estimator: &dyn Estimator = first.estimator();
    if !estimator.needs().learns_of_single_series {
        return Err(format!("{} learns of all series together", estimator.alias()));
    }
    let learned = SeriesNumbers::joined(parts.iter().map(|part| part.models[place].trained().learned()))?;
    let mut plain = plain_model(place, first);
    (plain.series, plain.learned) = (learned.series, learned.numbers);
    restore(plain)
}
