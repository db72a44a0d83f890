//! The largest values along a dimension, and where they are.

use foretell_kernels::{gather, select};
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Indices, Tensor};

use crate::{Axis, Var};

impl Var {
    /// The largest value along `axis`, which disappears from the shape, and its place; the first of equals, and NaN
    /// before all. The gradient goes to that place.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    #[track_caller]
    pub fn max(&self, axis: usize) -> (Self, Indices) {
        let x = self.value().contiguous();
        let along = Axis::of(&x.shape(), axis);
        let shape = x.shape().without(axis);
        let mut value = Tensor::zeros([0]);
        let places = Indices::build(shape, |places| {
            value = Tensor::build(shape, |out| select::max(x.values(), along, out, places));
        });
        trace::record(|| Record::new("max").input(&x).output(&value).output(&places).size("axis", axis));
        (self.gathered_result(value, places.clone(), axis), places)
    }

    /// The `k` largest values along `axis`, largest first, and their places; of equals the first, and NaN before all.
    /// The gradient goes to those places.
    ///
    /// # Panics
    /// If there are fewer than `k`.
    #[track_caller]
    pub fn top_k(&self, axis: usize, k: usize) -> (Self, Indices) {
        let x = self.value().contiguous();
        let along = Axis::of(&x.shape(), axis);
        let mut shape = x.shape();
        shape[axis] = k;
        let mut value = Tensor::zeros([0]);
        let places = Indices::build(shape, |places| {
            value = Tensor::build(shape, |out| select::top_k(x.values(), along, k, out, places));
        });
        trace::record(|| {
            Record::new("top_k").input(&x).output(&value).output(&places).size("axis", axis).size("k", k)
        });
        (self.gathered_result(value, places.clone(), axis), places)
    }

    /// The result of taking `value` from `places` along `axis` of this variable.
    pub(super) fn gathered_result(&self, value: Tensor, places: Indices, axis: usize) -> Self {
        let (edge, shape) = (self.edge(), self.shape());
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, shape, |sum| {
                gather::scatter_add(grad.values(), Axis::of(&shape, axis), places.values(), sum);
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::{Indices, Tensor};

    #[test]
    fn gradients_along_each_axis() {
        for axis in 0..3 {
            gradients(&[random([2, 3, 4], 1)], |v| v[0].max(axis).0);
            for k in 0..3 {
                gradients(&[random([2, 3, 4], 1)], |v| v[0].top_k(axis, k).0);
            }
        }
        gradients(&[random([4, 3], 1)], |v| v[0].permute(&[1, 0]).max(1).0);
    }

    #[test]
    fn agrees_with_pytorch() {
        let numbers = |places: Indices| {
            let numbers: Vec<f32> = places.values().iter().map(|&place| place as f32).collect();
            [Tensor::from_slice(&numbers, places.shape())]
        };
        torch::assert_matches_pytorch("max", |x, a| {
            let (y, places) = x[0].max(a.axis(&x[0]));
            (y, numbers(places))
        });
        torch::assert_matches_pytorch("top_k", |x, a| {
            let (y, places) = x[0].top_k(a.axis(&x[0]), a.number("k"));
            (y, numbers(places))
        });
    }

    #[test]
    #[should_panic(expected = "axis 2 of shape [2, 3]")]
    fn the_axis_must_be_there() {
        Var::constant(Tensor::zeros([2, 3])).max(2);
    }
}
