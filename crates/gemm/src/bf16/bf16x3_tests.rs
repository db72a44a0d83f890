use foretell_simd::{at_this_level, with_level};

use super::*;
use crate::bf16::layout::DEPTH;
use crate::bf16::split_operands::add_up;
use crate::packed::{Form, PackedF32};
use crate::weights::Packed;
use crate::{WeightFormat, WeightMatrix, matmul};

/// Runs a test with tiles, where the machine has them.
fn with_tiles(test: impl FnOnce()) {
    match Level::available().contains(&Level::Amx) {
        true => with_level(Level::Amx, test),
        false => eprintln!("skipped: this machine has no tiles of AMX"),
    }
}

fn in_pieces(weights: &WeightMatrix) -> bool {
    matches!(weights.0, Packed::F32(PackedF32 { form: Form::Bf16x3, .. }))
}

/// Numbers of either sign between `2^-6` and 4, of 24 bits.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let key = foretell_simd::Key::new(seed);
    let mut uniform = vec![0.0; count];
    foretell_simd::uniform_fill(key, 0, &mut uniform);
    uniform
        .into_iter()
        .map(|x: f32| (16.0 * x - 8.0).exp2().min(4.0) * if x > 0.4 { -1.0 } else { 1.0 })
        .collect()
}

/// Asserts that a product is the definition's, within six roundings to `f32` for each 32 of the inner dimension, and a little for
/// the pieces that are left out.
fn assert_product(
    (m, k, n): (usize, usize, usize),
    (a, b): (MatRef<'_, f32>, MatRef<'_, f32>),
    (before, found): (&[f32], &[f32]),
    options: Options<'_>,
) {
    let at =
        |x: MatRef<'_, f32>, i: usize, j: usize| f64::from(x.data()[i * x.row_stride() + j * x.col_stride()]);
    for i in 0..m {
        for j in 0..n {
            let (sum, size) = (0..k)
                .map(|p| at(a, i, p) * at(b, p, j))
                .fold((0.0, 0.0), |(sum, size), x: f64| (sum + x, size + x.abs()));
            let bias = match options.bias {
                Some(Bias::PerColumn(values)) => f64::from(values[j]),
                Some(Bias::PerRow(values)) => f64::from(values[i]),
                None => 0.0,
            };
            let old = if options.accum == Accum::Add { f64::from(before[i * n + j]) } else { 0.0 };
            let alpha = f64::from(options.alpha);
            let (expected, found) = (old + alpha * sum + bias, f64::from(found[i * n + j]));
            let roundings = 6.0 * k.div_ceil(DEPTH) as f64 + 2.0;
            let bound = (alpha.abs() * size + old.abs() + bias.abs()) * roundings * 2.0_f64.powi(-24);
            assert!((found - expected).abs() <= bound, "{m}x{k}x{n} ({i}, {j}): {found}, not {expected}");
        }
    }
}

#[test]
fn products_are_as_near_as_in_f32() {
    with_tiles(|| {
        let sizes = [
            (16, 32, 16),
            (17, 33, 47),
            (48, 31, 65),
            (1, 40, 40),
            (100, 600, 90),
            (300, 100, 40),
            (40, 100, 700),
            (129, 1100, 129),
            (70, 4000, 60),
        ];
        for (seed, (m, k, n)) in (1..).zip(sizes) {
            let (a, b, before) =
                (numbers(m * k, seed), numbers(k * n, seed + 100), numbers(m * n, seed + 200));
            let (per_row, per_column) = (numbers(m, 300), numbers(n, 301));
            for turned in 0..4 {
                let lhs = if turned & 1 == 0 {
                    MatRef::row_major(&a, m, k)
                } else {
                    MatRef::row_major(&a, k, m).t()
                };
                let rhs = if turned & 2 == 0 {
                    MatRef::row_major(&b, k, n)
                } else {
                    MatRef::row_major(&b, n, k).t()
                };
                let bias =
                    [None, Some(Bias::PerRow(&per_row[..])), Some(Bias::PerColumn(&per_column[..])), None];
                let accum = [Accum::Replace, Accum::Add][turned % 2];
                let alpha = if turned < 2 { 1.0 } else { -0.5 };
                let options = Options { accum, alpha, bias: bias[turned], ..Options::default() };
                let mut dst = if accum == Accum::Add { before.clone() } else { vec![f32::NAN; m * n] };
                product(MatMut::row_major(&mut dst, m, n), lhs, rhs, options);
                assert_product((m, k, n), (lhs, rhs), (&before, &dst), options);
            }
        }
    });
}

