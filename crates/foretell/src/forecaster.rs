//! Forecasters before training.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use foretell_data::{LocalScaler, Panel, ReadOptions};
use foretell_estimator::{MemoryLimit, Precision, Progress, Reduction, StepSettings, Verdict, Workers};
use foretell_features::Features;
use foretell_hierarchy::{Hierarchy, Reconciliation};
use serde_json::Value;

use crate::coherence::Coherence;
use crate::columns::{ColumnNames, categorical, columns_given};
use crate::ensemble::Ensemble;
use crate::error::Error;
use crate::fitted::Fitted;
use crate::inputs::local_scalers::LocalScalers;
use crate::intervals::Intervals;
use crate::kept_settings::KeptSettings;
use crate::model_spec::ModelSpec;
use crate::training::checkpointing::Checkpointing;
use crate::training::data_doubts::{warn_of_data, warn_of_early_ends};
use crate::training::plan::TrainingPlan;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// Models before training.
///
/// It cannot predict; [`Forecaster::fit`] turns it into a [`Fitted`], which can.
pub struct Forecaster {
    pub(crate) plan: TrainingPlan,
}

impl Forecaster {
    /// Models to be trained on the same panel.
    ///
    /// # Errors
    /// If there is none, if they forecast different horizons, if two are the same, or if the hyper-parameters of one do
    /// not fit together.
    pub fn new(specs: impl IntoIterator<Item = ModelSpec>) -> Result<Self, Error> {
        Ok(Self { plan: TrainingPlan::new(specs.into_iter().collect())? })
    }

