//! Ridge regression, averaged over its penalty by errors of rows that were left out.

use foretell_estimator::dot;

/// Penalties: 25 from 1e-4 to 1e4, evenly by their logarithms.
const PENALTIES: usize = 25;

/// Lengths below this are none.
const LEAST_LENGTH: f64 = 1e-10;

/// A ridge regression of rows of few columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ridge {
    /// A coefficient of each column.
    pub(crate) coefficients: Vec<f64>,
    /// The error of each row by the coefficients without it, divided by the root of 1 and its leverage, so that all rows are alike.
    pub(crate) errors: Vec<f64>,
    /// Rows of the directions of the columns' space, with their length and what the penalties leave of each.
    directions: Vec<Direction>,
}

#[derive(Clone, Debug, PartialEq)]
struct Direction {
    of_columns: Vec<f64>,
    length: f64,
    left: f64,
}

impl Ridge {
    /// Fits `y` by columns of as many rows.
    ///
    /// The error of a row left out is `e / (1 - leverage)`, exactly. Penalties are weighed by `exp(-(m - least) / least)` of their mean
    /// squares `m`.
    pub(crate) fn fit(columns: Vec<Vec<f64>>, y: &[f64]) -> Self {
        let rows = y.len();
        let (turned, directions) = decompose(columns);
        let lengths: Vec<f64> = turned.iter().map(|column| dot(column, column).sqrt()).collect();
        // Unit vectors; what has no length explains nothing.
        let units: Vec<Vec<f64>> = turned
            .into_iter()
            .zip(&lengths)
            .map(|(column, &length)| {
                let scale = if length > LEAST_LENGTH { 1.0 / length } else { 0.0 };
                column.into_iter().map(|x| x * scale).collect()
            })
            .collect();
        let along: Vec<f64> = units.iter().map(|unit| dot(unit, y)).collect();
        let left_of = |length: f64, penalty: f64| length * length / (length * length + penalty);
        let (mut fitted, mut leverage) = (vec![0.0; rows], vec![0.0; rows]);
        let project = |left: &[f64], fitted: &mut Vec<f64>, leverage: &mut Vec<f64>| {
            fitted.fill(0.0);
            leverage.fill(0.0);
            for ((unit, along), left) in units.iter().zip(&along).zip(left) {
                for ((u, fitted), leverage) in unit.iter().zip(&mut *fitted).zip(&mut *leverage) {
                    *fitted += left * along * u;
                    *leverage += left * u * u;
                }
            }
        };
        let mut lefts = Vec::with_capacity(PENALTIES);
        let mut squares = Vec::with_capacity(PENALTIES);
        for i in 0..PENALTIES {
            let penalty = 10.0_f64.powf(-4.0 + 8.0 * i as f64 / (PENALTIES - 1) as f64);
            let left: Vec<f64> = lengths.iter().map(|&length| left_of(length, penalty)).collect();
            project(&left, &mut fitted, &mut leverage);
            let error = |i: usize| (y[i] - fitted[i]) / (1.0 - leverage[i]).max(LEAST_LENGTH);
            squares.push((0..rows).map(|i| error(i).powi(2)).sum::<f64>() / rows as f64);
            lefts.push(left);
        }
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights: Vec<f64> =
            squares.iter().map(|square| (-(square - least) / least.max(LEAST_LENGTH)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let mut left = vec![0.0; lengths.len()];
        for (weight, of_penalty) in weights.iter().zip(&lefts) {
            left.iter_mut().zip(of_penalty).for_each(|(sum, left)| *sum += weight * left);
        }
        project(&left, &mut fitted, &mut leverage);
        let errors = (0..rows).map(|i| {
            let without = (y[i] - fitted[i]) / (1.0 - leverage[i]).max(LEAST_LENGTH);
            without / (1.0 + leverage[i]).sqrt()
        });
        let errors = errors.collect();
        let mut coefficients = vec![0.0; lengths.len()];
        for (i, of_columns) in directions.iter().enumerate() {
            let scale = left[i] * along[i] / lengths[i].max(LEAST_LENGTH);
            coefficients.iter_mut().zip(of_columns).for_each(|(sum, v)| *sum += scale * v);
        }
        let parts = directions.into_iter().zip(lengths).zip(left);
        let directions =
            parts.map(|((of_columns, length), left)| Direction { of_columns, length, left }).collect();
        Self { coefficients, errors, directions }
    }

    /// The leverage that a row of these values would have.
    pub(crate) fn leverage(&self, row: &[f64]) -> f64 {
        let of = |direction: &Direction| {
            let place = dot(&direction.of_columns, row) / direction.length;
            if direction.length > LEAST_LENGTH { direction.left * place * place } else { 0.0 }
        };
        self.directions.iter().map(of).sum()
    }
}

/// Turns columns until they stand at right angles, in pairs (Hestenes 1958): their lengths are the singular values. The second is
/// the directions, each a row.
fn decompose(mut columns: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    const MOST_ROUNDS: usize = 40;
    let n = columns.len();
    let mut directions: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..MOST_ROUNDS {
        let mut turned = false;
        for i in 0..n {
            for j in i + 1..n {
                let (a, b, c) = (
                    dot(&columns[i], &columns[i]),
                    dot(&columns[j], &columns[j]),
                    dot(&columns[i], &columns[j]),
                );
                if c == 0.0 || c.abs() <= 1e-15 * (a * b).sqrt() {
                    continue;
                }
                turned = true;
                let half = (b - a) / (2.0 * c);
                let tangent = 1.0_f64.copysign(half) / (half.abs() + libm::hypot(half, 1.0));
                let cosine = 1.0 / libm::hypot(tangent, 1.0);
                let sine = cosine * tangent;
                turn(&mut columns, i, j, cosine, sine);
                turn(&mut directions, i, j, cosine, sine);
            }
        }
        if !turned {
            break;
        }
    }
    (columns, directions)
}

fn turn(vectors: &mut [Vec<f64>], i: usize, j: usize, cosine: f64, sine: f64) {
    let (before, after) = vectors.split_at_mut(j);
    for (a, b) in before[i].iter_mut().zip(&mut after[0]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let t = || (0..n).map(|i| i as f64);
        let columns = vec![
            vec![1.0; n],
            t().map(|t| t / n as f64).collect(),
            t().map(|t| 30.0 * (t * 1.7).sin()).collect(),
        ];
        let y = t().map(|t| 4.0 - 0.2 * t + 6.0 * (t * 1.7).sin() + (t * t).cos()).collect();
        (columns, y)
    }

    /// A solution of `(X'X + penalty) b = X'y` by elimination.
    fn solved(columns: &[Vec<f64>], y: &[f64], penalty: f64, without: Option<usize>) -> Vec<f64> {
        let n = columns.len();
        let product = |a: &[f64], b: &[f64]| {
            (0..y.len()).filter(|i| Some(*i) != without).map(|i| a[i] * b[i]).sum::<f64>()
        };
        let mut a: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut row: Vec<f64> = (0..n).map(|j| product(&columns[i], &columns[j])).collect();
                row[i] += penalty;
                row.push(product(&columns[i], y));
                row
            })
            .collect();
        for i in 0..n {
            for j in (0..n).filter(|j| *j != i) {
                let factor = a[j][i] / a[i][i];
                for k in i..=n {
                    a[j][k] -= factor * a[i][k];
                }
            }
        }
        (0..n).map(|i| a[i][n] / a[i][i]).collect()
    }

