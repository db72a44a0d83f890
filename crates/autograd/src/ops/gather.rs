//! Values gathered along a dimension by their places, and values scattered to places, or added there.

use foretell_gemm::Accum;
use foretell_kernels::gather;
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Indices, Shape, Tensor};

use crate::{Axis, Var};

impl Var {
    /// The values at `places` along `axis`: `out[.., i, ..] = self[.., places[.., i, ..], ..]`. The places have the
    /// shape of the result, which is this one's but for `axis`. The gradient is added to where each value came from.
    ///
    /// # Panics
    /// If the shapes do not fit, or a place is outside of the axis.
    #[track_caller]
    pub fn gather(&self, axis: usize, places: &Indices) -> Self {
        let x = self.value().contiguous();
        assert_fits("gather", x.shape(), axis, places);
        let value = values_at(&x, Axis::of(&x.shape(), axis), places);
        trace::record(|| Record::new("gather").input(&x).input(places).output(&value).size("axis", axis));
        self.gathered_result(value, places.clone(), axis)
    }

    /// `self` with `values` added at `places` along `axis`: the transpose of [`Var::gather`]. `values` has the shape
    /// of the places and gets the gradient at them.
    ///
    /// # Panics
    /// If the shapes do not fit, or a place is outside of the axis.
    #[track_caller]
    pub fn scatter_add(&self, axis: usize, places: &Indices, values: &Self) -> Self {
        self.with_values("scatter_add", axis, places, values, Accum::Add)
    }

    /// `self` with `values` put at `places` along `axis`, no place being named twice. `values` has the shape of the places
    /// and gets the gradient at them; `self` gets the rest of it.
    ///
    /// # Panics
    /// If the shapes do not fit, or a place is outside of the axis.
    #[track_caller]
    pub fn scatter(&self, axis: usize, places: &Indices, values: &Self) -> Self {
        self.with_values("scatter", axis, places, values, Accum::Replace)
    }

    #[track_caller]
    fn with_values(
        &self,
        operation: &'static str,
        axis: usize,
        places: &Indices,
        values: &Self,
        accum: Accum,
    ) -> Self {
        assert_fits(operation, self.shape(), axis, places);
        assert_eq!(places.shape(), values.shape(), "shapes of places and values of {operation}");
        let along = Axis::of(&self.shape(), axis);
        let mut value = self.value().clone();
        let written = values.value().contiguous();
        let write = match accum {
            Accum::Add => gather::scatter_add,
            Accum::Replace => gather::scatter,
        };
        write(written.values(), along, places.values(), value.values_mut());
        trace::record(|| {
            let record = Record::new(operation).input(self.value()).input(places).input(&written);
            record.output(&value).size("axis", axis)
        });
        let (edge, values_edge, places) = (self.edge(), values.edge(), places.clone());
        Self::operation(value, &[self, values], move |mut grad, gradients| {
            if values_edge.is_wanted() {
                gradients.add_gradient(&values_edge, values_at(&grad, along, &places));
            }
            if accum == Accum::Replace && edge.is_wanted() {
                gather::scatter_value(0.0, along, places.values(), grad.values_mut());
            }
            gradients.add_gradient(&edge, grad);
        })
    }
}

/// The values at `places` along an axis of a contiguous tensor.
fn values_at(x: &Tensor, along: Axis, places: &Indices) -> Tensor {
    Tensor::build(places.shape(), |out| gather::gather(x.values(), along, places.values(), out))
}

#[track_caller]
fn assert_fits(operation: &str, shape: Shape, axis: usize, places: &Indices) {
    let places_shape = places.shape();
    let fits = axis < shape.len() && places_shape.len() == shape.len() && {
        let mut expected = shape;
        expected[axis] = places_shape[axis];
        expected == places_shape
    };
    assert!(fits, "{operation} along axis {axis} of shape {shape:?} with places of shape {places_shape:?}");
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Indices;

    #[test]
    fn gradients_of_places_named_twice() {
        let places = Indices::from_slice(&[2, 0, 2, 1, 1, 1, 0, 2], [2, 4]);
        gradients(&[random([2, 3], 1)], |v| v[0].gather(1, &places));
        gradients(&[random([2, 3], 1), random([2, 4], 2)], |v| v[0].scatter_add(1, &places, &v[1]));
        let rows = Indices::from_slice(&[1, 0, 1], [1, 3]);
        gradients(&[random([2, 3], 1)], |v| v[0].gather(0, &rows));
        gradients(&[random([2, 3], 1), random([1, 3], 2)], |v| v[0].scatter_add(0, &rows, &v[1]));
        gradients(&[random([2, 3], 1), random([1, 3], 2)], |v| v[0].scatter(0, &rows, &v[1]));
    }

    #[test]
    fn gradients_of_values_put_into_what_was_stretched() {
        let places = Indices::from_slice(&[2, 0, 1, 1, 3, 2], [2, 3, 1]);
        gradients(&[random([2, 1, 1], 1), random([2, 3, 1], 2)], |v| {
            v[0].expand([2, 4, 1]).scatter(1, &places, &v[1]).square()
        });
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("gather", |x, a| x[0].gather(a.axis(&x[0]), &a.indices("places")));
        torch::assert_matches_pytorch("scatter_add", |x, a| {
            x[0].scatter_add(a.axis(&x[0]), &a.indices("places"), &x[1])
        });
        torch::assert_matches_pytorch("scatter", |x, a| {
            x[0].scatter(a.axis(&x[0]), &a.indices("places"), &x[1])
        });
    }

    #[test]
    #[should_panic(expected = "gather along axis 1 of shape [2, 3] with places of shape [1, 3]")]
    fn wrong_shapes_panic() {
        Var::constant(random([2, 3], 1)).gather(1, &Indices::from_slice(&[0; 3], [1, 3]));
    }
}
