//! Scores of a point forecast, of `y`, the forecast and a parameter.

pub(super) fn absolute(y: f64, forecast: f64, _: f64) -> f64 {
    (y - forecast).abs()
}

pub(super) fn square(y: f64, forecast: f64, _: f64) -> f64 {
    (y - forecast).powi(2)
}

pub(super) fn deviation(y: f64, forecast: f64, _: f64) -> f64 {
    forecast - y
}

/// NaN where `y` is 0.
pub(super) fn percentage(y: f64, forecast: f64, _: f64) -> f64 {
    if y == 0.0 { f64::NAN } else { ((y - forecast) / y).abs() }
}

/// 0 where both are 0.
pub(super) fn symmetric(y: f64, forecast: f64, _: f64) -> f64 {
    let size = y.abs() + forecast.abs();
    if size == 0.0 { 0.0 } else { (y - forecast).abs() / size }
}

pub(super) fn linex(y: f64, forecast: f64, a: f64) -> f64 {
    let error = a * (y - forecast);
    error.exp() - error - 1.0
}

/// The unit deviance of a Tweedie distribution of that power (Jorgensen 1987), without bound where the forecast or the truth is
/// outside of what the distribution can be.
pub(super) fn tweedie(y: f64, forecast: f64, power: f64) -> f64 {
    if forecast <= 0.0 || power >= 2.0 && y <= 0.0 {
        return f64::INFINITY;
    }
    if power == 0.0 {
        return square(y, forecast, 0.0);
    }
    2.0 * if power == 1.0 {
        let ratio = if y > 0.0 { y * (y / forecast).ln() } else { 0.0 };
        ratio - y + forecast
    } else if power == 2.0 {
        let ratio = y / forecast;
        ratio - ratio.ln() - 1.0
    } else {
        let (one, two) = (1.0 - power, 2.0 - power);
        y.max(0.0).powf(two) / (one * two) + forecast.powf(two) / two - y * forecast.powf(one) / one
    }
}