#[test]
fn a_packed_operand_serves_any_number_of_rows() {
    with_tiles(|| {
        for (k, n) in [(32, 64), (70, 100), (1100, 80)] {
            let b = numbers(k * n, 1);
            let rhs = MatRef::row_major(&b, n, k).t();
            let packed = WeightMatrix::new(rhs, WeightFormat::F32);
            assert!(in_pieces(&packed));
            for m in [0, 1, 15, 16, 17, 257, 300] {
                let a = numbers(m * k, 2);
                let lhs = MatRef::row_major(&a, m, k);
                let mut dst = vec![f32::NAN; m * n];
                matmul(MatMut::row_major(&mut dst, m, n), lhs, &packed, Options::default());
                assert_product((m, k, n), (lhs, rhs), (&[], &dst), Options::default());
            }
        }
    });
}

#[test]
fn what_is_not_finite_reaches_its_row_and_column_alone() {
    with_tiles(|| {
        // Of which the right operand is packed first, of which the left one is; and several blocks of either.
        for (m, k, n) in [(90, 300, 70), (70, 300, 90), (600, 300, 70), (70, 1100, 600)] {
            for turned in [false, true] {
                let (mut a, mut b) = (numbers(m * k, 1), numbers(k * n, 2));
                let (row, other, col, p) = (m - 3, m / 2, n - 2, k - 1);
                a[row * k + p] = f32::NAN;
                a[other * k] = f32::MAX;
                let b_at = |p: usize, j: usize| if turned { j * k + p } else { p * n + j };
                b[b_at(0, col)] = f32::INFINITY;
                let lhs = MatRef::row_major(&a, m, k);
                let rhs = if turned { MatRef::row_major(&b, n, k).t() } else { MatRef::row_major(&b, k, n) };
                let packed = WeightMatrix::new(rhs, WeightFormat::F32);
                assert!(!in_pieces(&packed), "an infinite number has no pieces");
                let [mut plain, mut by_packed] = [(); 2].map(|()| vec![0.0; m * n]);
                product(MatMut::row_major(&mut plain, m, n), lhs, rhs, Options::default());
                matmul(MatMut::row_major(&mut by_packed, m, n), lhs, &packed, Options::default());
                for (at, (x, y)) in plain.iter().zip(&by_packed).enumerate() {
                    let (i, j) = (at / n, at % n);
                    for x in [x, y] {
                        assert_eq!(x.is_nan(), i == row, "{m}x{k}x{n} ({i}, {j}): {x}");
                        let infinite = i != row && j == col;
                        // The largest number times one above 1 may be infinite too.
                        assert!(x.is_infinite() == infinite || i == other, "{m}x{k}x{n} ({i}, {j}): {x}");
                    }
                }
            }
        }
    });
}

