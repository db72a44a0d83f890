//! Products against the definition: sizes around the kernels' tiles, strides, levels, threads.

use foretell_simd::{Level, with_level};
use foretell_threads::share;
use proptest::prelude::*;

use super::common::{Layout, Random, assert_product};
use crate::{Accum, MatMut, MatRef, Options, WeightFormat, WeightMatrix, matmul};

fn check(
    (dst, lhs, rhs): (Layout, Layout, Layout),
    accum: Accum,
    alpha: f64,
    threads: usize,
    random: &mut Random,
) {
    let (a, b): (Vec<f32>, Vec<f32>) = (random.values(lhs.len()), random.values(rhs.len()));
    // What is replaced must not be read.
    let before = match accum {
        Accum::Replace => vec![f32::NAN; dst.len()],
        Accum::Add => random.values(dst.len()),
    };
    for level in Level::available() {
        let mut result = before.clone();
        let options = Options::default().accum(accum).alpha(alpha as f32);
        let product = || matmul(dst.view_mut(&mut result), lhs.view(&a), rhs.view(&b), options);
        with_level(level, || share(threads, product));
        assert_product((dst, &before, &result), (lhs, &a), (rhs, &b), accum, f64::from(alpha as f32));
    }
}

/// A layout that callers use, or any at all.
fn check_one(m: usize, k: usize, n: usize, random: &mut Random) {
    let dst = Layout::row_major(m, n);
    let layouts = match random.below(4) {
        0 => (dst, Layout::row_major(m, k), Layout::row_major(k, n)),
        1 => (dst, Layout::row_major(m, k), Layout::col_major(k, n)),
        2 => (dst, Layout::col_major(m, k), Layout::row_major(k, n)),
        _ => (Layout::random(m, n, random), Layout::random(m, k, random), Layout::random(k, n, random)),
    };
    let (accum, alpha) = [(Accum::Replace, 1.0), (Accum::Replace, 2.5), (Accum::Add, -0.75)][random.below(3)];
    check(layouts, accum, alpha, 1 + random.below(3), random);
}

fn check_all(m: usize, k: usize, n: usize, random: &mut Random) {
    (0..6).for_each(|_| check_one(m, k, n, random));
}

#[test]
fn sizes_around_the_tiles_of_the_kernels() {
    let random = &mut Random(1);
    let sizes = [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 24, 25, 31, 33, 48, 63, 65, 97];
    for m in sizes {
        for n in sizes {
            for _ in 0..3 {
                let k = sizes[random.below(sizes.len())];
                check_one(m, k, n, random);
            }
        }
    }
}

fn check_packed(m: usize, k: usize, n: usize, random: &mut Random) {
    let (dst, lhs) = (Layout::row_major(m, n), Layout::random(m, k, random));
    for rhs in [Layout::row_major(k, n), Layout::col_major(k, n), Layout::random(k, n, random)] {
        let (a, b): (Vec<f32>, Vec<f32>) = (random.values(lhs.len()), random.values(rhs.len()));
        for (accum, old) in [(Accum::Replace, f32::NAN), (Accum::Add, 0.5)] {
            let (before, threads) = (vec![old; dst.len()], 1 + random.below(3));
            for level in Level::available() {
                let mut result = before.clone();
                with_level(level, || {
                    let packed = WeightMatrix::new(rhs.view(&b), WeightFormat::F32);
                    let options = Options::default().accum(accum).alpha(0.75);
                    share(threads, || matmul(dst.view_mut(&mut result), lhs.view(&a), &packed, options));
                });
                assert_product((dst, &before, &result), (lhs, &a), (rhs, &b), accum, 0.75);
            }
        }
    }
}

#[test]
fn a_large_left_operand_with_gaps_both_ways() {
    let (m, k, n) = (300, 500, 100);
    let lhs = Layout { rows: m, cols: k, row_stride: 2 * k, col_stride: 2 };
    let layouts = (Layout::row_major(m, n), lhs, Layout::row_major(k, n));
    check(layouts, Accum::Replace, 1.0, 1, &mut Random(7));
    check(layouts, Accum::Add, 0.5, 2, &mut Random(8));
}

#[test]
fn packed_operands() {
    let random = &mut Random(5);
    let sizes = [0, 1, 2, 5, 6, 7, 16, 31, 33, 48, 63, 64, 65, 97, 130, 257];
    for m in sizes {
        for n in sizes {
            let k = sizes[random.below(sizes.len())];
            check_packed(m, k, n, random);
        }
    }
    // Several tiles of columns; two blocks of rows with an operand that the second cache does not hold in three pieces.
    for (m, k, n) in [(97, 130, 700), (130, 257, 1030), (16, 300, 2049), (260, 257, 1030)] {
        check_packed(m, k, n, random);
    }
    check_packed(500, 300, 200, random);
}