    #[test]
    fn it_is_the_mean_of_regressions_weighed_by_rows_left_out() {
        let (columns, y) = rows(25);
        let ridge = Ridge::fit(columns.clone(), &y);
        let (mut fits, mut squares) = (Vec::new(), Vec::new());
        for i in 0..PENALTIES {
            let penalty = 10.0_f64.powf(-4.0 + i as f64 / 3.0);
            let left_out = |row: usize| {
                let b = solved(&columns, &y, penalty, Some(row));
                y[row] - columns.iter().zip(&b).map(|(column, b)| column[row] * b).sum::<f64>()
            };
            squares.push((0..25).map(|row| left_out(row).powi(2)).sum::<f64>() / 25.0);
            fits.push(solved(&columns, &y, penalty, None));
        }
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = squares.iter().map(|square| (1.0 - square / least).exp()).collect();
        for (i, found) in ridge.coefficients.iter().enumerate() {
            let expected = fits.iter().zip(&weights).map(|(b, weight)| b[i] * weight).sum::<f64>()
                / weights.iter().sum::<f64>();
            assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
        }
    }

    #[test]
    fn the_leverage_of_rows_is_what_their_errors_are_divided_by() {
        let (columns, y) = rows(12);
        let ridge = Ridge::fit(columns.clone(), &y);
        for row in 0..12 {
            let values: Vec<f64> = columns.iter().map(|column| column[row]).collect();
            let leverage = ridge.leverage(&values);
            let error = y[row] - dot(&values, &ridge.coefficients);
            let expected = error / (1.0 - leverage) / (1.0 + leverage).sqrt();
            assert!((ridge.errors[row] - expected).abs() < 1e-9, "{} {expected}", ridge.errors[row]);
        }
    }

    #[test]
    fn columns_that_say_the_same_or_nothing_are_borne() {
        let ridge = Ridge::fit(vec![vec![1.0; 5], vec![0.0; 5], vec![2.0; 5]], &[3.0, 3.0, 3.0, 3.0, 3.0]);
        let fitted = ridge.coefficients[0] + 2.0 * ridge.coefficients[2];
        assert!((fitted - 3.0).abs() < 0.1 && ridge.coefficients[1] == 0.0, "{ridge:?}");
        let few = Ridge::fit(vec![vec![1.0], vec![0.5], vec![7.0]], &[2.0]);
        assert!(few.coefficients.iter().chain(&few.errors).all(|x| x.is_finite()), "{few:?}");
    }
}
