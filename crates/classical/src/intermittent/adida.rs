//! Demand summed over the mean interval.

use super::{at_rate, mean_interval, smoothing, sums};
use crate::hyper::HyperParameter;
use crate::local::{LocalMethod, SeriesForecast, known};

/// Sums the demand over as many steps as lie between two demands on average, smooths the sums, and divides the result among the
/// steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adida;

impl LocalMethod for Adida {
    const NAME: &'static str = "ADIDA";
    const PAPER: &'static str =
        "Nikolopoulos et al. 2011, An aggregate-disaggregate intermittent demand approach";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];
    const IS_DEMAND: bool = true;

    fn completed(y: Vec<f64>) -> Vec<f64> {
        known(y)
    }

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let rate = mean_interval(y).map(|steps| smoothing::best_smoothed(&sums(y, steps)) / steps as f64);
        Some(at_rate(y, rate.unwrap_or(0.0), h))
    }
}
