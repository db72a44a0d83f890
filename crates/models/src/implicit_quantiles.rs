//! Models whose loss is of implicit quantiles: the layer that makes quantiles stands behind them.

use std::sync::Arc;

use foretell_nn::{
    EmbeddedWindows, Explanation, Forward, ImplicitQuantiles, Inputs, Model, Network, QuantileLayer,
    StepState, Table, Var, Windows,
};

/// The network with the layer of implicit quantiles behind it, whose parameters are those of the loss. In training it has two
/// numbers for each step, else a quantile for each that is asked for.
pub fn with_implicit_quantiles(network: Network, sizes: &ImplicitQuantiles, table: &mut Table) -> Network {
    let layer = QuantileLayer::new(&mut table.root().at("loss"), sizes);
    Network { model: Arc::new(WithQuantiles { model: network.model, layer }), ..network }
}

struct WithQuantiles {
    model: Arc<dyn Model>,
    layer: QuantileLayer,
}

impl Model for WithQuantiles {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        self.layer.forward(cx, &self.model.forward(cx, windows))
    }

    fn explain(&self, cx: &Forward<'_>, windows: &Inputs) -> Option<Explanation> {
        self.model.explain(cx, windows)
    }

    fn frozen_bytes(&self) -> u64 {
        self.model.frozen_bytes()
    }

    fn embed(&self, cx: &Forward<'_>, windows: &Windows) -> Option<EmbeddedWindows> {
        self.model.embed(cx, windows)
    }

    fn behind_embeddings(&self) -> Option<Arc<dyn Model>> {
        let model = self.model.behind_embeddings()?;
        Some(Arc::new(Self { model, layer: self.layer.clone() }))
    }

    fn keeps_state(&self) -> bool {
        self.model.keeps_state()
    }

    fn step(&self, cx: &Forward<'_>, windows: &Inputs, state: &mut StepState) -> Var {
        self.layer.forward(cx, &self.model.step(cx, windows, state))
    }
}
