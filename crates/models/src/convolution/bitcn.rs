//! BiTCN: two stacks of dilated convolutions, of which one reads the history and the other, from its end, what is known of the
//! future.
//!
//! Sprangers, Schelter, de Rijke 2023, "Parameter-efficient deep probabilistic forecasting" (arXiv 2112.02905), section 4. As in
//! neuralforecast the steps of the history become those of the horizon by two linear layers over time.

use foretell_nn::{
    Activation, Conv1d, Dims, Forward, HyperParameterError, Init, Inputs, Linear, Model, Needs, Padding,
    ParamId, Scope, Table, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LITTLE_MEMORY};
use crate::hyper::hyper_parameters;
use crate::rules;

hyper_parameters! {
    BiTcn {
        /// Channels of the convolutions, and units of the layers over time.
        hidden_size: usize = 16 => rules::units,
        /// Dropout of the columns' embeddings, in each convolution, and between the layers over time.
        dropout: f64 = 0.5 => rules::dropout,
    }
}

/// Activations are `[windows, steps, channels]` throughout.
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

/// A convolution of two taps, and a linear layer that makes of it what is added to the state and what is added to the result.
struct Cell {
    convolution: [ParamId; 2],
    moves: Conv1d,
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
        let backward = Cell::stack(&mut scope.at("net_bwd"), hidden, input_size, |steps| [steps, 0]);
        let future = (futr_exog > 0).then(|| {
            let embedding = Linear::new(&mut scope.at("lin_futr"), futr_exog, hidden);
            let steps = input_size + horizon;
            (embedding, Cell::stack(&mut scope.at("net_fwd"), hidden, steps, |steps| [0, steps]))
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
    /// As many cells as let the last one see `steps` steps; `padding` is zeros before and behind for so many steps between two
    /// taps.
    fn stack(
        scope: &mut Scope<'_>,
        hidden: usize,
        steps: usize,
        padding: impl Fn(usize) -> [usize; 2],
    ) -> Vec<Self> {
        let depth = steps.next_power_of_two().trailing_zeros().max(1) as usize;
        let cell = |i: usize| {
            let (dilation, mut scope) = (1 << i, scope.at(i));
            let init = Init::fan_in(hidden.saturating_mul(2));
            let mut first = scope.at("conv1");
            let convolution =
                [first.param("weight", [hidden, hidden, 2], init), first.param("bias", [hidden], init)];
            let moves = Conv1d { dilation, padding: padding(dilation), ..Conv1d::default() };
            let split = Linear::pointwise(&mut scope.at("conv2"), [hidden, 2 * hidden], true);
            Self { convolution, moves, split }
        };
        (0..depth).map(cell).collect()
    }
}

impl Network {
    /// The sum of what the cells add to the result: `x [windows, steps, hidden]` to the same shape.
    fn read(&self, cx: &Forward<'_>, x: &Var, cells: &[Cell]) -> Var {
        // The state, and beside it the result.
        let mut both = x.pad(2, 0, self.hidden, Padding::Zeros);
        for cell in cells {
            let state = both.narrow(2, 0, self.hidden);
            let seen = cx.convolution(cell.convolution, &state, Activation::Gelu, cell.moves);
            both = both + cell.split.forward(cx, &cx.dropout(seen, self.dropout), Activation::Identity);
        }
        both.narrow(2, self.hidden, self.hidden)
    }

    /// `[y | hist | stat | futr]` of each step of the history.
    fn columns(&self, windows: &Inputs) -> Var {
        let steps = self.dims.input_size;
        let mut parts = vec![Var::constant(windows.insample_y.unsqueeze(2))];
        parts.extend(windows.hist_exog.clone());
        parts.extend(windows.stat_exog.iter().map(|columns| columns.repeat(1, steps)));
        parts.extend(windows.futr_exog.iter().map(|columns| columns.narrow(1, 0, steps)));
        Var::concat(&parts, 2)
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let embed =
            |layer: &Linear, x: &Var| cx.dropout(layer.forward(cx, x, Activation::Identity), self.dropout);
        let future = self.future.as_ref().zip(windows.futr_exog.as_ref());
        let future = future.map(|((layer, cells), columns)| self.read(cx, &embed(layer, columns), cells));
        let mut x = self.read(cx, &embed(&self.history, &self.columns(windows)), &self.backward);
        if let Some(future) = &future {
            x = Var::concat(&[x, future.narrow(1, 0, input_size)], 2);
        }
        let [first, second] = &self.temporal;
        let x = cx.dropout(first.forward_columns(cx, &x, Activation::Gelu), self.dropout);
        let mut x = second.forward_columns(cx, &x, Activation::Identity);
        if let Some(future) = &future {
            x = Var::concat(&[x, future.narrow(1, input_size, horizon)], 2);
        }
        self.output.forward(cx, &x, Activation::Identity)
    }

    fn saved_activations(&self, _: &Table) -> usize {
        let Dims { input_size, horizon, .. } = self.dims;
        // Kept of a cell: its input, what the convolution makes before and behind the activation, with dropout that, too.
        let of_cell = if self.dropout > 0.0 { 4 } else { 3 };
        let cells = |cells: &[Cell], steps: usize| (of_cell * cells.len() + 4).saturating_mul(steps);
        let future = self.future.as_ref().map_or(0, |(_, stack)| cells(stack, input_size + horizon));
        let read = cells(&self.backward, input_size).saturating_add(future);
        read.saturating_add(3 * (2 * self.hidden + horizon)).saturating_mul(self.hidden)
    }
}
