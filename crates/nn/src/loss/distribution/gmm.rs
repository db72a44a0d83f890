//! Mixtures of normal distributions.

use super::mixture::{Component, Mixture};
use super::normal::Normal;

pub(crate) type Gmm = Mixture<Gaussian, 2>;

#[derive(Clone, Debug)]
pub(crate) struct Gaussian;

impl Component<2> for Gaussian {
    type Family = Normal;

    const FAMILY: Normal = Normal;
    const PARAMETERS: [&'static str; 2] = ["-mu", "-std"];
    const COMPONENTS: usize = 1;
    const CORRELATED: bool = true;
    const COUNTS: bool = false;

    fn cdf([mean, deviation]: [f64; 2], x: f64) -> f64 {
        0.5 * libm::erfc((mean - x) / deviation * std::f64::consts::FRAC_1_SQRT_2)
    }
}
