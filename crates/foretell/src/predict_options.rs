//! The options of a forecast.

use foretell_data::Future;

use crate::setters::setters;

/// The options of [`Fitted::predict_with`](crate::Fitted::predict_with).
///
/// ```
/// use foretell::PredictOptions;
///
/// let options = PredictOptions::new().h(48).level(&[80.0, 95.0]).strict();
/// assert_eq!(options.h, Some(48));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct PredictOptions<'a> {
    /// The future values of the columns that a model knows in advance, if one has any, over all steps, and over the models' own
    /// horizon if that is longer.
    pub future: Option<&'a Future>,
    /// Steps to forecast; the models' own horizon by default. More or fewer are forecast as
    /// [`Fitted::predict_with`](crate::Fitted::predict_with) says.
    pub h: Option<usize>,
    /// Central intervals to forecast, in percent: two columns each, such as `NHITS-lo-80` and `NHITS-hi-80`.
    /// Without any, the columns are those of the models' losses.
    pub level: &'a [f64],
    /// Quantiles to forecast, above 0 and below 1, in place of levels: a column each, such as `NHITS_ql0.1`, or `NHITS-ql0.1` where
    /// it was calibrated.
    pub quantiles: &'a [f64],
    /// Whether a history that is shorter than what a model reads is an error
    /// ([`Error::ShortHistory`](crate::Error::ShortHistory)) in place of a warning, with zeros for the missing rows.
    pub strict: bool,
}

impl<'a> PredictOptions<'a> {
    /// The models' own horizon and columns.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The future values of the columns that a model knows in advance.
        future(impl Into<Option<&'a Future>>) = future.into();
        /// Steps to forecast.
        h(usize) = Some(h);
        /// Central intervals to forecast, in percent.
        level(&'a [f64]);
        /// Quantiles to forecast, in place of levels.
        quantiles(&'a [f64]);
    }

    /// Makes a history that is too short an error.
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }
}
