//! The discrete Fourier transform of real rows and its inverse, by `realfft`, each with its gradient.
//!
//! A row of n numbers has n / 2 + 1 frequencies, complex numbers of which the others are the conjugates; they are
//! written as pairs of real and imaginary part, as `torch.view_as_real` has them. With w = 2 pi / n:
//!
//! ```text
//! forward   re[k] = Σ_t x[t] cos(w k t)     im[k] = -Σ_t x[t] sin(w k t)
//! inverse   x[t] = 1/n Σ_k c[k] (re[k] cos(w k t) - im[k] sin(w k t))
//! ```
//!
//! where c is 1 for the first frequency and, of an even n, for the last, whose imaginary parts do not count, and 2
//! for the others, which stand for their conjugates too.
//!
//! # Derivation of the gradients
//!
//! Both are linear, so their gradients are the transposed sums. That of the forward transform gives `x[t]` the sum of
//! `gre[k] cos(w k t) - gim[k] sin(w k t)`: the inverse of g / c, times n. That of the inverse gives
//! `re[k] = c[k]/n Σ_t g[t] cos(w k t)`, and the imaginary part likewise: the transform of g, times c / n.
//!
//! Plans and scratch memory are kept by each thread; the results do not depend on which thread computes a row.

use std::cell::RefCell;

use foretell_gemm::Accum;
use foretell_threads as threads;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

/// Frequencies of a row of `len` numbers.
pub fn frequencies(len: usize) -> usize {
    len / 2 + 1
}

/// The transform of rows: `x [rows, len]` to `out [rows, frequencies(len), 2]`.
///
/// # Panics
/// If the slices do not hold the same number of whole rows.
#[track_caller]
pub fn forward(x: &[f32], len: usize, out: &mut [f32]) {
    transform(x, len, out, |_, number| number, Accum::Replace);
}

/// The gradient of [`forward`], given that of its output: it replaces `grad_x` or is added to it.
///
/// # Panics
/// If the slices do not hold the same number of whole rows.
#[track_caller]
pub fn backward(grad: &[f32], len: usize, grad_x: &mut [f32], accum: Accum) {
    invert(
        grad,
        len,
        grad_x,
        |k, number| if is_self_conjugate(k, len) { number } else { number * 0.5 },
        1.0,
        accum,
    );
}

/// The inverse transform of rows: `x [rows, frequencies(len), 2]` to `out [rows, len]`. The imaginary parts of the first
/// frequency and, of an even `len`, of the last are not read.
///
/// # Panics
/// If the slices do not hold the same number of whole rows.
#[track_caller]
pub fn inverse(x: &[f32], len: usize, out: &mut [f32]) {
    invert(x, len, out, |_, number| number, 1.0 / len as f32, Accum::Replace);
}

/// The gradient of [`inverse`], given that of its output: it replaces `grad_x` or is added to it.
///
/// # Panics
/// If the slices do not hold the same number of whole rows.
#[track_caller]
pub fn inverse_backward(grad: &[f32], len: usize, grad_x: &mut [f32], accum: Accum) {
    let one = 1.0 / len as f32;
    let scaled = |k, number| number * if is_self_conjugate(k, len) { one } else { 2.0 * one };
    transform(grad, len, grad_x, scaled, accum);
}

/// Whether frequency `k` is its own conjugate, that is, real.
fn is_self_conjugate(k: usize, len: usize) -> bool {
    k == 0 || 2 * k == len
}

/// The cost of a number of a row, relative to that of a number in a plain pass over memory.
const COST: usize = 16;

type Number = Complex<f32>;

/// The plans and buffers that a thread keeps from one transform to the next.
struct FftScratch {
    plans: RealFftPlanner<f32>,
    row: Vec<f32>,
    spectrum: Vec<Number>,
    scratch: Vec<Number>,
}

thread_local! {
    static FFT_SCRATCH: RefCell<FftScratch> = RefCell::new(FftScratch {
        plans: RealFftPlanner::new(),
        row: Vec::new(),
        spectrum: Vec::new(),
        scratch: Vec::new(),
    });
}

/// Memory for `len` numbers, of any content.
fn scratch_slice<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
    &mut buffer[..len]
}

/// The transform of each row; `scale` changes each frequency before it is written.
#[track_caller]
fn transform(
    x: &[f32],
    len: usize,
    out: &mut [f32],
    scale: impl Fn(usize, Number) -> Number + Sync,
    accum: Accum,
) {
    check(x.len(), len, out.len());
    if x.is_empty() {
        return;
    }
    let width = 2 * frequencies(len);
    threads::rows(x.len() / len, COST * len, [out], |range, [out]| {
        FFT_SCRATCH.with_borrow_mut(|FftScratch { plans, row, spectrum, scratch }| {
            let x = &x[range.start * len..range.end * len];
            let plan = plans.plan_fft_forward(len);
            let row = scratch_slice(row, len);
            let spectrum = scratch_slice(spectrum, frequencies(len));
            let scratch = scratch_slice(scratch, plan.get_scratch_len());
            for (x, out) in x.chunks_exact(len).zip(out.chunks_exact_mut(width)) {
                row.copy_from_slice(x);
                plan.process_with_scratch(row, spectrum, scratch).expect("the lengths are the plan's");
                for (k, (out, &number)) in out.chunks_exact_mut(2).zip(&*spectrum).enumerate() {
                    let Number { re, im } = scale(k, number);
                    match accum {
                        Accum::Replace => out.copy_from_slice(&[re, im]),
                        Accum::Add => {
                            out[0] += re;
                            out[1] += im;
                        }
                    }
                }
            }
        })
    });
}

