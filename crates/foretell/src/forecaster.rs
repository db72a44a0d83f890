//! Forecasters before training and after it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use foretell_checkpoint::FittedScaler;
use foretell_data::{DataError, Frame, Freq, LocalScaler, Panel, Vocabulary};
use foretell_nn::check_amp;
use foretell_train::{Precision, Progress, TooManyThreads, TrainConfig, Verdict, Workers};

use crate::categories::{categorical, check_categorical, encode_categories, vocabulary};
use crate::columns::{ColumnNames, column_names, columns_read};
use crate::conformal::{Conformal, PredictionIntervals};
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::interruption::Interruption;
use crate::levels::check;
use crate::local_scalers::{LocalScalers, LocallyScaled};
use crate::memory_limit::MemoryLimit;
use crate::resume::Checkpointing;
use crate::side_by_side::side_by_side;
use crate::spec::ModelSpec;
use crate::training::{TrainingLock, train, train_config};
use crate::usage_error::UsageError;
use crate::warning::WarningListener;
use crate::windows::least_rows;

/// Called after each step of training with the name of the model's column and the state after the step.
type ModelListener = Box<dyn FnMut(&str, &Progress) -> Verdict + Send>;

/// Models before training.
///
/// It cannot predict; [`Forecaster::fit`] turns it into a [`Fitted`], which can.
pub struct Forecaster {
    pub(crate) specs: Vec<ModelSpec>,
    pub(crate) val_size: usize,
    workers: Result<Workers, TooManyThreads>,
    pub(crate) restore_best: bool,
    columns: ColumnNames,
    pub(crate) local_scalers: LocalScalers,
    pub(crate) intervals: Option<PredictionIntervals>,
    listener: ModelListener,
    pub(crate) warnings: WarningListener,
    pub(crate) checkpointing: Option<Checkpointing>,
    pub(crate) memory: MemoryLimit,
    pub(crate) precision: Precision,
    /// Trainings that it has done: one, but for intervals and for refitting.
    pub(crate) trainings: usize,
}

/// Trained models. Cloning shares their weights.
#[derive(Clone)]
pub struct Fitted {
    pub(crate) models: Vec<FittedModel>,
    pub(crate) freq: Freq,
    pub(crate) columns: ColumnNames,
    pub(crate) local_scalers: LocalScalers,
    /// The statistics that series and static columns were scaled by in training, which saved directories hold.
    pub(crate) scalers: [BTreeMap<String, FittedScaler>; 2],
    /// The categories of training.
    pub(crate) vocabulary: Vocabulary,
    pub(crate) workers: Workers,
    pub(crate) raw_quantiles: bool,
    pub(crate) conformal: Option<Conformal>,
    pub(crate) interruption: Option<Interruption>,
    pub(crate) warnings: WarningListener,
    pub(crate) memory: MemoryLimit,
}

impl Forecaster {
    /// Models to be trained on the same panel.
    ///
    /// # Errors
    /// If there is none, if they forecast different horizons, if two are the same, or if the hyper-parameters of one do
    /// not fit together.
    pub fn new(specs: impl IntoIterator<Item = ModelSpec>) -> Result<Self, Error> {
        let specs: Vec<ModelSpec> = specs.into_iter().collect();
        let first = specs.first().ok_or(UsageError::NoModels)?;
        for (place, spec) in specs.iter().enumerate() {
            spec.check()?;
            if specs[..place].iter().any(|earlier| earlier == spec) {
                return Err(UsageError::Twins { model: spec.name() }.into());
            }
            if spec.h() != first.h() {
                let (h, other, found) = (first.h(), spec.alias().to_owned(), spec.h());
                let first = first.alias().to_owned();
                return Err(UsageError::Horizons { first, h, other, found }.into());
            }
            let namesake =
                specs.iter().find(|other| other.alias() == spec.alias() && other.name() != spec.name());
            if let Some(other) = namesake {
                let (alias, first, second) = (spec.alias().to_owned(), spec.name(), other.name());
                return Err(UsageError::Aliases { alias, first, second }.into());
            }
        }
        check_categorical(&specs)?;
        Ok(Self {
            specs,
            val_size: 0,
            workers: Workers::new(0),
            restore_best: true,
            columns: ColumnNames::default(),
            local_scalers: LocalScalers::default(),
            intervals: None,
            listener: Box::new(|_, _| Verdict::Continue),
            warnings: WarningListener::default(),
            checkpointing: None,
            memory: MemoryLimit::default(),
            precision: Precision::F32,
            trainings: 0,
        })
    }

