//! Arguments that several commands share, and the settings that they become.

use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::Args;
use clap::builder::{PathBufValueParser, RangedU64ValueParser, TypedValueParser};
use foretell::{Forecaster, MemoryLimit, remove_training_state};

use crate::progress::Log;

/// Windows from 1 step to as many as any calendar has use for.
pub(crate) fn steps() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

/// Central intervals in percent.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Central intervals to forecast, in percent, as 80,95: columns such as NHITS-lo-80 and NHITS-hi-80. Models that
    /// forecast a single number need --intervals for that; models of quantiles have the intervals that they were
    /// trained for
    #[arg(long = "level", value_name = "P[,P]", value_delimiter = ',')]
    pub(crate) levels: Vec<f64>,
}

/// The state of training.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// Keep the state of training in this directory, and continue from it if it holds one: the same command again,
    /// after a kill or Ctrl-C, ends with the same weights. Removed when all is trained
    #[arg(long = "checkpoint", visible_alias = "resume", value_name = "DIR", value_parser = directory())]
    pub(crate) dir: Option<PathBuf>,
    /// Steps from one state to the next
    #[arg(
        long = "checkpoint-every", value_name = "N", default_value_t = 500, requires = "dir",
        value_parser = RangedU64ValueParser::<u64>::new().range(1..)
    )]
    every: u64,
}

impl CheckpointArgs {
    pub(crate) fn of(&self, forecaster: Forecaster) -> Forecaster {
        match &self.dir {
            Some(dir) => forecaster.checkpoint_to(dir, self.every),
            None => forecaster,
        }
    }

    /// All is trained.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        Ok(self.dir.iter().try_for_each(remove_training_state)?)
    }
}

/// A directory to write to. `-`, which elsewhere is standard output, is none.
pub(crate) fn directory() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path == Path::new("-") {
        true => Err(
            "it is a directory of several files, which standard output cannot take; name one (./- for one of \
                     that name)",
        ),
        false => Ok(path),
    })
}

/// Threads, 0 standing for all; more than a machine has helps nobody.
pub(crate) fn thread_count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=1024)
}

/// Steps of history; nothing for 3 times the horizon.
#[derive(Clone, Copy, Debug)]
struct InputSize(Option<usize>);

fn input_size(text: &str) -> Result<InputSize, String> {
    match text.parse() {
        Ok(-1) => Ok(InputSize(None)),
        Ok(size @ 1..=1_000_000) => Ok(InputSize(Some(size as usize))),
        Ok(0_i64) | Err(_) | Ok(_) => Err("it must be between 1 and 1000000, or -1 for 3 times h".to_owned()),
    }
}

/// A flag that names columns, the hyper-parameter that it sets, the columns, and which models can read them.
type ColumnFlag<'a> = (&'static str, &'static str, &'a [String], fn(Exogenous) -> bool);

