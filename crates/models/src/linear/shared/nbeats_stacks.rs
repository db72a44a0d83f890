//! The doubly residual stacks of NBEATS and NBEATSx: each block subtracts its part from the history and adds its part
//! to the forecast (Oreshkin et al. 2020, section 3.2).
//!
//! As in neuralforecast, the history is reversed in time (exogenous columns are not), the forecast starts
//! from the last value, and no activation stands between the first two linear layers of a block.

use foretell_nn::{Dims, Forward, HyperParameterError, Inputs, Model, ParamId, Scope, Var};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::linear::shared::basis::{Trend, fill_seasonality, frequencies};
use crate::linear::shared::per_stack::{N_BLOCKS, PerStack};
use crate::linear::shared::perceptron::{Layers, Perceptron};
use crate::rules::MAX_LAYERS;

/// The basis in which the blocks of a stack explain a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stack {
    /// Every step on its own.
    Identity,
    /// Slow functions of time.
    Trend,
    /// Cosines and sines.
    Seasonality,
    /// Future and static columns.
    Exogenous,
}

impl Stack {
    fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Trend => "trend",
            Self::Seasonality => "seasonality",
            Self::Exogenous => "exogenous",
        }
    }
}

/// The stacks of a model.
pub(crate) struct Stacks<'a> {
    pub(crate) types: &'a [Stack],
    /// Blocks of each stack.
    pub(crate) n_blocks: &'a [usize],
    pub(crate) layers: Layers<'a>,
    /// Whether the blocks of a stack have one set of weights.
    pub(crate) shared_weights: bool,
    pub(crate) n_harmonics: usize,
    pub(crate) trend: Trend,
    /// The hyper-parameter that counts the functions of a trend beside the first: its name and its value.
    pub(crate) degree: (&'static str, usize),
}

/// The numbers of blocks of stacks.
pub(crate) fn blocks_of_stacks<'a>(types: &[Stack], n_blocks: &'a [usize]) -> PerStack<'a> {
    PerStack { stacks: types.len(), lists: vec![(N_BLOCKS, n_blocks)] }
}

impl Stacks<'_> {
    fn check(&self, dims: &Dims) -> Result<(), HyperParameterError> {
        let fault =
            |name: &str, expected: &str, found: Value| Err(HyperParameterError::new(name, expected, found));
        if self.types.is_empty() {
            return fault("stack_types", "a list of at least one stack", json!(self.types));
        }
        blocks_of_stacks(self.types, self.n_blocks).check()?;
        let of_time = |stack: &Stack| matches!(stack, Stack::Trend | Stack::Seasonality);
        if dims.horizon == 1 && self.types.iter().any(of_time) {
            let expected = "without \"trend\" and \"seasonality\" where h is 1";
            return fault("stack_types", expected, json!(self.types));
        }
        if dims.futr_exog + dims.stat_exog == 0 && self.types.contains(&Stack::Exogenous) {
            let expected = "without \"exogenous\" where there are no future and no static columns";
            return fault("stack_types", expected, json!(self.types));
        }
        let (name, degree) = self.degree;
        let least = self.trend.min_functions() - 1;
        if !(least..=MAX_LAYERS).contains(&degree) {
            return fault(name, &format!("between {least} and {MAX_LAYERS}"), json!(degree));
        }
        Ok(())
    }

    pub(crate) fn build(
        &self,
        dims: &Dims,
        scope: &mut Scope<'_>,
    ) -> Result<Box<dyn Model>, HyperParameterError> {
        self.check(dims)?;
        let mut scope = scope.at("blocks");
        let mut blocks: Vec<Block> = Vec::new();
        for (&stack, &count) in self.types.iter().zip(self.n_blocks) {
            for i in 0..count {
                let place = blocks.len();
                let block = if i > 0 && self.shared_weights {
                    scope.alias_all(place, place - 1);
                    blocks[place - 1].clone()
                } else {
                    self.block(stack, dims, &mut scope.at(place))
                };
                blocks.push(block);
            }
        }
        Ok(Box::new(Network { dims: *dims, blocks }))
    }

    fn block(&self, stack: Stack, dims: &Dims, scope: &mut Scope<'_>) -> Block {
        let Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, outputs, .. } = *dims;
        let inputs = input_size * (1 + hist_exog) + (input_size + horizon) * futr_exog + stat_exog;
        let basis = match stack {
            Stack::Identity => Basis::Identity,
            Stack::Exogenous => Basis::Exogenous,
            Stack::Trend => {
                let (trend, count) = (self.trend, self.degree.1 + 1);
                let mut scope = scope.at("basis");
                let mut constant =
                    |name, len| scope.constant(name, [count, len], move |out| trend.fill(count, len, out));
                let (backcast, forecast) =
                    (constant("backcast_basis", input_size), constant("forecast_basis", horizon));
                Basis::OfTime { count, backcast, forecast }
            }
            Stack::Seasonality => {
                let (harmonics, count) = (self.n_harmonics, 2 * frequencies(self.n_harmonics, horizon));
                let mut scope = scope.at("basis");
                let mut constant = |name, len, reversed| {
                    scope.constant(name, [count, len], move |out| {
                        fill_seasonality(harmonics, horizon, reversed, len, out);
                    })
                };
                let (backcast, forecast) = (
                    constant("backcast_basis", input_size, true),
                    constant("forecast_basis", horizon, false),
                );
                Basis::OfTime { count, backcast, forecast }
            }
        };
        let theta = match basis {
            Basis::Identity => input_size + horizon * outputs,
            Basis::OfTime { count, .. } => count * (1 + outputs),
            Basis::Exogenous => 2 * (futr_exog + stat_exog),
        };
        Block {
            stack,
            basis,
            perceptron: Perceptron::new(&mut scope.at("layers"), &self.layers, inputs, theta),
        }
    }
}

