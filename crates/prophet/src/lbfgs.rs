//! L-BFGS for a smooth function plus absolute values of some parameters.
//!
//! As in OWL-QN (Andrew and Gao 2007, Scalable training of L1-regularized log-linear models) a step never crosses the kink of an
//! absolute value, and stops at it where it would. Parameters that rest at their kinks, or are about to, are left out of the
//! curvature, as in Bertsekas' projected Newton methods (1982): with them the direction of the others may lead upwards, and the
//! search ends far from the minimum. Without absolute values it is L-BFGS (Nocedal and Wright 2006, algorithm 7.4) with a
//! search that halves the step until the function falls enough.
//!
//! It is our own: of the crates, argmin puts one weight on all parameters or none, and the others have no absolute values.

use std::collections::VecDeque;

use foretell_estimator::{dot, is_wanted};

/// Steps that the curvature is known from.
const MEMORY: usize = 15;

/// Steps at most; a fit takes tens to hundreds.
const MOST_STEPS: usize = 10_000;

/// It has converged when the last [`PATIENCE`] steps together have brought no more than this part of the value.
const TOLERANCE: f64 = 1e-8;
const PATIENCE: usize = 10;

/// The part of the fall that the slope promises with which a step is content.
const ENOUGH: f64 = 1e-4;

/// Halvings of a step at most.
const MOST_HALVINGS: i32 = 50;

/// As near to its kink a parameter goes there if the slope leads there.
const NEAR: f64 = 1e-8;

/// Moves `x` to where `function(x) + sum(weights * |x|)` is smallest near it, and returns that value and the steps it took.
/// The function writes its gradient; where it has no value (NaN, infinity) it is taken for too large.
pub(crate) fn minimise(
    x: &mut [f64],
    weights: &[f64],
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> (f64, usize) {
    let n = x.len();
    let (mut gradient, mut next_gradient, mut next) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let (mut slope, mut direction, mut moves) = (vec![0.0; n], vec![0.0; n], vec![Move::Free; n]);
    let absolute = |x: &[f64]| x.iter().zip(weights).map(|(x, weight)| weight * x.abs()).sum::<f64>();
    let mut value = function(x, &mut gradient) + absolute(x);
    let mut curvature = Curvature::default();
    let mut recent: VecDeque<f64> = VecDeque::with_capacity(PATIENCE + 1);
    for step in 0..MOST_STEPS {
        if !is_wanted() {
            return (value, step);
        }
        for i in 0..n {
            (slope[i], moves[i]) = slope_and_move(x[i], gradient[i], weights[i]);
        }
        let known = curvature.direction(&slope, &moves, &mut direction);
        let length = if known { 1.0 } else { 1.0 / dot(&slope, &slope).sqrt().max(1.0) };
        let found = (0..=MOST_HALVINGS).find_map(|halvings| {
            take(x, length * 0.5_f64.powi(halvings), &direction, [&slope, weights], &moves, &mut next);
            let found = function(&next, &mut next_gradient) + absolute(&next);
            let promised: f64 = (0..n).map(|i| slope[i] * (next[i] - x[i])).sum();
            (found.is_finite() && found <= value + ENOUGH * promised).then_some(found)
        });
        let Some(found) = found else {
            if !known {
                return (value, step);
            }
            // What is known of the curvature may mislead: once more down the slope alone.
            curvature.pairs.clear();
            continue;
        };
        curvature.remember([x, &next], [&gradient, &next_gradient]);
        x.copy_from_slice(&next);
        std::mem::swap(&mut gradient, &mut next_gradient);
        value = found;
        recent.push_back(value);
        if recent.len() > PATIENCE
            && recent.pop_front().is_some_and(|before| before - value <= TOLERANCE * value.abs().max(1.0))
        {
            return (value, step + 1);
        }
    }
    (value, MOST_STEPS)
}

/// The treatment of a parameter in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    /// It moves it, by the curvature.
    Free,
    /// It leaves it at its kink.
    Rest,
    /// It puts it there.
    Kink,
}

/// The slope by a parameter, at its kink that of the side that leads down, and what becomes of it.
fn slope_and_move(x: f64, gradient: f64, weight: f64) -> (f64, Move) {
    let (right, left) = (gradient + weight, gradient - weight);
    if weight == 0.0 {
        (gradient, Move::Free)
    } else if x != 0.0 {
        let slope = if x > 0.0 { right } else { left };
        (slope, if x.abs() < NEAR && slope * x > 0.0 { Move::Kink } else { Move::Free })
    } else if right < 0.0 {
        (right, Move::Free)
    } else if left > 0.0 {
        (left, Move::Free)
    } else {
        (0.0, Move::Rest)
    }
}

/// A step of this length, that crosses no kink.
fn take(
    x: &[f64],
    length: f64,
    direction: &[f64],
    [slope, weights]: [&[f64]; 2],
    moves: &[Move],
    next: &mut [f64],
) {
    for i in 0..x.len() {
        next[i] = x[i] + length * direction[i];
        let side = if x[i] == 0.0 { -slope[i] } else { x[i] };
        if moves[i] == Move::Kink || (weights[i] > 0.0 && next[i] * side < 0.0) {
            next[i] = 0.0;
        }
    }
}

/// A step and the change of the gradient over it.
#[derive(Default)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
}

/// The curvature, by the last steps.
#[derive(Default)]
struct Curvature {
    pairs: VecDeque<Pair>,
}

