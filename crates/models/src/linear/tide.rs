//! TiDE: residual blocks of dense layers that encode a window as one row and decode it to each step of the horizon.
//!
//! Das, Kong, Leach, Mathur, Sen, Yu 2023, "Long-term Forecasting with TiDE: Time-series Dense Encoder" (arXiv
//! 2304.08424), figure 1.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Inputs, LayerNorm, Linear, Model, Needs, PairSizes,
    Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::rules;

/// The scopes of the parts whose layers are applied to each step by itself.
const HIST_PROJECTION: &str = "hist_exog_projection";
const FUTR_PROJECTION: &str = "futr_exog_projection";
const TEMPORAL_DECODER: &str = "temporal_decoder";

hyper_parameters! {
    Tide {
        /// Hidden units of each block of the encoder and the decoder, and of the blocks that project columns.
        hidden_size: usize = 512 => rules::units,
        /// Numbers that the decoder makes for each step of the horizon.
        decoder_output_dim: usize = 32 => rules::units,
        /// Hidden units of the temporal decoder, which makes a step's forecast of these numbers.
        temporal_decoder_dim: usize = 128 => rules::units,
        /// Dropout behind the last dense layer of each block.
        dropout: f64 = 0.3 => rules::dropout,
        /// Whether each block ends in a layer normalisation. Of one number that leaves the bias only: with a loss of one
        /// output the forecast is then the linear skip of the history and a constant.
        layernorm: bool = true,
        /// Blocks of the encoder.
        num_encoder_layers: usize = 1 => rules::layers,
        /// Blocks of the decoder.
        num_decoder_layers: usize = 1 => rules::layers,
        /// Numbers that the historic columns of a step are projected to, and the future ones.
        temporal_width: usize = 4 => rules::units,
    }
}

impl Architecture for Tide {
    const NAME: &'static str = "TiDE";
    const PAPER: &'static str = "Das et al. 2023, arXiv 2304.08424";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] = &[
        "With `layernorm` and a loss of one output no gradient passes the last norm, so the weights before it stay as \
         they began; in neuralforecast rounding errors move them. No forecast depends on them.",
    ];

    /// Without layer normalisation, which over a single output stops all gradients but those of the skip.
    fn small() -> Vec<Value> {
        vec![json!({ "hidden_size": 24, "temporal_decoder_dim": 16, "layernorm": false })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let &Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, outputs, .. } = dims;
        let Self { hidden_size, decoder_output_dim, temporal_width, .. } = self;
        let block = |scope: &mut Scope<'_>, inputs, hidden, outputs| {
            ResidualBlock::new(
                scope,
                PairSizes { inputs, hidden, outputs },
                self.dropout as f32,
                self.layernorm,
            )
        };
        let mut project = |name, columns| block(&mut scope.at(name), columns, hidden_size, temporal_width);
        // With future columns but no historic ones, neuralforecast's model has a projection of zero inputs, and never
        // uses it.
        let hist = (hist_exog > 0 || futr_exog > 0).then(|| project(HIST_PROJECTION, hist_exog));
        let futr = (futr_exog > 0).then(|| project(FUTR_PROJECTION, futr_exog));

        let projected =
            |columns, steps: usize| if columns > 0 { steps.saturating_mul(temporal_width) } else { 0 };
        let row = input_size
            + projected(hist_exog, input_size)
            + projected(futr_exog, input_size + horizon)
            + stat_exog;
        let blocks = |scope: &mut Scope<'_>, inputs, outputs, count| {
            let mut next = |i| {
                let inputs = if i == 0 { inputs } else { hidden_size };
                let outputs = if i + 1 == count { outputs } else { hidden_size };
                block(&mut scope.at(i), inputs, hidden_size, outputs)
            };
            (0..count).map(&mut next).collect()
        };
        let encoder = blocks(&mut scope.at("dense_encoder"), row, hidden_size, self.num_encoder_layers);
        let decoded = decoder_output_dim.saturating_mul(horizon);
        let decoder = blocks(&mut scope.at("dense_decoder"), hidden_size, decoded, self.num_decoder_layers);
        let of_step = decoder_output_dim + projected(futr_exog, 1);
        let temporal_decoder =
            block(&mut scope.at(TEMPORAL_DECODER), of_step, self.temporal_decoder_dim, outputs);
        let skip = Linear::new(&mut scope.at("global_skip"), input_size, horizon * outputs);
        Ok(Box::new(Network { dims: *dims, hist, futr, encoder, decoder, temporal_decoder, skip }))
    }
}

