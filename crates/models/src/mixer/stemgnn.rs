//! StemGNN: a graph of the series that attention finds, and gated linear layers on the spectrum of the mixed series.
//!
//! Cao, Wang, Duan, Zhang, Zhu, Huang, Tong, Xu, Bai, Tong, Zhang 2020, "Spectral Temporal Graph Neural Network for Multivariate
//! Time-series Forecasting" (arXiv 2103.07719), section 4. As in neuralforecast the transform is over the orders of the graph's
//! polynomials, of which the lowest is 0.

use foretell_nn::{
    Activation, Cell, Coupling, Dims, Forward, HyperParameterError, Init, Inputs, Linear, Model, Needs,
    ParamId, Recurrent, RecurrentSizes, Scope, SeriesPerWindow, Tensor, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::rules;

hyper_parameters! {
    StemGnn {
        /// Blocks: 2, as in neuralforecast.
        n_stacks: usize = 2 => |count| rules::within(count, 2..=2),
        /// Units of a block, as a multiple of `input_size`.
        multi_layer: usize = 5 => rules::units,
        /// Dropout of the graph.
        dropout_rate: f64 = 0.5 => rules::dropout,
        /// Slope below 0 of the activation behind which softmax weighs the series.
        leaky_rate: f64 = 0.2,
    }
}

/// Orders of the polynomials of the graph.
const ORDERS: usize = 4;

struct Network {
    dims: Dims,
    states: Recurrent,
    /// `[series, 1]` each.
    key: ParamId,
    query: ParamId,
    leaky_rate: f32,
    dropout: f32,
    blocks: [Block; 2],
    output: [Linear; 2],
}

struct Block {
    /// On the real parts and on the imaginary parts.
    spectrum: [[Gated; 3]; 2],
    /// `[1, orders, 1, units, units]`.
    weight: ParamId,
    forecast: [Linear; 2],
    /// Layers that compute the next block's input, from the mixed units and from this block's input; the last block has none.
    backcast: Option<[Linear; 2]>,
    units: usize,
}

/// A linear layer, multiplied with the sigmoid of another.
struct Gated {
    left: Linear,
    right: Linear,
}

impl Architecture for StemGnn {
    const NAME: &'static str = "StemGNN";
    const PAPER: &'static str = "Cao et al. 2020, arXiv 2103.07719";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES];

    fn common_defaults() -> Value {
        let mut defaults = multivariate_defaults();
        defaults["num_lr_decays"] = 3.into();
        defaults["scaler_type"] = "robust".into();
        defaults
    }

    fn small() -> Vec<Value> {
        vec![json!({ "multi_layer": 1 }), json!({ "multi_layer": 2, "dropout_rate": 0.0, "leaky_rate": 0.1 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, coupling: Coupling::Coupled, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let &Dims { input_size, horizon, n_series, outputs, .. } = dims;
        // PyTorch's `xavier_uniform_` of gain 1.414.
        let init = Init::Uniform { bound: 1.414 * (6.0 / (n_series as f32 + 1.0)).sqrt() };
        let [key, query] = ["weight_key", "weight_query"].map(|name| scope.param(name, [n_series, 1], init));
        let sizes = RecurrentSizes {
            cell: Cell::Gru,
            inputs: input_size,
            hidden: n_series,
            layers: 1,
            bias: true,
            projection: None,
            dropout: 0.0,
        };
        let states = Recurrent::new(&mut scope.at("GRU"), &sizes);
        let mut blocks = scope.at("stock_block");
        let units = input_size.saturating_mul(self.multi_layer);
        let blocks = [0, 1].map(|i| Block::new(&mut blocks.at(i), input_size, units, i == 0));
        let mut output = scope.at("fc");
        let output = [(0, input_size), (2, horizon.saturating_mul(outputs))]
            .map(|(name, outputs)| Linear::new(&mut output.at(name), input_size, outputs));
        Ok(Box::new(Network {
            dims: *dims,
            states,
            key,
            query,
            leaky_rate: self.leaky_rate as f32,
            dropout: self.dropout_rate as f32,
            blocks,
            output,
        }))
    }
}

impl Gated {
    fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        let mut layer = |name| Linear::new(&mut scope.at(name), inputs, outputs);
        Self { left: layer("linear_left"), right: layer("linear_right") }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        self.left.forward(cx, x, Activation::Identity) * self.right.forward(cx, x, Activation::Sigmoid)
    }

    /// Some of the outputs only.
    fn rows(&self, cx: &Forward<'_>, x: &Var, rows: std::ops::Range<usize>) -> Var {
        self.left.rows(cx, x, rows.clone()) * self.right.rows(cx, x, rows).activation(Activation::Sigmoid)
    }
}

impl Block {
    fn new(scope: &mut Scope<'_>, steps: usize, units: usize, passes_on: bool) -> Self {
        let spectrum = [0, 1].map(|part| {
            let mut layers = scope.at("GLUs");
            let widths = [ORDERS * steps, ORDERS.saturating_mul(units), ORDERS.saturating_mul(units)];
            [0, 1, 2]
                .map(|i| Gated::new(&mut layers.at(2 * i + part), widths[i], ORDERS.saturating_mul(units)))
        });
        // PyTorch's `xavier_normal_` of a weight of five dimensions.
        let init = Init::NormalOf { deviation: (2.0 / 5.0_f32).sqrt() / units as f32 };
        let weight = scope.param("weight", [1, ORDERS, 1, units, units], init);
        let mut linear = |name, inputs, outputs| Linear::new(&mut scope.at(name), inputs, outputs);
        let forecast = [linear("forecast", units, units), linear("forecast_result", units, steps)];
        let backcast =
            passes_on.then(|| [linear("backcast", units, steps), linear("backcast_short_cut", steps, steps)]);
        if !passes_on {
            Linear::unread(&mut scope.at("backcast_short_cut"), [steps, steps], true);
        }
        Self { spectrum, weight, forecast, backcast, units }
    }

    /// The forecast from `x [windows, series, steps]`, of the same shape, and the input of the next block. `graph` are the real
    /// and the imaginary parts of the spectrum's operators on the series, `[series * orders, series]` each.
    fn forward(&self, cx: &Forward<'_>, x: &Var, graph: &[Var; 2]) -> (Var, Option<Var>) {
        let units = self.units;
        let &[windows, series, steps] = &*x.shape() else { unreachable!("[windows, series, steps]") };
        let parts = [0, 1].map(|part| {
            let mixed = graph[part].matmul(x).reshape([windows * series, ORDERS * steps]);
            let [first, second, last] = &self.spectrum[part];
            // The inverse transform reads the real parts of three frequencies, and one imaginary part.
            let read = if part == 0 { 0..3 * units } else { units..2 * units };
            last.rows(cx, &second.forward(cx, &first.forward(cx, &mixed)), read)
        });
        let mixed = inverse_transform(&parts, units).reshape([windows, series, ORDERS * units]);
        let weight = cx.param(self.weight).reshape([ORDERS * units, units]);
        let mixed = mixed.linear_by_inputs(&weight, None, Activation::Identity);
        let [hidden, result] = &self.forecast;
        let forecast =
            result.forward(cx, &hidden.forward(cx, &mixed, Activation::Sigmoid), Activation::Identity);
        let rest = self.backcast.as_ref().map(|[backcast, short_cut]| {
            let known = short_cut.forward(cx, x, Activation::Identity);
            (backcast.forward(cx, &mixed, Activation::Identity) - known).activation(Activation::Sigmoid)
        });
        (forecast, rest)
    }
}

/// The four numbers whose spectrum has the real parts `[rows, 3 * units]` and, of its second frequency, the imaginary part
/// `[rows, units]`: `[rows, 4 * units]`.
fn inverse_transform([real, imaginary]: &[Var; 2], units: usize) -> Var {
    let [mean, wave, alternation] = [0, 1, 2].map(|i| real.narrow(1, i * units, units));
    let (even, odd) = (&mean + &alternation, mean - alternation);
    let (wave, imaginary) = (wave.scale(2.0), imaginary.scale(2.0));
    let numbers = [&even + &wave, &odd - &imaginary, even - wave, odd + imaginary];
    Var::concat(&numbers, 1).scale(0.25)
}

impl Network {
    /// The weights between series, `[series, series]`: attention to the states of a recurrent layer that reads one series after the
    /// other, its mean over the windows `x [windows, series, steps]`.
    fn attention(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let &[windows, series, _] = &*x.shape() else { unreachable!("[windows, series, steps]") };
        let states = self.states.forward(cx, &x.permute(&[1, 0, 2]), series, None).permute(&[1, 2, 0]);
        let key = cx.product(&states, self.key);
        let query = cx.product(&states, self.query).reshape([windows, 1, series]);
        let scores = (key + query).activation(Activation::LeakyRelu { slope: self.leaky_rate });
        cx.dropout(scores.softmax(2), self.dropout).mean(0)
    }

    /// The operators of the spectrum on the series, real and imaginary: `[series * orders, series]` each.
    fn graph(&self, cx: &Forward<'_>, x: &Var) -> [Var; 2] {
        let series = self.dims.n_series;
        let attention = self.attention(cx, x);
        let degree = attention.sum(1);
        let one = |shape: &[usize]| Var::constant(Tensor::full(shape, 1.0));
        let unit = Var::constant(Tensor::build([series, series], |unit| {
            unit.fill(0.0);
            unit.iter_mut().step_by(series + 1).for_each(|diagonal| *diagonal = 1.0);
        }));
        let symmetric = (&attention + attention.permute(&[1, 0])).scale(0.5);
        let shrunk = one(&[series]) / (degree.sqrt() + Var::constant(Tensor::scalar(1e-7)));
        let laplacian = (unit * degree.reshape([series, 1]) - symmetric)
            * shrunk.reshape([series, 1])
            * shrunk.reshape([1, series]);
        // Chebyshev's polynomials, with 0 for the lowest, as neuralforecast has it.
        let second = laplacian.matmul(&laplacian).scale(2.0);
        let third = laplacian.matmul(&second).scale(2.0) - &laplacian;
        // Their discrete Fourier transform over the orders 0, L, `second` and `third`.
        let zero = Var::constant(Tensor::zeros([series, series]));
        let minus = |x: &Var| x.scale(-1.0);
        let odd = &laplacian + &third;
        let real = [&odd + &second, minus(&second), &second - &odd, minus(&second)];
        let turned = &third - &laplacian;
        let imaginary = [zero.clone(), turned.clone(), zero, minus(&turned)];
        [real, imaginary].map(|orders| {
            let orders = orders.map(|order| order.reshape([series, 1, series]));
            Var::concat(&orders, 1).reshape([series * ORDERS, series])
        })
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, n_series, .. } = self.dims;
        let rows = inputs.batch();
        let x = inputs.insample_y.reshape([rows / n_series, n_series, input_size]);
        let graph = self.graph(cx, &x);
        let (forecast, rest) = self.blocks[0].forward(cx, &x, &graph);
        let rest = rest.expect("the first block leaves something to the second");
        let forecast = forecast + self.blocks[1].forward(cx, &rest, &graph).0;
        let [hidden, output] = &self.output;
        let hidden = hidden.forward(cx, &forecast, Activation::LeakyRelu { slope: 0.01 });
        output.forward(cx, &hidden, Activation::Identity).reshape([rows, horizon, outputs])
    }
}
