//! Forecasts of windows that are normalised first.

use foretell_nn::{Forward, RevIn, Tensor, Var};

/// The forecast `[rows, ...]` that `forecast` makes of windows `[rows, time]`. With a norm it is made of the normalised
/// windows, and brought back to the scale of each.
pub(crate) fn forecast_normalised(
    norm: Option<&RevIn>,
    cx: &Forward<'_>,
    windows: &Tensor,
    forecast: impl FnOnce(Var) -> Var,
) -> Var {
    let Some(norm) = norm else { return forecast(Var::constant(windows.clone())) };
    let (windows, scales) = norm.normalise(cx, windows);
    norm.denormalise(cx, &forecast(windows), &scales)
}
