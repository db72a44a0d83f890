use foretell_simd::{Activation, with_level};
use proptest::prelude::*;

use super::*;
use crate::{Accum, Bias, WeightFormat, WeightMatrix};

/// Runs a test with each kernel that the machine has, at the level that allows it.
fn everywhere(test: impl Fn(Kernel)) {
    for level in foretell_simd::Level::available() {
        with_level(level, || {
            Kernel::ALL.iter().filter(|kernel| kernel.runs()).for_each(|kernel| test(*kernel))
        });
    }
}

/// Numbers of either sign, some of them the largest of their row or column.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + seed * 13 + 1) as f32 * 0.618).sin() * 1.7).collect()
}

/// A row or column as whole numbers, and its scale, by the definition.
fn whole(numbers: &[f32]) -> (Vec<i64>, f32) {
    let largest = numbers.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    let inverse = if largest == 0.0 { 0.0 } else { 127.0 / largest };
    (numbers.iter().map(|x| (x * inverse).round_ties_even() as i64).collect(), largest / 127.0)
}

/// The product by the definition.
fn expected(lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>) -> Vec<f32> {
    let row = |x: MatRef<'_, f32>, i: usize| {
        let numbers: Vec<f32> =
            (0..x.ncols()).map(|p| x.data()[i * x.row_stride() + p * x.col_stride()]).collect();
        whole(&numbers)
    };
    let rows: Vec<_> = (0..lhs.nrows()).map(|i| row(lhs, i)).collect();
    let columns: Vec<_> = (0..rhs.ncols()).map(|j| row(rhs.t(), j)).collect();
    let one = |(a, row_scale): &(Vec<i64>, f32), (b, scale): &(Vec<i64>, f32)| {
        let sum: i64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        i32::try_from(sum).unwrap() as f32 * (row_scale * scale)
    };
    rows.iter().flat_map(|a| columns.iter().map(|b| one(a, b)).collect::<Vec<_>>()).collect()
}

fn weights(matrix: MatRef<'_, f32>) -> WeightMatrix {
    WeightMatrix::new(matrix, WeightFormat::Int8)
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_kernel_has_the_bits_of_the_definition(
        m in 0..30usize, k in 0..90usize, n in 0..150usize, seed in 0..99usize, turned in any::<[bool; 2]>(),
    ) {
        let (a, b) = (numbers(m * k, seed), numbers(k * n, seed + 1));
        let view = |data, rows, cols, turned| match turned {
            true => MatRef::row_major(data, cols, rows).t(),
            false => MatRef::row_major(data, rows, cols),
        };
        let (lhs, rhs) = (view(&a, m, k, turned[0]), view(&b, k, n, turned[1]));
        let packed = PackedInt8::new(rhs);
        let expected = bits(&expected(lhs, rhs));
        everywhere(|kernel| {
            let mut dst = vec![f32::NAN; m * n];
            run(kernel, MatMut::row_major(&mut dst, m, n), lhs, &packed, Options::default());
            assert_eq!(bits(&dst), expected, "{kernel:?}, {m}x{k}x{n}");
        });
    }
}

#[test]
fn the_largest_numbers_of_either_sign_do_not_overflow() {
    // Pairs of 127 times 127 are what instructions that saturate would spoil.
    for k in [1, 2, 63, 64, 1000, 70_001] {
        for (x, w) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let (lhs, rhs) = (vec![x; 3 * k], vec![w; 2 * k]);
            let packed = PackedInt8::new(MatRef::row_major(&rhs, k, 2));
            let expected = (x * w * 127.0 * 127.0) as i64 * k as i64;
            let scale = (1f32 / 127.0) * (1f32 / 127.0);
            everywhere(|kernel| {
                let mut dst = [f32::NAN; 6];
                let lhs = MatRef::row_major(&lhs, 3, k);
                run(kernel, MatMut::row_major(&mut dst, 3, 2), lhs, &packed, Options::default());
                assert_eq!(dst, [expected as f32 * scale; 6], "{kernel:?}, {x} by {w}, {k} times");
            });
        }
    }
}

#[test]
fn within_two_parts_in_254_of_f32() {
    let (m, k, n) = (5, 200, 40);
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
    let mut exact = vec![0.0; m * n];
    crate::matmul(MatMut::row_major(&mut exact, m, n), lhs, rhs, Options::default());
    let mut dst = vec![f32::NAN; m * n];
    crate::matmul(MatMut::row_major(&mut dst, m, n), lhs, &weights(rhs), Options::default());
    for i in 0..m {
        for j in 0..n {
            // Each factor is off by at most half a step of its scale.
            let largest = 1.7f32;
            let size: f32 = (0..k).map(|p| a[i * k + p].abs() + b[p * n + j].abs() + largest / 254.0).sum();
            let error = (dst[i * n + j] - exact[i * n + j]).abs();
            assert!(error <= size * largest / 254.0, "{error} at {i}, {j}");
        }
    }
}

