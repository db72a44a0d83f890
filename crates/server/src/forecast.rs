//! One request computed on the calling thread.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use foretell::{
    DataError, Error, ExplainOptions, Fitted, Frame, Future, Intervals, MemoryTable, Panel, PredictOptions,
    ReadOptions, TableError, TooLarge, UsageError, Warning, in_words_of,
};
use foretell_auto::{Understood, last_rows};

use crate::error::EngineError;
use crate::field_words::FIELD_WORDS;
use crate::memory_account::Room;
use crate::pieces::{CELL, frame_bytes, id_bytes};
use crate::reading::read_series;
use crate::request::{AheadOptions, ForecastKind, ForecastRequest};
use crate::settings::EngineSettings;

thread_local! {
    /// The warnings of the forecast that this thread computes.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a warning for the answer of the request that this thread computes.
pub(crate) fn note_warning(warning: &Warning) {
    note(in_words_of(FIELD_WORDS, || warning.to_string()));
}

/// Keeps what is told of the tables of a request for its answer.
pub(crate) fn note(told: String) {
    WARNINGS.with_borrow_mut(|warnings| warnings.push(told));
}

/// The warnings of the forecasts that this thread computed since it was asked the last time.
pub(crate) fn take_warnings() -> Vec<String> {
    WARNINGS.take()
}

/// Forecasts with dropout that a request may ask for of each window.
const MOST_DRAWS: usize = 10_000;

/// Tables of fewer bytes need no room.
const SMALL: u64 = 1 << 16;

/// The series of a request, and how tables beside them are read.
#[derive(Clone)]
pub(crate) struct SeriesRead {
    pub(crate) panel: Panel,
    pub(crate) options: ReadOptions,
}

/// How `data` were read as these series, in the words of requests.
pub(crate) fn understood(data: &MemoryTable, series: &SeriesRead) -> Understood {
    in_words_of(FIELD_WORDS, || Understood::of(data, &series.panel, &series.options))
}

/// The bounds of the work for a request.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'a> {
    pub(crate) settings: &'a EngineSettings,
    pub(crate) deadline: Instant,
    /// The memory that it has.
    pub(crate) room: &'a Room,
    /// Whether its answer will be text, in which each row has its id.
    pub(crate) is_text: bool,
    /// Whether the thread waits for memory that others have, since the request cannot do so by itself.
    pub(crate) waits: bool,
    /// The bytes of its room that are taken by what is there already, beside which the forecast needs more.
    pub(crate) had: u64,
}

impl Bounds<'_> {
    /// Takes as much room as makes it this large.
    fn take(&self, bytes: u64) -> Result<(), EngineError> {
        if self.waits { self.room.at_least_soon(bytes) } else { self.room.at_least(bytes) }
    }
}

/// Bytes of memory for each byte of tables that are read: short rows of many series take so much.
const READ: u64 = 24;

/// The memory that reading tables of this many bytes may take: what a thread has of its own is enough for most.
pub(crate) fn room_to_read(bytes: u64, bounds: Bounds<'_>) -> u64 {
    let (own, room) = (bounds.settings.own_memory(), bounds.room);
    let (needed, had) = (bytes.saturating_mul(READ), room.bytes());
    if needed <= own { own } else { own + room.up_to(had.saturating_add(needed)) - had }
}

/// Reads the series of a request, whose tables have this many bytes.
pub(crate) fn read(
    fitted: &Fitted,
    request: &ForecastRequest,
    bytes: u64,
    bounds: Bounds<'_>,
) -> Result<SeriesRead, EngineError> {
    let (settings, room) = (bounds.settings, bounds.room);
    let (own, needed, had) = (settings.own_memory(), bytes.saturating_mul(READ), room.bytes());
    let limit = room_to_read(bytes, bounds);
    let is_short = needed > limit;
    let read = read_series(fitted, request, limit, settings.max_rows);
    let (panel, options) = read.map_err(|error| match error {
        EngineError::Forecast(Error::Data(DataError::Table(TableError::TooLarge(
            TooLarge::Memory { .. } | TooLarge::Stream { .. },
        )))) if is_short && !room.is_beyond_all(had.saturating_add(limit - own).saturating_add(1)) => {
            EngineError::NoRoom { needed }
        }
        error => error,
    })?;
    let held = panel.bytes() as u64;
    room.at_most(had + if held > own { held } else { 0 });
    Ok(SeriesRead { panel, options })
}

