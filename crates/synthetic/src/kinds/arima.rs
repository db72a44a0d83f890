//! Simulated ARIMA processes (Box and Jenkins 1970), some with a season. The autoregressive part is stationary by construction: its
//! partial autocorrelations are drawn between -1 and 1, and Durbin's and Levinson's recursion gives the coefficients
//! (Barndorff-Nielsen and Schou 1973).

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::period;

/// Steps before the first that is kept, so that the start is forgotten.
const WARM_UP: usize = 100;

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let (p, q) = (draws.weighted(&[0.3, 0.35, 0.25, 0.1]), draws.weighted(&[0.4, 0.35, 0.25]));
    let ar = stationary(draws, p);
    let ma: Vec<f64> = (0..q).map(|_| draws.between(-0.8, 0.8)).collect();
    let season = draws.chance(0.5).then(|| (period(draws).round() as usize).clamp(2, 100));
    let (keep, differenced) = (draws.between(0.3, 0.95), draws.chance(0.5));
    let heavy = draws.chance(0.2);
    let total = len + WARM_UP;
    let shocks: Vec<f64> =
        (0..total).map(|_| if heavy { draws.student(4.0) } else { draws.normal() }).collect();
    let mut values = arma(&shocks, &ar, &ma);
    let mut seasons = Vec::new();
    if let Some(season) = season {
        // (1 - keep B^season) y = x, or with keep = 1 a season that wanders.
        let keep = if differenced { 1.0 } else { keep };
        for t in season..total {
            values[t] += keep * values[t - season];
        }
        seasons.push(season as f64);
    }
    for _ in 0..draws.weighted(&[0.4, 0.5, 0.1]) {
        let drift = if draws.chance(0.5) { 0.1 * draws.normal() } else { 0.0 };
        let mut level = 0.0;
        for value in &mut values {
            level += *value + drift;
            *value = level;
        }
    }
    Drawn { values: values.split_off(WARM_UP), seasons }
}

/// Coefficients of a stationary autoregression of order `p`.
fn stationary(draws: &mut Draws, p: usize) -> Vec<f64> {
    let mut coefficients: Vec<f64> = Vec::new();
    for _ in 0..p {
        // Neighbours are rather alike.
        let partial = draws.between(-0.6, 0.98);
        let reversed: Vec<f64> = coefficients.iter().rev().copied().collect();
        coefficients.iter_mut().zip(reversed).for_each(|(one, other)| *one -= partial * other);
        coefficients.push(partial);
    }
    coefficients
}

/// `y[t] = Σ ar[i] y[t-1-i] + e[t] + Σ ma[i] e[t-1-i]`.
fn arma(shocks: &[f64], ar: &[f64], ma: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::with_capacity(shocks.len());
    for t in 0..shocks.len() {
        let past = |weights: &[f64], of: &[f64]| -> f64 {
            weights.iter().take(t).enumerate().map(|(i, weight)| weight * of[t - 1 - i]).sum()
        };
        let value = past(ar, &values) + shocks[t] + past(ma, shocks);
        values.push(value);
    }
    values
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn drawn_autoregressions_are_stationary() {
        for seed in 0..200 {
            let mut draws = Draws::new(Key::new(seed));
            let ar = stationary(&mut draws, 3);
            let mut shocks = vec![0.0; 3000];
            shocks[0] = 1.0;
            let response = arma(&shocks, &ar, &[]);
            // Partial autocorrelations go up to 0.98, so that a root may lie close to 1.
            assert!(response[2999].abs() < 0.2, "{ar:?} ends at {}", response[2999]);
        }
    }

    #[test]
    fn an_autoregression_has_its_correlation() {
        let mut draws = Draws::new(Key::new(6));
        let shocks: Vec<f64> = (0..20_000).map(|_| draws.normal()).collect();
        let values = arma(&shocks, &[0.7], &[]);
        let correlation = |lag: usize| {
            let products: f64 = (lag..20_000).map(|t| values[t] * values[t - lag]).sum();
            products / values.iter().map(|value| value * value).sum::<f64>()
        };
        assert!((correlation(1) - 0.7).abs() < 0.03 && (correlation(2) - 0.49).abs() < 0.04);
    }
}
