//! The training of several models on one panel, once or several times.

use std::borrow::Cow;
use std::sync::Arc;

use foretell_data::{LocalScaler, Panel, SeriesLevel, Vocabulary};
use foretell_estimator::{
    Estimator, HeldOut, LevelsSeen, MemoryLimit, OneProcess, Reduction, StepSettings, StillWanted,
    TooManyThreads, Verdict, Workers,
};
use foretell_features::Features;
use foretell_hierarchy::Reconciliation;
use foretell_neural::NetworkSpec;
use serde_json::{Map, Value};

use crate::calibration::{
    calibrate, check_calibration, long_series, weights_and_forecasts, with_learnt_ensembles,
};
use crate::columns::{column_names, columns_read};
use crate::conformal::PredictionIntervals;
use crate::ensemble::{Combination, Ensemble};
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::inputs::categories::{check_categorical, encode_categories, vocabulary};
use crate::inputs::features::{read_features, with_features};
use crate::inputs::series_levels::{SeriesLevels, sees_none};
use crate::memory::{check_calibration_memory, check_training};
use crate::model_spec::ModelSpec;
use crate::pipeline::Pipeline;
use crate::plan_error::PlanError;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::{check, has_loss, without_intervals};
use crate::trained_models::TrainedModels;
use crate::training::agreement::check_agreement;
use crate::training::all_models::{AllModels, ModelListener};
use crate::training::checkpointing::{Checkpointing, identify_training};
use crate::training::divergence::check_trend;
use crate::training::interruption::Interruption;
use crate::training::start::StartingPoint;
use crate::training_record::TrainingRecord;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// Horizons at the end of each series whose errors weigh the series of a hierarchy, where no other forecasts of the past are made.
pub(super) const WINDOWS_OF_ERRORS: usize = 3;

/// Forecasts of this number of horizons at the end of each series.
pub(super) fn horizons(n_windows: usize, h: usize) -> PredictionIntervals {
    PredictionIntervals { n_windows, step_size: h, ..PredictionIntervals::default() }
}

/// Models before training, and how they are trained.
pub(crate) struct TrainingPlan {
    pub(super) specs: Vec<ModelSpec>,
    pub(crate) val_size: usize,
    /// A panel to validate on, in place of the last rows.
    pub(crate) validation: Option<Panel>,
    pub(crate) workers: Result<Workers, TooManyThreads>,
    pub(crate) pipeline: Pipeline,
    pub(crate) intervals: Option<PredictionIntervals>,
    pub(crate) ensembles: Vec<Ensemble>,
    pub(crate) listener: Box<ModelListener>,
    pub(crate) warnings: WarningListener,
    pub(crate) checkpointing: Option<Checkpointing>,
    pub(crate) memory: MemoryLimit,
    pub(crate) step: StepSettings,
    pub(crate) restore_best: bool,
    pub(crate) keep_optimizer: bool,
    pub(crate) reduction: Arc<dyn Reduction + Send>,
    pub(crate) start: StartingPoint,
    /// Whether anyone waits for what has no steps that the listener would hear of.
    pub(crate) wanted: Option<StillWanted>,
    /// Trainings that were done: one, but for intervals and for refitting.
    pub(super) trainings: usize,
}

