//! The forecasts of one model in `f64`, as metrics take them.

use foretell_evaluate::ModelForecasts;

/// The columns of one model.
#[derive(Debug)]
pub(crate) struct ModelColumns {
    pub(crate) name: String,
    pub(crate) point: Vec<f64>,
    /// Quantiles by their probability.
    pub(crate) quantiles: Vec<(f64, Vec<f64>)>,
}

impl ModelColumns {
    pub(crate) fn forecasts(&self) -> ModelForecasts<'_> {
        let quantiles = self.quantiles.iter().map(|(q, values)| (*q, &values[..]));
        ModelForecasts::of_points(self.name.clone(), &self.point).with_quantiles(quantiles)
    }
}
