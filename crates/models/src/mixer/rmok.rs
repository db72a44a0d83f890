//! RMoK: four small networks forecast each series, and a gate mixes their forecasts.
//!
//! Han, Zhang, Wu, Zhang, Wu 2024, "KAN4TSF: Are KAN and KAN-based models Effective for Time Series Forecasting?" (arXiv
//! 2408.11306), section 4.

use foretell_nn::{
    Activation, BatchNorm, BatchNormConfig, Coupling, Dims, Forward, HyperParameterError, Init, Inputs,
    Linear, Model, Needs, ParamId, RevIn, RevInConfig, Scope, SeriesPerWindow, Tensor, Var, Wavelet,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::normalised::forecast_normalised;
use crate::rules;

/// The most terms of a polynomial.
const MAX_TERMS: usize = 100;

hyper_parameters! {
    Rmok {
        /// Terms of the Taylor polynomials, the constant one among them.
        taylor_order: usize = 3 => |terms| rules::within(terms, 1..=MAX_TERMS),
        /// Degree of the Jacobi polynomials.
        jacobi_degree: usize = 6 => |degree| rules::within(degree, 0..=MAX_TERMS),
        /// Which wavelets: "mexican_hat", "morlet", "dog", "meyer" or "shannon".
        wavelet_function: String = "mexican_hat".to_owned() => |name| rules::one_of(name, &WAVELETS.map(|(name, _)| name)),
        /// Dropout of the normalised history.
        dropout: f64 = 0.1 => rules::dropout,
        /// Whether the normalisation has a learned factor and offset for each series.
        revin_affine: bool = true,
    }
}

const WAVELETS: [(&str, Wavelet); 5] = [
    ("mexican_hat", Wavelet::MexicanHat),
    ("morlet", Wavelet::Morlet),
    ("dog", Wavelet::Dog),
    ("meyer", Wavelet::Meyer),
    ("shannon", Wavelet::Shannon),
];

/// Activations are `[rows, steps]`, a row for each series of a window.
struct Network {
    dims: Dims,
    norm: RevIn,
    dropout: f32,
    taylor: Taylor,
    jacobi: Jacobi,
    wavelets: Wavelets,
    linear: Linear,
    gate: Linear,
}

/// A polynomial of each input for each output: `coeffs [outputs, inputs, terms]`, `bias [1, outputs]`.
struct Taylor {
    coefficients: ParamId,
    bias: ParamId,
    terms: usize,
}

/// A sum of Jacobi polynomials (with both parameters 1) of the tangent of each input: `[inputs, outputs, degree + 1]`.
struct Jacobi {
    coefficients: ParamId,
    degree: usize,
}

/// A wavelet of each input for each output, `[outputs, inputs]` each, and batch normalisation.
struct Wavelets {
    scale: ParamId,
    translation: ParamId,
    weights: ParamId,
    wavelet: Wavelet,
    norm: BatchNorm,
}

impl Architecture for Rmok {
    const NAME: &'static str = "RMoK";
    const PAPER: &'static str = "Han et al. 2024, arXiv 2408.11306";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        let small = |(name, _): (&str, Wavelet)| json!({ "wavelet_function": name, "dropout": 0.0 });
        let mut all: Vec<Value> = WAVELETS.into_iter().map(small).collect();
        all[1] = json!({
            "wavelet_function": "morlet", "taylor_order": 2, "jacobi_degree": 1, "dropout": 0.2, "revin_affine": false,
        });
        all
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, coupling: Coupling::Coupled, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let (inputs, outputs) = (dims.input_size, dims.horizon.saturating_mul(dims.outputs));
        let mut experts = scope.at("experts");
        let taylor = Taylor::new(&mut experts.at(0), inputs, outputs, self.taylor_order);
        let jacobi = Jacobi::new(&mut experts.at(1), inputs, outputs, self.jacobi_degree);
        let named = WAVELETS.into_iter().find(|(name, _)| *name == self.wavelet_function);
        let (_, wavelet) = named.expect("a name that its rule allows");
        let wavelets = Wavelets::new(&mut experts.at(2), inputs, outputs, wavelet);
        let linear = Linear::new(&mut experts.at(3), inputs, outputs);
        let gate = Linear::new(&mut scope.at("gate"), inputs, 4);
        let config = RevInConfig { affine: self.revin_affine, ..RevInConfig::default() };
        let norm = RevIn::multivariate(&mut scope.at("rev"), dims.n_series, config);
        let dropout = self.dropout as f32;
        Ok(Box::new(Network { dims: *dims, norm, dropout, taylor, jacobi, wavelets, linear, gate }))
    }
}