impl TrainingPlan {
    /// Models to be trained on the same panel, if they go together.
    pub(crate) fn new(specs: Vec<ModelSpec>) -> Result<Self, Error> {
        let first = specs.first().ok_or(PlanError::NoModels)?;
        for spec in &specs {
            spec.check()?;
            if spec.h() != first.h() {
                let (h, other, found) = (first.h(), spec.alias().to_owned(), spec.h());
                let first = first.alias().to_owned();
                return Err(PlanError::Horizons { first, h, other, found }.into());
            }
            let namesake =
                specs.iter().find(|other| other.alias() == spec.alias() && other.name() != spec.name());
            if let Some(other) = namesake {
                let (alias, first, second) = (spec.alias().to_owned(), spec.name(), other.name());
                return Err(PlanError::Aliases { alias, first, second }.into());
            }
        }
        let plan = Self {
            specs,
            val_size: 0,
            validation: None,
            workers: Workers::new(0),
            pipeline: Pipeline::default(),
            intervals: None,
            ensembles: Vec::new(),
            listener: Box::new(|_, _| Verdict::Continue),
            warnings: WarningListener::default(),
            checkpointing: None,
            memory: MemoryLimit::default(),
            step: StepSettings::default(),
            restore_best: true,
            keep_optimizer: false,
            reduction: Arc::new(OneProcess),
            start: StartingPoint::default(),
            wanted: None,
            trainings: 0,
        };
        check_categorical(&plan.models())?;
        Ok(plan)
    }

    /// Has the models read columns that these features compute.
    pub(crate) fn set_features(&mut self, features: Features) -> Result<(), Error> {
        read_features(&mut self.specs, &features)?;
        self.pipeline.features = features;
        Ok(())
    }

    /// The models.
    pub(crate) fn models(&self) -> Vec<&dyn Estimator> {
        self.specs.iter().map(ModelSpec::as_ref).collect()
    }

    /// How many of the models ensembles combine.
    pub(super) fn n_members(&self) -> usize {
        self.specs.len().saturating_sub(self.pipeline.settings.baselines)
    }

    /// The names of the models' columns, without the suffixes of their outputs.
    pub(crate) fn column_names(&self) -> Vec<String> {
        column_names(self.models())
    }

    /// Steps that the models forecast.
    pub(crate) fn h(&self) -> usize {
        self.specs[0].h()
    }

    /// The rows that each series needs if the last `test_size` are not trained on: an input of every model, and
    /// what is held out or calibrated on after it.
    pub(crate) fn rows_needed_before(&self, test_size: usize) -> usize {
        let input = self.models().into_iter().map(|model| model.needs().rows_needed).max().unwrap_or(1);
        let calibration =
            self.intervals.map_or(0, |intervals| intervals.test_size(self.h()).saturating_add(1));
        input.max(calibration).saturating_add(self.val_size).saturating_add(test_size)
    }

    /// Rows of each series to validate on: its last ones, or those of a panel of their own.
    pub(super) fn val_rows(&self) -> usize {
        self.validation.as_ref().map_or(self.val_size, Panel::max_len)
    }

    /// Whether there are enough rows to validate on, and in one place.
    fn check_val_rows(&self, panel: &Panel) -> Result<(), Error> {
        let (h, found) = (self.h(), self.val_rows());
        if let Some(validation) = &self.validation {
            let (trained, other) = (panel.freq(), validation.freq());
            if self.val_size > 0 {
                return Err(PlanError::TwoValidations { val_size: self.val_size }.into());
            }
            if trained != other {
                return Err(Error::Frequency { trained, found: other });
            }
            for (here, there, extra) in [(panel, validation, false), (validation, panel, true)] {
                if let Some(id) = here.ids().find(|id| there.find(id).is_none()) {
                    return Err(Error::OtherValidationSeries { id: id.to_string(), extra });
                }
            }
            if validation.min_len() < found {
                return Err(Error::UnequalValidation { shortest: validation.min_len(), longest: found });
            }
            if found < h {
                return Err(Error::ShortValidation { rows: found, h });
            }
        }
        match found > 0 && found < h {
            true => Err(PlanError::ValSize { h, found }.into()),
            false => Ok(()),
        }
    }

