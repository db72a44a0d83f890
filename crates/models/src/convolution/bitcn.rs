//! BiTCN: two stacks of dilated convolutions, of which one reads the history and the other, from its end, the columns that are
//! known of the future.
//!
//! Sprangers, Schelter, de Rijke 2023, "Parameter-efficient deep probabilistic forecasting" (arXiv 2112.02905), section 4. As in
//! neuralforecast the steps of the history become those of the horizon by two linear layers over time.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Init, Inputs, Linear, Model, Needs, ParamId, Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LITTLE_MEMORY};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::step_by_step::step_inputs;
use crate::rules;

hyper_parameters! {
    BiTcn {
        /// Channels of the convolutions, and units of the layers over time.
        hidden_size: usize = 16 => rules::units,
        /// Dropout of the columns' embeddings, in each convolution, and between the layers over time.
        dropout: f64 = 0.5 => rules::dropout,
    }
}

/// Activations are `[steps, windows, channels]` throughout.
struct Network {
    dims: Dims,
    hidden: usize,
    dropout: f32,
    /// Embeds the target and all columns of a step.
    history: Linear,
    backward: Vec<Cell>,
    /// Embeds the columns that are known ahead, and reads them from the end of the horizon.
    future: Option<(Linear, Vec<Cell>)>,
    temporal: [Linear; 2],
    output: Linear,
}

/// A convolution of two taps, and a linear layer that splits its output into one part added to the state and one to the result.
struct Cell {
    convolution: [ParamId; 2],
    dilation: usize,
    split: Linear,
}

impl Architecture for BiTcn {
    const NAME: &'static str = "BiTCN";
    const PAPER: &'static str = "Sprangers et al. 2023, arXiv 2112.02905";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] =
        &["`input_size=1` has a convolution, too; in neuralforecast it has none and is an error."];

    fn small() -> Vec<Value> {
        vec![json!({ "hidden_size": 5, "dropout": 0.1 }), json!({ "hidden_size": 8, "dropout": 0.0 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LITTLE_MEMORY, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let hidden = self.hidden_size;
        let &Dims { input_size, horizon, hist_exog, stat_exog, futr_exog, outputs, .. } = dims;
        let columns = 1 + hist_exog + stat_exog + futr_exog;
        let history = Linear::new(&mut scope.at("lin_hist"), columns, hidden);
        let backward = Cell::stack(&mut scope.at("net_bwd"), hidden, input_size);
        let future = (futr_exog > 0).then(|| {
            let embedding = Linear::new(&mut scope.at("lin_futr"), futr_exog, hidden);
            (embedding, Cell::stack(&mut scope.at("net_fwd"), hidden, input_size + horizon))
        });
        let temporal = [("temporal_lin1", input_size, hidden), ("temporal_lin2", hidden, horizon)]
            .map(|(name, inputs, outputs)| Linear::new(&mut scope.at(name), inputs, outputs));
        let read = if future.is_some() { hidden.saturating_mul(3) } else { hidden };
        let output = Linear::new(&mut scope.at("output_lin"), read, outputs);
        let dropout = self.dropout as f32;
        Ok(Box::new(Network { dims: *dims, hidden, dropout, history, backward, future, temporal, output }))
    }
}

impl Cell {
    /// As many cells as let the last one see `steps` steps.
    fn stack(scope: &mut Scope<'_>, hidden: usize, steps: usize) -> Vec<Self> {
        let depth = steps.next_power_of_two().trailing_zeros().max(1) as usize;
        let cell = |i: usize| {
            let mut scope = scope.at(i);
            let init = Init::fan_in(hidden.saturating_mul(2));
            let mut first = scope.at("conv1");
            let convolution =
                [first.param("weight", [hidden, hidden, 2], init), first.param("bias", [hidden], init)];
            let split = Linear::pointwise(&mut scope.at("conv2"), [hidden, 2 * hidden], true);
            Self { convolution, dilation: 1 << i, split }
        };
        (0..depth).map(cell).collect()
    }
}

impl Network {
    /// The sum of the cells' contributions to the result: `x [steps, windows, hidden]` to the same shape. With `turned`, the
    /// steps are in reverse order, and so are the taps of the kernels.
    fn read(&self, cx: &Forward<'_>, x: Var, cells: &[Cell], turned: bool) -> Var {
        let hidden = self.hidden;
        let (mut state, mut result) = (x, None);
        for (i, cell) in cells.iter().enumerate() {
            let [weight, bias] = cell.convolution.map(|id| cx.param(id));
            let weight = if turned { weight.flip(2) } else { weight };
            let seen = state.causal_convolution(&weight, &bias, Activation::Gelu, cell.dilation);
            let seen = cx.dropout(seen, self.dropout);
            let added = cell.split.rows(cx, &seen, hidden..2 * hidden);
            result = Some(match result {
                Some(result) => added + result,
                None => added,
            });
            // Nothing reads the state behind the last cell.
            if i + 1 < cells.len() {
                state = state + cell.split.rows(cx, &seen, 0..hidden);
            }
        }
        result.expect("at least one cell")
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let embed =
            |layer: &Linear, x: &Var| cx.dropout(layer.forward(cx, x, Activation::Identity), self.dropout);
        let future = self.future.as_ref().zip(windows.futr_exog.as_ref());
        let future = future.map(|((layer, cells), columns)| {
            let from_the_end = embed(layer, &columns.permute(&[1, 0, 2]).flip(0));
            self.read(cx, from_the_end, cells, true).flip(0)
        });
        let mut x = self.read(cx, embed(&self.history, &step_inputs(windows)), &self.backward, false);
        if let Some(future) = &future {
            x = Var::concat(&[x, future.narrow(0, 0, input_size)], 2);
        }
        let [first, second] = &self.temporal;
        let x = cx.dropout(first.forward_first_axis(cx, &x).activation(Activation::Gelu), self.dropout);
        let mut x = second.forward_first_axis(cx, &x);
        if let Some(future) = &future {
            x = Var::concat(&[x, future.narrow(0, input_size, horizon)], 2);
        }
        self.output.forward(cx, &x, Activation::Identity).permute(&[1, 0, 2])
    }
}
