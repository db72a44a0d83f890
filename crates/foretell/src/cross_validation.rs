//! Rolling forecasts over the end of each series, against the truth.

use std::fmt;

use foretell_data::{Frame, Future, Panel, Span};

use crate::columns::{Output, point};
use crate::error::Error;
use crate::forecaster::{Fitted, Forecaster};
use crate::levels::checked;
use crate::metrics::{Metrics, Scored, seasonal_error, seasonal_naive};
use crate::predict::{PredictOptions, Told};
use crate::rolling::{Rows, known};

/// Forecasts from several cutoffs, and the models that made them.
pub struct CrossValidation {
    /// `unique_id, ds, cutoff, y` and a column per output of each model; ordered by series, cutoff, time.
    /// An unknown `y` is NaN.
    pub frame: Frame,
    /// The models, trained on what lies before the first cutoff, or with [`Forecaster::refit`] those that were
    /// trained last.
    pub fitted: Fitted,
    /// The columns of each model.
    outputs: Vec<Vec<Output>>,
    windows: Vec<Rows>,
}

impl Forecaster {
    /// Trains on all but the last `h + (n_windows - 1) * step_size` steps of each series, then
    /// forecasts `n_windows` times, `step_size` steps apart, the last forecast ending with the series. A
    /// series that is too short for the earliest forecasts has fewer, as in neuralforecast. With
    /// [`Forecaster::refit`] the models are trained anew on the way.
    ///
    /// # Errors
    /// As [`Forecaster::fit`].
    pub fn cross_validate(
        mut self,
        panel: &Panel,
        n_windows: usize,
        step_size: usize,
    ) -> Result<CrossValidation, Error> {
        if n_windows == 0 || step_size == 0 {
            return Err(Error::NoWindows { n_windows, step_size });
        }
        self.level = checked(&self.level)?;
        self.check_levels(&self.level)?;
        let cutoffs: Vec<usize> = (0..n_windows).rev().map(|window| self.h() + window * step_size).collect();
        let (fitted, mut told) = match self.refit {
            0 => self.validate_once(panel, cutoffs[0], step_size)?,
            every => self.validate_anew(panel, &cutoffs, every)?,
        };
        let outputs = std::mem::take(&mut told.models);
        let (frame, windows) = fitted.table(panel, told)?;
        Ok(CrossValidation { frame, fitted, outputs, windows })
    }

    fn validate_once(
        &mut self,
        panel: &Panel,
        test_size: usize,
        step_size: usize,
    ) -> Result<(Fitted, Told), Error> {
        let fitted = self.fit_before(panel, test_size)?;
        let scaled = fitted.seen(panel, self.held_out() + test_size)?;
        let span = Span::Test { test_size, step_size };
        let told = fitted.tell(panel, &scaled, &self.level, fitted.spanning(&scaled.panel, span))?;
        drop(scaled);
        Ok((fitted, told))
    }

    /// Each forecast is made as if the panel ended there, with `ahead[window]` steps still to come, by models
    /// trained on that every so many windows.
    fn validate_anew(
        &mut self,
        panel: &Panel,
        ahead: &[usize],
        every: usize,
    ) -> Result<(Fitted, Told), Error> {
        let h = self.h();
        let level = self.level.clone();
        let mut fitted = self.fit_before(&panel.without_last(ahead[0]), 0)?;
        let mut parts = Vec::with_capacity(ahead.len());
        for (window, &ahead) in ahead.iter().enumerate() {
            let known = panel.without_last(ahead);
            if window > 0 && window % every == 0 {
                fitted = self.fit_before(&known, 0)?;
            }
            let future = Future::within(panel, &known, h);
            let options = PredictOptions { future: Some(&future), level: &level, h: None };
            parts.push((fitted.forecast(&known, &options)?, known));
        }
        let mut told = Told::default();
        for (model, name) in fitted.models.iter().zip(fitted.column_names()) {
            told.models.push(fitted.recipe(model, &name, &level)?.outputs);
        }
        let names = parts[0].0.columns.iter().map(|(name, _)| (name.clone(), Vec::new()));
        told.columns = names.collect();
        for series in 0..panel.n_series() {
            for (frame, known) in &parts {
                // Of a short series nothing is known before the first cutoffs.
                let Some(place) = known.find(panel.id(series)) else { continue };
                told.windows.push((series, known.len(place)));
                for ((_, all), (_, part)) in told.columns.iter_mut().zip(&frame.columns) {
                    all.extend_from_slice(&part[place * h..(place + 1) * h]);
                }
            }
        }
        Ok((fitted, told))
    }
}

impl CrossValidation {
    /// The errors of each model's point forecast (of a distribution its mean, else of quantiles the nearest to
    /// the median), where the truth is known, with pinball loss and coverage where it forecasts quantiles; and
    /// the errors of the seasonal naive forecast, which comes last. `season` is in steps.
    ///
    /// # Panics
    /// If `season` is 0 or `panel` is not the one that was forecast.
    pub fn metrics(&self, panel: &Panel, season: usize) -> Vec<Metrics> {
        assert!(season > 0, "a season of 0 steps");
        let (_, truth) = &self.frame.columns[0];
        let score = |name: &str, forecast: &[f32]| {
            Metrics::of(
                name,
                self.windows.iter().map(|window| Scored {
                    truth: &truth[window.rows.clone()],
                    forecast: &forecast[window.rows.clone()],
                    naive_error: seasonal_error(&known(panel, window.series, 0..window.known[0]), season),
                }),
            )
        };
        let mut metrics: Vec<Metrics> = Vec::new();
        let mut column = 1;
        for (outputs, name) in self.outputs.iter().zip(self.fitted.column_names()) {
            let columns = &self.frame.columns[column..column + outputs.len()];
            column += outputs.len();
            let forecasts: Vec<(f32, &[f32])> = outputs
                .iter()
                .zip(columns)
                .filter_map(|(output, (_, values))| Some((output.quantile?, &values[..])))
                .collect();
            metrics.push(score(&name, &columns[point(outputs)].1).with_quantiles(truth, &forecasts));
        }
        metrics.push(score("SeasonalNaive", &self.naive(panel, season)));
        metrics
    }

    /// The seasonal naive forecast of every row.
    pub fn naive(&self, panel: &Panel, season: usize) -> Vec<f32> {
        let h = self.fitted.h();
        let mut forecast = Vec::with_capacity(self.frame.n_rows());
        for window in &self.windows {
            for &before in &window.known {
                let history = known(panel, window.series, 0..before);
                forecast.extend(seasonal_naive(&history, season, h));
            }
        }
        forecast
    }
}

impl fmt::Debug for CrossValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CrossValidation({:?}, {} rows)", self.fitted, self.frame.n_rows())
    }
}
