//! Point losses: value and gradient in one pass, with optional weights.

use crate::isa::Simd;

use crate::loops::{Fold, fold};
use crate::vector::{Float, Lanes, Vector, Vectors};

/// A loss between one forecast and one observed value, with `e = forecast - target`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PointLoss {
    /// `|e|`; its derivative at 0 is 0.
    Mae,
    /// `e^2`.
    Mse,
    /// `e^2 / 2` up to `|e| = delta`, beyond `delta * (|e| - delta / 2)` (Huber, 1964).
    Huber {
        /// Where the parabola becomes a line, above 0.
        delta: f32,
    },
    /// `max(-q e, (1 - q) e)`; its derivative at 0 is `1/2 - q`, the mean of both sides, as
    /// PyTorch's maximum has it.
    Pinball {
        /// The quantile, between 0 and 1.
        q: f32,
    },
}

/// Calls `$run::<W>` with the kernel of the loss; one arm per variant of the enum.
macro_rules! each {
    ($loss:expr, $run:ident, $args:tt) => {
        match $loss {
            PointLoss::Mae => each!(@ $run, Mae, $args),
            PointLoss::Mse => each!(@ $run, Mse, $args),
            PointLoss::Huber { delta } => each!(@ $run, Huber(T::from_f64(delta.into())), $args),
            PointLoss::Pinball { q } => each!(@ $run, Pinball(T::from_f64(q.into())), $args),
        }
    };
    (@ $run:ident, $kernel:expr, ($($arg:expr),*)) => { $run($kernel, $($arg),*) };
}

impl PointLoss {
    /// The sum of `weight[i] * loss(pred[i], target[i])`, and its gradient times `scale`:
    /// `grad[i] = scale * weight[i] * loss'(pred[i], target[i])`.
    ///
    /// Without weights all are 1. Where a weight is 0, value and gradient are exactly 0 whatever
    /// the forecast and the target are, NaN included. The sum has the error of
    /// [`sum`](crate::sum).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn value_and_grad<T: Float>(
        self,
        pred: &[T],
        target: &[T],
        weight: Option<&[T]>,
        scale: T,
        grad: &mut [T],
    ) -> f64 {
        each!(self, value_and_grad, (pred, target, weight, scale, grad))
    }

    /// The sum of `weight[i] * loss(pred[i], target[i])`, as [`PointLoss::value_and_grad`].
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn value<T: Float>(self, pred: &[T], target: &[T], weight: Option<&[T]>) -> f64 {
        each!(self, value, (pred, target, weight))
    }
}

#[track_caller]
fn value_and_grad<T: Float>(
    loss: impl Loss<T>,
    pred: &[T],
    target: &[T],
    weight: Option<&[T]>,
    scale: T,
    grad: &mut [T],
) -> f64 {
    let op = Total { loss, scale };
    let [total] = match weight {
        Some(weight) => fold::<2, _, 3, 1, 1>(op, [pred, target, weight], [grad]),
        None => fold::<2, _, 2, 1, 1>(op, [pred, target], [grad]),
    };
    total.to_f64()
}

#[track_caller]
fn value<T: Float>(loss: impl Loss<T>, pred: &[T], target: &[T], weight: Option<&[T]>) -> f64 {
    let op = Total { loss, scale: T::from_f64(1.0) };
    let [total] = match weight {
        Some(weight) => fold::<4, _, 3, 0, 1>(op, [pred, target, weight], []),
        None => fold::<4, _, 2, 0, 1>(op, [pred, target], []),
    };
    total.to_f64()
}

/// The loss and its derivative as functions of the error.
trait Loss<T: Lanes>: Copy {
    fn call<S: Simd>(self, e: Vector<T, S>) -> (Vector<T, S>, Vector<T, S>);
}

#[derive(Clone, Copy)]
struct Mae;

impl<T: Lanes> Loss<T> for Mae {
    #[inline(always)]
    fn call<S: Simd>(self, e: Vector<T, S>) -> (Vector<T, S>, Vector<T, S>) {
        let zero = T::default();
        // The product with 0 is 0 for 0 and NaN for NaN.
        let below = e.less(zero).select(T::from_f64(-1.0), e * zero);
        (e.abs(), e.greater(zero).select(T::from_f64(1.0), below))
    }
}

#[derive(Clone, Copy)]
struct Mse;

impl<T: Lanes> Loss<T> for Mse {
    #[inline(always)]
    fn call<S: Simd>(self, e: Vector<T, S>) -> (Vector<T, S>, Vector<T, S>) {
        (e * e, e + e)
    }
}

#[derive(Clone, Copy)]
struct Huber<T>(T);

impl<T: Lanes> Loss<T> for Huber<T> {
    #[inline(always)]
    fn call<S: Simd>(self, e: Vector<T, S>) -> (Vector<T, S>, Vector<T, S>) {
        // With c the error clipped at delta, both branches are c (e - c / 2).
        let clipped = e.at_most(self.0).at_least(T::from_f64(-self.0.to_f64()));
        (clipped * clipped.mul_add(T::from_f64(-0.5), e), clipped)
    }
}

#[derive(Clone, Copy)]
struct Pinball<T>(T);

