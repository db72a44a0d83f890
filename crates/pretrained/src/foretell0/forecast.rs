//! Forecasts of one series: the window, the mean with its mirror image, long seasons by averages of neighbouring steps, far horizons by
//! repetition.

use std::ops::Range;

use foretell_nn::{Forward, Params, Tensor, Var};

use super::network::{FUTURE, PAST, PatchNetwork, QUANTILES, Tokens};
use super::weights::{self, WeightsError};
use super::window::{FEATURES, METHODS, PATCH, ReadyWindow, WindowShape};
use crate::{PretrainedNetwork, SeriesContext};

/// [`QUANTILES`] as others read them.
const LEVELS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The most steps that are averaged.
pub(super) const MOST_AVERAGED: usize = 64;

/// Steps of history that a window holds.
pub(crate) const CONTEXT: usize = PAST * PATCH;

/// Steps of the future that the network was trained for; the season is repeated beyond.
pub(super) const FARTHEST: usize = FUTURE * PATCH;

/// The longest season that a window shows three cycles of.
const LONGEST_SEASON: f32 = CONTEXT as f32 / 3.0;

/// The fewest averages that a short season is seen by.
const LEAST_SEASON: f32 = 6.0;

/// The normal quantiles of [`QUANTILES`].
const NORMAL: [f32; 9] = [
    -1.281_551_6, -0.841_621_2, -0.524_400_5, -0.253_347_1, 0.0, 0.253_347_1, 0.524_400_5, 0.841_621_2,
    1.281_551_6,
];

/// Quantiles of a step.
pub type Step = [f32; QUANTILES.len()];

/// The network with its weights.
#[derive(Debug)]
pub struct Foretell0Network {
    network: PatchNetwork,
    params: Params,
}

impl Foretell0Network {
    /// The network with these weights.
    pub fn new(params: Params) -> Self {
        Self { network: PatchNetwork::new().0, params }
    }

    /// The network with the weights of these bytes.
    ///
    /// # Errors
    /// If they are not such weights.
    pub fn read(bytes: &[u8]) -> Result<Self, WeightsError> {
        let (network, table) = PatchNetwork::new();
        Ok(Self { network, params: weights::read(bytes, table)?.0 })
    }

    /// Its weights.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Quantiles of the `h` steps after a history whose unknown values are NaN, at the seasons of its calendar, in steps, the shortest first;
    /// `None` if nothing is known.
    ///
    /// Quantiles rise. Where all known values are the same, or each is that of a period before, the forecast is exact.
    /// A history without negative values has no negative forecast.
    pub fn quantiles_of(&self, history: &[f32], calendar: &[f32], h: usize) -> Option<Vec<Step>> {
        let last = history.iter().rfind(|value| value.is_finite())?;
        let times = averaged(history.len(), calendar);
        let window = window_of(history, times);
        let (least, most) = bounds(window);
        // A window without known values, or without any that differ, has its last known value.
        let steps = match least < most {
            false => None,
            true if times > 1 => self.by_averages(window, calendar, times, h),
            true => self.directly(window, calendar, h),
        };
        let mut steps = steps.unwrap_or_else(|| vec![[*last; 9]; h]);
        if least.is_finite() && least >= 0.0 {
            steps.iter_mut().flatten().for_each(|value| *value = value.max(0.0));
        }
        Some(steps)
    }

    /// The forecast of averages of `times` steps, with what each step is beside the average that it is in.
    fn by_averages(&self, history: &[f32], calendar: &[f32], times: usize, h: usize) -> Option<Vec<Step>> {
        let first = history.len() % times;
        let averages = averages(&history[first..], times);
        let seasons: Vec<f32> = calendar.iter().map(|season| season / times as f32).collect();
        let coarse = self.quantiles_of(&averages, &seasons, h.div_ceil(times))?;
        let fine = Detail::new(&history[first..], &averages, times, *calendar.last()? as usize);
        let step = |t: usize| {
            let line = interpolated(t, times, coarse.len(), |block| coarse[block]);
            let (detail, noise) = (fine.at(t), fine.noise);
            let middle = line[4];
            let widened = |i: usize| {
                let away = line[i] - middle;
                let wide = (away * away + (noise * NORMAL[i]).powi(2)).sqrt();
                middle + detail + wide.copysign(NORMAL[i])
            };
            std::array::from_fn(|i| if i == 4 { middle + detail } else { widened(i) })
        };
        Some((0..h).map(step).collect())
    }

