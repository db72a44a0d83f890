//! Numbers of slices that several estimators need, in `f64`. They are inlined, so that they are optimised as the code that calls them.

/// The sum of the products of two vectors, from the first element on.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The mean of values; NaN of none.
#[inline]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean of the squared distances of values from their mean; NaN of none.
#[inline]
pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

/// The median, the mean of the two in the middle of an even number. The values are left in another order.
///
/// # Panics
/// If there are none.
#[inline]
pub fn median(values: &mut [f64]) -> f64 {
    let (middle, is_odd) = (values.len() / 2, values.len() % 2 == 1);
    let (below, &mut at, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd { at } else { 0.5 * (at + below.iter().copied().fold(f64::NEG_INFINITY, f64::max)) }
}

/// The value in the middle, the upper one of an even number of them; nothing of none. The values are left in another order.
#[inline]
pub fn upper_median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// A quantile of sorted values, on the line between the two around it, as in numpy's method `linear`; NaN without any. Beyond 0 and 1
/// are the least and the most.
///
/// ```
/// assert_eq!(foretell_estimator::quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
/// ```
#[inline]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = q.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let sorted = [1.0, 2.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&sorted, q)), [1.0, 1.5, 2.0, 3.0, 4.0]);
        assert_eq!(quantile(&[3.0], 0.9), 3.0);
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!([-0.5, 1.5].map(|q| quantile(&sorted, q)), [1.0, 4.0]);
    }

    #[test]
    fn medians_lie_in_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 8.0]), 3.0);
        assert_eq!(upper_median(&mut [4.0, 1.0, 2.0, 8.0]), Some(4.0));
        assert_eq!(upper_median(&mut []), None);
    }

    #[test]
    fn values_vary_around_their_mean() {
        assert_eq!((mean(&[1.0, 3.0, 5.0]), variance(&[1.0, 3.0])), (3.0, 1.0));
        assert!(mean(&[]).is_nan() && variance(&[]).is_nan());
    }
}
