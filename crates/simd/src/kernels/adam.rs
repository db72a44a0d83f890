//! Adam and AdamW.

use crate::isa::Simd;

use crate::loops::{Map, map};
use crate::vector::Vectors;

/// The numbers of one step of Adam (Kingma and Ba, 2015).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the mean of the gradients.
    pub beta1: f64,
    /// Decay of the mean of their squares.
    pub beta2: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Weight decay: added to the gradient by [`adam`], taken off the parameters by [`adamw`].
    pub weight_decay: f64,
    /// The number of this step, the first being 1.
    pub step: u64,
}

#[derive(Clone, Copy)]
struct Adam {
    /// `1 - beta1`, `beta2` and `1 - beta2`.
    new1: f32,
    beta2: f32,
    new2: f32,
    eps: f32,
    /// Added to the gradient, times the parameter.
    decay: f32,
    /// Factor on the parameter.
    keep: f32,
    /// `-lr / (1 - beta1^step)`.
    size: f32,
    /// `1 / sqrt(1 - beta2^step)`.
    unbias: f32,
}

impl Adam {
    #[track_caller]
    fn new(at: &AdamStep, decoupled: bool) -> Self {
        assert!(at.step > 0, "the first step of Adam is 1, not 0");
        let done = |beta: f64| 1.0 - beta.powf(at.step as f64);
        let decay = if decoupled { 0.0 } else { at.weight_decay };
        let keep = if decoupled { 1.0 - at.lr * at.weight_decay } else { 1.0 };
        Self {
            new1: (1.0 - at.beta1) as f32,
            beta2: at.beta2 as f32,
            new2: (1.0 - at.beta2) as f32,
            eps: at.eps as f32,
            decay: decay as f32,
            keep: keep as f32,
            size: (-at.lr / done(at.beta1)) as f32,
            unbias: (1.0 / done(at.beta2).sqrt()) as f32,
        }
    }
}

impl Map<f32, 1, 3> for Adam {
    #[inline(always)]
    fn map<S: Simd>(self, [g]: Vectors<f32, S, 1>, [p, m, v]: Vectors<f32, S, 3>) -> Vectors<f32, S, 3> {
        let g = p.mul_add(self.decay, g);
        let m = (g - m).mul_add(self.new1, m);
        let v = (g * g).mul_add(self.new2, v * self.beta2);
        let denominator = v.sqrt().mul_add(self.unbias, self.eps);
        [(m / denominator).mul_add(self.size, p * self.keep), m, v]
    }
}

/// One step of Adam over flat arrays, as `torch.optim.Adam`: moves `params` against `grads` and
/// updates the means `m` of the gradients and `v` of their squares.
///
/// # Panics
/// If the slices differ in length, or if `at.step` is 0.
#[track_caller]
pub fn adam(params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], at: &AdamStep) {
    map(Adam::new(at, false), [grads], [params, m, v]);
}

/// One step of AdamW (Loshchilov and Hutter, 2019), as `torch.optim.AdamW`: [`adam`] with the
/// weight decay taken off the parameters and not added to the gradient.
///
/// # Panics
/// If the slices differ in length, or if `at.step` is 0.
#[track_caller]
pub fn adamw(params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], at: &AdamStep) {
    map(Adam::new(at, true), [grads], [params, m, v]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_optimises;

    const STEP: AdamStep =
        AdamStep { lr: 0.01, beta1: 0.9, beta2: 0.99, eps: 1e-8, weight_decay: 0.1, step: 0 };

    #[test]
    fn adam_as_in_torch() {
        let expected = [0.45967082611173576, -1.2290083329654389, 1.945405801129416, -0.006336257182];
        assert_optimises(expected, |p, g, m, v, step| adam(p, g, m, v, &AdamStep { step, ..STEP }));
        let at = AdamStep { lr: 0.001, beta2: 0.999, weight_decay: 0.0, ..STEP };
        let expected = [0.4963589197530902, -1.2505477973487378, 1.9969685815643854, -0.00063463056];
        assert_optimises(expected, |p, g, m, v, step| adam(p, g, m, v, &AdamStep { step, ..at }));
    }

    #[test]
    fn adamw_as_in_torch() {
        let expected = [0.46026798221987086, -1.2467761073104118, 1.955810352087692, -0.0063275974270];
        assert_optimises(expected, |p, g, m, v, step| adamw(p, g, m, v, &AdamStep { step, ..STEP }));
    }

    #[test]
    #[should_panic(expected = "the first step of Adam is 1, not 0")]
    fn steps_count_from_one() {
        adam(&mut [], &[], &mut [], &mut [], &STEP);
    }
}
