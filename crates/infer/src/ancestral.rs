//! Ancestral sampling: paths of the future of models that forecast distributions step by step ([`Feedback::Samples`]).
//!
//! Salinas et al. 2020 (arXiv 1704.04110), section 3: a step of a path is drawn from the distribution that the model
//! forecasts after the path's own steps before it. So the uncertainty of each step enters all later ones.

use foretell_data::{Cutter, Stats, WindowRef, WindowScaler};
use foretell_nn::{DistributionColumns, Forward, Key, Loss, Model, StepState, Tensor, Windows};
use foretell_pool::Buffer;
use foretell_threads::is_wanted;

/// Paths that run at a time: enough for products of matrices at their best rate, few enough that their states stay in
/// the cache.
const PATHS: usize = 512;

/// The settings of sample paths.
pub(crate) struct Sampling<'a> {
    pub(crate) model: &'a dyn Model,
    /// The loss of a distribution.
    pub(crate) loss: &'a Loss,
    pub(crate) scaler: WindowScaler,
    pub(crate) horizon: usize,
    /// Paths of each window.
    pub(crate) paths: usize,
}

/// One window of a batch.
pub(crate) struct Window {
    /// The key of its draws, into which path and step are folded.
    pub(crate) key: Key,
    /// Shift and scale that were applied to the target that the model reads.
    pub(crate) input_scaling: Stats,
    /// Shift and scale that bring the model's outputs to the scale of the data.
    pub(crate) output_scaling: Stats,
}

impl Sampling<'_> {
    /// Writes the columns of the forecasts of all windows, `[windows, horizon, columns]`, on the data's scale: means
    /// are those of the distributions that the paths are drawn from, quantiles are those of the paths.
    ///
    /// The windows are shifted by one step and reach over the horizon; the target within the horizon is not read.
    pub(crate) fn forecast(
        &self,
        cx: &Forward<'_>,
        windows: &Windows,
        each: &[Window],
        columns: &DistributionColumns,
        values: &mut [f32],
    ) {
        let paths = self.paths;
        let per_window = self.horizon * columns.count();
        self.each_window(cx, windows, each, |i, means, samples| {
            let row = &mut values[i * per_window..(i + 1) * per_window];
            for (step, row) in row.chunks_exact_mut(columns.count()).enumerate() {
                let mean = means[step] / paths as f64;
                columns.of_samples(mean as f32, &mut samples[step * paths..(step + 1) * paths], row);
            }
        });
    }

    /// Writes the paths of all windows, `[windows, paths, horizon]`, on the data's scale; the windows are those of
    /// [`Sampling::forecast`].
    pub(crate) fn paths(&self, cx: &Forward<'_>, windows: &Windows, each: &[Window], values: &mut [f32]) {
        let Self { horizon, paths, .. } = *self;
        self.each_window(cx, windows, each, |i, _, samples| {
            let of_window = &mut values[i * paths * horizon..(i + 1) * paths * horizon];
            for (step, samples) in samples.chunks_exact(paths).enumerate() {
                of_window[step..]
                    .iter_mut()
                    .step_by(horizon)
                    .zip(samples)
                    .for_each(|(value, sample)| *value = *sample);
            }
        });
    }

    /// Runs the paths of each window, and gives `visit` its place, the sums over the paths of the means of each step's
    /// distribution, and the samples, `[horizon, paths]`.
    fn each_window(
        &self,
        cx: &Forward<'_>,
        windows: &Windows,
        each: &[Window],
        mut visit: impl FnMut(usize, &[f64], &mut [f32]),
    ) {
        let Self { model, horizon, paths, .. } = *self;
        let history = windows.insample_y.shape()[1] + 1 - horizon;
        let mut state = StepState::default();
        let first = model.step(cx, &windows.steps(0..history).inputs(), &mut state).value().contiguous();
        let ahead = windows.steps(history..history + horizon - 1);
        let mut samples = Buffer::zeroed(horizon * paths);
        let mut means = vec![0.0; horizon];
        for (i, window) in each.iter().enumerate() {
            means.fill(0.0);
            for start in (0..paths).step_by(PATHS) {
                let count = PATHS.min(paths - start);
                let first = first.narrow(0, i, 1).broadcast_to([count, 1, self.loss.outputs()]).contiguous();
                let ahead = ahead.rows(i..i + 1).repeated(count);
                let from = (first, state.repeated(i, count));
                self.run(cx, window, &ahead, from, start, (&mut means, &mut samples));
            }
            visit(i, &means, &mut samples);
        }
    }

    /// Runs some paths of a window, from number `start` on, as many as `first` has rows: the outputs that the first
    /// step is drawn from. Adds the mean of each step's distribution, and writes the samples, `[horizon, paths]`.
    fn run(
        &self,
        cx: &Forward<'_>,
        window: &Window,
        ahead: &Windows,
        (first, mut state): (Tensor, StepState),
        start: usize,
        (means, samples): (&mut [f64], &mut [f32]),
    ) {
        let (loss, Stats { loc, scale }) = (self.loss, window.output_scaling);
        let (mut outputs, mean_alone) = (first, DistributionColumns::mean());
        for step in 0..self.horizon {
            if !is_wanted() {
                return;
            }
            let fed_back = Tensor::build([outputs.shape()[0], 1], |fed_back| {
                let rows = outputs.values().chunks_exact(loss.outputs());
                for (path, (fed_back, row)) in (start..).zip(fed_back.iter_mut().zip(rows)) {
                    let key = window.key.fold(path as u64).fold(step as u64);
                    let sample = loss.sample(row, loc, scale, key);
                    let mut mean = [0.0];
                    loss.forecast(&mean_alone, row, loc, scale, &mut mean);
                    means[step] += f64::from(mean[0]);
                    samples[step * self.paths + path] = sample;
                    *fed_back = self.scaler.forward(window.input_scaling, sample);
                }
            });
            if step + 1 < self.horizon {
                let seen = Windows { insample_y: fed_back, ..ahead.steps(step..step + 1) };
                outputs = self.model.step(cx, &seen.inputs(), &mut state).value().contiguous();
            }
        }
    }
}

