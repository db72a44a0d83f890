//! Forecasts of what follows each series.

use foretell_data::{Frame, Future, Panel, Span};
use foretell_nn::Loss;

use crate::columns::Output;
use crate::error::Error;
use crate::fitted_model::{Cutoff, FittedModel};
use crate::forecaster::Fitted;
use crate::local_scalers::LocallyScaled;

/// What [`Fitted::predict_with`] forecasts.
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictOptions<'a> {
    /// The future values of the columns that a model knows in advance, if one has any, over all steps.
    pub future: Option<&'a Future>,
    /// Steps to forecast; the models' own horizon by default. More than that are forecast as
    /// [`Fitted::predict_with`] says.
    pub h: Option<usize>,
    /// Central intervals to forecast, in percent: two columns each, such as `NHITS-lo-80` and `NHITS-hi-80`.
    /// Without any, the columns are those of the models' losses.
    pub level: &'a [f64],
}

/// The forecasts of all models for windows of a panel.
#[derive(Default)]
pub(crate) struct WindowForecasts {
    /// The windows, by series, then time.
    pub(crate) windows: Vec<Cutoff>,
    /// Columns with their names, `[windows, steps]`.
    pub(crate) columns: Vec<(String, Vec<f32>)>,
    /// The columns of each model.
    pub(crate) models: Vec<Vec<Output>>,
}

impl Fitted {
    /// Forecasts the `h` steps after the end of each series: a row per series and step, a column per
    /// output of each model. The series need not be those of training. `future` holds the future values
    /// of the columns that a model knows in advance, if one has any.
    ///
    /// # Errors
    /// If the panel has another frequency, lacks a column that a model reads, or future values are missing; or if it
    /// would take more memory than the limit.
    pub fn predict(&self, panel: &Panel, future: Option<&Future>) -> Result<Frame, Error> {
        self.predict_with(panel, &PredictOptions { future, ..PredictOptions::default() })
    }

    /// [`Fitted::predict`] with intervals of other levels, or further ahead.
    ///
    /// **Intervals.** A model of a point loss has those that were calibrated
    /// ([`Forecaster::intervals`](crate::Forecaster::intervals), [`Fitted::calibrate`]), a model of a
    /// distribution's loss any, a model of several quantiles those that it was trained for.
    ///
    /// **Further ahead than the models' horizon.** A recurrent model (`recurrent=true`) goes on step by step. Any
    /// other forecasts its horizon again and again, each time from what it has forecast before, of quantiles
    /// from the median; the last time so that its horizon ends with the last step.
    ///
    /// # Errors
    /// If the panel has another frequency, lacks a column that a model reads, or future values are missing; if a model
    /// has no interval of such a level; further ahead than the horizon, if a model reads historic columns, which are not
    /// known beyond it, or has no median to go on from; if it would take more memory than the limit.
    pub fn predict_with(&self, panel: &Panel, options: &PredictOptions<'_>) -> Result<Frame, Error> {
        let frame = self.forecast(panel, options)?;
        self.warn_of_short_history(panel);
        self.warn_of_unseen_categories(panel, options.future)?;
        self.warn_of_few_windows(options.level);
        self.warn_of_non_finite(&frame.columns);
        self.warnings.warn_of_fewer_threads(&self.workers);
        Ok(frame)
    }

    /// [`Fitted::predict_with`] without warnings.
    pub(crate) fn forecast(&self, panel: &Panel, options: &PredictOptions<'_>) -> Result<Frame, Error> {
        self.blocks_ahead(panel, options)?.whole()
    }

    /// The columns of all models for the windows that `forecast` makes each of them forecast: `[windows, steps, columns of the
    /// loss]`. They are on the scale of the data.
    pub(crate) fn forecast_windows(
        &self,
        panel: &Panel,
        scaled: &LocallyScaled<'_>,
        level: &[f64],
        forecast: impl Fn(&FittedModel, &Loss) -> Result<(Vec<Cutoff>, Vec<f32>), Error>,
    ) -> Result<WindowForecasts, Error> {
        let models = self.models.iter().zip(self.column_names());
        let recipes = models.clone().map(|(model, name)| self.recipe(model, &name, level));
        // A mistake in the second model is found before the first one is run.
        let recipes = recipes.collect::<Result<Vec<_>, _>>()?;
        let mut forecasts = WindowForecasts::default();
        for ((model, name), recipe) in models.zip(recipes) {
            let (windows, mut values) = forecast(model, &recipe.loss)?;
            let each = values.len() / windows.len().max(1);
            scaled.inverse(windows.iter().map(|(series, _)| *series), &mut values, each);
            if !self.raw_quantiles {
                recipe.loss.sort_quantiles(&mut values);
            }
            let ids: Vec<&str> = windows.iter().map(|(series, _)| &**panel.id(*series)).collect();
            let columns = recipe.columns(&name, &ids, &values)?;
            let names = recipe.outputs.iter().map(|output| format!("{name}{}", output.suffix));
            forecasts.columns.extend(names.zip(columns));
            forecasts.models.push(recipe.outputs);
            forecasts.windows = windows;
        }
        Ok(forecasts)
    }

    /// The forecasts of all windows of a span, as [`Fitted::forecast_windows`] asks for them.
    pub(crate) fn forecast_span<'a>(
        &'a self,
        panel: &'a Panel,
        span: Span<'a>,
    ) -> impl Fn(&FittedModel, &Loss) -> Result<(Vec<Cutoff>, Vec<f32>), Error> + 'a {
        move |model, loss| model.forecasts(panel, span, loss, self.h(), &self.workers)
    }
}
