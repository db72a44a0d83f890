//! Gated linear units (Dauphin et al. 2017, "Language modeling with gated convolutional networks", arXiv 1612.08083), once the
//! product of matrices is done: rows of values and gates, side by side, in one pass.

use crate::isa::{Simd, WithSimd};

use crate::kernels::sigmoid::sigmoid_lanes;
use crate::level::dispatch;
use crate::loops::{Map, map_in, same_len};
use crate::vector::Vectors;

/// Panics unless `gated` is rows of twice as many numbers as `out` has.
#[track_caller]
fn check(units: usize, gated: usize, out: usize) {
    same_len(gated, 2 * out);
    let whole = if units == 0 { out == 0 } else { out.is_multiple_of(units) };
    assert!(whole, "{out} numbers are no whole rows of {units}");
}

#[derive(Clone, Copy)]
struct Gate;

impl Map<f32, 1, 2> for Gate {
    #[inline(always)]
    fn map<S: Simd>(self, [a]: Vectors<f32, S, 1>, [gate, out]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        let gate = sigmoid_lanes(gate);
        [gate, a.mul_add(gate, out)]
    }
}

struct Forward<'a> {
    units: usize,
    gated: &'a mut [f32],
    out: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.gated.chunks_exact_mut(2 * self.units).zip(self.out.chunks_exact_mut(self.units));
        for (gated, out) in rows {
            let (a, gate) = gated.split_at_mut(self.units);
            map_in(simd, Gate, [&*a], [gate, out]);
        }
    }
}

/// `out += a σ(b)` for rows of `units` numbers: `gated [rows, 2 units]` are a and b of each row, of which b leaves as σ(b);
/// `out [rows, units]`. Each value within 2e-6 of the exact one, relative above 1.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn add_gated_rows(units: usize, gated: &mut [f32], out: &mut [f32]) {
    check(units, gated.len(), out.len());
    if units > 0 {
        dispatch(Forward { units, gated, out });
    }
}

#[derive(Clone, Copy)]
struct Slopes;

impl Map<f32, 1, 2> for Slopes {
    #[inline(always)]
    fn map<S: Simd>(self, [grad]: Vectors<f32, S, 1>, [a, gate]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        [grad * gate, grad * a * (-gate).mul_add(gate, gate)]
    }
}

struct Backward<'a> {
    units: usize,
    gated: &'a mut [f32],
    grad: &'a [f32],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.gated.chunks_exact_mut(2 * self.units).zip(self.grad.chunks_exact(self.units));
        for (gated, grad) in rows {
            let (a, gate) = gated.split_at_mut(self.units);
            map_in(simd, Slopes, [grad], [a, gate]);
        }
    }
}

/// The gradient of [`add_gated_rows`] for rows of `units` numbers: `gated` comes as that left it and leaves as the gradients of
/// a and b, `g σ(b)` and `g a σ(b) (1 - σ(b))`, where `grad` is g.
///
/// # Panics
/// If the lengths do not fit.
#[track_caller]
pub fn gated_rows_backward(units: usize, gated: &mut [f32], grad: &[f32]) {
    check(units, gated.len(), grad.len());
    if units > 0 {
        dispatch(Backward { units, gated, grad });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, for_every_length};

    const ROWS: usize = 3;

    #[test]
    fn forward_and_backward() {
        for_every_length(|case| {
            let n = case.len;
            let [a, b] = [0; 2].map(|_| case.between::<f32>(-4.0, 4.0));
            let (before, grad) = (case.numbers::<f32>(), case.numbers::<f32>());
            let mut gated = [&a[..], &b[..]].concat().repeat(ROWS);
            let mut out = before.repeat(ROWS);
            add_gated_rows(n, &mut gated, &mut out);
            let mut grads = gated.clone();
            gated_rows_backward(n, &mut grads, &grad.repeat(ROWS));
            for at in 0..ROWS * n {
                let (row, unit) = (at / n, at % n);
                let wide = |values: &[f32]| f64::from(values[unit]);
                let [a, b, g] = [wide(&a), wide(&b), wide(&grad)];
                let gate = 1.0 / (1.0 + (-b).exp());
                let place = row * 2 * n + unit;
                assert_within(gated[place + n], gate, 2e-6, &case.name);
                assert_within(out[at], wide(&before) + a * gate, 2e-6, &case.name);
                assert_within(grads[place], g * gate, 2e-6, &case.name);
                assert_within(grads[place + n], g * a * gate * (1.0 - gate), 2e-6, &case.name);
            }
        });
    }

    #[test]
    #[should_panic(expected = "3 numbers are no whole rows of 2")]
    fn half_rows_panic() {
        add_gated_rows(2, &mut [0.0; 6], &mut [0.0; 3]);
    }
}
