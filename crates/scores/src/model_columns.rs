//! The forecasts of one model in `f64`, as metrics take them.

use foretell_evaluate::ModelForecasts;

/// The columns of one model.
#[derive(Debug)]
pub struct ModelColumns {
    /// The model.
    pub name: String,
    /// Its point forecasts, one a row.
    pub point: Vec<f64>,
    /// Its quantiles.
    pub quantiles: Vec<QuantileColumn>,
}

/// The quantiles of one probability.
#[derive(Debug)]
pub struct QuantileColumn {
    /// The probability.
    pub q: f64,
    /// The name of the column.
    pub name: String,
    /// One a row.
    pub values: Vec<f64>,
}

impl ModelColumns {
    /// The columns of quantiles that lack some of the rows whose truth is known and that the model forecasts, with how many.
    pub(crate) fn missing_quantiles(&self, y: &[f64]) -> Vec<(&str, usize)> {
        let has_points = self.point.iter().any(|point| !point.is_nan());
        let is_known = |row: &usize| !(y[*row].is_nan() || has_points && self.point[*row].is_nan());
        let known: Vec<usize> = (0..y.len()).filter(is_known).collect();
        let missing = |values: &[f64]| known.iter().filter(|&&row| values[row].is_nan()).count();
        let columns = self.quantiles.iter().map(|column| (column.name.as_str(), missing(&column.values)));
        columns.filter(|(_, missing)| (1..known.len()).contains(missing)).collect()
    }

    /// The central intervals: the level in percent, and the columns of quantiles that are the ends.
    pub(crate) fn intervals(&self) -> Vec<(f64, [usize; 2])> {
        let forecasts = self.forecasts();
        let place = |q: f64| self.quantiles.iter().position(|column| (column.q - q).abs() < 1e-6);
        let ends = |level: f64| Some((level, [place(0.5 - level / 200.0)?, place(0.5 + level / 200.0)?]));
        forecasts.levels().filter_map(ends).collect()
    }

    /// The columns as metrics take them.
    pub fn forecasts(&self) -> ModelForecasts<'_> {
        let quantiles = self.quantiles.iter().map(|column| (column.q, &column.values[..]));
        ModelForecasts::of_points(self.name.clone(), &self.point).with_quantiles(quantiles)
    }
}
