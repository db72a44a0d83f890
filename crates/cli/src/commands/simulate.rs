//! `foretell simulate`: from a model directory and a file of series to sample paths of the future.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use foretell::{Fitted, Intervals, PathMethod, SimulateOptions};

use crate::args::{BoundArgs, LogArgs, MemoryArgs, OutArgs, ThreadArgs};
use crate::data_args::DataArgs;
use crate::output::Sink;
use crate::progress::Log;

/// Draw sample paths of what follows each series with saved models
///
/// Writes a row per series, path and step, with the number of the path in sample_id and a column per model. Paths say how steps go
/// together, which quantiles do not: what a horizon sums up to, or its highest value.
///
/// gaussian_copula and schaake_shuffle draw from the quantiles of each step: those of a distribution, those that a model was trained
/// for, or those of calibrated intervals. They learn from the history how steps go together: the copula by the correlation of neighbouring
/// changes, the shuffle by the order of values in stretches of it. ancestral draws each step after the path's own steps before it,
/// which recurrent networks of a distribution do (DeepAR).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell simulate --model model --data sales.csv --n-paths 500 --seed 7 --out paths.parquet
  foretell simulate --model model --data sales.csv --method schaake_shuffle | head
  foretell simulate --model deepar --data sales.csv --method ancestral --out paths.csv
  foretell simulate --model model --data sales.csv --intervals 20 --out paths.csv")]
pub(crate) struct Simulate {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// File with the future rows of each series: ids, times, and the columns known in advance; several files, folders and
    /// patterns are one table, as of --data
    #[arg(long, value_name = "FILE")]
    futr: Vec<PathBuf>,
    /// Paths of each series
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 24))]
    n_paths: usize,
    /// Seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How steps go together: gaussian_copula, schaake_shuffle or ancestral
    #[arg(
        long, value_name = "METHOD", default_value_t = PathMethod::default(), value_parser = str::parse::<PathMethod>
    )]
    method: PathMethod,
    /// Quantiles that a distribution or calibrated intervals are known by, as 0.05,0.5,0.95: paths stay between the first and the
    /// last [default: 0.01, 0.02, ... 0.99]
    #[arg(long, value_name = "Q[,Q]", value_delimiter = ',')]
    quantiles: Vec<f64>,
    /// Calibrate intervals on these data, as for predict
    #[arg(long, value_name = "N[:METHOD[:STEP]]|dropout[:N]|spread", value_parser = str::parse::<Intervals>)]
    intervals: Option<Intervals>,
    #[command(flatten)]
    bounds: BoundArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    log: LogArgs,
}

impl Simulate {
    pub(crate) fn log(&self) -> Log {
        self.log.log()
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.data.check_names(&self.futr)?;
        let sink = Sink::open(&self.out.path)?;
        let log = self.log();
        let mut fitted = Fitted::load_within(&self.model, self.memory.limit())?
            .threads(self.threads.count)?
            .on_warning(move |warning| log.warning(&warning.to_string()));
        let [non_negative, integer] = [
            fitted.is_non_negative() || self.bounds.non_negative,
            fitted.is_integer() || self.bounds.integer,
        ];
        fitted = fitted.non_negative(non_negative).integer(integer);
        log.bounded(non_negative, integer);
        let (panel, options) =
            self.data.read_for(&fitted, self.memory.limit().bytes(), self.threads.count, self.log())?;
        let sink = sink.decimal(options.numbers.decimal());
        if let Some(intervals) = self.intervals {
            fitted = fitted.calibrate(&panel, intervals)?;
        }
        let future = self.data.read_future(&self.futr, &options, (&panel, fitted.h()), self.log())?;
        let options = SimulateOptions::new(self.n_paths)
            .seed(self.seed)
            .method(self.method)
            .quantiles(&self.quantiles)
            .future(future.as_ref());
        let frame = fitted.simulate(&panel, &options)?;
        let to_file = !sink.is_stdout();
        sink.write_or_keep(&frame)?;
        if to_file {
            let what =
                format!("{} paths of {} series, {} steps each", self.n_paths, panel.n_series(), fitted.h());
            self.log().wrote(&self.out.path, &what);
        }
        Ok(())
    }
}
