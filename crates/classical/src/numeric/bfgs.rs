//! The minimum of a smooth function of a few numbers, with differences in place of derivatives.
//!
//! Broyden, Fletcher, Goldfarb and Shanno: Nocedal and Wright 2006, Numerical Optimization, section 6.1.

use foretell_estimator::{dot, is_wanted};

const MAX_STEPS: usize = 100;
/// A step that lowers the value by less, in units of its size, is the last one.
const TOLERANCE: f64 = 1e-9;

/// The point where `value` is least, searched from `start` on, and the value there. A value is a number or infinite.
pub(crate) fn minimise(start: &[f64], mut value: impl FnMut(&[f64]) -> f64) -> (Vec<f64>, f64) {
    let n = start.len();
    let mut point = start.to_vec();
    let mut at = value(&point);
    if n == 0 || !at.is_finite() {
        return (point, at);
    }
    let (mut slope, mut next_slope) = (vec![0.0; n], vec![0.0; n]);
    differences(&mut value, &mut point, at, &mut slope);
    // The inverse of the second derivatives, as far as they are known.
    let mut inverse = identity(n);
    let mut is_fresh = true;
    let mut direction = vec![0.0; n];
    let mut next = vec![0.0; n];
    for _ in 0..MAX_STEPS {
        if !is_wanted() {
            break;
        }
        for (row, direction) in inverse.chunks_exact(n).zip(&mut direction) {
            *direction = -dot(row, &slope);
        }
        let descent = dot(&direction, &slope);
        if descent >= 0.0 || !descent.is_finite() {
            if is_fresh {
                break;
            }
            (inverse, is_fresh) = (identity(n), true);
            continue;
        }
        // The first step goes no further than 1: nothing is known of the scale yet.
        let mut length = if is_fresh { (1.0 / dot(&slope, &slope).sqrt()).min(1.0) } else { 1.0 };
        let mut reached = None;
        for _ in 0..40 {
            let line = point.iter().zip(&direction);
            next.iter_mut().zip(line).for_each(|(next, (x, direction))| *next = x + length * direction);
            let there = value(&next);
            if there <= at + 1e-4 * length * descent {
                reached = Some(there);
                break;
            }
            // The minimum of the parabola through what is known, within bounds.
            let parabola = -0.5 * descent * length * length / (there - at - descent * length);
            let sensible = there.is_finite() && parabola.is_finite();
            length = if sensible { parabola.clamp(0.1 * length, 0.5 * length) } else { 0.1 * length };
        }
        let Some(there) = reached else {
            if is_fresh {
                break;
            }
            (inverse, is_fresh) = (identity(n), true);
            continue;
        };
        let gained = at - there;
        differences(&mut value, &mut next, there, &mut next_slope);
        for i in 0..n {
            direction[i] = next[i] - point[i];
            slope[i] = next_slope[i] - slope[i];
        }
        update(&mut inverse, &direction, &slope, is_fresh);
        is_fresh = false;
        std::mem::swap(&mut point, &mut next);
        std::mem::swap(&mut slope, &mut next_slope);
        at = there;
        if gained <= TOLERANCE * (at.abs() + TOLERANCE) {
            break;
        }
    }
    (point, at)
}

/// The slope of a function at a point, by a small step in each coordinate.
fn differences(value: &mut impl FnMut(&[f64]) -> f64, point: &mut [f64], at: f64, slope: &mut [f64]) {
    for (i, slope) in slope.iter_mut().enumerate() {
        let x = point[i];
        let step = 1e-7 * x.abs().max(1.0);
        point[i] = x + step;
        *slope = (value(point) - at) / step;
        if !slope.is_finite() {
            point[i] = x - step;
            *slope = (at - value(point)) / step;
        }
        point[i] = x;
    }
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|i| if i / n == i % n { 1.0 } else { 0.0 }).collect()
}

/// Updates the inverse of the second derivatives by the change of the slope along a step: equation 6.17. Before the first step, the
/// scale is taken from this change (6.20).
fn update(inverse: &mut [f64], step: &[f64], change: &[f64], is_first: bool) {
    let n = step.len();
    let curvature = dot(step, change);
    let size = dot(change, change);
    if curvature.is_nan() || curvature <= 1e-12 * size.sqrt() * dot(step, step).sqrt() {
        return;
    }
    if is_first {
        inverse.iter_mut().for_each(|x| *x *= curvature / size);
    }
    let through: Vec<f64> = inverse.chunks_exact(n).map(|row| dot(row, change)).collect();
    let scale = (1.0 + dot(change, &through) / curvature) / curvature;
    for i in 0..n {
        for j in 0..n {
            inverse[i * n + j] +=
                scale * step[i] * step[j] - (through[i] * step[j] + step[i] * through[j]) / curvature;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_valley_is_found() {
        let valley = |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
        let (found, at) = minimise(&[-1.2, 1.0], valley);
        assert!(
            (found[0] - 1.0).abs() < 1e-3 && (found[1] - 1.0).abs() < 2e-3 && at < 1e-6,
            "{found:?} {at}"
        );
    }

    #[test]
    fn a_wall_is_not_crossed() {
        let value =
            |x: &[f64]| if x[0] > 1.5 { f64::INFINITY } else { (x[0] - 2.0).powi(2) + x[1].abs().powi(4) };
        let (found, at) = minimise(&[0.0, 1.0], value);
        assert!(found[0] > 1.3 && found[0] <= 1.5 && at < 0.6, "{found:?} {at}");
        assert_eq!(minimise(&[], |_| 3.0), (vec![], 3.0));
    }
}
