//! What is to be forecast.

use foretell_data::Future;

/// What [`Fitted::predict_with`](crate::Fitted::predict_with) forecasts.
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictOptions<'a> {
    /// The future values of the columns that a model knows in advance, if one has any, over all steps.
    pub future: Option<&'a Future>,
    /// Steps to forecast; the models' own horizon by default. More than that are forecast as
    /// [`Fitted::predict_with`](crate::Fitted::predict_with) says.
    pub h: Option<usize>,
    /// Central intervals to forecast, in percent: two columns each, such as `NHITS-lo-80` and `NHITS-hi-80`.
    /// Without any, the columns are those of the models' losses.
    pub level: &'a [f64],
}
