//! The part that all classical forecasters share: an estimator around a method.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell_data::Panel;
use foretell_estimator::{
    Asked, Estimator, EstimatorEntry, EstimatorError, ForecastValues, HeldOut, Learned, LevelsSeen, Output,
    Run, SeriesNumbers, Trained, Workers,
};
use serde_json::{Map, Value};

use crate::error::ClassicalError;
use crate::hyper::{self, HyperParameter};

/// A method: the part in which one classical forecaster differs from another.
pub trait Method: Clone + Default + fmt::Debug + Send + Sync + 'static {
    /// The estimator's name.
    const NAME: &'static str;

    /// Where it is described.
    const PAPER: &'static str;

    /// Its hyper-parameters beside `h` and `alias`.
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>];

    /// Whether it forecasts any quantile; if not, intervals are calibrated like those of any forecast of a single number.
    const HAS_QUANTILES: bool = true;

    /// Whether it learns of each series, which takes all threads.
    const LEARNS: bool = false;

    /// The method with the numbers that it learns of the panel as a whole; those of each series go to `learned`.
    #[must_use]
    fn fitted(&self, panel: &Panel, learned: &mut SeriesNumbers, workers: &Workers) -> Self;

    /// The forecasts of all windows: a point forecast, then the quantiles that are asked for. The panel may hold other series
    /// than those that were `learned` from.
    ///
    /// # Errors
    /// If a window cannot be forecast.
    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        learned: &SeriesNumbers,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError>;
}

/// A classical forecaster before training, which does not forecast; [`TrainedClassical`] is it afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Classical<M> {
    /// Steps to forecast.
    pub h: usize,
    /// The name of its column; `None` for the method's.
    pub alias: Option<String>,
    /// How it forecasts.
    pub method: M,
}

/// A classical forecaster that was trained. Its hyper-parameters are settled, such as the season by the frequency of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedClassical<M> {
    estimator: Classical<M>,
    learned: Arc<SeriesNumbers>,
}

impl<M: Method> Classical<M> {
    /// One that forecasts so many steps, with default hyper-parameters.
    pub fn new(h: usize) -> Self {
        Self { h, alias: None, method: M::default() }
    }

    /// The entry by which it is found.
    pub const fn entry() -> EstimatorEntry {
        EstimatorEntry {
            name: M::NAME,
            paper: M::PAPER,
            new: |h| Box::new(Self::new(h)),
            restore: |estimator, learned| {
                let estimator: Box<dyn Any> = estimator;
                let own = estimator.downcast::<Self>().map_err(|_| format!("it is no {}", M::NAME))?;
                let learned = Arc::new(SeriesNumbers::restored(learned)?);
                Ok(Box::new(TrainedClassical { estimator: *own, learned }))
            },
        }
    }

    /// The same trained.
    pub(crate) fn trained(&self, panel: &Panel, held_out: HeldOut, run: &Run<'_>) -> TrainedClassical<M> {
        let mut learned = SeriesNumbers::default();
        let method = self.method.fitted(&panel.without_last(held_out.rows()), &mut learned, run.workers);
        TrainedClassical { estimator: Self { method, ..self.clone() }, learned: Arc::new(learned) }
    }
}

impl<M: Method> Estimator for Classical<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn levels_seen(&self) -> LevelsSeen {
        LevelsSeen::Any
    }

    fn alias(&self) -> &str {
        self.alias.as_deref().unwrap_or(M::NAME)
    }

    fn horizon(&self) -> usize {
        self.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        let refuse = |expected| ClassicalError::value(M::NAME, name, expected, &value);
        match name {
            "h" => self.h = hyper::steps(&value).ok_or_else(|| refuse(hyper::STEPS))?,
            "alias" => self.alias = hyper::alias(&value).ok_or_else(|| refuse(hyper::ALIAS))?,
            _ => hyper::set(&mut self.method, M::NAME, M::HYPER_PARAMETERS, name, &value)?,
        }
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        let own = M::HYPER_PARAMETERS.iter().map(|known| (known.name.to_owned(), (known.get)(&self.method)));
        let h = ("h".to_owned(), Value::from(self.h));
        std::iter::once(h).chain(own).chain([("alias".to_owned(), self.alias.clone().into())]).collect()
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        match name {
            "h" => Some("Steps to forecast."),
            "alias" => Some("The name of the model's column in forecasts; null for the model's own."),
            _ => M::HYPER_PARAMETERS.iter().find(|known| known.name == name).map(|known| known.meaning),
        }
    }

    fn takes_all_threads(&self) -> bool {
        M::LEARNS
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        if !M::HAS_QUANTILES {
            return None;
        }
        let quantile = |&q: &f64| Output { suffix: format!("-q{q}"), quantile: Some(q as f32) };
        Some(std::iter::once(Output::point()).chain(quantiles.iter().map(quantile)).collect())
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        Ok(Box::new(self.trained(panel, held_out, &run)))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

impl<M: Method> Trained for TrainedClassical<M> {
    fn estimator(&self) -> &dyn Estimator {
        &self.estimator
    }

    fn reaches_any_horizon(&self) -> bool {
        true
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        self.estimator.method.forecast(panel, asked, &self.learned, workers)
    }

    fn held_bytes(&self) -> [u64; 2] {
        [self.learned.bytes(), 0]
    }

    fn learned(&self) -> Learned {
        self.learned.learned().clone()
    }
}
