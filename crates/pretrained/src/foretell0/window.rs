//! A history as the network reads it: patches of values on the window's scale, with what simple methods say of each step, and patches of
//! the future that hold the latter alone.

use super::periods::{self, moving_average};
use super::scale::WindowScale;

/// Steps of a token.
pub const PATCH: usize = 16;

/// Simple methods whose forecasts the network mixes: the last value, the value a period ago, the mean season, the smoothed level with the
/// season, the value a longer period ago, and the last value with drift.
pub const METHODS: usize = 6;

/// Numbers of a patch beside those of its steps.
pub(super) const FACTS: usize = 16;

/// Numbers of a token: for each step its value on the window's scale, whether it is known, and the distances of value and methods from the last
/// value, by the spread of the first patch; and the facts.
pub const FEATURES: usize = (METHODS + 2) * PATCH + FACTS;

/// Added to spreads: what is next to exact needs not be told apart.
pub(super) const LEAST_SPREAD: f32 = 0.01;

/// The largest absolute value that the network sees or is trained for.
pub const LARGEST: f32 = 6.0;

/// What the share of a cycle that is a cycle older counts.
const OLDER: f32 = 0.8;

/// How far the smoothed level follows each value.
const SMOOTHING: f32 = 0.3;

/// A window as the network reads it.
#[derive(Clone, Debug)]
pub struct ReadyWindow {
    /// `[tokens, FEATURES]`: those of the history, then those of the future.
    pub tokens: Vec<f32>,
    /// `[tokens]`: whether a token of the history is wholly before the first value.
    pub hidden: Vec<bool>,
    /// `[future tokens, METHODS, PATCH]`: the methods' forecasts.
    pub methods: Vec<f32>,
    /// How values are scaled.
    pub scale: WindowScale,
    /// Its periods, in steps, the shortest first.
    pub periods: Vec<f32>,
    /// `[future tokens]`: how far values are apart that lie as far apart as a patch from the end of the history, on the window's scale; the
    /// unit of the network's distances.
    pub spreads: Vec<f32>,
}

/// Where the history of a window is among its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowShape {
    /// Tokens of the history.
    pub past: usize,
    /// Tokens of the future.
    pub future: usize,
}

impl WindowShape {
    /// All tokens.
    pub fn tokens(self) -> usize {
        self.past + self.future
    }

    /// Where the middle of a token is, in steps from the end of the history.
    pub(super) fn centre(self, place: usize) -> f32 {
        (place * PATCH) as f32 + 0.5 * PATCH as f32 - (self.past * PATCH) as f32
    }
}

impl ReadyWindow {
    /// The window of a `history` whose unknown values are NaN, of at most `shape.past` patches, at the seasons of its calendar in steps. `None`
    /// if the known values do not vary.
    ///
    /// # Panics
    /// If the history is longer than its patches.
    #[track_caller]
    pub fn new(history: &[f32], calendar: &[f32], shape: WindowShape) -> Option<Self> {
        assert!(
            history.len() <= shape.past * PATCH,
            "{} steps of history for {} patches of {PATCH}",
            history.len(),
            shape.past
        );
        Some(ScaledHistory::new(history, calendar)?.ready(shape))
    }

    fn fill_tokens(&mut self, scaled: &[f32], methods: &Methods, facts: &Facts, shape: WindowShape) {
        let before = shape.past * PATCH - scaled.len();
        for (place, token) in self.tokens.chunks_exact_mut(FEATURES).enumerate() {
            let is_future = place >= shape.past;
            let mut known = 0;
            for i in 0..PATCH {
                let Some(t) = (place * PATCH + i).checked_sub(before) else { continue };
                let value = scaled.get(t).copied().filter(|value| value.is_finite());
                token[i] = value.unwrap_or_default();
                token[PATCH + i] = if value.is_some() { 1.0 } else { 0.0 };
                known += usize::from(value.is_some());
                let near = |value: f32| foretell_data::asinh((value - methods.last) / self.spreads[0]);
                token[2 * PATCH + i] = value.map_or(0.0, near);
                for (method, values) in methods.without_last().into_iter().enumerate() {
                    token[(3 + method) * PATCH + i] = near(values[t]);
                }
            }
            self.hidden[place] = !is_future && (place + 1) * PATCH <= before;
            facts.write(
                &mut token[FEATURES - FACTS..],
                shape.centre(place),
                place.checked_sub(shape.past),
                known,
            );
        }
        let start = scaled.len();
        for (place, patch) in self.methods.chunks_exact_mut(METHODS * PATCH).enumerate() {
            let (last, others) = patch.split_at_mut(PATCH);
            last.fill(methods.last);
            for (out, values) in others.chunks_exact_mut(PATCH).zip(methods.without_last()) {
                out.copy_from_slice(&values[start + place * PATCH..start + (place + 1) * PATCH]);
            }
        }
    }
}

