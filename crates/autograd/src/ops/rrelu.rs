//! The randomised leaky rectifier (Xu et al. 2015, arXiv:1505.00853): below 0 each element has a slope of its own, which is a function of a
//! key, so it need not be stored.

use foretell_simd::uniform_fill;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use crate::{Key, Var};

/// The cost of a number, relative to that of a number in a plain pass over memory.
const COST: usize = 6;

impl Var {
    /// `x` above 0, else `x` times a slope uniform in `[lower, upper)`, another for each element. The same key and shape draw
    /// the same slopes.
    ///
    /// # Panics
    /// If the bounds are not positive and in order.
    #[track_caller]
    pub fn rrelu(&self, [lower, upper]: [f32; 2], key: Key) -> Self {
        assert!(0.0 < lower && lower <= upper, "slopes between {lower} and {upper}");
        // The factors of the elements of `x` whose signs are those of `signs`.
        let apply = move |signs: &Tensor, x: &Tensor| {
            Tensor::build(x.shape(), |out| {
                threads::rows(x.numel(), COST, [out], |range, [out]| {
                    uniform_fill(key, range.start as u64, out);
                    let (signs, x) = (&signs.values()[range.clone()], &x.values()[range]);
                    for ((y, &sign), &x) in out.iter_mut().zip(signs).zip(x) {
                        let slope = lower + (upper - lower) * *y;
                        *y = if sign > 0.0 { x } else { slope * x };
                    }
                });
            })
        };
        let x = self.value().contiguous();
        let value = apply(&x, &x);
        trace::record(|| Record::new("rrelu").input(&x).output(&value));
        // The result has the signs of the input.
        let (edge, signs) = (self.edge(), self.save_for_backward(&value, self.rounding()));
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, apply(&signs.into_tensor(), &grad.contiguous()));
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Key, Var};

    #[test]
    fn gradients_follow_the_slopes() {
        gradients(&[random([6, 9], 1)], |v| v[0].rrelu([0.1, 0.4], Key::new(7)));
    }

    #[test]
    fn slopes_spread_over_their_range() {
        let below = Var::constant(Tensor::full([100_000], -1.0));
        let slopes: Vec<f32> = below.rrelu([0.125, 0.375], Key::new(3)).value().to_vec();
        assert!(slopes.iter().all(|y| (0.125..=0.375).contains(&-y)));
        let mean = slopes.iter().map(|y| f64::from(-y)).sum::<f64>() / 100_000.0;
        assert!((mean - 0.25).abs() < 1e-3, "a mean slope of {mean}");
        let quarter = slopes.iter().filter(|y| -**y < 0.1875).count();
        assert!((24_000..26_000).contains(&quarter), "{quarter} slopes in the lowest quarter");
        assert_eq!(slopes, below.rrelu([0.125, 0.375], Key::new(3)).value().to_vec());
        assert_ne!(slopes, below.rrelu([0.125, 0.375], Key::new(4)).value().to_vec());
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("rrelu", |x, a| {
            x[0].rrelu([a.real("lower"), a.real("upper")], Key::new(a.number("seed") as u64).fold(0))
        });
    }
}
