//! The periods of a window: those of the calendar that it is long enough for, and those that show in its periodogram.
//!
//! A peak of the periodogram of `n` values is taken for a period if its share of the power is above `ln(n / 0.05) / n` (the bound of
//! Bonferroni for Fisher's test of white noise), at least three cycles are in the window, and the values less their moving average over a period
//! are correlated a period apart: a random walk, whose power is all at low frequencies, passes the first and not the last.

use foretell_kernels::fourier;

/// Periods that the network has places for.
pub const PERIODS: usize = 2;

/// Peaks of the periodogram that are looked at.
const PEAKS: usize = 4;

/// Correlation a period apart, of what is left of the moving average, from which on a period is taken.
const LEAST_CORRELATION: f32 = 0.25;

/// What noise may add to it, by the root of the number of pairs.
const BY_CHANCE: f32 = 1.5;

/// The share of the largest correlation from which on a shorter period is preferred.
const ABOUT_AS_STRONG: f32 = 0.7;

/// The periods of these values, which are all known: at most [`PERIODS`], the shortest first. Those of `calendar` count without a test if the
/// window has a whole cycle.
pub fn find(values: &[f32], calendar: &[f32]) -> Vec<f32> {
    let n = values.len();
    let mut found: Vec<f32> = Vec::with_capacity(PERIODS);
    for &period in calendar {
        if found.len() < PERIODS
            && period >= 2.0
            && period <= n as f32
            && !found.iter().any(|known| is_like(*known, period))
        {
            found.push(period);
        }
    }
    if found.len() < PERIODS && n >= 24 {
        let mut shown: Vec<(f32, f32)> = candidates(values)
            .into_iter()
            .map(|period| (correlation(values, period), period))
            .filter(|(correlation, period)| {
                *correlation > LEAST_CORRELATION + BY_CHANCE / (n as f32 - period).sqrt()
            })
            .collect();
        shown.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        // First the shortest that is about as strong as the strongest: whatever repeats after a day repeats after two.
        let strongest = shown.first().map_or(0.0, |(strength, _)| *strength);
        let is_about_as_strong = |place: &usize| shown[*place].0 >= ABOUT_AS_STRONG * strongest;
        let by_length = |a: &usize, b: &usize| shown[*a].1.total_cmp(&shown[*b].1);
        if let Some(first) = (0..shown.len()).filter(is_about_as_strong).min_by(by_length) {
            let first = shown.remove(first);
            shown.insert(0, first);
        }
        for (strength, period) in shown {
            if found.len() == PERIODS {
                break;
            }
            // An overtone or a multiple of a known period tells more only if it is stronger.
            let says_no_more = |known: &f32| {
                let ratio = known.max(period) / known.min(period);
                let is_multiple = (ratio / ratio.round() - 1.0).abs() < 0.04;
                is_multiple && strength < correlation(values, *known) + 0.05
            };
            if !found.iter().any(says_no_more) {
                found.push(period);
            }
        }
    }
    found.sort_by(f32::total_cmp);
    found
}

fn is_like(a: f32, b: f32) -> bool {
    (a / b - 1.0).abs() < 0.03
}

/// The periods of the largest peaks of the periodogram, and twice and three times each.
fn candidates(values: &[f32]) -> Vec<f32> {
    let n = values.len();
    let detrended = detrended(values);
    let mut spectrum = vec![0.0; 2 * fourier::frequencies(n)];
    fourier::forward(&detrended, n, &mut spectrum);
    let power: Vec<f32> =
        spectrum.chunks_exact(2).map(|pair| pair[0] * pair[0] + pair[1] * pair[1]).collect();
    let total: f32 = power[1..].iter().sum();
    let threshold = total * (n as f32 / 0.05).ln() / n as f32;
    let mut peaks: Vec<usize> = (3..power.len())
        .filter(|&k| {
            power[k] > threshold
                && power[k] >= power[k - 1]
                && power.get(k + 1).is_none_or(|next| power[k] > *next)
        })
        .collect();
    peaks.sort_by(|a, b| power[*b].total_cmp(&power[*a]).then(a.cmp(b)));
    peaks.truncate(PEAKS);
    let mut periods: Vec<f32> = Vec::new();
    for peak in peaks {
        let base = n as f32 / peak as f32;
        for times in 1..=3 {
            let period = base * times as f32;
            // Three cycles, for the peak itself; two for its multiples.
            if period <= n as f32 / 2.0 && period >= 2.0 {
                let period = refined(values, period, base / peak as f32);
                if !periods.iter().any(|known| is_like(*known, period)) {
                    periods.push(period);
                }
            }
        }
    }
    periods
}