    /// Steps that the models forecast.
    pub fn h(&self) -> usize {
        self.specs[0].h()
    }

    /// Holds out the last `val_size` steps of each series to validate on; 0, the default, holds out
    /// none.
    pub fn val_size(mut self, val_size: usize) -> Self {
        self.val_size = val_size;
        self
    }

    /// Whether the models will have these intervals.
    pub(crate) fn check_levels(&self, level: &[f64]) -> Result<(), Error> {
        let mut models = self.specs.iter().zip(column_names(&self.specs));
        models.try_for_each(|(spec, name)| check(&spec.loss(), &name, level, self.intervals.is_some()))
    }

    /// Steps that are held out to validate on.
    pub(crate) fn held_out(&self) -> usize {
        self.val_size
    }

    /// The columns of the data that the models read beside the target, for
    /// [`ReadOptions::columns`](crate::ReadOptions).
    pub fn columns_read(&self) -> Vec<String> {
        columns_read(&self.specs)
    }

    /// The columns of these and of the static ones that hold categories, for
    /// [`ReadOptions::categories`](crate::ReadOptions).
    pub fn categories(&self) -> Vec<String> {
        categorical(&self.specs)
    }

    /// Uses `threads` threads; 0, the default, as many as the machine has. Their number changes nothing
    /// in the result. With more than 1024 of them training is an error.
    pub fn threads(mut self, threads: usize) -> Self {
        self.workers = Workers::new(threads);
        self
    }

    /// Uses these threads, which others may use at the same time.
    pub fn workers(mut self, workers: &Workers) -> Self {
        self.workers = Ok(workers.clone());
        self
    }

    /// What the products of training round their operands to: `f32`, the default, not at all. `bf16` is faster where the machine
    /// multiplies such numbers (AMX, AVX512-BF16) and needs no other learning rate; `f16` is more precise, and not faster.
    ///
    /// Linear layers, convolutions, recurrent layers and attention round, in both passes, and sum up in `f32`; what is kept for
    /// the backward pass takes 16 bits. Norms, softmax, losses, reductions and the optimiser are `f32`, and so are the
    /// weights, which are saved as ever. In `f16` the loss is scaled so that small gradients do not become zero; a step
    /// whose gradients overflow is skipped ([`Progress::skipped_steps`]). Validation and forecasts are `f32`.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Whether a model whose training early stopping ends goes back to the weights of its best check; true
    /// by default. neuralforecast keeps the last weights.
    pub fn restore_best(mut self, restore_best: bool) -> Self {
        self.restore_best = restore_best;
        self
    }

    /// Names the columns of the data; saved with the models.
    pub fn columns(mut self, columns: ColumnNames) -> Self {
        self.columns = columns;
        self
    }

    /// Scales the target and the numeric columns of each series by the series' own statistics, before
    /// windows are cut and scaled (`local_scaler_type`). In training they are those of the rows before the
    /// held-out ones; a panel to forecast is scaled by its own, as in neuralforecast. Forecasts are on the
    /// scale of the data.
    pub fn local_scaler(mut self, scaler: LocalScaler) -> Self {
        self.local_scalers.series = Some(scaler);
        self
    }

    /// Scales each static column by its statistics over the series (`local_static_scaler_type`).
    pub fn local_static_scaler(mut self, scaler: LocalScaler) -> Self {
        self.local_scalers.statics = Some(scaler);
        self
    }

    /// Calibrates prediction intervals of the models that forecast a single number, for
    /// [`PredictOptions::level`](crate::PredictOptions). [`Forecaster::fit`] trains twice then: first without
    /// the last steps of each series, by whose forecasts the intervals are calibrated, then from the start on
    /// everything. So the models are those of a training without intervals. If the listener interrupts the first
    /// training, the models are those of that training, and have no intervals.
    pub fn intervals(mut self, intervals: PredictionIntervals) -> Self {
        self.intervals = Some(intervals);
        self
    }

    /// Calls `listener` after every step of training, with the name of the model's column; it may stop
    /// the model's training. Models that are trained side by side report their steps in turns.
    pub fn on_progress(mut self, listener: impl FnMut(&str, &Progress) -> Verdict + Send + 'static) -> Self {
        self.listener = Box::new(listener);
        self
    }

    /// The rows that each series needs for [`Forecaster::fit`]; [`Panel::without_shorter_than`] leaves out the others.
    pub fn rows_needed(&self) -> usize {
        self.rows_needed_before(0)
    }

