//! An estimator before training.

use std::any::Any;
use std::fmt;

use foretell_data::Panel;
use serde_json::{Map, Value};

use crate::columns::{ColumnKind, ColumnsRead};
use crate::error::EstimatorError;
use crate::memory::MemoryEstimate;
use crate::outputs::Output;
use crate::run::{HeldOut, Run, TrainingSize};
use crate::trained::{Learned, Trained};

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

    /// All hyper-parameters with their values: two estimators of a name that have the same are the same.
    fn hyper_parameters(&self) -> Map<String, Value>;

    /// What the hyper-parameter of this name means, if it has one.
    fn meaning(&self, name: &str) -> Option<&'static str>;

    /// Whether its hyper-parameters fit together.
    ///
    /// # Errors
    /// If they contradict each other.
    fn check(&self) -> Result<(), EstimatorError> {
        Ok(())
    }

    /// Whether it can read columns of this kind beside the target.
    fn can_read(&self, kind: ColumnKind) -> bool {
        _ = kind;
        false
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

    /// Whether it forecasts all series of a panel together, not each from its own history.
    fn is_joint(&self) -> bool {
        false
    }

    /// Whether it can see a panel of so many series.
    ///
    /// # Errors
    /// If it forecasts another number of series together.
    fn check_n_series(&self, found: usize) -> Result<(), EstimatorError> {
        _ = found;
        Ok(())
    }

    /// The rows that a series needs to train it on.
    fn rows_needed(&self) -> usize {
        1
    }

    /// The last rows of a series that a forecast reads; the whole history by default.
    fn rows_read(&self) -> usize {
        usize::MAX
    }

    /// The rows of history without which its forecasts may be far off, as it sees zeros in place of those that are missing;
    /// none by default.
    fn rows_expected(&self) -> Option<usize> {
        None
    }

    /// Steps of its training at most; nothing where it needs no steps.
    fn max_steps(&self) -> Option<u64> {
        None
    }

    /// Whether its training keeps all threads at work, so that it is trained alone; else it is trained beside others.
    fn takes_all_threads(&self) -> bool {
        false
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
    /// If the panel lacks a column that it reads, a series is too short, or training cannot go on.
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

/// Makes a trained estimator of one with hyper-parameters and of what it has learned; the error is in words.
pub type Restore = fn(Box<dyn Estimator>, &Learned) -> Result<Box<dyn Trained>, String>;

/// A kind of estimators, found by its name.
#[derive(Clone, Copy, Debug)]
pub struct EstimatorEntry {
    /// Its name.
    pub name: &'static str,
    /// Where it is described: a paper, or a chapter.
    pub paper: &'static str,
    /// One with default hyper-parameters that forecasts so many steps.
    pub new: fn(h: usize) -> Box<dyn Estimator>,
    /// The trained one that has learned this ([`Trained::learned`]).
    pub restore: Restore,
}