/// The forecasts that a request asks for, which was [checked](check_asked), by a model that may take no more memory than a thread has of
/// its own; nothing is begun after the deadline.
pub(crate) fn forecast(
    fitted: &Fitted,
    asks: &ForecastKind,
    series: &SeriesRead,
    bounds: Bounds<'_>,
) -> Result<Frame, EngineError> {
    match forecast_within(fitted, asks, series, bounds) {
        Err(EngineError::Forecast(Error::Usage(UsageError::Memory(refused)))) => {
            if bounds.room.is_beyond_all(refused.needed_bytes) {
                // It says what all requests have together.
                let largest = fitted.clone().max_memory(bounds.settings.shared_memory());
                return forecast_within(&largest, asks, series, bounds);
            }
            let had = bounds.had;
            bounds.take(had + refused.needed_bytes)?;
            let larger = fitted.clone().max_memory(refused.needed_bytes);
            let bounds = Bounds { had: had + refused.needed_bytes, ..bounds };
            let frame = forecast_within(&larger, asks, series, bounds)?;
            bounds.room.at_most(had.max(frame_bytes(&frame)));
            Ok(frame)
        }
        result => result,
    }
}

/// Refuses what is more than anyone can mean, or an answer can hold, of models of this horizon.
pub(crate) fn check_asked(
    h: usize,
    asks: &ForecastKind,
    panel: &Panel,
    bounds: Bounds<'_>,
) -> Result<(), EngineError> {
    check_list(asks, bounds.settings)?;
    check_ids(h, asks, panel, bounds)
}

/// Refuses lists that are longer than anyone can mean, and more steps.
pub(crate) fn check_list(asks: &ForecastKind, settings: &EngineSettings) -> Result<(), EngineError> {
    const FEWER: &str = "ask for fewer";
    match asks {
        ForecastKind::Ahead(asked) => {
            check_asked_steps(asked.h, settings)?;
            check("levels", settings.max_levels, asked.level.len(), FEWER)?;
            check("quantiles", settings.max_levels, asked.quantiles.len(), FEWER)
        }
        ForecastKind::Contributions(asked) => {
            check_asked_steps(asked.h, settings)?;
            check("names (only)", settings.max_levels, asked.only.len(), FEWER)
        }
        ForecastKind::Windows { .. } | ForecastKind::Look => Ok(()),
    }
}

/// Refuses an answer whose ids alone would be longer than an answer may be, of models of this horizon.
fn check_ids(h: usize, asks: &ForecastKind, panel: &Panel, bounds: Bounds<'_>) -> Result<(), EngineError> {
    if !bounds.is_text {
        return Ok(());
    }
    let rows = match asks {
        // As many rows as are shown, and no more.
        ForecastKind::Look => return Ok(()),
        ForecastKind::Windows { n_windows, .. } => h.saturating_mul(*n_windows),
        ForecastKind::Contributions(asked) => asked.h.unwrap_or(h),
        ForecastKind::Ahead(asked) => asked.h.unwrap_or(h),
    };
    let of_series = |id: &Arc<str>| (id_bytes(id) + 2 * CELL).saturating_mul(rows as u64);
    check_text(panel.ids().map(of_series).fold(0, u64::saturating_add), bounds.settings)
}

