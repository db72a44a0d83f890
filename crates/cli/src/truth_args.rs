//! The files of forecasts and of what came true, with the names of their columns, their layout and their zone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use foretell::{
    ColumnNames, FileOptions, Fitted, ForecastTable, Freq, MemoryLimit, NumberFormat, Panel, ReadOptions,
    TimeFormat, Zone, column_names,
};

use crate::args::{MemoryArgs, numbers};
use crate::context::Context;
use crate::failure::Usage;
use crate::file_args::FileArgs;
use crate::layout_args::LayoutArgs;
use crate::row_args::RowArgs;

/// The files that are compared.
#[derive(Debug, Args)]
pub(crate) struct ComparedFiles {
    /// File of forecasts: ids, times, a column per model and interval, and cutoffs if there are several forecasts of a time
    #[arg(long, value_name = "FILE")]
    pub(crate) forecast: PathBuf,
    /// File with the actual values, written as the data that models are trained on [default: the forecasts' column of that name]
    #[arg(long, value_name = "FILE")]
    actual: Option<PathBuf>,
    /// File with what was known before, for metrics that are relative to it (mase, rmsse, ...) [default: the rows of --actual before
    /// the forecasts]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Directory of the models that forecast: --actual and --history are read as the data of their training (columns, layout, zone,
    /// rows gathered in periods, sums of a hierarchy), unless flags say something else
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Column of the series' ids, in each file that has it [default: unique_id, or none where there is no such column and only
    /// one series; with --model as saved there]
    #[arg(long, value_name = "C")]
    id_col: Option<String>,
    /// Column of the times, in each file that has it [default: ds, or that of two columns which holds times; with --model as saved
    /// there]
    #[arg(long, value_name = "C")]
    time_col: Option<String>,
    /// Column of the actual values, in each file that has it [default: y, or that of two columns which holds no times; with --model
    /// as saved there]
    #[arg(long, value_name = "C")]
    target_col: Option<String>,
    /// Column of the ids of --actual and --history, where it is another one than that of the forecasts
    #[arg(long, value_name = "C")]
    actual_id_col: Option<String>,
    /// Column of the times of --actual and --history, where it is another one than that of the forecasts
    #[arg(long, value_name = "C")]
    actual_time_col: Option<String>,
    /// Column of the values of --actual and --history
    #[arg(long, value_name = "C")]
    actual_target_col: Option<String>,
    /// Id of the series in the forecasts that --actual and --history hold the only series of
    #[arg(long, value_name = "ID")]
    actual_id: Option<String>,
    /// Time zone of the times of all files: UTC, +02:00, Europe/Berlin, ... [default: the one that the times are written with; where
    /// those of one file have none, that of --model, else that of the other file]
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    zone: Option<Zone>,
    /// Time zone of the times of --actual and --history, where it is another one than that of the forecasts
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    actual_zone: Option<Zone>,
    /// How times are written, where they are not as 2024-01-31 13:45:00
    #[arg(long, value_name = "FORMAT", value_parser = TimeFormat::parse)]
    time_format: Option<TimeFormat>,
    /// How the times of --actual and --history are written, where they are written in another way than those of the forecasts
    #[arg(long, value_name = "FORMAT", value_parser = TimeFormat::parse)]
    actual_time_format: Option<TimeFormat>,
    /// The mark before decimals, a point or a comma [default: a point]
    #[arg(long, value_name = "MARK")]
    decimal: Option<char>,
    /// The mark between thousands: . , ' _ or a space; where it is a point, the mark before decimals is a comma
    #[arg(long, value_name = "MARK")]
    thousands: Option<char>,
    #[command(flatten, next_help_heading = "How --actual and --history are written")]
    layout: LayoutArgs,
    #[command(flatten, next_help_heading = "How --actual and --history are written")]
    rows: RowArgs,
    #[command(flatten, next_help_heading = "How --actual and --history are written")]
    file: FileArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// The tables of these files.
pub(crate) struct ComparedTables {
    pub(crate) forecast: ForecastTable,
    pub(crate) actual: Option<ForecastTable>,
    pub(crate) history: Option<ForecastTable>,
    /// The names of the forecasts' columns; the values of all tables are in that of the target.
    pub(crate) columns: ColumnNames,
}

impl ComparedTables {
    /// The frequency that the longest known table seems to have.
    pub(crate) fn freq(&self) -> Option<Freq> {
        let tables = [self.history.as_ref(), self.actual.as_ref(), Some(&self.forecast)];
        tables.into_iter().flatten().find_map(ForecastTable::freq)
    }
}

impl ComparedFiles {
    /// Reads the files.
    pub(crate) fn read(&self, context: &'static Context) -> anyhow::Result<ComparedTables> {
        let limit = self.memory.limit();
        let fitted =
            self.model.as_ref().map(|model| Fitted::load_within(model, limit.clone())).transpose()?;
        let fitted = fitted.as_ref();
        let usual = fitted.map(Fitted::columns).cloned().unwrap_or_default();
        let columns = self.columns(&self.forecast, &usual, &FileOptions::default(), &[]);
        let zone = self.zone.clone().or_else(|| fitted.and_then(|fitted| fitted.reading().zone.clone()));
        let forecast = |zone: Option<Zone>| {
            ForecastTable::from_file(&self.forecast, &self.forecast_options(&columns, zone, &limit)?)
                .map_err(anyhow::Error::from)
        };
        let mut table = forecast(zone.clone())?;
        let beside = self.actual_zone.clone().or(zone).or_else(|| said(table.zone.as_ref()));
        let mut read = |path: &PathBuf| -> anyhow::Result<ForecastTable> {
            let beside = self.read_actual(path, &columns, fitted, beside.clone(), &limit)?;
            if table.zone.is_none()
                && let Some(zone) = &beside.zone
            {
                context.warning(&format!(
                    "the times of {} have no zone: they are read in {zone}, that of {} (--zone says another)",
                    self.forecast.display(),
                    path.display()
                ));
                table = forecast(said(Some(zone)))?;
            }
            Ok(beside)
        };
        let actual = self.actual.as_ref().map(&mut read).transpose()?;
        let history = self.history.as_ref().map(&mut read).transpose()?;
        let target = &columns.target;
        table.columns.retain(|(name, _)| name == target || Some(name) != self.actual_target_col.as_ref());
        let tables = ComparedTables { forecast: table, actual, history, columns };
        tables.check_memory(&limit)?;
        Ok(tables)
    }