    /// The rows that each series needs if the last `test_size` are not trained on: an input of every model, and
    /// what is held out or calibrated on after it.
    pub(crate) fn rows_needed_before(&self, test_size: usize) -> usize {
        let input = self.specs.iter().map(least_rows).max().unwrap_or(1);
        let calibration =
            self.intervals.map_or(0, |intervals| intervals.test_size(self.h()).saturating_add(1));
        input.max(calibration).saturating_add(self.val_size).saturating_add(test_size)
    }

    /// Trains the models on all of the panel but the last `val_size` steps: side by side those that would leave
    /// threads idle, the others one after the other.
    ///
    /// # Errors
    /// If a column is missing, a series is too short, or training cannot go on; if more than 1024 threads were asked
    /// for, or a precision that this program was built without (the feature `amp`).
    pub fn fit(mut self, panel: &Panel) -> Result<Fitted, Error> {
        self.fit_before(panel, 0)
    }

    /// Trains on the panel without its last `test_size` steps, and calibrates intervals there.
    pub(crate) fn fit_before(&mut self, panel: &Panel, test_size: usize) -> Result<Fitted, Error> {
        let Some(intervals) = self.intervals else { return self.train_before(panel, test_size, true) };
        let known = panel.without_last(test_size);
        intervals.check_for(self.specs.iter(), &known, self.val_size)?;
        Fitted::check_calibration(&self.memory, &known, intervals, (self.specs.len(), self.h()))?;
        let earlier = self.train_before(&known, intervals.test_size(self.h()), false)?;
        if earlier.interrupted() {
            return Ok(earlier);
        }
        let conformal = Conformal::measure(&earlier, &known, self.val_size, intervals)?;
        Ok(Fitted { conformal: Some(conformal), ..self.train_before(panel, test_size, true)? })
    }

    /// Trains the models once, without the last `test_size` steps. `last` is whether no further training follows: before that,
    /// an interruption is reported even if all models are trained.
    fn train_before(&mut self, panel: &Panel, test_size: usize, last: bool) -> Result<Fitted, Error> {
        check_amp(self.precision.name())?;
        let h = self.h();
        if self.val_size > 0 && self.val_size < h {
            return Err(UsageError::ValSize { h, found: self.val_size }.into());
        }
        self.check_columns(&[])?;
        self.specs.iter().try_for_each(|spec| spec.check_n_series(panel.n_series()))?;
        let vocabulary = vocabulary(&self.specs, &panel.without_last(test_size))?;
        let workers = self.workers.clone()?;
        self.check_training(panel, self.val_size.saturating_add(test_size), &vocabulary, workers.threads())?;
        let encoded = encode_categories(panel, &vocabulary)?;
        let state_files = self.state_files(&encoded, test_size)?;
        let scaled = self.local_scalers.scale(encoded, self.val_size + test_size)?;
        let (names, listener) = (column_names(&self.specs), Mutex::new(&mut self.listener));
        let (stop, lock) = (AtomicBool::new(false), TrainingLock::default());
        let models = side_by_side(self.specs.len(), workers.threads(), &stop, |i| {
            let mut listen = |progress: &Progress| {
                let mut listener = listener.lock().unwrap_or_else(PoisonError::into_inner);
                let verdict = listener(&names[i], progress);
                match stop.fetch_or(verdict == Verdict::Interrupt, Relaxed) {
                    true => Verdict::Interrupt,
                    false => verdict,
                }
            };
            let spec = self.specs[i].clone().with_cardinalities(&vocabulary).with_n_series(panel.n_series());
            let (restore_best, precision) = (self.restore_best, self.precision);
            let config = TrainConfig { restore_best, precision, ..train_config(&spec) };
            let sizes = [self.val_size, test_size];
            let state_files = state_files.as_ref().map(|state_files| (state_files, i));
            let trained =
                train(&spec, &scaled.panel, sizes, &config, (&workers, &lock), state_files, &mut listen);
            stop.fetch_or(trained.is_err(), Relaxed);
            trained
        });
        let models: Vec<FittedModel> = models.into_iter().collect::<Result<_, _>>()?;
        self.warnings.warn_of_fewer_threads(&workers);
        self.trainings += 1;
        let cut_short = |model: &FittedModel| model.outcome.is_some_and(|outcome| outcome.interrupted);
        let interrupted =
            models.len() < self.specs.len() || models.iter().any(cut_short) || (stop.into_inner() && !last);
        let interruption = interrupted.then(|| Interruption::of(&models, &names, state_files.as_ref()));
        let scalers = scaled.stored(&self.columns.target);
        Ok(Fitted {
            models,
            freq: panel.freq(),
            columns: self.columns.clone(),
            local_scalers: self.local_scalers,
            scalers,
            vocabulary,
            workers,
            raw_quantiles: false,
            conformal: None,
            interruption,
            warnings: self.warnings.clone(),
            memory: self.memory.clone(),
        })
    }

