//! Forecasters after training.

use std::fmt;
use std::sync::Arc;

use foretell_calendar::Freq;
use foretell_data::{Future, Panel, ReadOptions, Vocabulary};
use foretell_estimator::{FeatureImportances, MemoryLimit, Workers};
use foretell_features::Features;
use foretell_hierarchy::{Hierarchy, Reconciliation};
use foretell_neural::{WeightPrecision, check_amp};
use foretell_tables::Frame;

use crate::calibration::{calibrate_now, check_calibration};
use crate::coherence::Coherence;
use crate::columns::{ColumnNames, columns_given};
use crate::conformal::PredictionIntervals;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecasts::blocks::{ForecastBlocks, blocks_ahead, blocks_insample};
use crate::forecasts::far_regressors::warn_of_far_regressors;
use crate::forecasts::warnings::{
    warn_of_fallbacks, warn_of_last_rows, warn_of_other_ends, warn_of_other_size, warn_of_short_history,
    warn_of_stages, warn_of_unknown_history, warn_of_unseen_categories, warn_of_unseen_categories_in,
};
use crate::importances::feature_importances;
use crate::insample_options::InsampleOptions;
use crate::interval_error::IntervalError;
use crate::intervals::Intervals;
use crate::intervals_by_dropout::check_dropout;
use crate::kept_settings::KeptSettings;
use crate::memory::check_calibration_memory;
use crate::predict_options::PredictOptions;
use crate::sample_paths::simulate;
use crate::simulate_options::SimulateOptions;
use crate::stage::Source;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::{warn_of_few_windows, warn_of_no_intervals, warn_of_uncalibrated};
use crate::trained_models::TrainedModels;
use crate::training::interruption::Interruption;
use crate::usage_error::UsageError;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// Trained models. Cloning shares the learned numbers.
#[derive(Clone)]
pub struct Fitted {
    pub(crate) trained: TrainedModels,
    pub(crate) interruption: Option<Interruption>,
}

/// The contents: models, settings and state.
impl Fitted {
    pub(crate) fn of(trained: TrainedModels, interruption: Option<Interruption>) -> Self {
        Self { trained, interruption }
    }

    /// The models.
    pub fn models(&self) -> &[FittedModel] {
        &self.trained.models
    }

    /// Some of the models, by their places, in this order; without combinations, which are of all models.
    ///
    /// # Errors
    /// If a place is that of no model or comes twice, or there are none.
    pub fn only(&self, places: &[usize]) -> Result<Self, Error> {
        let models = &self.trained.models;
        let is_wrong = |(i, place): (usize, &usize)| *place >= models.len() || places[..i].contains(place);
        if places.is_empty() || places.iter().enumerate().any(is_wrong) {
            return Err(UsageError::Places { found: places.to_vec(), models: models.len() }.into());
        }
        let mut fitted = self.clone();
        fitted.trained.models = places.iter().map(|&place| models[place].clone()).collect();
        fitted.trained.ensembles.clear();
        fitted.trained.pipeline.settings.baselines = 0;
        Ok(fitted)
    }

    /// Whether the listener ended training before its end, so that some models are trained less than they were to
    /// be, or not at all.
    pub fn interrupted(&self) -> bool {
        self.interruption.is_some()
    }

    /// How far training came, if the listener interrupted it. Saved with the models.
    pub fn interruption(&self) -> Option<&Interruption> {
        self.interruption.as_ref()
    }

    /// Steps that they forecast.
    pub fn h(&self) -> usize {
        self.trained.h()
    }

    /// The frequency of the data that they were trained on; 1 where that was none ([`Fitted::freq_of_data`]).
    pub fn freq(&self) -> Freq {
        self.trained.freq
    }

    /// The names that the data's columns had.
    pub fn columns(&self) -> &ColumnNames {
        &self.trained.pipeline.columns
    }

    /// How the data of training were read, as far as it was said: for data to forecast of the same kind.
    pub fn reading(&self) -> &ReadOptions {
        &self.trained.pipeline.reading
    }

    /// The settings that the models keep and neuralforecast does not have.
    pub fn kept_settings(&self) -> KeptSettings {
        self.trained.pipeline.settings
    }

    /// The names of the models' columns, without the suffixes of their outputs.
    pub fn column_names(&self) -> Vec<String> {
        self.trained.column_names()
    }

