//! Forecasts without a saved model: those of the models that suit the series of a request.

use std::mem;
use std::time::{Duration, Instant};

use foretell::{
    ColumnNames, End, Error, Fitted, Forecaster, Future, MemoryTable, ModelSpec, Panel, ReadOptions, Roles,
    UsageError, ask_for_column, in_words_of, is_wanted, statics_and_texts, texts_not_read, told_columns,
};
use foretell_auto::{Auto, Budget, QUANTILES, TrainedAuto, last_rows};

use crate::error::EngineError;
use crate::field_words::FIELD_WORDS;
use crate::forecast::{
    Bounds, SeriesRead, check_answer, check_asked, check_asked_steps, check_list, forecast, note,
    note_warning, room_to_read, take_warnings, understood,
};
use crate::reading::{changed, within};
use crate::request::{AheadOptions, ForecastAnswer, ForecastKind, ForecastRequest};
use crate::settings::EngineSettings;

/// The name by which requests ask for it.
pub(crate) const NAME: &str = "auto";

/// The share of the time of a request that its search may take.
const SHARE: f64 = 0.8;

/// The answer to a request that names no model that is served and whose tables have this many bytes, on this many threads.
pub(crate) fn forecast_anew(
    request: &mut ForecastRequest,
    bytes: u64,
    bounds: Bounds<'_>,
    threads: usize,
) -> Result<ForecastAnswer, EngineError> {
    let Bounds { settings, deadline, .. } = bounds;
    let mut asks = mem::replace(&mut request.asks, ForecastKind::Ahead(AheadOptions::default()));
    let asked = match &asks {
        ForecastKind::Ahead(asked) => asked,
        ForecastKind::Look => return look(request, bytes, bounds),
        _ => {
            let message = "only /v1/forecast and /v1/look answer without a model; name one (model)";
            return Err(EngineError::Request(message.to_owned()));
        }
    };
    let h = asked.h.filter(|h| *h > 0).ok_or_else(|| {
        let message = "h is missing: how many steps to forecast, as 14; without a model there is no other";
        EngineError::Request(message.to_owned())
    })?;
    if asked.intervals.is_some() {
        let message =
            "intervals are those of a model that is named (model); without one ask for levels (level)";
        return Err(EngineError::Request(message.to_owned()));
    }
    // What would be refused of the answer is refused before the search.
    check_asked_steps(Some(h), settings)?;
    check_list(&asks, settings)?;
    let series = read(request, asked.future.as_ref(), bytes, bounds)?;
    let understood = Some(understood(&request.data, &series));
    let SeriesRead { panel, options } = &series;
    check_answer(panel, h, settings)?;
    check_asked(h, &asks, panel, bounds)?;
    // No request names one.
    let (statics, texts) = statics_and_texts(statics(request, options)?, &[], panel);
    texts_not_read(&texts, panel).into_iter().for_each(note);
    request.forget_series();
    if let Some(table) = &asked.future {
        Future::from_memory(table, options, panel, h)?;
    }
    let mut auto = Auto::new(h)
        .budget(budget(asked, settings)?)
        .stop_if(move || !is_wanted() || Instant::now() + Duration::from_millis(500) > deadline);
    for (name, columns) in
        [("futr_exog_list", options.columns.clone().unwrap_or_default()), ("stat_exog_list", statics)]
    {
        auto = auto
            .with(name, columns)
            .map_err(|error| EngineError::Request(in_words_of(FIELD_WORDS, || error.to_string())))?;
    }
    let spec = ModelSpec::from(auto);
    let forecaster = || -> Result<Forecaster, Error> {
        let forecaster =
            Forecaster::new([spec.clone()])?.threads(threads).columns(ColumnNames::of_reading(options));
        Ok(forecaster.on_warning(note_warning))
    };
    // Why models are left out is told in the board.
    let fitted = in_words_of(FIELD_WORDS, || fit(forecaster, panel, bounds))?;
    if Instant::now() > deadline {
        return Err(EngineError::Timeout(settings.timeout));
    }
    if let ForecastKind::Ahead(asked) = &mut asks {
        asked.h = None;
        if asked.level.is_empty() && asked.quantiles.is_empty() {
            asked.quantiles = QUANTILES.to_vec();
        }
    }
    let frame = forecast(&fitted, &asks, &series, bounds)?;
    let board = TrainedAuto::board_of(&fitted);
    Ok(ForecastAnswer { model: NAME.to_owned(), frame, warnings: take_warnings(), understood, board })
}

