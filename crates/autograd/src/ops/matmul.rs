//! The matrix product, one or many at a time; [`Var::linear`] is the one with a bias and an activation.

use foretell_gemm::{BatchMut, BatchRef, Options, matmul_batched};
use foretell_tensor::Tensor;

use crate::Var;

impl Var {
    /// `self [m, k]` times `other [k, n]`, or `[b, m, k]` times `[b, k, n]`. Views are read where they lie.
    ///
    /// With g the gradient of the product: that of `self` is `g otherᵀ`, that of `other` is `selfᵀ g`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn matmul(&self, other: &Self) -> Self {
        let (a, b) = (self.value().clone(), other.value().clone());
        let shape = match (&*a.shape(), &*b.shape()) {
            (&[m, k], &[l, n]) if k == l => [1, m, n],
            (&[count, m, k], &[other, l, n]) if k == l && count == other => [count, m, n],
            (a, b) => panic!("matmul of shapes {a:?} and {b:?}"),
        };
        let value = Tensor::build(&shape[3 - a.rank()..], |out| {
            matmul_batched(
                BatchMut::row_major(out, shape[0], shape[1], shape[2]),
                batch(&a),
                batch(&b),
                Options::default(),
            );
        });
        let (a_edge, b_edge) = (self.edge(), other.edge());
        Self::operation(value, &[self, other], move |grad, gradients| {
            let write = |out: &mut [f32], like: &Tensor, lhs, rhs, accum| {
                let [count, rows, cols] = sizes(like);
                let options = Options { accum, ..Options::default() };
                matmul_batched(BatchMut::row_major(out, count, rows, cols), lhs, rhs, options);
            };
            gradients
                .write(&a_edge, a.shape(), |da, accum| write(da, &a, batch(&grad), batch(&b).t(), accum));
            gradients
                .write(&b_edge, b.shape(), |db, accum| write(db, &b, batch(&a).t(), batch(&grad), accum));
        })
    }
}

/// `[count, rows, cols]`; one matrix is a batch of one.
fn sizes(x: &Tensor) -> [usize; 3] {
    match *x.shape() {
        [rows, cols] => [1, rows, cols],
        [count, rows, cols] => [count, rows, cols],
        ref other => unreachable!("matrices, not {other:?}"),
    }
}

fn batch(x: &Tensor) -> BatchRef<'_, f32> {
    let ([count, rows, cols], strides, rank) = (sizes(x), x.strides(), x.rank());
    let step = if rank == 3 { strides[0] } else { 0 };
    BatchRef::new(x.strided_values(), count, step, (rows, cols), (strides[rank - 2], strides[rank - 1]))
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
    fn gradients_of_views() {
        gradients(&[random([3, 6], 1), random([2, 6], 2)], |v| {
            v[0].narrow(1, 2, 2).matmul(&v[1].narrow(1, 1, 4))
        });
        gradients(&[random([3, 2, 4], 1), random([2, 5, 3], 2)], |v| {
            v[0].permute(&[1, 0, 2]).permute(&[0, 2, 1]).matmul(&v[1].permute(&[0, 2, 1]))
        });
    }

    #[test]
    #[should_panic(expected = "matmul of shapes [2, 3] and [4, 5]")]
    fn wrong_shapes_panic() {
        Var::constant(random([2, 3], 1)).matmul(&Var::constant(random([4, 5], 2)));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::agrees("matmul", |x, _| x[0].matmul(&x[1]));
    }
}