/// The values less the line through them.
fn detrended(values: &[f32]) -> Vec<f32> {
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / n;
    let (mut with_time, mut of_time) = (0.0, 0.0);
    for (t, value) in values.iter().enumerate() {
        let time = t as f64 - centre;
        with_time += time * f64::from(*value);
        of_time += time * time;
    }
    let slope = if of_time > 0.0 { with_time / of_time } else { 0.0 };
    let line = |t: usize| mean + slope * (t as f64 - centre);
    values.iter().enumerate().map(|(t, value)| (f64::from(*value) - line(t)) as f32).collect()
}

/// A period near this one, as exact as the cycles in the window tell: the lag of several cycles at which values are most alike,
/// divided by the cycles.
fn refined(values: &[f32], period: f32, within: f32) -> f32 {
    let n = values.len() as f32;
    let cycles = (n / 2.0 / period).floor().clamp(1.0, 8.0);
    let (from, to) = ((period - within) * cycles, (period + within) * cycles);
    let (from, to) = (from.max(2.0).floor() as usize, (to.ceil() as usize).min(values.len() * 2 / 3));
    let most = to.saturating_sub(from).min(64);
    let middle = (period * cycles).round() as usize;
    let from = from.max(middle.saturating_sub(most / 2));
    let distance = |lag: usize| -> f32 {
        let pairs = values[lag..].iter().zip(values);
        pairs.map(|(later, earlier)| (later - earlier).powi(2)).sum::<f32>() / (values.len() - lag) as f32
    };
    let best = (from..=(from + most).min(to)).min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    best.map_or(period, |lag| lag as f32 / cycles)
}

/// How alike values are that lie a period apart, once their moving average over a period is taken off: 1 if they repeat, about 0 if
/// there is no such period.
pub fn correlation(values: &[f32], period: f32) -> f32 {
    let lag = period.round() as usize;
    if lag < 2 || values.len() < lag + 4 {
        return 0.0;
    }
    let average = moving_average(values, lag);
    let rest: Vec<f32> = values.iter().zip(average).map(|(value, average)| value - average).collect();
    let (mut products, mut squares) = (0.0, 0.0);
    for (later, earlier) in rest[lag..].iter().zip(&rest) {
        products += later * earlier;
        squares += 0.5 * (later * later + earlier * earlier);
    }
    if squares > 1e-12 { products / squares } else { 0.0 }
}

/// The mean of the values at most half of `len` steps away; of as many as there are at the ends.
pub(super) fn moving_average(values: &[f32], len: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; values.len() + 1];
    for (t, value) in values.iter().enumerate() {
        sums[t + 1] = sums[t] + f64::from(*value);
    }
    let (before, after) = (len / 2, len - len / 2);
    let mean = |t: usize| {
        // A whole period at the ends too, so that no part of the season counts more.
        let from = t.saturating_sub(before).min(values.len().saturating_sub(len));
        let to = (t + after).max(len).min(values.len());
        ((sums[to] - sums[from]) / (to - from) as f64) as f32
    };
    (0..values.len()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(t: usize, seed: u64) -> f32 {
        let key = foretell_nn::Key::new(seed);
        (0..6).map(|i| key.uniform((6 * t + i) as u64)).sum::<f32>() - 3.0
    }

    #[test]
    fn periods_that_show_are_found() {
        for period in [5.0_f32, 7.0, 12.0, 24.0, 30.44, 52.18, 11.3] {
            let wave = |t: usize| (std::f32::consts::TAU * t as f32 / period).sin();
            let values: Vec<f32> =
                (0..400).map(|t| 2.0 * wave(t) + 0.5 * noise(t, 1) + 0.01 * t as f32).collect();
            let found = find(&values, &[]);
            assert!(found.iter().any(|known| is_like(*known, period)), "{period}: {found:?}");
        }
    }

    #[test]
    fn a_day_and_a_week_are_both_found() {
        let hour = |t: usize| (t % 24) as f32 / 6.0 * if t / 24 % 7 > 4 { 0.2 } else { 1.0 };
        let values: Vec<f32> = (0..512).map(|t| hour(t) + 0.1 * noise(t, 2)).collect();
        assert_eq!(find(&values, &[]), [24.0, 168.0]);
    }

    #[test]
    fn noise_and_random_walks_have_none() {
        let mut found = 0;
        for seed in 0..40 {
            let white: Vec<f32> = (0..300).map(|t| noise(t, seed)).collect();
            let mut level = 0.0;
            let walk: Vec<f32> = white
                .iter()
                .map(|step| {
                    level += step;
                    level
                })
                .collect();
            found += usize::from(!find(&white, &[]).is_empty()) + usize::from(!find(&walk, &[]).is_empty());
        }
        assert!(found <= 8, "{found} of 80 have a period");
    }

    #[test]
    fn seasons_of_the_calendar_count_where_a_cycle_is_there() {
        let values: Vec<f32> = (0..100).map(|t| noise(t, 3)).collect();
        assert_eq!(find(&values, &[12.0]), [12.0]);
        assert_eq!(find(&values, &[7.0, 365.0]), [7.0]);
        assert_eq!(find(&values[..10], &[12.0]), [0.0; 0]);
    }
}
