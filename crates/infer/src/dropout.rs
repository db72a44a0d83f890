//! Quantiles by dropout (Gal and Ghahramani 2016, "Dropout as a Bayesian approximation", arXiv:1506.02142): forecasts of a window
//! with other units dropped each time are samples of what the network might have learned.
//!
//! They say how unsure a network is of its forecast, not how noisy the values are. A window's draws depend on the seed, the id of
//! its series and the time of its cutoff, as those of sample paths do.

use foretell_batch::Batch;
use foretell_data::{Cutter, Stats, WindowRef};
use foretell_nn::{DistributionColumns, Forward, Key, Windows};
use foretell_pool::Buffer;
use foretell_threads::is_wanted;

use crate::ancestral::window_key;
use crate::forecast::Forecasts;
use crate::stepwise::{forecast, mean_of_outputs};

/// The number folded into the key of forecasts for these draws.
const DROPOUT: u64 = 1;

impl Forecasts<'_> {
    /// The forecasts of whole windows, and these quantiles of `samples` forecasts with dropout, `[rows, horizon, 1 + quantiles]`, on
    /// the data's scale.
    ///
    /// # Panics
    /// If the model has several outputs for each step, or there are no samples.
    #[track_caller]
    pub fn by_dropout(
        &self,
        cutter: &Cutter<'_>,
        windows: &[WindowRef],
        samples: usize,
        quantiles: &[f32],
    ) -> Vec<f32> {
        assert_eq!(self.cut.dims.outputs, 1, "quantiles by dropout of a model of several outputs");
        let (horizon, columns) = (self.cut.dims.horizon, DistributionColumns::of_quantiles(quantiles));
        let plain = self.of(cutter, windows);
        let rows = cutter.rows_per_window();
        let mut values = vec![0.0; windows.len() * horizon * columns.count()];
        let each = values.chunks_mut(rows * horizon * columns.count());
        let mut all: Vec<_> = each.zip(windows.chunks(rows)).zip(plain.chunks(rows * horizon)).collect();
        self.workers.each(&mut all, true, |_, ((values, windows), plain)| {
            let drawn = self.draws(cutter, windows, samples);
            let mut of_step = Buffer::zeroed(samples);
            let steps = values.chunks_exact_mut(columns.count()).zip(plain.iter());
            for (step, (into, &plain)) in steps.enumerate() {
                let own = drawn.iter().skip(step).step_by(rows * horizon);
                of_step.iter_mut().zip(own).for_each(|(sample, drawn)| *sample = *drawn);
                columns.of_samples(plain, &mut of_step, into);
            }
        });
        values
    }

    /// Forecasts of a window with dropout, on the data's scale, `[samples, rows, horizon]`.
    fn draws(&self, cutter: &Cutter<'_>, windows: &[WindowRef], samples: usize) -> Buffer<f32> {
        let (rows, horizon) = (windows.len(), self.cut.dims.horizon);
        let batch = self.cut.batch(cutter, windows);
        let key = window_key(self.key().fold(DROPOUT), cutter, windows[0]);
        let mut drawn = Buffer::zeroed(samples * rows * horizon);
        // Draws of a window of one series are rows of one batch; a window of several is run once for each draw.
        let at_a_time = if rows == 1 { self.rows_at_a_time().min(samples) } else { 1 };
        for (block, drawn) in drawn.chunks_mut(at_a_time * rows * horizon).enumerate() {
            if !is_wanted() {
                break;
            }
            let key = key.fold(block as u64);
            match rows {
                1 => self.draw(key, &batch.windows.repeated(drawn.len() / horizon), drawn),
                _ => self.draw(key, &batch.windows, drawn),
            }
        }
        self.scale_back(cutter, &batch, &mut drawn);
        drawn
    }

    /// Writes the forecasts of these rows with dropout, on the windows' scale.
    fn draw(&self, key: Key, windows: &Windows, into: &mut [f32]) {
        let cx = Forward::inference(self.params).with_key(key).with_dropout();
        let output = forecast(self.network, &cx, windows, self.cut.dims.horizon, &mean_of_outputs);
        into.copy_from_slice(output.values());
    }

    fn scale_back(&self, cutter: &Cutter<'_>, batch: &Batch, drawn: &mut [f32]) {
        let (horizon, scaler) = (self.cut.dims.horizon, cutter.scaler());
        let scaling: Vec<Stats> = (batch.loc.values().iter().zip(batch.scale.values()))
            .map(|(&loc, &scale)| self.output_scaling(Stats { loc, scale }))
            .collect();
        for (row, values) in drawn.chunks_exact_mut(horizon).enumerate() {
            scaler.inverse(scaling[row % scaling.len()], values);
        }
    }
}
