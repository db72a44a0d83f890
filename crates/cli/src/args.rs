//! Arguments that several commands share, and the settings that they become.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use clap::builder::{PathBufValueParser, RangedU64ValueParser, TypedValueParser};
use foretell::{
    ColumnNames, Fitted, Forecaster, Interruption, KeptSettings, MemoryLimit, ModelDirectory, NumberFormat,
    ReadOptions, TimeFormat, is_noted_at, note_models_at, remove_training_state,
};
use foretell_tuning::Halving;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::failure::Usage;
use crate::saving::take;

/// Windows from 1 step to as many as any calendar has use for.
pub(crate) fn steps() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

/// A length of time.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * seconds).filter(|time| *time > 0.0 && *time < 1e9)
    });
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "write it as 90s, 30m or 2h".to_owned())
}

/// How a search halves its trials.
pub(crate) fn halving(text: &str) -> Result<Halving, String> {
    let (eta, rungs) = text.split_once(':').unwrap_or((text, "3"));
    match (eta.parse(), rungs.parse()) {
        (Ok(eta @ 2..=100), Ok(rungs @ 1..=20)) => Ok(Halving::new(rungs).eta(eta)),
        _ => {
            Err("write it as 3 or 3:4: the best third continues, over 4 rungs; 2 to 100, 1 to 20".to_owned())
        }
    }
}

/// Central intervals in percent.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Central intervals to forecast, in percent, as 80,95: columns such as NHITS-lo-80 and NHITS-hi-80. Models that
    /// forecast a single number need --intervals for that; models of quantiles have the intervals that they were
    /// trained for
    #[arg(long = "level", value_name = "P[,P]", value_delimiter = ',')]
    pub(crate) levels: Vec<f64>,
    /// Quantiles to forecast in place of levels, as 0.1,0.5,0.9: columns such as NHITS_ql0.1, or NHITS-ql0.1 of models that
    /// --intervals calibrates
    #[arg(long, value_name = "Q[,Q]", value_delimiter = ',', conflicts_with = "levels")]
    pub(crate) quantiles: Vec<f64>,
}

impl LevelArgs {
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.is_empty() && self.quantiles.is_empty()
    }
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
    pub(crate) fn of(&self, context: &'static Context, forecaster: Forecaster) -> Forecaster {
        match &self.dir {
            Some(dir) => {
                context.processes.keeps_states(dir.clone(), self.every);
                forecaster.checkpoint_to(dir, self.every)
            }
            None => forecaster,
        }
    }

    /// Whether a directory holds the models of the training whose state this one holds, interrupted ones or those that were saved
    /// right before a kill: the command that saved them may replace them when it continues.
    pub(crate) fn resumes(&self, out: &Path) -> bool {
        let Some(state) = &self.dir else { return false };
        let interruption = Interruption::in_directory(out);
        is_noted_at(state, out) || interruption.is_some_and(|interruption| interruption.has_state_in(state))
    }

    /// All is trained, and these models are about to be saved here.
    pub(crate) fn saves_at(&self, out: &Path, fitted: &Fitted) -> anyhow::Result<()> {
        Ok(self.dir.iter().try_for_each(|state| note_models_at(state, out, fitted.to_files()?))?)
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

/// The directory that a command saves models in.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelOutArgs {
    /// Directory to save the models in
    #[arg(id = "out", long = "out", value_name = "DIR", value_parser = directory())]
    pub(crate) path: PathBuf,
    /// Replace the model directory at --out
    #[arg(long)]
    overwrite: bool,
}

impl ModelOutArgs {
    /// Takes the directory before anything is trained, also one with the interrupted models of the training that is `resumed`.
    pub(crate) fn take(&self, resumed: bool) -> anyhow::Result<ModelDirectory> {
        take(&self.path, self.overwrite || resumed)
    }
}

/// Threads, 0 standing for all; more than a machine has bring nothing.
pub(crate) fn thread_count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=1024)
}

/// How many threads a command may use.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ThreadArgs {
    /// Threads; 0 for as many as the machine has
    #[arg(id = "threads", long = "threads", value_name = "N", default_value_t = 0, value_parser = thread_count())]
    pub(crate) count: usize,
}

/// The file that a command writes its table to.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutArgs {
    /// File to write: CSV, compressed if it ends in .csv.gz, or Parquet if it ends in .parquet; `-` writes CSV to standard
    /// output
    #[arg(id = "out", long = "out", value_name = "FILE", default_value = "-")]
    pub(crate) path: PathBuf,
}

