//! The last season, repeated.

use foretell_data::{Panel, usual_season};
use foretell_estimator::{
    Asked, Estimator, EstimatorEntry, EstimatorError, ForecastValues, HeldOut, Output, Run, Trained, Workers,
};
use serde_json::{Map, Value};

use crate::hyper::{self, HyperParameter};
use crate::naive::outputs_at;
use crate::repeated::forecast;

/// Forecasts the last season of each series again and again. Its quantiles are normal: their deviation is that of the
/// history's changes from season to season, times the root of the seasons ahead.
///
/// Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeasonalNaive {
    /// Steps to forecast.
    pub h: usize,
    /// Steps of a season; `None` for the usual one of the data's frequency ([`usual_season`]).
    pub season_length: Option<usize>,
    /// The name of its column; `None` for its own.
    pub alias: Option<String>,
}

impl SeasonalNaive {
    /// One that forecasts so many steps, with the usual season of the data's frequency.
    pub fn new(h: usize) -> Self {
        Self { h, season_length: None, alias: None }
    }
}

pub(crate) const ENTRY: EstimatorEntry = EstimatorEntry {
    name: NAME,
    paper: "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2",
    new: |h| Box::new(SeasonalNaive::new(h)),
    restore: |estimator, _| {
        let seasonal: Box<dyn std::any::Any> = estimator;
        Ok(seasonal.downcast::<SeasonalNaive>().map_err(|_| format!("it is no {NAME}"))?)
    },
};

const NAME: &str = "SeasonalNaive";

const HYPER_PARAMETERS: &[HyperParameter<SeasonalNaive>] = &[
    HyperParameter {
        name: "h",
        meaning: "Steps to forecast.",
        expected: hyper::STEPS,
        get: |seasonal| seasonal.h.into(),
        set: |seasonal, value| hyper::steps(value).map(|found| seasonal.h = found),
    },
    HyperParameter {
        name: "season_length",
        meaning: "Steps of a season; null for the usual one of the data's frequency.",
        expected: "a whole number between 1 and 1000000, or null",
        get: |seasonal| seasonal.season_length.into(),
        set: |seasonal, value| {
            seasonal.season_length = if value.is_null() { None } else { Some(hyper::steps(value)?) };
            Some(())
        },
    },
    HyperParameter {
        name: "alias",
        meaning: "The name of the model's column in forecasts; null for the model's own.",
        expected: hyper::ALIAS,
        get: |seasonal| seasonal.alias.clone().into(),
        set: |seasonal, value| hyper::alias(value).map(|found| seasonal.alias = found),
    },
];

impl Estimator for SeasonalNaive {
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

    fn fit(&self, panel: &Panel, _: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
        let season = self.season_length.unwrap_or_else(|| usual_season(panel.freq()));
        Ok(Box::new(Self { season_length: Some(season), ..self.clone() }))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

impl Trained for SeasonalNaive {
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
        let season = self.season_length.unwrap_or_else(|| usual_season(panel.freq()));
        forecast(panel, asked, season)
    }
}
