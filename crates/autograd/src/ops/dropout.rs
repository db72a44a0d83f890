//! Dropout whose mask is a function of a key, so it need not be stored.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace;
use foretell_threads as threads;

use crate::{Key, Var};

/// The cost of a number, relative to that of a number in a plain pass over memory.
const COST: usize = 6;

impl Var {
    /// Sets each element to 0 with probability `rate` and divides the others by `1 - rate`. The same key
    /// and shape give the same mask.
    ///
    /// # Panics
    /// If `rate` is not in `[0, 1]`.
    #[track_caller]
    pub fn dropout(&self, rate: f32, key: Key) -> Self {
        assert!((0.0..=1.0).contains(&rate), "dropout rate {rate} is not in [0, 1]");
        let apply = move |x: &Tensor| {
            let x = x.contiguous();
            Tensor::build(x.shape(), |out| {
                threads::rows(x.numel(), COST, [out], |range, [out]| {
                    simd::dropout(key, range.start as u64, rate, &x.values()[range], out);
                });
            })
        };
        trace::choose("values that are dropped at random");
        let edge = self.edge();
        // The mask is linear in its input, so the gradient goes through the same mask.
        Self::operation(apply(self.value()), &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, apply(&grad))
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::ops::check::{gradients, random};
    use crate::{Key, Var};

    #[test]
    fn gradients_follow_the_mask() {
        gradients(&[random([6, 9], 1)], |v| v[0].dropout(0.4, Key::new(7)));
    }

    #[test]
    fn the_rate_is_kept_and_the_rest_scaled() {
        let ones = Var::constant(Tensor::full([100_000], 1.0));
        let kept = ones.dropout(0.3, Key::new(3)).value().to_vec();
        let zeros = kept.iter().filter(|&&x| x == 0.0).count();
        assert!((29_000..31_000).contains(&zeros), "{zeros} zeros");
        assert!(kept.iter().all(|&x| x == 0.0 || x == 1.0 / 0.7));
        assert_eq!(kept, ones.dropout(0.3, Key::new(3)).value().to_vec());
        assert_ne!(kept, ones.dropout(0.3, Key::new(4)).value().to_vec());
        assert_eq!(ones.dropout(0.0, Key::new(3)).value().to_vec(), ones.value().to_vec());
    }
}
