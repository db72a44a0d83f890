use foretell_simd::{Activation, Level, with_level};
use half::bf16;
use proptest::prelude::*;

use super::*;
use crate::bf16::layout::{BlockLayout, DEPTH, WIDTH};
use crate::options::{Accum, Rounding, WeightFormat};
use crate::view::MatRef;
use crate::weights::WeightMatrix;

/// The kernels that run at the current level.
fn kernels() -> Vec<Kernel> {
    #[cfg(target_arch = "x86_64")]
    let all = [Kernel::Tiles, Kernel::Pairs, Kernel::Widened];
    #[cfg(not(target_arch = "x86_64"))]
    let all = [Kernel::Widened];
    all.into_iter().filter(|kernel| kernel.runs()).collect()
}

/// Runs a test for each kernel at each level.
fn everywhere(test: impl Fn(Level, Kernel)) {
    for level in Level::available() {
        with_level(level, || kernels().into_iter().for_each(|kernel| test(level, kernel)));
    }
}

/// Numbers around one, of either sign.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + seed * 13 + 1) as f32 * 0.618).sin() * 1.7).collect()
}

/// A product in bfloat16 whatever its shape, neither operand of which is packed.
fn multiply<'a, 'b>(
    dst: MatMut<'_, f32>,
    lhs: impl Into<Bf16Operand<'a>>,
    rhs: impl Into<Bf16Operand<'b>>,
    options: Options<'_>,
) {
    product(dst, lhs.into(), rhs.into(), options);
}

fn weights(matrix: MatRef<'_, f32>) -> WeightMatrix {
    WeightMatrix::new(matrix, WeightFormat::Bf16)
}

fn rounded(x: f32) -> f64 {
    bf16::from_f32(x).to_f64()
}

/// The exact product of the rounded operands at `(i, j)`, and the sum of its absolute terms.
fn exact(lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, i: usize, j: usize) -> (f64, f64) {
    let at =
        |x: MatRef<'_, f32>, i: usize, j: usize| rounded(x.data()[i * x.row_stride() + j * x.col_stride()]);
    let terms = (0..lhs.ncols()).map(|p| at(lhs, i, p) * at(rhs, p, j));
    terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
}

/// Compares a product with the definition, within the bound that the documentation states.
fn check(
    (level, kernel): (Level, Kernel),
    (m, k, n): (usize, usize, usize),
    [(row, col), (other_row, other_col), (dst_row, dst_col)]: [(usize, usize); 3],
    (accum, alpha, bias): (Accum, f32, Option<bool>),
) {
    let extent = |rows: usize, cols: usize, row: usize, col: usize| (rows + 1) * row + (cols + 1) * col;
    let (a, b) = (numbers(extent(m, k, row, col), 1), numbers(extent(k, n, other_row, other_col), 2));
    let (per_column, per_row) = (numbers(n, 3), numbers(m, 4));
    let before = match accum {
        Accum::Add => numbers(extent(m, n, dst_row, dst_col), 5),
        Accum::Replace => vec![f32::NAN; extent(m, n, dst_row, dst_col)],
    };
    let mut dst = before.clone();
    let lhs = MatRef::new(&a, m, k, row, col);
    let rhs = MatRef::new(&b, k, n, other_row, other_col);
    let options = Options {
        accum,
        alpha,
        bias: bias.map(|columns| match columns {
            true => Bias::PerColumn(&per_column[..]),
            false => Bias::PerRow(&per_row[..]),
        }),
        activation: Activation::Relu,
        rounding: crate::Rounding::None,
    };
    run(
        kernel,
        MatMut::new(&mut dst, m, n, dst_row, dst_col),
        lhs.into(),
        (&PackedBf16::new(rhs.into())).into(),
        options,
    );
    for i in 0..m {
        for j in 0..n {
            let (sum, size) = exact(lhs, rhs, i, j);
            let at = i * dst_row + j * dst_col;
            let old = if accum == Accum::Add { f64::from(before[at]) } else { 0.0 };
            let bias = match bias {
                Some(true) => f64::from(per_column[j]),
                Some(false) => f64::from(per_row[i]),
                None => 0.0,
            };
            let expected = (old + f64::from(alpha) * sum + bias).max(0.0);
            let scale = f64::from(alpha).abs() * size;
            let bound = (k as f64 * scale + 4.0 * (scale + old.abs() + bias.abs())) * f64::from(f32::EPSILON);
            let found = f64::from(dst[at]);
            assert!(
                (found - expected).abs() <= bound,
                "{level} {kernel:?} {m}x{k}x{n} ({i}, {j}): {found}, expected {expected} within {bound}"
            );
        }
    }
}

