//! Rotary positions (Su et al. 2021, arXiv 2104.09864): in each head the numbers `i` and `i + dim / 2` of a step are the two coordinates of
//! a point, which is turned by the step's angle `i`. Products of turned queries and keys depend on the difference of their
//! angles alone.
//!
//! With g the gradient of the result, that of the input is g turned back: by the same cosines and the opposite sines.

use foretell_tensor::Tensor;
use foretell_threads as threads;

use crate::Var;

impl Var {
    /// The points of `self [batch, steps, heads * dim]` turned by the angles whose cosines and sines are `[steps, dim / 2]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn rotary(&self, cosines: &Tensor, sines: &Tensor) -> Self {
        let x = self.value();
        let (&[_, steps, width], &[table_steps, half]) = (&*x.shape(), &*cosines.shape()) else {
            panic!("rotary positions of {:?} by angles of {:?}", x.shape(), cosines.shape());
        };
        let fits = table_steps == steps && half > 0 && width.is_multiple_of(2 * half);
        let shapes = [x.shape(), cosines.shape(), sines.shape()];
        assert!(
            fits && cosines.shape() == sines.shape(),
            "rotary positions of numbers and angles of {shapes:?}"
        );
        let (cosines, sines) = (cosines.contiguous(), sines.contiguous());
        let value = turned(x, &cosines, &sines, 1.0);
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, turned(&grad, &cosines, &sines, -1.0));
        })
    }
}

/// The points turned by the angles, or with a `sign` of -1 back.
fn turned(x: &Tensor, cosines: &Tensor, sines: &Tensor, sign: f32) -> Tensor {
    let x = x.contiguous();
    let shape = x.shape();
    let (steps, width, half) = (shape[1], shape[2], cosines.shape()[1]);
    let rows = shape[0] * steps;
    Tensor::build(shape, |out| {
        threads::rows(rows, 4 * width, [out], |range, [out]| {
            let input = &x.values()[range.start * width..range.end * width];
            let rows = input.chunks_exact(width).zip(out.chunks_exact_mut(width));
            for (row, (input, out)) in range.zip(rows) {
                let at = row % steps * half;
                let (cos, sin) = (&cosines.values()[at..at + half], &sines.values()[at..at + half]);
                for (input, out) in input.chunks_exact(2 * half).zip(out.chunks_exact_mut(2 * half)) {
                    let (first, second) = input.split_at(half);
                    let (out_first, out_second) = out.split_at_mut(half);
                    for i in 0..half {
                        let (cos, sin) = (cos[i], sign * sin[i]);
                        out_first[i] = first[i] * cos - second[i] * sin;
                        out_second[i] = first[i] * sin + second[i] * cos;
                    }
                }
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::Var;
    use crate::ops::check::{gradients, random};

    /// Cosines and sines of step and frequency.
    fn table(steps: usize, half: usize) -> [Tensor; 2] {
        let angle = |i: usize| (i / half) as f32 / 3_f32.powi((i % half) as i32);
        [f32::cos, f32::sin].map(|of| {
            let values: Vec<f32> = (0..steps * half).map(|i| of(angle(i))).collect();
            Tensor::from_slice(&values, [steps, half])
        })
    }

    #[test]
    fn gradient_is_turned_back() {
        let [cosines, sines] = table(3, 2);
        gradients(&[random([2, 3, 8], 1)], |v| v[0].rotary(&cosines, &sines));
    }

    #[test]
    fn products_depend_on_the_distance_of_steps_alone() {
        let (steps, half) = (6, 4);
        let [cosines, sines] = table(steps, half);
        let same_everywhere = |seed| {
            let step = random([2 * half], seed).to_vec();
            Var::constant(Tensor::from_slice(&step.repeat(steps), [1, steps, 2 * half]))
        };
        let turned = |seed| same_everywhere(seed).rotary(&cosines, &sines).value().to_vec();
        let (queries, keys) = (turned(1), turned(2));
        let product = |q: usize, k: usize| -> f32 {
            let row = |of: &[f32], step: usize| of[step * 2 * half..(step + 1) * 2 * half].to_vec();
            row(&queries, q).iter().zip(row(&keys, k)).map(|(a, b)| a * b).sum()
        };
        for distance in 0..steps {
            for start in 0..steps - distance {
                let (found, expected) = (product(start + distance, start), product(distance, 0));
                assert!((found - expected).abs() < 1e-4, "{found} and {expected}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "rotary positions of numbers and angles of")]
    fn angles_of_other_steps_are_refused() {
        let [cosines, sines] = table(4, 2);
        Var::constant(random([1, 3, 8], 1)).rotary(&cosines, &sines);
    }
}
