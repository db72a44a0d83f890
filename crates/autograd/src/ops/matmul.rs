//! The matrix product, one or many at a time; [`Var::linear`] is the one with a bias and an activation.

use foretell_gemm::{Accum, BatchMut, BatchRef, Options, Rounding, matmul_batched};
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{MAX_RANK, Shape, Tensor};

use crate::Var;

impl Var {
    /// `self [..., m, k]` times `other [..., k, n]`, whose dimensions before the last two broadcast by NumPy's rule.
    /// Views are read in place, and broadcast operands are not written out.
    ///
    /// With g the gradient of the product: that of `self` is `g otherᵀ`, that of `other` is `selfᵀ g`, each summed
    /// over the broadcast dimensions. All products are rounded where either factor is ([`Var::with_rounding`]).
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn matmul(&self, other: &Self) -> Self {
        let (a, b) = (self.value().clone(), other.value().clone());
        let (batch, [m, k, n]) = sizes(a.shape(), b.shape());
        // One matrix for all rows: one product.
        if b.rank() == 2 && a.rank() > 2 && a.is_contiguous() {
            let rows = batch.iter().product::<usize>() * m;
            return self.reshape([rows, k]).matmul(other).reshape(joined(&batch, m, n));
        }
        let shape = joined(&batch, m, n);
        let rounding = self.rounding().or(other.rounding());
        let value = Tensor::build(shape, |out| {
            let (a, b) = (stretched(&a, &batch), stretched(&b, &batch));
            products(&batch, (out, shape), &a, &b, (Accum::Replace, rounding));
        });
        trace::record(|| Record::new("matmul").input(&a).input(&b).output(&value));
        let (a_edge, b_edge) = (self.edge(), other.edge());
        let (a, b) = (self.save_for_backward(&a, rounding), other.save_for_backward(&b, rounding));
        Self::operation(value, &[self, other], move |grad, gradients| {
            let (a, b) = (a.into_tensor(), b.into_tensor());
            let transposed = |x: &Tensor| x.transpose(x.rank() - 2, x.rank() - 1);
            gradients.write(&a_edge, a.shape(), |da, accum| {
                let b = transposed(&stretched(&b, &batch));
                products(&batch, (da, a.shape()), &grad, &b, (accum, rounding));
            });
            gradients.write(&b_edge, b.shape(), |db, accum| {
                let a = transposed(&stretched(&a, &batch));
                products(&batch, (db, b.shape()), &a, &grad, (accum, rounding));
            });
        })
    }
}

/// The dimensions before the last two, after broadcasting, and m, k, n.
#[track_caller]
fn sizes(a: Shape, b: Shape) -> (Shape, [usize; 3]) {
    if let ([a_batch @ .., m, k], [b_batch @ .., l, n]) = (&*a, &*b)
        && k == l
        && let Some(batch) = Shape::new(a_batch).broadcast(&Shape::new(b_batch))
    {
        return (batch, [*m, *k, *n]);
    }
    panic!("matmul of shapes {a:?} and {b:?}")
}

/// The shape of matrices of a batch.
fn joined(batch: &Shape, rows: usize, cols: usize) -> Shape {
    batch.with(batch.len(), rows).with(batch.len() + 1, cols)
}

/// Matrices broadcast to a batch.
fn stretched(x: &Tensor, batch: &Shape) -> Tensor {
    let [rows, cols] = [x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]];
    x.broadcast_to(joined(batch, rows, cols))
}

/// A dimension of a batch: its size, and the steps along it in dst, lhs and rhs.
#[derive(Clone, Copy, Default)]
struct Dim {
    size: usize,
    steps: [usize; 3],
}

