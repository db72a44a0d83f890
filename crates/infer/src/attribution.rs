//! The contributions of the inputs to the forecasts of a window: integrated gradients (Sundararajan, Taly and Yan 2017, arXiv 1703.01365),
//! input times gradient, and Shapley values by sampling (Castro, Gómez and Tejada 2009), as captum has them.
//!
//! Inputs are compared with zeros, on the scale that the model sees: with a window that holds nothing but its own shift.

use foretell_data::{Cutter, Stats, WindowRef, WindowScaler};
use foretell_estimator::{Attribution, Contributions};
use foretell_nn::{
    Coupling, Decoding, Dims, DistributionColumns, EmbeddedWindows, Forward, Key, Model, SeriesPerWindow,
    Tensor, Var, Windows,
};
use foretell_threads::is_wanted;

use crate::ancestral::window_key;
use crate::attribution_inputs::{AttributionInputs, forecast_of};
use crate::forecast::Forecasts;
use crate::quadrature::gauss_legendre;

/// Rows that one pass of a model has at most.
const ROWS: usize = 512;

/// Numbers that the graphs of the forecasts hold together which gradients are taken of at a time, unless a single one has more.
const GRAPH_NUMBERS: usize = 1 << 25;

/// About how many numbers the graphs of one pass of [`Forecasts::attribute`] by gradients at this many points hold on a thread, of
/// a model that keeps `kept` numbers of a window (of its history, where it forecasts step by step).
pub fn graph_numbers(dims: &Dims, kept: usize, points: usize, is_step_by_step: bool) -> usize {
    let one = graph_of_one(dims, kept, is_step_by_step);
    one.saturating_mul((GRAPH_NUMBERS / one.max(1)).clamp(1, points.clamp(1, ROWS)))
}

/// The same of a single copy of the window. Step by step each step reads the history and the steps before it again.
fn graph_of_one(dims: &Dims, kept: usize, is_step_by_step: bool) -> usize {
    let (history, horizon) = (dims.input_size.max(1) as f64, dims.horizon as f64);
    let readings = if is_step_by_step { horizon * (1.0 + horizon / (2.0 * history)) } else { 1.0 };
    (kept as f64 * readings) as usize
}

impl Forecasts<'_> {
    /// The contributions to one of the model's outputs, of a distribution to its mean, for each window, of all its series together.
    ///
    /// # Panics
    /// If the model's outputs are the parameters of a distribution and the method takes gradients, or the windows' scaler is a curve.
    #[track_caller]
    pub fn attribute(
        &self,
        cutter: &Cutter<'_>,
        windows: &[WindowRef],
        method: Attribution,
        output: usize,
    ) -> Vec<Contributions> {
        let by_forecasts = matches!(method, Attribution::ShapleySampling { .. });
        assert!(by_forecasts || !self.cut.loss.is_distribution(), "gradients of the mean of a distribution");
        let rows = self.cut.dims.n_series;
        let mut all: Vec<_> = windows.chunks(rows).map(|rows| (rows, None)).collect();
        self.workers.each(&mut all, true, |_, (rows, contributions)| {
            let batch = self.cut.batch(cutter, rows);
            let key = window_key(self.key(), cutter, rows[0]);
            let scaling = batch.loc.values().iter().zip(batch.scale.values());
            let scaling = scaling.map(|(&loc, &scale)| {
                let read = Stats { loc, scale };
                [self.output_scaling(read), read]
            });
            let scaling: Vec<[Stats; 2]> = scaling.collect();
            let explained = Explained { output, scaler: cutter.scaler(), scaling: &scaling };
            let (mut values, mut baseline) = self.contributions(&batch.windows, method, explained, key);
            let (steps, series) = (self.cut.dims.horizon, rows.len());
            let each = values.len() / series;
            for (i, &[stats, _]) in scaling.iter().enumerate() {
                let line = cutter.scaler().line_back(stats).expect("a scaler that is no curve");
                values[i * each..(i + 1) * each].iter_mut().for_each(|value| *value *= line.scale);
                cutter.scaler().inverse(stats, &mut baseline[i * steps..(i + 1) * steps]);
            }
            *contributions = Some(Contributions { values, baseline });
        });
        all.into_iter().filter_map(|(_, contributions)| contributions).collect()
    }

    /// The contributions `[n, horizon, inputs]` to the forecasts of a window of `n` series and the forecast from zeros, `[n, horizon]`,
    /// on the window's scale. Categories have no gradients: their embeddings have, whose numbers' contributions are added up.
    fn contributions(
        &self,
        windows: &Windows,
        method: Attribution,
        explained: Explained<'_>,
        key: Key,
    ) -> (Vec<f32>, Vec<f32>) {
        let model = &*self.network.model;
        let by_gradients = !matches!(method, Attribution::ShapleySampling { .. });
        let cx = Forward::inference(self.params).with_key(self.key());
        let embedded = || model.behind_embeddings().zip(model.embed(&cx, windows));
        match by_gradients.then(embedded).flatten() {
            None => OneWindow { forecasts: self, model, windows, explained }.contributions(method, key),
            Some((model, EmbeddedWindows { windows: embedded, columns })) => {
                let one = OneWindow { forecasts: self, model: &*model, windows: &embedded, explained };
                let (values, baseline) = one.contributions(method, key);
                (one.inputs().by_columns(&values, &columns), baseline)
            }
        }
    }
}

