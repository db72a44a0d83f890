//! Trained networks as ONNX files.

use foretell_nn::{Dims, WeightPrecision};
use foretell_onnx::{OnnxExport, ScaledColumns};

use crate::error::NetworkError;
use crate::trained_network::TrainedNetwork;
use crate::windows::{Purpose, window_dims};

impl TrainedNetwork {
    /// The bytes of an ONNX file that forecasts as this network does, with window scaling, columns and quantiles inside:
    /// [`OnnxExport::graph`] has its inputs and output. `name` is the model's in the forecast's columns. Weights are `f32`,
    /// however they are held.
    ///
    /// # Errors
    /// If ONNX has no operation for something that the network, or its loss, does.
    pub fn onnx(&self, name: &str) -> Result<Vec<u8>, NetworkError> {
        let (spec, mut params) = (&self.spec, self.params.clone());
        params.hold(WeightPrecision::F32);
        let dims = window_dims(spec, self.network.needs, Purpose::Forecast);
        let columns = [spec.hist_exog_list(), spec.futr_exog_list(), spec.stat_exog_list()];
        let columns = columns.map(|names| ScaledColumns {
            names: names.to_vec(),
            holds_numbers: names.iter().map(|name| !spec.cat_exog_list().contains(name)).collect(),
        });
        let loss = spec.loss().clone().without_horizon_weight();
        let export = OnnxExport {
            name,
            network: &self.network,
            params: &params,
            dims: Dims { horizon: spec.h(), ..dims },
            multivariate: spec.is_multivariate(),
            loss: &loss,
            scaler: spec.scaler(),
            exclude_insample_y: spec.common().exclude_insample_y,
            random_seed: spec.common().random_seed,
            columns,
        };
        export.graph().map_err(|source| NetworkError::Onnx { model: name.to_owned(), source })
    }
}