/// A history on its window's scale, and what the network is told of it beside its values.
pub(super) struct ScaledHistory {
    /// From the first known value on, NaN where unknown.
    pub(super) scaled: Vec<f32>,
    pub(super) scale: WindowScale,
    pub(super) periods: Vec<f32>,
    common: [f32; 4],
}

impl ScaledHistory {
    /// `None` if the known values do not vary.
    pub(super) fn new(history: &[f32], calendar: &[f32]) -> Option<Self> {
        let start = history.iter().position(|value| value.is_finite())?;
        let history = &history[start..];
        let known: Vec<f32> = history.iter().copied().filter(|value| value.is_finite()).collect();
        let scale = WindowScale::of(&known)?;
        let scaled: Vec<f32> =
            history.iter().map(|value| scale.apply(*value).clamp(-LARGEST, LARGEST)).collect();
        let periods = periods::find(&fill(&scaled), calendar);
        Some(Self { scaled, scale, periods, common: common(&known, &scale) })
    }

    fn ready(self, shape: WindowShape) -> ReadyWindow {
        let filled = fill(&self.scaled);
        let steps = self.scaled.len() + shape.future * PATCH;
        let methods = Methods::new(&self.scaled, &filled, &self.periods, steps);
        let facts = self.facts(spreads(&filled, self.periods.first().copied(), shape.future));
        let mut window = ReadyWindow {
            tokens: vec![0.0; shape.tokens() * FEATURES],
            hidden: vec![false; shape.tokens()],
            methods: vec![0.0; shape.future * METHODS * PATCH],
            scale: self.scale,
            periods: self.periods,
            spreads: facts.spreads.clone(),
        };
        window.fill_tokens(&self.scaled, &methods, &facts, shape);
        window
    }

    /// What holds for the whole window, with these spreads.
    pub(super) fn facts(&self, spreads: Vec<f32>) -> Facts {
        Facts { periods: self.periods.clone(), common: self.common, spreads }
    }
}

/// The values with unknown ones on the line between their neighbours.
pub(super) fn fill(values: &[f32]) -> Vec<f32> {
    let mut filled = values.to_vec();
    let mut last: Option<usize> = None;
    for t in 0..values.len() {
        if !values[t].is_finite() {
            continue;
        }
        let from = last.map_or(0, |last| last + 1);
        let before = last.map_or(values[t], |last| values[last]);
        for (i, value) in filled[from..t].iter_mut().enumerate() {
            *value = before + (values[t] - before) * (i + 1) as f32 / (t - from + 1) as f32;
        }
        last = Some(t);
    }
    if let Some(last) = last {
        filled[last + 1..].fill(values[last]);
    }
    filled
}

/// What simple methods say of each step of history and future.
pub(super) struct Methods {
    last: f32,
    period_ago: Vec<f32>,
    mean_season: Vec<f32>,
    smoothed: Vec<f32>,
    long_ago: Vec<f32>,
    drifted: Vec<f32>,
}

impl Methods {
    fn new(scaled: &[f32], filled: &[f32], periods: &[f32], steps: usize) -> Self {
        let mut methods = Self::linear(scaled, filled, periods, steps);
        methods.drifted[filled.len()..].iter_mut().for_each(|value| *value = value.clamp(-LARGEST, LARGEST));
        methods
    }

    /// The same with the drift as far as it goes: linear in the known values.
    pub(super) fn linear(scaled: &[f32], filled: &[f32], periods: &[f32], steps: usize) -> Self {
        let n = filled.len();
        let last = filled[n - 1];
        let short = periods.first().copied().unwrap_or(1.0);
        let period_ago = periods_ago(filled, short, steps);
        let long_ago =
            periods.get(1).map_or_else(|| period_ago.clone(), |long| periods_ago(filled, *long, steps));
        // Without a period the level of a patch.
        let span = periods.first().map_or(PATCH, |period| period.round() as usize).clamp(1, n);
        let level = moving_average(filled, span);
        let season =
            periods.first().map_or_else(|| vec![0.0; steps], |period| season(scaled, &level, *period, steps));
        let mean_season = (0..steps).map(|t| level[t.min(n - 1)] + season[t]).collect();
        let mut state = filled[0] - season[0];
        let mut smoothed = Vec::with_capacity(steps);
        for t in 0..steps {
            smoothed.push(state + season[t]);
            if scaled.get(t).is_some_and(|value| value.is_finite()) {
                state += SMOOTHING * (scaled[t] - season[t] - state);
            }
        }
        let drift = (last - filled[0]) / (n - 1).max(1) as f32;
        let drifted = (0..steps).map(|t| match t.checked_sub(n) {
            None => filled[t.saturating_sub(1)] + drift,
            Some(ahead) => last + drift * (ahead + 1) as f32,
        });
        Self { last, period_ago, mean_season, smoothed, long_ago, drifted: drifted.collect() }
    }

