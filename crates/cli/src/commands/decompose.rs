//! `foretell decompose`: the parts of which saved models make their forecasts.

use std::path::PathBuf;

use clap::Args;
use foretell::Fitted;

use crate::args::{LogArgs, MemoryArgs, OutArgs, ThreadArgs};
use crate::data_args::DataArgs;
use crate::output::Sink;
use crate::progress::Log;

/// Take forecasts of saved models apart
///
/// Writes a row per series and step, and a column per part, which add up to the forecast: of NBEATS, NBEATSx and NHITS the level and what
/// each block adds, of DLinear, Autoformer and FEDformer trend and seasonality, of Prophet the trend, seasonalities, holidays and
/// columns. Other models have no parts, and no columns.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell decompose --model model --data sales.csv --out parts.csv
  foretell decompose --model model --data sales.csv --futr holidays.csv | head")]
pub(crate) struct Decompose {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// File with the future rows of each series: ids, times, and the columns known in advance; several files, folders and
    /// patterns are one table, as of --data
    #[arg(long, value_name = "FILE")]
    futr: Vec<PathBuf>,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    log: LogArgs,
}

impl Decompose {
    pub(crate) fn log(&self) -> Log {
        self.log.log()
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.data.check_names(&self.futr)?;
        let sink = Sink::open(&self.out.path)?;
        let log = self.log();
        let fitted = Fitted::load_within(&self.model, self.memory.limit())?
            .threads(self.threads.count)?
            .on_warning(move |warning| log.warning(&warning.to_string()));
        let (panel, options) =
            self.data.read_for(&fitted, self.memory.limit().bytes(), self.threads.count, self.log())?;
        let sink = sink.decimal(options.numbers.decimal());
        let future = self.data.read_future(&self.futr, &options, (&panel, fitted.h()), self.log())?;
        let frame = fitted.decompose(&panel, future.as_ref())?;
        let to_file = !sink.is_stdout();
        sink.write_or_keep(&frame)?;
        if to_file {
            let what = format!("{} series, {} steps each", panel.n_series(), fitted.h());
            self.log().wrote(&self.out.path, &what);
        }
        Ok(())
    }
}
