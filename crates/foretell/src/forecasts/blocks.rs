//! Forecasts of a large panel, some series at a time: the memory does not grow with the panel.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use foretell_calendar::TimeStyle;
use foretell_data::{ColumnLevel, DataError, Future, Panel, Span};
use foretell_estimator::Output;
use foretell_tables::Frame;

use crate::error::{Error, check_wanted};
use crate::fitted_model::FittedModel;
use crate::forecasts::far_values::FarValues;
use crate::forecasts::further::{check_ahead, forecast_ahead};
use crate::forecasts::memory::check_forecast;
use crate::forecasts::rolling::table;
use crate::forecasts::warnings::{check_history, check_no_fallback};
use crate::forecasts::windows::{column_levels, forecast_span, forecast_windows};
use crate::hierarchies::borrowed_widths::without_intervals_in;
use crate::inputs::local_scalers::{LocalScalers, LocallyScaled};
use crate::insample_options::InsampleOptions;
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::sums::add_up_windows;
use crate::trained_models::TrainedModels;

/// Windows that are forecast at a time: enough for all threads of a large machine.
const WINDOWS: usize = 1 << 14;

/// Rows that are forecast at a time, where a window has many.
const ROWS: usize = 1 << 20;

/// Forecasts of a panel, a table for some of its series at a time; [`Fitted::predict_blocks`](crate::Fitted::predict_blocks)
/// and [`Fitted::predict_insample_blocks`](crate::Fitted::predict_insample_blocks) give it. After an error there is nothing more to come.
pub struct ForecastBlocks<'a> {
    trained: &'a TrainedModels,
    /// The panel, its static columns scaled, if they are.
    panel: Cow<'a, Panel>,
    asked: Asked<'a>,
    quantiles: AskedQuantiles,
    /// Series that are forecast already.
    done: usize,
    /// The values to warn of after the last block, if they are counted.
    far_values: Option<FarValues>,
}

/// Which forecasts there are to be.
#[derive(Clone, Copy)]
enum Asked<'a> {
    /// Forecasts of the `h` steps after the end of each series, the first of which are `shown`.
    Ahead { h: usize, shown: usize, future: Option<&'a Future> },
    /// Forecasts of the history, from one cutoff after the other.
    Insample { step_size: usize, from_padding: bool },
}

/// The forecasts of the history of each series.
pub(crate) fn blocks_insample<'a>(
    trained: &'a TrainedModels,
    panel: &'a Panel,
    options: &InsampleOptions<'_>,
) -> Result<ForecastBlocks<'a>, Error> {
    let InsampleOptions { step_size, from_padding, level, quantiles } = *options;
    let (h, quantiles) = (trained.h(), AskedQuantiles::new(level, quantiles)?);
    let needed = h + usize::from(!from_padding);
    trained.check_frequency(panel)?;
    if let Some(short) = (0..panel.n_series()).find(|&series| panel.len(series) < needed) {
        let (id, rows) = (panel.id(short).to_string(), panel.len(short));
        return Err(Error::ShortForInsample { id, rows, h, needed });
    }
    blocks(trained, panel, Asked::Insample { step_size, from_padding }, quantiles)
}

/// The forecasts of the steps after the end of each series, with these quantiles in place of those of the options.
pub(crate) fn blocks_ahead<'a>(
    trained: &'a TrainedModels,
    panel: &'a Panel,
    options: &PredictOptions<'a>,
    quantiles: AskedQuantiles,
) -> Result<ForecastBlocks<'a>, Error> {
    let shown = options.h.unwrap_or(trained.h());
    let h = trained.steps_forecast(shown);
    check_ahead(trained, h, !quantiles.is_empty())?;
    if options.strict {
        check_history(trained, panel)?;
        check_no_fallback(trained, panel)?;
    }
    blocks(trained, panel, Asked::Ahead { h, shown, future: options.future }, quantiles)
}

fn blocks<'a>(
    trained: &'a TrainedModels,
    panel: &'a Panel,
    asked: Asked<'a>,
    quantiles: AskedQuantiles,
) -> Result<ForecastBlocks<'a>, Error> {
    trained.check_frequency(panel)?;
    // The statistics of static columns are those of all series.
    let held = trained.held(panel);
    let panel = match trained.pipeline.local_scalers.statics {
        None => Cow::Owned(held),
        Some(scaler) => {
            Cow::Owned(held.with_encoded_statics(&trained.vocabulary)?.with_scaled_statics(scaler)?.0)
        }
    };
    let blocks = ForecastBlocks { trained, panel, asked, quantiles, done: 0, far_values: None };
    let (windows, h) = blocks.largest();
    let remedy = "lower h or input_size, or leave models out";
    check_forecast(
        trained,
        &blocks.panel,
        (windows, h),
        windows.saturating_mul(h),
        &blocks.quantiles,
        remedy,
    )?;
    Ok(blocks)
}

impl<'a> ForecastBlocks<'a> {
    /// The same, with a warning after the last block of values that are no finite numbers or far beyond the history.
    pub(crate) fn with_warnings(self) -> Self {
        Self { far_values: Some(FarValues::default()), ..self }
    }