    fn directly(&self, history: &[f32], calendar: &[f32], h: usize) -> Option<Vec<Step>> {
        let shape = WindowShape {
            past: history.len().div_ceil(PATCH).clamp(1, PAST),
            future: h.min(FARTHEST).div_ceil(PATCH).max(1),
        };
        let window = ReadyWindow::new(history, calendar, shape)?;
        let mirrored: Vec<f32> = history.iter().map(|value| -value).collect();
        let mirrored = ReadyWindow::new(&mirrored, calendar, shape)?;
        let period = window.periods.first().copied();
        if let Some(period) = window.periods.iter().find(|period| repeats(history, **period)) {
            let lag = *period as usize;
            let cycle = &history[history.len() - lag..];
            return Some((0..h).map(|t| [cycle[t % lag]; 9]).collect());
        }
        let quantiles = self.quantiles([&window, &mirrored], shape);
        let near = h.min(FARTHEST);
        let mut steps: Vec<Step> = (0..near)
            .map(|t| {
                let mut step: Step = std::array::from_fn(|i| {
                    let image = quantiles[1][9 * t + 8 - i];
                    0.5 * (window.scale.invert(quantiles[0][9 * t + i]) - mirrored.scale.invert(image))
                });
                step.sort_by(f32::total_cmp);
                step
            })
            .collect();
        let lag = period.map_or(1, |period| period.round() as usize).clamp(1, near.max(1));
        for t in near..h {
            steps.push(steps[t - lag]);
        }
        Some(steps)
    }

    /// Quantiles of each window on its scale.
    fn quantiles(&self, windows: [&ReadyWindow; 2], shape: WindowShape) -> [Vec<f32>; 2] {
        let joined = |of: fn(&ReadyWindow) -> &[f32]| -> Vec<f32> {
            windows.iter().flat_map(|window| of(window).iter().copied()).collect()
        };
        let hidden: Vec<bool> = windows.iter().flat_map(|window| window.hidden.iter().copied()).collect();
        let constant =
            |values: Vec<f32>, sizes: [usize; 3]| Var::constant(Tensor::from_slice(&values, sizes));
        let spreads = constant(joined(|window| &window.spreads), [2, shape.future, 1]);
        let batch = Tokens {
            tokens: constant(joined(|window| &window.tokens), [2, shape.tokens(), FEATURES]),
            hidden: &hidden,
            methods: constant(joined(|window| &window.methods), [2 * shape.future, METHODS, PATCH]),
            spreads: spreads.reshape([2 * shape.future]),
            shape,
        };
        let values = self.network.forward(&Forward::inference(&self.params), &batch).value().to_vec();
        let (one, other) = values.split_at(values.len() / 2);
        [one.to_vec(), other.to_vec()]
    }
}

/// What is taken from values before they are held in 32 bits, where these would lose what moves: a whole number in their middle, so that
/// whole numbers stay whole. 0 of others.
pub(super) fn level(values: &[f64]) -> f64 {
    let known = values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
    let range = most - least;
    let is_far = range > 0.0 && least.abs().max(most.abs()) > 1e4 * range;
    if is_far { (0.5 * (least + most)).round() } else { 0.0 }
}

impl PretrainedNetwork for Foretell0Network {
    fn levels(&self) -> &[f64] {
        &LEVELS
    }

    fn horizon(&self) -> usize {
        FARTHEST
    }

    fn context_length(&self) -> usize {
        MOST_AVERAGED * CONTEXT
    }

    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]) {
        assert_eq!(
            out.len(),
            contexts.len() * horizon * LEVELS.len(),
            "quantiles of {} contexts",
            contexts.len()
        );
        for (context, out) in contexts.iter().zip(out.chunks_exact_mut((horizon * LEVELS.len()).max(1))) {
            let level = level(context.values);
            let history: Vec<f32> = context.values.iter().map(|value| (*value - level) as f32).collect();
            let calendar: Vec<f32> = context.seasons.iter().map(|season| *season as f32).collect();
            match self.quantiles_of(&history, &calendar, horizon) {
                Some(steps) => out
                    .iter_mut()
                    .zip(steps.iter().flatten())
                    .for_each(|(out, value)| *out = level + f64::from(*value)),
                None => out.fill(0.0),
            }
        }
    }

    fn held_bytes(&self) -> u64 {
        4 * self.params.table().arena_len() as u64
    }

    fn working_bytes(&self, horizon: usize, _: usize, _: usize) -> u64 {
        // A window and its image; beside what is read a few rows of each token.
        let tokens = 2 * (PAST + horizon.min(FARTHEST).div_ceil(PATCH)) as u64;
        4 * tokens * (FEATURES + 16 * 256) as u64
    }
}

