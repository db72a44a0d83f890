//! MLPMultivariate: fully connected layers on the windows of all series as one long row.
//!
//! The multivariate form of [`mlp`](crate::linear::mlp): Rosenblatt 1958, "The perceptron"; rectified units after Nair and
//! Hinton 2010.

use foretell_nn::{Dims, Forward, HyperParameterError, Inputs, Model, Needs, Scope, SeriesPerWindow, Var};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::linear::shared::dense_layers::{DenseLayers, DenseSizes, row_of_window};
use crate::mixer::shared::multivariate::multivariate_defaults;

hyper_parameters! {
    MlpMultivariate {
        ..sizes: DenseSizes = DenseSizes::default(),
    }
}

struct Network {
    dims: Dims,
    layers: DenseLayers,
}

impl Architecture for MlpMultivariate {
    const NAME: &'static str = "MLPMultivariate";
    const PAPER: &'static str = "Rosenblatt 1958; Nair and Hinton 2010";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const HIDDEN_UNITS: &'static [&'static str] = &["hidden_size"];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        vec![json!({ "hidden_size": 48 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let row = row_of_window(dims).saturating_mul(dims.n_series);
        let outputs = (dims.horizon * dims.outputs).saturating_mul(dims.n_series);
        let layers = self.sizes.layers(scope, row, outputs);
        Ok(Box::new(Network { dims: *dims, layers }))
    }
}

impl Network {
    /// All series side by side in one row per window: of the target `[time, series]`, of historic and future columns
    /// `[column, time, series]`, of static ones `[series, column]`.
    fn flattened(&self, inputs: &Inputs) -> Var {
        let n = self.dims.n_series;
        let windows = inputs.batch() / n;
        let by_series = |steps: &Var| {
            let &[_, time, columns] = &*steps.shape() else { unreachable!("[rows, time, columns]") };
            let parts = steps.reshape([windows, n, time, columns]).permute(&[0, 3, 2, 1]);
            parts.reshape([windows, columns * time * n])
        };
        let mut parts = vec![by_series(&inputs.insample_y.unsqueeze(2))];
        parts.extend(inputs.hist_exog.iter().chain(&inputs.futr_exog).map(by_series));
        parts.extend(inputs.stat_exog.iter().map(|columns| {
            let count = columns.shape()[1];
            columns.reshape([windows, n * count])
        }));
        match &parts[..] {
            [only] => only.clone(),
            parts => Var::concat(&parts.iter().collect::<Vec<_>>(), 1),
        }
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { horizon, outputs, n_series, by_parameter, .. } = self.dims;
        let y = self.layers.forward(cx, self.flattened(inputs));
        let windows = y.shape()[0];
        // Outputs are laid out as neuralforecast's losses read them: quantiles and mixtures side by side for each series, the
        // parameters of a plain distribution with all series side by side for each parameter.
        let by_series = match by_parameter {
            false => y.reshape([windows, horizon, n_series, outputs]).permute(&[0, 2, 1, 3]),
            true => y.reshape([windows, horizon, outputs, n_series]).permute(&[0, 3, 1, 2]),
        };
        by_series.reshape([windows * n_series, horizon, outputs])
    }
}
