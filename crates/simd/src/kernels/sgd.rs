//! Stochastic gradient descent with momentum.

use crate::isa::Simd;

use crate::loops::{Map, map};
use crate::vector::Vectors;

/// The numbers of one step of gradient descent, as in `torch.optim.SGD`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdStep {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the velocity; with 0 no velocity is kept.
    pub momentum: f64,
    /// Taken off the weight of the gradient in the velocity, except in the first step.
    pub dampening: f64,
    /// Whether the step looks ahead along the velocity (Sutskever et al., 2013).
    pub nesterov: bool,
    /// Added to the gradient, times the parameter.
    pub weight_decay: f64,
    /// The number of this step, the first being 1.
    pub step: u64,
}

#[derive(Clone, Copy)]
struct Plain {
    lr: f32,
    decay: f32,
}

impl Map<f32, 1, 1> for Plain {
    #[inline(always)]
    fn map<S: Simd>(self, [g]: Vectors<f32, S, 1>, [p]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        let g = p.mul_add(self.decay, g);
        [g.mul_add(-self.lr, p)]
    }
}

#[derive(Clone, Copy)]
struct Momentum {
    plain: Plain,
    momentum: f32,
    /// The weight of the gradient in the velocity.
    new: f32,
    nesterov: bool,
}

impl Map<f32, 1, 2> for Momentum {
    #[inline(always)]
    fn map<S: Simd>(self, [g]: Vectors<f32, S, 1>, [p, velocity]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        let g = p.mul_add(self.plain.decay, g);
        let velocity = velocity.mul_add(self.momentum, g * self.new);
        let direction = if self.nesterov { velocity.mul_add(self.momentum, g) } else { velocity };
        [direction.mul_add(-self.plain.lr, p), velocity]
    }
}

/// One step of gradient descent over flat arrays, as `torch.optim.SGD`. `velocity` is not touched
/// and may be empty if the momentum is 0; else it starts as zeros.
///
/// # Panics
/// If the slices differ in length, or if `at.step` is 0.
#[track_caller]
pub fn sgd(params: &mut [f32], grads: &[f32], velocity: &mut [f32], at: &SgdStep) {
    assert!(at.step > 0, "the first step of gradient descent is 1, not 0");
    let plain = Plain { lr: at.lr as f32, decay: at.weight_decay as f32 };
    if at.momentum == 0.0 {
        return map(plain, [grads], [params]);
    }
    let new = if at.step == 1 { 1.0 } else { (1.0 - at.dampening) as f32 };
    let op = Momentum { plain, momentum: at.momentum as f32, new, nesterov: at.nesterov };
    map(op, [grads], [params, velocity]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_optimises;

    #[test]
    fn as_in_torch() {
        let plain =
            SgdStep { lr: 0.01, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.1, step: 0 };
        let expected = [0.48604592057546203, -1.2432652222927139, 1.9755628951119257, -0.00500599097];
        assert_optimises(expected, |p, g, _, _, step| sgd(p, g, &mut [], &SgdStep { step, ..plain }));

        let damped = SgdStep { momentum: 0.9, dampening: 0.2, ..plain };
        let expected = [0.4594802953505473, -1.2320224053745266, 1.936862634659464, -0.01083082585993];
        assert_optimises(expected, |p, g, v, _, step| sgd(p, g, v, &SgdStep { step, ..damped }));

        let ahead = SgdStep { momentum: 0.9, nesterov: true, weight_decay: 0.0, ..plain };
        let expected = [0.4558689566, -1.2614295682, 1.9655599343, -0.005513909];
        assert_optimises(expected, |p, g, v, _, step| sgd(p, g, v, &SgdStep { step, ..ahead }));
    }
}
