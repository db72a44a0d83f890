//! The data file and its layout, and the series in it.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::hierarchy::Hierarchy;
use foretell::{
    CalendarError, ColumnNames, DataError, End, FileOptions, FilesError, Fitted, Freq, Future, LabelFiles,
    Locale, MemoryLimit, Panel, ReadOptions, Roles, SeriesColumns, TimeFormat, Zone,
};
use serde_json::json;

use crate::args::numbers;
use crate::context::Context;
use crate::failure::Usage;
use crate::file_args::FileArgs;
use crate::hierarchy_args::HierarchyArgs;
use crate::layout_args::LayoutArgs;
use crate::looked_at::{LookedAt, as_written};
use crate::row_args::RowArgs;
use crate::standard_input::{self, is_stdin};

/// The data file and its layout.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// File with the series, a row per series and time: Parquet if it ends in .parquet, else CSV, which may be
    /// compressed (.csv.gz, .csv.zst); `-` reads CSV or JSON from standard input. A folder, or a pattern as 'parts/*.parquet', is all of
    /// its files, and it may be given several times: all files have the same columns, and a folder region=EU is one of them
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Keep the rows of --data in files without names in this directory, in place of memory, for data that are larger: each file of
    /// --data is read after the one before, and holds whole series or those of its month, year, ... Of several processes each reads
    /// its share of the files. The system brings into memory what is used; --max-memory bounds all else, as the rows of one file,
    /// weights, windows, and copies for --local-scaler and --features. Nothing in the result changes
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) file: FileArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    /// Column of the series' ids, or several that make them together, as store,item, joined by / [default: unique_id, or none where
    /// there is no such column and only one series; with a model directory, as saved there]
    #[arg(long, value_name = "C")]
    id_col: Option<String>,
    /// Column of the times [default: ds, the first one with --wide; with a model
    /// directory, as saved there]
    #[arg(long, value_name = "C")]
    time_col: Option<String>,
    /// Column of the values [default: y; with a model directory, as saved there]
    #[arg(long, value_name = "C")]
    target_col: Option<String>,
    /// How times are written, where they are not as 2024-01-31 13:45:00 or 2024-Q1: %Y%m%d, %d.%m.%Y, %m/%d/%Y, ...
    /// (strptime, and %q for a quarter; an interval is its start), `excel` for the days of spreadsheets, `epoch`,
    /// `epoch-ms`, `epoch-us` or `epoch-ns` for what is counted since 1970, `year/12` for months as R has them (1949.083), or `integer` for step numbers that look like
    /// dates. It concerns --futr too, and is kept with models: `usual` says that the times are written as usual after all
    #[arg(long, value_name = "FORMAT", value_parser = Written::parse)]
    time_format: Option<Written>,
    /// The language in which months are named, as de, fr or es; of --futr as well [default: en]
    #[arg(long, value_name = "LANGUAGE", value_parser = str::parse::<Locale>)]
    locale: Option<Locale>,
    /// The mark before decimals, a point or a comma, which is written before decimals as well, then with semicolons between
    /// fields [default: a point]. It and --thousands concern --static and --futr too
    #[arg(long, value_name = "MARK")]
    decimal: Option<char>,
    /// The mark between thousands: . , ' _ or a space; where it is a point, the mark before decimals is a comma
    /// [default: a space or an apostrophe where there is one]
    #[arg(long, value_name = "MARK")]
    thousands: Option<char>,
    /// Values that stand for missing ones, as -999 or unknown, in all columns but ids and times; of --static and --futr too
    #[arg(long, value_name = "V[,V]", value_delimiter = ',', allow_hyphen_values = true)]
    missing: Vec<String>,
    /// Texts that stand for 0, as - in columns of accounts, in all columns but ids and times; of --static and --futr too
    #[arg(long, value_name = "V[,V]", value_delimiter = ',', allow_hyphen_values = true)]
    zeros: Vec<String>,
    /// Marks behind numbers that only say how these came about, as p,e,r of numbers that are provisional, estimated or revised: they are
    /// left away; of --static and --futr too
    #[arg(long, value_name = "F[,F]", value_delimiter = ',')]
    number_flags: Vec<String>,
    /// Columns of --data that hold one value in all rows of a series: they are static, as those of --static
    #[arg(long, value_name = "C[,C]", value_delimiter = ',')]
    pub(crate) static_cols: Vec<String>,
    /// File with one row per series: its id, and columns that do not change over time; several files, folders and patterns are
    /// one table, as of --data
    #[arg(long = "static", value_name = "FILE")]
    pub(crate) statics: Vec<PathBuf>,
    #[command(flatten)]
    rows: RowArgs,
    /// The first time of --data that is read: a time, or a day, a month (2024-05) or a year as a whole [default: all]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// The last time of --data that is read, as for a forecast of what is known by then, or where the last period is not over
    /// [default: all]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Series that end before the last time of the data: `common` continues them to it with zeros, or as --fill says, `masked`
    /// with rows whose values are not known, `drop` leaves them out, `own` says that each has an end of its own [default: as own, with
    /// a warning: what follows their end is forecast; with a model directory, as saved there]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<End>)]
    end: Option<End>,
    /// Static column of the times that series should end at, in place of the last time of the data; where it is empty, they end with
    /// the data. It stands in --static or in --data, and is no column that models read [default: --end common with it]
    #[arg(long, value_name = "C")]
    end_col: Option<String>,
    /// Time zone of the data: UTC, +02:00, Europe/Berlin, ... [default: the one that the times are written with, if
    /// any]
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    zone: Option<Zone>,
    /// What the columns hold, once it was looked at.
    #[arg(skip)]
    looked_at: LookedAt,
}

