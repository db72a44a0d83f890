//! Processes of Ornstein and Uhlenbeck (1930) that switch between regimes (Hamilton 1989): each regime has its own mean, pull to the mean
//! and volatility, and ends after a random time. Some jump, some ride on a season. The best recipe of synthetic series alone gives
//! such processes the largest weight (TempoPFN: Moroshan et al. 2025).

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, period};

#[derive(Clone, Copy)]
struct Regime {
    mean: f64,
    /// The share of the distance to the mean that is left after a step.
    keep: f64,
    volatility: f64,
    drift: f64,
}

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let count = draws.weighted(&[0.3, 0.4, 0.2, 0.1]) + 1;
    let (apart, wandering) = (draws.log_between(0.5, 8.0), draws.chance(0.3));
    let regimes: Vec<Regime> = (0..count)
        .map(|_| Regime {
            mean: apart * draws.normal(),
            keep: if wandering { 1.0 } else { 1.0 - draws.log_between(0.003, 0.9) },
            volatility: draws.log_between(0.1, 2.0),
            drift: if draws.chance(0.3) { draws.log_between(0.003, 0.1) * draws.normal() } else { 0.0 },
        })
        .collect();
    let leave = 1.0 / draws.log_between(10.0, 0.7 * len as f64);
    let jump = if draws.chance(0.3) { draws.log_between(0.002, 0.03) } else { 0.0 };
    let mut seasons = Vec::new();
    let season = draws.chance(0.35).then(|| {
        let period = period(draws);
        seasons.push(period);
        let size = draws.log_between(0.3, 5.0);
        (Profile::draw(draws, period).steps(period, 0.0, len), size)
    });
    let values = path(draws, &regimes, leave, jump, len);
    let is_product = draws.chance(0.15);
    let of = |(t, value): (usize, f64)| match &season {
        None => value,
        Some((steps, size)) if is_product => value * (1.0 + 0.3 * size * steps[t]),
        Some((steps, size)) => value + size * steps[t],
    };
    let mut values: Vec<f64> = values.into_iter().enumerate().map(of).collect();
    if draws.chance(0.25) {
        // Prices, rates: the exponential of a process.
        let deviation = values.iter().map(|value| value.abs()).fold(1e-9, f64::max);
        let factor = draws.between(0.3, 3.0) / deviation;
        values.iter_mut().for_each(|value| *value = (*value * factor).exp());
    }
    Drawn { values, seasons }
}

fn path(draws: &mut Draws, regimes: &[Regime], leave: f64, jump: f64, len: usize) -> Vec<f64> {
    let mut regime = regimes[draws.below(regimes.len())];
    let mut value = regime.mean;
    let step = |_| {
        if draws.chance(leave) {
            regime = regimes[draws.below(regimes.len())];
        }
        value = regime.mean + regime.keep * (value - regime.mean);
        value += regime.drift + regime.volatility * draws.normal();
        if jump > 0.0 && draws.chance(jump) {
            value += 6.0 * regime.volatility * draws.normal();
        }
        value
    };
    (0..len).map(step).collect()
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn a_single_regime_has_the_variance_of_its_process() {
        let regime = Regime { mean: 3.0, keep: 0.8, volatility: 0.5, drift: 0.0 };
        let values = path(&mut Draws::new(Key::new(4)), &[regime], 0.1, 0.0, 20_000);
        let mean = values.iter().sum::<f64>() / 2e4;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2e4;
        assert!((mean - 3.0).abs() < 0.1, "{mean}");
        assert!((variance - 0.25 / (1.0 - 0.64)).abs() < 0.05, "{variance}");
    }

    #[test]
    fn regimes_are_all_visited_and_last() {
        let regime = |mean: f64| Regime { mean, keep: 0.0, volatility: 0.01, drift: 0.0 };
        let values = path(&mut Draws::new(Key::new(4)), &[regime(0.0), regime(9.0)], 0.02, 0.0, 4000);
        let high = values.iter().filter(|value| **value > 4.5).count();
        assert!((800..3200).contains(&high), "{high}");
        let switches = values.windows(2).filter(|pair| (pair[0] > 4.5) != (pair[1] > 4.5)).count();
        assert!((15..80).contains(&switches), "{switches}");
    }
}