    /// The names of the columns of ensembles, which follow those of the models, and the weights of the models if it has some.
    pub fn ensembles(&self) -> impl Iterator<Item = (&'static str, Option<&[f64]>)> {
        self.trained.ensembles.iter().map(|ensemble| (ensemble.column(), ensemble.weights()))
    }

    /// The columns that are computed from the target and the times
    /// ([`Forecaster::features`](crate::Forecaster::features)).
    pub fn features(&self) -> &Features {
        &self.trained.pipeline.features
    }

    /// The columns of the data that the models read beside the target, without those that features compute, for
    /// [`ReadOptions::columns`](crate::ReadOptions).
    pub fn columns_read(&self) -> Vec<String> {
        columns_given(self.trained.estimators(), &self.trained.pipeline.features)
    }

    /// Those of them that are known ahead, whose future values a forecast needs.
    pub fn future_columns(&self) -> Vec<String> {
        let reads =
            |name: &String| self.trained.estimators().any(|model| model.columns_read().futr.contains(name));
        self.columns_read().into_iter().filter(reads).collect()
    }

    /// The columns of these and of the static ones that hold categories, for
    /// [`ReadOptions::categories`](crate::ReadOptions).
    pub fn categories(&self) -> Vec<String> {
        self.trained.vocabulary.keys().cloned().collect()
    }

    /// The categories of each of these columns that training saw.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.trained.vocabulary
    }

    /// The hierarchy by which forecasts add up, and how, if there is one ([`Forecaster::hierarchy`](crate::Forecaster::hierarchy)).
    pub fn hierarchy(&self) -> Option<(&Hierarchy, Reconciliation)> {
        self.trained.pipeline.coherence.as_ref().map(|coherence| (&coherence.hierarchy, coherence.method))
    }

    /// How the intervals of the models were calibrated, if they were.
    pub fn prediction_intervals(&self) -> Option<PredictionIntervals> {
        self.trained.conformal.as_ref().map(|conformal| conformal.intervals)
    }

    /// Where the intervals of models that forecast a single number come from, if they have some.
    pub fn intervals(&self) -> Option<Intervals> {
        let KeptSettings { dropout, spread, .. } = self.trained.pipeline.settings;
        let by_dropout = || dropout.map(|samples| Intervals::Dropout { samples });
        let by_spread = || spread.then_some(Intervals::Spread);
        self.prediction_intervals().map(Intervals::Calibrated).or_else(by_dropout).or_else(by_spread)
    }
}

/// How it forecasts.
impl Fitted {
    /// Uses `threads` threads, shared by models that use as many; 0, the default for loaded ones, as many as the machine has.
    ///
    /// # Errors
    /// If there are more than 1024.
    pub fn threads(mut self, threads: usize) -> Result<Self, Error> {
        self.trained.workers = Workers::new(threads)?;
        Ok(self)
    }

    /// Uses these threads, which others may use at the same time:
    ///
    /// ```no_run
    /// use foretell::{Fitted, Workers};
    ///
    /// let workers = Workers::new(2)?;
    /// let shops = Fitted::load("shops")?.workers(&workers);
    /// let regions = Fitted::load("regions")?.workers(&workers);
    /// # Ok::<(), foretell::Error>(())
    /// ```
    pub fn workers(mut self, workers: &Workers) -> Self {
        self.trained.workers = workers.clone();
        self
    }

    /// Whether the quantiles of a forecast stay as the model gave them. By default those of each step are
    /// sorted, so that none is above a higher one.
    pub fn raw_quantiles(mut self, raw: bool) -> Self {
        self.trained.raw_quantiles = raw;
        self
    }

    /// Settings that the models keep from now on, in place of those of the training; but for `baselines`, `spread` and `dropout`, which
    /// stay: [`Fitted::calibrate`] sets what is of intervals.
    pub fn keep(mut self, settings: KeptSettings) -> Self {
        self.trained.pipeline.settings = settings.of_the_models(self.trained.pipeline.settings);
        self
    }

    /// Has forecasts add up by this hierarchy, as [`Forecaster::hierarchy`](crate::Forecaster::hierarchy), or unchanged, with none.
    ///
    /// # Errors
    /// If the method needs something of the past; [`reconcile`](crate::reconcile) takes it.
    pub fn with_hierarchy(mut self, hierarchy: Option<(Hierarchy, Reconciliation)>) -> Result<Self, Error> {
        let coherence = hierarchy.map(|(hierarchy, method)| Coherence::new(hierarchy, method)).transpose()?;
        self.trained.pipeline.coherence = coherence.map(Arc::new);
        Ok(self)
    }