struct Network {
    dims: Dims,
    blocks: Vec<Block>,
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, .. } = self.dims;
        let batch = windows.batch();
        let as_basis = self.blocks.iter().any(|block| matches!(block.basis, Basis::Exogenous));
        let columns = Columns::of(windows, &self.dims, as_basis);
        let mask = Var::constant(windows.insample_mask.flip(1));
        let mut residual = windows.insample_y.flip(1);
        // The naive forecast: the last value at every step.
        let naive = windows.insample_y.narrow(1, input_size - 1, 1).unsqueeze(2);
        let mut forecast = naive.expand([batch, horizon, outputs]);
        cx.record_part(|| "level".to_owned(), &forecast);
        let last = self.blocks.len() - 1;
        for (i, block) in self.blocks.iter().enumerate() {
            let theta = block.perceptron.forward(cx, columns.block_inputs(&residual));
            let part = block.basis.forecast(cx, &theta, &columns, &self.dims);
            cx.record_part(|| format!("{}_{}", block.stack.name(), i + 1), &part);
            forecast = forecast.add(&part);
            if i < last {
                let backcast = block.basis.backcast(cx, &theta, &columns, &self.dims);
                residual = residual.sub(&backcast).mul(&mask);
            }
        }
        forecast
    }
}

#[derive(Clone)]
struct Block {
    stack: Stack,
    basis: Basis,
    perceptron: Perceptron,
}

/// How a block's coefficients become its parts of history and forecast.
#[derive(Clone, Copy)]
enum Basis {
    /// The coefficients are the parts: `[input_size | horizon * outputs]`.
    Identity,
    /// Functions of time, `backcast [count, input_size]` and `forecast [count, horizon]`, by coefficients
    /// `[count | count * outputs]`.
    OfTime { count: usize, backcast: ParamId, forecast: ParamId },
    /// Future columns, then static ones, by coefficients `[columns of the forecast | of the backcast]`, which all
    /// outputs share.
    Exogenous,
}

impl Basis {
    /// The part of the reversed history, `[batch, input_size]`. Exogenous columns are not reversed.
    fn backcast(self, cx: &Forward<'_>, theta: &Var, columns: &Columns, dims: &Dims) -> Var {
        match self {
            Self::Identity => theta.narrow(1, 0, dims.input_size),
            Self::OfTime { count, backcast, .. } => cx.product(&theta.narrow(1, 0, count), backcast),
            Self::Exogenous => {
                let (batch, count) = (theta.shape()[0], columns.count());
                let theta = theta.narrow(1, count, count).reshape([batch, count, 1]);
                columns.steps(0, dims.input_size).matmul(&theta).reshape([batch, dims.input_size])
            }
        }
    }

    /// The part of the forecast, `[batch, horizon, outputs]`, or `[batch, horizon, 1]` if it is the same for all
    /// outputs.
    fn forecast(self, cx: &Forward<'_>, theta: &Var, columns: &Columns, dims: &Dims) -> Var {
        let Dims { input_size, horizon, outputs, .. } = *dims;
        let batch = theta.shape()[0];
        match self {
            Self::Identity => {
                theta.narrow(1, input_size, horizon * outputs).reshape([batch, horizon, outputs])
            }
            Self::OfTime { count, forecast, .. } => {
                let theta = theta.narrow(1, count, count * outputs).reshape([batch, count, outputs]);
                let theta = theta.permute(&[0, 2, 1]).reshape([batch * outputs, count]);
                let parts = cx.product(&theta, forecast);
                parts.reshape([batch, outputs, horizon]).permute(&[0, 2, 1])
            }
            Self::Exogenous => {
                let theta = theta.narrow(1, 0, columns.count()).reshape([batch, columns.count(), 1]);
                columns.steps(input_size, horizon).matmul(&theta)
            }
        }
    }
}

/// The exogenous columns of a batch, as the blocks see them.
struct Columns {
    /// `[hist | futr | stat]`, each flattened to `[batch, -1]`.
    flat: Vec<Var>,
    /// Future columns, then static ones, `[batch, input_size + horizon, columns]`, where a block explains
    /// the target by them.
    known: Option<Var>,
}

impl Columns {
    fn of(windows: &Inputs, dims: &Dims, as_basis: bool) -> Self {
        let known = as_basis.then(|| {
            let stat = windows.stat_exog.as_ref().map(|stat| stat.repeat(1, dims.input_size + dims.horizon));
            let parts: Vec<Var> = windows.futr_exog.iter().cloned().chain(stat).collect();
            Var::concat(&parts.iter().collect::<Vec<_>>(), 2)
        });
        Self { flat: windows.flat_columns().collect(), known }
    }

    /// The inputs of a block: the residual, then all columns.
    fn block_inputs(&self, residual: &Var) -> Vec<Var> {
        std::iter::once(residual).chain(&self.flat).cloned().collect()
    }

    fn known(&self) -> &Var {
        self.known.as_ref().expect("they were asked for")
    }

    fn count(&self) -> usize {
        self.known().shape()[2]
    }

    fn steps(&self, start: usize, len: usize) -> Var {
        self.known().narrow(1, start, len)
    }
}
