//! Lines and broken lines through a series.

use foretell_estimator::{dot, median};

/// The line of least squares, `[n]`.
pub(super) fn line(y: &[f64]) -> Vec<f64> {
    let n = y.len() as f64;
    let x = || (0..y.len()).map(|x| x as f64);
    let (sum_x, sum_y): (f64, f64) = (x().sum(), y.iter().sum());
    let squares: f64 = x().map(|x| x * x).sum();
    let products: f64 = x().zip(y).map(|(x, y)| x * y).sum();
    let slope = (n * products - sum_x * sum_y) / (n * squares - sum_x * sum_x);
    let first = (sum_y - slope * sum_x) / n;
    x().map(|x| slope * x + first).collect()
}

/// The line by repeated medians, `[n]` (Siegel 1982, Robust regression using repeated medians): its slope is the median over the values
/// of the median slope to all others.
pub(super) fn robust_line(y: &[f64]) -> Vec<f64> {
    let n = y.len();
    let mut to_others = Vec::with_capacity(n);
    let slopes: Vec<f64> = (0..n)
        .map(|i| {
            to_others.clear();
            let others = (0..n).filter(|j| *j != i);
            to_others.extend(others.map(|j| (y[j] - y[i]) / (j as f64 - i as f64)));
            median(&mut to_others)
        })
        .collect();
    let mut first: Vec<f64> =
        y.iter().zip(&slopes).enumerate().map(|(x, (y, slope))| y - slope * x as f64).collect();
    let (slope, first) = (median(&mut slopes.clone()), median(&mut first));
    (0..n).map(|x| slope * x as f64 + first).collect()
}

/// A broken line that bends at some of `count` places, `[n]`: the sum of basis functions with the weights of a lasso, whose penalty is
/// `alpha`. After its bend a function keeps the share 1 - `decay` of its slope; without a `decay` the share follows from the size of the bend.
pub(super) fn broken_line(y: &[f64], count: usize, alpha: f64, decay: Option<f64>) -> Vec<f64> {
    let columns = basis(y, count, decay);
    let weights = lasso(&columns, y, alpha);
    let mut sum = vec![0.0; y.len()];
    for (weight, column) in weights.iter().zip(&columns).filter(|(weight, _)| **weight != 0.0) {
        sum.iter_mut().zip(column).for_each(|(sum, x)| *sum += weight * x);
    }
    sum
}

/// Lines from the first value to that at a bend, and from there towards the last; and the constant.
fn basis(y: &[f64], count: usize, decay: Option<f64>) -> Vec<Vec<f64>> {
    let n = y.len();
    if count == 0 {
        return vec![(0..n).map(|x| x as f64).collect()];
    }
    let last = y[n - 1] - y[0];
    let mean = y.iter().map(|value| value - y[0]).sum::<f64>() / n as f64;
    let mut columns = Vec::with_capacity(count + 1);
    let mut bend = 0;
    for left in (1..=count).rev() {
        bend += (n - bend) / left;
        let at = y[bend - 1] - y[0];
        let decay = decay.unwrap_or_else(|| {
            let square = at * at / if mean == 0.0 { 1.0 } else { mean * mean };
            square.clamp(0.001, 0.99)
        });
        let end = at - (at - last) * (1.0 - decay);
        let share = |place: usize, steps: usize| place as f64 / steps.max(1) as f64;
        let before = (0..bend).map(|t| at * share(t, bend - 1));
        let after = (1..=n - bend).map(|t| at + (end - at) * share(t, n - bend));
        columns.push(before.chain(after).collect());
    }
    columns.push(vec![1.0; n]);
    columns
}

/// Rounds of the descent at most, and the share of the squares at which its gap to the minimum ends it.
const ROUNDS: usize = 10_000;
const TOLERANCE: f64 = 1e-3;

/// The weights of columns with the least mean of squares (halved) and `alpha` times the sum of their sizes, by coordinate descent.
fn lasso(columns: &[Vec<f64>], y: &[f64], alpha: f64) -> Vec<f64> {
    let penalty = alpha * y.len() as f64;
    let norms: Vec<f64> = columns.iter().map(|column| dot(column, column)).collect();
    let mut weights = vec![0.0; columns.len()];
    let mut rest = y.to_vec();
    let whole = dot(y, y);
    for _ in 0..ROUNDS {
        let (mut largest, mut moved) = (0.0_f64, 0.0_f64);
        for ((weight, column), norm) in
            weights.iter_mut().zip(columns).zip(&norms).filter(|(_, norm)| **norm > 0.0)
        {
            let before = *weight;
            let pull = dot(column, &rest) + before * norm;
            *weight = pull.signum() * (pull.abs() - penalty).max(0.0) / norm;
            let change = *weight - before;
            if change != 0.0 {
                rest.iter_mut().zip(column).for_each(|(rest, x)| *rest -= change * x);
            }
            (largest, moved) = (largest.max(weight.abs()), moved.max(change.abs()));
        }
        if largest == 0.0 || moved / largest < TOLERANCE {
            // The gap between the value and that of the dual problem.
            let pull = columns.iter().map(|column| dot(column, &rest).abs()).fold(0.0, f64::max);
            let scale = if pull > penalty { penalty / pull } else { 1.0 };
            let squares = dot(&rest, &rest);
            let gap = 0.5 * squares * (1.0 + scale * scale)
                + penalty * weights.iter().map(|weight: &f64| weight.abs()).sum::<f64>()
                - scale * dot(&rest, y);
            if gap < TOLERANCE * whole {
                break;
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_a_wild_value_moves_the_robust_one_little() {
        let mut y: Vec<f64> = (0..21).map(|t| 3.0 + 0.5 * t as f64).collect();
        assert!(
            line(&y)
                .iter()
                .chain(&robust_line(&y))
                .zip(y.iter().chain(&y))
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
        y[20] = 1000.0;
        assert!((robust_line(&y)[20] - 13.0).abs() < 0.1 && line(&y)[20] > 100.0);
    }

    #[test]
    fn basis_functions_go_through_their_bends() {
        let y = [1.0, 2.0, 3.0, 5.0, 4.0, 3.0];
        let columns = basis(&y, 2, Some(0.5));
        assert_eq!(columns.len(), 3);
        // The first bend is the third value, 2 above the first; the end half of the way to the last, which is as high.
        assert_eq!(columns[0], [0.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(columns[1].len(), 6);
        assert_eq!(basis(&y, 0, None), [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]);
    }

    #[test]
    fn the_lasso_shrinks_and_leaves_out() {
        let columns = vec![vec![1.0, 1.0, 1.0, 1.0], vec![1.0, -1.0, 1.0, -1.0]];
        let y = [5.0, 3.0, 5.0, 3.0];
        // Columns without correlation: each weight is that of least squares less the penalty.
        let weights = lasso(&columns, &y, 0.5);
        assert!((weights[0] - 3.5).abs() < 1e-9 && (weights[1] - 0.5).abs() < 1e-9, "{weights:?}");
        assert_eq!(lasso(&columns, &y, 1.5)[1], 0.0);
    }
}