/// How many steps are averaged of a history of `steps` so that a window holds three cycles of the longest season: 1 where that is short, or averages would hide the
/// shortest.
pub(super) fn averaged(steps: usize, calendar: &[f32]) -> usize {
    let (Some(&short), Some(&long)) = (calendar.first(), calendar.last()) else { return 1 };
    if long <= LONGEST_SEASON || steps < CONTEXT || (steps as f32) < 2.0 * long {
        return 1;
    }
    let times = (long / LONGEST_SEASON).ceil();
    if short / times >= LEAST_SEASON && times <= MOST_AVERAGED as f32 { times as usize } else { 1 }
}

/// The end of a history that the window holds.
pub(super) fn window_of(history: &[f32], times: usize) -> &[f32] {
    &history[history.len().saturating_sub(CONTEXT * times)..]
}

/// The means of the known values of each `times` steps, NaN where none is known.
pub(super) fn averages(values: &[f32], times: usize) -> Vec<f32> {
    let mean = |block: &[f32]| {
        let known = block.iter().filter(|value| value.is_finite());
        known.clone().map(|value| f64::from(*value)).sum::<f64>() as f32 / known.count() as f32
    };
    values.chunks(times).map(mean).collect()
}

/// The least and the largest known value.
pub(super) fn bounds(values: &[f32]) -> (f32, f32) {
    let known = values.iter().copied().filter(|value| value.is_finite());
    known.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
}

/// Whether each value is that of a whole period before, for two cycles at least.
pub(super) fn repeats(history: &[f32], period: f32) -> bool {
    let lag = period as usize;
    let is_whole = period.fract() == 0.0 && lag >= 1 && history.len() >= 2 * lag;
    is_whole && history[lag..].iter().zip(history).all(|(later, earlier)| later == earlier)
}

/// What is on the line between the middles of blocks of `times` steps, at step `t` of the first.
fn interpolated(t: usize, times: usize, blocks: usize, at: impl Fn(usize) -> Step) -> Step {
    let place = ((t as f32 + 0.5) / times as f32 - 0.5).clamp(0.0, (blocks - 1) as f32);
    let before = place as usize;
    let share = place - before as f32;
    let (one, other) = (at(before), at((before + 1).min(blocks - 1)));
    std::array::from_fn(|i| one[i] + share * (other[i] - one[i]))
}

/// What steps are beside the averages that they lie in.
struct Detail {
    season: Vec<f32>,
    /// The standard deviation of what the season does not explain.
    noise: f32,
}

impl Detail {
    fn new(history: &[f32], averages: &[f32], times: usize, season: usize) -> Self {
        let n = history.len();
        let away = |t: usize| {
            let line = interpolated(t, times, averages.len(), |block| [averages[block]; 9]);
            // The line ends in the middle of the last average.
            if t + times < n { history[t] - line[4] } else { f32::NAN }
        };
        // The last three cycles, by the steps that they lie before the end.
        let cycles: Vec<Range<usize>> = (1..=3)
            .take_while(|cycle| cycle * season <= n)
            .map(|cycle| n - cycle * season..n - (cycle - 1) * season)
            .collect();
        let mean = |phase: usize| {
            let known: Vec<f32> = cycles
                .iter()
                .map(|cycle| away(cycle.start + phase))
                .filter(|value| value.is_finite())
                .collect();
            if known.is_empty() { 0.0 } else { known.iter().sum::<f32>() / known.len() as f32 }
        };
        let season: Vec<f32> = (0..season).map(mean).collect();
        let (mut squares, mut count) = (0.0_f64, 0);
        for cycle in &cycles {
            for (phase, t) in cycle.clone().enumerate() {
                let rest = f64::from(away(t) - season[phase]);
                if rest.is_finite() {
                    squares += rest * rest;
                    count += 1;
                }
            }
        }
        // Means of so few cycles follow the values.
        let freedom = (count as f64 * (1.0 - 1.0 / cycles.len().max(2) as f64)).max(1.0);
        Self { season, noise: (squares / freedom).sqrt() as f32 }
    }