/// `dst = lhs rhs` or `dst += lhs rhs` for all matrices of a batch. The operands are of the batch's shape; `dst` is
/// row-major of a shape that broadcasts to it, and gets the sum over the broadcast dimensions.
fn products(
    batch: &Shape,
    (dst, shape): (&mut [f32], Shape),
    lhs: &Tensor,
    rhs: &Tensor,
    (accum, rounding): (Accum, Rounding),
) {
    let (rows, cols) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    if dst.is_empty() {
        return;
    }
    if batch.contains(&0) {
        if accum == Accum::Replace {
            dst.fill(0.0);
        }
        return;
    }
    // Neighbouring dimensions that all three operands walk with one stride are merged.
    let own = shape.row_major_strides();
    let (mut dims, mut rank) = ([Dim::default(); MAX_RANK], 0);
    for (axis, &size) in batch.iter().enumerate().filter(|(_, size)| **size > 1) {
        let at = (axis + shape.len()).checked_sub(batch.len() + 2).filter(|&at| shape[at] == size);
        let steps = [at.map_or(0, |at| own[at]), lhs.strides()[axis], rhs.strides()[axis]];
        let before = dims[..rank].last_mut();
        match before.filter(|before| (0..3).all(|i| before.steps[i] == steps[i] * size)) {
            Some(before) => *before = Dim { size: before.size * size, steps },
            None => {
                dims[rank] = Dim { size, steps };
                rank += 1;
            }
        }
    }
    // The last dimension is the batch of a batched product, unless the products along it are added up.
    let inner = match dims[..rank].last() {
        Some(dim) if dim.steps[0] > 0 => {
            rank -= 1;
            *dim
        }
        _ => Dim { size: 1, steps: [0; 3] },
    };
    let outer = &dims[..rank];
    let mut index = [0; MAX_RANK];
    loop {
        let at = |i: usize| outer.iter().zip(&index).map(|(dim, index)| dim.steps[i] * index).sum::<usize>();
        let first = outer.iter().zip(&index).all(|(dim, &index)| dim.steps[0] > 0 || index == 0);
        let accum = if first { accum } else { Accum::Add };
        let options = Options::default().accum(accum).rounding(rounding);
        let (lhs, rhs) = (
            matrices(lhs, at(1), inner.size, inner.steps[1]),
            matrices(rhs, at(2), inner.size, inner.steps[2]),
        );
        let dst = BatchMut::new(&mut dst[at(0)..], inner.size, inner.steps[0], (rows, cols), (cols, 1));
        matmul_batched(dst, lhs, rhs, options);
        let Some(axis) = (0..outer.len()).rev().find(|&axis| index[axis] + 1 < outer[axis].size) else {
            return;
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The last two dimensions from element `at` on, `count` times with `step` between them.
fn matrices(x: &Tensor, at: usize, count: usize, step: usize) -> BatchRef<'_> {
    let (shape, strides, rank) = (x.shape(), x.strides(), x.rank());
    // Empty matrices may begin past the end of their storage.
    let values = x.strided_values().get(at..).unwrap_or_default();
    let (size, steps) = ((shape[rank - 2], shape[rank - 1]), (strides[rank - 2], strides[rank - 1]));
    BatchRef::new(values, count, step, size, steps)
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_one_and_of_many_products() {
        gradients(&[random([3, 4], 1), random([4, 5], 2)], |v| v[0].matmul(&v[1]));
        gradients(&[random([2, 3, 4], 1), random([2, 4, 1], 2)], |v| v[0].matmul(&v[1]));
    }

    #[test]
    fn gradients_with_every_kind_of_stretching() {
        for (a, b) in [
            (&[2, 3, 4][..], &[4, 2][..]),
            (&[3, 4], &[2, 4, 2]),
            (&[2, 1, 3, 4], &[3, 4, 2]),
            (&[2, 3, 2, 2], &[1, 3, 2, 2]),
            (&[2, 1, 2, 2], &[1, 3, 2, 2]),
            (&[1, 2, 2], &[2, 1, 2, 2]),
        ] {
            gradients(&[random(a, 1), random(b, 2)], |v| v[0].matmul(&v[1]));
        }
    }

    #[test]
    fn gradients_of_views() {
        gradients(&[random([3, 6], 1), random([2, 6], 2)], |v| {
            v[0].narrow(1, 2, 2).matmul(&v[1].narrow(1, 1, 4))
        });
        gradients(&[random([3, 2, 4], 1), random([2, 5, 3], 2)], |v| {
            v[0].permute(&[1, 0, 2]).permute(&[0, 2, 1]).matmul(&v[1].permute(&[0, 2, 1]))
        });
        // Heads of attention: [batch, time, head, size] read as [batch, head, time, size].
        gradients(&[random([2, 3, 2, 2], 1), random([2, 4, 2, 2], 2)], |v| {
            v[0].permute(&[0, 2, 1, 3]).matmul(&v[1].permute(&[0, 2, 3, 1]))
        });
        gradients(&[random([3, 2, 2], 1), random([2, 2], 2)], |v| v[0].permute(&[1, 0, 2]).matmul(&v[1]));
    }

    #[test]
    fn an_empty_inner_dimension_makes_zeros() {
        let [a, b] = [random([2, 3, 0], 1), random([0, 2], 2)].map(Var::input);
        let y = a.matmul(&b);
        assert_eq!(y.value().to_vec(), [0.0; 12]);
        let [a, b] = [random([0, 3, 2], 1), random([2, 2], 2)].map(Var::input);
        let y = a.permute(&[0, 1, 2]).matmul(&b);
        y.backward_from(y.value().clone(), &mut []);
        assert_eq!(b.grad().unwrap().to_vec(), [0.0; 4]);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("matmul", |x, _| x[0].matmul(&x[1]));
        torch::assert_matches_pytorch("matmul_stretched", |x, _| x[0].matmul(&x[1]));
    }

    #[test]
    #[should_panic(expected = "matmul of shapes [2, 3] and [4, 5]")]
    fn wrong_shapes_panic() {
        Var::constant(random([2, 3], 1)).matmul(&Var::constant(random([4, 5], 2)));
    }

    #[test]
    #[should_panic(expected = "matmul of shapes [2, 2, 3] and [3, 3, 5]")]
    fn batches_that_do_not_stretch_panic() {
        Var::constant(random([2, 2, 3], 1)).matmul(&Var::constant(random([3, 3, 5], 2)));
    }
}
