//! LSTM-Attention, a model of foretell's own: an encoder of gated cells, attention of each step of the horizon to all of the
//! encoder's states, and a perceptron that decodes.
//!
//! The parts are those of Hochreiter and Schmidhuber 1997, "Long Short-Term Memory", and Vaswani et al. 2017, "Attention Is
//! All You Need" (arXiv 1706.03762, section 3.2.2); a decoder that looks back at the states of a recurrent encoder is
//! from Bahdanau, Cho, Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and Translate" (arXiv
//! 1409.0473).
//!
//! ```text
//! s[1..L] = LSTM([y | hist | stat | futr])                  states of the history
//! q[t]    = s[L] + position[t] + W futr[t]                   the query of step t of the horizon
//! c[t]    = norm(q[t] + attention(q[t], s[1..L]))            the attended states
//! y[t]    = perceptron([c[t] | futr[t]])
//! ```
//!
//! [`LSTM`](crate::recurrent::lstm) forecasts step t from a single state of the history. Here each step of the horizon chooses
//! the states that it reads, by its position and by the columns that are known of it in advance: a holiday can look at the
//! holidays before it. All steps are forecast at once.

use foretell_nn::{
    Activation, AttentionSizes, Cell, Dims, Forward, HyperParameterError, Init, Inputs, LayerNorm, Linear,
    Mlp, MlpSizes, Model, MultiHeadAttention, Nonlinearity, ParamId, Recurrent, RecurrentSizes, Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::{hyper_parameters, require};
use crate::recurrent::shared::step_by_step::step_inputs;
use crate::rules;

/// The scopes of the encoder's and the decoder's parameters.
const ENCODER: &str = "hist_encoder";
const DECODER: &str = "mlp_decoder";

hyper_parameters! {
    LstmAttention {
        /// Layers of the encoder.
        encoder_n_layers: usize = 2 => rules::layers,
        /// Hidden units of each of its layers.
        encoder_hidden_size: usize = 128 => rules::units,
        /// Dropout between its layers.
        encoder_dropout: f32 = 0.0 => rules::dropout,
        /// Heads of the attention.
        n_head: usize = 4,
        /// Dropout of the attention's probabilities.
        attn_dropout: f32 = 0.0 => rules::dropout,
        /// Dropout behind the attention and behind the hidden layers of the decoder.
        dropout: f32 = 0.0 => rules::dropout,
        /// Units of the hidden layers of the decoder.
        decoder_hidden_size: usize = 128 => rules::units,
        /// Layers of the decoder.
        decoder_layers: usize = 2 => rules::layers,
        /// The decoder's activation, by the name of PyTorch's module.
        decoder_activation: String = "ReLU".to_owned(),
    }
}

struct Network {
    dims: Dims,
    /// Units of the encoder's layers.
    hidden: usize,
    encoder: Recurrent,
    /// One vector for each step of the horizon, `[horizon, hidden]`.
    positions: ParamId,
    /// Embeds the future columns of a step, if there are any.
    columns: Option<Linear>,
    attention: MultiHeadAttention,
    norm: LayerNorm,
    decoder: Mlp,
    dropout: f32,
}

impl Architecture for LstmAttention {
    const NAME: &'static str = "LSTMAttention";
    const PAPER: &'static str = "foretell's own; after Hochreiter and Schmidhuber 1997, Vaswani et al. 2017";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] =
        &["neuralforecast has no such model and does not load its directories."];

    fn common_defaults() -> Value {
        json!({ "windows_batch_size": 128, "scaler_type": "robust" })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({
                "encoder_hidden_size": 12, "decoder_hidden_size": 10, "encoder_dropout": 0.2,
                "attn_dropout": 0.1, "dropout": 0.1,
            }),
            json!({
                "encoder_n_layers": 1, "encoder_hidden_size": 7, "n_head": 2, "decoder_layers": 3,
                "decoder_hidden_size": 5, "decoder_activation": "PReLU",
            }),
        ]
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let &Dims { horizon, hist_exog, futr_exog, stat_exog, outputs, .. } = dims;
        let (hidden, heads) = (self.encoder_hidden_size, self.n_head);
        let fits = (1..=hidden).contains(&heads);
        require("n_head", fits, "between 1 and encoder_hidden_size", json!(heads))?;
        let encoder = RecurrentSizes {
            cell: Cell::Lstm,
            inputs: 1 + hist_exog + stat_exog + futr_exog,
            hidden,
            layers: self.encoder_n_layers,
            bias: true,
            dropout: self.encoder_dropout,
            projection: None,
        };
        let encoder = Recurrent::new(&mut scope.at(ENCODER), &encoder);
        let positions = scope.param("horizon_embedding", [horizon, hidden], Init::fan_in(hidden));
        let columns =
            (futr_exog > 0).then(|| Linear::without_bias(&mut scope.at("futr_embedding"), futr_exog, hidden));
        let attention = AttentionSizes { hidden, heads, dropout: self.attn_dropout };
        let attention = MultiHeadAttention::new(&mut scope.at("attention"), attention);
        let norm = LayerNorm::new(&mut scope.at("norm"), [hidden]);
        let decoder = MlpSizes {
            inputs: hidden.saturating_add(futr_exog),
            outputs,
            hidden: self.decoder_hidden_size,
            layers: self.decoder_layers,
            dropout: self.dropout,
        };
        let activation = &self.decoder_activation;
        let decoder = Mlp::new(&mut scope.at(DECODER), &decoder, activation).ok_or_else(|| {
            HyperParameterError::new("decoder_activation", Nonlinearity::NAMES, json!(activation))
        })?;
        let (dims, dropout) = (*dims, self.dropout);
        Ok(Box::new(Network { dims, hidden, encoder, positions, columns, attention, norm, decoder, dropout }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let states = self.encoder.forward(cx, &step_inputs(windows), input_size, None).permute(&[1, 0, 2]);
        let ahead = windows.futr_exog.as_ref().map(|columns| columns.narrow(1, input_size, horizon));

        let last = states.narrow(1, input_size - 1, 1);
        let mut queries = last.expand([windows.batch(), horizon, self.hidden]) + cx.param(self.positions);
        if let Some((embedding, columns)) = self.columns.as_ref().zip(ahead.as_ref()) {
            queries = queries + embedding.forward(cx, columns, Activation::Identity);
        }
        let read = cx.dropout(self.attention.forward(cx, &queries, &states), self.dropout);
        let mut known = self.norm.forward(cx, &(queries + read));
        if let Some(columns) = &ahead {
            known = Var::concat(&[&known, columns], 2);
        }
        self.decoder.forward(cx, &known)
    }
}

#[cfg(test)]
mod tests {
    use foretell_nn::{Init, Key, Table, Tensor, Windows};
    use serde_json::Map;

    use super::*;
    use crate::{CategoricalColumns, find};

    fn windows(batch: usize, dims: &Dims) -> Windows {
        let random = |seed, shape: &[usize]| {
            Tensor::build(shape, |out| Init::Uniform { bound: 1.0 }.fill(Key::new(seed), out))
        };
        let steps = dims.input_size + dims.horizon;
        Windows {
            insample_y: random(1, &[batch, dims.input_size]),
            insample_mask: Tensor::full([batch, dims.input_size], 1.0),
            hist_exog: None,
            futr_exog: (dims.futr_exog > 0).then(|| random(2, &[batch, steps, dims.futr_exog])),
            stat_exog: None,
        }
    }

    /// The future columns of a step change its own forecast and no other.
    #[test]
    fn a_step_knows_its_own_future_columns() {
        let dims = Dims { futr_exog: 1, ..Dims::new(6, 4) };
        let mut table = Table::default();
        let entry = find("LSTMAttention").expect("a registered model");
        let network =
            entry.build(&Map::new(), &dims, &CategoricalColumns::default(), &mut table).expect("valid sizes");
        let params = table.initialise(3);
        let forecast = |windows: &Windows| {
            network.model.forward(&Forward::inference(&params), &windows.inputs()).value().to_vec()
        };
        let mut windows = windows(1, &dims);
        let before = forecast(&windows);
        windows.futr_exog.as_mut().expect("a column").values_mut()[6 + 2] += 1.0;
        let after = forecast(&windows);
        let changed: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
        assert_eq!(changed, [false, false, true, false]);
    }

    #[test]
    fn invalid_settings_are_errors() {
        for (name, value, expected) in [
            ("n_head", json!(129), "between 1 and encoder_hidden_size"),
            ("n_head", json!(0), "between 1 and encoder_hidden_size"),
            ("decoder_activation", json!("GLU"), "ReLU, Softplus"),
        ] {
            let own = Map::from_iter([(name.to_owned(), value)]);
            let entry = find("LSTMAttention").expect("a registered model");
            let error = entry
                .build(&own, &Dims::new(6, 4), &CategoricalColumns::default(), &mut Table::default())
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(error.contains(name) && error.contains(expected), "{error}");
        }
    }
}