/// Dense rows.
fn dense(k: usize, n: usize) -> [(usize, usize); 3] {
    [(k.max(1), 1), (n.max(1), 1), (n.max(1), 1)]
}

const PLAIN: (Accum, f32, Option<bool>) = (Accum::Replace, 1.0, None);

#[test]
fn sizes_around_those_of_tiles() {
    const SIZES: [usize; 11] = [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 65];
    everywhere(|level, kernel| {
        for m in SIZES {
            for k in SIZES {
                for n in SIZES {
                    check((level, kernel), (m, k, n), dense(k, n), PLAIN);
                }
            }
        }
    });
}

#[test]
fn large_sizes() {
    everywhere(|level, kernel| {
        // Of the last two several tasks share packed rows, and the last block is of a single one.
        let sizes =
            [(1, 512, 512), (130, 96, 70), (257, 33, 130), (3, 1000, 9), (129, 512, 200), (289, 1024, 100)];
        for (m, k, n) in sizes {
            check((level, kernel), (m, k, n), dense(k, n), PLAIN);
            check((level, kernel), (m, k, n), dense(k, n), (Accum::Add, -0.5, Some(true)));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_strides_and_epilogues(
        (m, k, n) in (0..40_usize, 0..70_usize, 0..40_usize),
        layouts in prop::array::uniform3(0..4_usize),
        adds in any::<bool>(),
        alpha in prop::sample::select(vec![1.0, 0.5, -2.0]),
        bias in any::<Option<bool>>(),
    ) {
        let strides = |(rows, cols): (usize, usize), layout: usize| match layout {
            0 => (cols.max(1), 1),
            1 => (1, rows.max(1)),
            2 => (cols + 3, 1),
            _ => (2 * cols + 2, 2),
        };
        let [a, b, c] = layouts;
        let strides = [strides((m, k), a), strides((k, n), b), strides((m, n), c)];
        let accum = if adds { Accum::Add } else { Accum::Replace };
        everywhere(|level, kernel| check((level, kernel), (m, k, n), strides, (accum, alpha, bias)));
    }
}

/// The bits of a product of `m` rows with the machine's kernel.
fn bits((m, k, n): (usize, usize, usize), a: &[f32], options: Options<'_>) -> Vec<u32> {
    let b = numbers(k * n, 2);
    let mut dst = numbers(m * n, 3);
    let lhs = MatRef::row_major(&a[..m * k], m, k);
    multiply(MatMut::row_major(&mut dst, m, n), lhs, MatRef::row_major(&b, k, n), options);
    dst.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn a_row_of_a_short_product_does_not_depend_on_those_beside_it() {
    let (k, n) = (70, 53);
    let a = numbers(200 * k, 1);
    for accum in [Accum::Replace, Accum::Add] {
        for level in Level::available() {
            with_level(level, || {
                let options = Options { accum, alpha: 0.7, ..Options::default() };
                let all = bits((200, k, n), &a, options);
                for m in [1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 129] {
                    assert_eq!(bits((m, k, n), &a, options), all[..m * n], "{level}, {m} rows");
                }
            });
        }
    }
}

#[test]
fn a_long_inner_dimension_in_parts() {
    let (m, k, n) = (100, 3000, 90);
    let (a, b, bias) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 4));
    let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
    assert!(WeightFormat::best_for([m, k, n], Rounding::Bf16).is_none());
    for accum in [Accum::Replace, Accum::Add] {
        let bias = Some(Bias::PerColumn(&bias[..]));
        let options = Options { accum, alpha: 0.5, bias, activation: Activation::Relu, ..Options::default() };
        let [mut whole, mut in_parts] = [(); 2].map(|()| numbers(m * n, 3));
        crate::matmul(MatMut::row_major(&mut whole, m, n), lhs, &weights(rhs), options);
        multiply(MatMut::row_major(&mut in_parts, m, n), lhs, rhs, options);
        for (i, (&whole, &in_parts)) in whole.iter().zip(&in_parts).enumerate() {
            assert!((whole - in_parts).abs() < 1e-3, "{accum:?} at {i}: {whole} whole, {in_parts} in parts");
        }
    }
}

#[test]
fn threads_change_no_bit() {
    for (m, k, n) in [(600, 300, 200), (1, 600, 4000), (64, 512, 1000), (100, 3000, 90)] {
        let a = numbers(m * k, 1);
        let one = foretell_threads::share(1, || bits((m, k, n), &a, Options::default()));
        let workers = foretell_threads::Workers::new(3).unwrap();
        let three = workers.enter(|| foretell_threads::share(3, || bits((m, k, n), &a, Options::default())));
        assert!(one == three, "{m}x{k}x{n}");
    }
}

#[test]
fn packed_weights_and_matrices_make_the_same() {
    let (m, k, n) = (37, 45, 51);
    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
    let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, n, k).t());
    let [mut one, mut other, mut turned] = [(); 3].map(|()| vec![f32::NAN; m * n]);
    crate::matmul(MatMut::row_major(&mut one, m, n), lhs, &weights(rhs), Options::default());
    multiply(MatMut::row_major(&mut other, m, n), lhs, rhs, Options::default());
    assert_eq!(one, other);
    // A destination whose columns are adjacent is made as the transposed product.
    multiply(MatMut::row_major(&mut turned, n, m).t(), lhs, rhs, Options::default());
    for i in 0..m {
        for j in 0..n {
            assert!((turned[j * m + i] - one[i * n + j]).abs() < 1e-4);
        }
    }
}