/// How times are written, where that is said: nothing for the usual spellings.
#[derive(Clone, Debug)]
struct Written(Option<TimeFormat>);

impl Written {
    fn parse(text: &str) -> Result<Self, CalendarError> {
        Ok(Self(if text == "usual" { None } else { Some(TimeFormat::parse(text)?) }))
    }
}

impl DataArgs {
    /// The columns' names: those of the flags, else those of `saved`; of a long table that has not the usual ones those that its rows tell.
    pub(crate) fn columns(&self, saved: ColumnNames) -> ColumnNames {
        let or = |flag: &Option<String>, saved| flag.clone().unwrap_or(saved);
        let usual = saved == ColumnNames::default();
        let named = ColumnNames {
            id: or(&self.id_col, saved.id),
            time: or(&self.time_col, saved.time),
            target: or(&self.target_col, saved.target),
        };
        match self.roles(&named).filter(|_| usual) {
            Some(roles) => named.or_found(roles),
            None => named,
        }
    }

    /// What the columns of a long table hold that has not all of these.
    fn roles(&self, named: &ColumnNames) -> Option<&Roles> {
        let saved = ReadOptions::default();
        let options = || self.options(named, Vec::new(), Vec::new(), None, &saved).ok();
        self.looked_at.roles(self.data.first()?, options)
    }

    /// How to read the file whose columns have these names. Further columns are kept only if they are `read`; some of them, and
    /// of the static ones, hold `categories`.
    pub(crate) fn options(
        &self,
        columns: &ColumnNames,
        read: Vec<String>,
        categories: Vec<String>,
        freq: Option<Freq>,
        saved: &ReadOptions,
    ) -> anyhow::Result<ReadOptions> {
        let saved = self.rows.apply(self.layout.apply(saved.clone()));
        let static_cols = if self.static_cols.is_empty() { &saved.static_cols } else { &self.static_cols };
        let end_col = self.end_col.as_ref().or(saved.end_col.as_ref()).cloned();
        let (file, static_cols) = (self.file.options(&saved.file), static_cols.clone());
        let numbers = numbers(self.decimal, self.thousands, saved.numbers)?;
        let mut options = saved.file(file).numbers(numbers);
        if let Some(until) = &self.until {
            options = options.without_far_times_after(until);
        }
        (options.static_cols, options.end_col) = (static_cols, end_col);
        let said = [
            (&self.missing, &mut options.missing),
            (&self.zeros, &mut options.zeros),
            (&self.number_flags, &mut options.number_flags),
        ];
        for (said, option) in said.into_iter().filter(|(said, _)| !said.is_empty()) {
            option.clone_from(said);
        }
        options.locale = self.locale.or(options.locale);
        options.zone = self.zone.clone().or(options.zone);
        if let Some(Written(format)) = &self.time_format {
            options.time_format = format.clone();
        }
        let time_is_named = self.time_col.is_some();
        let columns = SeriesColumns { names: columns.clone(), time_is_named, read, categories, freq };
        let options = columns.options(options)?;
        let said = [self.time_format.is_some(), self.decimal.is_some() || self.thousands.is_some()];
        Ok(match self.data.first() {
            Some(first) => as_written(first, options, said),
            None => options,
        })
    }