/// The number of a forecast that is explained: one of the outputs, or of a distribution the mean.
#[derive(Clone, Copy)]
struct Explained<'a> {
    output: usize,
    scaler: WindowScaler,
    /// Of each series of the window, what brings outputs to the scale of the data, and what brought the window to its own.
    scaling: &'a [[Stats; 2]],
}

/// A window of all series, the model that reads it, and what is explained.
struct OneWindow<'a> {
    forecasts: &'a Forecasts<'a>,
    model: &'a dyn Model,
    windows: &'a Windows,
    explained: Explained<'a>,
}

impl OneWindow<'_> {
    fn inputs(&self) -> AttributionInputs {
        AttributionInputs::of(self.windows, self.history())
    }

    /// The contributions `[n, horizon, inputs]` and the forecast from zeros, `[n, horizon]`, on the windows' scale.
    fn contributions(&self, method: Attribution, key: Key) -> (Vec<f32>, Vec<f32>) {
        let inputs = self.inputs();
        let baseline = self.forecast(&inputs, &vec![0.0; inputs.values().len()]);
        let values = match method {
            Attribution::IntegratedGradients { points } => {
                self.times_gradients(&inputs, &gauss_legendre(points))
            }
            Attribution::InputXGradient => self.times_gradients(&inputs, &[(1.0, 1.0)]),
            Attribution::ShapleySampling { permutations, seed } => {
                self.shapley(&inputs, permutations, key.fold(seed), &baseline)
            }
        };
        (values, baseline)
    }

    /// Steps of history that a model which forecasts step by step reads before the first forecast.
    fn history(&self) -> Option<usize> {
        match self.forecasts.network.needs.decoding {
            Decoding::Direct => None,
            Decoding::StepByStep { .. } => {
                Some(self.windows.insample_y.shape()[1] + 1 - self.forecasts.cut.dims.horizon)
            }
        }
    }

    /// Copies of the window that one pass may have: one where windows depend on each other, or where static columns, which differ
    /// between copies, are read once for all windows of all series.
    fn copies_at_once(&self) -> usize {
        let needs = &self.forecasts.network.needs;
        let of_all_windows = needs.series == SeriesPerWindow::All && self.windows.stat_exog.is_some();
        match needs.coupling {
            Coupling::Independent if !of_all_windows => (ROWS / self.windows.batch()).max(1),
            _ => 1,
        }
    }

    fn run(&self) -> Forward<'_> {
        Forward::inference(self.forecasts.params).with_key(self.forecasts.key())
    }

    /// The forecasts from copies of the window with these `values [copies, n, inputs of a series]`: `[copies, n, horizon]`.
    fn forecast(&self, inputs: &AttributionInputs, values: &[f32]) -> Vec<f32> {
        let each = inputs.values().len();
        let mut forecasts = Vec::with_capacity(values.len() / each * self.windows.batch());
        for copies in values.chunks(each * self.copies_at_once()) {
            let flat = Var::constant(inputs.tensor(copies));
            let horizon = self.forecasts.cut.dims.horizon;
            forecasts.extend(self.forecast_of(&self.run(), inputs, &flat, horizon).value().to_vec());
        }
        forecasts
    }

    /// The forecasts of the first `horizon` steps from the copies in `flat`, `[copies * n, horizon]`; of a direct model of all steps.
    fn forecast_of(&self, cx: &Forward<'_>, inputs: &AttributionInputs, flat: &Var, horizon: usize) -> Var {
        let needs = &self.forecasts.network.needs;
        forecast_of(self.model, needs, cx, inputs, flat, horizon, &|outputs| self.numbers(outputs))
    }

    /// Of `outputs [rows, steps, outputs]`, of copies of the window, the number that is explained and the one that a network reads as it
    /// forecasts step by step, on the window's scale: `[rows, steps]` each.
    fn numbers(&self, outputs: &Var) -> [Var; 2] {
        if self.forecasts.cut.loss.is_distribution() {
            return [0, 1].map(|scaling| Var::constant(self.means(outputs.value(), scaling)));
        }
        let shape = [outputs.shape()[0], outputs.shape()[1]];
        [outputs.narrow(2, self.explained.output, 1).reshape(shape), outputs.mean(2).reshape(shape)]
    }

    /// The means of distributions by the first or the second `scaling` of their series.
    fn means(&self, outputs: &Tensor, scaling: usize) -> Tensor {
        let (loss, Explained { scaler, scaling: of_series, .. }) = (self.forecasts.cut.loss, self.explained);
        let (outputs, [rows, steps]) = (outputs.contiguous(), [outputs.shape()[0], outputs.shape()[1]]);
        Tensor::build([rows, steps], |means| {
            let each = outputs.values().chunks_exact(steps * loss.outputs());
            for (row, (means, output)) in means.chunks_exact_mut(steps).zip(each).enumerate() {
                let stats = of_series[row % of_series.len()][scaling];
                loss.forecast(&DistributionColumns::mean(), output, stats.loc, stats.scale, means);
                means.iter_mut().for_each(|mean| *mean = scaler.forward(stats, *mean));
            }
        })
    }

    /// The inputs times the sum of the gradients at these shares of them, by these weights: `(share, weight)` each.
    fn times_gradients(&self, inputs: &AttributionInputs, points: &[(f64, f64)]) -> Vec<f32> {
        let (x, n, dims) = (inputs.values(), self.windows.batch(), &self.forecasts.cut.dims);
        let (horizon, is_step_by_step) = (dims.horizon, self.history().is_some());
        let graph = graph_of_one(dims, self.forecasts.kept, is_step_by_step);
        let copies = (GRAPH_NUMBERS / graph.max(1)).clamp(1, self.copies_at_once());
        let mut sums = vec![0.0_f64; n * horizon * x.len()];
        for points in points.chunks(copies).take_while(|_| is_wanted()) {
            let shares =
                points.iter().flat_map(|&(share, _)| x.iter().map(move |x| (f64::from(*x) * share) as f32));
            let values = inputs.tensor(&shares.collect::<Vec<_>>());
            // A graph is walked once: each forecast has its own.
            for (place, sums) in sums.chunks_exact_mut(x.len()).enumerate() {
                if !is_wanted() {
                    break;
                }
                let (series, step) = (place / horizon, place % horizon);
                // Of a forecast that is made step by step no further steps are needed.
                let steps = if is_step_by_step { step + 1 } else { horizon };
                let flat = Var::input(values.clone());
                let forecast = self.forecast_of(&self.run(), inputs, &flat, steps);
                let seed = inputs.one_at(points.len(), steps, series, step);
                forecast.backward_from(seed, &mut []);
                let Some(gradient) = flat.grad() else { continue };
                let gradient = gradient.contiguous();
                for (gradient, (_, weight)) in gradient.values().chunks_exact(x.len()).zip(points) {
                    sums.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += weight * f64::from(*g));
                }
            }
        }
        let products = sums.chunks_exact(x.len()).flat_map(|sums| sums.iter().zip(x));
        products.map(|(sum, x)| (sum * f64::from(*x)) as f32).collect()
    }

    /// The mean changes by each input over drawn orders.
    fn shapley(
        &self,
        inputs: &AttributionInputs,
        permutations: usize,
        key: Key,
        baseline: &[f32],
    ) -> Vec<f32> {
        let x = inputs.values();
        let read: Vec<usize> = inputs.read().collect();
        let mut sums = vec![0.0_f64; baseline.len() * x.len()];
        for permutation in 0..permutations {
            let key = key.fold(permutation as u64);
            let mut order = read.clone();
            for i in 0..order.len() {
                let left = (order.len() - i) as u128;
                order.swap(i, i + ((u128::from(key.bits(i as u64)) * left) >> 64) as usize);
            }
            let mut before = baseline.to_vec();
            let mut values = vec![0.0; x.len()];
            for added in order.chunks(self.copies_at_once()) {
                if !is_wanted() {
                    return vec![0.0; sums.len()];
                }
                let mut copies = Vec::with_capacity(added.len() * x.len());
                for &input in added {
                    values[input] = x[input];
                    copies.extend_from_slice(&values);
                }
                let forecasts = self.forecast(inputs, &copies);
                for (after, &input) in forecasts.chunks_exact(baseline.len()).zip(added) {
                    let changes = after.iter().zip(&before).map(|(after, before)| f64::from(after - before));
                    changes.enumerate().for_each(|(place, change)| sums[place * x.len() + input] += change);
                    before.copy_from_slice(after);
                }
            }
        }
        sums.into_iter().map(|sum| (sum / permutations.max(1) as f64) as f32).collect()
    }
}