    fn at(&self, t: usize) -> f32 {
        self.season[t % self.season.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Foretell0Network {
        Foretell0Network::new(PatchNetwork::new().1.initialise(1))
    }

    #[test]
    fn constant_and_periodic_series_come_out_exactly() {
        let network = network();
        assert_eq!(network.quantiles_of(&[7.5; 50], &[], 3), Some(vec![[7.5; 9]; 3]));
        assert_eq!(network.quantiles_of(&[4.0], &[12.0], 2), Some(vec![[4.0; 9]; 2]));
        let cycle = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0];
        let history: Vec<f32> = (0..45).map(|t| cycle[t % 6]).collect();
        let forecast = network.quantiles_of(&history, &[6.0], 9).unwrap();
        for (t, step) in forecast.iter().enumerate() {
            assert_eq!(*step, [cycle[(45 + t) % 6]; 9]);
        }
    }

    #[test]
    fn quantiles_rise_at_any_length_and_horizon() {
        let network = network();
        for (steps, h) in [(1, 3), (2, 1), (17, 20), (600, 40), (30, 300)] {
            let history: Vec<f32> = (0..steps).map(|t| ((t * t) % 13) as f32 - 4.0).collect();
            let forecast = network.quantiles_of(&history, &[7.0], h).unwrap();
            assert_eq!(forecast.len(), h);
            assert!(
                forecast.iter().all(|step| step.is_sorted() && step.iter().all(|value| value.is_finite()))
            );
        }
        assert_eq!(network.quantiles_of(&[], &[], 3), None);
        assert_eq!(network.quantiles_of(&[f32::NAN; 9], &[], 3), None);
    }

    #[test]
    fn a_mirrored_history_has_a_mirrored_forecast_and_units_do_not_matter() {
        let network = network();
        let history: Vec<f32> = (0..90).map(|t| ((t * 5) % 11) as f32 - 3.0 + 0.1 * t as f32).collect();
        let scaled = |factor: f32| -> Vec<f32> { history.iter().map(|value| factor * value).collect() };
        let forecast = network.quantiles_of(&history, &[11.0], 5).unwrap();
        let mirrored = network.quantiles_of(&scaled(-1.0), &[11.0], 5).unwrap();
        let larger = network.quantiles_of(&scaled(1024.0), &[11.0], 5).unwrap();
        for t in 0..5 {
            for i in 0..9 {
                assert!((forecast[t][i] + mirrored[t][8 - i]).abs() < 1e-3);
                assert!((1024.0 * forecast[t][i] - larger[t][i]).abs() < 1.0);
            }
        }
    }

    #[test]
    fn what_is_never_negative_has_no_negative_forecast() {
        let history: Vec<f32> = (0..60).map(|t| if t % 4 == 0 { (t % 7) as f32 } else { 0.0 }).collect();
        let forecast = network().quantiles_of(&history, &[], 30).unwrap();
        assert!(forecast.iter().flatten().all(|value| *value >= 0.0));
    }

    #[test]
    fn long_seasons_are_averaged_and_their_detail_comes_back() {
        let value = |t: usize| {
            20.0 + (t % 48) as f32
                + if t / 48 % 7 > 4 { 5.0 } else { 0.0 }
                + if t.is_multiple_of(2) { 3.0 } else { 0.0 }
        };
        let history: Vec<f32> = (0..48 * 7 * 5).map(value).collect();
        let steps = history.len();
        assert_eq!(averaged(steps, &[48.0, 336.0]), 2);
        assert_eq!((averaged(steps, &[7.0, 365.0]), averaged(steps, &[24.0, 168.0])), (1, 1));
        let averages: Vec<f32> = history.chunks_exact(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        let detail = Detail::new(&history, &averages, 2, 336);
        assert!(detail.noise < 1e-3, "{}", detail.noise);
        // Every second step is higher by 3: half of it above the line, half below.
        assert!((detail.at(100) - 1.25).abs() < 0.3 && (detail.at(101) + 1.25).abs() < 0.3);
        assert_eq!(network().quantiles_of(&history, &[48.0, 336.0], 96).unwrap().len(), 96);
    }
}
