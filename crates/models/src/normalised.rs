//! Forecasts of windows that are normalised first.

use foretell_nn::{Forward, RevIn, Var};

/// Applies `forecast` to windows `[rows, time]`: `[rows, ...]`. With a norm the windows are normalised first, and the
/// forecasts brought back to their scales.
pub(crate) fn forecast_normalised(
    norm: Option<&RevIn>,
    cx: &Forward<'_>,
    windows: &Var,
    forecast: impl FnOnce(Var) -> Var,
) -> Var {
    let Some(norm) = norm else { return forecast(windows.clone()) };
    let (windows, scales) = norm.normalise(cx, windows);
    norm.denormalise(cx, &forecast(windows), &scales)
}
