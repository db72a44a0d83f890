//! TFT: the variables of each step are weighted and summed, then read by recurrent layers, and then by attention. The
//! weights of the variables and of the attention explain a forecast.
//!
//! Lim, Arik, Loeff, Pfister 2021, "Temporal Fusion Transformers for interpretable multi-horizon time series forecasting"
//! (arXiv 1912.09363), figure 2.

use foretell_nn::{
    Activation, AttentionSizes, Cell, CellVars, Dims, EmbeddedNumbers, Explanation, Forward, GatedLinear,
    GatedResidual, GatedResidualSizes, HyperParameterError, Inputs, InterpretableAttention, LayerNorm,
    Linear, Model, Needs, Nonlinearity, NumberEmbedding, Recurrent, RecurrentSizes, ResidualContext, Scope,
    StaticContexts, StaticEncoder, StaticEncoderSizes, Tensor, Var, Variable, VariableSelection,
    VariableSelectionSizes, VariableWeights,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_IN_CACHE};
use crate::hyper::{hyper_parameters, require};
use crate::rules;

/// The scopes of the parts whose layers are applied to different numbers of steps.
const STATIC_ENCODER: &str = "static_encoder";
const TEMPORAL_ENCODER: &str = "temporal_encoder";
const DECODER: &str = "temporal_fusion_decoder";
const OUTPUT: &str = "output_adapter";