    /// No two columns of a forecast may have the same name; it has these `further` ones.
    pub(crate) fn check_columns(&self, further: &[&str]) -> Result<(), Error> {
        let ColumnNames { id, time, target } = &self.columns;
        let mut taken: Vec<String> = vec![id.clone(), time.clone(), target.clone(), "cutoff".to_owned()];
        taken.extend(further.iter().map(|&name| name.to_owned()));
        for (spec, name) in self.specs.iter().zip(column_names(&self.specs)) {
            taken.extend(spec.loss().suffixes().iter().map(|suffix| format!("{name}{suffix}")));
        }
        let twice = (0..taken.len()).find(|&i| taken[..i].contains(&taken[i]));
        twice.map_or(Ok(()), |i| Err(UsageError::Columns { name: taken.swap_remove(i) }.into()))
    }
}

impl Fitted {
    /// The models.
    pub fn models(&self) -> &[FittedModel] {
        &self.models
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
        self.models[0].spec.h()
    }

    /// The frequency of the data that they were trained on.
    pub fn freq(&self) -> Freq {
        self.freq
    }

    /// What the columns of the data were called.
    pub fn columns(&self) -> &ColumnNames {
        &self.columns
    }

    /// The columns of the data that the models read beside the target, for
    /// [`ReadOptions::columns`](crate::ReadOptions).
    pub fn columns_read(&self) -> Vec<String> {
        columns_read(self.models.iter().map(|model| &model.spec))
    }

    /// The columns of these and of the static ones that hold categories, for
    /// [`ReadOptions::categories`](crate::ReadOptions).
    pub fn categories(&self) -> Vec<String> {
        self.vocabulary.keys().cloned().collect()
    }

    /// A panel as the models see it, scaled by the statistics of all rows but the last `held_out` of each series.
    pub(crate) fn seen<'p>(&self, panel: &'p Panel, held_out: usize) -> Result<LocallyScaled<'p>, DataError> {
        self.scaled_with(self.local_scalers, panel, held_out)
    }

    /// The same with these scalers.
    pub(crate) fn scaled_with<'p>(
        &self,
        local_scalers: LocalScalers,
        panel: &'p Panel,
        held_out: usize,
    ) -> Result<LocallyScaled<'p>, DataError> {
        local_scalers.scale(encode_categories(panel, &self.vocabulary)?, held_out)
    }

    /// Uses `threads` threads; 0, the default for loaded models, as many as the machine has. Models that use the
    /// same number share them.
    ///
    /// # Errors
    /// If there are more than 1024.
    pub fn threads(mut self, threads: usize) -> Result<Self, Error> {
        self.workers = Workers::new(threads)?;
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
        self.workers = workers.clone();
        self
    }

    /// Whether the quantiles of a forecast stay as the model gave them. By default those of each step are
    /// sorted, so that none lies above a higher one.
    pub fn raw_quantiles(mut self, raw: bool) -> Self {
        self.raw_quantiles = raw;
        self
    }

    pub(crate) fn check_frequency(&self, panel: &Panel) -> Result<(), Error> {
        let (trained, found) = (self.freq, panel.freq());
        if trained == found { Ok(()) } else { Err(Error::Frequency { trained, found }) }
    }

    /// An empty frame with the names of these columns, for times like the panel's.
    pub(crate) fn frame(&self, panel: &Panel) -> Frame {
        let ColumnNames { id, time, .. } = self.columns.clone();
        let (zone, integer_ids) = (panel.zone().cloned(), panel.has_integer_ids());
        Frame { id_col: id, time_col: time, zone, integer_ids, ..Frame::new(self.freq) }
    }

    /// The names of the models' columns, without the suffixes of their outputs.
    pub fn column_names(&self) -> Vec<String> {
        let specs: Vec<ModelSpec> = self.models.iter().map(|model| model.spec.clone()).collect();
        column_names(&specs)
    }
}