#[test]
fn rows_without_pieces_meet_what_was_packed() {
    with_tiles(|| {
        let (m, k, n) = (300, 70, 100);
        let (mut a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        a[7 * k + 3] = f32::INFINITY;
        let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
        let packed = WeightMatrix::new(rhs, WeightFormat::F32);
        assert!(in_pieces(&packed));
        let [mut found, mut expected] = [(); 2].map(|()| vec![0.0; m * n]);
        matmul(MatMut::row_major(&mut found, m, n), lhs, &packed, Options::default());
        tasks::one(MatMut::row_major(&mut expected, m, n), lhs, rhs, Options::default());
        for (at, (x, y)) in found.iter().zip(&expected).enumerate() {
            match at / n {
                7 => assert_eq!(x, y, "{at}"),
                _ => assert!((x - y).abs() < 1e-3, "{at}: {x}, not {y}"),
            }
        }
    });
}

#[test]
fn rows_that_lie_anywhere_are_packed_alike() {
    with_tiles(|| {
        for (outer, k) in [(1, 1), (16, 32), (21, 45), (40, 100), (150, 70)] {
            let values = numbers(4 * outer * k, 3);
            let spread = MatRef::new(&values, outer, k, 2 * k, 2);
            let dense: Vec<f32> = (0..outer * k).map(|i| values[i / k * 2 * k + i % k * 2]).collect();
            let turned: Vec<f32> = (0..outer * k).map(|i| dense[i % outer * k + i / outer]).collect();
            for form in [BlockLayout::Rows, BlockLayout::Pairs] {
                let len = len_of(k, outer);
                let [mut one, mut other, mut third] = [(); 3].map(|()| vec![bf16::NAN; len]);
                assert!(pack::split_strips(spread, form, &mut one));
                assert!(pack::split_strips(MatRef::row_major(&dense, outer, k), form, &mut other));
                assert!(pack::split_strips(MatRef::row_major(&turned, k, outer).t(), form, &mut third));
                assert!(one == other && one == third, "{outer}x{k} {form:?}");
            }
        }
    });
}

#[test]
fn pieces_add_up_to_the_number() {
    with_tiles(|| {
        let mut values = numbers(32 * 16, 4);
        values[0] = 3.38e38;
        values[1] = -1e-30;
        values[2] = 0.0;
        let mut place = vec![bf16::NAN; len_of(32, 16)];
        assert!(pack::split_strips(MatRef::row_major(&values, 16, 32), BlockLayout::Pairs, &mut place));
        let strips =
            RightOperand { values: Some(&place), rows: 32, cols: 16, terms: Terms::Three, source: None };
        let mut sums = vec![f32::NAN; 32 * 16];
        add_up(strips, &mut sums);
        for p in 0..32 {
            for j in 0..16 {
                assert_eq!(sums[p * 16 + j], values[j * 32 + p]);
            }
        }
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::from_bits(0x7fff_ffff)] {
            values[70] = odd;
            assert!(
                !pack::split_strips(MatRef::row_major(&values, 16, 32), BlockLayout::Rows, &mut place),
                "{odd}"
            );
        }
    });
}

#[test]
fn errors_are_smaller_than_those_of_a_chain_of_fused_multiply_adds() {
    with_tiles(|| {
        let (m, n) = (64, 64);
        for k in [64, 512, 2000] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
            let [mut pieces, mut chain] = [(); 2].map(|()| vec![0.0_f32; m * n]);
            product(MatMut::row_major(&mut pieces, m, n), lhs, rhs, Options::default());
            for (at, sum) in chain.iter_mut().enumerate() {
                let (i, j) = (at / n, at % n);
                *sum = (0..k).fold(0.0, |sum, p| a[i * k + p].mul_add(b[p * n + j], sum));
            }
            let error = |found: &[f32]| {
                let squares = found.iter().enumerate().map(|(at, &found)| {
                    let (i, j) = (at / n, at % n);
                    let exact: f64 = (0..k).map(|p| f64::from(a[i * k + p]) * f64::from(b[p * n + j])).sum();
                    (f64::from(found) - exact).powi(2)
                });
                squares.sum::<f64>().sqrt()
            };
            let (pieces, chain) = (error(&pieces), error(&chain));
            assert!(pieces < chain, "inner dimension {k}: {pieces} beside {chain}");
        }
    });
}

#[test]
fn threads_change_no_bit_of_rows_beside_one_without_pieces() {
    with_tiles(|| {
        let (m, k, n) = (490, 300, 400);
        let (mut a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        for row in [7, 470] {
            a[row * k + 3] = f32::INFINITY;
        }
        let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
        let packed = WeightMatrix::new(rhs, WeightFormat::F32);
        assert!(in_pieces(&packed));
        let run = |threads| {
            // A worker is at the level of the process.
            let products = at_this_level(|()| {
                let [mut plain, mut by_packed] = [(); 2].map(|()| vec![0.0; m * n]);
                foretell_threads::share(threads, || {
                    product(MatMut::row_major(&mut plain, m, n), lhs, rhs, Options::default());
                    matmul(MatMut::row_major(&mut by_packed, m, n), lhs, &packed, Options::default());
                });
                [plain, by_packed]
            });
            foretell_threads::Workers::new(threads).unwrap().enter(|| products(()))
        };
        for (one, two) in run(1).iter().zip(&run(2)) {
            let differ = one.iter().zip(two).position(|(x, y)| x.to_bits() != y.to_bits());
            assert_eq!(differ.map(|at| [at / n, at % n]), None, "the first place that differs");
        }
    });
}