    /// The style of the times of all blocks, which [`CsvWriter`](crate::CsvWriter) writes them in.
    ///
    /// # Errors
    /// If the times to forecast leave the calendar.
    pub fn time_style(&self) -> Result<TimeStyle, Error> {
        let (panel, mut fault) = (&*self.panel, None);
        let times = |series: usize| -> Result<Vec<i64>, DataError> {
            match self.asked {
                Asked::Ahead { shown, .. } => panel.future_times(series, shown),
                Asked::Insample { step_size, from_padding } => {
                    // The first cutoff is the row before the first horizon.
                    let first = match panel.len(series).saturating_sub(self.trained.h()) % step_size.max(1) {
                        0 if !from_padding => step_size,
                        first => first,
                    };
                    let before = (first == 0).then(|| panel.time_before(series)).transpose()?;
                    Ok(before.into_iter().chain(panel.times(series).skip(first.saturating_sub(1))).collect())
                }
            }
        };
        let all =
            (0..panel.n_series()).map_while(|series| times(series).map_err(|error| fault = Some(error)).ok());
        let style = TimeStyle::of(panel.freq(), panel.zone(), all.flatten());
        match fault {
            Some(error) => Err(error.into()),
            None => Ok(style),
        }
    }

    /// Whether all series are one block: a model whose windows hold all of them sees them at once, and sums are reconciled with
    /// their series.
    fn is_whole(&self) -> bool {
        self.trained.pipeline.coherence.is_some() || self.trained.is_joint()
    }

    /// The windows of the largest block, and their steps.
    fn largest(&self) -> (usize, usize) {
        let n_series = self.panel.n_series();
        match self.asked {
            Asked::Ahead { h, .. } if self.is_whole() => (n_series, h),
            Asked::Ahead { h, .. } => (n_series.min(series_at_a_time(h)), h),
            Asked::Insample { .. } if self.is_whole() => (self.rows() / self.trained.h(), self.trained.h()),
            Asked::Insample { step_size, .. } => {
                let h = self.trained.h();
                let longest = windows_of(self.panel.max_len(), h, step_size);
                (longest.max((ROWS / h).min(WINDOWS).min(longest.saturating_mul(n_series))), h)
            }
        }
    }

    /// The rows of all blocks.
    fn rows(&self) -> usize {
        let panel = &self.panel;
        match self.asked {
            Asked::Ahead { shown, .. } => panel.n_series().saturating_mul(shown),
            Asked::Insample { step_size, .. } => {
                let h = self.trained.h();
                (0..panel.n_series()).map(|series| windows_of(panel.len(series), h, step_size) * h).sum()
            }
        }
    }

    /// The series of the next block.
    fn places(&self) -> Range<usize> {
        let (start, series) = (self.done, self.panel.n_series());
        if self.is_whole() {
            return start..series;
        }
        let end = match self.asked {
            Asked::Ahead { h, .. } => start + series_at_a_time(h),
            Asked::Insample { step_size, .. } => {
                let h = self.trained.h();
                let most = (ROWS / h).min(WINDOWS);
                let mut windows = 0;
                let fits = |place: &usize| {
                    windows += windows_of(self.panel.len(*place), h, step_size);
                    windows <= most
                };
                start + (start..series).take_while(fits).count().max(1)
            }
        };
        start..end.min(series)
    }

    fn forecast(&mut self, places: Range<usize>) -> Result<Frame, Error> {
        let trained = self.trained;
        let mut far_values = self.far_values.take();
        let mut frame = self.on_scaled(places, |panel, scaled, future| {
            // The truth stands before forecasts of the history.
            let (others, (frame, outputs)) = match self.asked {
                Asked::Ahead { h, .. } => (0, self.ahead(panel, scaled, h, future)?),
                Asked::Insample { step_size, from_padding } => {
                    let span = Span::Insample { step_size, from_padding };
                    let forecast = forecast_span(trained, &scaled.panel, span);
                    let mut forecasts = forecast_windows(trained, panel, scaled, &self.quantiles, forecast)?;
                    let outputs = std::mem::take(&mut forecasts.models);
                    (1, (table(trained, panel, trained.h(), forecasts)?.0, outputs))
                }
            };
            if let Some(far_values) = &mut far_values {
                far_values.count(panel, &frame, others, &outputs);
            }
            // A table has the same types whatever series are in this part.
            let frame = self.panel.without_levels_in(frame, column_levels(others, &outputs));
            match (&trained.pipeline.coherence, self.asked) {
                (None, _) => Ok(frame),
                (Some(coherence), Asked::Ahead { .. }) => {
                    if let Some(warning) = without_intervals_in(&frame, &trained.pipeline.columns.target) {
                        trained.warnings.warn(&warning);
                    }
                    coherence.apply(frame, &outputs, &trained.pipeline.columns, trained.pipeline.settings)
                }
                (Some(_), Asked::Insample { .. }) => add_up_windows(trained, frame, others, &outputs),
            }
        })?;
        self.far_values = far_values;
        if let Asked::Ahead { h, shown, .. } = self.asked {
            frame.keep_first_steps(h, shown);
        }
        Ok(frame)
    }