/// The key of the draws for a window, derived from the id of its series and the time of its cutoff. So they are the same
/// whatever other windows and series are forecast beside it.
pub(crate) fn window_key(key: Key, cutter: &Cutter<'_>, window: WindowRef) -> Key {
    let id = cutter.panel().id(window.series as usize).as_bytes();
    let key = id.chunks(8).fold(key.fold(id.len() as u64), |key, chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        key.fold(u64::from_le_bytes(bytes))
    });
    key.fold(cutter.cutoff(window) as u64)
}

#[cfg(test)]
mod tests {
    use foretell_nn::{Inputs, StepMemory, Table, Var};
    use serde_json::json;

    use super::*;

    /// An autoregression of order 2 with normal errors; its state is the value before the last:
    /// `y[t + 1] = A y[t] + B y[t - 1] + e`.
    struct Order2;

    const A: f32 = 0.5;
    const B: f32 = 0.3;
    /// The standard deviation that output 0 gives, `softplus(0) + 0.2`.
    const DEVIATION: f64 = std::f64::consts::LN_2 + 0.2;

    #[derive(Default)]
    struct Before(Vec<f32>);

    impl StepMemory for Before {
        fn repeated(&self, row: usize, times: usize) -> Box<dyn StepMemory> {
            Box::new(Self(vec![self.0[row]; times]))
        }
    }

    impl Model for Order2 {
        fn forward(&self, _: &Forward<'_>, _: &Inputs) -> Var {
            unreachable!("it forecasts step by step")
        }

        fn step(&self, _: &Forward<'_>, windows: &Inputs, state: &mut StepState) -> Var {
            let &[batch, steps] = &*windows.insample_y.shape() else { unreachable!("rows of steps") };
            let y = windows.insample_y.value().to_vec();
            let before = state.get::<Before>();
            let last: Vec<f32> = y.chunks(steps).map(|row| row[steps - 1]).collect();
            if steps > 1 {
                before.0 = y.chunks(steps).map(|row| row[steps - 2]).collect();
            }
            let outputs = last.iter().zip(&before.0).flat_map(|(last, before)| [A * last + B * before, 0.0]);
            let outputs: Vec<f32> = outputs.collect();
            before.0 = last;
            Var::constant(Tensor::from_slice(&outputs, [batch, 1, 2]))
        }
    }