#[test]
fn numbers_that_are_none_reach_their_row_and_column_alone() {
    everywhere(|level, kernel| {
        let (m, k, n) = (20, 40, 35);
        let (mut a, mut b) = (numbers(m * k, 1), numbers(k * n, 2));
        a[3 * k + 39] = f32::NAN;
        b[39 * n + 34] = f32::INFINITY;
        a[5 * k + 39] = 0.0;
        a[6 * k + 39] = 1e38;
        b[39 * n + 2] = 1e38;
        let mut dst = vec![0.0; m * n];
        let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
        run(
            kernel,
            MatMut::row_major(&mut dst, m, n),
            lhs.into(),
            (&PackedBf16::new(rhs.into())).into(),
            Options::default(),
        );
        for (i, row) in dst.chunks_exact(n).enumerate() {
            for (j, x) in row.iter().enumerate() {
                let why = format!("{level} {kernel:?} ({i}, {j}): {x}");
                match (i, j) {
                    (3, _) | (5, 34) => assert!(x.is_nan(), "{why}"),
                    (_, 34) | (6, 2) => assert!(x.is_infinite(), "{why}"),
                    _ => assert!(x.is_finite(), "{why}"),
                }
            }
        }
    });
}

#[test]
fn packing_rounds_to_the_nearest_and_even() {
    for level in Level::available() {
        with_level(level, || {
            // Half-way between two bfloat16 numbers, and just beside; a NaN whose upper half would be infinity.
            let half = f32::EPSILON * 32768.0;
            let row = [
                1.0 + half,
                1.0 + 3.0 * half,
                1.0 + 1.1 * half,
                -1.0 - half,
                3.4e38,
                f32::from_bits(0x7f80_0001),
            ];
            let values: Vec<f32> = row.iter().cycle().take(60).copied().collect();
            for matrix in [MatRef::row_major(&values, 1, 60), MatRef::new(&values, 1, 60, 1, 1)] {
                let mut place = vec![bf16::ONE; 16 * 64];
                strips_of(matrix, &mut place);
                for (p, x) in values.iter().enumerate() {
                    let found = place[p / DEPTH * WIDTH * DEPTH + p % DEPTH];
                    let expected = bf16::from_f32(*x);
                    let same = found.to_bits() == expected.to_bits() || found.is_nan() && x.is_nan();
                    assert!(same, "{level}: {x} became {found}, expected {expected}");
                }
            }
        });
    }
}