impl ModelArgs {
    /// The models with their hyper-parameters set: first those for all models, then those for models of a name, then
    /// those for one. `statics` are the columns of the static file, if there is one.
    /// Models that cannot read columns which others read do without them, of which `log` tells.
    pub(crate) fn specs(
        &self,
        seed: Option<u64>,
        statics: &[String],
        log: Log,
    ) -> anyhow::Result<Vec<ModelSpec>> {
        let names: Vec<String> = self.models.iter().map(|name| listed_name(name)).collect();
        let number = |place: usize| names[..place].iter().filter(|name| **name == names[place]).count();
        let models: Vec<(&str, usize)> =
            names.iter().enumerate().map(|(place, name)| (name.as_str(), number(place))).collect();
        for Setting { key, .. } in &self.settings {
            if let Some(model) = key.model.as_ref().filter(|_| !models.iter().any(|(m, n)| key.is_for(m, *n)))
            {
                return Err(Usage(format!("--set {key}: {}", self.no_such_model(model, &names))).into());
            }
        }
        let input_size = self.input_size.and_then(|InputSize(size)| size).unwrap_or(3 * self.h);
        let stat_exog = if self.stat_exog.is_empty() { statics } else { &self.stat_exog };
        let stat_flag = if self.stat_exog.is_empty() { "--static" } else { "--stat-exog" };
        let kinds: [ColumnFlag<'_>; 4] = [
            ("--hist-exog", "hist_exog_list", &self.hist_exog, |reads| reads.hist),
            ("--futr-exog", "futr_exog_list", &self.futr_exog, |reads| reads.futr),
            (stat_flag, "stat_exog_list", stat_exog, |reads| reads.stat),
            ("--cat-exog", "cat_exog_list", &self.cat_exog, |reads| reads.cat),
        ];
        let specs = models.iter().map(|(model, _)| ModelSpec::new(model, self.h, input_size));
        let mut specs = specs.collect::<Result<Vec<_>, _>>()?;
        let mut networks = specs.iter().filter(|spec| spec.network().is_some()).map(ModelSpec::name);
        if let (None, Some(network)) = (self.input_size, networks.next()) {
            let message = format!(
                "--input-size is missing: {network} is a network, which forecasts from so many steps of history; -1 stands for \
                 3 times h"
            );
            return Err(Usage(message).into());
        }
        for (flag, name, columns, reads) in kinds.into_iter().filter(|(_, _, columns, _)| !columns.is_empty())
        {
            let any = specs.iter().any(|spec| reads(spec.exogenous()));
            let mut without: Vec<&str> = Vec::new();
            for (spec, (model, _)) in specs.iter_mut().zip(&models) {
                match any && !reads(spec.exogenous()) {
                    true => without.push(model),
                    false => *spec = spec.clone().set(name, columns).context(flag)?,
                }
            }
            if !without.is_empty() {
                let (models, columns) = (without.join(", "), columns.join(", "));
                log.warning(&format!("{flag} {columns}: {models} read no such columns and do without"));
            }
        }
        let has_networks = specs.iter().any(|spec| spec.network().is_some());
        let settle = |(mut spec, &(model, number)): (ModelSpec, &(&str, usize))| {
            let has = |spec: &ModelSpec, name: &str| spec.hyper_parameters().contains_key(name);
            if let Some(seed) = seed.filter(|_| has(&spec, "random_seed")) {
                spec = spec.set("random_seed", seed)?;
            }
            let mut settings: Vec<&Setting> =
                self.settings.iter().filter(|setting| setting.key.is_for(model, number)).collect();
            settings.sort_by_key(|setting| setting.key.rank());
            for Setting { key, value } in settings {
                // What is set for all models is set for networks, where there are some.
                let is_for_networks = key.model.is_none() && has_networks && spec.network().is_none();
                if is_for_networks && !has(&spec, &key.name) {
                    continue;
                }
                let flag = || match &key.model {
                    None if models.len() > 1 => {
                        format!("--set {key}, for all models (for one of them: --set NAME.{key})")
                    }
                    _ => format!("--set {key}"),
                };
                spec = spec.set(&key.name, value.clone()).with_context(flag)?;
            }
            Ok(spec)
        };
        specs.into_iter().zip(&models).map(settle).collect()
    }

    /// Why a hyper-parameter is for none of the models of these names.
    fn no_such_model(&self, model: &str, names: &[String]) -> String {
        match names.iter().filter(|name| *name == model).count() {
            0 => format!("there is no {model} among --model {}", self.models.join(", ")),
            1 => format!("there is one {model} among --model {}: {model}.0", self.models.join(", ")),
            n => format!("there are {n} {model} in --model, numbered {model}.0 to {model}.{}", n - 1),
        }
    }
}

