//! Windows as tensors.

use std::fmt;

use foretell_data::{Cutter, WindowRef, WindowSlices};
use foretell_nn::{Dims, Loss, Targets, Tensor, Windows};
use foretell_pool::Buffer;

use crate::shift_target::shift_target;

/// Windows with their targets.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The inputs of the model.
    pub windows: Windows,
    /// The true values, `[batch, horizon]`: on the windows' scale; or as in the panel, for a distribution's loss and where
    /// forecasts are compared with the data.
    pub target: Tensor,
    /// The weight of each step in the loss, `[batch, horizon]`: mask times sample weight times horizon weight.
    pub weights: Tensor,
    /// The scale that the loss divides the errors of each window by, `[batch]`, on the scale of the target.
    pub error_scale: Tensor,
    /// The shift that was subtracted from the target of each window, `[batch]`.
    pub loc: Tensor,
    /// The scale that the target of each window was divided by, `[batch]`.
    pub scale: Tensor,
}

impl Batch {
    /// The true values, with weights and scales, that forecasts are compared with.
    pub fn truth(&self) -> Targets<'_> {
        Targets {
            horizon: self.target.shape()[1],
            target: self.target.values(),
            weights: self.weights.values(),
            error_scale: self.error_scale.values(),
            loc: self.loc.values(),
            scale: self.scale.values(),
        }
    }
}

/// What is done to windows after they were cut, for a model that reads them in a form of its own.
pub trait Preparation: fmt::Debug + Sync {
    /// The batch in the model's form, of as many windows and steps of the horizon. `trains` says whether it is trained on, else its
    /// targets are compared with forecasts.
    fn prepare(&self, batch: Batch, trains: bool) -> Batch;
}

/// How windows are cut for a model.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    /// The sizes of the model's inputs.
    pub dims: Dims,
    /// The loss, for the weights of the horizon's steps.
    pub loss: &'a Loss,
    /// Whether the model sees zeros in place of the target's history.
    pub exclude_insample_y: bool,
    /// Whether the model forecasts step by step, so that the target of its windows is shifted by one step.
    pub step_by_step: bool,
    /// What is done to them afterwards, if anything.
    pub preparation: Option<&'a dyn Preparation>,
}

impl Cut<'_> {
    /// The windows that models are trained on, cut from their panel and scaled, with their targets on the windows' scale (for
    /// a distribution's loss as in the panel).
    pub fn batch(&self, cutter: &Cutter<'_>, windows: &[WindowRef]) -> Batch {
        self.prepared(self.cut(cutter, windows, self.loss.is_distribution()), true)
    }

    /// The windows, cut from their panel and scaled, with their targets as in the panel, for comparison with forecasts on the
    /// data's scale.
    pub fn batch_of_data(&self, cutter: &Cutter<'_>, windows: &[WindowRef]) -> Batch {
        self.prepared(self.cut(cutter, windows, true), false)
    }

    fn prepared(&self, batch: Batch, trains: bool) -> Batch {
        match self.preparation {
            Some(preparation) => preparation.prepare(batch, trains),
            None => batch,
        }
    }

    /// The windows; with `raw`, their targets are as in the panel.
    fn cut(&self, cutter: &Cutter<'_>, windows: &[WindowRef], raw: bool) -> Batch {
        let Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, .. } = self.dims;
        let batch = windows.len();
        let buffer = |per_window: usize| Buffer::zeroed(batch * per_window);
        let wanted = |wanted: bool, per_window: usize| buffer(if wanted { per_window } else { 0 });
        let has_error_scale = self.loss.has_error_scale();
        let (mut insample_y, mut insample_mask) = (buffer(input_size), buffer(input_size));
        let mut raw_insample_y = wanted(raw && has_error_scale, input_size);
        // A model that forecasts step by step is fed the target as well, on the windows' scale.
        let mut outsample_y = wanted(!raw || self.step_by_step, horizon);
        let (mut raw_outsample_y, mut weights) = (wanted(raw, horizon), buffer(horizon));
        let (mut loc, mut scale) = (buffer(1), buffer(1));
        let mut hist = buffer(input_size * hist_exog);
        let mut futr = buffer((input_size + horizon) * futr_exog);
        let mut stat = buffer(stat_exog);
        cutter.cut(
            windows,
            &mut WindowSlices {
                insample_y: &mut insample_y,
                raw_insample_y: &mut raw_insample_y,
                insample_mask: &mut insample_mask,
                outsample_y: &mut outsample_y,
                outsample_mask: &mut weights,
                raw_outsample_y: &mut raw_outsample_y,
                hist: &mut hist,
                futr: &mut futr,
                stat: &mut stat,
                loc: &mut loc,
                scale: &mut scale,
            },
        );
        let mut error_scale = Buffer::filled(batch, 1.0);
        if has_error_scale {
            let history = if raw { &raw_insample_y } else { &insample_y };
            let rows = history.chunks_exact(input_size).zip(insample_mask.chunks_exact(input_size));
            for (error_scale, (history, mask)) in error_scale.iter_mut().zip(rows) {
                *error_scale = self.loss.error_scale(history, mask);
            }
        }
        if self.exclude_insample_y {
            insample_y.fill(0.0);
        }
        let ahead_mask = self.step_by_step.then(|| {
            let known = weights.iter().map(|&weight| f32::from(weight > 0.0));
            Tensor::build([batch, horizon], |mask| mask.iter_mut().zip(known).for_each(|(m, k)| *m = k))
        });
        self.loss.weigh(&mut weights, horizon);
        let columns = |values: Buffer<f32>, steps: usize, count: usize| {
            (count > 0).then(|| Tensor::from_buffer(values, [batch, steps, count]))
        };
        let mut windows = Windows {
            insample_y: Tensor::from_buffer(insample_y, [batch, input_size]),
            insample_mask: Tensor::from_buffer(insample_mask, [batch, input_size]),
            hist_exog: columns(hist, input_size, hist_exog),
            futr_exog: columns(futr, input_size + horizon, futr_exog),
            stat_exog: (stat_exog > 0).then(|| Tensor::from_buffer(stat, [batch, stat_exog])),
        };
        let steps = [batch, horizon];
        let outsample_y = (!outsample_y.is_empty()).then(|| Tensor::from_buffer(outsample_y, steps));
        if let Some((mask, y)) = ahead_mask.zip(outsample_y.as_ref()) {
            let ahead = if self.exclude_insample_y { Tensor::zeros(steps) } else { y.clone() };
            windows = shift_target(&windows, &ahead, &mask);
        }
        Batch {
            windows,
            target: match outsample_y {
                Some(y) if !raw => y,
                _ => Tensor::from_buffer(raw_outsample_y, steps),
            },
            weights: Tensor::from_buffer(weights, steps),
            error_scale: Tensor::from_buffer(error_scale, [batch]),
            loc: Tensor::from_buffer(loc, [batch]),
            scale: Tensor::from_buffer(scale, [batch]),
        }
    }

    /// The sum of the weights of all steps of the windows: the divisor of the loss.
    /// `sums` is scratch memory, whose contents do not matter.
    pub fn total_weight(&self, cutter: &Cutter<'_>, windows: &[WindowRef], sums: &mut Vec<f64>) -> f64 {
        sums.clear();
        sums.resize(self.dims.horizon, 0.0);
        cutter.add_mask_sums(windows, sums);
        match self.loss.horizon_weight() {
            None => sums.iter().sum(),
            Some(weights) => sums.iter().zip(weights).map(|(sum, &weight)| sum * f64::from(weight)).sum(),
        }
    }
}
