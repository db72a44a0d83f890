//! The contributions of the values of a history to its forecast, by the methods that all networks have.
//!
//! What the network reads of a history (its tokens, the methods' forecasts, the spreads) is written here once more as a function of the
//! values on the window's scale, through which gradients flow. The scale, the periods and which values are known stay those of the whole
//! history, so that the baseline is the forecast from a history that is at its median throughout.

use foretell_data::{Cutter, Panel, Span, WindowSpec};
use foretell_estimator::{Attribution, Contributions, EstimatorError, MemoryEstimate, Workers};
use foretell_infer::{Forecasts, graph_numbers};
use foretell_nn::{Dims, Forward, Inputs, Loss, Model, Network, Params, Tensor, Var};
use foretell_train::{Batch, Cut, Preparation};

use super::forecast::{CONTEXT, FARTHEST, MOST_AVERAGED, averaged, bounds, level, repeats, window_of};
use super::lesson;
use super::network::{PatchNetwork, QUANTILES, Tokens};
use super::scale::WindowScale;
use super::window::{
    FACTS, FEATURES, LARGEST, LEAST_SPREAD, METHODS, Methods, PATCH, ScaledHistory, WindowShape, fill, lags,
};

/// Methods but the last value.
const LINES: usize = METHODS - 1;

/// The fact of a token that is the logarithm of a spread.
const SPREAD: usize = 12;

/// The quantile that is explained: the median.
const MEDIAN: usize = QUANTILES.len() / 2;

/// The contributions of the last [`CONTEXT`] values of each series to the medians of the `h` steps after it, at these seasons of the calendar; of
/// a series that does not vary the forecast is the baseline.
///
/// # Errors
/// In words, if values of a series are averaged before the network reads them.
pub(crate) fn contributions(
    params: &Params,
    panel: &Panel,
    seasons: &[usize],
    (h, method): (usize, Attribution),
    workers: &Workers,
) -> Result<Result<Vec<Contributions>, String>, EstimatorError> {
    let calendar: Vec<f32> = seasons.iter().map(|season| *season as f32).collect();
    let averages = |series: &usize| averaged(panel.len(*series).min(MOST_AVERAGED * CONTEXT), &calendar) > 1;
    if let Some(series) = (0..panel.n_series()).find(averages) {
        let season = seasons.last().copied().unwrap_or_default();
        return Ok(Err(format!(
            "the last values of series {} are averaged, so that a season of {season} steps is seen; choose data of a longer step, \
             or explain another model",
            panel.id(series)
        )));
    }
    let steps = h.min(FARTHEST);
    let cutter = Cutter::new(panel, &WindowSpec::new(CONTEXT, steps), Span::Predict { future: None })?;
    let (rows, loss, alone) = (cutter.rows(), Loss::mae(), Workers::new(1).expect("one thread"));
    let kept = kept(params, shape(CONTEXT, steps));
    let mut found: Vec<Option<Contributions>> = vec![None; panel.n_series()];
    workers.each(&mut found, true, |series, found| {
        let values = panel.known_values(series, 0..panel.len(series));
        let from = values.len().saturating_sub(MOST_AVERAGED * CONTEXT);
        let level = level(&values[from..]);
        let history: Vec<f32> = values[from..].iter().map(|value| (*value - level) as f32).collect();
        let history = window_of(&history, 1);
        let held = |value: f32| panel.level(series).hold(level + f64::from(value));
        let Some(window) = ExplainedWindow::new(history, &calendar, steps) else {
            let last = values.iter().rev().copied().find(|value| value.is_finite()).unwrap_or(0.0);
            let baseline = vec![panel.level(series).hold(last); h];
            *found = Some(Contributions { values: vec![0.0; h * CONTEXT], baseline });
            return;
        };
        let (given, season) = (Given { inputs: window.inputs(CONTEXT) }, window.season());
        let cut = Cut {
            dims: Dims::new(CONTEXT, steps),
            loss: &loss,
            exclude_insample_y: false,
            step_by_step: false,
            preparation: Some(&given),
        };
        let network = Network::from(window);
        let forecasts = Forecasts { network: &network, params, cut, random_seed: 0, workers: &alone, kept };
        *found = forecasts.attribute(&cutter, &rows[series..=series], method, 0).pop().map(|mut near| {
            near.baseline.iter_mut().for_each(|value| *value = held(*value));
            // Beyond the steps that the network was trained for the last season is repeated.
            for t in steps..h {
                near.baseline.push(near.baseline[t - season]);
                near.values.extend_from_within((t - season) * CONTEXT..(t - season + 1) * CONTEXT);
            }
            near
        });
    });
    Ok(Ok(found.into_iter().flatten().collect()))
}

