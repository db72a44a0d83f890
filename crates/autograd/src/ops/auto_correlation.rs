//! Circular sequences of vectors: the correlation of two at each delay, and sums at some delays;
//! [`foretell_kernels::auto_correlation`] has the equations and how they are computed.
//!
//! With g the gradient of the correlations, that of the queries is `1/width Σ_τ g[τ] k[t - τ]` and that of the keys
//! `1/width Σ_τ g[τ] q[t + τ]`: sums at the delays whose correlation had an effect, g being 0 at all others. With g
//! the gradient of a sum at some delays, that of the sequence is the sum of g at the delays the other way round, that
//! of a weight the product of g with the sequence at its delay.

use foretell_kernels::auto_correlation::{CircularBatch, Delays, Direction};
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Indices, Tensor};
use foretell_threads as threads;

use crate::Var;

impl Var {
    /// The circular correlation of two batches of sequences at each delay `τ`: the mean over the width of
    /// `Σ_t self[t + τ] keys[t]`, for the queries `self [batch, steps, width]` and `keys [batch, rows, width]`, which
    /// are padded with zeros or cut to `steps`. The result `[batch, steps]` is the mean over the width of
    /// `torch.fft.irfft(q * k.conj(), n=steps)`, q and k being the transforms over time.
    ///
    /// # Panics
    /// If the shapes do not fit, or are empty.
    #[track_caller]
    pub fn circular_correlation(&self, keys: &Self) -> Self {
        let (q, k) = (self.value().contiguous(), keys.value().contiguous());
        let (&[batch, steps, width], &[key_batch, rows, key_width]) = (&*q.shape(), &*k.shape()) else {
            panic!("correlation of shapes {:?} and {:?}", q.shape(), k.shape());
        };
        let fit = (batch, width) == (key_batch, key_width) && batch * steps * width * rows > 0;
        assert!(fit, "correlation of shapes {:?} and {:?}", q.shape(), k.shape());
        let circles = CircularBatch { batch, steps, width };
        let value = Tensor::build([batch, steps], |out| circles.correlation(q.values(), k.values(), out));
        trace::record(|| Record::new("circular_correlation").input(&q).input(&k).output(&value));
        let (q_edge, k_edge) = (self.edge(), keys.edge());
        Self::operation(value, &[self, keys], move |grad, gradients| {
            let weights = grad.scale(1.0 / width as f32);
            let delays = Indices::build([batch, steps], |delays| {
                delays
                    .chunks_exact_mut(steps)
                    .for_each(|row| (0..).zip(row).for_each(|(i, delay)| *delay = i));
            });
            let at = Delays { delays: delays.values(), weights: weights.values() };
            gradients.accumulate(&q_edge, q.shape(), |dq| {
                circles.add_delayed(k.values(), at, Direction::Behind, dq);
            });
            gradients.accumulate(&k_edge, k.shape(), |dk| {
                circles.add_delayed(q.values(), at, Direction::Ahead, dk);
            });
        })
    }

    /// Sums at some delays: `Σ_i weights[i] self[t + delays[i]]` for `self [batch, rows, width]`, padded with zeros
    /// or cut to circles of `steps`; `weights` and `delays [batch, n]`, result `[batch, steps, width]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or are empty, or a delay is not below `steps`.
    #[track_caller]
    pub fn delayed_sum(&self, weights: &Self, delays: &Indices, steps: usize) -> Self {
        let (x, w) = (self.value().contiguous(), weights.value().contiguous());
        let &[batch, rows, width] = &*x.shape() else { panic!("delayed sum of shape {:?}", x.shape()) };
        let fit = w.shape() == delays.shape() && w.rank() == 2 && w.shape()[0] == batch;
        let (of, at) = (w.shape(), delays.shape());
        assert!(
            fit && batch * rows * width * steps > 0,
            "delayed sum of {:?} by weights {of:?} at {at:?}",
            x.shape()
        );
        let circles = CircularBatch { batch, steps, width };
        let value = Tensor::build([batch, steps, width], |out| {
            threads::fill_zero(out);
            let at = Delays { delays: delays.values(), weights: w.values() };
            circles.add_delayed(x.values(), at, Direction::Ahead, out);
        });
        trace::record(|| {
            Record::new("delayed_sum").input(&x).input(&w).input(delays).output(&value).size("steps", steps)
        });
        let (edge, w_edge, delays) = (self.edge(), weights.edge(), delays.clone());
        Self::operation(value, &[self, weights], move |grad, gradients| {
            gradients.accumulate(&edge, x.shape(), |dx| {
                let at = Delays { delays: delays.values(), weights: w.values() };
                circles.add_delayed(grad.values(), at, Direction::Behind, dx);
            });
            if w_edge.is_wanted() {
                let products = Tensor::build(w.shape(), |out| {
                    circles.products(grad.values(), x.values(), delays.values(), out);
                });
                gradients.add_gradient(&w_edge, products);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Indices;

    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_on_circles_of_the_same_and_of_another_length() {
        for rows in [5, 3, 7] {
            let inputs = [random([2, 5, 3], 1), random([2, rows, 3], 2)];
            gradients(&inputs, |v| v[0].circular_correlation(&v[1]));
            gradients(&inputs[..1], |v| v[0].circular_correlation(&v[0]));
            let delays = Indices::from_slice(&[0, 4, 2, 3, 3, 1], [2, 3]);
            let inputs = [random([2, rows, 3], 1), random([2, 3], 2)];
            gradients(&inputs, |v| v[0].delayed_sum(&v[1], &delays, 5));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("circular_correlation", |x, _| x[0].circular_correlation(&x[1]));
        torch::assert_matches_pytorch("delayed_sum", |x, a| {
            x[0].delayed_sum(&x[1], &a.indices("delays"), a.number("steps"))
        });
    }

    #[test]
    #[should_panic(expected = "correlation of shapes [2, 3, 4] and [2, 3, 5]")]
    fn widths_must_fit() {
        Var::constant(random([2, 3, 4], 1)).circular_correlation(&Var::constant(random([2, 3, 5], 2)));
    }
}
