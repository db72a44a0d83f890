//! Mixtures of negative binomial distributions.

use super::mixture::{Component, Mixture};
use super::negative_binomial::NegativeBinomial;

pub(crate) type Nbmm = Mixture<Overdispersed, 2>;

#[derive(Clone, Debug)]
pub(crate) struct Overdispersed;

impl Component<2> for Overdispersed {
    type Family = NegativeBinomial;

    const FAMILY: NegativeBinomial = NegativeBinomial;
    const PARAMETERS: [&'static str; 2] = ["-total_count", "-probs"];
    const COMPONENTS: usize = 1;
    const CORRELATED: bool = false;
    const COUNTS: bool = true;

    /// The components' means are multiples of the window's location, as in neuralforecast. Where it is not positive, as in
    /// every window without a scaler, neuralforecast's means are 0 or negative whatever the model's outputs; here the location
    /// then counts as 1.
    fn window(loc: f64, _: f64) -> [f64; 2] {
        [0.0, if loc > 0.0 { loc } else { 1.0 }]
    }

    fn cdf(parameters: [f64; 2], x: f64) -> f64 {
        NegativeBinomial::cdf(parameters, x)
    }
}
