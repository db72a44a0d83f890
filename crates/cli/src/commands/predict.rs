//! `foretell predict`: from a model directory and a file of series to a forecast.

use std::path::PathBuf;

use clap::Args;
use foretell::{Fitted, Future};

use crate::args::{DataArgs, LogArgs, thread_count};
use crate::output::Sink;
use crate::progress::Log;

/// Forecast what follows each series with saved models
///
/// Writes a row per series and step, with a column per model and output. The series need not be those of
/// training, but their frequency must be the same; so must be the columns' names unless they are given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell predict --model model --data sales.csv --out forecast.csv
  foretell predict --model model --data sales.csv --futr holidays.csv | head")]
pub(crate) struct Predict {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// File with the future rows of each series: ids, times, and the columns known in advance
    #[arg(long, value_name = "FILE")]
    futr: Option<PathBuf>,
    /// Keep quantiles as the models gave them, which may cross; otherwise those of each step are sorted
    #[arg(long)]
    raw_quantiles: bool,
    /// Threads; 0 for as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = thread_count())]
    threads: usize,
    /// File to write: Parquet if it ends in .parquet, else CSV; `-` writes CSV to standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    #[command(flatten)]
    log: LogArgs,
}

impl Predict {
    pub(crate) fn log(&self) -> Log {
        self.log.log
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let fitted = Fitted::load(&self.model)?.threads(self.threads).raw_quantiles(self.raw_quantiles);
        let options = self.data.options(
            &self.data.columns(fitted.columns().clone()),
            fitted.columns_read(),
            Some(fitted.freq()),
        );
        let panel = self.data.read(&options, self.log())?;
        let future = self
            .futr
            .as_ref()
            .map(|path| Future::from_file(path, &options, &panel, fitted.h()))
            .transpose()?;
        if let Some(path) = &self.futr {
            self.log().read_beside(path, "futr");
        }
        let forecast = fitted.predict(&panel, future.as_ref())?;
        let sink = Sink::open(&self.out, &self.data.data)?;
        let to_file = !sink.is_stdout();
        sink.write(&forecast)?;
        if to_file {
            let what = format!("{} series, {} steps each", panel.n_series(), fitted.h());
            self.log().wrote(&self.out, &what);
        }
        Ok(())
    }
}
