//! Scores of quantiles and of the central intervals between them.

/// The loss that the quantile of probability `q` makes least.
pub(super) fn pinball(y: f64, quantile: f64, q: f64) -> f64 {
    let error = y - quantile;
    (q * error).max((q - 1.0) * error)
}

/// Its mean over evenly spaced quantiles approximates the continuous ranked probability score.
pub(super) fn twice_pinball(y: f64, quantile: f64, q: f64) -> f64 {
    2.0 * pinball(y, quantile, q)
}

pub(super) fn below(y: f64, quantile: f64, _: f64) -> f64 {
    f64::from(y <= quantile)
}

pub(super) fn inside(y: f64, [low, high]: [f64; 2], _: f64) -> f64 {
    f64::from(low <= y && y <= high)
}

/// Winkler (1972).
pub(super) fn winkler(y: f64, [low, high]: [f64; 2], inside: f64) -> f64 {
    high - low + 2.0 / (1.0 - inside) * (low - y).max(y - high).max(0.0)
}
