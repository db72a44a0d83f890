//! The product of two matrices.

use foretell_gemm::{MatMut, MatRef, Options, matmul};
use foretell_tensor::Tensor;

use crate::Var;

impl Var {
    /// `self [m, k]` times `other [k, n]`.
    ///
    /// With g the gradient of the product: da = g bᵀ, db = aᵀ g.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn matmul(&self, other: &Self) -> Self {
        let (&[m, k], &[inner, n]) = (&*self.shape(), &*other.shape()) else {
            panic!("product of shapes {:?} and {:?}", self.shape(), other.shape());
        };
        assert_eq!(k, inner, "product of shapes {:?} and {:?}", self.shape(), other.shape());
        let (a, b) = (self.value().contiguous(), other.value().contiguous());
        let value = Tensor::build([m, n], |out| {
            let (a, b) = (MatRef::row_major(a.values(), m, k), MatRef::row_major(b.values(), k, n));
            matmul(MatMut::row_major(out, m, n), a, b, Options::default());
        });
        let (a_edge, b_edge) = (self.edge(), other.edge());
        Self::operation(value, &[self, other], move |grad, gradients| {
            let g = MatRef::row_major(grad.values(), m, n);
            gradients.write(&a_edge, [m, k], |da, accum| {
                let b = MatRef::row_major(b.values(), k, n);
                matmul(MatMut::row_major(da, m, k), g, b.t(), Options { accum, ..Options::default() });
            });
            gradients.write(&b_edge, [k, n], |db, accum| {
                let a = MatRef::row_major(a.values(), m, k);
                matmul(MatMut::row_major(db, k, n), a.t(), g, Options { accum, ..Options::default() });
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};

    #[test]
    fn gradients_of_both_factors() {
        gradients(&[random([3, 4], 1), random([4, 5], 2)], |v| v[0].matmul(&v[1]));
        gradients(&[random([4, 4], 1)], |v| v[0].matmul(&v[0]));
    }

    #[test]
    #[should_panic(expected = "product of shapes [2, 3] and [4, 5]")]
    fn wrong_shapes_panic() {
        let (a, b) = (random([2, 3], 1), random([4, 5], 2));
        crate::Var::constant(a).matmul(&crate::Var::constant(b));
    }
}
