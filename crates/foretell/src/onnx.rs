//! Trained networks as files that other programs run.

use crate::error::Error;
use crate::fitted::Fitted;
use crate::usage_error::UsageError;

impl Fitted {
    /// The bytes of an ONNX file of the network whose forecasts are in this column ([`Fitted::column_names`]); the only network where
    /// none is named. [`TrainedNetwork::onnx`](crate::TrainedNetwork::onnx) has the inputs and the output of its graph.
    ///
    /// The graph is the network alone: what is done to its forecasts afterwards (conformal intervals, ensembles, bounds, sums), and
    /// before it to series as wholes ([`Fitted::local_scalers`]) and columns that [`Fitted::features`] compute, is the caller's.
    ///
    /// # Errors
    /// If there is no such network, several and none is named, or ONNX has no operation for something that it does.
    pub fn onnx(&self, model: Option<&str>) -> Result<Vec<u8>, Error> {
        let names = self.column_names();
        let networks = self.models().iter().zip(&names);
        let networks: Vec<_> =
            networks.filter_map(|(fitted, name)| fitted.network().map(|network| (network, name))).collect();
        let found = match model {
            Some(model) => networks.iter().find(|(_, name)| *name == model),
            None => networks.first().filter(|_| networks.len() == 1),
        };
        let Some((network, name)) = found else {
            let names = networks.iter().map(|(_, name)| (*name).clone()).collect();
            return Err(UsageError::NoSuchNetwork { model: model.map(str::to_owned), found: names }.into());
        };
        network.onnx(name).map_err(Error::Network)
    }
}
