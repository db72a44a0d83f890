//! Demand summed over several numbers of steps.

use super::{at_rate, mean_interval, smoothing, sums};
use crate::hyper::HyperParameter;
use crate::local::{LocalMethod, SeriesForecast, known};

/// The mean of forecasts like those of [`Adida`](super::Adida), of sums over one step up to the mean interval between demands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imapa;

impl LocalMethod for Imapa {
    const NAME: &'static str = "IMAPA";
    const PAPER: &'static str =
        "Petropoulos and Kourentzes 2015, Forecast combinations for intermittent demand";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];
    const IS_DEMAND: bool = true;

    fn completed(y: Vec<f64>) -> Vec<f64> {
        known(y)
    }

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let rate = mean_interval(y).map_or(0.0, |most| {
            let rate = |steps: usize| smoothing::best_smoothed(&sums(y, steps)) / steps as f64;
            (1..=most).map(rate).sum::<f64>() / most as f64
        });
        Some(at_rate(y, rate, h))
    }
}