/// The activations that a gated residual network may have.
const ACTIVATIONS: [&str; 8] = ["ELU", "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "Sigmoid", "GELU"];

hyper_parameters! {
    Tft {
        /// Vectors that the target is embedded as, each a variable of its own.
        tgt_size: usize = 1 => rules::layers,
        /// Numbers of each vector, and units of each layer.
        hidden_size: usize = 128 => rules::units,
        /// Heads of the attention, which divide `hidden_size`.
        n_head: usize = 4,
        /// Dropout of the attention's weights.
        attn_dropout: f64 = 0.0 => rules::dropout,
        /// The activation of the gated residual networks: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "Sigmoid", "ELU" or
        /// "GELU". Those that make contexts of the static columns always have "ELU".
        grn_activation: String = "ELU".to_owned() => |name| rules::one_of(name, &ACTIVATIONS),
        /// Recurrent layers that read the history, and as many that read the future.
        n_rnn_layers: usize = 1 => rules::layers,
        /// Their cells: "lstm" or "gru".
        rnn_type: String = "lstm".to_owned() => |name| rules::one_of(&name.to_lowercase(), &["lstm", "gru"]),
        /// Whether all of them start from the same state, computed from the static columns, instead of one each.
        one_rnn_initial_state: bool = false,
        /// Dropout of the gated residual networks and of the output of the attention.
        dropout: f64 = 0.1 => rules::dropout,
    }
}

impl Tft {
    fn cell(&self) -> Cell {
        if self.rnn_type.eq_ignore_ascii_case("gru") { Cell::Gru } else { Cell::Lstm }
    }
}

impl Architecture for Tft {
    const NAME: &'static str = "TFT";
    const PAPER: &'static str = "Lim et al. 2021, arXiv 1912.09363";
    const EXOGENOUS: Exogenous = Exogenous { cat: false, ..Exogenous::ALL };
    const EXPLAINS: bool = true;
    const DIFFERENCES: &'static [&'static str] = &[
        "A `grn_activation` that is not listed is an error; neuralforecast uses ELU instead. \"GLU\", which halves the number of \
         units, is an error in both.",
        "The network that weighs the variables where there is only one, and the weights for a static context without static \
         columns, stay as they began. No forecast depends on them.",
    ];

    fn common_defaults() -> Value {
        json!({ "scaler_type": "robust" })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 8, "n_head": 2 }),
            json!({
                "hidden_size": 6, "n_head": 3, "dropout": 0.0, "attn_dropout": 0.2, "grn_activation": "Tanh",
                "rnn_type": "gru", "n_rnn_layers": 2, "tgt_size": 2,
            }),
            json!({ "hidden_size": 4, "n_head": 1, "n_rnn_layers": 2, "one_rnn_initial_state": true }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_IN_CACHE, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { hidden_size: hidden, n_head, .. } = self;
        let [dropout, attn_dropout] = [self.dropout, self.attn_dropout].map(|rate| rate as f32);
        let divides = n_head > 0 && hidden.is_multiple_of(n_head);
        require("n_head", divides, format!("a divisor of hidden_size, {hidden}"), json!(n_head))?;
        let activation = Nonlinearity::fixed(&self.grn_activation).expect("one of the activations");
        let embedding = Embedding::new(&mut scope.at("embedding"), dims, self.tgt_size, hidden);

        let statics = (dims.stat_exog > 0).then(|| {
            let sizes = StaticEncoderSizes {
                columns: dims.stat_exog,
                hidden,
                cell: self.cell(),
                layers: self.n_rnn_layers,
                one_state: self.one_rnn_initial_state,
                dropout,
                activation,
            };
            StaticEncoder::new(&mut scope.at(STATIC_ENCODER), &sizes)
        });
        let reads_context = statics.is_some();
        let context = if reads_context { ResidualContext::Read } else { ResidualContext::Unused };
        let selection =
            |variables| VariableSelectionSizes { variables, hidden, reads_context, dropout, activation };
        let recurrent = RecurrentSizes {
            cell: self.cell(),
            inputs: hidden,
            hidden,
            layers: self.n_rnn_layers,
            bias: true,
            dropout: 0.0,
            projection: None,
        };
        let known = dims.futr_exog.max(1);
        let past = dims.hist_exog.saturating_add(known).saturating_add(self.tgt_size);
        let mut temporal = scope.at(TEMPORAL_ENCODER);
        let encoder = TemporalEncoder {
            history: VariableSelection::new(&mut temporal.at("history_vsn"), &selection(past)),
            future: VariableSelection::new(&mut temporal.at("future_vsn"), &selection(known)),
            history_states: Recurrent::new(&mut temporal.at("history_encoder"), &recurrent),
            future_states: Recurrent::new(&mut temporal.at("future_encoder"), &recurrent),
            gate: GatedNorm::new(&mut temporal, ["input_gate", "input_gate_ln"], hidden),
        };

        let residual = |context| GatedResidualSizes {
            inputs: hidden,
            hidden,
            outputs: None,
            context,
            dropout,
            activation,
        };
        let mut fusion = scope.at(DECODER);
        let sizes = AttentionSizes { hidden, heads: n_head, dropout: attn_dropout };
        let mut attention = fusion.at("attention");
        let steps = dims.input_size + dims.horizon;
        // PyTorch's state dictionary lists the attention's mask, which hides later steps.
        attention.constant("_mask", [1, steps, steps], move |mask| {
            for (step, row) in mask.chunks_exact_mut(steps).enumerate() {
                row[step + 1..].fill(f32::NEG_INFINITY);
            }
        });
        let decoder = FusionDecoder {
            attention: InterpretableAttention::new(&mut attention, sizes, dropout),
            enrichment: GatedResidual::new(&mut fusion.at("enrichment_grn"), &residual(context)),
            attention_gate: GatedNorm::new(&mut fusion, ["attention_gate", "attention_ln"], hidden),
            pointwise: GatedResidual::new(
                &mut fusion.at("positionwise_grn"),
                &residual(ResidualContext::None),
            ),
            gate: GatedNorm::new(&mut fusion, ["decoder_gate", "decoder_ln"], hidden),
        };
        let output = Linear::new(&mut scope.at(OUTPUT), hidden, dims.outputs);
        Ok(Box::new(Network { dims: *dims, recurrent, embedding, statics, encoder, decoder, output }))
    }
}

struct Network {
    dims: Dims,
    recurrent: RecurrentSizes,
    embedding: Embedding,
    statics: Option<StaticEncoder>,
    encoder: TemporalEncoder,
    decoder: FusionDecoder,
    output: Linear,
}

/// The steps of windows after the recurrent layers, time-major: `[steps, batch, hidden]`.
struct Encoded {
    history: Var,
    future: Var,
    /// The contexts computed from the static columns, if there are any.
    contexts: Option<StaticContexts>,
    /// The weights of the variables of the history and of the future, `[steps, batch, variables]`.
    weights: [Var; 2],
}