#[test]
fn long_inner_dimensions() {
    let random = &mut Random(2);
    for (m, k, n) in [
        (1, 511, 40),
        (3, 513, 17),
        (33, 1025, 9),
        (40, 2048, 40),
        (70, 2049, 50),
        (8, 5000, 1),
        (1, 4097, 1),
    ] {
        check_all(m, k, n, random);
    }
}

#[test]
fn products_of_several_tiles() {
    let random = &mut Random(3);
    for (m, k, n) in [
        (700, 96, 100),
        (100, 96, 700),
        (300, 130, 310),
        (390, 260, 70),
        (1, 1500, 3000),
        (3000, 1500, 1),
        (6, 900, 1800),
    ] {
        check_all(m, k, n, random);
    }
}

#[test]
fn empty_dimensions() {
    let random = &mut Random(4);
    for (m, k, n) in
        [(0, 0, 0), (0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 4), (1, 0, 1), (70, 0, 70), (1, 0, 64), (0, 7, 1)]
    {
        check_all(m, k, n, random);
    }
}

#[test]
fn a_repeated_row_or_column_is_a_stride_of_zero() {
    let random = &mut Random(5);
    for (m, k, n) in [(1, 40, 40), (5, 33, 70), (70, 33, 5), (40, 100, 100)] {
        let dst = Layout::row_major(m, n);
        let repeated = |rows, cols| {
            [
                Layout { rows, cols, row_stride: 0, col_stride: 1 },
                Layout { rows, cols, row_stride: 1, col_stride: 0 },
            ]
        };
        for (lhs, rhs) in
            [(repeated(m, k)[0], Layout::row_major(k, n)), (repeated(m, k)[1], Layout::col_major(k, n))]
        {
            check((dst, lhs, rhs), Accum::Replace, 1.0, 1, random);
        }
        for (lhs, rhs) in
            [(Layout::row_major(m, k), repeated(k, n)[0]), (Layout::row_major(m, k), repeated(k, n)[1])]
        {
            check((dst, lhs, rhs), Accum::Add, 1.0, 1, random);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_shape_and_strides(m in 0usize..90, k in 0usize..150, n in 0usize..90, seed: u64, threads in 0usize..4) {
        let random = &mut Random(seed);
        let (dst, lhs, rhs) =
            (Layout::random(m, n, random), Layout::random(m, k, random), Layout::random(k, n, random));
        let accum = [Accum::Replace, Accum::Add][random.below(2)];
        let alpha = [1.0, 0.0, -1.0, 0.3][random.below(4)];
        check((dst, lhs, rhs), accum, alpha, threads, random);
    }
}

#[test]
fn nan_and_infinity_reach_exactly_the_elements_that_they_belong_to() {
    let random = &mut Random(6);
    for (m, k, n) in [(1, 40, 40), (40, 40, 1), (3, 100, 64), (50, 64, 70), (5, 5, 5), (1, 64, 9)] {
        for layout in [Layout::row_major(k, n), Layout::col_major(k, n)] {
            for level in Level::available() {
                let mut a: Vec<f32> = random.values(m * k);
                let mut b: Vec<f32> = random.values(layout.len());
                let (row, col, p) = (random.below(m), random.below(n), random.below(k));
                a[row * k + p] = f32::NAN;
                b[layout.at(p, col)] = f32::INFINITY;
                let mut result = vec![0.0; m * n];
                let dst = MatMut::row_major(&mut result, m, n);
                with_level(level, || {
                    matmul(dst, MatRef::row_major(&a, m, k), layout.view(&b), Options::default())
                });
                for i in 0..m {
                    for j in 0..n {
                        let value = result[i * n + j];
                        assert_eq!(
                            value.is_nan(),
                            i == row,
                            "({i}, {j}) = {value} of {m}x{k}x{n} at {level:?}"
                        );
                        assert_eq!(value.is_infinite(), i != row && j == col, "({i}, {j}) = {value}");
                    }
                }
            }
        }
    }
}

/// A tiny product reads what is packed in strips as rows. A row of it is that row of a larger product, which reads strips.
#[test]
fn a_tiny_packed_product_has_the_bits_of_a_larger_one() {
    let random = &mut Random(6);
    for (k, n) in [(3, 3), (13, 9), (16, 16), (8, 32), (128, 16), (128, 17), (20, 33), (20, 50), (20, 64)] {
        let m = 1030;
        let (a, b): (Vec<f32>, Vec<f32>) = (random.values(m * k), random.values(k * n));
        let lhs = Layout::row_major(m, k);
        let packed = WeightMatrix::new(Layout::row_major(k, n).view(&b), WeightFormat::F32);
        if !foretell_simd::level().has_avx512() {
            return;
        }
        let product = |rows: usize| {
            let mut y = vec![f32::NAN; rows * n];
            let (dst, lhs) = (Layout::row_major(rows, n), lhs.view(&a).rows(0..rows));
            matmul(dst.view_mut(&mut y), lhs, &packed, Options::default());
            y
        };
        let whole = product(m);
        for rows in [1, 2, 3, 4] {
            assert_eq!(product(rows), whole[..rows * n], "{rows}x{k}x{n}");
        }
    }
}
