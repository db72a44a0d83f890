//! SOFTSSharp: SOFTS with an encoding of the positions of series, which training adds at random.
//!
//! Ljubić, "SOFTSSharp: SOFTS extension with stochastic variable-position encoding" (in preparation; related: Ljubić,
//! Martinović, Volarić, Rozić, doi 10.1177/1088467X251380055). The layers are in
//! [`star_aggregate`](crate::mixer::shared::star_aggregate).

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Scope, SeriesPerWindow};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::mixer::shared::star_aggregate::StarSizes;
use crate::rules;

hyper_parameters! {
    SoftsSharp {
        /// The probability with which training adds the encoding of the positions of series; inference multiplies the
        /// encoding by it.
        pe_keep_prob: f64 = 0.5 => |keep| rules::within(keep, 0.0..=1.0),
        ..sizes: StarSizes = StarSizes::default(),
    }
}

impl Architecture for SoftsSharp {
    const NAME: &'static str = "SOFTSSharp";
    const PAPER: &'static str = "Ljubić, in preparation; related: doi 10.1177/1088467X251380055";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const HIDDEN_UNITS: &'static [&'static str] = &["d_ff"];
    const DIFFERENCES: &'static [&'static str] = &[
        QUANTILES_OF_SERIES,
        "Whether a layer of a training step encodes the positions of series is drawn for each shard of the batch; in \
         neuralforecast for the whole batch.",
    ];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        // So high that every layer adds the encoding in the step in which a test wants a gradient for each parameter.
        let mut small = StarSizes::small();
        small.iter_mut().for_each(|sizes| sizes["pe_keep_prob"] = json!(0.98));
        small.into()
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let keep = self.pe_keep_prob;
        Ok(Box::new(self.sizes.network(dims, scope, Some(keep as f32))?))
    }
}