/// `factor` times the inverse transform of each row without its division by `len`; `scale` changes each frequency
/// first.
#[track_caller]
fn invert(
    x: &[f32],
    len: usize,
    out: &mut [f32],
    scale: impl Fn(usize, Number) -> Number + Sync,
    factor: f32,
    accum: Accum,
) {
    check(out.len(), len, x.len());
    if out.is_empty() {
        return;
    }
    let width = 2 * frequencies(len);
    threads::rows(out.len() / len, COST * len, [out], |range, [out]| {
        FFT_SCRATCH.with_borrow_mut(|FftScratch { plans, row, spectrum, scratch }| {
            let x = &x[range.start * width..range.end * width];
            let plan = plans.plan_fft_inverse(len);
            let row = scratch_slice(row, len);
            let spectrum = scratch_slice(spectrum, frequencies(len));
            let scratch = scratch_slice(scratch, plan.get_scratch_len());
            for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(len)) {
                for (k, (number, x)) in spectrum.iter_mut().zip(x.chunks_exact(2)).enumerate() {
                    let im = if is_self_conjugate(k, len) { 0.0 } else { x[1] };
                    *number = scale(k, Number { re: x[0], im });
                }
                plan.process_with_scratch(spectrum, row, scratch).expect("the lengths are the plan's");
                for (out, x) in out.iter_mut().zip(&*row) {
                    match accum {
                        Accum::Replace => *out = factor * x,
                        Accum::Add => *out += factor * x,
                    }
                }
            }
        })
    });
}

#[track_caller]
fn check(values: usize, len: usize, spectrum: usize) {
    let whole = if len == 0 {
        values == 0 && spectrum == 0
    } else {
        values.is_multiple_of(len) && values / len * 2 * frequencies(len) == spectrum
    };
    assert!(whole, "the transform of rows of {len}: {values} values, {spectrum} parts of frequencies");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbers;

    /// Lengths that are one, even, odd, prime, a power of two, and none of these.
    const LENGTHS: [usize; 11] = [1, 2, 3, 4, 5, 7, 16, 24, 30, 97, 168];
    const ROWS: usize = 3;

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let scale = expected.iter().fold(1.0f64, |scale, x| scale.max(x.abs()));
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((f64::from(*found) - expected).abs() <= 2e-6 * scale, "{what}[{i}]: {found}, {expected}");
        }
    }

    /// The parts of the contribution of a row's number `t` to frequency `k`: `[cos, -sin]`.
    fn turn(len: usize, k: usize, t: usize) -> [f64; 2] {
        let (sin, cos) = (std::f64::consts::TAU * (k * t % len) as f64 / len as f64).sin_cos();
        [cos, if is_self_conjugate(k, len) { 0.0 } else { -sin }]
    }

    #[test]
    fn both_transforms_and_their_gradients_equal_the_definition() {
        for len in LENGTHS {
            let count = frequencies(len);
            let (x, z) = (numbers(ROWS * len, 1), numbers(ROWS * count * 2, 2));
            let (mut spectrum, mut row) = (vec![0.0; z.len()], vec![0.0; x.len()]);
            let (mut by_x, mut by_z) = (vec![0.0; x.len()], vec![0.0; z.len()]);
            for r in 0..ROWS {
                for k in 0..count {
                    let c = if is_self_conjugate(k, len) { 1.0 } else { 2.0 } / len as f64;
                    for t in 0..len {
                        for (part, turn) in turn(len, k, t).into_iter().enumerate() {
                            let (at, to) = ((r * count + k) * 2 + part, r * len + t);
                            spectrum[at] += f64::from(x[to]) * turn;
                            by_x[to] += f64::from(z[at]) * turn;
                            row[to] += c * f64::from(z[at]) * turn;
                            by_z[at] += c * f64::from(x[to]) * turn;
                        }
                    }
                }
            }
            let name = |what: &str| format!("{what} of {len}");
            let (mut out, mut dx) = (vec![f32::NAN; z.len()], vec![f32::NAN; x.len()]);
            forward(&x, len, &mut out);
            assert_close(&out, &spectrum, &name("transform"));
            backward(&z, len, &mut dx, Accum::Replace);
            assert_close(&dx, &by_x, &name("gradient"));
            let (mut out, mut dz) = (vec![f32::NAN; x.len()], vec![f32::NAN; z.len()]);
            inverse(&z, len, &mut out);
            assert_close(&out, &row, &name("inverse"));
            inverse_backward(&x, len, &mut dz, Accum::Replace);
            assert_close(&dz, &by_z, &name("gradient of the inverse"));

            let (mut more_x, mut more_z) = (vec![1.0; x.len()], vec![1.0; z.len()]);
            backward(&z, len, &mut more_x, Accum::Add);
            inverse_backward(&x, len, &mut more_z, Accum::Add);
            assert!(more_x.iter().zip(&dx).all(|(more, dx)| *more == 1.0 + dx), "{len}");
            assert!(more_z.iter().zip(&dz).all(|(more, dz)| *more == 1.0 + dz), "{len}");
        }
    }

    #[test]
    fn nothing_has_no_frequencies() {
        forward(&[], 0, &mut []);
        forward(&[], 5, &mut []);
        inverse(&[], 5, &mut []);
    }

    #[test]
    #[should_panic(expected = "the transform of rows of 4: 8 values, 8 parts of frequencies")]
    fn lengths_must_fit() {
        forward(&[0.0; 8], 4, &mut [0.0; 8]);
    }
}
