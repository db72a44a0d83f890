//! Running totals along a dimension. They are kept in `f64`, as PyTorch does on CPUs, so long ones do not drift.

use foretell_gemm::Accum;
use foretell_threads as threads;

use crate::axis::Axis;

/// Lines whose totals are computed side by side.
const STRIP: usize = 64;

/// `out[t] = x[0] + ... + x[t]` along `axis`.
///
/// # Panics
/// If a length does not fit.
#[track_caller]
pub fn forward(x: &[f32], axis: Axis, out: &mut [f32]) {
    totals(x, axis, out, 0..axis.len, |out, total| *out = total);
}

/// The gradient of [`forward`], given that of its output: `x[t]` is in all totals from t on, so it is the running
/// total from the end. It replaces `grad_x` or is added to it.
///
/// # Panics
/// If a length does not fit.
#[track_caller]
pub fn backward(grad: &[f32], axis: Axis, grad_x: &mut [f32], accum: Accum) {
    let steps = (0..axis.len).rev();
    match accum {
        Accum::Replace => totals(grad, axis, grad_x, steps, |out, total| *out = total),
        Accum::Add => totals(grad, axis, grad_x, steps, |out, total| *out += total),
    }
}

#[track_caller]
fn totals(
    x: &[f32],
    axis: Axis,
    out: &mut [f32],
    steps: impl Iterator<Item = usize> + Clone + Sync,
    put: impl Fn(&mut f32, f32) + Sync,
) {
    axis.check("the cumulative sum", x.len());
    axis.check("the cumulative sum", out.len());
    let block = axis.len * axis.inner;
    if block == 0 {
        return;
    }
    threads::rows(axis.outer, block, [out], |range, [out]| {
        for (o, out) in range.zip(out.chunks_exact_mut(block)) {
            let x = &x[o * block..(o + 1) * block];
            for from in (0..axis.inner).step_by(STRIP) {
                let width = STRIP.min(axis.inner - from);
                let mut totals = [0.0f64; STRIP];
                for t in steps.clone() {
                    let at = t * axis.inner + from;
                    let row = x[at..at + width].iter().zip(&mut out[at..at + width]);
                    for ((x, out), total) in row.zip(&mut totals) {
                        *total += f64::from(*x);
                        put(out, *total as f32);
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{AXES, numbers};

    #[test]
    fn both_directions_equal_the_definition() {
        for axis in AXES {
            let x = numbers(axis.numel(), 1);
            let (mut y, mut dx) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len()]);
            forward(&x, axis, &mut y);
            backward(&x, axis, &mut dx, Accum::Replace);
            let mut added = vec![1.0; x.len()];
            backward(&x, axis, &mut added, Accum::Add);
            for at in 0..x.len() {
                let (o, t, c) = (at / (axis.len * axis.inner), at / axis.inner % axis.len, at % axis.inner);
                let total = |steps: std::ops::Range<usize>| -> f64 {
                    steps.map(|t| f64::from(x[(o * axis.len + t) * axis.inner + c])).sum()
                };
                assert_eq!(y[at], total(0..t + 1) as f32, "{axis:?}");
                assert!((f64::from(dx[at]) - total(t..axis.len)).abs() < 1e-5, "{axis:?}");
                assert_eq!(added[at], 1.0 + dx[at], "{axis:?}");
            }
        }
    }
}
