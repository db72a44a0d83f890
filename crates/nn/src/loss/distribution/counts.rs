//! Quantiles of distributions of counts.

use crate::loss::columns::Level;

/// The smallest whole number `k` of at least 0 with `cdf(k) >= q`, of a distribution of counts with this mean
/// and variance, `skew` being its third central moment divided by the variance. The search starts from Cornish
/// and Fisher's expansion, which is seldom off by more than one or two where the mean is not tiny.
///
/// Above 2^24 singles are further apart than 1: there the search ends at that precision.
pub(super) fn count_quantile(
    at: Level,
    mean: f64,
    variance: f64,
    skew: f64,
    cdf: impl Fn(f64) -> f64,
) -> f64 {
    if !(mean.is_finite() && variance.is_finite()) {
        return f64::NAN;
    }
    let enough = |k: f64| cdf(k) >= at.q;
    if enough(0.0) {
        return 0.0;
    }
    let guess = mean + at.normal * variance.sqrt() + (at.normal * at.normal - 1.0) / 6.0 * skew;
    let guess = guess.floor().max(1.0);
    // From here on: not enough at `low`, enough at `high`.
    let (mut low, mut high, mut stride) = (0.0, guess, 1.0);
    if enough(guess) {
        while high - stride > 0.0 {
            if !enough(high - stride) {
                low = high - stride;
                break;
            }
            high -= stride;
            stride *= 2.0;
        }
    } else {
        low = guess;
        while high == guess || !enough(high) {
            low = high;
            high += stride;
            stride *= 2.0;
        }
    }
    while high - low > (high * 3e-8).max(1.0) {
        let middle = ((low + high) / 2.0).floor();
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}