fn strips_of(matrix: MatRef<'_, f32>, place: &mut [bf16]) {
    pack::strips(matrix, BlockLayout::Rows, place);
}

#[test]
fn operands_that_were_rounded_before_make_the_same() {
    let (m, k, n) = (37, 45, 51);
    let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
    let [small_a, small_b] = [&a, &b].map(|x| x.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>());
    for level in Level::available() {
        with_level(level, || {
            let [mut expected, mut found] = [(); 2].map(|()| vec![f32::NAN; m * n]);
            let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, n, k).t());
            multiply(MatMut::row_major(&mut expected, m, n), lhs, rhs, Options::default());
            let (lhs, rhs) = (MatRef::row_major(&small_a, m, k), MatRef::row_major(&small_b, n, k).t());
            multiply(MatMut::row_major(&mut found, m, n), lhs, rhs, Options::default());
            assert_eq!(found, expected, "{level}");
            // Both transposed: each operand is read along its other dimension.
            let (lhs, rhs) = (MatRef::row_major(&small_a, k, m).t(), MatRef::row_major(&small_b, k, n));
            multiply(MatMut::row_major(&mut found, m, n), lhs, rhs, Options::default());
            let (lhs, rhs) = (MatRef::row_major(&a, k, m).t(), MatRef::row_major(&b, k, n));
            multiply(MatMut::row_major(&mut expected, m, n), lhs, rhs, Options::default());
            assert_eq!(found, expected, "{level}, transposed");
        });
    }
}

#[test]
fn matmul_rounds_what_pays_and_leaves_the_rest() {
    let rounded = Options { rounding: Rounding::Bf16, ..Options::default() };
    for ((m, k, n), pays) in [((32, 128, 128), true), ((7, 64, 7), false), ((64, 1, 512), false)] {
        assert_eq!(Rounding::Bf16.of_product([m, k, n]) == Rounding::Bf16, pays);
        // Without instructions for it there is nothing to pack for.
        let packs = pays && Kernel::of_machine() != Kernel::Widened;
        assert_eq!(WeightFormat::best_for([m, k, n], Rounding::Bf16).is_some(), packs);
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
        let [mut found, mut plain, mut as_bf16] = [(); 3].map(|()| vec![f32::NAN; m * n]);
        crate::matmul(MatMut::row_major(&mut found, m, n), lhs, rhs, rounded);
        crate::matmul(MatMut::row_major(&mut plain, m, n), lhs, rhs, Options::default());
        multiply(MatMut::row_major(&mut as_bf16, m, n), lhs, rhs, Options::default());
        assert_eq!(found, if pays { as_bf16 } else { plain }, "{m}x{k}x{n}");
    }
}

#[test]
#[should_panic(expected = "does not fit")]
fn shapes_are_checked() {
    let a = [0.0; 6];
    let (lhs, rhs) = (MatRef::row_major(&a, 2, 3), MatRef::row_major(&a, 2, 3));
    crate::matmul(MatMut::row_major(&mut [0.0; 6], 2, 3), lhs, &weights(rhs), Options::default());
}

#[test]
fn a_stride_of_zero_repeats_a_number() {
    let (x, rhs) = (numbers(129, 1), [1.0, 8.0, 64.0]);
    let rhs = weights(MatRef::row_major(&rhs, 3, 1));
    for m in [1, 2, 129] {
        let mut dst = vec![f32::NAN; m];
        crate::matmul(
            MatMut::row_major(&mut dst, m, 1),
            MatRef::new(&x, m, 3, 1, 0),
            &rhs,
            Options::default(),
        );
        for (y, x) in dst.iter().zip(&x) {
            assert!((f64::from(*y) - 73.0 * rounded(*x)).abs() < 1e-4, "{m} rows: {y} of {x}");
        }
    }
}