struct Network {
    dims: Dims,
    hist: Option<ResidualBlock>,
    futr: Option<ResidualBlock>,
    encoder: Vec<ResidualBlock>,
    decoder: Vec<ResidualBlock>,
    temporal_decoder: ResidualBlock,
    skip: Linear,
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, .. } = self.dims;
        let batch = windows.batch();
        let project = |block: &Option<ResidualBlock>, columns: &Option<Var>| {
            block.as_ref().zip(columns.as_ref()).map(|(block, columns)| block.forward(cx, columns))
        };
        // [batch, input_size, temporal_width] and [batch, input_size + horizon, temporal_width].
        let hist = project(&self.hist, &windows.hist_exog);
        let futr = project(&self.futr, &windows.futr_exog);

        let y = windows.insample_y.clone();
        let flat = |steps: &Var| steps.reshape([batch, steps.shape()[1] * steps.shape()[2]]);
        let mut parts = vec![y.clone()];
        parts.extend(hist.iter().chain(&futr).map(flat));
        parts.extend(windows.stat_exog.clone());
        let row = Var::concat(&parts, 1);

        let blocks = self.encoder.iter().chain(&self.decoder);
        let decoded = blocks.fold(row, |x, block| block.forward(cx, &x));
        let mut steps = vec![decoded.reshape([batch, horizon, decoded.shape()[1] / horizon])];
        steps.extend(futr.map(|futr| futr.narrow(1, input_size, horizon)));
        let forecast = self.temporal_decoder.forward(cx, &Var::concat(&steps, 2));
        forecast + self.skip.forward(cx, &y, Activation::Identity).reshape([batch, horizon, outputs])
    }
}

/// `norm(dropout(W₂ relu(W₁ x + b₁) + b₂) + W₃ x + b₃)` over the last dimension, the norm being optional.
struct ResidualBlock {
    norm: Option<LayerNorm>,
    first: Linear,
    second: Linear,
    skip: Linear,
    dropout: f32,
}

impl ResidualBlock {
    fn new(scope: &mut Scope<'_>, sizes: PairSizes, dropout: f32, layernorm: bool) -> Self {
        let PairSizes { inputs, hidden, outputs } = sizes;
        Self {
            norm: layernorm.then(|| LayerNorm::new(&mut scope.at("norm"), [outputs])),
            first: Linear::new(&mut scope.at("lin1"), inputs, hidden),
            second: Linear::new(&mut scope.at("lin2"), hidden, outputs),
            skip: Linear::new(&mut scope.at("skip"), inputs, outputs),
            dropout,
        }
    }

    /// `x [..., inputs]` to `[..., outputs]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let hidden = self.first.forward(cx, x, Activation::Relu);
        let dense = cx.dropout(self.second.forward(cx, &hidden, Activation::Identity), self.dropout);
        let sum = dense + self.skip.forward(cx, x, Activation::Identity);
        match &self.norm {
            // The norm of a single number is its bias, whatever the number, and the gradient of the number is zero.
            // So no backward pass goes through it.
            Some(norm) if sum.shape().ends_with(&[1]) => {
                norm.forward(cx, &Var::constant(sum.value().clone()))
            }
            Some(norm) => norm.forward(cx, &sum),
            None => sum,
        }
    }
}
