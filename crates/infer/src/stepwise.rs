//! Models that forecast a step at a time ([`Decoding::StepByStep`]): how they forecast a horizon.

use foretell_nn::{Decoding, Forward, Model, Network, StepState, Tensor, Windows, trace};
use foretell_pool::Buffer;
use foretell_threads::is_wanted;

/// The forecast of a model, `[batch, horizon, outputs]`, on the windows' scale. The windows of a model that forecasts
/// step by step are shifted by one step and reach over the horizon; the target within the horizon is not read.
/// `fed_back` turns the forecast of a step, `[batch, 1, outputs]`, into the target that the model reads for that step, `[batch,
/// 1]`.
pub fn forecast(
    network: &Network,
    cx: &Forward<'_>,
    windows: &Windows,
    horizon: usize,
    fed_back: &dyn Fn(&Tensor) -> Tensor,
) -> Tensor {
    let model = &*network.model;
    match network.needs.decoding {
        Decoding::StepByStep { .. } => step_by_step(model, cx, windows, horizon, fed_back),
        Decoding::Direct => model.forward(cx, &windows.inputs()).value().contiguous(),
    }
}

fn step_by_step(
    model: &dyn Model,
    cx: &Forward<'_>,
    windows: &Windows,
    horizon: usize,
    fed_back: &dyn Fn(&Tensor) -> Tensor,
) -> Tensor {
    let history = windows.insample_y.shape()[1] + 1 - horizon;
    let mut state = StepState::default();
    let first = model.step(cx, &windows.steps(0..history).inputs(), &mut state).value().contiguous();
    let next = |step: usize, last: &Tensor| {
        let at = history + step;
        Windows { insample_y: fed_back(last), ..windows.steps(at..at + 1) }
    };
    continue_forecast(model, cx, first, &mut state, horizon, next)
}

/// The forecast of a horizon, `[batch, horizon, outputs]`, by a model that has forecast its `first` step, `[batch, 1, outputs]`, and
/// is in this state. `next` builds the window of a step, counted from 0, from its forecast.
pub(crate) fn continue_forecast(
    model: &dyn Model,
    cx: &Forward<'_>,
    first: Tensor,
    state: &mut StepState,
    horizon: usize,
    next: impl Fn(usize, &Tensor) -> Windows,
) -> Tensor {
    let (batch, outputs) = (first.shape()[0], first.shape()[2]);
    let mut forecasts = Buffer::zeroed(batch * horizon * outputs);
    let mut forecast = first;
    // Of a record the forecasts are joined by an operation, not copied number by number.
    let mut recorded = trace::is_on().then(Vec::new);
    for step in 0..horizon {
        let rows = forecasts.chunks_exact_mut(horizon * outputs).zip(forecast.values().chunks_exact(outputs));
        rows.for_each(|(row, values)| row[step * outputs..(step + 1) * outputs].copy_from_slice(values));
        if let Some(recorded) = &mut recorded {
            recorded.push(forecast.clone());
        }
        if step + 1 < horizon && is_wanted() {
            let seen = next(step, &forecast);
            forecast = model.step(cx, &seen.inputs(), state).value().contiguous();
        }
    }
    match recorded {
        Some(steps) => Tensor::concat(&steps.iter().collect::<Vec<_>>(), 1),
        None => Tensor::from_buffer(forecasts, [batch, horizon, outputs]),
    }
}

/// The target `[batch, 1]` that a model reads for a step, from its own forecast `[batch, 1, outputs]` of the step, where the
/// outputs are forecasts: their mean.
pub fn mean_of_outputs(forecast: &Tensor) -> Tensor {
    match forecast.shape()[2] {
        1 => forecast.reshape([forecast.shape()[0], 1]),
        outputs => forecast.sum(2).scale(1.0 / outputs as f32),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use foretell_nn::{Feedback, Inputs, Needs, Table, Var};

    use super::*;

    fn row(values: &[f32]) -> Tensor {
        Tensor::from_slice(values, [1, values.len()])
    }

    fn column(values: &[f32]) -> Tensor {
        Tensor::from_slice(values, [1, values.len(), 1])
    }

    /// Forecasts the sum of the last target and the column beside it, and ten more than that.
    struct Adder;

    impl Model for Adder {
        fn forward(&self, _: &Forward<'_>, _: &Inputs) -> Var {
            unreachable!("it forecasts step by step")
        }

        fn step(&self, _: &Forward<'_>, windows: &Inputs, _: &mut StepState) -> Var {
            let y = windows.insample_y.value().to_vec();
            let futr = windows.futr_exog.as_ref().expect("a column").value().to_vec();
            let sum = y[y.len() - 1] + futr[futr.len() - 1];
            Var::constant(Tensor::from_slice(&[sum, sum + 10.0], [1, 1, 2]))
        }
    }

    #[test]
    fn forecasts_are_fed_back_by_their_mean() {
        let windows = Windows {
            insample_y: row(&[1.0, 2.0, f32::NAN, f32::NAN]),
            insample_mask: row(&[1.0; 4]),
            hist_exog: None,
            futr_exog: Some(column(&[0.0, 100.0, 200.0, 300.0])),
            stat_exog: None,
        };
        let decoding = Decoding::StepByStep { h_train: 1, inference_input_size: 1, feedback: Feedback::Mean };
        let needs = Needs { decoding, ..Needs::default() };
        let network = Network { needs, model: Arc::new(Adder) };
        let params = Table::default().initialise(0);
        let forecasts = forecast(&network, &Forward::inference(&params), &windows, 3, &mean_of_outputs);
        assert_eq!(&*forecasts.shape(), [1, 3, 2]);
        assert_eq!(forecasts.to_vec(), [102.0, 112.0, 307.0, 317.0, 612.0, 622.0]);
    }
}
