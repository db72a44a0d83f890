//! The basis functions of splines at the elements of a tensor; [`foretell_kernels::splines`] has the recursion and its derivative.

use foretell_kernels::splines::SplineBasis;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The values of all functions of a spline basis of this order: `self [rows, features]` to `[rows, features * functions]`,
    /// the functions of a feature side by side. `grid [features, functions + order + 1]` are the knots of each feature, ascending;
    /// beyond them all functions are 0.
    ///
    /// # Panics
    /// If the shapes do not fit, or the order is above [`MAX_ORDER`](foretell_kernels::splines::MAX_ORDER).
    #[track_caller]
    pub fn spline_basis(&self, grid: &Tensor, order: usize) -> Self {
        let (x, grid) = (self.value().contiguous(), grid.contiguous());
        let (shape, knots) = (x.shape(), grid.shape());
        let (&[rows, features], &[grids, knots]) = (&*shape, &*knots) else {
            panic!("splines of shape {shape:?} on a grid of shape {knots:?}");
        };
        assert_eq!(features, grids, "features of splines of shape {shape:?}, and grids of knots");
        let functions = SplineBasis::new(grid.values(), knots, order).functions();
        let value = Tensor::build([rows, features * functions], |out| {
            SplineBasis::new(grid.values(), knots, order).forward(x.values(), out);
        });
        trace::record(|| {
            Record::new("spline_basis").input(&x).input(&grid).output(&value).size("order", order)
        });
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            let basis = SplineBasis::new(grid.values(), knots, order);
            let dx = Tensor::build(shape, |dx| basis.backward(x.values(), grad.values(), dx));
            gradients.add_gradient(&edge, dx);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_within_and_beyond_the_grid() {
        let knots = [-2.23, -1.61, -0.97, -0.43, 0.21, 0.83, 1.37, 2.11];
        let grid = Tensor::from_slice(&[knots, knots.map(|knot| knot * 0.5 + 0.01)].concat(), [2, 8]);
        for order in 2..=3 {
            gradients(&[random([5, 2], 1)], |v| v[0].spline_basis(&grid, order));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("spline_basis", |x, a| {
            x[0].spline_basis(&a.tensor("grid"), a.number("order"))
        });
    }
}