/// The memory that contributions to `h` steps take on this many threads.
pub(crate) fn contribution_memory(
    params: &Params,
    h: usize,
    method: Attribution,
    threads: usize,
) -> MemoryEstimate {
    let steps = h.min(FARTHEST);
    let points = match method {
        Attribution::IntegratedGradients { points } => points,
        Attribution::InputXGradient => 1,
        // Without gradients there is no graph.
        _ => 0,
    };
    let graphs = match points {
        0 => 0,
        _ => graph_numbers(&Dims::new(CONTEXT, steps), kept(params, shape(CONTEXT, steps)), points, false),
    };
    let lines = 2 * CONTEXT * (CONTEXT + LINES * (CONTEXT + steps.next_multiple_of(PATCH)));
    MemoryEstimate::default()
        .and_numbers("what methods say of each step", lines.saturating_mul(threads))
        .and_numbers("the graphs of gradients, roughly,", graphs.saturating_mul(threads))
}

/// About how many numbers a graph keeps of a window: of its image, too.
fn kept(params: &Params, shape: WindowShape) -> usize {
    2 * lesson::kept(params, shape)
}

/// The tokens of a history of this many values and of this many steps after it.
fn shape(history: usize, steps: usize) -> WindowShape {
    WindowShape { past: history.div_ceil(PATCH).max(1), future: steps.div_ceil(PATCH).max(1) }
}

/// The inputs of a window, in place of the rows of the panel.
#[derive(Debug)]
struct Given {
    inputs: Vec<f32>,
}

impl Preparation for Given {
    fn prepare(&self, mut batch: Batch, _: bool) -> Batch {
        batch.windows.insample_y = Tensor::from_slice(&self.inputs, [1, self.inputs.len()]);
        batch
    }
}

/// The forecast of a history as a function of its values: a model that reads `[rows, input_size]` of them on the window's scale, 0 where
/// one is unknown or before the first, and forecasts the medians in the unit of the history, `[rows, steps, 1]`.
pub(super) struct ExplainedWindow {
    network: PatchNetwork,
    images: [Image; 2],
    shape: WindowShape,
    steps: usize,
    /// Of a history that repeats this many of its last values exactly: the forecast is these.
    repeated: Option<usize>,
    is_never_negative: bool,
}

impl ExplainedWindow {
    /// That of a history whose unknown values are NaN, which the network reads whole, and of at most [`FARTHEST`] steps after it; `None` if its
    /// known values do not vary.
    pub(super) fn new(history: &[f32], calendar: &[f32], steps: usize) -> Option<Self> {
        let shape = shape(history.len(), steps);
        let mirrored: Vec<f32> = history.iter().map(|value| -value).collect();
        let images = [Image::new(history, calendar, shape)?, Image::new(&mirrored, calendar, shape)?];
        let repeated = images[0].read.periods.iter().find(|period| repeats(history, **period));
        Some(Self {
            network: PatchNetwork::new().0,
            repeated: repeated.map(|period| *period as usize),
            images,
            shape,
            steps,
            is_never_negative: bounds(history).0 >= 0.0,
        })
    }

    /// The values on the window's scale, as inputs of this many steps: 0 where one is unknown or before the first.
    pub(super) fn inputs(&self, input_size: usize) -> Vec<f32> {
        let scaled = &self.images[0].read.scaled;
        let mut inputs = vec![0.0; input_size - scaled.len()];
        inputs.extend(scaled.iter().map(|value| if value.is_finite() { *value } else { 0.0 }));
        inputs
    }

    /// Steps after which the forecast repeats itself, beyond those that the network was trained for.
    pub(super) fn season(&self) -> usize {
        let period = self.images[0].read.periods.first();
        period.map_or(1, |period| period.round() as usize).clamp(1, self.steps.max(1))
    }