/// What was understood of the series, and their last rows.
fn look(request: &ForecastRequest, bytes: u64, bounds: Bounds<'_>) -> Result<ForecastAnswer, EngineError> {
    let series = read(request, None, bytes, bounds)?;
    let understood = Some(understood(&request.data, &series));
    let frame = last_rows(&series.panel, &series.options);
    let answer = ForecastAnswer::of_model(NAME, frame, take_warnings());
    Ok(ForecastAnswer { understood, ..answer })
}

/// Searches in the memory that a thread has of its own, and if that is too little in as much as it needs.
fn fit(
    forecaster: impl Fn() -> Result<Forecaster, Error>,
    panel: &Panel,
    bounds: Bounds<'_>,
) -> Result<Fitted, EngineError> {
    let Bounds { settings, room, .. } = bounds;
    match forecaster()?.max_memory(settings.own_memory()).fit(panel) {
        Err(Error::Usage(UsageError::Memory(refused))) if !room.is_beyond_all(refused.needed_bytes) => {
            room.at_least_soon(room.bytes() + refused.needed_bytes)?;
            Ok(forecaster()?.max_memory(refused.needed_bytes).fit(panel)?)
        }
        fitted => Ok(fitted?),
    }
}

/// The time that the search may take.
fn budget(asked: &AheadOptions, settings: &EngineSettings) -> Result<Budget, EngineError> {
    let Some(text) = &asked.budget else { return Ok(Budget::Quick) };
    let refuse = |reason: String| EngineError::Request(format!("budget: {reason}"));
    let most = settings.timeout.as_secs_f64() * SHARE;
    match text.parse::<Budget>().map_err(|error| refuse(error.to_string()))? {
        Budget::Time(time) if time.as_secs_f64() > most => {
            Err(refuse(format!("a request may take {most:.0} s here, found {text}; ask for less")))
        }
        Budget::Steps(_) => Err(refuse(format!("name a time up to {most:.0}s, as 10s, found {text}"))),
        budget => Ok(budget),
    }
}

/// How the tables of the request are read, and what the columns of the data hold where their names do not tell it.
fn options_of(
    request: &ForecastRequest,
    future: Option<&MemoryTable>,
    max_memory: u64,
) -> Result<(ReadOptions, Option<Roles>), EngineError> {
    let fixed = ["columns", "categories", "max_memory"];
    let why = "follows from the tables; leave it out";
    // A series without a value stops no other one; it is among the notes of what was understood.
    let usual = ReadOptions::default().without_unknown();
    let options = changed(&usual, &request.reading, &fixed, why)?;
    let (mut options, roles) = told_columns(within(options, max_memory).threads(1), &request.data);
    let ColumnNames { id, time, target } = ColumnNames::of_reading(&options);
    let future = match future {
        Some(table) => table.column_names(&options.file)?,
        None => Vec::new(),
    };
    let is_further = |name: &String| ![&id, &time, &target].contains(&name);
    options.columns = Some(future.into_iter().filter(is_further).collect());
    Ok((options, roles))
}

/// The static columns: all that there are.
fn statics(request: &ForecastRequest, options: &ReadOptions) -> Result<Vec<String>, EngineError> {
    let Some(table) = &request.statics else { return Ok(Vec::new()) };
    let names = table.column_names(&options.file)?;
    Ok(names.into_iter().filter(|name| *name != options.id_col).collect())
}

/// The series, in the memory that the request has for it.
fn read(
    request: &ForecastRequest,
    future: Option<&MemoryTable>,
    bytes: u64,
    bounds: Bounds<'_>,
) -> Result<SeriesRead, EngineError> {
    let (options, roles) = options_of(request, future, room_to_read(bytes, bounds))?;
    let options = options.max_rows(bounds.settings.max_rows);
    let panel = Panel::from_memory(&request.data, &options);
    let panel = panel.map_err(|error| ask_for_column(roles.as_ref(), error))?;
    let panel = match &request.end {
        Some(word) => panel.ended(word.parse::<End>()?, &options)?.map_or(panel, |(ended, _)| ended),
        None => panel,
    };
    let panel = match &request.statics {
        Some(table) => panel.with_static_memory(table, &options)?,
        None => panel,
    };
    Ok(SeriesRead { panel, options })
}
