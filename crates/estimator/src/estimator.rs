//! The two traits: an estimator before training, and after it.

use std::any::Any;
use std::fmt;

use foretell_data::{Future, Panel};
use foretell_threads::Workers;
use serde_json::{Map, Value};

use crate::columns::ColumnsRead;
use crate::contributions::{Attribution, Contributions};
use crate::described::{Described, ForecastPart};
use crate::error::EstimatorError;
use crate::fallback::Fallback;
use crate::forecasts::{Asked, ForecastValues, Learned};
use crate::importances::ImportanceSum;
use crate::memory::MemoryEstimate;
use crate::needs::EstimatorNeeds;
use crate::outputs::Output;
use crate::progress::Outcome;
use crate::run::{HeldOut, Run, TrainingSize};

/// A model before training: what it is, and how it is trained.
pub trait Estimator: Any + fmt::Debug + Send + Sync {
    /// The model's name, such as `NHITS`.
    fn name(&self) -> &'static str;

    /// The name of its column in a forecast: its alias, or its name.
    fn alias(&self) -> &str;

    /// Steps that it forecasts.
    fn horizon(&self) -> usize;

    /// Sets a hyper-parameter.
    ///
    /// # Errors
    /// If it has none of that name, or it cannot have that value; the error names what was probably meant, or what the value
    /// may be.
    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError>;

    /// Settings that it passed over, as they change no forecast.
    fn passed_over(&self) -> &[String] {
        &[]
    }

    /// All hyper-parameters with their values: two estimators of a name that have the same are the same.
    fn hyper_parameters(&self) -> Map<String, Value>;

    /// The meaning of the hyper-parameter of this name, if it has one.
    fn meaning(&self, name: &str) -> Option<&'static str>;

    /// Whether its hyper-parameters fit together.
    ///
    /// # Errors
    /// If they contradict each other.
    fn check(&self) -> Result<(), EstimatorError> {
        Ok(())
    }

    /// What it needs and is, whatever the panel.
    fn needs(&self) -> EstimatorNeeds {
        EstimatorNeeds::default()
    }

    /// The columns that it reads beside the target.
    fn columns_read(&self) -> ColumnsRead<'_> {
        ColumnsRead::default()
    }

    /// The most categories that it can tell apart in a column, if it is limited.
    fn most_categories(&self, column: &str) -> Option<usize> {
        _ = column;
        None
    }

    /// The columns of its forecast.
    fn outputs(&self) -> Vec<Output> {
        vec![Output::point()]
    }

    /// The columns of its forecast with these quantiles in place of its own: a forecast of a single number, the quantiles in
    /// this order, then anything else. `None` if it has no others than its own.
    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        _ = quantiles;
        None
    }

    /// What forecasts of the series of this panel will lack, such as a season of which there are too few: a sentence each, with what
    /// to do about it; none by default.
    fn caveats(&self, panel: &Panel) -> Vec<String> {
        _ = panel;
        Vec::new()
    }

    /// The series of this panel that it does not forecast as its hyper-parameters say, by their places; none by default.
    fn fallbacks(&self, panel: &Panel) -> Vec<(usize, Fallback)> {
        _ = panel;
        Vec::new()
    }

    /// Numbers that it will have learned, and the memory that its training takes beside the panel.
    ///
    /// # Errors
    /// If its hyper-parameters do not fit together, or not to the panel.
    fn training_memory(
        &self,
        training: &TrainingSize<'_>,
    ) -> Result<(usize, MemoryEstimate), EstimatorError> {
        _ = training;
        Ok((0, MemoryEstimate::default()))
    }

    /// Trains it on the panel without the rows that are held out. The columns of categories hold their numbers.
    ///
    /// # Errors
    /// If the panel lacks a column that it reads, a series is too short, or training cannot continue.
    fn fit(&self, panel: &Panel, held_out: HeldOut, run: Run<'_>)
    -> Result<Box<dyn Trained>, EstimatorError>;

    /// A copy of it.
    fn boxed(&self) -> Box<dyn Estimator>;
}

impl Clone for Box<dyn Estimator> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// Two are equal if they are of the same name and have the same hyper-parameters.
impl PartialEq for dyn Estimator {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.hyper_parameters() == other.hyper_parameters()
    }
}

/// An estimator after training: it forecasts the windows of any panel.
pub trait Trained: Any + fmt::Debug + Send + Sync {
    /// The estimator that was trained.
    fn estimator(&self) -> &dyn Estimator;

    /// How its training ended; nothing for one that was loaded, or that needs no steps.
    fn outcome(&self) -> Option<&Outcome> {
        None
    }

    /// Whether it forecasts more steps than its horizon without forecasts that are fed back as known values.
    fn reaches_any_horizon(&self) -> bool {
        false
    }

    /// Whether its forecast of a single number may be a mean that is far from the median, as that of rare demand: then its quantiles have the
    /// median among them, or the mean would be taken for it.
    fn is_mean_far_from_median(&self) -> bool {
        false
    }