    /// The models of `fitted`, to be trained further, on other data or for more steps: see [`Forecaster::start_from`].
    ///
    /// ```
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel};
    /// # let wave = |from: i32| (from..from + 60).map(|day| (day as f32 * 0.9).sin()).collect::<Vec<_>>();
    /// # let panel = |from: i32| Panel::from_series(Freq::parse("D")?, [("a", 0, wave(from))]);
    /// let (last_year, this_year) = (panel(0)?, panel(60)?);
    /// let spec = ModelSpec::new("NLinear", 3, 8)?.set("max_steps", 20)?;
    /// let fitted = Forecaster::new([spec])?.fit(&last_year)?;
    /// let fitted = Forecaster::from_fitted(&fitted)?.fit(&this_year)?; // 20 steps more
    ///
    /// // With other hyper-parameters of training:
    /// let spec = fitted.models()[0].spec().clone().set("max_steps", 5)?.set("learning_rate", 1e-4)?;
    /// let fitted = Forecaster::new([spec])?.start_from(&fitted).fit(&this_year)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If two of the models are the same but for their weights.
    pub fn from_fitted(fitted: &Fitted) -> Result<Self, Error> {
        let specs = fitted.models().iter().map(|model| model.spec().clone());
        Ok(Self::new(specs)?.start_from(fitted))
    }

    /// Steps that the models forecast.
    pub fn h(&self) -> usize {
        self.plan.h()
    }

    /// The names of the models' columns, without the suffixes of their outputs.
    pub fn column_names(&self) -> Vec<String> {
        self.plan.column_names()
    }

    /// The columns of the data that the models read beside the target, without those that
    /// [features](Forecaster::features) compute, for [`ReadOptions::columns`](crate::ReadOptions).
    pub fn columns_read(&self) -> Vec<String> {
        columns_given(self.plan.models(), &self.plan.pipeline.features)
    }

    /// The columns of these and of the static ones that hold categories, for
    /// [`ReadOptions::categories`](crate::ReadOptions).
    pub fn categories(&self) -> Vec<String> {
        categorical(self.plan.models())
    }

    /// Holds out the last `val_size` steps of each series to validate on; 0, the default, holds out
    /// none.
    pub fn val_size(mut self, val_size: usize) -> Self {
        self.plan.val_size = val_size;
        self
    }

    /// Validates on the rows of this panel in place of the last ones of the training's (neuralforecast's `val_df`): windows whose
    /// horizons lie in it, the first of which see the end of the training's rows before them. It has the same series, with as many
    /// rows each; its times may be any, rows count as steps. Categories and the statistics of local scalers are those of the
    /// training's rows, features see the rows of each panel alone, and intervals are calibrated as if it were the last rows of the
    /// training's.
    pub fn val_data(mut self, panel: &Panel) -> Self {
        self.plan.validation = Some(panel.clone());
        self
    }

    /// Uses `threads` threads; 0, the default, as many as the machine has. Their number changes nothing
    /// in the result. With more than 1024 of them training is an error.
    pub fn threads(mut self, threads: usize) -> Self {
        self.plan.workers = Workers::new(threads);
        self
    }

    /// Uses these threads, which others may use at the same time.
    pub fn workers(mut self, workers: &Workers) -> Self {
        self.plan.workers = Ok(workers.clone());
        self
    }

    /// The type that the products of a network's training round their operands to: `f32`, the default, not at all. `bf16` is
    /// faster where the machine multiplies such numbers (AMX, AVX512-BF16) and needs no other learning rate; `f16` is more
    /// precise, and not faster.
    ///
    /// Linear layers, convolutions, recurrent layers and attention round, in both passes, and sum up in `f32`; what is kept for
    /// the backward pass takes 16 bits. Norms, softmax, losses, reductions and the optimiser are `f32`, and so are the
    /// weights, which are saved as ever. In `f16` the loss is scaled so that small gradients do not become zero; a step
    /// whose gradients overflow is skipped ([`Progress::skipped_steps`]). Validation and forecasts are `f32`.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.plan.step.precision = precision;
        self
    }

    /// Whether networks are trained in the least memory in place of the least time; false by default. A step has two arenas of gradients
    /// in place of up to 16, runs a few windows at a time, computes activations again in the backward pass, and keeps the others in
    /// bfloat16. The weights differ from those without by as much as training in bfloat16 changes them, and not by the number of
    /// threads. Forecasts by the same weights are the same.
    pub fn low_memory(mut self, low_memory: bool) -> Self {
        self.plan.step.low_memory = low_memory;
        self
    }

    /// How the steps of all trainings are computed, by networks and by what trains networks within:
    /// [`precision`](Forecaster::precision) and [`low_memory`](Forecaster::low_memory) in one.
    pub fn steps_as(mut self, step: StepSettings) -> Self {
        self.plan.step = step;
        self
    }

    /// Whether a network whose training early stopping ends goes back to the weights of its best check; true
    /// by default. neuralforecast keeps the last weights.
    pub fn restore_best(mut self, restore_best: bool) -> Self {
        self.plan.restore_best = restore_best;
        self
    }

    /// Whether the optimiser of each network is kept and saved with it; false by default. A training that
    /// [continues](Forecaster::start_from) from such a network continues with the optimiser, whose class must be the same, and with
    /// the draws of windows: by a schedule without changes, twice `n` steps are `2n` to the last bit. It takes as much room as the
    /// weights, Adam's twice as much.
    pub fn keep_optimizer(mut self, keep_optimizer: bool) -> Self {
        self.plan.keep_optimizer = keep_optimizer;
        self
    }

    /// Names the columns of the data; saved with the models.
    pub fn columns(mut self, columns: ColumnNames) -> Self {
        self.plan.pipeline.columns = columns;
        self
    }

    /// Computes columns from the target and the times, and has the models read them beside those that they read already, each model
    /// those that it can. They are saved with the models and computed anew for every forecast: nothing but the data is needed for
    /// them, and those of the target see in each row the rows before it alone.
    ///
    /// ```
    /// # use foretell::jiff::civil::date;
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel};
    /// # let wave = (0..120).map(|day| (day as f32 * 0.9).sin()).collect::<Vec<_>>();
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", date(2024, 1, 1), wave)])?;
    /// let spec = ModelSpec::new("MLP", 7, 28)?.set("max_steps", 2)?;
    /// let forecaster = Forecaster::new([spec])?.features("lag:7,weekday,holidays:DE".parse()?)?;
    /// assert!(forecaster.columns_read().is_empty());
    /// let forecast = forecaster.fit(&panel)?.predict(&panel, None)?;
    /// assert_eq!(forecast.n_rows(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If none of the models reads columns of such a kind.
    pub fn features(mut self, features: Features) -> Result<Self, Error> {
        self.plan.set_features(features)?;
        Ok(self)
    }

    /// Says how the data were read; models remember the settings that hold for files like these
    /// ([`ReadOptions::remembered`]), and [`Fitted::reading`](crate::Fitted::reading) gives it back.
    pub fn reading(mut self, options: &ReadOptions) -> Self {
        self.plan.pipeline.reading = options.remembered();
        self
    }

    /// Settings of the forecasts that the models keep, in place of those so far; but for `baselines`, `spread` and `dropout`, which
    /// [`Forecaster::baselines`] and [`Forecaster::intervals`] set.
    pub fn keep(mut self, settings: KeptSettings) -> Self {
        self.plan.pipeline.settings = settings.of_the_models(self.plan.pipeline.settings);
        self
    }

    /// The settings that the models will keep so far.
    pub fn kept_settings(&self) -> KeptSettings {
        self.plan.pipeline.settings
    }

    /// Has forecasts ([`Fitted::predict`](crate::Fitted::predict) and those of its kind) add up by this hierarchy; saved with the
    /// models. With a network of a distribution's loss this is HINT (Olivares et al., HINT: Hierarchical Mixture Networks for
    /// Coherent Probabilistic Forecasting, 2023), but any models will do.
    ///
    /// The panel has all series of the hierarchy, sums and parts ([`sum_series`](crate::sum_series)), and no others. Forecasts come in the order
    /// of the hierarchy; quantiles are those of 1000 coherent samples, drawn from the quantiles of each series
    /// ([`reconcile`](crate::reconcile)), and parameters of distributions are left out. Cross-validation and forecasts of the history
    /// add up as well.
    ///
    /// [`Reconciliation::MinTraceShrink`] and [`Reconciliation::MinTraceVar`] weigh series by the errors of the forecasts that intervals
    /// are calibrated on ([`Forecaster::intervals`]), or else of the last three horizons of each series, for which the models are trained
    /// once without them; these errors are saved too.
    ///
    /// # Errors
    /// If the method needs the history; [`reconcile`](crate::reconcile) takes it.
    pub fn hierarchy(mut self, hierarchy: Hierarchy, method: Reconciliation) -> Result<Self, Error> {
        self.plan.pipeline.coherence = Some(Arc::new(Coherence::of_training(hierarchy, method)?));
        Ok(self)
    }

    /// [`Forecaster::hierarchy`] by the method that suits the training, as [`Fitted::hierarchy`](crate::Fitted::hierarchy) says it then:
    /// [`Reconciliation::MinTraceVar`] where errors of past forecasts cost little, because intervals or weights are learnt of them
    /// anyway or no model is trained in steps, and every series is long enough for them; [`Reconciliation::MinTraceWls`] elsewhere.
    ///
    /// # Errors
    /// If the series are none of a hierarchy.
    pub fn hierarchy_by_default(mut self, hierarchy: Hierarchy) -> Result<Self, Error> {
        let coherence = Coherence::by_default(hierarchy, Reconciliation::usual(false))?;
        self.plan.pipeline.coherence = Some(Arc::new(coherence));
        Ok(self)
    }

    /// The hierarchy by which forecasts are to add up, if there is one.
    pub fn kept_hierarchy(&self) -> Option<&Hierarchy> {
        self.plan.pipeline.coherence.as_ref().map(|coherence| &coherence.hierarchy)
    }

    /// Scales the target and the numeric columns of each series by the series' own statistics, before
    /// windows are cut and scaled (`local_scaler_type`). In training they are those of the rows before the
    /// held-out ones; a panel to forecast is scaled by its own, as in neuralforecast. Forecasts are on the
    /// scale of the data.
    pub fn local_scaler(mut self, scaler: LocalScaler) -> Self {
        self.plan.pipeline.local_scalers.series = Some(scaler);
        self
    }

    /// Scales each static column by its statistics over the series (`local_static_scaler_type`).
    pub fn local_static_scaler(mut self, scaler: LocalScaler) -> Self {
        self.plan.pipeline.local_scalers.statics = Some(scaler);
        self
    }

    /// Refuses settings that no data would suit, as [`Forecaster::fit`] does, before any data are read.
    ///
    /// # Errors
    /// If columns of the forecasts have the same name, an ensemble has one model, or intervals are asked of a spread or a dropout that
    /// there is not.
    pub fn check(&self) -> Result<(), Error> {
        self.plan.check()
    }

    /// Calibrates prediction intervals of the models that forecast a single number, for
    /// [`PredictOptions::level`](crate::PredictOptions). [`Forecaster::fit`] trains twice then: first without
    /// the last steps of each series, by whose forecasts the intervals are calibrated, then from the start on
    /// everything. So the models are those of a training without intervals. If the listener interrupts the first
    /// training, the models are those of that training, and have no intervals.
    ///
    /// Other [`Intervals`] need no second training: those of networks by dropout, and those of ensembles by the spread of their
    /// members.
    pub fn intervals(mut self, intervals: impl Into<Intervals>) -> Self {
        match intervals.into() {
            Intervals::Calibrated(intervals) => self.plan.intervals = Some(intervals),
            Intervals::Dropout { samples } => self.plan.take_dropout(samples),
            Intervals::Spread => self.plan.pipeline.settings.spread = true,
        }
        self
    }

    /// Adds a column that combines the forecasts of all models, and the ends of intervals that all of them have, in place of the columns
    /// of models that [`Forecaster::start_from`] names. Saved with the models. [`Ensemble::Weighted`] learns its weights from a training before, as intervals are calibrated.
    ///
    /// ```
    /// # use foretell::{Ensemble, Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, (0..60).map(|day| (day % 7) as f32).collect::<Vec<_>>())])?;
    /// let specs = ["Naive", "SeasonalNaive"].map(|name| ModelSpec::new(name, 7, 1));
    /// let specs = specs.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// let fitted = Forecaster::new(specs)?.ensemble(Ensemble::Weighted { n_windows: 3 }).fit(&panel)?;
    /// let forecast = fitted.predict(&panel, None)?;
    /// assert_eq!(forecast.column("EnsembleWeighted"), forecast.column("SeasonalNaive"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ensemble(mut self, ensemble: Ensemble) -> Self {
        self.plan.ensembles.retain(|other| other.column() != ensemble.column());
        self.plan.ensembles.push(ensemble);
        self
    }

    /// Leaves out what the models that [`Forecaster::start_from`] names keep beside their weights: ensembles, features, local scalers, bounds,
    /// the treatment of ends, baselines, intervals by dropout or spread. For hosts that say all of these again.
    pub fn without_settings(mut self) -> Self {
        self.plan.start.ensembles.clear();
        self.plan.pipeline.features = Features::default();
        self.plan.pipeline.local_scalers = LocalScalers::default();
        self.plan.pipeline.settings = KeptSettings::default();
        self
    }

    /// Leaves out the calibrated intervals that were asked for ([`intervals`](Self::intervals)).
    pub fn without_intervals(mut self) -> Self {
        self.plan.intervals = None;
        self
    }

    /// What the models of a training on this panel depend on: their hyper-parameters, the columns that they read, the settings. Two
    /// trainings of one identity come to the same models.
    ///
    /// # Errors
    /// If the panel lacks a column that a model reads, or has no categories where one reads some.
    pub fn identity(&self, panel: &Panel) -> Result<Value, Error> {
        self.plan.identity(panel)
    }

    /// Makes the last this many models baselines: they are forecast and scored, but are members of no
    /// ensemble. 0 by default.
    pub fn baselines(mut self, count: usize) -> Self {
        self.plan.pipeline.settings.baselines = count;
        self
    }

    /// Calls `listener` after every step of training, with the name of the model's column; it may stop
    /// the model's training. Models that are trained side by side report their steps in turns.
    pub fn on_progress(mut self, listener: impl FnMut(&str, &Progress) -> Verdict + Send + 'static) -> Self {
        self.plan.listener = Box::new(listener);
        self
    }

    /// Asks `question`, often and from several threads, whether anyone still waits for the training of models that take no steps, such as
    /// classical ones, and for the forecasts of a cross-validation. As soon as it says no they are given up: [`Forecaster::fit`] keeps
    /// the models that were trained before, and a cross-validation is [`Error::NotWanted`]. A training of steps is ended by the listener
    /// of [`Forecaster::on_progress`].
    pub fn while_wanted(mut self, question: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.plan.wanted = Some(Arc::new(question));
        self
    }

    /// Calls `listener` with every [`Warning`], as soon as it is known; by default they are dropped. The [`Fitted`] of the training has
    /// the same listener.
    pub fn on_warning(mut self, listener: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        self.plan.warnings = WarningListener::new(listener);
        self
    }

    /// Keeps the state of training in `dir` every `every_steps` steps, and resumes from there if `dir` holds it: a run that was
    /// killed, or that the listener interrupted, ends with the same weights, to the last bit, as one that was not. It must be
    /// the same training: models, settings and data. The state of a finished run stays until
    /// [`remove_training_state`](crate::remove_training_state).
    ///
    /// # Panics
    /// If `every_steps` is 0.
    pub fn checkpoint_to(mut self, dir: impl Into<PathBuf>, every_steps: u64) -> Self {
        assert!(every_steps > 0, "a state every 0 steps");
        self.plan.checkpointing = Some(Checkpointing::new(dir.into(), every_steps));
        self
    }

    /// Has work that would take more memory than this refused before it takes it, as far as that can be foreseen:
    /// parameters, gradients, the optimiser's state, windows, panels and forecasts; what models keep of their
    /// windows is estimated. By default [`MemoryLimit::of_machine`]; the [`Fitted`] that comes of the training has
    /// the same limit.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.plan.memory = MemoryLimit::of_bytes(bytes);
        self
    }

    /// The limit of [`max_memory`](Self::max_memory), in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.plan.memory.bytes()
    }

    /// Trains together with other processes, each of which has a forecaster of the same models, settings and data and calls the
    /// same methods in the same order; by default there is [`OneProcess`](crate::own_estimator::OneProcess). All of them end with
    /// the same models, whose weights do not depend on how many they are, to the last bit. A training that differs in one of them is
    /// an error of [`Forecaster::fit`] in all. The first keeps the state of [`Forecaster::checkpoint_to`], in a directory that all see,
    /// and the listener of any stops all of them.
    pub fn reduction(mut self, reduction: impl Reduction + Send + 'static) -> Self {
        self.plan.reduction = Arc::new(reduction);
        self
    }

    /// Goes on from trained models in place of new weights: each network from the one whose column has its name, with its weights,
    /// its running statistics and the categories that it knows. Hyper-parameters of training may differ from theirs
    /// (`max_steps`, `learning_rate`, `loss` of as many outputs, ...), those that change the shape of a weight may not. The optimiser
    /// begins anew. Names of columns, how data are read, features, local scalers, the treatment of ends and bounds, and the ensembles of all
    /// models with their weights are taken over; what is set after this holds in their place. Intervals that were calibrated are those of
    /// the models as they were, and only stay with models that do ([`Forecaster::untrained`]). [`Forecaster::from_fitted`] begins with the same hyper-parameters.
    pub fn start_from(mut self, fitted: &Fitted) -> Self {
        let trained = &fitted.trained;
        self.plan.start.set_models(trained);
        self.plan.pipeline.clone_from(&trained.pipeline);
        self
    }

    /// Leaves parameters of the networks unchanged, by their whole names or by the beginnings of names up to a point: `blocks.0` are
    /// the parameters of a first block, `NHITS.blocks.0` those of the network whose column is `NHITS`, where there are others that
    /// have none. A network that has none of a name refuses it at [`Forecaster::fit`].
    pub fn freeze(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.plan.start.frozen = names.into_iter().map(Into::into).collect();
        self
    }

    /// Leaves the models that [`Forecaster::start_from`] names unchanged: [`Forecaster::cross_validate`] then scores them on data
    /// that they need not have seen, beside models that are trained.
    pub fn untrained(mut self) -> Self {
        self.plan.start.untrained = true;
        self
    }

    /// The rows that each series needs for [`Forecaster::fit`]; [`Panel::without_shorter_than`] leaves out the others.
    pub fn rows_needed(&self) -> usize {
        self.plan.rows_needed_before(0)
    }

    /// Trains the models on all of the panel but the last `val_size` steps: side by side those that would leave
    /// threads idle, the others one after the other.
    ///
    /// # Errors
    /// If a column is missing, a series is too short, or training cannot continue; if more than 1024 threads were asked
    /// for, or a precision that this program was built without (the feature `amp`).
    pub fn fit(mut self, panel: &Panel) -> Result<Fitted, Error> {
        let panel = &self.plan.held(panel);
        warn_of_data(&self.plan, panel);
        // Cross-validation names them where it is asked for levels.
        self.plan.warn_of_no_dropout();
        if let Some(intervals) = self.plan.start.left_intervals().filter(|_| self.plan.intervals.is_none()) {
            self.plan.warnings.warn(&Warning::LeftIntervals { intervals: intervals.to_string() });
        }
        let (trained, interruption) = self.plan.fit_before(panel, 0)?;
        warn_of_early_ends(&self.plan, panel);
        Ok(Fitted::of(trained, interruption))
    }
}

/// Names and sizes, not every hyper-parameter.
impl fmt::Debug for Forecaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forecaster")
            .field("models", &self.plan.column_names())
            .field("h", &self.plan.h())
            .finish()
    }
}

/// Further training.
impl Fitted {
    /// The models trained further, on these data, with the hyper-parameters and settings that they have: a network takes `max_steps` steps
    /// more. [`Forecaster::start_from`] sets others, and freezes parameters.
    ///
    /// # Errors
    /// Those of [`Forecaster::from_fitted`] and [`Forecaster::fit`].
    pub fn fit_more(&self, panel: &Panel) -> Result<Self, Error> {
        Forecaster::from_fitted(self)?.fit(panel)
    }
}
