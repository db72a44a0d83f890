//! Reversible instance normalisation (Kim et al. 2022, "Reversible instance normalization for accurate time-series
//! forecasting against distribution shift"), parameters named as in neuralforecast's `RevIN` and `RevINMultivariate`.

use foretell_autograd::{Tensor, Var, trace};
use foretell_simd as simd;

use crate::{Forward, Init, ParamId, Scope};

/// How a [`RevIn`] normalises.
#[derive(Clone, Copy, Debug)]
pub struct RevInConfig {
    /// Added to the variance.
    pub eps: f32,
    /// Whether each series has a learned factor and offset.
    pub affine: bool,
    /// Whether a window is shifted by its last value, not by its mean.
    pub subtract_last: bool,
}

impl Default for RevInConfig {
    /// The defaults of neuralforecast.
    fn default() -> Self {
        Self { eps: 1e-5, affine: false, subtract_last: false }
    }
}

/// Brings each window to mean 0 and variance 1, and forecasts back to the scale of the window.
///
/// Windows are rows, those of several series neighbouring rows: row r is of series r modulo their number. The affine
/// parameters are `affine_weight` and `affine_bias`, one value for each series, 1 and 0 at first.
#[derive(Clone, Debug)]
pub struct RevIn {
    affine: Option<[ParamId; 2]>,
    series: usize,
    config: RevInConfig,
    /// The number that is added to the affine factor before it divides.
    factor_eps: f32,
}

/// The shift and the scale of windows, `[rows]` each: the shift was subtracted first, then the scale divided.
#[derive(Clone, Debug)]
pub struct WindowScales {
    shift: Var,
    scale: Var,
}

impl RevIn {
    /// neuralforecast's `RevIN`: registers parameters of shape `[series]` in `scope`, if there are any.
    pub fn new(scope: &mut Scope<'_>, series: usize, config: RevInConfig) -> Self {
        Self { factor_eps: config.eps * config.eps, ..Self::of_shape(scope, &[series], config) }
    }

    /// neuralforecast's `RevINMultivariate`: parameters are of shape `[1, 1, series]`, and the factor divides as it is.
    pub fn multivariate(scope: &mut Scope<'_>, series: usize, config: RevInConfig) -> Self {
        Self::of_shape(scope, &[1, 1, series], config)
    }

    fn of_shape(scope: &mut Scope<'_>, shape: &[usize], config: RevInConfig) -> Self {
        let mut param = |name, first| scope.param(name, shape, Init::Constant(first));
        let affine = config.affine.then(|| [param("affine_weight", 1.0), param("affine_bias", 0.0)]);
        Self { affine, series: shape[shape.len() - 1], config, factor_eps: 0.0 }
    }

    /// Windows `x [rows, time]` on their own scales, and these scales. Gradients flow through both.
    ///
    /// # Panics
    /// If the rows are no multiple of the number of series.
    #[track_caller]
    pub fn normalise(&self, cx: &Forward<'_>, x: &Var) -> (Var, WindowScales) {
        let shape = x.shape();
        let &[rows, time] = &*shape else { panic!("windows [rows, time] were expected, found {shape:?}") };
        // The one pass is no operation of a record.
        let (y, scales) = if x.edge().is_wanted() || trace::is_on() {
            self.recorded(x, [rows, time])
        } else {
            self.fused(x, [rows, time])
        };
        let y = match self.rows_of_parameters(cx, rows) {
            Some([weight, bias]) => y.affine_rows(&weight, &bias),
            None => y,
        };
        (y, scales)
    }

    /// The windows on their own scales in one pass over each.
    fn fused(&self, x: &Var, [rows, time]: [usize; 2]) -> (Var, WindowScales) {
        let x = x.value().contiguous();
        let mut shift = Tensor::zeros([rows]);
        let scale = Tensor::build([rows], |scales| {
            let windows = x.values().chunks_exact(time.max(1));
            for ((x, shift), scale) in windows.zip(shift.values_mut()).zip(scales) {
                let (mean, variance) = simd::mean_variance(x);
                *shift = if self.config.subtract_last { x[time - 1] } else { mean };
                *scale = (variance + self.config.eps).sqrt();
            }
        });
        let normalised = Tensor::build([rows, time], |out| {
            let windows = x.values().chunks_exact(time.max(1)).zip(out.chunks_exact_mut(time.max(1)));
            for ((x, out), (&shift, &scale)) in windows.zip(shift.values().iter().zip(scale.values())) {
                simd::normalise(x, shift, scale, out);
            }
        });
        let [shift, scale] = [shift, scale].map(Var::constant);
        (Var::constant(normalised), WindowScales { shift, scale })
    }

    /// The same by operations that pass gradients on.
    fn recorded(&self, x: &Var, [rows, time]: [usize; 2]) -> (Var, WindowScales) {
        let mean = x.mean(1).reshape([rows]);
        let variance = x.sub(&mean.unsqueeze(1)).square().mean(1).reshape([rows]);
        let scale = variance.add(&Var::constant(Tensor::scalar(self.config.eps))).sqrt();
        let shift = if self.config.subtract_last { x.narrow(1, time - 1, 1).reshape([rows]) } else { mean };
        let y = x.sub(&shift.unsqueeze(1)).div(&scale.unsqueeze(1));
        (y, WindowScales { shift, scale })
    }

    /// Forecasts `y [rows, ...]` back on the scales that their windows had.
    ///
    /// # Panics
    /// If the scales are of another number of rows.
    #[track_caller]
    pub fn denormalise(&self, cx: &Forward<'_>, y: &Var, scales: &WindowScales) -> Var {
        let WindowScales { shift, scale } = scales;
        let Some([weight, bias]) = self.rows_of_parameters(cx, scale.shape()[0]) else {
            return y.affine_rows(scale, shift);
        };
        // (y - bias) / (weight + factor_eps) * scale + shift
        let factor = scale / (weight + Var::constant(Tensor::scalar(self.factor_eps)));
        y.affine_rows(&factor, &(shift - bias * &factor))
    }

    /// Weight and bias for each row, `[rows]`.
    #[track_caller]
    fn rows_of_parameters(&self, cx: &Forward<'_>, rows: usize) -> Option<[Var; 2]> {
        let (affine, series) = (self.affine?, self.series);
        assert!(rows.is_multiple_of(series), "{rows} rows of {series} series");
        let spread = |x: Var| x.reshape([1, series]).expand([rows / series, series]).reshape([rows]);
        Some(affine.map(|id| spread(cx.param(id))))
    }
}