    pub(super) fn without_last(&self) -> [&[f32]; METHODS - 1] {
        [&self.period_ago, &self.mean_season, &self.smoothed, &self.long_ago, &self.drifted]
    }
}

/// The value a period before each step; beyond the history as many periods before as lie in it, and before the first whole period the first
/// value.
fn periods_ago(filled: &[f32], period: f32, steps: usize) -> Vec<f32> {
    let last = filled.len() - 1;
    let value = |t: usize| {
        let beyond = t as f32 - last as f32;
        let times = (beyond / period).ceil().max(1.0);
        let place = (t as f32 - times * period).clamp(0.0, last as f32);
        let before = place as usize;
        filled[before] + (place - before as f32) * (filled[(before + 1).min(last)] - filled[before])
    };
    (0..steps).map(value).collect()
}

/// The mean distance from the level at each phase of the period, where later cycles count more.
fn season(scaled: &[f32], level: &[f32], period: f32, steps: usize) -> Vec<f32> {
    let phases = (period.round() as usize).max(2);
    // The remainder is exact; a fraction of the period is rounded, and gave step 14 of 12 the phase 1.
    let phase = |t: usize| ((t as f32 % period * (phases as f32 / period)) as usize).min(phases - 1);
    let (mut sums, mut weights) = (vec![0.0; phases], vec![0.0; phases]);
    for (t, value) in scaled.iter().enumerate() {
        if value.is_finite() {
            let cycles = ((scaled.len() - 1 - t) as f32 / period) as i32;
            let weight = OLDER.powi(cycles);
            sums[phase(t)] += weight * (value - level[t]);
            weights[phase(t)] += weight;
        }
    }
    let means: Vec<f32> = sums
        .iter()
        .zip(&weights)
        .map(|(sum, weight)| if *weight > 0.0 { sum / weight } else { 0.0 })
        .collect();
    let mean = means.iter().sum::<f32>() / phases as f32;
    (0..steps).map(|t| means[phase(t)] - mean).collect()
}

/// For each patch of the future, the mean absolute difference of values as far apart as it is from the history's end: of whole periods, if that is
/// less.
fn spreads(filled: &[f32], period: Option<f32>, future: usize) -> Vec<f32> {
    let apart = |lag: usize| {
        let pairs = filled.get(lag..).unwrap_or_default().iter().zip(filled);
        let count = pairs.len().max(1);
        pairs.map(|(later, earlier)| (later - earlier).abs()).sum::<f32>() / count as f32
    };
    let spread = |patch: usize| {
        let [least, ahead] = lags(filled.len(), period, patch);
        apart(least).min(apart(ahead)) + LEAST_SPREAD
    };
    (0..future).map(spread).collect()
}

/// How far values are apart whose differences tell of this patch of the future: whole periods, and as far as the patch is.
pub(super) fn lags(n: usize, period: Option<f32>, patch: usize) -> [usize; 2] {
    let within = |lag: usize| lag.clamp(1, (n / 2).max(1));
    let ahead = patch * PATCH + PATCH / 2;
    let whole = period.map_or(ahead, |period| ((ahead as f32 / period).ceil() * period).round() as usize);
    [within(whole), within(ahead)]
}

/// What holds for the whole window.
pub(super) struct Facts {
    periods: Vec<f32>,
    common: [f32; 4],
    spreads: Vec<f32>,
}

/// Where 0 is, how many values are 0, whether none is negative, and whether all are whole numbers.
fn common(known: &[f32], scale: &WindowScale) -> [f32; 4] {
    let share =
        |test: fn(&f32) -> bool| known.iter().filter(|value| test(value)).count() as f32 / known.len() as f32;
    let flag = |is: bool| if is { 1.0 } else { 0.0 };
    [
        scale.apply(0.0).clamp(-LARGEST, LARGEST),
        share(|value| *value == 0.0),
        flag(known.iter().all(|value| *value >= 0.0)),
        flag(known.iter().all(|value| value.fract() == 0.0)),
    ]
}

