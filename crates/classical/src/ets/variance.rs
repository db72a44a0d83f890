//! How far forecasts of exponential smoothing are off.

use super::model::{Form, Season, Smoothing};

/// The variance of the error of each step, `[h]`, from that of one step ahead, the forecasts, and the step of the season (`[h]`,
/// multiplicative) that each is of.
///
/// Hyndman, Koehler, Ord and Snyder 2008, chapter 6: equations 6.11 (errors that are added), 6.19 (relative ones) and, with seasonal
/// factors, 6.23, which is exact within the first season.
pub(super) fn variances(
    form: Form,
    Smoothing { alpha, beta, gamma, phi }: Smoothing,
    period: usize,
    sigma2: f64,
    mean: &[f64],
    season: &[f64],
) -> Vec<f64> {
    let is_factor = form.season == Season::Multiplicative;
    // What an error adds to the forecast of the j-th step behind it.
    let mut fading = 0.0;
    let effects: Vec<f64> = (1..mean.len())
        .map(|j| {
            fading += phi.powi(i32::try_from(j).unwrap_or(i32::MAX));
            let returns = form.season == Season::Additive && j % period == 0;
            alpha + if form.trend { beta * fading } else { 0.0 } + if returns { gamma } else { 0.0 }
        })
        .collect();
    if !form.relative_error {
        let mut sum = 1.0;
        let later = effects.iter().map(|effect| {
            sum += effect * effect;
            sigma2 * sum
        });
        return std::iter::once(sigma2).chain(later).take(mean.len()).collect();
    }
    // Mean squares of the forecasts before the error of their own step.
    let base: Vec<f64> = if is_factor {
        mean.iter().zip(season).map(|(mean, step)| mean / step).collect()
    } else {
        mean.to_vec()
    };
    let mut squares: Vec<f64> = Vec::with_capacity(base.len());
    for (h, base) in base.iter().enumerate() {
        let earlier: f64 = effects[..h]
            .iter()
            .zip(squares.iter().rev())
            .map(|(effect, square)| effect * effect * square)
            .sum();
        squares.push(base * base + sigma2 * earlier);
    }
    let of_step = |h: usize| {
        if is_factor {
            let seasons = i32::try_from(h / period).unwrap_or(i32::MAX);
            let grown = squares[h] * (1.0 + sigma2) * (1.0 + gamma * gamma * sigma2).powi(seasons);
            season[h] * season[h] * (grown - base[h] * base[h])
        } else {
            (1.0 + sigma2) * squares[h] - base[h] * base[h]
        }
    };
    (0..base.len()).map(of_step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_walk_spreads_with_its_steps_and_relative_errors_with_the_level() {
        let smoothing = Smoothing { alpha: 1.0, beta: 0.0, gamma: 0.0, phi: 1.0 };
        let walk = Form { relative_error: false, trend: false, damped: false, season: Season::Absent };
        assert_eq!(variances(walk, smoothing, 1, 4.0, &[7.0; 3], &[]), [4.0, 8.0, 12.0]);
        let relative = Form { relative_error: true, ..walk };
        let spread = variances(relative, smoothing, 1, 0.01, &[10.0; 2], &[]);
        // Each step multiplies by a factor of mean 1 and variance 0.01: 100 (1.01^h - 1).
        assert!((spread[0] - 1.0).abs() < 1e-12 && (spread[1] - 2.01).abs() < 1e-12, "{spread:?}");
    }

    #[test]
    fn a_factor_of_the_season_scales_the_spread() {
        let smoothing = Smoothing { alpha: 0.5, beta: 0.0, gamma: 0.3, phi: 1.0 };
        let form = Form { relative_error: true, trend: false, damped: false, season: Season::Multiplicative };
        let spread = variances(form, smoothing, 2, 0.01, &[10.0, 30.0, 10.0], &[0.5, 1.5, 0.5]);
        assert!((spread[0] - 1.0).abs() < 1e-12 && (spread[1] - 9.0 * 1.2525).abs() < 1e-9, "{spread:?}");
        assert!(spread[2] > spread[0] * 1.4, "{spread:?}");
    }
}