    /// A panel as models see it, followed by the rows to validate on if they are a panel of their own.
    fn with_validation<'p>(
        &self,
        panel: Cow<'p, Panel>,
        vocabulary: &Vocabulary,
        workers: &Workers,
    ) -> Result<Cow<'p, Panel>, Error> {
        let Some(validation) = &self.validation else { return Ok(panel) };
        let validation = with_features(validation, &self.pipeline.features, workers)?;
        let validation = encode_categories(validation, vocabulary, workers)?;
        // A column that is missing there is told before it vanishes.
        for column in columns_read(self.models()) {
            validation.column(&column, 0)?;
        }
        Ok(Cow::Owned(panel.followed_by(&validation)?))
    }

    /// Takes the intervals of networks from this many forecasts with dropout.
    pub(crate) fn take_dropout(&mut self, samples: usize) {
        self.pipeline.settings.dropout = Some(samples);
        self.specs = self.specs_as_trained();
    }

    /// Whether models will have these quantiles; warns of those that will not, if some will.
    pub(crate) fn check_quantiles(&self, asked: &AskedQuantiles) -> Result<(), Error> {
        let has = |(model, name): (&dyn Estimator, String)| {
            let kept = self.start.calibration().is_some_and(|calibration| calibration.has(&name));
            let intervals = check(model, &name, asked, kept || self.intervals.is_some());
            (name, intervals)
        };
        if self.pipeline.settings.spread {
            return Ok(());
        }
        let models = without_intervals(self.models().into_iter().zip(self.column_names()).map(has))?;
        if !models.is_empty() {
            let mut named = self.models().into_iter().zip(self.column_names());
            let has_loss = named.any(|(model, name)| models.contains(&name) && has_loss(model));
            self.warnings.warn(&Warning::NoIntervals { models, has_loss });
        }
        Ok(())
    }

    /// The ensembles of the trained models that the models continue from, unless others were asked for.
    pub(super) fn kept_ensembles(&self) -> &[Combination] {
        match self.ensembles.is_empty() {
            true => self.start.ensembles_of(&self.column_names()[..self.n_members()]),
            false => &[],
        }
    }

    /// A panel whose series have the levels that the models see them at: their own, or none.
    pub(crate) fn held(&self, panel: &Panel) -> Panel {
        let seen: Vec<LevelsSeen> =
            self.models().into_iter().map(|model| model.needs().levels_seen).collect();
        if let Some(levels) = &self.start.levels {
            return levels.held(panel, &seen, self.pipeline.local_scalers);
        }
        match sees_none(&seen, self.pipeline.local_scalers) {
            true => panel.with_levels(|_| SeriesLevel::default()),
            false => panel.clone(),
        }
    }

    /// Trains on the panel without its last `test_size` steps, and calibrates intervals there.
    pub(super) fn fit_all(
        &mut self,
        panel: &Panel,
        test_size: usize,
    ) -> Result<(TrainedModels, Option<Interruption>), Error> {
        self.settle_sums(&panel.without_last(test_size))?;
        let past = self.pipeline.coherence.clone().filter(|coherence| coherence.needs_past());
        let Some(windows) = self.windows_of_end() else { return self.train_before(panel, test_size, true) };
        let (h, known) = (self.h(), panel.without_last(test_size));
        if self.intervals.is_some() {
            check_calibration(self.models().into_iter().zip(self.column_names()))?;
        }
        let held_out = (self.val_rows(), self.validation.is_some());
        let long = long_series(windows, h, &known, held_out, self.models(), &self.warnings)?;
        check_calibration_memory(&self.memory, &known, windows, (self.specs.len(), h))?;
        let (earlier, interruption) = self.train_before(&long, windows.test_size(h), false)?;
        if interruption.is_some() {
            return Ok((earlier, interruption));
        }
        let (weights, frame) = weights_and_forecasts(&earlier, [&known, &long], held_out.0, windows)?;
        let conformal = self.intervals.map(|intervals| calibrate(&earlier, &known, &frame, intervals));
        let ensembles = self.combinations(Some(&weights));
        let frame = with_learnt_ensembles(&earlier, frame, &ensembles);
        let coherence = past.map(|coherence| Arc::new(coherence.with_past(frame)));
        let weighed = coherence.iter().try_for_each(|coherence| coherence.check_past(&self.pipeline.columns));
        let coherence = match (coherence, weighed) {
            // Errors that weigh nothing, as of series that are constant.
            (Some(coherence), Err(_)) if coherence.is_default => {
                Some(Arc::new(coherence.by_method(Reconciliation::usual(false))?))
            }
            (coherence, weighed) => weighed.map(|()| coherence)?,
        };
        let (mut trained, interruption) = self.train_before(panel, test_size, true)?;
        trained.ensembles = ensembles;
        trained.conformal = conformal.or(trained.conformal);
        trained.pipeline.coherence = coherence.or(trained.pipeline.coherence);
        Ok((trained, interruption))
    }

    /// How the trained models are combined, with the `weights` that were learnt.
    fn combinations(&self, weights: Option<&[f64]>) -> Vec<Combination> {
        let asked = self.ensembles.iter().filter_map(|ensemble| ensemble.combination(weights));
        asked.chain(self.kept_ensembles().iter().cloned()).collect()
    }

    /// The forecasts of the end of each series that intervals are calibrated on, else those that an ensemble's weights are learnt by,
    /// else those whose errors weigh the series of a hierarchy.
    pub(crate) fn windows_of_end(&self) -> Option<PredictionIntervals> {
        let of_errors = || self.pipeline.coherence.as_ref().filter(|coherence| coherence.needs_past());
        let learnt = self.windows_learnt_of();
        learnt.or_else(|| of_errors().map(|_| horizons(WINDOWS_OF_ERRORS, self.h())))
    }

    /// Those of them that intervals or weights are learnt of.
    pub(super) fn windows_learnt_of(&self) -> Option<PredictionIntervals> {
        let of_weights = self.ensembles.iter().find_map(|ensemble| match *ensemble {
            Ensemble::Weighted { n_windows } => Some(horizons(n_windows, self.h())),
            _ => None,
        });
        self.intervals.or(of_weights)
    }

    /// Trains the models once, without the last `test_size` steps. `last` is whether no further training follows: before that,
    /// an interruption is reported even if all models are trained.
    fn train_before(
        &mut self,
        panel: &Panel,
        test_size: usize,
        last: bool,
    ) -> Result<(TrainedModels, Option<Interruption>), Error> {
        self.check_val_rows(panel)?;
        self.check()?;
        let workers = self.workers.clone()?;
        let panel = with_features(panel, &self.pipeline.features, &workers)?;
        let panel = &*panel;
        let held_out = HeldOut { validation: self.val_rows(), test: test_size };
        // The intervals of rows to validate on are calibrated as if these were the last of the panel.
        let apart = self.validation.is_some() && last;
        let specs = self.specs_as_trained();
        let models: Vec<&dyn Estimator> = specs.iter().map(ModelSpec::as_ref).collect();
        models.iter().try_for_each(|model| model.needs().check_n_series(model.alias(), panel.n_series()))?;
        self.start.check(&models, &self.column_names())?;
        self.pipeline.local_scalers.check(&models)?;
        let vocabulary = self.vocabulary(&models, &panel.without_last(test_size))?;
        let to_train = self.models_to_train(&models);
        let trained_on = if apart { HeldOut { validation: 0, ..held_out } } else { held_out };
        check_training(&self.work(&to_train, (panel, trained_on), &vocabulary, workers.threads()))?;
        let encoded = encode_categories(Cow::Borrowed(panel), &vocabulary, &workers)?;
        let encoded = if apart { self.with_validation(encoded, &vocabulary, &workers)? } else { encoded };
        let number = self.trainings;
        let training = match self.checkpointing.is_some() || self.reduction.processes() > 1 {
            true => Some(identify_training(&models, &encoded, self.settings(test_size))?),
            false => None,
        };
        training.iter().try_for_each(|training| check_agreement(&*self.reduction, training))?;
        let first = self.reduction.rank() == 0;
        let state_files = match (&mut self.checkpointing, &training) {
            (Some(checkpointing), Some(training)) => {
                Some(checkpointing.state_files(number, models.len(), training, first)?)
            }
            _ => None,
        };
        let scaled = self.pipeline.local_scalers.scale(encoded, held_out.rows(), &workers)?;
        let names = self.column_names();
        let all = AllModels {
            models: &models,
            names: &names,
            panel: &scaled.panel,
            held_out,
            vocabulary: &vocabulary,
            workers: &workers,
            state_files: state_files.as_deref(),
            reduction: &*self.reduction,
            start: &self.start,
            step: self.step,
            wanted: self.wanted.as_ref(),
        };
        let (trained, stopped) = all.train(&mut *self.listener)?;
        if trained.is_empty() {
            return Err(Error::NothingTrained);
        }
        let known = scaled.panel.without_last(held_out.rows());
        for ((model, trend), name) in trained.iter().zip(&names) {
            check_trend(&**model, name, trend, &known, &workers, &self.warnings)?;
        }
        let models: Vec<FittedModel> =
            trained.into_iter().map(|(model, _)| FittedModel::new(model)).collect();
        // The buffers of training are returned: forecasts need little of them, and may come much later.
        workers.each(&mut vec![(); workers.threads()], true, |_, ()| foretell_pool::trim());
        foretell_pool::trim();
        self.warnings.warn_of_fewer_threads(&workers);
        self.trainings += 1;
        let cut_short = |model: &FittedModel| model.outcome().is_some_and(|outcome| outcome.interrupted);
        let interrupted =
            models.len() < self.specs.len() || models.iter().any(cut_short) || (stopped && !last);
        let interruption = interrupted.then(|| Interruption::of(&models, &names, training.as_ref()));
        let trained = TrainedModels {
            models,
            freq: panel.freq(),
            pipeline: self.pipeline.clone(),
            levels: SeriesLevels::of(panel),
            scalers: scaled.stored(&self.pipeline.columns.target),
            vocabulary,
            workers,
            raw_quantiles: false,
            conformal: self.start.calibration().cloned(),
            ensembles: self.combinations(None),
            record: TrainingRecord::of(panel, test_size),
            warnings: self.warnings.clone(),
            memory: self.memory.clone(),
        };
        Ok((trained, interruption))
    }

    /// The models with the settings that their training uses.
    pub(super) fn specs_as_trained(&self) -> Vec<ModelSpec> {
        self.specs.iter().map(|spec| self.as_trained(spec)).collect()
    }

    /// The estimator to be trained: a network gets the settings of this training.
    fn as_trained(&self, spec: &ModelSpec) -> ModelSpec {
        let network = |network: &NetworkSpec| {
            let network = network.clone().restore_best(self.restore_best).keep_optimizer(self.keep_optimizer);
            network.dropout_samples(self.pipeline.settings.dropout).into()
        };
        spec.network().map_or_else(|| spec.clone(), network)
    }

    /// The settings that determine a training, beside its models and data.
    fn settings(&self, test_size: usize) -> Map<String, Value> {
        let name = |scaler: Option<LocalScaler>| Value::from(scaler.map(LocalScaler::name));
        let settings = [
            ("val_size", self.val_rows().into()),
            ("test_size", test_size.into()),
            ("restore_best", self.restore_best.into()),
            ("local_scaler", name(self.pipeline.local_scalers.series)),
            ("local_static_scaler", name(self.pipeline.local_scalers.statics)),
        ];
        let mut settings: Map<_, _> =
            settings.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        settings.extend(self.step.changed());
        settings.extend(self.start.identity().map(|start| ("start".to_owned(), start)));
        settings
    }

    /// What the models depend on ([`Forecaster::identity`](crate::Forecaster::identity)).
    pub(crate) fn identity(&self, panel: &Panel) -> Result<Value, Error> {
        let models = self.models();
        let workers = self.workers.clone()?;
        let encoded = encode_categories(Cow::Borrowed(panel), &vocabulary(&models, panel)?, &workers)?;
        let mut settings = self.settings(0);
        settings.insert("features".to_owned(), self.pipeline.features.to_string().into());
        identify_training(&models, &encoded, settings)
    }
}
