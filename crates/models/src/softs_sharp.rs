//! SOFTSSharp: SOFTS whose series know their place, in training by the toss of a coin.
//!
//! Ljubić, "SOFTSSharp: SOFTS extension with stochastic variable-position encoding" (in preparation; related: Ljubić,
//! Martinović, Volarić, Rozić, doi 10.1177/1088467X251380055). [`star_aggregate`](crate::star_aggregate) has the layers.

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Scope, SeriesPerWindow};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::mixing::QUANTILES_OF_SERIES;
use crate::registry::{Architecture, Exogenous, LARGE_WEIGHTS, multivariate_defaults};
use crate::rules;
use crate::star_aggregate::StarSizes;

hyper_parameters! {
    SoftsSharp {
        /// The probability with which training adds the encoding of the places of series; inference multiplies it by that.
        pe_keep_prob: f64 = 0.5 => |keep| rules::within(keep, 0.0..=1.0),
        ..sizes: StarSizes = StarSizes::default(),
    }
}

impl Architecture for SoftsSharp {
    const NAME: &'static str = "SOFTSSharp";
    const PAPER: &'static str = "Ljubić, in preparation; related: doi 10.1177/1088467X251380055";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const DIFFERENCES: &'static [&'static str] = &[
        QUANTILES_OF_SERIES,
        "The coin that decides whether a layer of a training step sees the places of series is tossed for each shard of the batch; \
         in neuralforecast for the whole batch.",
    ];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        // With these the coin of every layer says yes where a test asks whether all parameters learn.
        let mut small = StarSizes::small();
        small.iter_mut().for_each(|sizes| sizes["pe_keep_prob"] = json!(0.98));
        small.into()
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, shard_windows: LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let keep = self.pe_keep_prob;
        Ok(Box::new(self.sizes.network(dims, scope, Some(keep as f32))?))
    }
}
