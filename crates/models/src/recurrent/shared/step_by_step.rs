//! Models that forecast step by step: a recurrent encoder reads a step of the window, and its state becomes the forecast of
//! the next.

use foretell_nn::{
    Activation, Forward, Inputs, Linear, Mlp, Model, Recurrent, RecurrentState, StepState, Var,
};

/// `[y | hist | stat | futr]` of each step, time-major: `[steps, batch, columns]`.
pub(crate) fn step_inputs(windows: &Inputs) -> Var {
    let &[_, steps] = &*windows.insample_y.shape() else { unreachable!("a row of steps per window") };
    let mut parts = vec![windows.insample_y.unsqueeze(2)];
    parts.extend(windows.hist_exog.clone());
    parts.extend(windows.stat_exog.iter().map(|columns| columns.repeat(1, steps)));
    parts.extend(windows.futr_exog.iter().map(|columns| columns.narrow(1, 0, steps)));
    Var::concat(&parts.iter().collect::<Vec<_>>(), 2).permute(&[1, 0, 2])
}

/// A model that forecasts step by step: a recurrent encoder, and what makes a forecast of its state at a step.
pub(crate) struct Autoregressive {
    pub(crate) encoder: Recurrent,
    /// From windows to the encoder's inputs, time-major: `[steps, batch, columns]`.
    pub(crate) step_inputs: fn(&Inputs) -> Var,
    /// From the states `[steps, batch, units]` to the forecasts of the next steps, `[steps, batch, outputs]`.
    pub(crate) decoder: StepDecoder,
    pub(crate) input_size: usize,
}

/// How a state becomes a forecast.
pub(crate) enum StepDecoder {
    /// Nothing: the encoder projects its states to the forecast.
    Projected,
    Linear(Linear),
    Mlp(Mlp),
}

impl Autoregressive {
    /// The forecasts of the last `last` steps, `[batch, last, outputs]`.
    fn decode(
        &self,
        cx: &Forward<'_>,
        windows: &Inputs,
        last: usize,
        state: Option<&mut RecurrentState>,
    ) -> Var {
        let states = self.encoder.forward(cx, &(self.step_inputs)(windows), last, state);
        let forecasts = match &self.decoder {
            StepDecoder::Projected => states,
            StepDecoder::Linear(layer) => layer.forward(cx, &states, Activation::Identity),
            StepDecoder::Mlp(layers) => layers.forward(cx, &states),
        };
        forecasts.permute(&[1, 0, 2])
    }
}

impl Model for Autoregressive {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        self.decode(cx, windows, windows.insample_y.shape()[1] - self.input_size, None)
    }

    fn keeps_state(&self) -> bool {
        true
    }

    fn step(&self, cx: &Forward<'_>, windows: &Inputs, state: &mut StepState) -> Var {
        self.decode(cx, windows, 1, Some(state.get()))
    }
}
