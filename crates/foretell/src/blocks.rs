//! Forecasts of a large panel, some series at a time: what is in memory does not grow with the panel.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use foretell_data::{DataError, Frame, Future, Panel, Span, TimeStyle};
use foretell_nn::Loss;

use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecaster::Fitted;
use crate::levels::checked;
use crate::local_scalers::{LocalScalers, LocallyScaled};
use crate::predict::PredictOptions;
use crate::warning::Warning;

/// Windows that are forecast at a time: enough for all threads of a large machine.
const WINDOWS: usize = 1 << 14;

/// Rows that are forecast at a time, where a window has many.
const ROWS: usize = 1 << 20;

/// Forecasts of a panel, a table for some of its series at a time; [`Fitted::predict_blocks`] and
/// [`Fitted::predict_insample_blocks`] give it. After an error there is nothing more to come.
pub struct ForecastBlocks<'a> {
    fitted: &'a Fitted,
    /// The panel, its static columns scaled, if they are.
    panel: Cow<'a, Panel>,
    asked: Asked<'a>,
    level: Vec<f64>,
    /// Series that are forecast already.
    done: usize,
    /// Whether values that are no finite numbers are to be warned of; how many there are in each column, of how many.
    warns: bool,
    not_finite: Vec<(String, usize)>,
    values: usize,
}

/// Which forecasts there are to be.
#[derive(Clone, Copy)]
enum Asked<'a> {
    /// Of the steps after the end of each series.
    Ahead { h: usize, future: Option<&'a Future> },
    /// Of the history, from one cutoff after the other.
    Insample { step_size: usize, from_padding: bool },
}

impl Fitted {
    /// [`Fitted::predict_with`], some series at a time: the same rows in the same order, to the last bit. So the
    /// memory that forecasts take does not grow with the number of series.
    ///
    /// ```
    /// # use foretell::{CsvWriter, Forecaster, Freq, ModelSpec, Panel, PredictOptions};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, vec![1.0; 40]), ("b", 0, vec![2.0; 40])])?;
    /// # let spec = ModelSpec::new("NLinear", 7, 14)?.set("max_steps", 1)?;
    /// # let fitted = Forecaster::new([spec])?.fit(&panel)?;
    /// let mut blocks = fitted.predict_blocks(&panel, &PredictOptions::default())?;
    /// let mut writer = CsvWriter::new(Vec::new(), blocks.time_style()?);
    /// for frame in blocks {
    ///     writer.write(&frame?)?;
    /// }
    /// assert_eq!(writer.finish()?.split(|&byte| byte == b'\n').count(), 1 + 2 * 7 + 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Fitted::predict_with`]. An error of a single series may come only when its block is forecast.
    pub fn predict_blocks<'a>(
        &'a self,
        panel: &'a Panel,
        options: &PredictOptions<'a>,
    ) -> Result<ForecastBlocks<'a>, Error> {
        let blocks = self.blocks_ahead(panel, options)?;
        self.warn_of_unseen_categories(panel, options.future)?;
        self.warn_of_short_history(panel);
        self.warn_of_few_windows(options.level);
        self.warnings.warn_of_fewer_threads(&self.workers);
        Ok(ForecastBlocks { warns: true, ..blocks })
    }

    /// [`Fitted::predict_insample`], some series at a time, as [`Fitted::predict_blocks`].
    ///
    /// # Errors
    /// Those of [`Fitted::predict_insample`]; one of a single series may come only when its block is forecast.
    pub fn predict_insample_blocks<'a>(
        &'a self,
        panel: &'a Panel,
        step_size: usize,
    ) -> Result<ForecastBlocks<'a>, Error> {
        self.blocks_insample_with_warnings(panel, step_size, false)
    }

    /// [`Fitted::predict_insample_from_padding`], some series at a time, as [`Fitted::predict_blocks`].
    ///
    /// # Errors
    /// Those of [`Fitted::predict_insample_from_padding`]; one of a single series may come only when its block is forecast.
    pub fn predict_insample_from_padding_blocks<'a>(
        &'a self,
        panel: &'a Panel,
        step_size: usize,
    ) -> Result<ForecastBlocks<'a>, Error> {
        self.blocks_insample_with_warnings(panel, step_size, true)
    }

    fn blocks_insample_with_warnings<'a>(
        &'a self,
        panel: &'a Panel,
        step_size: usize,
        from_padding: bool,
    ) -> Result<ForecastBlocks<'a>, Error> {
        let blocks = self.blocks_insample(panel, step_size, from_padding)?;
        self.warn_of_unseen_categories_in(panel, usize::MAX, None)?;
        Ok(ForecastBlocks { warns: true, ..blocks })
    }

    /// [`Fitted::predict_insample_blocks`] without warnings.
    pub(crate) fn blocks_insample<'a>(
        &'a self,
        panel: &'a Panel,
        step_size: usize,
        from_padding: bool,
    ) -> Result<ForecastBlocks<'a>, Error> {
        let h = self.h();
        let needed = h + usize::from(!from_padding);
        self.check_frequency(panel)?;
        if let Some(short) = (0..panel.n_series()).find(|&series| panel.len(series) < needed) {
            let (id, rows) = (panel.id(short).to_string(), panel.len(short));
            return Err(Error::ShortForInsample { id, rows, h, needed });
        }
        self.blocks(panel, Asked::Insample { step_size, from_padding }, Vec::new())
    }

    /// [`Fitted::predict_blocks`] without warnings.
    pub(crate) fn blocks_ahead<'a>(
        &'a self,
        panel: &'a Panel,
        options: &PredictOptions<'a>,
    ) -> Result<ForecastBlocks<'a>, Error> {
        let level = checked(options.level)?;
        let h = options.h.unwrap_or(self.h());
        self.check_ahead(h, !level.is_empty())?;
        self.blocks(panel, Asked::Ahead { h, future: options.future }, level)
    }

    fn blocks<'a>(
        &'a self,
        panel: &'a Panel,
        asked: Asked<'a>,
        level: Vec<f64>,
    ) -> Result<ForecastBlocks<'a>, Error> {
        self.check_frequency(panel)?;
        // The statistics of static columns are those of all series.
        let panel = match self.local_scalers.statics {
            None => Cow::Borrowed(panel),
            Some(scaler) => {
                Cow::Owned(panel.with_encoded_statics(&self.vocabulary)?.with_scaled_statics(scaler)?.0)
            }
        };
        let (warns, not_finite, values) = (false, Vec::new(), 0);
        let blocks = ForecastBlocks { fitted: self, panel, asked, level, done: 0, warns, not_finite, values };
        let (windows, h) = blocks.largest();
        let remedy = "lower h or input_size, or leave models out";
        self.check_forecast(&blocks.panel, (windows, h), windows.saturating_mul(h), &blocks.level, remedy)?;
        Ok(blocks)
    }
}

