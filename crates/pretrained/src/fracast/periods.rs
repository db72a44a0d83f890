//! The periods of a window: peaks of its periodogram that noise would hardly have.

use foretell_kernels::fourier::{forward, frequencies};

use super::config::FracastConfig;

/// What a search takes memory for.
#[derive(Debug, Default)]
pub(super) struct PeriodScratch {
    centred: Vec<f32>,
    spectrum: Vec<f32>,
    power: Vec<f32>,
    peaks: Vec<(f32, usize)>,
}

/// The periods of `values` into `periods`, the strongest first, 0 where there is none.
///
/// A bin is a period's if its share of the power is above that of both neighbours and at least ln(n / alpha) / n for n bins, which the
/// largest of n bins of white noise exceeds with a probability of about alpha (Fisher's test with Bonferroni's bound).
pub(super) fn find_periods(
    config: &FracastConfig,
    values: &[f32],
    periods: &mut [usize],
    scratch: &mut PeriodScratch,
) {
    let PeriodScratch { centred, spectrum, power, peaks } = scratch;
    let (len, padded) = (values.len(), values.len().max(2).next_power_of_two());
    let mean = (values.iter().map(|&x| f64::from(x)).sum::<f64>() / len as f64) as f32;
    centred.clear();
    centred.extend(values.iter().map(|x| x - mean));
    centred.resize(padded, 0.0);
    spectrum.resize(2 * frequencies(padded), 0.0);
    forward(centred, padded, spectrum);
    // Without the mean, which is no period.
    power.clear();
    power.extend(spectrum[2..].chunks_exact(2).map(|number| number[0] * number[0] + number[1] * number[1]));
    let bins = power.len();
    let total = power.iter().map(|&x| f64::from(x)).sum::<f64>().max(1e-12) as f32;
    power.iter_mut().for_each(|x| *x /= total);
    let longest = (len / 2).max(2);
    let first = (padded / longest).saturating_sub(1);
    let last = (padded / config.periodic_min_period.max(2)).saturating_sub(1).min(bins - 1);
    let n = bins.max(2) as f64;
    let least = ((n / config.periodic_alpha.max(1e-12)).ln() / n) as f32;
    peaks.clear();
    if last > first {
        let inner = first.max(1)..=last.min(bins.saturating_sub(2));
        let is_peak = |&k: &usize| power[k] > power[k - 1] && power[k] > power[k + 1] && power[k] >= least;
        peaks.extend(inner.filter(is_peak).map(|k| (power[k], k + 1)));
    }
    peaks.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (i, period) in periods.iter_mut().enumerate() {
        let of_bin = |&(_, bin): &(f32, usize)| (padded as f32 / bin as f32).round_ties_even() as usize;
        *period = peaks.get(i).map_or(0, of_bin);
    }
}
