//! Croston's method in three forms.

use super::{at_rate, demands, intervals, smoothing};
use crate::hyper::HyperParameter;
use crate::local::{LocalMethod, SeriesForecast, known};

/// The parameter that sizes and intervals are smoothed by.
const ALPHA: f64 = 0.1;

/// The smoothed size of a demand by the smoothed interval between demands; `None` without any demand.
fn rate(y: &[f64], level: fn(&[f64]) -> f64) -> Option<f64> {
    let sizes = demands(y);
    (!sizes.is_empty()).then(|| level(&sizes) / level(&intervals(y)))
}

fn classic(y: &[f64]) -> Option<f64> {
    rate(y, |x| smoothing::smoothed(x, ALPHA))
}

macro_rules! croston {
    ($(#[$doc:meta])* $method:ident, $name:literal, $paper:literal, $rate:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $method;

        impl LocalMethod for $method {
            const NAME: &'static str = $name;
            const PAPER: &'static str = $paper;
            const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];
            const IS_DEMAND: bool = true;

            fn completed(y: Vec<f64>) -> Vec<f64> {
                known(y)
            }

            fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
                let rate: fn(&[f64]) -> Option<f64> = $rate;
                Some(at_rate(y, rate(y)?, h))
            }
        }
    };
}

croston!(
    /// The size of a demand by the interval between demands, both smoothed with 0.1.
    CrostonClassic, "CrostonClassic", "Croston 1972, Forecasting and Stock Control for Intermittent Demands", classic
);

croston!(
    /// The size of a demand by the interval between demands, both smoothed with the parameter from 0.1 to 0.3 that suits them best.
    CrostonOptimized, "CrostonOptimized", "Croston 1972, Forecasting and Stock Control for Intermittent Demands",
    |y| rate(y, smoothing::best_smoothed)
);

croston!(
    /// [`CrostonClassic`] without most of its bias: 0.95 times as much, after Syntetos and Boylan.
    CrostonSba, "CrostonSBA", "Syntetos and Boylan 2005, The accuracy of intermittent demand estimates",
    |y| classic(y).map(|rate| 0.95 * rate)
);
