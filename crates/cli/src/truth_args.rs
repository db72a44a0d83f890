//! The files of forecasts and of what came true, with the names of their columns, their layout and their zone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use foretell::{
    ColumnNames, DataError, FileOptions, FirstTimes, Fitted, ForecastTable, LabelFiles, MemoryLimit,
    NumberFormat, ReadOptions, TimeFormat, TimeKind, Zone, actual_values, column_names, is_of_id,
    skipped_hour,
};
use serde_json::json;

use crate::args::{MemoryArgs, numbers};
use crate::context::Context;
use crate::drawn_forecasts::tell_named_quantiles;
use crate::failure::Usage;
use crate::file_args::FileArgs;
use crate::layout_args::LayoutArgs;
use crate::looked_at::{LookedAt, as_written, is_pair};
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
    /// Column of the series' ids, or several that make them together, as store,item, in each file that has it [default: unique_id,
    /// or none where there is no such column and only one series; with --model as saved there]
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
    /// The file of the actual values, in which labels of their series may stand; none where each column is a series.
    labels: Option<(PathBuf, ReadOptions)>,
}

/// A file and how it is read, with the first of its times.
struct Opened<'a> {
    path: &'a Path,
    options: ReadOptions,
    first: Option<FirstTimes>,
    looked_at: LookedAt,
    /// The file whose zone its times are read in, as they have none.
    zone_of: Option<PathBuf>,
}

impl<'a> Opened<'a> {
    /// The file with the first of these ways to read it that fits its times; the first of all if none does.
    fn fitting(
        path: &'a Path,
        ways: Vec<(ReadOptions, LookedAt)>,
        first_times: impl Fn(&Path, &ReadOptions) -> Result<FirstTimes, DataError>,
    ) -> Option<Self> {
        let mut opened: Vec<Self> = (ways.into_iter())
            .map(|(options, looked_at)| {
                let first = first_times(path, &options).ok();
                Self { path, options, first, looked_at, zone_of: None }
            })
            .collect();
        let fits = opened.iter().position(|way| way.first.is_some()).unwrap_or(0);
        (fits < opened.len()).then(|| opened.swap_remove(fits))
    }

    fn zone(&self) -> Option<&Zone> {
        self.first.as_ref().and_then(|first| first.zone.as_ref())
    }

    /// Reads the times in the zone of another file, where these have none and those have one, and says so.
    fn take_zone(&mut self, of: &[(&Path, Option<Zone>)], flag: &str, context: &'static Context) {
        let has_none = self
            .first
            .as_ref()
            .is_some_and(|first| first.kind == Some(TimeKind::Timestamp) && first.zone.is_none());
        let found = of.iter().find_map(|(path, zone)| Some((path, said(zone.as_ref())?)));
        if let Some((path, zone)) = found.filter(|_| has_none) {
            context.warning(&format!(
                "the times of {} have no zone: they are read in {zone}, that of {} ({flag} says another)",
                self.path.display(),
                path.display()
            ));
            self.options.zone = Some(zone);
            self.zone_of = Some(path.to_path_buf());
        }
    }

    /// Refuses times that were read in an offset from UTC, the zone of another file, and that lack an hour which clocks skip in spring: they
    /// are local, and half of them would be compared with those an hour away.
    fn check_clocks(&self, table: &ForecastTable, flag: &str) -> Result<(), Usage> {
        let (Some(other), Some(zone)) = (&self.zone_of, &self.options.zone) else { return Ok(()) };
        match skipped_hour(table, zone) {
            None => Ok(()),
            Some(before) => Err(Usage(format!(
                "the times of {} have no zone, and lack the hour behind {before}, as those of clocks that are put forward do: they are not in {}, \
                 the zone of {}; name theirs ({flag} Europe/Berlin)",
                self.path.display(),
                zone.name,
                other.display()
            ))),
        }
    }

    /// Says that the times are not written as someone said, but as usual.
    fn tell_format(&self, said: Option<&TimeFormat>, context: &'static Context) {
        if said.is_some() && self.options.time_format.is_none() && self.first.is_some() {
            let path = self.path.display().to_string();
            let text = format!(
                "{path}: its times are written as usual, so that --time-format does not concern them"
            );
            context.report(&text, &json!({ "event": "usual_times", "path": path }));
        }
    }
}