    /// The names of a file's columns: those of the flags that it has, or no file does, else the usual ones.
    fn columns(
        &self,
        path: &Path,
        usual: &ColumnNames,
        file: &FileOptions,
        elsewhere: &[String],
    ) -> ColumnNames {
        let header = column_names(path, file).unwrap_or_default();
        let has = |name: &String| header.contains(name);
        let name = |flag: &Option<String>, usual: &String| match flag {
            Some(name) if has(name) || !(has(usual) || elsewhere.contains(name)) => name.clone(),
            _ => usual.clone(),
        };
        ColumnNames {
            id: name(&self.id_col, &usual.id),
            time: name(&self.time_col, &usual.time),
            target: name(&self.target_col, &usual.target),
        }
    }

    fn forecast_options(
        &self,
        columns: &ColumnNames,
        zone: Option<Zone>,
        limit: &MemoryLimit,
    ) -> anyhow::Result<ReadOptions> {
        let ColumnNames { id, time, target } = columns.clone();
        let mut options = ReadOptions::new().id_col(id).time_col(time).target_col(target);
        (options.zone, options.time_format) = (zone, self.time_format.clone());
        Ok(options
            .numbers(numbers(self.decimal, self.thousands, NumberFormat::default())?)
            .max_memory(limit.bytes()))
    }

