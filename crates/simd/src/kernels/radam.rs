//! Rectified Adam.

use crate::isa::Simd;

use crate::kernels::adam::AdamStep;
use crate::loops::{Map, map};
use crate::vector::Vectors;

#[derive(Clone, Copy)]
struct RAdam {
    /// `1 - beta1`, `beta2` and `1 - beta2`.
    new1: f32,
    beta2: f32,
    new2: f32,
    eps: f32,
    decay: f32,
    /// `-lr / (1 - beta1^step)`, times the rectification and `sqrt(1 - beta2^step)` if `adapt`.
    size: f32,
    /// Whether enough steps were taken to divide by the root of the mean square.
    adapt: bool,
}

impl Map<f32, 1, 3> for RAdam {
    #[inline(always)]
    fn map<S: Simd>(self, [g]: Vectors<f32, S, 1>, [p, m, v]: Vectors<f32, S, 3>) -> Vectors<f32, S, 3> {
        let g = p.mul_add(self.decay, g);
        let m = (g - m).mul_add(self.new1, m);
        let v = (g * g).mul_add(self.new2, v * self.beta2);
        let direction = if self.adapt { m / (v.sqrt() + self.eps) } else { m };
        [direction.mul_add(self.size, p), m, v]
    }
}

/// One step of RAdam (Liu et al., 2020) over flat arrays, as `torch.optim.RAdam`: Adam whose step
/// is not adapted before the variance of its denominator is bounded, and rectified after.
///
/// # Panics
/// If the slices differ in length, or if `at.step` is 0.
#[track_caller]
pub fn radam(params: &mut [f32], grads: &[f32], m: &mut [f32], v: &mut [f32], at: &AdamStep) {
    assert!(at.step > 0, "the first step of RAdam is 1, not 0");
    let (b1, b2, t) = (at.beta1, at.beta2, at.step as f64);
    let (done1, done2) = (1.0 - b1.powf(t), 1.0 - b2.powf(t));
    // Equations 5 to 7 of the paper: the length of the average that beta2 makes, now and at last.
    let limit = 2.0 / (1.0 - b2) - 1.0;
    let length = limit - 2.0 * t * b2.powf(t) / done2;
    let adapt = length > 5.0;
    let rectify = if adapt {
        let part = |x: f64| (x - 4.0) * (x - 2.0) / x;
        (part(length) / part(limit)).sqrt() * done2.sqrt()
    } else {
        1.0
    };
    let op = RAdam {
        new1: (1.0 - b1) as f32,
        beta2: b2 as f32,
        new2: (1.0 - b2) as f32,
        eps: at.eps as f32,
        decay: at.weight_decay as f32,
        size: (-at.lr / done1 * rectify) as f32,
        adapt,
    };
    map(op, [grads], [params, m, v]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_optimises;

    #[test]
    fn as_in_torch_before_and_after_the_rectification_starts() {
        let expected = [0.48857596265457476, -1.2451374528980417, 1.98298080993982, -0.0023068456171];
        let at = AdamStep { lr: 0.01, beta1: 0.9, beta2: 0.99, eps: 1e-8, weight_decay: 0.1, step: 0 };
        assert_optimises(expected, |p, g, m, v, step| radam(p, g, m, v, &AdamStep { step, ..at }));
    }
}
