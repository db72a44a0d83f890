//! KAN: layers whose connections are splines, on the window as one long row.
//!
//! Liu, Wang, Vaidya, Ruehle, Halverson, Soljačić, Hou, Tegmark 2024, "KAN: Kolmogorov-Arnold networks" (arXiv 2404.19756), section 2;
//! as in neuralforecast the grid of the splines stays where it is.

use foretell_nn::{
    Dims, Forward, HyperParameterError, Inputs, Model, Needs, Scope, SplineLinear, SplineLinearConfig, Var,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::{hyper_parameters, require};
use crate::linear::shared::dense_layers::row_of_window;
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};

hyper_parameters! {
    Kan {
        /// Intervals that the grid of a spline cuts its range into.
        grid_size: usize = 5 => |intervals| rules::within(intervals, 1..=1000),
        /// Order of the splines.
        spline_order: usize = 3 => |order| rules::within(order, 1..=15),
        /// How large the noise is that splines start from, in intervals.
        scale_noise: f64 = 0.1,
        /// How much the weights of the base function, SiLU, are drawn smaller at first.
        scale_base: f64 = 1.0,
        /// How much the factors of the splines are drawn smaller at first.
        scale_spline: f64 = 1.0,
        /// No effect, as in neuralforecast: each spline has a factor of its own.
        enable_standalone_scale_spline: bool = true,
        /// No effect: the grid is not changed in training.
        grid_eps: f64 = 0.02,
        /// Where the grid begins and where it ends; `spline_order` intervals further on either side, splines are 0.
        grid_range: Vec<f64> = vec![-1.0, 1.0] => |range| {
            rules::require(range.len() >= 2 && range[0] < range[1], "two numbers, the smaller first")
        },
        /// Hidden layers.
        n_hidden_layers: usize = 1 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Units of every hidden layer, or a list with those of each.
        hidden_size: Widths = Widths::Same(512) => |widths| {
            let fit = match widths {
                Widths::Same(units) => (1..=MAX_UNITS).contains(units),
                Widths::Each(list) => list.iter().all(|units| (1..=MAX_UNITS).contains(units)),
            };
            rules::require(fit, format!("a number between 1 and {MAX_UNITS}, or a list of such"))
        },
    }
}

/// Units of hidden layers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Widths {
    Same(usize),
    Each(Vec<usize>),
}

struct Network {
    dims: Dims,
    layers: Vec<SplineLinear>,
}

impl Kan {
    /// The units of each hidden layer.
    fn widths(&self) -> Result<Vec<usize>, HyperParameterError> {
        match &self.hidden_size {
            Widths::Same(units) => Ok(vec![*units; self.n_hidden_layers]),
            Widths::Each(list) => {
                let expected =
                    format!("a list of {} numbers, one for each hidden layer", self.n_hidden_layers);
                require("hidden_size", list.len() == self.n_hidden_layers, expected, json!(list))?;
                Ok(list.clone())
            }
        }
    }
}

impl Architecture for Kan {
    const NAME: &'static str = "KAN";
    const PAPER: &'static str = "Liu et al. 2024, arXiv 2404.19756";
    const EXOGENOUS: Exogenous = Exogenous::ALL;

    fn common_defaults() -> Value {
        json!({ "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 6 }),
            json!({ "hidden_size": [4, 5], "n_hidden_layers": 2, "grid_size": 3, "spline_order": 2, "grid_range": [-2, 3] }),
        ]
    }

    fn unread(&self) -> Vec<String> {
        let found = self.grid_range.len();
        let sentence = || {
            format!(
                "grid_range has {found} numbers: as in neuralforecast the first 2 are read; leave the others out"
            )
        };
        (found > 2).then(sentence).into_iter().collect()
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let config = SplineLinearConfig {
            intervals: self.grid_size,
            order: self.spline_order,
            range: [self.grid_range[0] as f32, self.grid_range[1] as f32],
            noise: self.scale_noise as f32,
            base_scale: self.scale_base as f32,
            spline_scale: self.scale_spline as f32,
        };
        let mut scope = scope.at("layers");
        let mut inputs = row_of_window(dims);
        let mut layers = Vec::new();
        for (i, units) in self.widths()?.into_iter().chain([dims.horizon * dims.outputs]).enumerate() {
            layers.push(SplineLinear::new(&mut scope.at(i), inputs, units, &config));
            inputs = units;
        }
        Ok(Box::new(Network { dims: *dims, layers }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let x = self.layers.iter().fold(windows.flattened(), |x, layer| layer.forward(cx, &x));
        x.reshape([windows.batch(), self.dims.horizon, self.dims.outputs])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_two_ends() {
        let of = |grid_range: Vec<f64>| Kan { grid_range, ..Kan::default() };
        assert!(of(vec![-1.0, 1.0]).unread().is_empty());
        assert!(
            of(vec![-1.0, 1.0, 5.0])
                .unread()
                .concat()
                .contains("has 3 numbers: as in neuralforecast the first 2")
        );
    }
}
