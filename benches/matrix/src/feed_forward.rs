//! A feed-forward network of 128, 256, 128 and 10 units.

use foretell::own_model::{
    Activation, Architecture, Dims, Exogenous, Forward, HyperParameterError, Inputs, Linear, Model, Scope,
    Var, hyper_parameters,
};

hyper_parameters! {
    /// Three layers, ReLU between them; the window's 128 values in, 10 out.
    pub(crate) struct FeedForward {}
}

impl Architecture for FeedForward {
    const NAME: &'static str = "FeedForward";
    const PAPER: &'static str = "none";
    const EXOGENOUS: Exogenous = Exogenous::NONE;

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let units = [dims.input_size, 256, 128, dims.horizon * dims.outputs];
        let layer = |i: usize| Linear::new(&mut scope.at(format!("layers.{i}")), units[i], units[i + 1]);
        Ok(Box::new(Network { dims: *dims, layers: [0, 1, 2].map(layer) }))
    }
}

struct Network {
    dims: Dims,
    layers: [Linear; 3],
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let [first, second, last] = &self.layers;
        let x = windows.insample_y.clone();
        let x = second.forward(cx, &first.forward(cx, &x, Activation::Relu), Activation::Relu);
        let y = last.forward(cx, &x, Activation::Identity);
        y.reshape([windows.batch(), self.dims.horizon, self.dims.outputs])
    }
}