    /// Reads the series for saved models, in no more memory than this many bytes and on this many threads, with the sums of their
    /// hierarchy if they keep one; and how, for files beside them.
    pub(crate) fn read_for(
        &self,
        fitted: &Fitted,
        max_memory: u64,
        threads: usize,
        context: &'static Context,
    ) -> anyhow::Result<(Panel, ReadOptions)> {
        let read = (fitted.columns_read(), fitted.categories());
        let (panel, options) = self.read_as_saved(fitted, read, max_memory, threads, context)?;
        Ok((fitted.with_sums(panel)?, options))
    }

    /// The same without sums, with these columns and those of them that hold categories.
    pub(crate) fn read_as_saved(
        &self,
        fitted: &Fitted,
        (read, categories): (Vec<String>, Vec<String>),
        max_memory: u64,
        threads: usize,
        context: &'static Context,
    ) -> anyhow::Result<(Panel, ReadOptions)> {
        let (columns, freq) = (self.columns(fitted.columns().clone()), fitted.freq_of_data());
        let saved = self.as_the_table_is(&columns, fitted.reading().clone());
        let options = self.options(&columns, read, categories, freq, &saved)?;
        let options = options.max_memory(max_memory).threads(threads);
        let of_trained = |error: anyhow::Error| {
            error.downcast().map_or_else(|error| error, |error: DataError| error.of_trained().into())
        };
        let end = self.end().or(fitted.kept_settings().end);
        Ok((self.read_to(end, &options, context).map_err(of_trained)?, options))
    }

    /// Reads the series without further columns, as for the models of a directory if there is one; and the options that files of
    /// their forecasts are read by.
    pub(crate) fn read_target(
        &self,
        model: Option<&Path>,
        freq: Option<Freq>,
        context: &'static Context,
    ) -> anyhow::Result<(Panel, ReadOptions)> {
        let max_memory = MemoryLimit::of_machine();
        let fitted = model.map(|model| Fitted::load_within(model, max_memory.clone())).transpose()?;
        let fitted = fitted.as_ref();
        let columns = self.columns(fitted.map(Fitted::columns).cloned().unwrap_or_default());
        let mut saved =
            self.as_the_table_is(&columns, fitted.map(Fitted::reading).cloned().unwrap_or_default());
        saved.static_cols.clear();
        let freq = freq.or(fitted.and_then(Fitted::freq_of_data));
        let read = self.options(&columns, Vec::new(), Vec::new(), freq, &saved)?;
        let read = read.max_memory(max_memory.bytes());
        let end = self.end().or(fitted.and_then(|fitted| fitted.kept_settings().end));
        let panel = self.read_to(end, &read, context)?;
        let panel = match fitted {
            Some(fitted) => fitted.with_sums(panel)?,
            None => panel,
        };
        let ColumnNames { id, time, target } = columns;
        let mut beside =
            ReadOptions::new().id_col(id).time_col(time).target_col(target).numbers(read.numbers);
        (beside.zone, beside.max_memory) = (panel.zone().cloned(), read.max_memory);
        Ok((panel, beside))
    }

    /// The reading of saved models for the files here.
    fn as_the_table_is(&self, columns: &ColumnNames, saved: ReadOptions) -> ReadOptions {
        let mut read = ReadOptions::new();
        read.file = self.file.options(&saved.file);
        let header = || {
            let names = match self.is_stdin() {
                true => read.header_in(&standard_input::first_rows()).ok(),
                false => self.data.first().and_then(|first| foretell::column_names(first, &read.file).ok()),
            };
            names.unwrap_or_default()
        };
        let columns = SeriesColumns { names: columns.clone(), ..SeriesColumns::default() };
        columns.as_the_table_is(saved, header)
    }

