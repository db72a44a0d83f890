//! SOFTS: series exchange information through a core vector, which training draws from them.
//!
//! Han, Chen, Ye, Zhan 2024, "SOFTS: Efficient Multivariate Time Series Forecasting with Series-Core Fusion" (arXiv
//! 2404.14197). The layers are in [`star_aggregate`](crate::mixer::shared::star_aggregate).

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Scope, SeriesPerWindow};
use serde_json::Value;

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::mixer::shared::star_aggregate::StarSizes;

hyper_parameters! {
    Softs {
        ..sizes: StarSizes = StarSizes::default(),
    }
}

impl Architecture for Softs {
    const NAME: &'static str = "SOFTS";
    const PAPER: &'static str = "Han et al. 2024, arXiv 2404.14197";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const HIDDEN_UNITS: &'static [&'static str] = &["d_ff"];
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        StarSizes::small().into()
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        Ok(Box::new(self.sizes.network(dims, scope, None)?))
    }
}
