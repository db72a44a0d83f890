//! The rows to score: the actual values, what each model forecast, and where each row belongs.

use crate::error::EvaluationError;

/// The forecasts of one model, a value per row.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelForecasts<'a> {
    /// Its name.
    pub name: String,
    /// Its point forecasts.
    pub point: &'a [f64],
    /// Its quantiles by their probability, which increase.
    pub quantiles: Vec<(f64, &'a [f64])>,
}

impl<'a> ModelForecasts<'a> {
    /// A model that forecasts points alone.
    pub fn of_points(name: impl Into<String>, point: &'a [f64]) -> Self {
        Self { name: name.into(), point, quantiles: Vec::new() }
    }

    /// The same with quantiles.
    pub fn with_quantiles(mut self, quantiles: impl IntoIterator<Item = (f64, &'a [f64])>) -> Self {
        self.quantiles.extend(quantiles);
        self.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        self
    }

    /// The quantile of that probability.
    pub(crate) fn quantile(&self, q: f64) -> Option<&'a [f64]> {
        self.quantiles.iter().find(|(known, _)| same(*known, q)).map(|(_, values)| *values)
    }

    /// The central intervals between its quantiles, in percent, upwards.
    pub fn levels(&self) -> impl Iterator<Item = f64> {
        self.intervals().map(percent)
    }

    /// The probabilities in the central intervals between its quantiles, upwards.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = f64> {
        let lower = self.quantiles.iter().rev().filter(|(q, _)| *q < 0.5);
        lower.filter(|(q, _)| self.quantile(1.0 - q).is_some()).map(|(q, _)| 1.0 - 2.0 * q)
    }
}

/// Without what single precision or a difference adds: 90 for 89.99999985.
pub(crate) fn short(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The level in percent of an interval that holds this probability: 20 between 0.4 and 0.6 in single precision, not 19.999998.
pub(crate) fn percent(inside: f64) -> f64 {
    short(100.0 * short(inside))
}

/// Whether two probabilities are the same, though one may come from a number in percent or in single precision.
pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// Forecasts beside the actual values, in any order of rows.
#[derive(Clone, Debug)]
pub struct ScoredRows<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) series: &'a [u32],
    pub(crate) cutoff: &'a [i64],
    pub(crate) step: &'a [u32],
    pub(crate) models: Vec<ModelForecasts<'a>>,
}

impl<'a> ScoredRows<'a> {
    /// Rows of the actual values (`y`, NaN where it is unknown), the number of the series, the time of the last known row (or any
    /// number that tells forecasts apart), the step ahead, and the forecasts of the models.
    ///
    /// # Errors
    /// Columns of different lengths, and quantiles whose probabilities are not from 0 to 1.
    pub fn new(
        y: &'a [f64],
        series: &'a [u32],
        cutoff: &'a [i64],
        step: &'a [u32],
        models: Vec<ModelForecasts<'a>>,
    ) -> Result<Self, EvaluationError> {
        for model in &models {
            if let Some(&(found, _)) = model.quantiles.iter().find(|(q, _)| !(0.0..=1.0).contains(q)) {
                return Err(EvaluationError::Quantile { model: model.name.clone(), found });
            }
        }
        let own = [("series", series.len()), ("cutoff", cutoff.len()), ("step", step.len())];
        let own = own.into_iter().map(|(what, rows)| (what.to_owned(), rows));
        let of_models = models.iter().flat_map(|model| {
            let quantiles = model
                .quantiles
                .iter()
                .map(|(q, values)| (format!("{}, quantile {q}", model.name), values.len()));
            quantiles.chain([(model.name.clone(), model.point.len())])
        });
        let expected = y.len();
        match own.chain(of_models).find(|(_, found)| *found != expected) {
            Some((what, found)) => Err(EvaluationError::Rows { what, expected, found }),
            None => Ok(Self { y, series, cutoff, step, models }),
        }
    }

    /// The models.
    pub fn models(&self) -> &[ModelForecasts<'a>] {
        &self.models
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_in_percent_are_refused() {
        let column = [0.0];
        for q in [10.0, -0.1, f64::NAN] {
            let model = ModelForecasts::of_points("a", &column).with_quantiles([(q, &column[..])]);
            let error = ScoredRows::new(&[1.0], &[0], &[0], &[1], vec![model]).unwrap_err().to_string();
            assert!(error.starts_with("a has a quantile of probability "), "{error}");
        }
    }

    #[test]
    fn levels_have_no_digits_of_single_precision() {
        let column = [0.0];
        let tenths = (1..10).map(|tenth| (f64::from(tenth as f32 / 10.0), &column[..]));
        let model = ModelForecasts::of_points("a", &column).with_quantiles(tenths);
        assert_eq!(model.levels().collect::<Vec<_>>(), [20.0, 40.0, 60.0, 80.0]);
    }
}
