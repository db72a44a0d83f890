//! Mixtures of Poisson distributions.

use super::mixture::{Component, Mixture};
use super::poisson::Poisson;

pub(crate) type Pmm = Mixture<Counts, 1>;

#[derive(Clone, Debug)]
pub(crate) struct Counts;

impl Component<1> for Counts {
    type Family = Poisson;

    /// A component's rate is kept further from 0 than that of a Poisson distribution by itself.
    const FAMILY: Poisson = Poisson { floor: 1e-3 };
    const PARAMETERS: [&'static str; 1] = ["-lambda"];
    const COMPONENTS: usize = 10;
    const CORRELATED: bool = true;
    const COUNTS: bool = true;

    fn cdf(parameters: [f64; 1], x: f64) -> f64 {
        Poisson::cdf(parameters, x)
    }
}
