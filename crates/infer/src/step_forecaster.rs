//! Forecasts of a series that grows: each step is read once, and the recurrent network's state stands for all steps before.

use std::fmt;

use foretell_data::{Stats, WindowScaler};
use foretell_nn::{DistributionColumns, Forward, Key, Loss, Network, Params, StepState, Tensor, Windows};

use crate::stepwise::{continue_forecast, mean_of_outputs};

/// A trained recurrent network that reads one series step by step, without any columns beside the target.
///
/// A forecast is that of a run over all steps that were read, from the first one of its history on, without running through them
/// again. Both agree to about 1e-6 of the series' scale, not to the last bit: products with the inputs of one step
/// add up in another order than products with those of many.
///
/// **Scaling.** A network sees each window shifted and scaled by its own statistics (`scaler_type`), and a state that was
/// computed on one scale is of no use on another. So shift and scale ([`StepForecaster::scaling`]) are those of the history that it
/// started with, and stay. Where the level of a series drifts far from there, start again from a recent history. With
/// `scaler_type = "identity"` there is nothing to choose.
pub struct StepForecaster {
    parts: StepParts,
    state: StepState,
    /// The network's outputs for the steps after the last one that was read, as far as it makes them at once.
    outputs: Tensor,
}

/// The parts of a [`StepForecaster`].
#[derive(Clone)]
pub struct StepParts {
    /// The network, which keeps a state and draws no sample paths.
    pub network: Network,
    /// Its parameters.
    pub params: Params,
    /// Its loss, for the columns of its forecasts.
    pub loss: Loss,
    /// Steps to forecast: any number for a network that forecasts step by step, else the network's.
    pub horizon: usize,
    /// How values are scaled.
    pub scaler: WindowScaler,
    /// Shift and scale of the values.
    pub scaling: Stats,
    /// The seed of the random numbers of forecasts that draw some.
    pub random_seed: u64,
}

/// A value that is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoNumber {
    /// The value.
    pub found: f32,
}

impl fmt::Display for NoNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.found;
        write!(
            f,
            "a step must be a finite number, as it stays in the state, found {found}; read the forecast of that step in its place"
        )
    }
}

impl std::error::Error for NoNumber {}

impl StepForecaster {
    /// One that has read the `history`.
    ///
    /// # Errors
    /// If a value is no finite number.
    ///
    /// # Panics
    /// If the network keeps no state, or the history is shorter than it needs.
    #[track_caller]
    pub fn new(parts: StepParts, history: &[f32]) -> Result<Self, NoNumber> {
        let mut forecaster = Self { parts, state: StepState::default(), outputs: Tensor::zeros([1, 0, 0]) };
        forecaster.read_all(history)?;
        Ok(forecaster)
    }

    /// Reads the next value of the series.
    ///
    /// # Errors
    /// If it is no finite number; nothing was read then.
    pub fn read(&mut self, y: f32) -> Result<(), NoNumber> {
        self.read_all(&[y])
    }

    fn read_all(&mut self, values: &[f32]) -> Result<(), NoNumber> {
        if let Some(&found) = values.iter().find(|y| !y.is_finite()) {
            return Err(NoNumber { found });
        }
        let StepParts { network, params, scaler, scaling, .. } = &self.parts;
        let seen = Tensor::build([1, values.len()], |seen| {
            seen.copy_from_slice(values);
            scaler.transform(*scaling, seen);
        });
        let cx = Forward::inference(params).with_key(self.parts.key());
        let outputs = network.model.step(&cx, &target_alone(seen).inputs(), &mut self.state);
        self.outputs = outputs.value().contiguous();
        Ok(())
    }

    /// The forecast of the steps after the last one that was read, `[horizon, columns of the loss]`, on the data's scale.
    pub fn forecast(&self) -> Vec<f32> {
        let StepParts { network, params, loss, horizon, scaler, scaling, .. } = &self.parts;
        let mut outputs = self.outputs.clone();
        if network.needs.decoding.is_step_by_step() && *horizon > 1 {
            let cx = Forward::inference(params).with_key(self.parts.key());
            let next = |_: usize, last: &Tensor| target_alone(self.parts.fed_back(last));
            outputs = continue_forecast(
                &*network.model,
                &cx,
                outputs,
                &mut self.state.repeated(0, 1),
                *horizon,
                next,
            );
        }
        let output_scaling = params.revin().map_or(*scaling, |affine| scaling.corrected(affine));
        if !loss.is_distribution() {
            let mut values = outputs.to_vec();
            scaler.inverse(output_scaling, &mut values);
            return values;
        }
        let columns = loss.columns();
        let mut values = vec![0.0; horizon * columns.count()];
        loss.forecast(&columns, outputs.values(), output_scaling.loc, output_scaling.scale, &mut values);
        values
    }

    /// The shift and the scale of the values that the network sees, all along.
    pub fn scaling(&self) -> Stats {
        self.parts.scaling
    }
}

impl fmt::Debug for StepForecaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("StepForecaster");
        shown
            .field("scaling", &self.parts.scaling)
            .field("horizon", &self.parts.horizon)
            .finish_non_exhaustive()
    }
}

impl StepParts {
    fn key(&self) -> Key {
        crate::forecast::key(self.random_seed)
    }

    /// The target that the network reads for a step, `[1, 1]`, from its forecast of the step, `[1, 1, outputs]`.
    fn fed_back(&self, outputs: &Tensor) -> Tensor {
        if !self.loss.is_distribution() {
            return mean_of_outputs(outputs);
        }
        let Stats { loc, scale } = self.scaling;
        Tensor::build([1, 1], |mean| {
            self.loss.forecast(&DistributionColumns::mean(), outputs.values(), loc, scale, mean);
            mean[0] = self.scaler.forward(self.scaling, mean[0]);
        })
    }
}

/// A window of the target, `[1, steps]`.
fn target_alone(insample_y: Tensor) -> Windows {
    let insample_mask = Tensor::full(insample_y.shape(), 1.0);
    Windows { insample_y, insample_mask, hist_exog: None, futr_exog: None, stat_exog: None }
}