    /// Calls `listener` with every [`Warning`]; by default the listener of the training, and none for models that were loaded.
    pub fn on_warning(mut self, listener: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        self.trained.warnings = WarningListener::new(listener);
        self
    }

    /// Has forecasts refused that would take more memory than this, as
    /// [`Forecaster::max_memory`](crate::Forecaster::max_memory).
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.trained.memory = MemoryLimit::of_bytes(bytes);
        self
    }

    /// Holds the weights of products in this format for forecasts from now on; `f32` by default. It concerns networks alone.
    ///
    /// Fewer bits are read in less time: a single forecast, which reads each weight once, gains most. What it costs in
    /// accuracy [`Fitted::compare_precisions`] tells. [`Params::hold`](crate::own_model::Params::hold) says which layers it
    /// concerns. Saving writes the weights in `f32`, which stay in memory.
    ///
    /// ```no_run
    /// use foretell::{Fitted, WeightPrecision};
    ///
    /// let fitted = Fitted::load("model")?.weight_precision(WeightPrecision::Bf16)?;
    /// # Ok::<(), foretell::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is not `f32` and the program was built without the feature `amp`.
    pub fn weight_precision(mut self, precision: WeightPrecision) -> Result<Self, Error> {
        check_amp(precision.name())?;
        for model in &mut self.trained.models {
            if let Some(network) = model.network() {
                *model = FittedModel::new(Arc::new(network.with_weight_precision(precision)?));
            }
        }
        Ok(self)
    }

    /// Gives the models prediction intervals without any training: calibrated by their errors on the last steps of each series, or
    /// by dropout, or those of ensembles by the spread of their members ([`Intervals`]).
    ///
    /// Models forecast the steps that they were trained on better than later ones, so intervals that are calibrated on these
    /// steps are too narrow. Either give data that are newer than the training's, or calibrate with the training
    /// ([`Forecaster::intervals`](crate::Forecaster::intervals)).
    ///
    /// # Errors
    /// If a series is too short, no model forecasts a single number, the panel has another frequency or lacks a column that a
    /// model reads, or it would take more memory than the limit. If intervals by dropout are asked where no network forecasts a single
    /// number and drops something; or those of the spread without an ensemble of several models.
    pub fn calibrate(mut self, panel: &Panel, intervals: impl Into<Intervals>) -> Result<Self, Error> {
        let trained = &mut self.trained;
        let intervals = match intervals.into() {
            Intervals::Calibrated(intervals) => intervals,
            Intervals::Dropout { samples } => {
                check_dropout(trained.models.iter().map(FittedModel::spec), &trained.column_names())?;
                let models = trained.models.iter().map(|model| model.with_dropout_samples(samples));
                trained.models = models.collect();
                trained.pipeline.settings.dropout = Some(samples);
                return Ok(self);
            }
            Intervals::Spread if trained.ensembles.is_empty() || trained.n_members() < 2 => {
                return Err(IntervalError::NoSpread { models: trained.n_members() }.into());
            }
            Intervals::Spread => {
                trained.pipeline.settings.spread = true;
                return Ok(self);
            }
        };
        let trained = &self.trained;
        let panel = &trained.held(panel);
        trained.check_frequency(panel)?;
        check_calibration_memory(&trained.memory, panel, intervals, (trained.models.len(), trained.h()))?;
        check_calibration(trained.named().map(|(model, name)| (model.trained().estimator(), name)))?;
        self.trained.conformal = Some(calibrate_now(trained, panel, intervals)?);
        Ok(self)
    }
}

/// Forecasts.
impl Fitted {
    /// Forecasts the `h` steps after the end of each series: a row per series and step, a column per
    /// output of each model. The series need not be those of training. `future` holds the future values
    /// of the columns of the data that a model knows in advance, if one has any.
    ///
    /// Models of one series forecast it alone as within any panel up to rounding, by less than 1e-5 of the largest value that they
    /// see: products of few rows and of many add in different orders.
    ///
    /// # Errors
    /// Those of [`Fitted::predict_with`].
    pub fn predict(&self, panel: &Panel, future: Option<&Future>) -> Result<Frame, Error> {
        self.predict_with(panel, &PredictOptions::new().future(future))
    }