/// Training, as in `fit` and `cross-validate`.
#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    models: ModelArgs,
    /// Frequency of the data, as in pandas: h, D, B, W-SUN, MS, 15min, BME, SMS, bh, 1, ... or polars: 1mo, 15m, ...
    /// [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    freq: Option<Freq>,
    /// File with the days on which business days or hours have no row, one a line. They are saved with the models
    /// [default for --freq: B]
    #[arg(long, value_name = "FILE")]
    holidays: Option<PathBuf>,
    /// Leave out series that are too short, with fewer rows than input_size and those held out after it, and list
    /// them
    #[arg(long)]
    drop_short: bool,
    /// Last steps of each series that are held out to watch the loss on: 0, or at least h
    #[arg(long, value_name = "N", default_value_t = 0)]
    val_size: usize,
    /// Scale each series by its own statistics, before windows are cut and scaled: standard, robust, robust-iqr,
    /// minmax or boxcox
    #[arg(long, value_name = "SCALER", value_parser = str::parse::<LocalScaler>)]
    local_scaler: Option<LocalScaler>,
    /// Scale each static column over the series, by one of the same
    #[arg(long, value_name = "SCALER", value_parser = str::parse::<LocalScaler>)]
    local_static_scaler: Option<LocalScaler>,
    /// Calibrate prediction intervals of models that forecast a single number, on the errors of N forecasts of the
    /// end of each series, STEP steps apart. METHOD is conformal_distribution or conformal_error. The models are
    /// trained twice for that, first without that end; those that are saved are trained on all rows [default STEP: 1]
    #[arg(long, value_name = "N[:METHOD[:STEP]]", value_parser = str::parse::<PredictionIntervals>)]
    pub(crate) intervals: Option<PredictionIntervals>,
    /// Threads; 0 for as many as the machine has. They change nothing in the result
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = thread_count())]
    threads: usize,
    /// Seed of initial weights, draws and dropout [default: each model's random_seed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    bounds: BoundArgs,
    #[command(flatten)]
    precision: PrecisionArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl TrainArgs {
    /// The models, ready to be trained; `beside` are further ones, of which those are left out that are named already.
    pub(crate) fn forecaster(&self, beside: Vec<ModelSpec>) -> anyhow::Result<Forecaster> {
        self.data.check_names(None)?;
        let statics = match &self.data.statics {
            Some(path) => {
                let mut names =
                    foretell::column_names(path, &self.data.file.options(&FileOptions::default()))?;
                names.retain(|name| *name != self.columns().id);
                names
            }
            None => Vec::new(),
        };
        let statics = [statics, self.data.static_cols.clone()].concat();
        let mut specs = self.models.specs(self.seed, &statics, self.log.log())?;
        for spec in beside {
            if specs.iter().all(|named| named.name() != spec.name()) {
                specs.push(spec);
            }
        }
        let reading =
            self.data.options(&self.columns(), Vec::new(), Vec::new(), None, &ReadOptions::default())?;
        let mut forecaster = Forecaster::new(specs)?
            .reading(&reading)
            .val_size(self.val_size)
            .threads(self.threads)
            .precision(self.precision.precision)
            .columns(self.columns())
            .non_negative(self.bounds.non_negative)
            .integer(self.bounds.integer);
        self.log.log().bounded(self.bounds.non_negative, self.bounds.integer);
        if let Some(end) = self.data.end() {
            forecaster = forecaster.end(end);
        }
        if let Some(bytes) = self.memory.bytes() {
            forecaster = forecaster.max_memory(bytes);
        }
        if let Some(scaler) = self.local_scaler {
            forecaster = forecaster.local_scaler(scaler);
        }
        if let Some(scaler) = self.local_static_scaler {
            forecaster = forecaster.local_static_scaler(scaler);
        }
        if let Some(intervals) = self.intervals {
            forecaster = forecaster.intervals(intervals);
        }
        let log = self.log.log();
        let mut reporter = Reporter::new(log);
        let forecaster = forecaster.on_warning(move |warning| log.warning(&warning.to_string()));
        Ok(forecaster.on_progress(move |model, progress| reporter.step(model, progress)))
    }

    /// The series, their static columns and those that `forecaster` reads included; with --drop-short without those of
    /// fewer than `rows_needed` rows.
    pub(crate) fn read(&self, forecaster: &Forecaster, rows_needed: usize) -> anyhow::Result<Panel> {
        let (read, categories) = (forecaster.columns_read(), forecaster.categories());
        let options =
            self.data.options(&self.columns(), read, categories, self.freq()?, &ReadOptions::default())?;
        let options = options.max_memory(self.memory.limit().bytes()).threads(self.threads);
        let panel = self.data.read(&options, self.log.log())?;
        if !self.drop_short || panel.min_len() >= rows_needed {
            return Ok(panel);
        }
        let series = (0..panel.n_series()).map(|series| (&**panel.id(series), panel.len(series)));
        let dropped: Vec<_> = series.filter(|(_, rows)| *rows < rows_needed).collect();
        if dropped.len() == panel.n_series() {
            anyhow::bail!(
                "--drop-short would leave out every series: {} rows are needed, and the longest has {}; lower \
                 input_size or what is held out",
                rows_needed,
                panel.max_len()
            );
        }
        self.log.log().dropped(&dropped, rows_needed);
        Ok(panel.without_shorter_than(rows_needed))
    }

    /// The frequency that is given, without the holidays.
    fn freq(&self) -> anyhow::Result<Option<Freq>> {
        let Some(path) = &self.holidays else { return Ok(self.freq) };
        let freq = self.freq.map_or_else(|| Freq::parse("B"), Ok)?;
        let without = freq.without_holidays(&holidays::read(path)?);
        let message =
            || format!("--holidays: the frequency {freq} has no business days; give --freq B, C or bh");
        Ok(Some(without.ok_or_else(|| Usage(message()))?))
    }

    /// The mark before decimals, of what is read and written.
    pub(crate) fn decimal(&self) -> anyhow::Result<char> {
        Ok(self
            .data
            .options(&self.columns(), Vec::new(), Vec::new(), None, &ReadOptions::default())?
            .numbers
            .decimal())
    }

    /// Steps to forecast.
    pub(crate) fn h(&self) -> usize {
        self.models.h
    }

    fn columns(&self) -> ColumnNames {
        self.data.columns(ColumnNames::default())
    }
}

