//! The last value, repeated.

use foretell_data::Panel;
use foretell_estimator::{
    Asked, Estimator, EstimatorEntry, EstimatorError, ForecastValues, HeldOut, Output, Run, Trained, Workers,
};
use serde_json::{Map, Value};

use crate::hyper::{self, HyperParameter};
use crate::repeated::forecast;

/// Forecasts the last known value of each series. Its quantiles are those of a random walk with normal steps: their deviation
/// is that of the history's steps, times the root of the steps ahead.
///
/// Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naive {
    /// Steps to forecast.
    pub h: usize,
    /// The name of its column; `None` for its own.
    pub alias: Option<String>,
}

impl Naive {
    /// One that forecasts so many steps.
    pub fn new(h: usize) -> Self {
        Self { h, alias: None }
    }
}

pub(crate) const ENTRY: EstimatorEntry = EstimatorEntry {
    name: NAME,
    paper: "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2",
    new: |h| Box::new(Naive::new(h)),
    restore: |estimator, _| {
        let naive: Box<dyn std::any::Any> = estimator;
        Ok(naive.downcast::<Naive>().map_err(|_| format!("it is no {NAME}"))?)
    },
};

const NAME: &str = "Naive";

const HYPER_PARAMETERS: &[HyperParameter<Naive>] = &[
    HyperParameter {
        name: "h",
        meaning: "Steps to forecast.",
        expected: hyper::STEPS,
        get: |naive| naive.h.into(),
        set: |naive, value| hyper::steps(value).map(|found| naive.h = found),
    },
    HyperParameter {
        name: "alias",
        meaning: "The name of the model's column in forecasts; null for the model's own.",
        expected: hyper::ALIAS,
        get: |naive| naive.alias.clone().into(),
        set: |naive, value| hyper::alias(value).map(|found| naive.alias = found),
    },
];

impl Estimator for Naive {
    fn name(&self) -> &'static str {
        NAME
    }

    fn alias(&self) -> &str {
        self.alias.as_deref().unwrap_or(NAME)
    }

    fn horizon(&self) -> usize {
        self.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        Ok(hyper::set(self, NAME, HYPER_PARAMETERS, name, &value)?)
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        hyper::all(self, HYPER_PARAMETERS)
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        hyper::meaning(HYPER_PARAMETERS, name)
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        Some(outputs_at(quantiles))
    }

    fn fit(&self, _: &Panel, _: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
        Ok(Box::new(self.clone()))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// A point forecast, then its quantiles.
pub(crate) fn outputs_at(quantiles: &[f64]) -> Vec<Output> {
    let quantile = |&q: &f64| Output { suffix: format!("-q{q}"), quantile: Some(q as f32) };
    std::iter::once(Output::point()).chain(quantiles.iter().map(quantile)).collect()
}

impl Trained for Naive {
    fn estimator(&self) -> &dyn Estimator {
        self
    }

    fn reaches_any_horizon(&self) -> bool {
        true
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        _: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        forecast(panel, asked, 1)
    }
}
