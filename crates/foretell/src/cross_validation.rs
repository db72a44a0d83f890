//! Rolling forecasts over the end of each series, against the truth.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use foretell_data::{Frame, Panel, Span};

use crate::columns::output_columns;
use crate::error::Error;
use crate::forecaster::{Fitted, Forecaster};
use crate::metrics::{Metrics, Scored, seasonal_error, seasonal_naive};

/// Forecasts from several cutoffs, and the models that made them.
pub struct CrossValidation {
    /// `unique_id, ds, cutoff, y` and a column per output of each model; ordered by series, cutoff, time.
    /// An unknown `y` is NaN.
    pub frame: Frame,
    /// The models, trained on what lies before the first cutoff.
    pub fitted: Fitted,
    windows: Vec<Rows>,
}

/// The rows of the frame that belong to one series, and how many of the series' own come before each of
/// its forecasts.
struct Rows {
    series: usize,
    rows: Range<usize>,
    known: Vec<usize>,
}

impl Forecaster {
    /// Trains once on all but the last `h + (n_windows - 1) * step_size` steps of each series, then
    /// forecasts `n_windows` times, `step_size` steps apart, the last forecast ending with the series. A
    /// series that is too short for the earliest forecasts has fewer, as in neuralforecast.
    ///
    /// # Errors
    /// As [`Forecaster::fit`].
    pub fn cross_validate(
        self,
        panel: &Panel,
        n_windows: usize,
        step_size: usize,
    ) -> Result<CrossValidation, Error> {
        if n_windows == 0 || step_size == 0 {
            return Err(Error::NoWindows { n_windows, step_size });
        }
        let h = self.h();
        let test_size = h + (n_windows - 1) * step_size;
        let held_out = self.held_out() + test_size;
        let fitted = self.fit_before(panel, test_size)?;
        let scaled = fitted.local.scale(panel, held_out)?;

        let mut frame = fitted.frame(panel);
        let (mut cutoffs, mut truth, mut windows) = (Vec::new(), Vec::new(), Vec::<Rows>::new());
        for (model, name) in fitted.models.iter().zip(fitted.column_names()) {
            let span = Span::Test { test_size, step_size };
            let (places, mut values) = fitted.forecasts(model, &scaled.panel, span)?;
            let each = values.len() / places.len().max(1);
            scaled.inverse(places.iter().map(|(series, _)| *series), &mut values, each);
            if frame.ids.is_empty() {
                for &(series, cutoff) in &places {
                    let start = frame.ids.len();
                    frame.ids.extend(std::iter::repeat_n(panel.id(series), h).cloned());
                    frame.times.extend((1..=h).map(|step| panel.time(series, cutoff + step)));
                    cutoffs.extend(std::iter::repeat_n(panel.time(series, cutoff), h));
                    truth.extend_from_slice(&known(panel, series)[cutoff + 1..=cutoff + h]);
                    if windows.last().is_none_or(|last| last.series != series) {
                        windows.push(Rows { series, rows: start..start, known: Vec::new() });
                    }
                    if let Some(last) = windows.last_mut() {
                        last.rows.end = frame.ids.len();
                        last.known.push(cutoff + 1);
                    }
                }
            }
            frame.columns.extend(output_columns(&name, &model.spec.loss().suffixes(), &values));
        }
        frame.cutoffs = Some(cutoffs);
        frame.columns.insert(0, (fitted.columns.target.clone(), truth));
        Ok(CrossValidation { frame, fitted, windows })
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
                    naive_error: seasonal_error(&known(panel, window.series)[..window.known[0]], season),
                }),
            )
        };
        let mut metrics: Vec<Metrics> = Vec::new();
        let mut column = 1;
        for (model, name) in self.fitted.models.iter().zip(self.fitted.column_names()) {
            let (loss, quantiles) = (model.spec.loss(), model.spec.loss().column_quantiles());
            let columns = &self.frame.columns[column..column + quantiles.len()];
            column += quantiles.len();
            let forecasts: Vec<(f32, &[f32])> = quantiles
                .into_iter()
                .zip(columns)
                .filter_map(|(quantile, (_, values))| Some((quantile?, &values[..])))
                .collect();
            metrics.push(score(&name, &columns[loss.point_output()].1).with_quantiles(truth, &forecasts));
        }
        metrics.push(score("SeasonalNaive", &self.naive(panel, season)));
        metrics
    }

    /// The seasonal naive forecast of every row.
    pub fn naive(&self, panel: &Panel, season: usize) -> Vec<f32> {
        let h = self.fitted.h();
        let mut forecast = Vec::with_capacity(self.frame.n_rows());
        for window in &self.windows {
            let y = known(panel, window.series);
            for &known in &window.known {
                forecast.extend(seasonal_naive(&y[..known], season, h));
            }
        }
        forecast
    }
}

/// The target of a series, NaN where it is not known.
fn known(panel: &Panel, series: usize) -> Cow<'_, [f32]> {
    let y = panel.y(series);
    match panel.available_mask(series) {
        None => Cow::Borrowed(y),
        Some(mask) => y.iter().zip(mask).map(|(&y, &mask)| if mask == 0.0 { f32::NAN } else { y }).collect(),
    }
}

impl fmt::Debug for CrossValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CrossValidation({:?}, {} rows)", self.fitted, self.frame.n_rows())
    }
}