impl Facts {
    pub(super) fn write(&self, out: &mut [f32], centre: f32, future: Option<usize>, known: usize) {
        for (slot, period) in self.periods.iter().enumerate() {
            let (sin, cos) = (std::f32::consts::TAU * centre / period).sin_cos();
            out[4 * slot..4 * slot + 4].copy_from_slice(&[sin, cos, 1.0, period.ln() / 6.0]);
        }
        out[8..12].copy_from_slice(&self.common);
        out[12] = self.spreads[future.unwrap_or_default()].ln();
        out[13] = if future.is_some() { 1.0 } else { 0.0 };
        out[14] = centre / 512.0;
        out[15] = known as f32 / PATCH as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: WindowShape = WindowShape { past: 8, future: 2 };

    fn seasonal(steps: usize) -> Vec<f32> {
        (0..steps).map(|t| 50.0 + 10.0 * [0.0, 1.0, 3.0, 2.0][t % 4]).collect()
    }

    #[test]
    fn methods_repeat_what_repeats() {
        let history = seasonal(100);
        let window = ReadyWindow::new(&history, &[4.0], SHAPE).unwrap();
        assert!(window.spreads.iter().all(|spread| *spread < 0.05), "{:?}", window.spreads);
        let truth = seasonal(132);
        for (place, patch) in window.methods.chunks_exact(METHODS * PATCH).enumerate() {
            for i in 0..PATCH {
                let expected = truth[100 + place * PATCH + i];
                for (method, within) in [(1, 1e-3), (2, 0.5), (3, 0.5)] {
                    let found = window.scale.invert(patch[method * PATCH + i]);
                    assert!(
                        (found - expected).abs() < within,
                        "method {method}, step {i}: {found}, not {expected}"
                    );
                }
                assert_eq!(patch[i], window.scale.apply(history[99]));
            }
        }
    }

    #[test]
    fn each_step_has_the_phase_of_its_period() {
        for period in [4, 5, 7, 12, 24, 48, 52, 168] {
            let values: Vec<f32> = (0..512).map(|t| (t % period) as f32).collect();
            let steps = season(&values, &vec![0.0; 512], period as f32, 600);
            let middle = (period - 1) as f32 / 2.0;
            for (t, found) in steps.iter().enumerate() {
                let expected = (t % period) as f32 - middle;
                assert!((found - expected).abs() < 1e-3, "step {t} of {period}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn tokens_before_the_first_value_are_hidden() {
        let mut history = vec![f32::NAN; 20];
        history.extend(seasonal(40));
        let window = ReadyWindow::new(&history, &[], SHAPE).unwrap();
        // 40 values are two patches and a half.
        assert_eq!(window.hidden, [true, true, true, true, true, false, false, false, false, false]);
        let known: f32 =
            window.tokens.chunks_exact(FEATURES).flat_map(|token| &token[PATCH..2 * PATCH]).sum();
        assert_eq!(known, 40.0);
    }

    #[test]
    fn unknown_values_are_masked_and_on_the_line_between_neighbours() {
        let mut history: Vec<f32> = (0..64).map(|t| t as f32).collect();
        history[10] = f32::NAN;
        history[63] = f32::NAN;
        assert_eq!(fill(&history)[9..12], [9.0, 10.0, 11.0]);
        assert_eq!(fill(&history)[63], 62.0);
        assert_eq!(fill(&[f32::NAN, 4.0]), [4.0, 4.0]);
        let window = ReadyWindow::new(&history, &[], WindowShape { past: 4, future: 1 }).unwrap();
        assert_eq!((window.tokens[10], window.tokens[PATCH + 10]), (0.0, 0.0));
        assert!(window.tokens.iter().chain(&window.methods).all(|value| value.is_finite()));
    }

    #[test]
    fn a_window_does_not_depend_on_what_lies_before_its_first_value() {
        let history = seasonal(50);
        let small = ReadyWindow::new(&history, &[4.0], WindowShape { past: 4, future: 1 }).unwrap();
        let large = ReadyWindow::new(&history, &[4.0], WindowShape { past: 9, future: 1 }).unwrap();
        assert_eq!(small.tokens, large.tokens[5 * FEATURES..]);
        assert_eq!(small.methods, large.methods);
    }

    #[test]
    fn what_does_not_vary_is_no_window() {
        assert!(ReadyWindow::new(&[3.0; 40], &[], SHAPE).is_none());
        assert!(ReadyWindow::new(&[f32::NAN; 40], &[], SHAPE).is_none());
        assert!(ReadyWindow::new(&[], &[], SHAPE).is_none());
    }
}
