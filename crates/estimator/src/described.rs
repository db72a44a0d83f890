//! What a trained estimator chose for a series.

use std::borrow::Cow;

/// The form that a trained estimator has for a series, and the numbers that it estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The id of the series.
    pub series: String,
    /// The form in the field's notation, alike for series with the same: `ETS(A,Ad,M)`, `ARIMA(1,1,1)(0,1,1)[12] with drift`.
    pub form: String,
    /// Names and values: smoothing parameters, coefficients, changes of a trend.
    pub numbers: NamedNumbers,
}

/// Numbers with their names.
pub type NamedNumbers = Vec<(Cow<'static, str>, f64)>;

/// A part that forecasts add up of, of all series of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastPart {
    /// Its name: `level`, `trend`, `season`.
    pub name: String,
    /// `[series, h]`.
    pub values: Vec<f32>,
}
