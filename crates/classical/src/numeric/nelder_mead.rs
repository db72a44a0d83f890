//! The minimum of a function of a few numbers, without its derivatives.
//!
//! Nelder and Mead 1965, with the parameters of Gao and Han 2012 that depend on the number of dimensions, and with points kept
//! within bounds. Start, parameters and end are those of statsforecast, so that the same minimum is found.

use foretell_estimator::{is_wanted, variance};

/// Steps at most.
const MAX_STEPS: usize = 1000;
/// The deviation of the values at the corners at which the search ends.
const TOLERANCE: f64 = 1e-4;

/// The point at which `value` is least, searched from `start` on within the bounds `[lower, upper]` of each coordinate.
/// A value is a number or infinite.
pub(crate) fn minimise(
    start: &[f64],
    bounds: &[(f64, f64)],
    mut value: impl FnMut(&[f64]) -> f64,
) -> Vec<f64> {
    let n = start.len();
    let within = |point: &mut [f64]| {
        point.iter_mut().zip(bounds).for_each(|(x, &(lower, upper))| *x = x.clamp(lower, upper));
    };
    let mut first = start.to_vec();
    within(&mut first);
    // A corner for each coordinate, which is changed by a twentieth, and the start.
    let mut corners = vec![first; n + 1];
    for (i, corner) in corners[..n].iter_mut().enumerate() {
        corner[i] = if corner[i] == 0.0 { 1e-4 } else { corner[i] * 1.05 };
        within(corner);
    }
    let mut values: Vec<f64> = corners.iter().map(|corner| value(corner)).collect();
    let dimensions = n as f64;
    let (expansion, contraction, shrinkage) =
        (1.0 + 2.0 / dimensions, 0.75 - 0.5 / dimensions, 1.0 - 1.0 / dimensions);
    let [mut centre, mut reflected, mut other] = [(); 3].map(|()| vec![0.0; n]);
    for _ in 0..MAX_STEPS {
        if !is_wanted() {
            break;
        }
        let [best, second_worst, worst] = ranks(&values);
        if variance(&values).sqrt() < TOLERANCE {
            break;
        }
        // Sums corner by corner, several coordinates at a time.
        centre.fill(0.0);
        for corner in &corners {
            centre.iter_mut().zip(corner).for_each(|(sum, x)| *sum += x);
        }
        centre.iter_mut().zip(&corners[worst]).for_each(|(sum, x)| *sum = (*sum - x) / dimensions);
        let mut try_at = |point: &mut Vec<f64>, towards: &[f64], factor: f64| {
            let line = centre.iter().zip(towards);
            point.iter_mut().zip(line).for_each(|(x, (centre, to))| *x = centre + factor * (to - centre));
            within(point);
            value(point)
        };
        let at_reflected = try_at(&mut reflected, &corners[worst], -1.0);
        let accepted = if at_reflected < values[best] {
            let at_expanded = try_at(&mut other, &reflected, expansion);
            if at_expanded < at_reflected {
                Some((&other, at_expanded))
            } else {
                Some((&reflected, at_reflected))
            }
        } else if at_reflected < values[second_worst] {
            Some((&reflected, at_reflected))
        } else if at_reflected < values[worst] {
            let outside = try_at(&mut other, &reflected, contraction);
            (outside <= at_reflected).then_some((&other, outside))
        } else {
            let inside = try_at(&mut other, &reflected, -contraction);
            (inside < values[worst]).then_some((&other, inside))
        };
        if let Some((point, at)) = accepted {
            corners[worst].copy_from_slice(point);
            values[worst] = at;
            continue;
        }
        centre.copy_from_slice(&corners[best]);
        for corner in (0..=n).filter(|&corner| corner != best) {
            corners[corner].iter_mut().zip(&centre).for_each(|(x, to)| *x = to + shrinkage * (*x - to));
            within(&mut corners[corner]);
            values[corner] = value(&corners[corner]);
        }
    }
    let [best, ..] = ranks(&values);
    corners.swap_remove(best)
}

/// The places of the least, the second largest and the largest value: of equal ones the first is the least, and the last the largest.
fn ranks(values: &[f64]) -> [usize; 3] {
    let exceeds = |a: usize, b: usize| values[a].total_cmp(&values[b]).is_gt();
    let [mut best, mut second, mut worst] = if exceeds(0, 1) { [1, 1, 0] } else { [0, 0, 1] };
    for place in 2..values.len() {
        if exceeds(best, place) {
            best = place;
        }
        if !exceeds(worst, place) {
            (second, worst) = (worst, place);
        } else if !exceeds(second, place) {
            second = place;
        }
    }
    [best, second, worst]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_valley_is_found_and_bounds_hold() {
        let valley = |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
        let free = [(f64::NEG_INFINITY, f64::INFINITY); 2];
        let found = minimise(&[-1.2, 1.0], &free, valley);
        assert!((found[0] - 1.0).abs() < 0.05 && (found[1] - 1.0).abs() < 0.1, "{found:?}");
        let found = minimise(&[-1.2, 0.0], &[(-2.0, 0.5), (0.0, 2.0)], valley);
        assert!((found[0] - 0.5).abs() < 0.02 && (found[1] - 0.25).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn ranks_are_those_of_sorted_values() {
        for values in [
            &[1.0, 2.0][..],
            &[2.0, 1.0],
            &[1.0, 1.0, 1.0],
            &[3.0, 1.0, 3.0, 1.0, 2.0],
            &[f64::INFINITY, 0.0, -0.0, f64::INFINITY, 5.0],
            &[5.0, 4.0, 3.0, 2.0, 1.0],
        ] {
            let mut places: Vec<usize> = (0..values.len()).collect();
            places.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            let last = places.len() - 1;
            assert_eq!(ranks(values), [places[0], places[last - 1], places[last]], "{values:?}");
        }
    }

    #[test]
    fn infinite_values_are_left_behind() {
        let value = |x: &[f64]| if x[0] < 0.0 { f64::INFINITY } else { (x[0] - 2.0).powi(2) };
        let found = minimise(&[-0.01], &[(-1.0, 10.0)], value);
        assert!((-0.011..=2.1).contains(&found[0]), "{found:?}");
    }
}
