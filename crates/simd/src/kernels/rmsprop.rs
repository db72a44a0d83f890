//! RMSprop.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::loops::{Map, map};
use crate::vector::Vectors;

/// The numbers of one step of RMSprop (Hinton, 2012), as in `torch.optim.RMSprop`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsPropStep {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the mean of the squared gradients.
    pub alpha: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Added to the gradient, times the parameter.
    pub weight_decay: f64,
    /// Decay of the velocity; with 0 no velocity is kept.
    pub momentum: f64,
}

#[derive(Clone, Copy)]
struct RmsProp {
    lr: f32,
    alpha: f32,
    /// `1 - alpha`.
    new: f32,
    eps: f32,
    decay: f32,
    momentum: f32,
}

impl RmsProp {
    /// The direction of the step and the new mean of squares.
    #[inline(always)]
    fn direction<S: Simd>(self, g: F32s<S>, p: F32s<S>, v: F32s<S>) -> (F32s<S>, F32s<S>) {
        let g = p.mul_add(self.decay, g);
        let v = (g * g).mul_add(self.new, v * self.alpha);
        (g / (v.sqrt() + self.eps), v)
    }
}

impl Map<f32, 1, 2> for RmsProp {
    #[inline(always)]
    fn map<S: Simd>(self, [g]: Vectors<f32, S, 1>, [p, v]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        let (direction, v) = self.direction(g, p, v);
        [direction.mul_add(-self.lr, p), v]
    }
}

impl Map<f32, 1, 3> for RmsProp {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [g]: Vectors<f32, S, 1>,
        [p, v, velocity]: Vectors<f32, S, 3>,
    ) -> Vectors<f32, S, 3> {
        let (direction, v) = self.direction(g, p, v);
        let velocity = velocity.mul_add(self.momentum, direction);
        [velocity.mul_add(-self.lr, p), v, velocity]
    }
}

/// One step of RMSprop over flat arrays, as `torch.optim.RMSprop` without centring: updates the
/// mean `v` of the squared gradients. `velocity` is not touched and may be empty if the momentum
/// is 0; else it starts as zeros.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn rmsprop(params: &mut [f32], grads: &[f32], v: &mut [f32], velocity: &mut [f32], at: &RmsPropStep) {
    let op = RmsProp {
        lr: at.lr as f32,
        alpha: at.alpha as f32,
        new: (1.0 - at.alpha) as f32,
        eps: at.eps as f32,
        decay: at.weight_decay as f32,
        momentum: at.momentum as f32,
    };
    if at.momentum == 0.0 {
        map(op, [grads], [params, v]);
    } else {
        map(op, [grads], [params, v, velocity]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_optimises;

    #[test]
    fn as_in_torch() {
        let plain = RmsPropStep { lr: 0.01, alpha: 0.9, eps: 1e-8, weight_decay: 0.1, momentum: 0.0 };
        let expected = [0.4168226561951101, -1.2171470954117152, 1.8945069352496464, -0.0266473379560];
        assert_optimises(expected, |p, g, v, _, _| rmsprop(p, g, v, &mut [], &plain));
        let heavy = RmsPropStep { weight_decay: 0.0, momentum: 0.8, ..plain };
        let expected = [0.23707834029136035, -1.26376105687176, 1.8276736881065816, -0.0754911922070];
        assert_optimises(expected, |p, g, v, velocity, _| rmsprop(p, g, v, velocity, &heavy));
    }
}
