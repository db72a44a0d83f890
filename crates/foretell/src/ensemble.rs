//! Forecasts of several models combined into one.

use std::fmt;
use std::str::FromStr;

use foretell_estimator::{mean, median};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::usage_error::UsageError;

/// How the forecasts of all models of a forecaster become one more column. Combined forecasts are seldom the worst and often better
/// than each of their members (Bates and Granger 1969, "The combination of forecasts").
///
/// ```
/// use foretell::Ensemble;
///
/// let ensemble: Ensemble = "weighted:5".parse()?;
/// assert_eq!(ensemble, Ensemble::Weighted { n_windows: 5 });
/// assert_eq!(ensemble.column(), "EnsembleWeighted");
/// # Ok::<(), foretell::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ensemble {
    /// Their mean.
    Mean,
    /// Their median, the mean of the two in the middle if their number is even.
    Median,
    /// Their mean with weights, none below 0, that add up to 1: those of the least squared error of the forecasts of the last
    /// `n_windows` horizons of each series, by models that are trained without them, or where intervals are calibrated of the
    /// forecasts that these are calibrated on. All series count alike.
    Weighted {
        /// Forecasts of each series, a horizon apart; at least 2.
        n_windows: usize,
    },
}

impl Ensemble {
    /// The name of its column.
    pub fn column(self) -> &'static str {
        match self {
            Self::Mean => "EnsembleMean",
            Self::Median => "EnsembleMedian",
            Self::Weighted { .. } => "EnsembleWeighted",
        }
    }

    /// How trained models are combined, with the `weights` that were learnt; nothing if it needs some and there are none.
    pub(crate) fn combination(self, weights: Option<&[f64]>) -> Option<Combination> {
        match self {
            Self::Mean => Some(Combination::Mean),
            Self::Median => Some(Combination::Median),
            Self::Weighted { .. } => {
                weights.map(|weights| Combination::Weighted { weights: weights.to_vec() })
            }
        }
    }
}

impl fmt::Display for Ensemble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => write!(f, "mean"),
            Self::Median => write!(f, "median"),
            Self::Weighted { n_windows } => write!(f, "weighted:{n_windows}"),
        }
    }
}

/// Reads `mean`, `median` or `weighted[:N]`.
impl FromStr for Ensemble {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        /// Windows to learn weights by, where their number is not said.
        const WINDOWS: usize = 3;
        let wrong = || UsageError::EnsembleText { found: text.to_owned() };
        match text.split_once(':').unwrap_or((text, "")) {
            ("mean", "") => Ok(Self::Mean),
            ("median", "") => Ok(Self::Median),
            ("weighted", "") => Ok(Self::Weighted { n_windows: WINDOWS }),
            ("weighted", n) => match n.parse() {
                Ok(n_windows @ 2..) => Ok(Self::Weighted { n_windows }),
                _ => Err(wrong().into()),
            },
            _ => Err(wrong().into()),
        }
    }
}

/// An ensemble of trained models, as directories keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "combine", rename_all = "lowercase")]
pub(crate) enum Combination {
    Mean,
    Median,
    /// A weight for each model, in their order.
    Weighted {
        weights: Vec<f64>,
    },
}

impl Combination {
    /// The name of its column.
    pub(crate) fn column(&self) -> &'static str {
        match self {
            Self::Mean => Ensemble::Mean,
            Self::Median => Ensemble::Median,
            Self::Weighted { .. } => Ensemble::Weighted { n_windows: 1 },
        }
        .column()
    }

    /// The weight of each of this many models, where it is told by weights.
    pub(crate) fn weights(&self) -> Option<&[f64]> {
        match self {
            Self::Weighted { weights } => Some(weights),
            Self::Mean | Self::Median => None,
        }
    }

    /// The same of the first this many models alone, whose weights then add up to 1; nothing if they have no weight.
    pub(crate) fn of_first(self, count: usize) -> Option<Self> {
        match self {
            Self::Weighted { mut weights } if weights.len() != count => {
                weights.truncate(count);
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|weight| *weight /= sum);
                (sum > 0.0 && weights.len() == count).then_some(Self::Weighted { weights })
            }
            other => Some(other),
        }
    }

    /// Combines columns of the same length, one of each model.
    pub(crate) fn combine(&self, columns: &[&[f32]]) -> Vec<f32> {
        let rows = columns.first().map_or(0, |column| column.len());
        let mut values = vec![0.0; columns.len()];
        let combine = |row: usize| {
            values.iter_mut().zip(columns).for_each(|(value, column)| *value = f64::from(column[row]));
            let combined = match self {
                Self::Mean => mean(&values),
                // No number if one of them is none.
                Self::Median if values.iter().any(|value| value.is_nan()) => f64::NAN,
                Self::Median => median(&mut values),
                Self::Weighted { weights } => {
                    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
                }
            };
            combined as f32
        };
        (0..rows).map(combine).collect()
    }
}