#[test]
fn factor_bias_activation_and_what_is_there() {
    let (m, k, n) = (7, 30, 70);
    let (a, b, bias) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3));
    let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
    let packed = PackedInt8::new(rhs);
    let plain = expected(lhs, rhs);
    everywhere(|kernel| {
        let stride = n + 3;
        let mut dst = vec![0.5; m * stride];
        let options = Options {
            accum: Accum::Add,
            alpha: 0.25,
            bias: Some(Bias::PerColumn(&bias)),
            activation: Activation::Relu,
            rounding: crate::Rounding::None,
        };
        run(kernel, MatMut::new(&mut dst, m, n, stride, 1), lhs, &packed, options);
        for i in 0..m {
            for j in 0..n {
                let expected = (0.5 + plain[i * n + j] * 0.25 + bias[j]).max(0.0);
                assert_eq!(dst[i * stride + j], expected, "{kernel:?} at {i}, {j}");
            }
            assert!(i + 1 == m || dst[i * stride + n..(i + 1) * stride] == [0.5; 3], "{kernel:?}");
        }
    });
}

#[test]
fn threads_change_no_bit() {
    // Cut by columns, by rows, and not at all.
    for (m, k, n) in [(1, 2048, 1100), (3, 1500, 900), (200, 512, 300), (5, 40, 30)] {
        let (a, b, bias) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3));
        let (lhs, packed) = (MatRef::row_major(&a, m, k), weights(MatRef::row_major(&b, k, n)));
        let options = Options { bias: Some(Bias::PerColumn(&bias)), ..Options::default() };
        let product = |threads| {
            let mut dst = vec![f32::NAN; m * n];
            foretell_threads::share(threads, || {
                crate::matmul(MatMut::row_major(&mut dst, m, n), lhs, &packed, options);
            });
            bits(&dst)
        };
        let alone = product(1);
        assert!((2..5).all(|threads| product(threads) == alone), "{m}x{k}x{n}");
        // Nor do the rows beside one.
        let mut row = vec![f32::NAN; n];
        crate::matmul(MatMut::row_major(&mut row, 1, n), lhs.rows(m - 1..m), &packed, options);
        assert_eq!(bits(&row), alone[(m - 1) * n..]);
    }
}

#[test]
fn what_is_not_finite_makes_nan_of_its_row_or_column_and_zeros_make_zeros() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let (mut a, mut b) = (numbers(3 * 20, 1), numbers(20 * 18, 2));
        (a[27], b[5 * 18 + 4]) = (bad, bad);
        a[40..].fill(0.0);
        let packed = PackedInt8::new(MatRef::row_major(&b, 20, 18));
        everywhere(|kernel| {
            let mut dst = [7.0; 3 * 18];
            let lhs = MatRef::row_major(&a, 3, 20);
            run(kernel, MatMut::row_major(&mut dst, 3, 18), lhs, &packed, Options::default());
            for (place, value) in dst.iter().enumerate() {
                let (i, j) = (place / 18, place % 18);
                assert_eq!(value.is_nan(), i == 1 || j == 4, "{kernel:?} at {i}, {j}: {value}");
                assert!(i != 2 || j == 4 || *value == 0.0, "{kernel:?} at {i}, {j}: {value}");
            }
        });
    }
    let tiny = weights(MatRef::row_major(&[1e-45; 8], 8, 1));
    let mut dst = [1.0];
    crate::matmul(
        MatMut::row_major(&mut dst, 1, 1),
        MatRef::row_major(&[1.0; 8], 1, 8),
        &tiny,
        Options::default(),
    );
    assert_eq!(dst, [0.0]);
}

#[test]
fn a_quarter_of_the_bytes() {
    let numbers = vec![1.0; 512 * 512];
    let packed = weights(MatRef::row_major(&numbers, 512, 512));
    assert_eq!((packed.nrows(), packed.ncols(), packed.bytes()), (512, 512, 512 * 512 + 8 * 512));
}

#[test]
#[should_panic(expected = "a destination whose rows are not adjacent")]
fn columns_must_be_adjacent() {
    let packed = weights(MatRef::row_major(&[1.0; 4], 2, 2));
    let dst = &mut [0.0; 4];
    crate::matmul(
        MatMut::row_major(dst, 2, 2).t(),
        MatRef::row_major(&[1.0; 4], 2, 2),
        &packed,
        Options::default(),
    );
}