/// How much memory a command may take.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Most memory to take, as 8GB, 500MB or 16GiB: work that is estimated to need more is refused before it begins
    /// [default: three quarters of what the machine or its control group has]
    #[arg(long = "max-memory", value_name = "SIZE", value_parser = memory_size)]
    size: Option<ByteSize>,
}

impl MemoryArgs {
    /// The most bytes, if it was said.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.size.map(|size| size.as_u64())
    }

    pub(crate) fn limit(&self) -> MemoryLimit {
        self.bytes().map_or_else(MemoryLimit::of_machine, MemoryLimit::of_bytes)
    }
}

fn memory_size(text: &str) -> Result<ByteSize, String> {
    match text.parse() {
        Ok(ByteSize(0)) | Err(_) => Err("write it as 8GB, 500MB, 16GiB or a number of bytes".to_owned()),
        Ok(size) => Ok(size),
    }
}

/// The bounds of forecasts.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct BoundArgs {
    /// Forecasts and interval bounds below 0 become 0. Kept with models, for predict
    #[arg(long)]
    pub(crate) non_negative: bool,
    /// Forecasts and interval bounds are rounded to whole numbers. Kept with models, for predict
    #[arg(long)]
    pub(crate) integer: bool,
}

/// How a command reports.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LogArgs {
    /// The form of reports on standard error
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Write nothing but errors to standard error, no warnings either
    #[arg(long, conflicts_with = "log")]
    quiet: bool,
}

impl LogArgs {
    pub(crate) fn log(self) -> Log {
        if self.quiet { Log::Quiet } else { self.log }
    }
}
