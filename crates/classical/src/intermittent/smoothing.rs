//! Simple exponential smoothing that starts at the first value.

/// The level after a series, which is not empty.
pub(super) fn smoothed(x: &[f64], alpha: f64) -> f64 {
    x[1..].iter().fold(x[0], |level, x| alpha * x + (1.0 - alpha) * level)
}

/// The level by the smoothing parameter between 0.1 and 0.3 that forecasts the next value best within the series.
pub(super) fn best_smoothed(x: &[f64]) -> f64 {
    smoothed(x, best_alpha(x))
}

/// The sum of squared errors of one step ahead.
fn squared_errors(x: &[f64], alpha: f64) -> f64 {
    let mut level = x[0];
    let mut sum = 0.0;
    for &x in &x[1..] {
        sum += (x - level) * (x - level);
        level = alpha * x + (1.0 - alpha) * level;
    }
    sum
}

/// The least squared error, found by golden sections.
fn best_alpha(x: &[f64]) -> f64 {
    let ratio = f64::midpoint(5.0_f64.sqrt(), 1.0);
    let (mut low, mut high) = (0.1, 0.3);
    let mut inner = [high - (high - low) / ratio, low + (high - low) / ratio];
    let mut errors = inner.map(|alpha| squared_errors(x, alpha));
    while high - low >= 1e-12 && errors[0] != errors[1] {
        if errors[0] < errors[1] {
            high = inner[1];
            inner = [high - (high - low) / ratio, inner[0]];
            errors = [squared_errors(x, inner[0]), errors[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + (high - low) / ratio];
            errors = [errors[1], squared_errors(x, inner[1])];
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_parameter_is_within_its_bounds() {
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        assert!((best_alpha(&rising) - 0.3).abs() < 1e-9);
        let outlier: Vec<f64> = (0..20).map(|t| if t == 9 { 9.0 } else { 0.0 }).collect();
        assert!((best_alpha(&outlier) - 0.1).abs() < 1e-9);
        assert_eq!(best_smoothed(&[4.0]), 4.0);
    }
}
