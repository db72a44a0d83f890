//! xLSTM: blocks of LSTMs with exponential gates, whose memory is a matrix (mLSTM) or a number of each unit (sLSTM), a linear layer
//! over time, and a perceptron that decodes.
//!
//! Beck, Pöppel, Spanring, Auer, Prudnikova, Kopp, Klambauer, Brandstetter, Hochreiter 2024, "xLSTM: Extended long short-term memory"
//! (arXiv 2405.04517). The blocks are those of the authors' package `xlstm`, which neuralforecast runs.

use foretell_nn::{
    Activation, Dims, Forward, GatedFeedForward, HyperParameterError, Inputs, LayerNorm, Linear, MatrixLstm,
    MatrixLstmSizes, Mlp, MlpSizes, Model, Needs, Nonlinearity, ScalarLstm, ScalarLstmSizes, Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_IN_CACHE};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::step_by_step::step_inputs;
use crate::rules;

/// The blocks that there are, by the names that neuralforecast gives them.
const BACKBONES: [&str; 2] = ["mLSTM", "sLSTM"];

hyper_parameters! {
    XLstm {
        /// Without effect, since it forecasts directly.
        inference_input_size: Option<i64> = None => rules::inference_input_size,
        /// Without effect, since it forecasts directly.
        h_train: usize = 1 => rules::units,
        /// Blocks of the encoder.
        encoder_n_blocks: usize = 2 => rules::layers,
        /// Units between the blocks.
        encoder_hidden_size: usize = 128 => rules::units,
        /// Whether the projections of an mLSTM have biases.
        encoder_bias: bool = true,
        /// Dropout behind each mLSTM, or behind the recurrence of each sLSTM.
        encoder_dropout: f64 = 0.1 => rules::dropout,
        /// Units of the hidden layers of the decoder.
        decoder_hidden_size: usize = 128 => rules::units,
        /// Layers of the decoder.
        decoder_layers: usize = 2 => rules::layers,
        /// Dropout in the decoder.
        decoder_dropout: f64 = 0.0 => rules::dropout,
        /// The decoder's activation, by the name of PyTorch's module; GELU where there is none.
        decoder_activation: Option<String> = None,
        /// The kind of blocks: `mLSTM` or `sLSTM`.
        backbone: String = "mLSTM".to_owned() => |backbone| rules::one_of(backbone, &BACKBONES),
        /// Must be false: it forecasts directly.
        recurrent: bool = false => |recurrent| rules::require(!recurrent, "false, since xLSTM forecasts directly"),
    }
}

struct Network {
    dims: Dims,
    projection: Linear,
    blocks: Vec<Block>,
    norm: LayerNorm,
    /// Over time.
    temporal: Linear,
    decoder: Mlp,
}

/// A layer that is added to what it reads, behind a norm; with an sLSTM, feed-forward layers that are added too.
struct Block {
    norm: LayerNorm,
    layer: Memory,
}

enum Memory {
    Matrix(MatrixLstm),
    Scalar(ScalarLstm, LayerNorm, GatedFeedForward),
}

impl Architecture for XLstm {
    const NAME: &'static str = "xLSTM";
    const PAPER: &'static str = "Beck et al. 2024, arXiv 2405.04517";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] = &[
        "`recurrent=true` is an error; neuralforecast warns and forecasts directly.",
        "`backbone=\"sLSTM\"` computes in f32 and on CPUs; neuralforecast needs a GPU for it, where the package computes in bfloat16.",
    ];

    fn common_defaults() -> Value {
        json!({ "windows_batch_size": 128, "scaler_type": "robust" })
    }

    fn small() -> Vec<Value> {
        let sizes = json!({ "encoder_hidden_size": 8, "decoder_hidden_size": 10 });
        let mut scalar = sizes.clone();
        scalar["backbone"] = "sLSTM".into();
        vec![sizes, scalar]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_IN_CACHE, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let units = self.encoder_hidden_size;
        let matrix = self.backbone == BACKBONES[0];
        if !matrix && !units.is_multiple_of(ScalarLstm::HEADS) {
            let expected = format!("a multiple of {}, the heads of an sLSTM", ScalarLstm::HEADS);
            return Err(HyperParameterError::new("encoder_hidden_size", expected, units));
        }
        let columns = 1 + dims.hist_exog + dims.stat_exog + dims.futr_exog;
        let projection = Linear::new(&mut scope.at("feature_projection"), columns, units);
        let mut encoder = scope.at("hist_encoder");
        let blocks = self.encoder_n_blocks;
        let (bias, dropout) = (self.encoder_bias, self.encoder_dropout as f32);
        let block = |block: usize| {
            let mut scope = encoder.at("blocks");
            let mut scope = scope.at(block);
            let norm = LayerNorm::around_one(&mut scope.at("xlstm_norm"), units);
            let mut inner = scope.at("xlstm");
            if matrix {
                let layer = MatrixLstm::new(&mut inner, &MatrixLstmSizes { units, bias, dropout, blocks });
                return Block { norm, layer: Memory::Matrix(layer) };
            }
            let layer = ScalarLstm::new(&mut inner, &ScalarLstmSizes { units, dropout, block, blocks });
            let feed_norm = LayerNorm::around_one(&mut scope.at("ffn_norm"), units);
            let feed_forward = GatedFeedForward::new(&mut scope.at("ffn"), units, blocks);
            Block { norm, layer: Memory::Scalar(layer, feed_norm, feed_forward) }
        };
        let blocks = (0..blocks).map(block).collect();
        let norm = LayerNorm::around_one(&mut encoder.at("post_blocks_norm"), units);
        let decoder = MlpSizes {
            inputs: units.saturating_add(dims.futr_exog),
            outputs: dims.outputs,
            hidden: self.decoder_hidden_size,
            layers: self.decoder_layers,
            dropout: self.decoder_dropout as f32,
        };
        let activation = self.decoder_activation.as_deref().unwrap_or("GELU");
        let decoder = Mlp::new(&mut scope.at("mlp_decoder"), &decoder, activation).ok_or_else(|| {
            HyperParameterError::new("decoder_activation", Nonlinearity::NAMES, json!(activation))
        })?;
        let temporal = Linear::new(&mut scope.at("temporal_projection"), dims.input_size, dims.horizon);
        Ok(Box::new(Network { dims: *dims, projection, blocks, norm, temporal, decoder }))
    }
}

impl Block {
    /// `x [batch, steps, units]` to the same shape.
    fn forward(&self, cx: &Forward<'_>, x: Var) -> Var {
        let normed = self.norm.forward(cx, &x);
        match &self.layer {
            Memory::Matrix(layer) => x + layer.forward(cx, &normed),
            Memory::Scalar(layer, norm, feed_forward) => {
                let x = x + layer.forward(cx, &normed);
                &x + feed_forward.forward(cx, &norm.forward(cx, &x))
            }
        }
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let inputs = step_inputs(windows).permute(&[1, 0, 2]);
        let mut x = self.projection.forward(cx, &inputs, Activation::Identity);
        for block in &self.blocks {
            x = block.forward(cx, x);
        }
        let x = self.norm.forward(cx, &x);
        let mut x = self.temporal.forward_columns(cx, &x, Activation::Identity);
        if let Some(columns) = &windows.futr_exog {
            x = Var::concat(&[x, columns.narrow(1, input_size, horizon)], 2);
        }
        self.decoder.forward(cx, &x)
    }
}