/// Whether a table is written as JSON.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JsonArgs {
    /// Write the table as JSON, an array of objects, one a row; in --out, a file that ends in .json
    #[arg(long)]
    pub(crate) json: bool,
}

/// The columns of tables with actual values.
#[derive(Clone, Debug, Args)]
pub(crate) struct TruthArgs {
    /// Column of the series' ids
    #[arg(id = "id_col", long = "id-col", value_name = "C", default_value = "unique_id")]
    pub(crate) id: String,
    /// Column of the times
    #[arg(id = "time_col", long = "time-col", value_name = "C", default_value = "ds")]
    time: String,
    /// Column of the actual values
    #[arg(id = "target_col", long = "target-col", value_name = "C", default_value = "y")]
    target: String,
    /// How times are written, where they are not as 2024-01-31 13:45:00
    #[arg(long, value_name = "FORMAT", value_parser = TimeFormat::parse)]
    time_format: Option<TimeFormat>,
    /// The mark before decimals, a point or a comma [default: a point]
    #[arg(long, value_name = "MARK")]
    decimal: Option<char>,
    /// The mark between thousands: . , ' _ or a space; where it is a point, the mark before decimals is a comma
    #[arg(long, value_name = "MARK")]
    thousands: Option<char>,
}

impl TruthArgs {
    /// The names of the columns.
    pub(crate) fn names(&self) -> ColumnNames {
        ColumnNames { id: self.id.clone(), time: self.time.clone(), target: self.target.clone() }
    }

    /// Whether it is said how times are written, and numbers.
    pub(crate) fn says_notation(&self) -> [bool; 2] {
        [self.time_format.is_some(), self.decimal.is_some() || self.thousands.is_some()]
    }

    /// How tables with these columns are read.
    pub(crate) fn options(&self) -> anyhow::Result<ReadOptions> {
        let mut options = ReadOptions::new().id_col(&self.id).time_col(&self.time).target_col(&self.target);
        options.time_format = self.time_format.clone();
        Ok(options.numbers(numbers(self.decimal, self.thousands, NumberFormat::default())?))
    }
}

/// How numbers are written by the values of --decimal and --thousands; as `usual` where neither is given.
pub(crate) fn numbers(
    decimal: Option<char>,
    thousands: Option<char>,
    usual: NumberFormat,
) -> anyhow::Result<NumberFormat> {
    if decimal.is_none() && thousands.is_none() {
        return Ok(usual);
    }
    let decimal = decimal.unwrap_or(if thousands == Some('.') { ',' } else { '.' });
    NumberFormat::new(decimal, thousands).map_err(|error| Usage(format!("--{error}")).into())
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

/// Settings of forecasts that are kept with models: fields of [`KeptSettings`], by their names.
#[derive(Clone, Copy, Debug, Default, Args, Serialize)]
pub(crate) struct KeptArgs {
    /// Forecasts and interval bounds below 0 become 0. Kept with models, for predict
    #[arg(long)]
    pub(crate) non_negative: bool,
    /// Forecasts and interval bounds are rounded to whole numbers. Kept with models, for predict
    #[arg(long)]
    pub(crate) integer: bool,
}

impl KeptArgs {
    /// What is asked.
    pub(crate) fn settings(&self) -> KeptSettings {
        serde_json::from_value(json!(self)).expect("fields of kept settings")
    }

    /// Trained models that forecast as is asked, and else as they keep it.
    pub(crate) fn of(&self, fitted: Fitted) -> Fitted {
        let kept = fitted.kept_settings();
        fitted.keep(self.settings().or(kept))
    }

    /// The same, and the bounds are told.
    pub(crate) fn told(&self, fitted: Fitted, context: &Context) -> Fitted {
        let fitted = self.of(fitted);
        context.bounded(fitted.kept_settings());
        fitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_of_what_is_kept_is_a_setting() {
        let all = KeptArgs { non_negative: true, integer: true };
        assert_eq!(json!(all.settings()), json!(all));
        assert_eq!(KeptArgs::default().settings(), KeptSettings::default());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "90", "-1s", "0s", "xs", "nans", "1d"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn halving_has_two_numbers() {
        assert_eq!(halving("4"), Ok(Halving::new(3).eta(4)));
        assert_eq!(halving("2:5"), Ok(Halving::new(5).eta(2)));
        for wrong in ["1", "3:0", "x", "3:y", ""] {
            assert!(halving(wrong).is_err(), "{wrong}");
        }
    }
}
