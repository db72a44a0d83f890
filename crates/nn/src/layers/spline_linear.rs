//! The layer of KAN (Liu et al. 2024, "KAN: Kolmogorov-Arnold networks", arXiv 2404.19756, section 2.4): a spline of its own for
//! each pair of input and output. Parameters are named as in neuralforecast's `KANLinear`.

use foretell_autograd::{Activation, Var};

use crate::layer_params::LinearParams;
use crate::{Forward, Init, ParamId, Scope, SplineNoise};

/// The sizes of a [`SplineLinear`], and how it starts.
#[derive(Clone, Copy, Debug)]
pub struct SplineLinearConfig {
    /// Intervals that the grid cuts its range into.
    pub intervals: usize,
    /// Order of the splines: at least 1, at most 15.
    pub order: usize,
    /// The range of the grid.
    pub range: [f32; 2],
    /// The size of the noise that splines are at first, in intervals.
    pub noise: f32,
    /// How the first weights of the base function are scaled.
    pub base_scale: f32,
    /// How the first scales of splines are scaled.
    pub spline_scale: f32,
}

/// `y_o = Σ_i base_weight_oi silu(x_i) + Σ_i spline_scaler_oi spline_oi(x_i)`: `base_weight` and `spline_scaler`
/// `[outputs, inputs]`, the splines' coefficients `spline_weight [outputs, inputs, functions]`, and the constant
/// `grid [inputs, knots]`. Splines are 0 beyond the grid, which reaches `order` intervals over its range on both sides.
#[derive(Clone, Debug)]
pub struct SplineLinear {
    base: LinearParams,
    splines: ParamId,
    scales: ParamId,
    grid: ParamId,
    order: usize,
}

impl SplineLinear {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize, config: &SplineLinearConfig) -> Self {
        let &SplineLinearConfig { intervals, order, range, noise, base_scale, spline_scale } = config;
        // PyTorch's `kaiming_uniform_` for a leaky rectifier of slope `sqrt(5) scale`.
        let uniform = |scale: f32| Init::Uniform {
            bound: (6.0 / (1.0 + 5.0 * scale * scale) / inputs.max(1) as f32).sqrt(),
        };
        let weight = scope.param("base_weight", [outputs, inputs], uniform(base_scale));
        let base = LinearParams { weight, bias: None, stays_f32: None };
        let noise = SplineNoise { intervals, order, bound: 0.5 * noise / intervals as f32 };
        let shape = [outputs, inputs, intervals.saturating_add(order)];
        let splines = scope.param("spline_weight", shape, Init::Splines(noise));
        let scales = scope.param("spline_scaler", [outputs, inputs], uniform(spline_scale));
        let knots = intervals.saturating_add(2 * order + 1);
        let grid = scope.constant("grid", [inputs, knots], move |grid| {
            let [low, high] = range.map(f64::from);
            let step = ((high - low) / intervals as f64) as f32;
            for row in grid.chunks_exact_mut(knots) {
                for (i, knot) in row.iter_mut().enumerate() {
                    *knot = (i as f32 - order as f32) * step + range[0];
                }
            }
        });
        Self { base, splines, scales, grid, order }
    }

    /// `x [rows, inputs]` to `[rows, outputs]`.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let basis = x.spline_basis(cx.param(self.grid).value(), self.order);
        let splines = cx.joined_weight(self.splines);
        let &[outputs, inputs, functions] = &*splines.shape() else {
            unreachable!("a weight of three dimensions")
        };
        let scaled = splines * cx.joined_weight(self.scales).reshape([outputs, inputs, 1]);
        let weight = scaled.reshape([outputs, inputs * functions]);
        let base = cx.linear(&self.base, &x.activation(Activation::Silu), Activation::Identity, None);
        base + basis.linear(&weight, None, Activation::Identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn names_and_shapes_are_those_of_neuralforecast() {
        let mut table = Table::default();
        let config = SplineLinearConfig {
            intervals: 5,
            order: 3,
            range: [-1.0, 1.0],
            noise: 0.1,
            base_scale: 1.0,
            spline_scale: 1.0,
        };
        let layer = SplineLinear::new(&mut table.root(), 24, 7, &config);
        let entries: Vec<_> = table.entries().iter().map(|e| (e.name.as_str(), e.shape.to_vec())).collect();
        let expected = [
            ("base_weight", vec![7, 24]),
            ("spline_weight", vec![7, 24, 8]),
            ("spline_scaler", vec![7, 24]),
            ("grid", vec![24, 12]),
        ];
        assert_eq!(entries, expected);
        // As `torch.arange(-3, 9) * 0.4 - 1` has them.
        let grid = table.initialise(1).tensor(layer.grid).to_vec();
        assert_eq!(grid[..2], [-2.2, -1.8]);
        assert_eq!(grid[3..5], [-1.0, -0.6]);
        assert_eq!(grid[11..13], [2.2, -2.2]);
    }
}
