//! The size of a demand times its probability.

use super::{at_rate, demands, smoothing};
use crate::hyper::{self, HyperParameter};
use crate::local::{LocalMethod, SeriesForecast, known};

/// The smoothed size of a demand times the smoothed probability of one, which falls while there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tsb {
    /// The parameter that sizes are smoothed by.
    pub alpha_d: f64,
    /// The parameter that the probability is smoothed by.
    pub alpha_p: f64,
}

impl Default for Tsb {
    fn default() -> Self {
        Self { alpha_d: 0.1, alpha_p: 0.1 }
    }
}

impl LocalMethod for Tsb {
    const NAME: &'static str = "TSB";
    const PAPER: &'static str = "Teunter, Syntetos and Babai 2011, Intermittent demand: Linking forecasting to inventory obsolescence";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
        hyper::field!(
            "alpha_d",
            "The parameter that sizes of demands are smoothed by.",
            hyper::SHARE,
            hyper::share,
            alpha_d
        ),
        hyper::field!(
            "alpha_p",
            "The parameter that the probability of a demand is smoothed by.",
            hyper::SHARE,
            hyper::share,
            alpha_p
        ),
    ];
    const IS_DEMAND: bool = true;

    fn completed(y: Vec<f64>) -> Vec<f64> {
        known(y)
    }

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let sizes = demands(y);
        if sizes.is_empty() {
            return Some(at_rate(y, 0.0, h));
        }
        let demanded: Vec<f64> = y.iter().map(|&y| f64::from(u8::from(y != 0.0))).collect();
        let rate = smoothing::smoothed(&demanded, self.alpha_p) * smoothing::smoothed(&sizes, self.alpha_d);
        Some(at_rate(y, rate, h))
    }
}