    /// The medians of the forecasts by these quantiles, `[rows, steps, 9]`, of the history and its image: in each step the one that has four
    /// below it.
    fn medians(&self, [one, other]: [&Var; 2]) -> Var {
        let [rows, steps] = [one.shape()[0], one.shape()[1]];
        let other = other.flip(2);
        let scales = [self.images[0].read.scale, self.images[1].read.scale];
        let chosen = Tensor::build(one.shape(), |chosen| {
            let pairs = [one.value().contiguous(), other.value().contiguous()];
            let values: Vec<f32> = (pairs[0].values().iter().zip(pairs[1].values()))
                .map(|(one, other)| 0.5 * (scales[0].invert(*one) - scales[1].invert(*other)))
                .collect();
            chosen.fill(0.0);
            let each = QUANTILES.len();
            for (chosen, values) in chosen.chunks_exact_mut(each).zip(values.chunks_exact(each)) {
                let mut order: Vec<usize> = (0..each).collect();
                order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
                chosen[order[MEDIAN]] = 1.0;
            }
        });
        let chosen = Var::constant(chosen);
        let of = |quantiles: &Var, scale: WindowScale| inverted(&quantiles.mul(&chosen).sum(2), scale);
        of(one, scales[0]).sub(&of(&other, scales[1])).scale(0.5).reshape([rows, steps])
    }
}

impl Model for ExplainedWindow {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let [image, mirrored] = &self.images;
        let (n, all) = (image.read.scaled.len(), windows.insample_y.shape()[1]);
        let x = windows.insample_y.narrow(1, all - n, n);
        let rows = x.shape()[0];
        let medians = match self.repeated {
            Some(lag) => {
                let place = |t: usize| x.narrow(1, n - lag + t % lag, 1);
                let steps: Vec<Var> = (0..self.steps).map(place).collect();
                inverted(&Var::concat(&steps, 1), image.read.scale)
            }
            None => {
                let of = |image: &Image, x: &Var| {
                    let quantiles = image.quantiles(&self.network, cx, x, self.shape);
                    quantiles.narrow(1, 0, self.steps)
                };
                self.medians([&of(image, &x), &of(mirrored, &x.scale(-1.0))])
            }
        };
        let medians = if self.is_never_negative { masked(&medians, |value| value > 0.0) } else { medians };
        medians.reshape([rows, self.steps, 1])
    }
}

/// A history or its mirror image, with what the network reads of it whatever its values.
struct Image {
    read: ScaledHistory,
    /// `[n, n]`: the values with unknown ones between their neighbours, by the known ones.
    filled: Tensor,
    /// `[n, LINES * (n + future steps)]`: what the methods say of each step, by the known values.
    lines: Tensor,
    /// `[tokens * PATCH]`: 1 where a value is known.
    known: Tensor,
    /// `[tokens, FACTS]` without the logarithms of spreads.
    facts: Tensor,
    hidden: Vec<bool>,
}

impl Image {
    fn new(history: &[f32], calendar: &[f32], shape: WindowShape) -> Option<Self> {
        let read = ScaledHistory::new(history, calendar)?;
        let (n, steps) = (read.scaled.len(), read.scaled.len() + shape.future * PATCH);
        let is_known: Vec<bool> = read.scaled.iter().map(|value| value.is_finite()).collect();
        // All of them are linear in the known values: each row is what a single one of 1 among zeros gives.
        let (mut filled, mut lines) = (Vec::with_capacity(n * n), Vec::with_capacity(n * LINES * steps));
        for place in 0..n {
            let mut unit: Vec<f32> =
                is_known.iter().map(|known| if *known { 0.0 } else { f32::NAN }).collect();
            if !is_known[place] {
                filled.resize(filled.len() + n, 0.0);
                lines.resize(lines.len() + LINES * steps, 0.0);
                continue;
            }
            unit[place] = 1.0;
            let of_unit = fill(&unit);
            let methods = Methods::linear(&unit, &of_unit, &read.periods, steps);
            methods.without_last().into_iter().for_each(|line| lines.extend_from_slice(line));
            filled.extend(of_unit);
        }
        let before = shape.past * PATCH - n;
        let is_known = |place: usize| place.checked_sub(before).and_then(|t| is_known.get(t)) == Some(&true);
        let known: Vec<f32> =
            (0..shape.tokens() * PATCH).map(|place| if is_known(place) { 1.0 } else { 0.0 }).collect();
        let facts = read.facts(vec![1.0; shape.future]);
        let facts = Tensor::build([shape.tokens(), FACTS], |out| {
            out.fill(0.0);
            for (place, (out, known)) in
                out.chunks_exact_mut(FACTS).zip(known.chunks_exact(PATCH)).enumerate()
            {
                let known = known.iter().filter(|known| **known > 0.0).count();
                facts.write(out, shape.centre(place), place.checked_sub(shape.past), known);
            }
        });
        Some(Self {
            filled: Tensor::from_slice(&filled, [n, n]),
            lines: Tensor::from_slice(&lines, [n, LINES * steps]),
            known: Tensor::from_slice(&known, [known.len()]),
            facts,
            hidden: (0..shape.tokens()).map(|place| (place + 1) * PATCH <= before).collect(),
            read,
        })
    }