    /// A file of actual values, in the zone `beside` if it has none of its own.
    fn read_actual(
        &self,
        path: &Path,
        forecast: &ColumnNames,
        fitted: Option<&Fitted>,
        beside: Option<Zone>,
        limit: &MemoryLimit,
    ) -> anyhow::Result<ForecastTable> {
        let saved = fitted.map(Fitted::reading).cloned().unwrap_or_default();
        let mut options = self.rows.apply(self.layout.apply(saved));
        options.file = self.file.options(&options.file);
        let usual = fitted.map(Fitted::columns).cloned().unwrap_or_default();
        let header = column_names(path, &options.file).unwrap_or_default();
        let is_long = [&usual.id, &usual.time, &usual.target].iter().all(|name| header.contains(*name));
        options.wide &= self.layout.wide || !is_long;
        let elsewhere = column_names(&self.forecast, &FileOptions::default()).unwrap_or_default();
        let known = self.columns(path, &usual, &options.file, &elsewhere);
        let is_named = self.time_col.as_ref() == Some(&known.time) || self.actual_time_col.is_some();
        let time = self.actual_time_col.clone().unwrap_or(known.time);
        // Of a wide table or one of two columns the times are found, unless someone named them.
        let is_usual = time == ColumnNames::default().time && !is_named || !header.contains(&time);
        options.time_col = (!is_usual || self.actual_time_col.is_some()).then_some(time);
        options.id_col = self.actual_id_col.clone().unwrap_or(known.id);
        options.target_col = self.actual_target_col.clone().unwrap_or(known.target);
        options.columns = Some(Vec::new());
        options.numbers = numbers(self.decimal, self.thousands, options.numbers)?;
        let format = self.actual_time_format.as_ref().or(self.time_format.as_ref());
        options.time_format = format.cloned().or(options.time_format);
        options.freq = fitted.map(Fitted::freq);
        options.zone = beside;
        options.static_cols.clear();
        options.end_col = None;
        let options = options.max_memory(limit.bytes());
        let has_sums = fitted.is_some_and(|fitted| fitted.hierarchy().is_some());
        let gathers = options.fill.is_some() || options.aggregate.is_some() || options.snap.is_some();
        let mut table = match gathers || has_sums {
            false => ForecastTable::actual_from_file(path, &options)?,
            true => {
                let panel = Panel::from_file(path, &options)?;
                let panel = match fitted {
                    Some(fitted) => fitted.with_sums(panel)?,
                    None => panel,
                };
                let mut table = ForecastTable::of_panel(&panel, &options.target_col);
                table.file = path.display().to_string().into();
                table
            }
        };
        for (name, _) in &mut table.columns {
            if *name == options.target_col {
                name.clone_from(&forecast.target);
            }
        }
        if let Some(id) = &self.actual_id {
            if let Some(other) = table.ids.iter().find(|other| **other != table.ids[0]) {
                return Err(Usage(format!(
                    "--actual-id {id}: {} holds several series, {} and {other} among them; leave it out, or name their column \
                     by --actual-id-col",
                    path.display(),
                    table.ids[0]
                ))
                .into());
            }
            let id: Arc<str> = Arc::from(&**id);
            table.ids.fill(id);
        }
        Ok(table)
    }
}

/// A zone that was found in the times of one file, as one that is said of another.
fn said(zone: Option<&Zone>) -> Option<Zone> {
    Zone::parse(&zone?.to_string()).ok()
}

/// Bytes that scoring takes for a row of the forecasts (steps, windows, groups and sums) beside what the tables hold.
const ROW: u64 = 160;

/// Bytes that it takes for a known value: sorted with its series and time, then kept.
const KNOWN: u64 = 48;

impl ComparedTables {
    /// Whether scoring has room.
    fn check_memory(&self, limit: &MemoryLimit) -> Result<(), Usage> {
        let bytes = |table: &ForecastTable| {
            table.ids.len() as u64
                * (32 + 8 * table.columns.len() as u64 + 8 * u64::from(table.cutoffs.is_some()))
        };
        let beside = [self.actual.as_ref(), self.history.as_ref()].into_iter().flatten();
        let known: u64 = beside.map(|table| bytes(table) + KNOWN * table.ids.len() as u64).sum();
        // The columns of models are copied.
        let needed = 2 * bytes(&self.forecast) + ROW * self.forecast.ids.len() as u64 + known;
        match needed > limit.bytes() {
            false => Ok(()),
            true => Err(Usage(format!(
                "scoring {} takes about {} MB, above the limit of {} MB; score fewer series at a time, or raise --max-memory",
                self.forecast.file,
                needed.div_ceil(1_000_000),
                limit.bytes() / 1_000_000
            ))),
        }
    }
}
