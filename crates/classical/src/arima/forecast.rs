//! Forecasts of ARIMA models.

use super::fit::Fit;
use super::likelihood::{Filter, first_covariance};
use super::order::Polynomials;
use crate::local::SeriesForecast;

/// What the columns of a model add to the values of a row.
pub(super) fn of_columns(fit: &Fit, columns: &[Vec<f64>], row: usize) -> f64 {
    fit.slopes.iter().zip(columns).map(|(slope, column)| slope * column[row]).sum()
}

/// The forecast of a series, without what columns add to it, by a model that was fitted to it or to its beginning; `None` if it is too short for the differences.
pub(super) fn forecast(y: &[f64], fit: &Fit, h: usize) -> Option<SeriesForecast> {
    let order = fit.order;
    if y.len() <= order.lost() {
        return None;
    }
    let mut polynomials = Polynomials::default();
    order.polynomials(&fit.coefficients, &mut polynomials);
    let centred: Vec<f64> = order.differenced(y).iter().map(|w| w - fit.mean).collect();
    let mut covariance = first_covariance(&polynomials)?;
    let mut filter = Filter::default();
    filter.run(&polynomials, &centred, |change, factor| {
        for (row, x) in covariance.chunks_exact_mut(change.len()).zip(change) {
            row.iter_mut().zip(change).for_each(|(cell, y)| *cell += factor * x * y);
        }
    })?;
    let weights = order.difference_weights();
    Some(SeriesForecast {
        mean: means(y, fit.mean, filter.state, &polynomials.phi, &weights, h),
        deviation: variances(&covariance, &polynomials, &weights, h)
            .into_iter()
            .map(|variance| (variance.max(0.0) * fit.sigma2).sqrt())
            .collect(),
        ..SeriesForecast::default()
    })
}

/// Forecasts of differences, added up.
fn means(y: &[f64], mean: f64, mut state: Vec<f64>, phi: &[f64], weights: &[f64], h: usize) -> Vec<f64> {
    let mut known = y[y.len() - weights.len()..].to_vec();
    for _ in 0..h {
        let first = state[0];
        let before: f64 = weights.iter().zip(known.iter().rev()).map(|(weight, y)| weight * y).sum();
        known.push(mean + first + before);
        state.rotate_left(1);
        *state.last_mut().expect("a state has a value") = 0.0;
        state.iter_mut().zip(phi).for_each(|(state, phi)| *state += phi * first);
    }
    known.split_off(weights.len())
}

/// The variance of the error of each step, in units of that of the model's errors: from what is not known of the state, whose
/// covariance before the next value is given, and from the errors to come.
fn variances(covariance: &[f64], polynomials: &Polynomials, weights: &[f64], h: usize) -> Vec<f64> {
    let Polynomials { phi, theta } = polynomials;
    let n = phi.len().max(theta.len() + 1);
    // What the numbers of the state add to the difference of each step, and to the value.
    let mut of_difference = vec![0.0; n];
    of_difference[0] = 1.0;
    let mut of_values: Vec<Vec<f64>> = Vec::with_capacity(h);
    // The same of an error: to the difference, and to the value of k steps later.
    let (mut psi, mut summed): (Vec<f64>, Vec<f64>) = (Vec::with_capacity(h), Vec::with_capacity(h));
    let mut later = 0.0;
    let mut variances = Vec::with_capacity(h);
    for step in 0..h {
        let mut row = of_difference.clone();
        for (weight, earlier) in weights.iter().zip(of_values.iter().rev()) {
            if *weight != 0.0 {
                row.iter_mut().zip(earlier).for_each(|(row, earlier)| *row += weight * earlier);
            }
        }
        let of_state: f64 = covariance
            .chunks_exact(n)
            .zip(&row)
            .map(|(cells, x)| x * cells.iter().zip(&row).map(|(cell, y)| cell * y).sum::<f64>())
            .sum();
        variances.push(of_state + later);
        of_values.push(row);
        let first: f64 = of_difference.iter().zip(phi).map(|(x, phi)| x * phi).sum();
        of_difference.rotate_right(1);
        of_difference[0] = first;

        let moving = if step == 0 { 1.0 } else { theta.get(step - 1).copied().unwrap_or(0.0) };
        psi.push(moving + backwards(phi, &psi));
        summed.push(psi[step] + backwards(weights, &summed));
        later += summed[step] * summed[step];
    }
    variances
}

/// The sum of weights times the last values, the latest first.
fn backwards(weights: &[f64], values: &[f64]) -> f64 {
    weights.iter().zip(values.iter().rev()).map(|(weight, value)| weight * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arima::order::{Order, Terms};

    #[test]
    fn a_random_walk_with_drift_goes_on_and_spreads() {
        let step = Terms { ar: 0, differences: 1, ma: 0 };
        let order = Order { step, season: Terms::default(), period: 1, constant: true };
        let fit = Fit { order, coefficients: vec![], mean: 0.5, sigma2: 4.0, slopes: vec![], criterion: 0.0 };
        let found = forecast(&[1.0, 2.0, 5.0], &fit, 4).expect("it is long enough");
        assert_eq!(found.mean, [5.5, 6.0, 6.5, 7.0]);
        assert_eq!((found.deviation[0], found.deviation[3]), (2.0, 4.0));
    }

    #[test]
    fn an_autoregression_returns_to_its_mean_and_a_season_repeats() {
        let step = Terms { ar: 1, differences: 0, ma: 0 };
        let order = Order { step, season: Terms::default(), period: 1, constant: true };
        let fit =
            Fit { order, coefficients: vec![0.5], mean: 10.0, sigma2: 1.0, slopes: vec![], criterion: 0.0 };
        let found = forecast(&[10.0, 14.0], &fit, 2).expect("it is long enough");
        assert!((found.mean[0] - 12.0).abs() < 1e-12 && (found.mean[1] - 11.0).abs() < 1e-12);
        assert!((found.deviation[1] - 1.25_f64.sqrt()).abs() < 1e-12, "{found:?}");

        let season = Terms { ar: 0, differences: 1, ma: 0 };
        let order = Order { step: Terms::default(), season, period: 2, constant: false };
        let fit = Fit { order, coefficients: vec![], mean: 0.0, sigma2: 1.0, slopes: vec![], criterion: 0.0 };
        let found = forecast(&[3.0, 8.0, 4.0], &fit, 3).expect("it is long enough");
        assert_eq!((found.mean, found.deviation), (vec![8.0, 4.0, 8.0], vec![1.0, 1.0, 2.0_f64.sqrt()]));
    }
}
