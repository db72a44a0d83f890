//! Complex products beside their definition.

use foretell_simd::{Level, with_level};

use super::*;

fn numbers(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
}

/// The parts of an element, times the factor of the imaginary one.
fn at(data: &[f32], imaginary: usize, place: usize, sign: f64) -> [f64; 2] {
    [f64::from(data[place]), sign * f64::from(data[place + imaginary])]
}

#[derive(Clone, Copy, Debug)]
struct Case {
    count: usize,
    size: [usize; 3],
    turned: [bool; 2],
    conjugated: [bool; 2],
    accum: Accum,
    rounding: Rounding,
}

/// Matrices are heads side by side in wide rows, or turned, lie one behind the other.
fn check(case: Case) {
    let Case { count, size: [m, k, n], turned, conjugated, accum, rounding } = case;
    let layout = |rows: usize, cols: usize, turned: bool| match turned {
        false => (2 * count * cols * rows, count * cols * rows, cols, (count * cols, 1)),
        true => (2 * count * cols * rows, count * cols * rows, rows * cols, (1, rows)),
    };
    let (len, apart, step, strides) = layout(m, k, turned[0]);
    let (other_len, other_apart, other_step, other_strides) = layout(k, n, turned[1]);
    let (a, b) = (numbers(len, 1), numbers(other_len, 2));
    let before = numbers(2 * m * count * n + 3, 3);
    let mut found = before.clone();
    let lhs = ComplexBatchRef::new(&a, apart, [(1, 0), (count, step)], (m, k), strides);
    let rhs = ComplexBatchRef::new(&b, other_apart, [(1, 0), (count, other_step)], (k, n), other_strides);
    let lhs = if conjugated[0] { lhs.conj() } else { lhs };
    let rhs = if conjugated[1] { rhs.conj() } else { rhs };
    let dst_apart = m * count * n;
    let dst = ComplexBatchMut::new(&mut found, dst_apart, [(1, 0), (count, n)], (m, n), count * n);
    matmul_complex_batched(dst, lhs, rhs, accum, rounding);
    let sign = conjugated.map(|is| if is { -1.0 } else { 1.0 });
    let bound = if rounding == Rounding::F16 { 4e-3 } else { 1e-5 };
    let mut expected: Vec<f64> = before.iter().map(|&x| f64::from(x)).collect();
    for (index, i, j) in (0..count * m * n).map(|at| (at / (m * n), at / n % m, at % n)) {
        let mut sum = [0.0; 2];
        for p in 0..k {
            let x = at(&a, apart, index * step + i * strides.0 + p * strides.1, sign[0]);
            let place = index * other_step + p * other_strides.0 + j * other_strides.1;
            let y = at(&b, other_apart, place, sign[1]);
            sum[0] += x[0] * y[0] - x[1] * y[1];
            sum[1] += x[0] * y[1] + x[1] * y[0];
        }
        for (part, sum) in sum.into_iter().enumerate() {
            let place = &mut expected[part * dst_apart + index * n + i * count * n + j];
            *place = if accum == Accum::Add { *place + sum } else { sum };
        }
    }
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let close = (f64::from(*found) - expected).abs() <= bound * k.max(1) as f64;
        assert!(close, "{case:?}: {found} at {i}, expected {expected}");
    }
}

#[test]
fn every_size_layout_and_sign_at_every_level() {
    let sizes =
        [[1, 1, 1], [5, 3, 16], [4, 16, 17], [7, 19, 8], [2, 0, 3], [0, 2, 3], [3, 33, 37], [32, 32, 32]];
    for level in Level::available() {
        with_level(level, || {
            for (size, count) in sizes.into_iter().flat_map(|size| [(size, 1), (size, 11), (size, 0)]) {
                for bits in 0..16 {
                    let [a, b, c, d] = [1, 2, 4, 8].map(|bit| bits & bit > 0);
                    let accum = if bits % 3 == 0 { Accum::Add } else { Accum::Replace };
                    let rounding = [Rounding::None, Rounding::Bf16, Rounding::F16][bits % 5 % 3];
                    check(Case { count, size, turned: [a, b], conjugated: [c, d], accum, rounding });
                }
            }
        });
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    // Three tasks and more.
    let (count, m, k, n) = (160, 32, 16, 16);
    let (a, b) = (numbers(2 * count * m * k, 1), numbers(2 * count * k * n, 2));
    let product = |threads: usize| {
        let mut out = vec![f32::NAN; 2 * count * m * n];
        foretell_threads::share(threads, || {
            let lhs = ComplexBatchRef::new(&a, count * m * k, [(20, 8 * k), (8, k)], (m, k), (count * k, 1));
            let rhs = ComplexBatchRef::new(&b, count * k * n, [(20, 8 * k * n), (8, k * n)], (k, n), (n, 1));
            let dst = ComplexBatchMut::new(&mut out, count * m * n, [(20, 8 * n), (8, n)], (m, n), count * n);
            matmul_complex_batched(dst, lhs, rhs, Accum::Replace, Rounding::None);
        });
        out
    };
    let one = product(1);
    assert!(one == product(2) && one == product(3));
}

#[test]
#[should_panic(expected = "overlap")]
fn parts_of_a_destination_must_not_overlap() {
    ComplexBatchMut::new(&mut [0.0; 12], 4, [(1, 0); 2], (2, 4), 4);
}

#[test]
#[should_panic(expected = "exceed")]
fn views_must_lie_within_their_slice() {
    ComplexBatchRef::new(&[0.0; 12], 6, [(1, 0); 2], (2, 4), (4, 1));
}

#[test]
#[should_panic(expected = "a product of 2x3 and 2x2 does not fit")]
fn shapes_must_fit() {
    let x = [0.0; 12];
    let lhs = ComplexBatchRef::new(&x, 6, [(1, 0); 2], (2, 3), (3, 1));
    let rhs = ComplexBatchRef::new(&x, 4, [(1, 0); 2], (2, 2), (2, 1));
    let mut out = [0.0; 8];
    let dst = ComplexBatchMut::new(&mut out, 4, [(1, 0); 2], (2, 2), 2);
    matmul_complex_batched(dst, lhs, rhs, Accum::Replace, Rounding::None);
}
