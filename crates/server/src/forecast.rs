//! One request computed on the calling thread.

use std::cell::RefCell;
use std::time::Instant;

use foretell::{
    ExplainOptions, Fitted, Frame, Future, Intervals, Panel, PredictOptions, ReadOptions, Warning,
};

use crate::error::EngineError;
use crate::reading::read_series;
use crate::request::{AheadOptions, ForecastKind, ForecastRequest};
use crate::settings::EngineSettings;

thread_local! {
    /// The warnings of the forecast that this thread computes.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a warning for the answer of the request that this thread computes.
pub(crate) fn note_warning(warning: &Warning) {
    WARNINGS.with_borrow_mut(|warnings| warnings.push(warning.to_string()));
}

/// The warnings of the forecasts that this thread computed since it was asked the last time.
pub(crate) fn take_warnings() -> Vec<String> {
    WARNINGS.take()
}

/// The series of a request, and how tables beside them are read.
pub(crate) struct SeriesRead {
    pub(crate) panel: Panel,
    options: ReadOptions,
}

/// Reads the series of a request.
pub(crate) fn read(
    fitted: &Fitted,
    request: &ForecastRequest,
    settings: &EngineSettings,
) -> Result<SeriesRead, EngineError> {
    let (panel, options) = read_series(fitted, request, settings.memory.bytes())?;
    check("rows", settings.max_rows, panel.n_rows(), "send fewer series or shorter histories")?;
    Ok(SeriesRead { panel, options })
}

/// The forecasts that a request asks for; nothing is begun after `deadline`.
pub(crate) fn forecast(
    fitted: &Fitted,
    asks: &ForecastKind,
    series: &SeriesRead,
    settings: &EngineSettings,
    deadline: Instant,
) -> Result<Frame, EngineError> {
    let SeriesRead { panel, options } = series;
    Ok(match asks {
        ForecastKind::Windows { n_windows, step_size } => {
            check_answer(panel, fitted.h().saturating_mul(*n_windows), settings)?;
            fitted.validate(panel, *n_windows, *step_size)?.frame
        }
        ForecastKind::Contributions(asked) => {
            let h = steps(asked.h, fitted)?;
            check_steps(panel, h, settings)?;
            let future = asked.future.as_ref();
            let future = future.map(|table| Future::from_memory(table, options, panel, h)).transpose()?;
            let explained = ExplainOptions::new(asked.method).output(asked.output).h(h);
            fitted.explain(panel, &explained.models(&asked.only).future(future.as_ref()))?
        }
        ForecastKind::Ahead(asked) => {
            let future = asked.future.as_ref();
            let h = steps(asked.h, fitted)?;
            let future = future.map(|table| Future::from_memory(table, options, panel, h)).transpose()?;
            match &asked.intervals {
                None => ahead(fitted, panel, asked, future.as_ref(), settings, deadline)?,
                Some(text) => {
                    let intervals: Intervals = text.parse()?;
                    let calibrated = fitted.clone().calibrate(panel, intervals)?;
                    ahead(&calibrated, panel, asked, future.as_ref(), settings, deadline)?
                }
            }
        }
    })
}

/// The steps after the end of each series.
pub(crate) fn ahead(
    fitted: &Fitted,
    panel: &Panel,
    asked: &AheadOptions,
    future: Option<&Future>,
    settings: &EngineSettings,
    deadline: Instant,
) -> Result<Frame, EngineError> {
    let h = steps(asked.h, fitted)?;
    check_steps(panel, h, settings)?;
    let mut options =
        PredictOptions::new().future(future).h(h).level(&asked.level).quantiles(&asked.quantiles);
    options.strict = asked.strict;
    let mut whole: Option<Frame> = None;
    for part in fitted.predict_blocks(panel, &options)? {
        let part = part?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.append(part),
        }
        if Instant::now() > deadline {
            return Err(EngineError::Timeout(settings.timeout));
        }
    }
    Ok(whole.unwrap_or_else(|| Frame::new(fitted.freq())))
}

/// The steps that are asked for, the models' own by default.
fn steps(asked: Option<usize>, fitted: &Fitted) -> Result<usize, EngineError> {
    match asked.unwrap_or(fitted.h()) {
        0 => Err(EngineError::Request(format!(
            "h, the steps to forecast, must be at least 1, found 0; leave it out for the {} of the model",
            fitted.h()
        ))),
        steps => Ok(steps),
    }
}

/// Refuses too many steps, and answers of too many rows for them.
fn check_steps(panel: &Panel, h: usize, settings: &EngineSettings) -> Result<(), EngineError> {
    check("steps (h)", settings.max_h, h, "ask for fewer steps")?;
    check_answer(panel, h, settings)
}

/// Refuses answers of too many rows, for so many `steps` of each series.
fn check_answer(panel: &Panel, steps: usize, settings: &EngineSettings) -> Result<(), EngineError> {
    let rows = panel.n_series().saturating_mul(steps);
    check("rows of the answer", settings.max_rows, rows, "send fewer series or ask for fewer steps")
}

pub(crate) fn check(
    what: &'static str,
    most: usize,
    found: usize,
    remedy: &'static str,
) -> Result<(), EngineError> {
    if found > most { Err(EngineError::TooMany { what, most, found, remedy }) } else { Ok(()) }
}