    /// Names of columns that a wide file does not have are a mistake; those of ids may be meant for `--static` and
    /// `--futr`.
    pub(crate) fn check_names(&self, futr: &[PathBuf]) -> anyhow::Result<()> {
        let beside = !self.statics.is_empty() || !futr.is_empty();
        if self.data.len() > 1 && self.data.iter().any(|path| is_stdin(path)) {
            return Err(Usage(
                "--data -: standard input is read alone; leave the other files out".to_owned(),
            )
            .into());
        }
        check_not_stdin("--static", &self.statics)?;
        check_not_stdin("--futr", futr)?;
        let message = match (&self.id_col, &self.target_col) {
            _ if !self.layout.wide => return Ok(()),
            (_, Some(name)) => format!(
                "--target-col {name}: with --wide every column but that of the times is a series; leave it out"
            ),
            (Some(name), _) if !beside => format!(
                "--id-col {name}: with --wide the ids are the names of the columns; leave it out, or name the file \
                 that has this column by --static or --futr"
            ),
            _ => return Ok(()),
        };
        Err(Usage(message).into())
    }

    /// The common end of series that end before others, if the flag is set.
    pub(crate) fn end(&self) -> Option<End> {
        self.end.or(self.end_col.as_ref().map(|_| End::Common))
    }

    /// The column of the times that series should end at, if the flag names one.
    pub(crate) fn end_column(&self) -> Option<&String> {
        self.end_col.as_ref()
    }

    /// Reads the series and their static columns, and tells `log` of it.
    pub(crate) fn read(&self, options: &ReadOptions, context: &'static Context) -> anyhow::Result<Panel> {
        self.read_to(self.end(), options, context)
    }

    /// The same, with this said of series that end before others.
    fn read_to(
        &self,
        end: Option<End>,
        options: &ReadOptions,
        context: &'static Context,
    ) -> anyhow::Result<Panel> {
        if end == Some(End::Own) {
            context.knows_ends();
        }
        let panel = match &self.scratch {
            Some(_) if self.is_stdin() => {
                let message = "--scratch reads files one after another, and standard input is none; name files by --data";
                return Err(Usage(message.to_owned()).into());
            }
            Some(dir) => match context.processes.readers(true)? {
                Some(world) => Panel::from_files_together(&self.data, options, Some(dir), world)?,
                None => Panel::from_files_by_turns(&self.data, options, dir)?,
            },
            None if self.is_stdin() => {
                context.processes.readers(false)?;
                if context.processes.is_among_others() {
                    let message = "mpirun gives standard input to process 0 alone; name files by --data";
                    return Err(Usage(message.to_owned()).into());
                }
                Panel::read_text(standard_input::text(), standard_input::NAME, options)
                    .map_err(|error| self.asking(error.into()))?
            }
            None => self.read_in_memory(context, options).map_err(|error| self.asking(error))?,
        };
        self.looked_at.tell(None, context);
        context.read(&self.shown(), &panel);
        context.trimmed(&self.shown(), panel.trimmed());
        let panel = self.between(context, panel)?;
        let statics = |panel: Panel| -> Result<Panel, DataError> {
            if self.statics.is_empty() {
                return Ok(panel);
            }
            let panel = panel.with_static_files(&self.statics, options)?;
            self.statics.iter().for_each(|path| context.read_beside(path, "static"));
            Ok(panel)
        };
        let (panel, early) = panel.completed(end, options, statics)?;
        if let Some(((early, added), end)) = early.zip(end) {
            context.ended(&early, end, added);
        }
        context.notes(panel.notes());
        Ok(panel)
    }

    /// The rows from --since to --until, and how many others there are.
    fn between(&self, context: &'static Context, panel: Panel) -> anyhow::Result<Panel> {
        if self.since.is_none() && self.until.is_none() {
            return Ok(panel);
        }
        let cut = panel.between(self.since.as_deref(), self.until.as_deref())?;
        let all = panel.n_rows() + panel.trimmed().far;
        let out = all - cut.n_rows();
        let event = json!({ "event": "left_out", "rows": out, "of": all });
        context.report(&format!("{out} of {all} rows are left out (--since, --until)"), &event);
        Ok(cut)
    }

    /// The columns of a long file that are not read by these options.
    pub(crate) fn unread_columns(&self, options: &ReadOptions) -> Vec<String> {
        let first = self.data.first().filter(|first| !first.is_dir());
        let header = match self.is_stdin() {
            true => options.header_in(&standard_input::first_rows()).ok(),
            false => first.and_then(|first| options.header(first).ok()),
        };
        options.unread_columns(&header.unwrap_or_default())
    }

