//! The bits of a product do not depend on the number of threads.

use foretell_threads::{Workers, share};

use super::common::{Layout, Random};
use crate::{
    Activation, BatchMut, BatchRef, Bias, Options, WeightFormat, WeightMatrix, matmul, matmul_batched,
};

fn pools() -> [Workers; 3] {
    [1, 2, 3].map(|threads| Workers::new(threads).unwrap())
}

fn check(pools: &[Workers], m: usize, k: usize, n: usize, random: &mut Random) {
    let (row, col) = (Layout::row_major, Layout::col_major);
    for (dst, lhs, rhs) in [
        (row(m, n), row(m, k), row(k, n)),
        (row(m, n), row(m, k), col(k, n)),
        (col(m, n), col(m, k), row(k, n)),
    ] {
        let (a, b): (Vec<f32>, Vec<f32>) = (random.values(lhs.len()), random.values(rhs.len()));
        let bias: Vec<f32> = random.values(n);
        let product = |threads| {
            let mut y = vec![f32::NAN; dst.len()];
            let bias = Some(Bias::PerColumn(&bias[..]));
            let options = Options::default().bias(bias).activation(Activation::Relu);
            share(threads, || matmul(dst.view_mut(&mut y), lhs.view(&a), rhs.view(&b), options));
            y.into_iter().map(|y| y.to_bits()).collect::<Vec<_>>()
        };
        let alone = product(1);
        assert_eq!(product(8), alone, "{m}x{k}x{n} from outside of a pool");
        for pool in pools {
            for threads in [2, 3] {
                let bits = pool.enter(|| product(threads));
                assert_eq!(bits, alone, "{m}x{k}x{n}, {threads} of {} threads", pool.threads());
            }
        }
    }
}

#[test]
fn one_two_and_more_threads_give_the_same_bits() {
    let pools = pools();
    let random = &mut Random(1);
    for (m, k, n) in [
        (256, 96, 512),
        (1030, 128, 131),
        (900, 1500, 9),
        (5, 1200, 2000),
        (1, 3000, 4000),
        (300, 200, 300),
        // In parts of the inner dimension.
        (61, 1537, 70),
        (9, 50_000, 33),
    ] {
        check(&pools, m, k, n, random);
    }
}

#[test]
fn packed_operands_too() {
    let random = &mut Random(4);
    for (m, k, n) in [(256, 128, 512), (70, 500, 300), (1030, 130, 131), (140, 200, 1100)] {
        let (a, b): (Vec<f32>, Vec<f32>) = (random.values(m * k), random.values(k * n));
        let (lhs, rhs) = (Layout::row_major(m, k), Layout::row_major(k, n));
        let packed = WeightMatrix::new(rhs.view(&b), WeightFormat::F32);
        let bias: Vec<f32> = random.values(n);
        let product = |threads, rows: usize| {
            let mut y = vec![f32::NAN; rows * n];
            let bias = Some(Bias::PerColumn(&bias[..]));
            let options = Options::default().bias(bias).activation(Activation::Relu);
            let dst = Layout::row_major(rows, n);
            share(threads, || matmul(dst.view_mut(&mut y), lhs.view(&a).rows(0..rows), &packed, options));
            y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let alone = product(1, m);
        for pool in pools() {
            assert_eq!(pool.enter(|| product(3, m)), alone, "{m}x{k}x{n}, {} threads", pool.threads());
        }
    }
}

#[test]
fn batches_too() {
    let random = &mut Random(2);
    for (count, m, k, n) in [(300, 48, 32, 48), (2, 200, 200, 200), (9000, 12, 10, 12)] {
        let (a, b): (Vec<f32>, Vec<f32>) = (random.values(count * m * k), random.values(count * k * n));
        let product = |threads| {
            let mut y = vec![f32::NAN; count * m * n];
            let dst = BatchMut::row_major(&mut y, count, m, n);
            let (a, b) = (BatchRef::row_major(&a, count, m, k), BatchRef::row_major(&b, count, n, k).t());
            share(threads, || matmul_batched(dst, a, b, Options::default()));
            y
        };
        let alone = product(1);
        for pool in pools() {
            for threads in [2, 3, 8] {
                assert_eq!(pool.enter(|| product(threads)), alone);
            }
        }
    }
}
