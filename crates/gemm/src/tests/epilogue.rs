//! Bias and activation: the same bits as applying them afterwards.

use foretell_threads::share;

use super::common::{Layout, Random};
use crate::{Accum, Activation, BatchMut, BatchRef, Bias, Options, matmul, matmul_batched};

fn check((m, k, n): (usize, usize, usize), dst: Layout, activation: Activation, random: &mut Random) {
    let (lhs, rhs) = (Layout::random(m, k, random), Layout::random(k, n, random));
    let (a, b): (Vec<f32>, Vec<f32>) = (random.values(lhs.len()), random.values(rhs.len()));
    let (by_col, by_row): (Vec<f32>, Vec<f32>) = (random.values(n), random.values(m));
    let before: Vec<f32> = random.values(dst.len());
    for bias in [None, Some(Bias::PerColumn(&by_col[..])), Some(Bias::PerRow(&by_row[..]))] {
        let options = Options::default().accum(Accum::Add).bias(bias).activation(activation);
        let mut fused = before.clone();
        share(2, || matmul(dst.view_mut(&mut fused), lhs.view(&a), rhs.view(&b), options));
        let mut apart = before.clone();
        let plain = options.bias(None).activation(Activation::Identity);
        matmul(dst.view_mut(&mut apart), lhs.view(&a), rhs.view(&b), plain);
        for i in 0..m {
            for j in 0..n {
                let place = &mut apart[dst.at(i, j)];
                let offset = match bias {
                    None => None,
                    Some(Bias::PerColumn(values)) => Some(values[j]),
                    Some(Bias::PerRow(values)) => Some(values[i]),
                };
                let mut value = [offset.map_or(*place, |offset| *place + offset)];
                activation.apply(&mut value);
                *place = value[0];
            }
        }
        assert_eq!(fused, apart, "{dst:?}, {activation:?}, {bias:?}");
    }
}

#[test]
fn bias_and_activation_over_any_layout() {
    let random = &mut Random(1);
    for (m, k, n) in [
        (1, 30, 40),
        (40, 30, 1),
        (7, 5, 300),
        (300, 5, 7),
        (33, 16, 17),
        (1, 1, 1),
        (600, 100, 200),
        (40, 4096, 48),
    ] {
        for activation in [Activation::Identity, Activation::Relu, Activation::Tanh, Activation::Gelu] {
            for dst in [Layout::row_major(m, n), Layout::col_major(m, n), Layout::random(m, n, random)] {
                check((m, k, n), dst, activation, random);
            }
            // Neither rows nor columns adjacent.
            let sparse = Layout { rows: m, cols: n, row_stride: 2 * n + 3, col_stride: 2 };
            check((m, k, n), sparse, activation, random);
        }
    }
}

#[test]
fn an_empty_inner_dimension_leaves_the_bias() {
    let mut y = [f32::NAN; 6];
    let bias = [1.0, -2.0, 3.0];
    matmul(
        Layout::row_major(2, 3).view_mut(&mut y),
        Layout::row_major(2, 0).view(&[]),
        Layout::row_major(0, 3).view(&[]),
        Options::default().bias(Bias::PerColumn(&bias)).activation(Activation::Relu),
    );
    assert_eq!(y, [1.0, 0.0, 3.0, 1.0, 0.0, 3.0]);
}

#[test]
fn a_batch_is_its_products_one_by_one() {
    let random = &mut Random(2);
    for (count, m, k, n) in [
        (0, 2, 3, 4),
        (1, 5, 6, 7),
        (5, 1, 40, 30),
        (6, 48, 16, 48),
        (3, 0, 4, 4),
        (3, 4, 0, 4),
        (300, 9, 8, 7),
    ] {
        let a: Vec<f32> = random.values(count * m * k);
        let b: Vec<f32> = random.values(k * n);
        let bias: Vec<f32> = random.values(m);
        let options = Options::default().bias(Bias::PerRow(&bias)).activation(Activation::Silu);
        // Matrices side by side: the batch is the middle one of three dimensions [m, count, n].
        let mut result = vec![f32::NAN; count * m * n];
        let dst = BatchMut::new(&mut result, count, n, (m, n), (count * n, 1));
        let (lhs, rhs) =
            (BatchRef::row_major(&a, count, m, k), BatchRef::new(&b, count, 0, (n, k), (1, n)).t());
        share(3, || matmul_batched(dst, lhs, rhs, options));
        for index in 0..count {
            let mut one = vec![f32::NAN; m * n];
            matmul(
                Layout::row_major(m, n).view_mut(&mut one),
                Layout::row_major(m, k).view(&a[index * m * k..][..m * k]),
                Layout::row_major(k, n).view(&b),
                options,
            );
            for i in 0..m {
                let row = (i * count + index) * n;
                assert_eq!(result[row..row + n], one[i * n..][..n], "matrix {index}, row {i}");
            }
        }
    }
}