impl Taylor {
    fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize, terms: usize) -> Self {
        let coefficients =
            scope.param("coeffs", [outputs, inputs, terms], Init::NormalOf { deviation: 0.01 });
        Self { coefficients, bias: scope.param("bias", [1, outputs], Init::Constant(0.0)), terms }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let shape = x.shape();
        let mut powers = vec![Var::constant(Tensor::full(shape, 1.0)), x.clone()];
        for term in 2..self.terms {
            powers.push(&powers[term - 1] * x);
        }
        powers.truncate(self.terms);
        let coefficients = cx.param(self.coefficients);
        let outputs = coefficients.shape()[0];
        let weight = coefficients.reshape([outputs, shape[1] * self.terms]);
        let bias = cx.param(self.bias).reshape([outputs]);
        side_by_side(&powers).linear(&weight, Some(&bias), Activation::Identity)
    }
}

impl Jacobi {
    fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize, degree: usize) -> Self {
        let deviation = 1.0 / (inputs * (degree + 1)) as f32;
        let init = Init::NormalOf { deviation };
        Self { coefficients: scope.param("jacobi_coeffs", [inputs, outputs, degree + 1], init), degree }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let x = x.activation(Activation::Tanh);
        let shape = x.shape();
        let mut polynomials = vec![Var::constant(Tensor::full(shape, 1.0))];
        if self.degree > 0 {
            polynomials.push(x.scale(2.0));
        }
        // Abramowitz and Stegun 1964, 22.7.1, for two parameters of 1: the middle term is 0.
        for n in 2..=self.degree {
            let i = n as f64;
            let rising = (2.0 * i + 2.0) * (2.0 * i + 1.0) / (2.0 * i * (i + 2.0));
            let falling = i * i * (2.0 * i + 2.0) / (i * (i + 2.0) * 2.0 * i);
            let next =
                (&x * &polynomials[n - 1]).scale(rising as f32) - polynomials[n - 2].scale(falling as f32);
            polynomials.push(next);
        }
        let coefficients = cx.param(self.coefficients).permute(&[1, 0, 2]);
        let outputs = coefficients.shape()[0];
        let weight = coefficients.reshape([outputs, shape[1] * (self.degree + 1)]);
        side_by_side(&polynomials).linear(&weight, None, Activation::Identity)
    }
}

impl Wavelets {
    fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize, wavelet: Wavelet) -> Self {
        let pairs = [outputs, inputs];
        let scale = scope.param("scale", pairs, Init::Constant(1.0));
        let translation = scope.param("translation", pairs, Init::Constant(0.0));
        scope.unread("weight1", pairs, Init::fan_in(inputs));
        let weights = scope.param("wavelet_weights", pairs, Init::fan_in(inputs));
        let norm = BatchNorm::new(&mut scope.at("bn"), outputs, BatchNormConfig::default());
        Self { scale, translation, weights, wavelet, norm }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let [scale, translation, mut weights] =
            [self.scale, self.translation, self.weights].map(|id| cx.param(id));
        if self.wavelet == Wavelet::Shannon {
            weights = weights * Var::constant(hamming(x.shape()[1]));
        }
        self.norm.forward(cx, &x.wavelet_sums(&scale, &translation, &weights, self.wavelet))
    }
}

/// The Hamming window of these steps, its ends 0.08.
fn hamming(steps: usize) -> Tensor {
    Tensor::build([1, steps], |window| {
        let last = steps.saturating_sub(1).max(1) as f64;
        for (i, value) in window.iter_mut().enumerate() {
            *value = (0.54 - 0.46 * (std::f64::consts::TAU * i as f64 / last).cos()) as f32;
        }
        if steps == 1 {
            window[0] = 1.0;
        }
    })
}

/// Functions of each input side by side: `[rows, inputs]` each, to `[rows, inputs * functions]`.
fn side_by_side(functions: &[Var]) -> Var {
    let &[rows, inputs] = &*functions[0].shape() else { unreachable!("[rows, inputs]") };
    let columns: Vec<Var> = functions.iter().map(|x| x.reshape([rows, inputs, 1])).collect();
    Var::concat(&columns, 2).reshape([rows, inputs * functions.len()])
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { horizon, outputs, .. } = self.dims;
        forecast_normalised(Some(&self.norm), cx, &inputs.insample_y, |y| {
            let x = cx.dropout(y, self.dropout);
            let shares = self.gate.forward(cx, &x, Activation::Identity).softmax(1);
            let experts = [
                self.taylor.forward(cx, &x),
                self.jacobi.forward(cx, &x),
                self.wavelets.forward(cx, &x),
                self.linear.forward(cx, &x, Activation::Identity),
            ];
            shares.weighted_sum(&experts).reshape([inputs.batch(), horizon, outputs])
        })
    }
}