impl ComparedFiles {
    /// Reads the files, of which these models are compared; all, if none is named.
    pub(crate) fn read(
        &self,
        models: &[String],
        context: &'static Context,
    ) -> anyhow::Result<ComparedTables> {
        let limit = self.memory.limit();
        let fitted =
            self.model.as_ref().map(|model| Fitted::load_within(model, limit.clone())).transpose()?;
        let fitted = fitted.as_ref();
        let zone = self.zone.clone().or_else(|| fitted.and_then(|fitted| fitted.reading().zone.clone()));
        let open = |path| self.open_actual(path, fitted, zone.clone(), &limit);
        let mut actual = self.actual.as_deref().map(open).transpose()?;
        let mut history = self.history.as_deref().map(open).transpose()?;
        let beside = actual.as_ref().or(history.as_ref());
        let mut forecast = self.open_forecast(fitted, beside.map(|beside| &beside.options), zone, &limit)?;
        let zones: Vec<(&Path, Option<Zone>)> = [Some(&forecast), actual.as_ref(), history.as_ref()]
            .into_iter()
            .flatten()
            .map(|file| (file.path, file.zone().cloned()))
            .collect();
        forecast.take_zone(&zones, "--zone", context);
        forecast.tell_format(self.time_format.as_ref(), context);
        let columns = ColumnNames {
            id: forecast.options.id_col.clone(),
            time: forecast.options.time_col.clone().unwrap_or(ColumnNames::default().time),
            target: forecast.options.target_col.clone(),
        };
        let labels = actual.as_ref().filter(|actual| !actual.options.wide);
        let labels = labels.map(|actual| (actual.path.to_owned(), actual.options.clone()));
        let is_alone = actual.is_none() && history.is_none();
        let read = |file: Option<&mut Opened<'_>>| -> anyhow::Result<Option<ForecastTable>> {
            let Some(file) = file else { return Ok(None) };
            file.take_zone(&zones, "--actual-zone", context);
            file.tell_format(
                self.time_format.as_ref().filter(|_| self.actual_time_format.is_none()),
                context,
            );
            let table = self.read_actual(file, &columns, fitted)?;
            file.check_clocks(&table, "--actual-zone")?;
            file.looked_at.tell(Some(file.path), context);
            context.notes(&table.notes);
            Ok(Some(table))
        };
        let actual = read(actual.as_mut())?;
        let history = read(history.as_mut())?;
        let mut table = ForecastTable::of_models_from_file(forecast.path, &forecast.options, models)
            .map_err(|error| self.asking(&forecast, error.into(), is_alone))?;
        match is_alone {
            true => forecast.looked_at.tell(Some(forecast.path), context),
            false => forecast.looked_at.tell_forecasts(forecast.path, context),
        }
        context.notes(&table.notes);
        forecast.check_clocks(&table, "--zone")?;
        let target = &columns.target;
        table.columns.retain(|(name, _)| name == target || Some(name) != self.actual_target_col.as_ref());
        tell_named_quantiles(context, &mut table, target);
        let tables = ComparedTables { forecast: table, actual, history, columns, labels };
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
        // Ids that several columns make stand in one column of forecasts.
        let joined = self
            .id_col
            .as_ref()
            .filter(|id| id.contains(',') && header.iter().any(|name| is_of_id(id, name)));
        ColumnNames {
            id: joined.cloned().unwrap_or_else(|| name(&self.id_col, &usual.id)),
            time: name(&self.time_col, &usual.time),
            target: name(&self.target_col, &usual.target),
        }
    }

    /// The formats that times of a file may be written in, in the order in which they are tried: one that was said of all files may be that
    /// of another, as forecasts are written as usual.
    fn formats(&self, own: Option<&TimeFormat>) -> Vec<Option<TimeFormat>> {
        match (own, &self.time_format) {
            (Some(own), _) => vec![Some(own.clone())],
            (None, Some(format)) => vec![Some(format.clone()), None],
            (None, None) => vec![None],
        }
    }

    /// Whether flags say how numbers are written.
    fn numbers_are_said(&self) -> bool {
        self.decimal.is_some() || self.thousands.is_some()
    }

    /// The file of forecasts; columns that are not called as usual are called as in the data `beside` it, or told by what they hold.
    fn open_forecast(
        &self,
        fitted: Option<&Fitted>,
        beside: Option<&ReadOptions>,
        zone: Option<Zone>,
        limit: &MemoryLimit,
    ) -> anyhow::Result<Opened<'_>> {
        let usual = fitted.map(Fitted::columns).cloned().unwrap_or_default();
        let mut names = self.columns(&self.forecast, &usual, &FileOptions::default(), &[]);
        let header = column_names(&self.forecast, &FileOptions::default()).unwrap_or_default();
        let flags = [&self.id_col, &self.time_col, &self.target_col].map(Option::is_some);
        let of_data = |beside: &ReadOptions| {
            [Some(beside.id_col.clone()), beside.time_col.clone(), Some(beside.target_col.clone())]
        };
        let of_data = beside.map_or([None, None, None], of_data);
        let own = [&mut names.id, &mut names.time, &mut names.target];
        for ((name, is_said), beside) in own.into_iter().zip(flags).zip(of_data) {
            if let Some(beside) = beside.filter(|beside| header.contains(beside))
                && !is_said
                && !header.contains(&*name)
            {
                *name = beside;
            }
        }
        let numbers = numbers(self.decimal, self.thousands, NumberFormat::default())?;
        let numbers_are_said = self.numbers_are_said();
        let ways = self.formats(None).into_iter().map(|format| {
            let ColumnNames { id, time, target } = names.clone();
            let mut options = ReadOptions::new().id_col(id).target_col(target).numbers(numbers);
            options.time_col = Some(time.clone()).filter(|time| header.contains(time) || flags[1]);
            (options.zone, options.time_format) = (zone.clone(), format);
            let looked_at = LookedAt::default();
            let mut options =
                as_written(&self.forecast, options, [self.time_format.is_some(), numbers_are_said]);
            let is_told = |name: &String| header.contains(name);
            let are_told = is_told(&options.id_col)
                && is_told(&time)
                && (beside.is_some() || is_told(&options.target_col));
            let roles = if fitted.is_some() || are_told {
                None
            } else {
                looked_at.roles(&self.forecast, || Some(options.clone()))
            };
            if let Some(roles) = roles.filter(|roles| !roles.repeats) {
                options.id_col = roles.id.clone().unwrap_or(options.id_col);
                options.time_col = roles.time.clone().or(options.time_col);
                if beside.is_none() {
                    options.target_col = roles.target.clone().unwrap_or(options.target_col);
                }
            }
            options.time_col = options.time_col.or(Some(time).filter(|_| !is_pair(&header)));
            (options.max_memory(limit.bytes()), looked_at)
        });
        let opened = Opened::fitting(&self.forecast, ways.collect(), |path, options| {
            ForecastTable::first_times(path, options)
        });
        Ok(opened.expect("a way to read it"))
    }

    /// A file of actual values; columns that are not called as usual are told by what they hold.
    fn open_actual<'a>(
        &self,
        path: &'a Path,
        fitted: Option<&Fitted>,
        zone: Option<Zone>,
        limit: &MemoryLimit,
    ) -> anyhow::Result<Opened<'a>> {
        let mut saved = fitted.map(Fitted::reading).cloned().unwrap_or_default();
        // What is known of a period by now is no actual value, unless the command says so: models may have been trained on it.
        saved.keep_partial = false;
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
        options.freq = fitted.map(Fitted::freq);
        options.zone = self.actual_zone.clone().or(zone);
        options.static_cols.clear();
        options.end_col = None;
        let options = options.max_memory(limit.bytes());
        let own = self
            .actual_time_format
            .as_ref()
            .or(options.time_format.as_ref())
            .filter(|_| self.actual_time_format.is_some() || self.time_format.is_none());
        let numbers_are_said = self.numbers_are_said();
        let times_are_said = self.time_format.is_some() || self.actual_time_format.is_some();
        let ways = self.formats(own).into_iter().map(|format| {
            let mut options = options.clone();
            options.time_format = format;
            let looked_at = LookedAt::default();
            options = as_written(path, options, [times_are_said, numbers_are_said]);
            let roles = if fitted.is_some() { None } else { looked_at.roles(path, || Some(options.clone())) };
            if let Some(roles) = roles.filter(|roles| roles.are_clear()) {
                options.id_col = roles.id.clone().unwrap_or(options.id_col);
                (options.time_col, options.target_col) =
                    (roles.time.clone(), roles.target.clone().unwrap_or(options.target_col));
            }
            (options, looked_at)
        });
        let opened = Opened::fitting(path, ways.collect(), |path, options| {
            ForecastTable::actual_first_times(path, options)
        });
        Ok(opened.expect("a way to read it"))
    }

    /// The error of a file, which asks for the column that could not be told.
    fn asking(&self, file: &Opened<'_>, error: anyhow::Error, has_values: bool) -> anyhow::Error {
        let are_said = [&self.id_col, &self.actual_id_col, &self.target_col, &self.actual_target_col];
        let [id, actual_id, target, actual_target] = are_said.map(Option::is_some);
        match has_values {
            true => file.looked_at.asking(
                error,
                &file.path.display().to_string(),
                [id || actual_id, target || actual_target],
            ),
            false => error,
        }
    }

    /// The actual values of a file, in the column of the forecasts' target.
    fn read_actual(
        &self,
        file: &Opened<'_>,
        forecast: &ColumnNames,
        fitted: Option<&Fitted>,
    ) -> anyhow::Result<ForecastTable> {
        let Opened { path, options, .. } = file;
        let mut table =
            actual_values(path, options, fitted).map_err(|error| self.asking(file, error.into(), true))?;
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
    /// The file in which labels of the series may stand besides.
    pub(crate) fn labels(&self) -> Option<LabelFiles<'_>> {
        let (path, options) = self.labels.as_ref()?;
        let paths = std::slice::from_ref(path);
        Some(LabelFiles { paths, options: &options.file, id_col: &options.id_col })
    }

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
