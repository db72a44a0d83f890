//! The options of forecasts of the history.

use crate::setters::setters;

/// The options of [`Fitted::predict_insample_with`](crate::Fitted::predict_insample_with).
///
/// ```
/// use foretell::InsampleOptions;
///
/// let options = InsampleOptions::new(7).level(&[80.0]).from_padding();
/// assert_eq!(options.step_size, 7);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InsampleOptions<'a> {
    /// Steps from one cutoff to the next.
    pub step_size: usize,
    /// Whether the first `h` rows of a series are forecast too, if whole steps lead to them. The model sees nothing but padding
    /// then, so the forecast is about 0, whatever the level of the series. neuralforecast has it.
    pub from_padding: bool,
    /// Central intervals to forecast, in percent, as [`PredictOptions::level`](crate::PredictOptions::level) says.
    pub level: &'a [f64],
    /// Quantiles to forecast in place of levels, as [`PredictOptions::quantiles`](crate::PredictOptions::quantiles) says.
    pub quantiles: &'a [f64],
}

impl<'a> InsampleOptions<'a> {
    /// The models' own columns, from a cutoff every this many steps.
    pub fn new(step_size: usize) -> Self {
        Self { step_size, from_padding: false, level: &[], quantiles: &[] }
    }

    /// Forecasts the first rows of series too.
    pub fn from_padding(self) -> Self {
        Self { from_padding: true, ..self }
    }

    setters! {
        /// Central intervals to forecast, in percent.
        level(&'a [f64]);
        /// Quantiles to forecast, in place of levels.
        quantiles(&'a [f64]);
    }
}