    /// [`Fitted::predict`] with other quantiles, or fewer or more steps.
    ///
    /// **Intervals and quantiles.** A model of a point loss has those that were calibrated
    /// ([`Forecaster::intervals`](crate::Forecaster::intervals), [`Fitted::calibrate`]), a model of a
    /// distribution's loss any, a model of several quantiles those that it was trained for. Models that have none stand in the
    /// table as without levels, if others have some, with a warning.
    ///
    /// **Fewer steps than the models' horizon** are the first ones of it; columns that are known in advance are read over [all of it](Self::steps_read), but for
    /// models that forecast any number of steps.
    ///
    /// **Further ahead than the models' horizon.** A recurrent model (`recurrent=true`) continues step by step. Any
    /// other forecasts its horizon again and again, each time from its forecasts before, of quantiles
    /// from the median; the last time so that its horizon ends with the last step.
    ///
    /// # Errors
    /// If the panel has another frequency, lacks a column that a model reads, or future values are missing; if no model
    /// has intervals of such levels; further ahead than the horizon, if a model reads historic columns, which are not
    /// known beyond it, or has no median to continue from; if it would take more memory than the limit.
    pub fn predict_with(&self, panel: &Panel, options: &PredictOptions<'_>) -> Result<Frame, Error> {
        self.predict_blocks(panel, options)?.whole()
    }

    /// [`Fitted::predict_with`], some series at a time: the same rows in the same order, to the last bit. So the
    /// memory that forecasts take does not grow with the number of series.
    ///
    /// ```
    /// # use foretell::{CsvWriter, Forecaster, Freq, ModelSpec, Panel, PredictOptions};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, vec![1.0; 40]), ("b", 0, vec![2.0; 40])])?;
    /// # let spec = ModelSpec::new("NLinear", 7, 14)?.set("max_steps", 1)?;
    /// # let fitted = Forecaster::new([spec])?.fit(&panel)?;
    /// let mut blocks = fitted.predict_blocks(&panel, &PredictOptions::default())?;
    /// let mut writer = CsvWriter::new(Vec::new(), blocks.time_style()?);
    /// for frame in blocks {
    ///     writer.write(&frame?)?;
    /// }
    /// assert_eq!(writer.finish()?.split(|&byte| byte == b'\n').count(), 1 + 2 * 7 + 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Fitted::predict_with`]. An error of a single series may come only when its block is forecast.
    pub fn predict_blocks<'a>(
        &'a self,
        panel: &'a Panel,
        options: &PredictOptions<'a>,
    ) -> Result<ForecastBlocks<'a>, Error> {
        let asked = AskedQuantiles::new(options.level, options.quantiles)?;
        let blocks = blocks_ahead(&self.trained, panel, options, asked.clone())?;
        self.warn_of_data(panel, options, &asked)?;
        Ok(blocks.with_warnings())
    }

    /// Warns of doubts that are known before any forecast is computed.
    fn warn_of_data(
        &self,
        panel: &Panel,
        options: &PredictOptions<'_>,
        asked: &AskedQuantiles,
    ) -> Result<(), Error> {
        warn_of_unseen_categories(&self.trained, panel, options.future)?;
        warn_of_unknown_history(&self.trained, panel);
        warn_of_short_history(&self.trained, panel);
        warn_of_last_rows(&self.trained, panel);
        warn_of_other_size(&self.trained, panel);
        warn_of_far_regressors(&self.trained, panel, options.future, &self.future_columns());
        warn_of_fallbacks(&self.trained, panel);
        self.trained.warnings.warn_of_coarse_values(&self.trained.held(panel), &[]);
        warn_of_uncalibrated(&self.trained, panel, asked)?;
        warn_of_few_windows(&self.trained, asked);
        warn_of_no_intervals(&self.trained, asked)?;
        self.trained.warnings.warn_of_fewer_threads(&self.trained.workers);
        Ok(())
    }

    /// Forecasts rows that are known already: `h` steps from a cutoff every `step_size` steps, the last forecast
    /// ending with the series, the first cutoff a row of it. Errors of forecasts of rows that
    /// a model was trained on say little about it: [`Forecaster::cross_validate`](crate::Forecaster::cross_validate) measures
    /// it on rows that it has not seen.
    ///
    /// The table has the columns `unique_id, ds, cutoff, y` (NaN where unknown) and those of the models.
    ///
    /// # Errors
    /// If the panel has another frequency or lacks a column that a model reads, `step_size` is 0, a series has fewer than
    /// `h + 1` rows, or it would take more memory than the limit.
    pub fn predict_insample(&self, panel: &Panel, step_size: usize) -> Result<Frame, Error> {
        self.predict_insample_with(panel, &InsampleOptions::new(step_size))
    }

    /// [`Fitted::predict_insample`] with options.
    ///
    /// # Errors
    /// Those of [`Fitted::predict_insample`]; a level or quantile out of range, or one that a model cannot forecast.
    pub fn predict_insample_with(
        &self,
        panel: &Panel,
        options: &InsampleOptions<'_>,
    ) -> Result<Frame, Error> {
        self.predict_insample_blocks(panel, options)?.whole()
    }

    /// [`Fitted::predict_insample_with`], some series at a time, as [`Fitted::predict_blocks`].
    ///
    /// # Errors
    /// The errors of [`Fitted::predict_insample_with`]; one of a single series may come only when its block is forecast.
    pub fn predict_insample_blocks<'a>(
        &'a self,
        panel: &'a Panel,
        options: &InsampleOptions<'_>,
    ) -> Result<ForecastBlocks<'a>, Error> {
        let blocks = blocks_insample(&self.trained, panel, options)?;
        warn_of_stages(&self.trained, Source::History);
        warn_of_few_windows(&self.trained, &AskedQuantiles::new(options.level, options.quantiles)?);
        warn_of_other_ends(&self.trained, panel);
        warn_of_unseen_categories_in(&self.trained, panel, usize::MAX, None)?;
        Ok(blocks.with_warnings())
    }

    /// The weights of columns and steps behind the forecasts that [`Fitted::predict`] makes of these data, of each model that
    /// has such (TFT): those of its variable selections and of its attention, means over all series. In neuralforecast
    /// `feature_importances` and `attention_weights` return them for the last batch.
    ///
    /// ```
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel};
    /// # let wave: Vec<f32> = (0..60).map(|day| (day as f32 * 0.9).sin()).collect();
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, wave)])?;
    /// let spec = ModelSpec::new("TFT", 3, 8)?.set("hidden_size", 8)?.set("max_steps", 2)?;
    /// let fitted = Forecaster::new([spec])?.fit(&panel)?;
    /// let found = fitted.feature_importances(&panel, None)?;
    /// let past = found[0].past.as_ref().unwrap();
    /// assert_eq!(past.steps, [-7, -6, -5, -4, -3, -2, -1, 0]);
    /// assert_eq!(past.column("observed_target").unwrap().len(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no model has such weights, or as [`Fitted::predict`].
    pub fn feature_importances(
        &self,
        panel: &Panel,
        future: Option<&Future>,
    ) -> Result<Vec<FeatureImportances>, Error> {
        feature_importances(&self.trained, panel, future)
    }
}