    /// The quantiles of the network on the window's scale, `[rows, future steps, 9]`, of these values `[rows, n]`.
    fn quantiles(&self, network: &PatchNetwork, cx: &Forward<'_>, x: &Var, shape: WindowShape) -> Var {
        let (rows, n) = (x.shape()[0], x.shape()[1]);
        let (ahead, tokens) = (shape.future * PATCH, shape.tokens());
        let before = shape.past * PATCH - n;
        let filled = x.matmul(&Var::constant(self.filled.clone()));
        let last = filled.narrow(1, n - 1, 1);
        let spreads = self.spreads(&filled, shape.future);
        let lines = x.matmul(&Var::constant(self.lines.clone())).reshape([rows, LINES, n + ahead]);
        let drift = LINES - 1;
        let drifted = clamped(&lines.narrow(1, drift, 1).narrow(2, n, ahead));
        let future = Var::concat(&[&lines.narrow(1, 0, drift).narrow(2, n, ahead), &drifted], 1);
        let lines = Var::concat(&[&lines.narrow(2, 0, n), &future], 2);
        let methods = future.reshape([rows, LINES, shape.future, PATCH]).permute(&[0, 2, 1, 3]);
        let lasts = last.reshape([rows, 1, 1, 1]).expand([rows, shape.future, 1, PATCH]);
        let methods = Var::concat(&[&lasts, &methods], 2);

        let nothing = |steps: usize| Var::constant(Tensor::zeros([rows, steps]));
        let padded = |values: &Var, behind: usize| {
            let parts = [nothing(before), values.clone(), nothing(behind)];
            let parts: Vec<&Var> = parts.iter().filter(|part| part.shape()[1] > 0).collect();
            Var::concat(&parts, 1).reshape([rows, tokens, PATCH])
        };
        let first = spreads.narrow(1, 0, 1);
        let near = |values: &Var| asinh(&values.sub(&last).div(&first));
        let known = Var::constant(self.known.reshape([1, tokens, PATCH]).broadcast_to([rows, tokens, PATCH]));
        let mut parts = vec![padded(x, ahead), known.clone(), padded(&near(x), ahead).mul(&known)];
        for line in 0..LINES {
            parts.push(padded(&near(&lines.narrow(1, line, 1).reshape([rows, n + ahead])), 0));
        }
        let facts = |from: usize, len: usize| {
            let facts = self.facts.narrow(1, from, len).reshape([1, tokens, len]);
            Var::constant(facts.broadcast_to([rows, tokens, len]))
        };
        let of_past = first.expand([rows, shape.past]);
        let logarithms = Var::concat(&[&of_past, &spreads], 1).ln().reshape([rows, tokens, 1]);
        parts.extend([facts(0, SPREAD), logarithms, facts(SPREAD + 1, FACTS - SPREAD - 1)]);
        let hidden = self.hidden.repeat(rows);
        let read = Tokens {
            tokens: Var::concat(&parts, 2).reshape([rows, tokens, FEATURES]),
            hidden: &hidden,
            methods: methods.reshape([rows * shape.future, METHODS, PATCH]),
            spreads: spreads.reshape([rows * shape.future]),
            shape,
        };
        network.forward(cx, &read)
    }

    /// The spreads of the patches of the future, `[rows, future]`.
    fn spreads(&self, filled: &Var, future: usize) -> Var {
        let n = filled.shape()[1];
        let apart = |lag: usize| {
            let pairs = n - lag;
            let change = filled.narrow(1, lag, pairs).sub(&filled.narrow(1, 0, pairs));
            size(&change).sum(1).scale(1.0 / pairs as f32).reshape([filled.shape()[0], 1])
        };
        let spread = |patch: usize| {
            let [least, ahead] = lags(n, self.read.periods.first().copied(), patch).map(apart);
            let is_less = least.sub(&ahead);
            let of_least = Var::constant(marked(&is_less, |change| change <= 0.0));
            ahead.add(&is_less.mul(&of_least))
        };
        let spreads: Vec<Var> = (0..future).map(spread).collect();
        let least = Tensor::full([filled.shape()[0], future], LEAST_SPREAD);
        Var::concat(&spreads, 1).add(&Var::constant(least))
    }
}