impl Curvature {
    /// Down the slope, bent by the curvature among the parameters that are free (the two loops of L-BFGS); whether anything is
    /// known of it.
    fn direction(&self, slope: &[f64], moves: &[Move], direction: &mut [f64]) -> bool {
        let free = |i: &usize| moves[*i] == Move::Free;
        let places: Vec<usize> = (0..slope.len()).filter(free).collect();
        let dot = |a: &[f64], b: &[f64]| places.iter().map(|&i| a[i] * b[i]).sum::<f64>();
        let add_scaled =
            |sum: &mut [f64], x: &[f64], factor: f64| places.iter().for_each(|&i| sum[i] += factor * x[i]);
        direction.fill(0.0);
        places.iter().for_each(|&i| direction[i] = -slope[i]);

        // One over the product of step and change; 0 where the function does not curve upwards.
        let (mut inverse, mut factors) = ([0.0; MEMORY], [0.0; MEMORY]);
        let mut scale = None;
        for (pair, inverse) in self.pairs.iter().zip(&mut inverse) {
            let (product, square) = (dot(&pair.step, &pair.change), dot(&pair.change, &pair.change));
            if product > 1e-14 * square {
                *inverse = 1.0 / product;
                scale = Some(product / square);
            }
        }
        for (k, pair) in self.pairs.iter().enumerate().rev() {
            factors[k] = inverse[k] * dot(&pair.step, direction);
            add_scaled(direction, &pair.change, -factors[k]);
        }
        direction.iter_mut().for_each(|direction| *direction *= scale.unwrap_or(1.0));
        for (k, pair) in self.pairs.iter().enumerate() {
            let factor = factors[k] - inverse[k] * dot(&pair.change, direction);
            add_scaled(direction, &pair.step, factor);
        }
        scale.is_some()
    }

    /// Keeps a step, if the function curves upwards along it.
    fn remember(&mut self, x: [&[f64]; 2], gradients: [&[f64]; 2]) {
        // The oldest one makes room.
        let full = self.pairs.len() == MEMORY;
        let mut pair = full.then(|| self.pairs.pop_front()).flatten().unwrap_or_default();
        let difference = |[before, after]: [&[f64]; 2], out: &mut Vec<f64>| {
            out.clear();
            out.extend(after.iter().zip(before).map(|(after, before)| after - before));
        };
        difference(x, &mut pair.step);
        difference(gradients, &mut pair.change);
        if dot(&pair.step, &pair.change) > f64::EPSILON * dot(&pair.change, &pair.change) {
            self.pairs.push_back(pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_valley_is_followed_to_its_end() {
        let rosenbrock = |x: &[f64], gradient: &mut [f64]| {
            let across = x[1] - x[0] * x[0];
            gradient[0] = -400.0 * x[0] * across - 2.0 * (1.0 - x[0]);
            gradient[1] = 200.0 * across;
            100.0 * across * across + (1.0 - x[0]).powi(2)
        };
        let mut x = [-1.2, 1.0];
        let (value, steps) = minimise(&mut x, &[0.0; 2], rosenbrock);
        assert!(value < 1e-9 && (x[0] - 1.0).abs() < 1e-4 && steps < 100, "{value} at {x:?} after {steps}");
    }

    #[test]
    fn small_parameters_stop_at_their_kinks() {
        // The minimum of (x - a)^2 / 2 + w |x| is a shrunk by w.
        let targets = [3.0, -3.0, 0.5, -0.5, 0.7];
        let function = |x: &[f64], gradient: &mut [f64]| {
            let errors = || x.iter().zip(targets).map(|(x, target)| x - target);
            gradient.iter_mut().zip(errors()).for_each(|(gradient, error)| *gradient = error);
            errors().map(|error| 0.5 * error * error).sum::<f64>()
        };
        let mut x = [0.0; 5];
        minimise(&mut x, &[1.0, 1.0, 1.0, 1.0, 0.0], function);
        for (found, expected) in x.iter().zip([2.0, -2.0, 0.0, 0.0, 0.7]) {
            assert!((found - expected).abs() < 1e-5, "{x:?}");
        }
        assert_eq!(x[2..4], [0.0, 0.0]);
    }

    #[test]
    fn parameters_that_share_an_effect_do_not_end_between_kinks() {
        // Of two parameters with the same effect, the one without a weight takes it all.
        let function = |x: &[f64], gradient: &mut [f64]| {
            let error = 100.0 * (x[0] + x[1] - 3.0);
            gradient[0] = 100.0 * error + x[0] / 25.0;
            gradient[1] = 100.0 * error;
            0.5 * error * error + 0.02 * x[0] * x[0]
        };
        for start in [[0.0, 0.0], [-2.0, 4.0], [5.0, 3e-14]] {
            let mut x = start;
            minimise(&mut x, &[0.0, 20.0], function);
            assert!((x[0] - 3.0).abs() < 1e-4 && x[1] == 0.0, "{start:?} led to {x:?}");
        }
    }

    #[test]
    fn a_step_that_leaves_the_domain_is_shortened() {
        // x - ln x, which has no value below 0.
        let function = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 100.0 - 1.0 / x[0];
            100.0 * x[0] - x[0].ln()
        };
        let mut x = [1.0];
        minimise(&mut x, &[0.0], function);
        assert!((x[0] - 0.01).abs() < 1e-6, "{x:?}");
    }
}
