//! `y = activation(x Wᵀ + b)`, parameters named as in `torch.nn.Linear`, or as in a `torch.nn.Conv1d` of one tap.

use std::ops::Range;

use foretell_autograd::{Activation, Var};

use crate::layer_params::LinearParams;
use crate::{Forward, Init, ParamId, Scope};

/// A linear layer: `weight [outputs, inputs]` (of a [`Linear::pointwise`] one `[outputs, inputs, 1]`) and `bias
/// [outputs]`.
#[derive(Clone, Debug)]
pub struct Linear {
    pub(super) params: LinearParams,
}

impl Linear {
    /// Registers the layer's parameters in `scope`, both uniform within `1 / sqrt(inputs)` at first.
    pub fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        let init = Init::fan_in(inputs);
        Self::with(scope, [inputs, outputs], init, Some(init))
    }

    /// [`Linear::new`] without a bias.
    pub fn without_bias(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        Self::with(scope, [inputs, outputs], Init::fan_in(inputs), None)
    }

    /// [`Linear::new`] with other initial values of `weight`, and of `bias` if there is to be one.
    ///
    /// ```
    /// use foretell_nn::{Init, Linear, Table};
    ///
    /// let mut table = Table::default();
    /// let layer = Linear::with(&mut table.root(), [3, 2], Init::Normal, Some(Init::Constant(0.5)));
    /// let params = table.initialise(1);
    /// assert_eq!(params.tensor(layer.bias().unwrap()).values(), [0.5, 0.5]);
    /// assert_eq!(&*params.tensor(layer.weight()).shape(), [2, 3]);
    /// ```
    pub fn with(
        scope: &mut Scope<'_>,
        [inputs, outputs]: [usize; 2],
        weight: Init,
        bias: Option<Init>,
    ) -> Self {
        let weight = scope.param("weight", [outputs, inputs], weight);
        let bias = bias.map(|init| scope.param("bias", [outputs], init));
        Self { params: LinearParams { weight, bias, stays_f32: None } }
    }

    /// A convolution of one tap over steps, which is a linear layer on each: `weight [outputs, inputs, 1]`, with a bias or
    /// without.
    pub fn pointwise(scope: &mut Scope<'_>, [inputs, outputs]: [usize; 2], bias: bool) -> Self {
        let init = Init::fan_in(inputs);
        let weight = scope.param("weight", [outputs, inputs, 1], init);
        let bias = bias.then(|| scope.param("bias", [outputs], init));
        Self { params: LinearParams { weight, bias, stays_f32: None } }
    }

    /// [`Linear::new`] if the bias is `read`, else a layer without one, whose bias is registered only because
    /// PyTorch's state dictionary lists it.
    pub fn with_optional_bias(scope: &mut Scope<'_>, [inputs, outputs]: [usize; 2], read: bool) -> Self {
        if read {
            return Self::new(scope, inputs, outputs);
        }
        let layer = Self::without_bias(scope, inputs, outputs);
        scope.unread("bias", [outputs], Init::fan_in(inputs));
        layer
    }

    /// [`Linear::new`] with a bias that is added but never trained, for layers whose bias gets no gradient but
    /// rounding errors.
    pub fn with_frozen_bias(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        let mut layer = Self::without_bias(scope, inputs, outputs);
        layer.params.bias = Some(scope.frozen("bias", [outputs], Init::fan_in(inputs)));
        layer
    }

    /// The layer, whose products stay in `f32` in a run that rounds others to 16 bits; `reason` says why.
    pub fn in_f32(self, reason: &'static str) -> Self {
        Self { params: LinearParams { stays_f32: Some(reason), ..self.params } }
    }

    /// Why the layer stays in `f32`, if it does.
    pub fn stays_f32(&self) -> Option<&'static str> {
        self.params.stays_f32
    }

    /// Registers the weight, and a bias if there is to be one, of a layer that nothing depends on, but which PyTorch's state
    /// dictionary has.
    pub fn unread(scope: &mut Scope<'_>, [inputs, outputs]: [usize; 2], bias: bool) {
        scope.unread("weight", [outputs, inputs], Init::fan_in(inputs));
        if bias {
            scope.unread("bias", [outputs], Init::fan_in(inputs));
        }
    }

    /// The weight, `[outputs, inputs]`, or `[outputs, inputs, 1]`.
    pub fn weight(&self) -> ParamId {
        self.params.weight
    }

    /// The bias, `[outputs]`, if it has one.
    pub fn bias(&self) -> Option<ParamId> {
        self.params.bias
    }

    /// `x [..., inputs]` to `[..., outputs]`.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, activation: Activation) -> Var {
        cx.linear(&self.params, x, activation, None)
    }

    /// The layer along the first dimension: `x [inputs, ...]` to `[outputs, ...]`, for example over the time of
    /// time-major sequences.
    pub fn forward_first_axis(&self, cx: &Forward<'_>, x: &Var) -> Var {
        cx.linear_along_first(&self.params, x)
    }

    /// The columns of matrices instead of rows: `x [batch, inputs, n]` to `[batch, outputs, n]`.
    pub fn forward_columns(&self, cx: &Forward<'_>, x: &Var, activation: Activation) -> Var {
        cx.linear_of_columns(&self.params, x, activation)
    }

    /// The rows of matrices, which become columns: `x [batch, n, inputs]` to `[batch, outputs, n]`.
    pub fn forward_to_columns(&self, cx: &Forward<'_>, x: &Var, activation: Activation) -> Var {
        cx.linear_to_columns(&self.params, x, activation)
    }

    /// Some of the outputs only: `x [..., inputs]` to `[..., rows.len()]`.
    pub fn rows(&self, cx: &Forward<'_>, x: &Var, rows: Range<usize>) -> Var {
        cx.linear(&self.params, x, Activation::Identity, Some(rows))
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::Tensor;

    use super::*;
    use crate::Table;

    #[test]
    fn a_layer_without_bias_is_its_weight_alone() {
        let mut table = Table::default();
        let layer = Linear::without_bias(&mut table.root(), 3, 2);
        assert_eq!(layer.bias(), None);
        let names: Vec<&str> = table.entries().iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["weight"]);
        let params = table.initialise(1);
        let cx = Forward::inference(&params);
        let unit = Var::constant(Tensor::from_slice(&[0.0, 1.0, 0.0], [1, 3]));
        let column = params.tensor(layer.weight()).narrow(1, 1, 1).to_vec();
        assert_eq!(layer.forward(&cx, &unit, Activation::Identity).value().to_vec(), column);
        assert_eq!(layer.rows(&cx, &unit, 1..2).value().to_vec(), column[1..]);
    }

    #[cfg(feature = "amp")]
    #[test]
    fn a_layer_that_stays_in_f32_is_not_rounded() {
        use foretell_autograd::Rounding;
        let mut table = Table::default();
        // Large enough for a product in bfloat16 to pay.
        let layer = Linear::new(&mut table.root(), 40, 20);
        let params = table.initialise(1);
        let x = Tensor::build([24, 40], |x| Init::Uniform { bound: 2.0 }.fill(crate::Key::new(3), x));
        let x = Var::constant(x);
        let run = |layer: &Linear, rounding| {
            let cx = Forward::inference(&params).rounding(rounding);
            layer.forward(&cx, &x, Activation::Identity).value().to_vec()
        };
        let [exact, rounded] = [Rounding::None, Rounding::Bf16].map(|rounding| run(&layer, rounding));
        assert_ne!(exact, rounded);
        for (exact, rounded) in exact.iter().zip(&rounded) {
            assert!((exact - rounded).abs() < 0.05, "{exact} and {rounded}");
        }
        let kept = layer.in_f32("its outputs are added up over thousands of steps");
        assert_eq!(kept.stays_f32(), Some("its outputs are added up over thousands of steps"));
        assert_eq!(run(&kept, Rounding::Bf16), exact);
    }

    #[test]
    fn a_pointwise_layer_is_a_linear_one_of_another_shape() {
        let mut table = Table::default();
        let linear = Linear::new(&mut table.root().at("linear"), 3, 2);
        let pointwise = Linear::pointwise(&mut table.root().at("conv"), [3, 2], true);
        assert_eq!(Linear::pointwise(&mut table.root().at("plain"), [3, 2], false).bias(), None);
        assert_eq!(&*table.entry(pointwise.weight()).shape, [2, 3, 1]);
        let mut params = table.initialise(1);
        let weight = params.tensor(linear.weight()).reshape([2, 3, 1]);
        params.assign("conv.weight", &weight).unwrap();
        let bias = params.tensor(linear.bias().unwrap());
        params.assign("conv.bias", &bias).unwrap();
        let mut gradients = vec![0.0; params.table().arena_len()];
        let x = Var::constant(Tensor::from_slice(&[0.5, -1.0, 2.0], [1, 3]));
        let cx = Forward::training(&params, foretell_autograd::Key::new(1));
        let [one, other] = [linear, pointwise].map(|layer| layer.forward(&cx, &x, Activation::Gelu));
        assert_eq!(one.value(), other.value());
        one.add(&other).sum(1).sum(0).backward(&mut gradients);
        let range = |name: &str| {
            let entry = params.table().entry(params.table().find(name).unwrap());
            entry.offset..entry.offset + entry.shape.numel()
        };
        assert_eq!(gradients[range("linear.weight")], gradients[range("conv.weight")]);
        assert!(gradients[range("conv.weight")].iter().all(|&gradient| gradient != 0.0));
    }

    #[test]
    fn a_bias_that_nothing_reads_has_a_name_only() {
        let mut table = Table::default();
        let layer = Linear::with_optional_bias(&mut table.root().at(0), [3, 2], false);
        assert!(Linear::with_optional_bias(&mut table.root().at(1), [3, 2], true).bias().is_some());
        assert_eq!((layer.bias(), table.numel()), (None, 6 + 8));
        assert!(table.entry(table.find("0.bias").unwrap()).is_frozen());
    }

    #[test]
    fn a_frozen_bias_is_read_and_gets_no_gradient() {
        let mut table = Table::default();
        let layer = Linear::with_frozen_bias(&mut table.root(), 3, 2);
        let names: Vec<&str> = table.trained().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["weight"]);
        let params = table.initialise(1);
        let cx = Forward::training(&params, foretell_autograd::Key::new(1));
        let y = layer.forward(&cx, &Var::constant(Tensor::zeros([1, 3])), Activation::Identity);
        assert_eq!(y.value().to_vec(), params.get("bias").unwrap().to_vec());
        let mut gradients = vec![0.0; params.table().arena_len()];
        y.sum(1).sum(0).backward(&mut gradients);
        assert!(gradients.iter().all(|&gradient| gradient == 0.0));
    }

    #[test]
    fn along_the_first_dimension_is_along_the_last_of_the_transpose() {
        let mut table = Table::default();
        let layers =
            [Linear::new(&mut table.root().at(0), 3, 2), Linear::without_bias(&mut table.root().at(1), 3, 2)];
        let params = table.initialise(1);
        let cx = Forward::inference(&params);
        let x = Var::constant(Tensor::from_slice(&(0..12).map(|i| i as f32).collect::<Vec<_>>(), [3, 2, 2]));
        for layer in layers {
            let expected =
                layer.forward(&cx, &x.permute(&[1, 2, 0]), Activation::Identity).permute(&[2, 0, 1]);
            let output = layer.forward_first_axis(&cx, &x);
            assert_eq!(output.shape(), expected.shape());
            for (number, expected) in output.value().to_vec().iter().zip(expected.value().to_vec()) {
                assert!((number - expected).abs() < 1e-5, "{number}, {expected}");
            }
        }
    }
}