    /// The result of `work` on some of the series: it sees them as in the data and as the models see them, and their future as
    /// the models see it.
    fn on_scaled<R>(
        &self,
        places: Range<usize>,
        work: impl FnOnce(&Panel, &LocallyScaled<'_>, Option<&Future>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let trained = self.trained;
        let panel = self.panel.of_series(places.clone());
        // What is computed for all rows is computed for these alone.
        let computes = trained.pipeline.local_scalers.series.is_some()
            || !trained.vocabulary.is_empty()
            || !trained.pipeline.features.is_empty();
        let own = computes.then(|| panel.with_own_rows());
        let local = LocalScalers { statics: None, ..trained.pipeline.local_scalers };
        let scaled = trained.scaled_with(local, own.as_ref().unwrap_or(&panel), 0)?;
        check_wanted()?;
        let future = match self.asked {
            Asked::Ahead { h, future, .. } => {
                let given = future.map(|future| future.of_series(places)).transpose()?;
                trained.future(given, &panel, h)?
            }
            Asked::Insample { .. } => None,
        };
        work(&panel, &scaled, scaled.future(future.as_ref())?.as_ref())
    }

    /// Shows `visit` the series of all blocks, as in the data and as the models see them, and their future, as these see it.
    pub(crate) fn each_ahead(
        mut self,
        mut visit: impl FnMut(&Panel, &LocallyScaled<'_>, Option<&Future>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let places = self.places();
            if places.is_empty() {
                return Ok(());
            }
            self.done = places.end;
            self.on_scaled(places, &mut visit)?;
            check_wanted()?;
        }
    }

    /// The tables that `part` makes of all blocks in one, with the levels of their series brought back as it says for each column.
    pub(crate) fn joined_ahead(
        self,
        mut part: impl FnMut(
            &Panel,
            &LocallyScaled<'_>,
            Option<&Future>,
        ) -> Result<(Frame, Vec<ColumnLevel>), Error>,
    ) -> Result<Frame, Error> {
        let of_none = self.trained.frame(&self.panel);
        let mut joined: Option<Frame> = None;
        self.each_ahead(|panel, scaled, future| {
            let (part, levels) = part(panel, scaled, future)?;
            let part = panel.without_levels_in(part, levels);
            match &mut joined {
                Some(joined) => joined.append(part),
                None => joined = Some(part),
            }
            Ok(())
        })?;
        Ok(joined.unwrap_or(of_none))
    }

    fn ahead(
        &self,
        panel: &Panel,
        scaled: &LocallyScaled<'_>,
        h: usize,
        future: Option<&Future>,
    ) -> Result<(Frame, Vec<Vec<Output>>), Error> {
        let trained = self.trained;
        let mut frame = trained.frame_ahead(panel, h)?;
        let forecast = |model: &FittedModel, quantiles: Option<&[f64]>| {
            forecast_ahead(trained, model, quantiles, &scaled.panel, future, h)
        };
        let forecasts = forecast_windows(trained, panel, scaled, &self.quantiles, forecast)?;
        frame.push_forecasts(forecasts.columns);
        Ok((frame, forecasts.models))
    }

    /// All blocks in one table.
    pub(crate) fn whole(mut self) -> Result<Frame, Error> {
        let ((windows, h), rows) = (self.largest(), self.rows());
        if rows > windows.saturating_mul(h) {
            let remedy = "forecast it in blocks (Fitted::predict_blocks, Fitted::predict_insample_blocks)";
            check_forecast(self.trained, &self.panel, (windows, h), rows, &self.quantiles, remedy)?;
        }
        let mut frame = match self.next() {
            Some(first) => first?,
            None => self.trained.frame(&self.panel),
        };
        for part in self {
            frame.append(part?);
        }
        Ok(frame)
    }
}

/// Series of which `h` steps are forecast at a time: a power of two, so that threads get as many windows each as
/// where all series are forecast at once.
fn series_at_a_time(h: usize) -> usize {
    1 << (ROWS / h.max(1)).clamp(1, WINDOWS).ilog2()
}

/// Forecasts of the history of a series of `rows` rows, of which there is at least one.
fn windows_of(rows: usize, h: usize, step_size: usize) -> usize {
    rows.saturating_sub(h) / step_size.max(1) + 1
}

impl Iterator for ForecastBlocks<'_> {
    type Item = Result<Frame, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let places = self.places();
        if places.is_empty() {
            return None;
        }
        self.done = places.end;
        let block = self.forecast(places);
        if block.is_err() {
            self.done = self.panel.n_series();
        } else if self.done == self.panel.n_series()
            && let Some(far_values) = self.far_values.take()
        {
            far_values.warn(self.trained);
        }
        Some(block)
    }
}

impl fmt::Debug for ForecastBlocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForecastBlocks({} of {} series done)", self.done, self.panel.n_series())
    }
}
