//! Stochastic pooling (Zeiler and Fergus 2013): of each column of a matrix one value is drawn, a large one more likely
//! than a small one.

use foretell_kernels::stochastic_pool;
use foretell_simd::uniform_fill;
use foretell_tensor::trace;
use foretell_tensor::{Indices, Tensor};

use crate::{Key, Var};

impl Var {
    /// Of each column of the matrices `[batch, rows, width]` one value, drawn with the softmax of the column as its
    /// probabilities: `[batch, 1, width]`. The gradient goes to the values that were drawn, and ignores that the
    /// probabilities depend on the values. The same key and shape draw by the same random numbers.
    ///
    /// # Panics
    /// If the shape is another, or there are no rows.
    #[track_caller]
    pub fn stochastic_pool(&self, key: Key) -> Self {
        let &[batch, rows, width] = &*self.shape() else { panic!("stochastic_pool of {:?}", self.shape()) };
        trace::choose("values that are drawn at random");
        let odds = Self::constant(self.value().clone()).softmax(1).value().contiguous();
        let uniforms = Tensor::build([batch, width], |out| uniform_fill(key, 0, out));
        let places = Indices::build([batch, 1, width], |places| {
            stochastic_pool::draw(odds.values(), rows, width, uniforms.values(), places);
        });
        self.gather(1, &places)
    }

    /// The mean of each column of the matrices `[batch, rows, width]`, weighted by the column's softmax: what
    /// [`Var::stochastic_pool`] draws in the mean. `[batch, 1, width]`.
    ///
    /// # Panics
    /// If the shape is another.
    #[track_caller]
    pub fn softmax_pool(&self) -> Self {
        let &[batch, _, width] = &*self.shape() else { panic!("softmax_pool of {:?}", self.shape()) };
        self.softmax(1).mul(self).sum(1).reshape([batch, 1, width])
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::ops::check::{gradients, random};
    use crate::{Key, Var};

    #[test]
    fn gradients_of_what_was_drawn_and_of_the_mean() {
        gradients(&[random([2, 4, 3], 1)], |v| v[0].stochastic_pool(Key::new(3)));
        gradients(&[random([2, 4, 3], 1)], |v| v[0].softmax_pool());
    }

    #[test]
    fn values_are_drawn_as_often_as_their_softmax_says() {
        let column = [0.0, 1.0, 2.0];
        let x = Var::constant(Tensor::from_slice(&column, [1, 3, 1]).broadcast_to([1, 3, 20_000]));
        let drawn = x.stochastic_pool(Key::new(1));
        assert_eq!(&*drawn.shape(), [1, 1, 20_000]);
        let mean = drawn.value().to_vec().iter().sum::<f32>() / 20_000.0;
        let expected = x.softmax_pool().value().to_vec()[0];
        assert!((mean - expected).abs() < 0.02, "{mean}, {expected}");
        let ones = drawn.value().to_vec().iter().filter(|&&x| x == 1.0).count() as f32 / 20_000.0;
        assert!((ones - 0.2447).abs() < 0.015, "{ones} of the values are the second");
        let again = x.stochastic_pool(Key::new(1));
        assert_eq!(drawn.value(), again.value());
        assert_ne!(drawn.value(), x.stochastic_pool(Key::new(2)).value());
    }

    #[test]
    #[should_panic(expected = "stochastic_pool of [2, 3]")]
    fn other_shapes_panic() {
        Var::constant(random([2, 3], 1)).stochastic_pool(Key::new(1));
    }
}
