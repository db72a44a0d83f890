//! Linear regression with few coefficients.

use foretell_estimator::dot;

/// The coefficients with which the columns of `rows` add up to `y` best. A column that is a sum of those before it gets 0.
pub(crate) fn least_squares<const K: usize>(rows: &[[f64; K]], y: &[f64]) -> [f64; K] {
    let columns = (0..K).map(|k| rows.iter().map(|row| row[k]).collect()).collect();
    least_squares_of(columns, y).try_into().expect("a coefficient of each column")
}

/// The coefficients with which these columns add up to `y` best. A column that is a sum of those before it gets 0.
pub(crate) fn least_squares_of(mut columns: Vec<Vec<f64>>, y: &[f64]) -> Vec<f64> {
    // Gram-Schmidt: columns without what those before them explain.
    let count = columns.len();
    let mut rest = y.to_vec();
    let mut triangle = vec![vec![0.0; count]; count];
    let mut coefficients = vec![0.0; count];
    for k in 0..count {
        let (before, column) = columns.split_at_mut(k);
        let column = &mut column[0];
        let whole = dot(column, column);
        // Twice, as the first pass leaves rounding errors of long columns.
        for _ in 0..2 {
            for (earlier, own) in before.iter().zip(&mut triangle[k]) {
                let share = dot(earlier, column);
                *own += share;
                column.iter_mut().zip(earlier).for_each(|(x, e)| *x -= share * e);
            }
        }
        let length = dot(column, column).sqrt();
        if length * length <= 1e-20 * whole {
            column.fill(0.0);
            continue;
        }
        column.iter_mut().for_each(|x| *x /= length);
        triangle[k][k] = length;
        coefficients[k] = dot(column, &rest);
        rest.iter_mut().zip(&*column).for_each(|(y, x)| *y -= coefficients[k] * x);
    }
    for k in (0..count).rev() {
        let later: f64 = (k + 1..count).map(|j| triangle[j][k] * coefficients[j]).sum();
        coefficients[k] =
            if triangle[k][k] == 0.0 { 0.0 } else { (coefficients[k] - later) / triangle[k][k] };
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_found_and_a_column_too_many_gets_none() {
        let rows: Vec<[f64; 4]> = (0..9).map(f64::from).map(|t| [1.0, t, 2.0 * t - 1.0, t * t]).collect();
        let y: Vec<f64> = rows.iter().map(|row| 3.0 - 2.0 * row[1] + 0.5 * row[3]).collect();
        let found = least_squares(&rows, &y);
        let expected = [3.0, -2.0, 0.0, 0.5];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-10), "{found:?}");
    }
}