    /// Tells which columns of a long table are not read, where none was named to be.
    pub(crate) fn tell_unread(&self, options: &ReadOptions, context: &'static Context) -> Vec<String> {
        let names_none = options.columns.as_ref().is_some_and(Vec::is_empty);
        let unread = if names_none { self.unread_columns(options) } else { Vec::new() };
        if !unread.is_empty() {
            let names = listed(&unread);
            let text = format!(
                "not read: {names}; --hist-exog names columns of the past, --futr-exog such as are known ahead"
            );
            context.report(&text, &json!({ "event": "unread", "columns": unread }));
        }
        unread
    }

    /// The error of a table whose columns are not called as usual: it asks for the one that could not be told.
    fn asking(&self, error: anyhow::Error) -> anyhow::Error {
        let are_said = [self.id_col.is_some(), self.target_col.is_some()];
        self.looked_at.asking(error, &self.shown(), are_said)
    }

    /// Reads the files, of which several processes read some each where that makes no difference: what is filled, gathered in periods or
    /// inferred of the times of all rows needs all of them at once, as do series whose rows are strewn over files.
    fn read_in_memory(
        &self,
        context: &'static Context,
        options: &ReadOptions,
    ) -> Result<Panel, anyhow::Error> {
        let together = context
            .processes
            .readers(options.reads_apart())?
            .map(|world| Panel::from_files_together(&self.data, options, None, world));
        match together {
            Some(Err(error @ DataError::Files(FilesError::Unwritten { .. }))) => Err(error.into()),
            Some(Ok(panel)) => Ok(panel),
            // What is wrong with files one after another all processes meet, and read them as one table.
            Some(Err(_)) | None => Ok(Panel::from_files(&self.data, options)?),
        }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        matches!(&self.data[..], [only] if is_stdin(only))
    }

    /// The files whose rows are of one series each, in which its labels may stand; none that cannot be read twice.
    fn rows_of_series(&self) -> &[PathBuf] {
        if self.is_stdin() || self.layout.wide { &[] } else { &self.data }
    }

    /// Reads the hierarchy of these series, whose labels may stand in their files.
    pub(crate) fn hierarchy(
        &self,
        asked: &HierarchyArgs,
        (id_col, options): (&str, &FileOptions),
    ) -> anyhow::Result<Option<Hierarchy>> {
        let usual = FileOptions::default();
        let statics = LabelFiles { paths: &self.statics, options: &usual, id_col };
        let own = LabelFiles { paths: self.rows_of_series(), options, id_col };
        asked.given(&[statics, own], id_col, |_| match own.paths {
            [] => Err(Usage(
                "--levels: parts of ids do not say which series there are, and --data, standard input or a wide table, is not read for it; \
                 name a file with the columns of ids and these levels by --static"
                    .to_owned(),
            )
            .into()),
            _ => Ok(own.ids()?),
        })
    }

    /// The files as they were named, for messages.
    pub(crate) fn shown(&self) -> String {
        shown(&self.data)
    }

    /// Reads the future rows of these files, if there are any, `h` after each series of a panel, and tells `log` of it.
    pub(crate) fn read_future(
        &self,
        futr: &[PathBuf],
        options: &ReadOptions,
        (panel, h): (&Panel, usize),
        context: &'static Context,
    ) -> anyhow::Result<Option<Future>> {
        if futr.is_empty() {
            return Ok(None);
        }
        let future = Future::from_files(futr, options, panel, h)?;
        context.read_future(&shown(futr), future.ignored_rows());
        context.notes(future.notes());
        Ok(Some(future))
    }
}

/// Checks that none of these files is standard input, which can be read once, for the data.
pub(crate) fn check_not_stdin<'a>(
    flag: &str,
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Usage> {
    match paths.into_iter().any(|path| is_stdin(path)) {
        true => Err(Usage(format!(
            "{flag} -: standard input can be read once, and only as --data; name a file (./- for one of that name)"
        ))),
        false => Ok(()),
    }
}

/// Names of columns, for messages.
fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Files as they were named, for messages.
pub(crate) fn shown(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| match is_stdin(path) {
        true => standard_input::NAME.to_owned(),
        false => path.display().to_string(),
    };
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}