impl Network {
    fn encode(&self, cx: &Forward<'_>, windows: &Inputs) -> Encoded {
        let variables = self.embedding.variables(cx, windows, &self.dims);
        let contexts = self.contexts(cx, windows);
        let start = match &contexts {
            Some(contexts) => contexts.start.clone(),
            None => self.zeros(windows.batch()),
        };
        let context = contexts.as_ref().map(|contexts| &contexts.selection);
        let ([history, future], weights) = self.encoder.forward(cx, variables, context, &start);
        Encoded { history, future, contexts, weights }
    }

    /// The contexts computed from the static columns, if there are any.
    fn contexts(&self, cx: &Forward<'_>, windows: &Inputs) -> Option<StaticContexts> {
        let columns = self.embedding.stat.as_ref().zip(windows.stat_exog.as_ref());
        let embedded = columns.map(|(embedding, columns)| embedding.embed(cx, columns.clone()));
        self.statics.as_ref().zip(embedded).map(|(encoder, columns)| encoder.forward(cx, &columns))
    }

    /// The first states of the recurrent layers where there are no static columns.
    fn zeros(&self, batch: usize) -> Vec<CellVars> {
        let RecurrentSizes { cell, hidden, layers, .. } = self.recurrent;
        let zeros = || Var::constant(Tensor::zeros([batch, hidden]));
        (0..layers).map(|_| CellVars { h: zeros(), c: (cell == Cell::Lstm).then(zeros) }).collect()
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Encoded { history, future, contexts, .. } = self.encode(cx, windows);
        let context = contexts.as_ref().map(|contexts| &contexts.enrichment);
        let decoded = self.decoder.forward(cx, &history, &future, context);
        self.output.forward(cx, &decoded, Activation::Identity).permute(&[1, 0, 2])
    }

    fn explain(&self, cx: &Forward<'_>, windows: &Inputs) -> Option<Explanation> {
        let Encoded { history, future, contexts, weights: [past, known] } = self.encode(cx, windows);
        let context = contexts.as_ref().map(|contexts| &contexts.enrichment);
        let attention = self.decoder.attention_weights(cx, &history, &future, context).mean(1);
        let Dims { hist_exog, futr_exog, stat_exog, .. } = self.dims;
        let futr: Vec<Variable> = match futr_exog {
            0 => vec![Variable::LastTarget],
            columns => (0..columns).map(Variable::Futr).collect(),
        };
        let seen = (0..hist_exog).map(Variable::Hist).chain(futr.iter().copied());
        let seen = seen.chain((0..self.embedding.tgt_size).map(Variable::Target)).collect();
        let by_window = |weights: Var| weights.value().permute(&[1, 0, 2]);
        Some(Explanation {
            past: Some(VariableWeights { variables: seen, weights: by_window(past) }),
            future: Some(VariableWeights { variables: futr, weights: by_window(known) }),
            fixed: contexts.map(|contexts| VariableWeights {
                variables: (0..stat_exog).map(Variable::Stat).collect(),
                weights: contexts.weights.value().clone(),
            }),
            attention: Some(attention.value().clone()),
        })
    }
}

/// Embeds every number of a window as a vector.
struct Embedding {
    hist: Option<NumberEmbedding>,
    futr: NumberEmbedding,
    stat: Option<NumberEmbedding>,
    target: NumberEmbedding,
    tgt_size: usize,
}

impl Embedding {
    fn new(scope: &mut Scope<'_>, dims: &Dims, tgt_size: usize, hidden: usize) -> Self {
        let mut embedding =
            |name: &str, columns| NumberEmbedding::new(scope, &format!("{name}_embedding"), columns, hidden);
        Self {
            stat: (dims.stat_exog > 0).then(|| embedding("stat_exog", dims.stat_exog)),
            futr: embedding("futr_exog", dims.futr_exog.max(1)),
            hist: (dims.hist_exog > 0).then(|| embedding("hist_exog", dims.hist_exog)),
            target: embedding("tgt", tgt_size),
            tgt_size,
        }
    }

