//! Autoregressions as partial correlations: all of them between -1 and 1 if the autoregression is stationary.
//!
//! Monahan 1984, A note on enforcing stationarity in autoregressive-moving average models.

/// The partial correlations of an autoregression; `None` if it is not stationary.
pub(super) fn partial_correlations(phi: &[f64]) -> Option<Vec<f64>> {
    let mut partial = phi.to_vec();
    let mut shorter = phi.to_vec();
    for order in (1..=phi.len()).rev() {
        let last = partial[order - 1];
        if last.abs() >= 1.0 || last.is_nan() {
            return None;
        }
        for k in 0..order - 1 {
            shorter[k] = (partial[k] + last * partial[order - 2 - k]) / (1.0 - last * last);
        }
        partial[..order - 1].copy_from_slice(&shorter[..order - 1]);
    }
    Some(partial)
}

/// Makes partial correlations an autoregression, in place.
pub(super) fn autoregression(partial: &mut [f64]) {
    for order in 1..partial.len() {
        let last = partial[order];
        // Pairs from both ends: each needs the other as it was.
        for k in 0..order.div_ceil(2) {
            let (a, b) = (partial[k], partial[order - 1 - k]);
            partial[k] = a - last * b;
            partial[order - 1 - k] = b - last * a;
        }
    }
}

/// Whether all roots of `1 - phi[0] z - phi[1] z^2 - ..` are further from 0 than `radius`.
pub(super) fn roots_are_outside(phi: &[f64], radius: f64) -> bool {
    let mut power = 1.0;
    let scaled = phi.iter().map(|phi| {
        power *= radius;
        phi * power
    });
    partial_correlations(&scaled.collect::<Vec<_>>()).is_some()
}

/// The covariances of lag 0, 1, .., `lags` of an autoregression with these partial correlations and errors of variance 1.
pub(super) fn covariances(phi: &[f64], partial: &[f64], lags: usize) -> Vec<f64> {
    let mut variance = 1.0 / partial.iter().map(|partial| 1.0 - partial * partial).product::<f64>();
    let mut covariances = vec![variance];
    // Autoregressions of growing order (Levinson and Durbin).
    let mut growing: Vec<f64> = Vec::with_capacity(partial.len());
    for lag in 1..=lags {
        let known = |weights: &[f64]| -> f64 {
            weights.iter().zip(covariances.iter().rev()).map(|(weight, covariance)| weight * covariance).sum()
        };
        let Some(&last) = partial.get(lag - 1) else {
            covariances.push(known(phi));
            continue;
        };
        covariances.push(known(&growing) + last * variance);
        variance *= 1.0 - last * last;
        let before = growing.clone();
        growing.iter_mut().zip(before.iter().rev()).for_each(|(weight, mirrored)| *weight -= last * mirrored);
        growing.push(last);
    }
    covariances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_correlations_and_back() {
        let phi = [0.5, -0.3, 0.2, 0.1];
        let partial = partial_correlations(&phi).expect("it is stationary");
        let mut again = partial.clone();
        autoregression(&mut again);
        assert!(again.iter().zip(phi).all(|(a, b)| (a - b).abs() < 1e-12), "{again:?}");
        assert_eq!((partial_correlations(&[1.0]), partial_correlations(&[0.5, 0.6])), (None, None));
        assert!(roots_are_outside(&[0.5], 1.9) && !roots_are_outside(&[0.5], 2.1));
    }

    #[test]
    fn covariances_solve_the_equations_of_yule_and_walker() {
        let phi = [0.5, -0.3, 0.2];
        let partial = partial_correlations(&phi).expect("it is stationary");
        let gamma = covariances(&phi, &partial, 6);
        for lag in 0..=6_usize {
            let sum: f64 = phi.iter().zip(1..).map(|(phi, k)| phi * gamma[lag.abs_diff(k)]).sum();
            let noise = if lag == 0 { 1.0 } else { 0.0 };
            assert!((gamma[lag] - sum - noise).abs() < 1e-12, "lag {lag}: {gamma:?}");
        }
    }
}