    /// The forecasts of all windows of a span.
    ///
    /// # Errors
    /// If the panel lacks a column that it reads, or has another number of series than it forecasts together.
    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError>;

    /// Paths of the steps after each series of the panel, `[series, paths, steps]`, each step drawn from what is forecast after the
    /// path's own steps before it. Draws depend on the seed, the series and its end. `None` for one that draws no such paths.
    fn paths(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        paths: usize,
        seed: u64,
        workers: &Workers,
    ) -> Option<Result<Vec<f32>, EstimatorError>> {
        _ = (panel, asked, paths, seed, workers);
        None
    }

    /// What it chose for the series in this place of those that it was trained on, which come in the order of their panel; `None` behind the
    /// last, and of an estimator that chooses nothing of each series.
    fn described(&self, place: usize) -> Option<Described> {
        _ = place;
        None
    }

    /// The series that it was trained on and forecasts by another form than the one that suits their history best, as that one's forecasts
    /// would be beyond what the history can justify; none by default.
    fn passed_over(&self) -> Vec<(String, Fallback)> {
        Vec::new()
    }

    /// The parts that its forecasts of the `h` steps after each series of the panel add up of; `None` of one whose forecasts have no parts.
    ///
    /// # Errors
    /// As [`Trained::forecast`]; [`WithoutParts`](crate::WithoutParts) of one that can say why its forecasts have none.
    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        _ = (panel, future, h, workers);
        None
    }

    /// The names of its inputs of a series, in the order of its [contributions](Trained::contributions), of forecasts of `h` steps:
    /// `column@step`, with steps counted from the last one of the history, which is 0, and static columns by their names alone; a column of
    /// the target is named `target`. Nothing of one whose inputs have no contributions.
    fn attributed_inputs(&self, target: &str, h: usize) -> Option<Vec<String>> {
        _ = (target, h);
        None
    }

    /// The contributions of its inputs to the forecasts of the `h` steps after each series of the panel, in the order of the series; of
    /// one that forecasts all series together, of all at once. `h` is the horizon, or any if it
    /// [reaches any](Trained::reaches_any_horizon); `output` is the number of one of its columns. `None` without
    /// [such inputs](Trained::attributed_inputs).
    ///
    /// # Errors
    /// If it has no such output, or cannot explain it by this method; if the panel lacks a column, or has another number of series than
    /// it forecasts together.
    fn contributions(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        (method, output): (Attribution, usize),
        workers: &Workers,
    ) -> Option<Result<Vec<Contributions>, EstimatorError>> {
        _ = (panel, future, h, method, output, workers);
        None
    }

    /// The weights that it gives columns and steps, to be gathered from its forecasts; nothing of one that weighs none.
    fn importances(&self) -> Option<Box<dyn ImportanceSum + '_>> {
        None
    }

    /// The same with quantiles from this many forecasts with dropout; nothing of one that takes none
    /// ([`EstimatorNeeds::takes_dropout_samples`]).
    fn with_dropout_samples(&self, samples: usize) -> Option<Box<dyn Trained>> {
        _ = samples;
        None
    }

    /// Bytes of what it has learned and of frozen weights that it reads, and of the copies that forecasts make of what it has learned.
    fn held_bytes(&self) -> [u64; 2] {
        [0, 0]
    }

    /// The memory that forecasts of this many windows of `h` steps of a panel take on this many threads, beside what it has learned, the
    /// panel and the forecasts.
    fn memory(&self, panel: &Panel, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        _ = (panel, windows, h, threads);
        MemoryEstimate::default()
    }

    /// The memory that its [contributions](Trained::contributions) to `h` steps of this many series take on this many threads, beside what
    /// forecasts of them take and the contributions.
    fn contribution_memory(
        &self,
        windows: usize,
        h: usize,
        method: Attribution,
        threads: usize,
    ) -> MemoryEstimate {
        _ = (windows, h, method, threads);
        MemoryEstimate::default()
    }

    /// The numbers that it has learned, for model directories: with its hyper-parameters all that
    /// [`EstimatorEntry::restore`](EstimatorEntry) needs. Nothing by default.
    fn learned(&self) -> Learned {
        Learned::default()
    }
}

/// Makes a trained estimator of one with hyper-parameters and of what it has learned; the error is in words.
pub type Restore = fn(Box<dyn Estimator>, Learned) -> Result<Box<dyn Trained>, String>;

/// A kind of estimators, found by its name.
#[derive(Clone, Copy, Debug)]
pub struct EstimatorEntry {
    /// Its name.
    pub name: &'static str,
    /// Where it is described: a paper, or a chapter.
    pub paper: &'static str,
    /// One with default hyper-parameters that forecasts this many steps.
    pub new: fn(h: usize) -> Box<dyn Estimator>,
    /// The trained one that has learned this ([`Trained::learned`]).
    pub restore: Restore,
}