impl<T: Lanes> Loss<T> for Pinball<T> {
    #[inline(always)]
    fn call<S: Simd>(self, e: Vector<T, S>) -> (Vector<T, S>, Vector<T, S>) {
        let (zero, q) = (T::default(), self.0.to_f64());
        let (above, below) = (T::from_f64(1.0 - q), T::from_f64(-q));
        let at_zero = T::from_f64(0.5 - q);
        let slope = e.less(zero).select(below, e.splat(at_zero));
        let slope = e.greater(zero).select(above, slope);
        (e * e.less(zero).select(below, e.splat(above)), e.is_nan().select(e, slope))
    }
}

/// Sums the losses; writes the gradient if there is a slice for it.
#[derive(Clone, Copy)]
struct Total<L, T> {
    loss: L,
    scale: T,
}

impl<L: Loss<T>, T: Lanes, const R: usize, const W: usize> Fold<T, R, W, 1> for Total<L, T> {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [acc]: Vectors<T, S, 1>,
        x: Vectors<T, S, R>,
        mut y: Vectors<T, S, W>,
    ) -> (Vectors<T, S, 1>, Vectors<T, S, W>) {
        let (mut loss, slope) = self.loss.call(x[0] - x[1]);
        let mut grad = slope * self.scale;
        if R == 3 {
            let zero = T::default();
            let unused = x[2].equal(zero);
            loss = unused.select(zero, loss * x[2]);
            grad = unused.select(zero, grad * x[2]);
        }
        if W == 1 {
            y[0] = grad;
        }
        ([acc + loss], y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, exact_sum, for_every_length};

    const ALL: [PointLoss; 5] = [
        PointLoss::Mae,
        PointLoss::Mse,
        PointLoss::Huber { delta: 0.75 },
        PointLoss::Pinball { q: 0.5 },
        PointLoss::Pinball { q: 0.875 },
    ];

    /// The definitions: value and derivative.
    fn naive(loss: PointLoss, e: f64) -> (f64, f64) {
        let sign = if e == 0.0 { 0.0 } else { e.signum() };
        match loss {
            PointLoss::Mae => (e.abs(), sign),
            PointLoss::Mse => (e * e, 2.0 * e),
            PointLoss::Huber { delta } => {
                let delta = f64::from(delta);
                if e.abs() < delta {
                    (e * e / 2.0, e)
                } else {
                    (delta * (e.abs() - delta / 2.0), delta * sign)
                }
            }
            PointLoss::Pinball { q } => {
                let q = f64::from(q);
                ((-q * e).max((1.0 - q) * e), sign / 2.0 + 0.5 - q)
            }
        }
    }

    fn against_the_definition<T: Float>() {
        let eps = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        for_every_length(|case| {
            let mut pred = case.numbers::<T>();
            let target = case.numbers::<T>();
            let mut weight = case.between::<T>(0.1, 1.5);
            for i in (0..case.len).step_by(3) {
                // No weight: what is there does not count. Every other time the forecast is exact.
                if i % 2 == 0 {
                    weight[i] = T::default();
                    pred[i] = T::from_f64(f64::NAN);
                } else {
                    pred[i] = target[i];
                }
            }
            let plain = case.numbers::<T>();
            for loss in ALL {
                let name = format!("{} {loss:?}", case.name);
                let scale = T::from_f64(0.25);
                let mut grad = case.numbers::<T>();
                for (pred, weight) in [(&pred, Some(&*weight)), (&plain, None)] {
                    let total = loss.value_and_grad(pred, &target, weight, scale, &mut grad);
                    let mut terms = Vec::new();
                    for i in 0..case.len {
                        let w = weight.map_or(1.0, |w| w[i].to_f64());
                        // The difference is rounded before anything else happens to it.
                        let e = T::from_f64(pred[i].to_f64() - target[i].to_f64()).to_f64();
                        let (value, slope) = if w == 0.0 { (0.0, 0.0) } else { naive(loss, e) };
                        terms.push(w * value);
                        let slope = 0.25 * w * slope;
                        assert_within(grad[i], slope, 4.0 * eps * slope.abs(), &name);
                    }
                    let exact = exact_sum(terms.into_iter());
                    let room = 16.0 * eps * exact;
                    assert_within(total, exact, room, &name);
                    assert_within(loss.value(pred, &target, weight), exact, room, &name);
                }
            }
        });
    }

    #[test]
    fn equals_the_definition() {
        against_the_definition::<f32>();
        against_the_definition::<f64>();
    }

    #[test]
    fn nan_without_a_weight_of_zero_spreads() {
        at_every_level(|level| {
            for loss in ALL {
                let mut grad = [0.0; 3];
                let pred = [1.0, f32::NAN, 2.0];
                let total = loss.value_and_grad(&pred, &[0.0; 3], None, 1.0, &mut grad);
                assert!(total.is_nan() && grad[1].is_nan(), "{level} {loss:?}");
                assert!(!grad[0].is_nan() && !grad[2].is_nan(), "{level} {loss:?}");
            }
            let mut grad: [f32; 0] = [];
            assert_eq!(PointLoss::Mae.value_and_grad(&[], &[], None, 1.0, &mut grad), 0.0);
        });
    }
}
