//! Forecasts of many windows, and the validation loss.

use std::sync::{Mutex, PoisonError};

use foretell_data::{Cutter, Stats, WindowRef};
use foretell_nn::{Forward, Loss, Model, Params};

use crate::batch::{Cut, Scaled};
use crate::config::TrainConfig;
use crate::workers::Workers;

/// Windows that one thread runs at a time: enough for products of matrices at their best rate, few
/// enough that their activations stay in the cache.
const BLOCK: usize = 128;

/// A trained model at work.
#[derive(Clone, Copy)]
pub struct Forecasts<'a> {
    /// The model.
    pub model: &'a dyn Model,
    /// Its parameters.
    pub params: &'a Params,
    /// How its windows are cut.
    pub cut: Cut<'a>,
    /// The threads to use.
    pub workers: &'a Workers,
}

impl Forecasts<'_> {
    /// The forecasts of the windows on the data's scale, `[windows, horizon, outputs]`.
    pub fn of(&self, cutter: &Cutter<'_>, windows: &[WindowRef]) -> Vec<f32> {
        let per_window = self.cut.dims.horizon * self.cut.dims.outputs;
        let mut values = vec![0.0; windows.len() * per_window];
        let blocks: Vec<_> =
            values.chunks_mut(BLOCK * per_window).zip(windows.chunks(BLOCK)).map(Mutex::new).collect();
        self.workers.each(&blocks, true, |_, (values, windows)| {
            self.block(cutter, windows, values);
        });
        drop(blocks);
        values
    }

    /// Writes the forecasts of the windows, `[windows, horizon, outputs]`, and gives the windows back.
    fn block(&self, cutter: &Cutter<'_>, windows: &[WindowRef], values: &mut [f32]) -> Scaled {
        let per_window = self.cut.dims.horizon * self.cut.dims.outputs;
        let scaled = self.cut.windows(cutter, windows);
        let output = self.model.forward(&Forward::inference(self.params), &scaled.batch.windows);
        let output = output.value().contiguous();
        let (scaler, revin) = (cutter.scaler(), self.params.revin());
        let rows = values.chunks_exact_mut(per_window).zip(output.values().chunks_exact(per_window));
        for ((row, output), (&loc, &scale)) in rows.zip(scaled.loc.values().iter().zip(scaled.scale.values()))
        {
            let stats = Stats { loc, scale };
            row.copy_from_slice(output);
            scaler.inverse(revin.map_or(stats, |affine| stats.corrected(affine)), row);
        }
        scaled
    }

    /// The loss on the data's scale over all windows of `valid`, as neuralforecast reports it: a mean over
    /// batches of windows, each counted by its number of windows.
    pub fn validate(&self, valid: &Cutter<'_>, loss: &Loss, config: &TrainConfig) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for series in valid.series_with_windows().chunks(config.valid_batch_size) {
            let windows: Vec<WindowRef> =
                series.iter().flat_map(|&series| valid.all(series as usize)).collect();
            let size = config.inference_windows_batch_size.unwrap_or(windows.len());
            for windows in windows.chunks(size) {
                sum += self.batch_loss(valid, windows, loss) * windows.len() as f64;
                count += windows.len();
            }
        }
        sum / count as f64
    }

    /// The loss of one batch of windows.
    fn batch_loss(&self, valid: &Cutter<'_>, windows: &[WindowRef], loss: &Loss) -> f64 {
        let per_window = self.cut.dims.horizon * self.cut.dims.outputs;
        let blocks: Vec<_> = windows.chunks(BLOCK).map(|windows| Mutex::new((windows, 0.0, 0.0))).collect();
        // The weights of the steps are those of the validation loss.
        let forecasts = Forecasts { cut: Cut { loss, ..self.cut }, ..*self };
        self.workers.each(&blocks, true, |_, (windows, sum, total)| {
            let mut values = vec![0.0; windows.len() * per_window];
            let scaled = forecasts.block(valid, windows, &mut values);
            let weights = scaled.batch.weights.values();
            *sum = loss.sum(&values, scaled.raw_target.values(), weights);
            *total = weights.iter().map(|&weight| f64::from(weight)).sum();
        });
        let (mut sum, mut total) = (0.0, 0.0);
        for block in blocks {
            let (_, part, weight) = block.into_inner().unwrap_or_else(PoisonError::into_inner);
            sum += part;
            total += weight;
        }
        if total == 0.0 { 0.0 } else { sum / total }
    }
}