    /// The variables of the history's steps, `[hist | futr | target]`, and those known of the horizon's, time-major. Where no
    /// column is known of the future, the last value of the target stands for one.
    fn variables(&self, cx: &Forward<'_>, windows: &Inputs, dims: &Dims) -> [EmbeddedNumbers; 2] {
        let &Dims { input_size, horizon, .. } = dims;
        let (y, batch) = (windows.insample_y.permute(&[1, 0]).unsqueeze(2), windows.batch());
        let by_step = |columns: &Var| columns.permute(&[1, 0, 2]);
        let futr = match &windows.futr_exog {
            Some(columns) => by_step(columns),
            None => {
                let last = y.narrow(0, input_size - 1, 1);
                last.expand([input_size + horizon, batch, 1])
            }
        };
        let futr = self.futr.embed(cx, futr);
        let y = y.expand([input_size, batch, self.tgt_size]);
        let hist = self.hist.as_ref().zip(windows.hist_exog.as_ref());
        let mut past: Vec<_> =
            hist.map(|(hist, columns)| hist.embed(cx, by_step(columns))).into_iter().collect();
        past.extend([futr.steps(0, input_size), self.target.embed(cx, y)]);
        [EmbeddedNumbers::concat(&past), futr.steps(input_size, horizon)]
    }
}

/// A gated linear layer, added to a residual, and a norm of the sum.
struct GatedNorm {
    gate: GatedLinear,
    norm: LayerNorm,
}

impl GatedNorm {
    fn new(scope: &mut Scope<'_>, [gate, norm]: [&str; 2], hidden: usize) -> Self {
        Self {
            gate: GatedLinear::new(&mut scope.at(gate), hidden, hidden),
            norm: LayerNorm::new(&mut scope.at(norm), [hidden]).with_eps(GatedResidual::NORM_EPS),
        }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var, skip: &Var) -> Var {
        self.norm.forward(cx, &self.gate.forward(cx, x, Some(skip)))
    }
}

/// Weighs the variables of each step and reads the steps in order: recurrent layers over the history, and others that continue
/// from their states over the horizon.
struct TemporalEncoder {
    history: VariableSelection,
    future: VariableSelection,
    history_states: Recurrent,
    future_states: Recurrent,
    gate: GatedNorm,
}

impl TemporalEncoder {
    /// The steps of the history and those of the future, `[steps, batch, hidden]`, and the weights of their variables.
    fn forward(
        &self,
        cx: &Forward<'_>,
        [past, known]: [EmbeddedNumbers; 2],
        context: Option<&Var>,
        start: &[CellVars],
    ) -> ([Var; 2], [Var; 2]) {
        let past = self.history.forward(cx, &past, context);
        let known = self.future.forward(cx, &known, context);
        let (history, between) = self.history_states.forward_from(cx, &past.sum, start);
        let (future, _) = self.future_states.forward_from(cx, &known.sum, &between);
        let steps = [(history, past.sum), (future, known.sum)];
        (
            steps.map(|(states, selected)| self.gate.forward(cx, &states, &selected)),
            [past.weights, known.weights],
        )
    }
}

/// Enriches each step by the static context, lets the horizon's steps attend to the others, and decodes them.
struct FusionDecoder {
    enrichment: GatedResidual,
    attention: InterpretableAttention,
    attention_gate: GatedNorm,
    pointwise: GatedResidual,
    gate: GatedNorm,
}

impl FusionDecoder {
    /// The steps of the horizon, `[horizon, batch, hidden]`. The history's steps are keys and values only: no forecast depends
    /// on their queries.
    fn forward(&self, cx: &Forward<'_>, history: &Var, future: &Var, context: Option<&Var>) -> Var {
        let [earlier, own] = self.enriched(cx, [history, future], context);
        let read = self.attention.forward(cx, &earlier, &own);
        let attended = self.attention_gate.forward(cx, &read, &own);
        let decoded = self.pointwise.forward(cx, &attended, None);
        self.gate.forward(cx, &decoded, future)
    }

    /// The weights with which each step of history and horizon attends to each, `[batch, heads, steps, steps]`.
    fn attention_weights(&self, cx: &Forward<'_>, history: &Var, future: &Var, context: Option<&Var>) -> Var {
        self.attention.weights(cx, &Var::concat(&self.enriched(cx, [history, future], context), 0))
    }

    fn enriched(&self, cx: &Forward<'_>, steps: [&Var; 2], context: Option<&Var>) -> [Var; 2] {
        steps.map(|steps| self.enrichment.forward(cx, steps, context))
    }
}