/// Its column, and the weights to three digits.
impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.column())?;
        let Some(weights) = self.weights() else { return Ok(()) };
        let weights: Vec<String> = weights.iter().map(|weight| format!("{weight:.3}")).collect();
        write!(f, " ({})", weights.join(", "))
    }
}

/// The weights, none below 0, that add up to 1, with the least sum of squares of `truth - weights * forecasts`.
///
/// From the products of the columns with each other: pairs of weights exchange what lowers the sum most until nothing does, which
/// ends in the only minimum there is, as the sum is convex.
#[derive(Debug)]
pub(crate) struct LeastSquares {
    /// The sums of products of the errors of two models, `[models, models]`.
    products: Vec<f64>,
    models: usize,
}

impl LeastSquares {
    pub(crate) fn new(models: usize) -> Self {
        Self { products: vec![0.0; models * models], models }
    }

    /// Adds the errors of all models in one row. As the weights add up to 1, the error of the whole is the weighted sum of these.
    pub(crate) fn add(&mut self, errors: &[f64], weight: f64) {
        for (i, one) in errors.iter().enumerate() {
            for (j, other) in errors.iter().enumerate() {
                self.products[i * self.models + j] += weight * one * other;
            }
        }
    }

    /// The weights.
    pub(crate) fn weights(&self) -> Vec<f64> {
        const SWEEPS: usize = 1000;
        let n = self.models;
        let mut weights = vec![1.0 / n as f64; n];
        let product = |i: usize, j: usize| self.products[i * n + j];
        // Half the derivative by each weight.
        let slope = |weights: &[f64], i: usize| (0..n).map(|j| product(i, j) * weights[j]).sum::<f64>();
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for i in 0..n {
                for j in 0..i {
                    let curvature = product(i, i) + product(j, j) - 2.0 * product(i, j);
                    if curvature <= 0.0 {
                        continue;
                    }
                    let step = (slope(&weights, j) - slope(&weights, i)) / curvature;
                    let step = step.clamp(-weights[i], weights[j]);
                    (weights[i], weights[j]) = (weights[i] + step, weights[j] - step);
                    moved = moved.max(step.abs());
                }
            }
            if moved < 1e-9 {
                break;
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_combined_row_by_row() {
        let columns: [&[f32]; 4] = [&[1.0, f32::NAN], &[2.0, 1.0], &[30.0, 1.0], &[4.0, 1.0]];
        let first = |combination: &Combination| combination.combine(&columns)[0];
        assert_eq!(first(&Combination::Mean), 9.25);
        assert_eq!(first(&Combination::Median), 3.0);
        assert_eq!(Combination::Median.combine(&columns[1..])[0], 4.0);
        assert_eq!(first(&Combination::Weighted { weights: vec![0.5, 0.25, 0.0, 0.25] }), 2.0);
        assert!(
            Combination::Median.combine(&columns)[1].is_nan()
                && Combination::Mean.combine(&columns)[1].is_nan()
        );
    }

    #[test]
    fn weights_are_the_best_there_are() {
        // Errors as of three models: the second is small and independent of the first, the third is the first and more.
        let rows: Vec<[f64; 3]> = (0..500)
            .map(|i| {
                let (one, other) = ((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos() * 0.6);
                [one, other, one * 1.5 + 0.1]
            })
            .collect();
        let mut squares = LeastSquares::new(3);
        rows.iter().for_each(|row| squares.add(row, 1.0));
        let weights = squares.weights();
        let loss = |weights: &[f64]| -> f64 {
            rows.iter().map(|row| row.iter().zip(weights).map(|(e, w)| e * w).sum::<f64>().powi(2)).sum()
        };
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9 && weights.iter().all(|w| *w >= 0.0));
        let best = loss(&weights);
        for i in 0..=50 {
            for j in 0..=50 - i {
                let other = [i as f64 / 50.0, j as f64 / 50.0, (50 - i - j) as f64 / 50.0];
                assert!(loss(&other) >= best - 1e-9, "{other:?} is better than {weights:?}");
            }
        }
        assert!(weights[1] > weights[0] && weights[2] < 1e-6, "{weights:?}");
        assert_eq!(LeastSquares::new(1).weights(), [1.0]);
        assert_eq!(LeastSquares::new(2).weights(), [0.5, 0.5], "without any error all weights are as good");
    }

    #[test]
    fn ensembles_are_read_as_they_are_written() {
        for text in ["mean", "median", "weighted:7"] {
            assert_eq!(text.parse::<Ensemble>().expect("an ensemble").to_string(), text);
        }
        for text in ["", "best", "mean:2", "weighted:1", "weighted:x", "weighted:1:2"] {
            assert!(text.parse::<Ensemble>().is_err(), "{text:?}");
        }
    }
}