/// Refuses an answer of this many bytes of text.
pub(crate) fn check_text(bytes: u64, settings: &EngineSettings) -> Result<(), EngineError> {
    let [most, found] =
        [settings.memory.bytes(), bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let remedy = "send fewer series, shorter ids, or ask for fewer steps or levels";
    check("bytes of the answer", most, found, remedy)
}

/// The forecasts, or an error that says how much memory they need.
fn forecast_within(
    fitted: &Fitted,
    asks: &ForecastKind,
    series: &SeriesRead,
    bounds: Bounds<'_>,
) -> Result<Frame, EngineError> {
    let settings = bounds.settings;
    let SeriesRead { panel, options } = series;
    let future = |table: Option<&MemoryTable>, h: usize| {
        table.map(|table| Future::from_memory(table, options, panel, h)).transpose()
    };
    Ok(match asks {
        ForecastKind::Look => last_rows(panel, options),
        ForecastKind::Windows { n_windows, step_size } => {
            check_answer(panel, fitted.h().saturating_mul(*n_windows), settings)?;
            fitted.validate(panel, *n_windows, *step_size)?.frame
        }
        ForecastKind::Contributions(asked) => {
            let h = steps(asked.h, fitted, panel, settings)?;
            let future = future(asked.future.as_ref(), h)?;
            let explained = ExplainOptions::new(asked.method).output(asked.output).h(h);
            fitted.explain(panel, &explained.models(&asked.only).future(future.as_ref()))?
        }
        ForecastKind::Ahead(asked) => {
            let future = future(asked.future.as_ref(), steps(asked.h, fitted, panel, settings)?)?;
            match &asked.intervals {
                None => ahead(fitted, panel, asked, future.as_ref(), bounds)?,
                Some(text) => {
                    let intervals: Intervals = text.parse()?;
                    check_draws(intervals)?;
                    let calibrated = fitted.clone().calibrate(panel, intervals)?;
                    ahead(&calibrated, panel, asked, future.as_ref(), bounds)?
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
    bounds: Bounds<'_>,
) -> Result<Frame, EngineError> {
    let Bounds { settings, deadline, had, .. } = bounds;
    let h = steps(asked.h, fitted, panel, settings)?;
    let mut options =
        PredictOptions::new().future(future).h(h).level(&asked.level).quantiles(&asked.quantiles);
    options.strict = asked.strict;
    let mut whole: Option<Frame> = None;
    for part in fitted.predict_blocks(panel, &options)? {
        let part = part?;
        match &mut whole {
            None => {
                // All rows are as long as the first ones.
                let share = (panel.n_series() * h) as f64 / part.n_rows().max(1) as f64;
                let of_all = |bytes: u64| (bytes as f64 * share) as u64;
                if bounds.is_text {
                    let numbers = part.n_rows() as u64 * CELL * part.columns.len() as u64;
                    check_text(of_all(numbers), settings)?;
                }
                // A table that grows is copied where it has no room behind it.
                let copies = if share > 1.0 { 2 } else { 1 };
                let bytes = of_all(frame_bytes(&part)) * copies;
                if bytes > SMALL {
                    bounds.take(had.saturating_add(bytes))?;
                }
                whole = Some(part);
            }
            Some(whole) => whole.append(part),
        }
        if Instant::now() > deadline {
            return Err(EngineError::Timeout(settings.timeout));
        }
    }
    Ok(whole.unwrap_or_else(|| Frame::new(fitted.freq())))
}

/// The steps that are asked for, the models' own by default; refuses too many, and answers of too many rows for them.
fn steps(
    asked: Option<usize>,
    fitted: &Fitted,
    panel: &Panel,
    settings: &EngineSettings,
) -> Result<usize, EngineError> {
    let h = asked.unwrap_or(fitted.h());
    if h == 0 {
        return Err(EngineError::Request(format!(
            "h, the steps to forecast, must be at least 1, found 0; leave it out for the {} of the model",
            fitted.h()
        )));
    }
    check_asked_steps(Some(h), settings)?;
    check_answer(panel, h, settings)?;
    Ok(h)
}

/// Refuses more draws of each window than anyone can mean.
fn check_draws(intervals: Intervals) -> Result<(), EngineError> {
    match intervals {
        Intervals::Dropout { samples } => check("samples (intervals)", MOST_DRAWS, samples, "draw fewer"),
        _ => Ok(()),
    }
}

/// Refuses too many steps, where a number of them is asked for.
pub(crate) fn check_asked_steps(h: Option<usize>, settings: &EngineSettings) -> Result<(), EngineError> {
    check("steps (h)", settings.max_h, h.unwrap_or(0), "ask for fewer steps")
}

/// Refuses answers of too many rows, for this many `steps` of each series.
pub(crate) fn check_answer(
    panel: &Panel,
    steps: usize,
    settings: &EngineSettings,
) -> Result<(), EngineError> {
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