/// 1 where a value is so, else 0.
fn marked(values: &Var, is: impl Fn(f32) -> bool) -> Tensor {
    let values = values.value().contiguous();
    Tensor::build(values.shape(), |marks| {
        let marks = marks.iter_mut().zip(values.values());
        marks.for_each(|(mark, value)| *mark = if is(*value) { 1.0 } else { 0.0 });
    })
}

/// The values where they are so, else 0.
fn masked(values: &Var, is: impl Fn(f32) -> bool) -> Var {
    values.mul(&Var::constant(marked(values, is)))
}

/// The absolute values.
fn size(values: &Var) -> Var {
    masked(values, |value| value > 0.0).sub(&masked(values, |value| value < 0.0))
}

/// The values within the largest that the network sees.
fn clamped(values: &Var) -> Var {
    let beyond = marked(values, |value| value > LARGEST).sub(&marked(values, |value| value < -LARGEST));
    masked(values, |value| value.abs() <= LARGEST).add(&Var::constant(beyond).scale(LARGEST))
}

/// The inverse hyperbolic sines.
fn asinh(values: &Var) -> Var {
    let ones = Var::constant(Tensor::full(values.shape(), 1.0));
    let signs = marked(values, |value| value >= 0.0).sub(&marked(values, |value| value < 0.0));
    let signs = Var::constant(signs);
    let size = values.mul(&signs);
    size.add(&size.square().add(&ones).sqrt()).ln().mul(&signs)
}

/// Values that are these on the network's scale.
fn inverted(scaled: &Var, scale: WindowScale) -> Var {
    let [centre, width] = scale.parts();
    let sinh = scaled.exp().sub(&scaled.scale(-1.0).exp()).scale(0.5);
    sinh.scale(width).add(&Var::constant(Tensor::full(scaled.shape(), centre)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foretell0::bundled;

    /// The medians by the function of the values, beside those of the forecast.
    fn check(history: &[f32], calendar: &[f32], steps: usize) {
        let network = bundled();
        let window = ExplainedWindow::new(history, calendar, steps).expect("it varies");
        let input_size = history.len() + 5;
        let windows = foretell_nn::Windows {
            insample_y: Tensor::from_slice(&window.inputs(input_size), [1, input_size]),
            insample_mask: Tensor::full([1, input_size], 1.0),
            hist_exog: None,
            futr_exog: None,
            stat_exog: None,
        };
        let cx = Forward::inference(network.params());
        let found = window.forward(&cx, &windows.inputs()).value().to_vec();
        let expected = network.quantiles_of(history, calendar, steps).expect("a forecast");
        let (least, most) = bounds(history);
        assert_eq!(found.len(), steps);
        for (t, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let off = (found - expected[MEDIAN]).abs();
            assert!(off <= 1e-4 * (most - least), "step {t}: {found}, not {}", expected[MEDIAN]);
        }
    }

    #[test]
    fn the_function_of_the_values_is_the_forecast() {
        let value = |t: usize| 5.0 + ((t * t) % 11) as f32 + if t % 12 < 3 { 6.0 } else { 0.0 };
        let mut history: Vec<f32> = (0..75).map(value).collect();
        check(&history, &[12.0], 20);
        check(&history, &[], 5);
        check(&history[..3], &[12.0], 7);
        let mirrored: Vec<f32> = history.iter().map(|value| -3.0 * value).collect();
        check(&mirrored, &[12.0, 30.0], 20);
        for unknown in [20, 21, 22, 40, 74] {
            history[unknown] = f32::NAN;
        }
        check(&history, &[12.0], 20);
        // A drift that is cut off, zeros that no forecast is below, and a cycle that comes out exactly.
        check(&[0.0, 1.0, 4.0, 9.0, 16.0], &[], 100);
        check(&(0..60).map(|t| if t % 4 == 0 { (t % 7) as f32 } else { 0.0 }).collect::<Vec<_>>(), &[], 16);
        check(&(0..45).map(|t| [1.0, 4.0, 2.0, 8.0, 5.0, 7.0][t % 6]).collect::<Vec<_>>(), &[6.0], 9);
    }
}