/// Sample paths.
impl Fitted {
    /// Draws paths of the steps after the end of each series: a row per series, path and step, with the number of the path in the
    /// column `sample_id` and a column per model. Quantiles say how likely a value is at a step; paths also how steps go together,
    /// as the sum over a horizon or its highest value need it.
    ///
    /// [`PathMethod::OfQuantiles`](crate::PathMethod) are neuralforecast's ways: the quantiles of each step are those of the model's
    /// distribution, or of its quantiles, or of its calibrated intervals, and how steps go together is learnt of the history.
    /// With [`PathMethod::Ancestral`](crate::PathMethod) a recurrent network of a distribution draws each step after the path's own
    /// steps before it. Paths depend on the seed, the id of the series and its end, not on the other series or the number of threads.
    /// Series are drawn each by itself, also those of a hierarchy.
    ///
    /// ```
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel, SimulateOptions};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, (0..60).map(|day| (day % 7) as f32).collect::<Vec<_>>())])?;
    /// let fitted = Forecaster::new([ModelSpec::new("SeasonalNaive", 7, 14)?])?.fit(&panel)?;
    /// let paths = fitted.simulate(&panel, &SimulateOptions::new(100))?;
    /// assert_eq!(paths.n_rows(), 100 * 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no model has quantiles, or with [`PathMethod::Ancestral`](crate::PathMethod) draws no paths of its own; if a history is
    /// shorter than the horizon, for the Schaake shuffle; or as [`Fitted::predict_with`].
    pub fn simulate(&self, panel: &Panel, options: &SimulateOptions<'_>) -> Result<Frame, Error> {
        simulate(&self.trained, panel, options)
    }
}

impl fmt::Debug for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.trained.fmt(f)
    }
}
