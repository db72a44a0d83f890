//! Columns of the target: in each row they are computed from earlier rows alone.

use crate::rows::FeatureRows;

/// The value where there is not enough history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The last known value: for columns at the level of the target.
    Level,
    /// Zero: for differences and deviations.
    Zero,
}

/// Writes a column whose row t is what `kernel` computes from the rows before t. It gets the target from its first known row on,
/// without the last row, and a place for the result after each of these. Rows before which there are fewer than `needed` rows of
/// known target get what `until` says; the first one, before which nothing is known, zero. Where the rows leave it open, all of them get NaN.
pub(crate) fn of_the_past(
    rows: &FeatureRows<'_>,
    needed: usize,
    until: Until,
    out: &mut [f32],
    kernel: impl FnOnce(&[f32], &mut [f32]),
) {
    let (y, len) = (rows.y, rows.y.len());
    let start = rows.first_known.min(len);
    let full = start.saturating_add(needed).min(len);
    if start + 1 < len {
        kernel(&y[start..len - 1], &mut out[start + 1..]);
    }
    if rows.leaves_open {
        out[..full].fill(f32::NAN);
        return;
    }
    out[..full].fill(0.0);
    if until == Until::Level && start + 1 < full {
        out[start + 1..full].copy_from_slice(&y[start..full - 1]);
    }
}
