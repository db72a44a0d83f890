//! A forecast and what it is made of.

use crate::error::ProphetError;
use crate::fit::{Model, SeriesFit};
use crate::rows::Rows;
use crate::settings::Mode;
use crate::trend::Changes;

/// A part of a forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentValues {
    /// `yearly`, `weekly`, `daily`, `holidays`, or the name of a seasonality or column.
    pub name: String,
    /// Whether it is added, in the units of the data, or a fraction of the trend.
    pub mode: Mode,
    /// `[rows]`.
    pub values: Vec<f64>,
}

/// A forecast in parts: `trend * (1 + multiplicative components) + additive components`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastParts {
    /// The trend, `[rows]`.
    pub trend: Vec<f64>,
    /// The other parts.
    pub components: Vec<ComponentValues>,
}

impl ForecastParts {
    /// The sums of the multiplicative and of the additive components in a row.
    pub(crate) fn sums(&self, row: usize) -> [f64; 2] {
        [Mode::Multiplicative, Mode::Additive].map(|mode| {
            let of_mode = self.components.iter().filter(|component| component.mode == mode);
            of_mode.map(|component| component.values[row]).sum()
        })
    }

    /// The forecast, `[rows]`.
    pub fn forecast(&self) -> Vec<f64> {
        let forecast = |(row, trend): (usize, &f64)| {
            let [part, added] = self.sums(row);
            trend * (1.0 + part) + added
        };
        self.trend.iter().enumerate().map(forecast).collect()
    }
}

/// Rows on the scale of a fitted series; empty of one that is forecast by its last value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScaledRows {
    pub(crate) t: Vec<f64>,
    /// Scaled capacities.
    pub(crate) cap: Vec<f64>,
    /// Floors on the scale of the data.
    pub(crate) floor: Vec<f64>,
}

impl Model {
    /// Rows of a fitted series on the scale of its fit.
    ///
    /// # Errors
    /// As [`Model::bounds`].
    pub(crate) fn scaled(
        &self,
        series: &str,
        fit: &SeriesFit,
        rows: &Rows,
    ) -> Result<ScaledRows, ProphetError> {
        if fit.is_last_value() {
            return Ok(ScaledRows::default());
        }
        let (cap, floor) = self.bounds(series, fit, rows)?;
        Ok(ScaledRows { t: fit.scaled_times(rows), cap, floor })
    }

    /// The parts of a forecast of these rows.
    ///
    /// # Errors
    /// If the condition of a seasonality is neither 0 nor 1.
    pub(crate) fn decompose(
        &self,
        series: &str,
        fit: &SeriesFit,
        rows: &Rows,
        scaled: &ScaledRows,
    ) -> Result<ForecastParts, ProphetError> {
        if fit.is_last_value() {
            return Ok(self.last_value_alone(fit, rows));
        }
        let changes = Changes { growth: self.settings.growth, times: &fit.changepoints };
        let mut trend = changes.trend(fit.first_segment(), &fit.delta, &scaled.t, &scaled.cap);
        trend.iter_mut().zip(&scaled.floor).for_each(|(trend, floor)| *trend = *trend * fit.y_scale + floor);
        let x = self.design.matrix(series, rows, &fit.standards)?;
        let width = self.design.width();
        let component = |component: &crate::design::Component| {
            let scale = if component.mode == Mode::Additive { fit.y_scale } else { 1.0 };
            let columns = component.columns.clone();
            let value = |row: usize| {
                let terms = x[row * width..][columns.clone()].iter().zip(&fit.beta[columns.clone()]);
                scale * terms.map(|(x, beta)| x * beta).sum::<f64>()
            };
            let (name, mode) = (component.name.clone(), component.mode);
            ComponentValues { name, mode, values: (0..rows.len()).map(value).collect() }
        };
        Ok(ForecastParts { trend, components: self.design.components.iter().map(component).collect() })
    }

    /// The last value of a series as its trend, to which nothing is added.
    fn last_value_alone(&self, fit: &SeriesFit, rows: &Rows) -> ForecastParts {
        let nothing = |component: &crate::design::Component| ComponentValues {
            name: component.name.clone(),
            mode: component.mode,
            values: vec![0.0; rows.len()],
        };
        let components = self.design.components.iter().map(nothing).collect();
        ForecastParts { trend: vec![fit.offset; rows.len()], components }
    }
}