    fn windows(last: &[[f32; 2]], horizon: usize) -> Windows {
        let steps = 1 + horizon;
        let mut y = vec![f32::NAN; last.len() * steps];
        y.chunks_mut(steps).zip(last).for_each(|(row, last)| row[..2].copy_from_slice(last));
        Windows {
            insample_y: Tensor::from_slice(&y, [last.len(), steps]),
            insample_mask: Tensor::full([last.len(), steps], 1.0),
            hist_exog: None,
            futr_exog: None,
            stat_exog: None,
        }
    }

    /// `[windows, horizon, 3]`: the mean and two quantiles.
    fn forecast(last: &[[f32; 2]], keys: &[u64], horizon: usize, paths: usize) -> Vec<f32> {
        let loss = json!({ "DistributionLoss": { "distribution": "Normal", "quantiles": [0.1, 0.9] } });
        let loss = Loss::parse(&loss).expect("a loss");
        let (model, scaler) = (&Order2, WindowScaler::Identity);
        let sampling = Sampling { model, loss: &loss, scaler, horizon, paths };
        let stats = Stats { loc: 0.0, scale: 1.0 };
        let window = |&key: &u64| Window { key: Key::new(key), input_scaling: stats, output_scaling: stats };
        let each: Vec<Window> = keys.iter().map(window).collect();
        let params = Table::default().initialise(0);
        let mut values = vec![0.0; last.len() * horizon * 3];
        let cx = Forward::inference(&params);
        sampling.forecast(&cx, &windows(last, horizon), &each, &loss.columns(), &mut values);
        values
    }

    /// The error of a forecast `k` steps ahead is a sum of `k` errors, each weighted by its effect on that step.
    #[test]
    fn intervals_widen_as_those_of_the_process() {
        const H: usize = 12;
        const PATHS: usize = 20_000;
        let forecasts = forecast(&[[2.0, 3.0]], &[7], H, PATHS);
        let (mut before, mut last) = (2.0, 3.0);
        let (mut weight_before, mut weight, mut variance) = (0.0, 1.0, 0.0);
        for (step, row) in forecasts.chunks(3).enumerate() {
            (before, last) = (last, f64::from(A) * last + f64::from(B) * before);
            variance += weight * weight * DEVIATION * DEVIATION;
            (weight_before, weight) = (weight, f64::from(A) * weight + f64::from(B) * weight_before);
            let deviation = f64::sqrt(variance);
            // Four standard errors of the mean and of a quantile at 0.1.
            let error = deviation / f64::sqrt(PATHS as f64);
            let expected = [last, last - 1.281_55 * deviation, last + 1.281_55 * deviation];
            for ((forecast, expected), errors) in row.iter().zip(expected).zip([4.0, 6.8, 6.8]) {
                let off = (f64::from(*forecast) - expected).abs();
                assert!(off < errors * error, "step {step}: {forecast}, expected {expected}");
            }
            assert!(step > 0 || (f64::from(row[0]) - last).abs() < 1e-6, "the first mean is no sample's");
        }
    }

    #[test]
    fn paths_depend_on_their_window_alone() {
        let (a, b) = ([0.3, -1.0], [5.0, 4.0]);
        // More paths than run at a time.
        for paths in [1, 3, PATHS + 20] {
            let both = forecast(&[a, b], &[1, 2], 4, paths);
            assert_eq!(both[..12], forecast(&[a], &[1], 4, paths));
            assert_eq!(both[12..], forecast(&[b], &[2], 4, paths));
            assert_ne!(both[..12], forecast(&[a], &[2], 4, paths));
        }
        assert_eq!(forecast(&[a], &[1], 1, 50).len(), 3, "a horizon of one step");
    }
}
