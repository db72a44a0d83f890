//! Recurrent networks: a state that is carried from step to step.

pub(crate) mod deepar;
pub(crate) mod dilated_rnn;
pub(crate) mod gru;
pub(crate) mod lstm;
pub(crate) mod lstm_attention;
pub(crate) mod rnn;
pub(crate) mod xlstm;

/// Parts of these models, most of them used by several.
pub(crate) mod shared {
    pub(crate) mod context_decoder;
    pub(crate) mod rnn_lstm_gru;
    pub(crate) mod sampling;
    pub(crate) mod step_by_step;
}