impl ForecastBlocks<'_> {
    /// The style of the times of all blocks, which [`CsvWriter`](crate::CsvWriter) writes them in.
    ///
    /// # Errors
    /// If the times to forecast leave the calendar.
    pub fn time_style(&self) -> Result<TimeStyle, Error> {
        let (panel, mut fault) = (&*self.panel, None);
        let times = |series: usize| -> Result<Vec<i64>, DataError> {
            match self.asked {
                Asked::Ahead { h, .. } => panel.future_times(series, h),
                Asked::Insample { step_size, from_padding } => {
                    // The first cutoff is the row before the first horizon.
                    let first = match panel.len(series).saturating_sub(self.fitted.h()) % step_size.max(1) {
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

    /// The windows of the largest block, and their steps.
    fn largest(&self) -> (usize, usize) {
        let n_series = self.panel.n_series();
        match self.asked {
            Asked::Ahead { h, .. } if self.fitted.is_multivariate() => (n_series, h),
            Asked::Ahead { h, .. } => (n_series.min(series_at_a_time(h)), h),
            Asked::Insample { step_size, .. } => {
                let h = self.fitted.h();
                let longest = windows_of(self.panel.max_len(), h, step_size);
                (longest.max((ROWS / h).min(WINDOWS).min(longest.saturating_mul(n_series))), h)
            }
        }
    }

    /// The rows of all blocks.
    fn rows(&self) -> usize {
        let panel = &self.panel;
        match self.asked {
            Asked::Ahead { h, .. } => panel.n_series().saturating_mul(h),
            Asked::Insample { step_size, .. } => {
                let h = self.fitted.h();
                (0..panel.n_series()).map(|series| windows_of(panel.len(series), h, step_size) * h).sum()
            }
        }
    }

    /// The series of the next block.
    fn places(&self) -> Range<usize> {
        let (start, series) = (self.done, self.panel.n_series());
        // A model whose windows hold all series sees all of them at once.
        if self.fitted.is_multivariate() {
            return start..series;
        }
        let end = match self.asked {
            Asked::Ahead { h, .. } => start + series_at_a_time(h),
            Asked::Insample { step_size, .. } => {
                let h = self.fitted.h();
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

    fn forecast(&self, places: Range<usize>) -> Result<Frame, Error> {
        let fitted = self.fitted;
        self.on_scaled(places, |panel, scaled, future| match self.asked {
            Asked::Ahead { h, .. } => self.ahead(panel, scaled, h, future),
            Asked::Insample { step_size, from_padding } => {
                let span = Span::Insample { step_size, from_padding };
                let forecasts =
                    fitted.forecast_windows(panel, scaled, &[], fitted.forecast_span(&scaled.panel, span))?;
                Ok(fitted.table(panel, forecasts)?.0)
            }
        })
    }

    /// What `work` makes of some of the series, as they are and as the models see them, and of their future as the models
    /// see it.
    fn on_scaled<R>(
        &self,
        places: Range<usize>,
        work: impl FnOnce(&Panel, &LocallyScaled<'_>, Option<&Future>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let fitted = self.fitted;
        let panel = self.panel.of_series(places.clone());
        let own = (fitted.local_scalers.series.is_some() || !fitted.vocabulary.is_empty())
            .then(|| panel.with_own_rows());
        let local = LocalScalers { statics: None, ..fitted.local_scalers };
        let scaled = fitted.scaled_with(local, own.as_ref().unwrap_or(&panel), 0)?;
        let future = match self.asked {
            Asked::Ahead { future: Some(future), .. } => {
                Some(future.of_series(places)?.encode_categories(&fitted.vocabulary)?)
            }
            _ => None,
        };
        work(&panel, &scaled, scaled.future(future.as_ref())?.as_ref())
    }

    /// Shows `visit` the series of all blocks, and their future, as the models see them.
    pub(crate) fn each_ahead(
        mut self,
        mut visit: impl FnMut(&LocallyScaled<'_>, Option<&Future>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let places = self.places();
            if places.is_empty() {
                return Ok(());
            }
            self.done = places.end;
            self.on_scaled(places, |_, scaled, future| visit(scaled, future))?;
        }
    }

    fn ahead(
        &self,
        panel: &Panel,
        scaled: &LocallyScaled<'_>,
        h: usize,
        future: Option<&Future>,
    ) -> Result<Frame, Error> {
        let fitted = self.fitted;
        let mut frame = fitted.frame(panel);
        for series in 0..panel.n_series() {
            frame.ids.extend(std::iter::repeat_n(panel.id(series), h).cloned());
            frame.times.extend(panel.future_times(series, h)?);
        }
        let forecast = |model: &FittedModel, loss: &Loss| fitted.ahead(model, loss, &scaled.panel, future, h);
        frame.columns = fitted.forecast_windows(panel, scaled, &self.level, forecast)?.columns;
        Ok(frame)
    }

    /// Counts the forecasts of a block that are no finite numbers, and warns of them after the last one.
    fn count(&mut self, frame: &Frame) {
        // The truth may be unknown.
        let truth = usize::from(matches!(self.asked, Asked::Insample { .. }));
        for (i, (name, values)) in frame.columns.iter().skip(truth).enumerate() {
            if self.not_finite.len() == i {
                self.not_finite.push((name.clone(), 0));
            }
            self.not_finite[i].1 += values.iter().filter(|value| !value.is_finite()).count();
        }
        self.values += frame.n_rows();
        if self.done == self.panel.n_series() {
            self.not_finite.retain(|(_, count)| *count > 0);
            if !self.not_finite.is_empty() {
                let (columns, of) = (std::mem::take(&mut self.not_finite), self.values);
                self.fitted.warnings.warn(&Warning::NotFinite { columns, of });
            }
        }
    }

    /// All blocks in one table.
    pub(crate) fn whole(mut self) -> Result<Frame, Error> {
        let ((windows, h), rows) = (self.largest(), self.rows());
        if rows > windows.saturating_mul(h) {
            let remedy = "forecast it in blocks (Fitted::predict_blocks, Fitted::predict_insample_blocks)";
            self.fitted.check_forecast(&self.panel, (windows, h), rows, &self.level, remedy)?;
        }
        let mut frame = match self.next() {
            Some(first) => first?,
            None => self.fitted.frame(&self.panel),
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
        match &block {
            Ok(frame) if self.warns => self.count(frame),
            Ok(_) => {}
            Err(_) => self.done = self.panel.n_series(),
        }
        Some(block)
    }
}

impl fmt::Debug for ForecastBlocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForecastBlocks({} of {} series done)", self.done, self.panel.n_series())
    }
}
