//! Whether one forecast is better than another, or only luckier: the test of Diebold and Mariano (1995), with the correction for
//! small samples of Harvey, Leybourne and Newbold (1997).

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::error::EvaluationError;

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DieboldMariano {
    /// Below 0 if the first forecast has the smaller losses; of Student's distribution with n - 1 degrees of freedom if the two
    /// are equally good.
    pub statistic: f64,
    /// The probability of a statistic at least as far from 0, if they are equally good.
    pub p_value: f64,
    /// Rows that were compared.
    pub rows: usize,
}

/// Compares the losses (squared or absolute errors) of two forecasts of `horizon` steps over consecutive rows. Rows where either
/// is NaN do not count.
///
/// # Errors
/// If one forecast has more losses than the other, or fewer than 2 rows are left.
pub fn diebold_mariano(
    first: &[f64],
    second: &[f64],
    horizon: usize,
) -> Result<DieboldMariano, EvaluationError> {
    if first.len() != second.len() {
        let what = "losses of the second forecast".to_owned();
        return Err(EvaluationError::Rows { what, expected: first.len(), found: second.len() });
    }
    let differences = first.iter().zip(second).map(|(a, b)| a - b);
    let d: Vec<f64> = differences.filter(|difference| !difference.is_nan()).collect();
    let rows = d.len();
    if rows < 2 {
        return Err(EvaluationError::FewErrors { found: rows });
    }
    let n = rows as f64;
    let mean = d.iter().sum::<f64>() / n;
    let covariance = |lag: usize| {
        let pairs = d[lag..].iter().zip(&d);
        pairs.map(|(now, before)| (now - mean) * (before - mean)).sum::<f64>() / n
    };
    let lags = horizon.clamp(1, rows) - 1;
    let mut variance = (covariance(0) + 2.0 * (1..=lags).map(covariance).sum::<f64>()) / n;
    if variance <= 0.0 {
        // The sum over lags may be negative; without them it is not.
        variance = covariance(0) / n;
    }
    // Losses of decimal numbers that differ by the same do so but for their rounding.
    let size = first
        .iter()
        .chain(second)
        .filter(|loss| loss.is_finite())
        .fold(0.0_f64, |size, loss| size.max(loss.abs()));
    let rounding = 1e-10 * size;
    if covariance(0).sqrt() <= rounding {
        // The same difference in every row: none, or one whose sign has this probability on both sides, as a sign test has it. Two rows that
        // agree prove nothing.
        let is_none = mean.abs() <= rounding;
        let statistic = if is_none { 0.0 } else { mean.signum() * f64::INFINITY };
        let of_sign = 0.5_f64.powi(i32::try_from(rows - 1).unwrap_or(i32::MAX));
        return Ok(DieboldMariano { statistic, p_value: if is_none { 1.0 } else { of_sign }, rows });
    }
    let h = (lags + 1) as f64;
    let correction = ((n + 1.0 - 2.0 * h + h * (h - 1.0) / n) / n).max(0.0).sqrt();
    let statistic = correction * mean / variance.sqrt();
    let students = StudentsT::new(0.0, 1.0, n - 1.0).expect("one row more than the degrees of freedom");
    Ok(DieboldMariano { statistic, p_value: 2.0 * students.cdf(-statistic.abs()), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistic_is_that_of_the_papers() {
        // d = 1, -1, 3, 1: mean 1, variance 2, lag 1: ((-2)(0) + (2)(-2) + (0)(2)) / 4 = -1.
        let (first, second) = ([1.0, 0.0, 3.0, 1.0], [0.0, 1.0, 0.0, 0.0]);
        let one = diebold_mariano(&first, &second, 1).unwrap();
        assert!((one.statistic - (3.0_f64 / 4.0).sqrt() / 0.5_f64.sqrt()).abs() < 1e-12, "{one:?}");
        // Two steps: the variance of the mean is (2 - 2) / 4 = 0, so the lag is left out.
        let two = diebold_mariano(&first, &second, 2).unwrap();
        assert!((two.statistic - (1.5_f64 / 4.0).sqrt() / 0.5_f64.sqrt()).abs() < 1e-12, "{two:?}");
        // Student's distribution with 3 degrees of freedom: P(|t| > 1.2247) = 0.3081.
        assert!((one.p_value - 0.308_068_01).abs() < 1e-6, "{one:?}");
        assert_eq!(diebold_mariano(&second, &first, 1).unwrap().statistic, -one.statistic);
    }

    #[test]
    fn equal_forecasts_are_equally_good() {
        let same = diebold_mariano(&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 1.0], 1).unwrap();
        assert_eq!(same, DieboldMariano { statistic: 0.0, p_value: 1.0, rows: 2 });
        assert_eq!(diebold_mariano(&[2.0, 3.0], &[1.0, 2.0], 1).unwrap().p_value, 0.5);
        // Losses of 10.3 and 10.1 for 10, and so on.
        let of = |error: f64| [10.0, 20.0, 30.0].map(|y: f64| (y + error - y).abs());
        for horizon in [1, 3] {
            assert_eq!(diebold_mariano(&of(0.3), &of(0.1), horizon).unwrap().p_value, 0.25);
        }
        let sure = diebold_mariano(&[1.0; 40], &[3.0; 40], 1).unwrap();
        assert!(sure.statistic == f64::NEG_INFINITY && sure.p_value < 1e-9, "{sure:?}");
        assert!(diebold_mariano(&[2.0], &[1.0], 1).is_err());
        let error = diebold_mariano(&[2.0, 3.0, 4.0], &[1.0, 1.0], 1).unwrap_err().to_string();
        assert!(error.contains("2 values where 3 are expected"), "{error}");
    }
}
