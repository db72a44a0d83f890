//! `foretell predict`: from a model directory and a file of series to a forecast.

use std::path::PathBuf;

use clap::Args;
use foretell::{Fitted, InsampleOptions, Intervals, PredictOptions, WeightPrecision};

use crate::args::{JsonArgs, KeptArgs, LevelArgs, MemoryArgs, OutArgs, ThreadArgs, steps};
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::fallback_args::FallbackArgs;
use crate::output::Sink;
use crate::precision::weight_precision;
use crate::saved_run::read_saved;
use crate::short_series::without_short;

/// Forecast what follows each series with saved models
///
/// Writes a row per series and step, with a column per model and output. The series need not be those of training,
/// but their frequency must be the same. The columns have the names that they had in training, unless flags give
/// others.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell predict --model model --data sales.csv --out forecast.csv
  foretell predict --model model --data sales.csv --futr holidays.csv | head
  foretell predict --model model --data sales.csv --level 80,95
  foretell predict --model model --data sales.csv --json --format json
  foretell predict --model model --data sales.csv --quantiles 0.1,0.5,0.9 --h 5
  foretell predict --model model --data sales.csv --level 80 --intervals 20
  foretell predict --model model --data sales.csv --weights bf16
  foretell predict --model model --data sales.csv --insample --level 80")]
pub(crate) struct Predict {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// File with the future rows of each series: ids, times, and the columns known in advance. Rows before and after
    /// the horizon, and of other series, are ignored. Several files, folders and patterns are one table, as of --data
    #[arg(long, value_name = "FILE")]
    futr: Vec<PathBuf>,
    /// Steps to forecast; those beyond the models' own horizon are forecast from forecasts, and where there are fewer --futr
    /// still has all of a network's own [default: the models' own]
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
    #[command(flatten)]
    level: LevelArgs,
    /// Calibrate the intervals of --level or --quantiles on these data, without training: on the errors of N forecasts of the end of
    /// each series, STEP steps apart. They come out too narrow if the models were trained on that end [default: as
    /// calibrated by fit --intervals]. dropout[:N] and spread are those of fit --intervals
    #[arg(
        long, value_name = "N[:METHOD[:STEP]]|dropout[:N]|spread", requires = "LevelArgs",
        value_parser = str::parse::<Intervals>
    )]
    intervals: Option<Intervals>,
    /// Forecast the history instead, beside the truth, from one cutoff after the other; the first cutoff is a row of
    /// the series. Not with --h or --futr
    #[arg(long, conflicts_with_all = ["h", "futr"])]
    insample: bool,
    /// Begin --insample before the first row, where the models see nothing but padding, as neuralforecast does
    #[arg(long, requires = "insample")]
    from_padding: bool,
    /// Steps from one cutoff of --insample to the next [default: 1]
    #[arg(long, value_name = "N", requires = "insample", value_parser = steps())]
    step_size: Option<usize>,
    /// What --insample does without --strict: leaves out series that no such forecast fits in, with no row before its steps, and lists them
    #[arg(long, requires = "insample", hide = true)]
    drop_short: bool,
    /// End with an error, in place of a warning, if a series has fewer rows than a model reads, with zeros for the missing ones, or
    /// would be forecast in another way than the model's hyper-parameters say; of --insample, if no forecast of its history fits in it
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    fallbacks: FallbackArgs,
    #[command(flatten)]
    kept: KeptArgs,
    /// Keep quantiles as the models gave them, which may cross; otherwise those of each step are sorted
    #[arg(long)]
    raw_quantiles: bool,
    /// Format in which forecasts read the weights of products: bf16 has half the bytes of f32, int8 a quarter, and both
    /// are faster. The weights in f32 stay in memory beside them. `foretell quantise` tells what they cost in accuracy
    #[arg(long, alias = "precision", value_name = "FORMAT", default_value = "f32", value_parser = weight_precision())]
    weights: WeightPrecision,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    json: JsonArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Predict {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        self.data.check_names(&self.futr)?;
        let sink = Sink::open_as(context, &self.out.path, self.json)?;
        let models = ("--model", &*self.model);
        let asked = |fitted: Fitted| -> anyhow::Result<Fitted> {
            let fitted = fitted.raw_quantiles(self.raw_quantiles).weight_precision(self.weights)?;
            Ok(self.kept.told(fitted, context))
        };
        let (mut fitted, panel, options) =
            read_saved(context, models, &self.data, &self.memory, self.threads.count, asked)?;
        let sink = sink.decimal(options.numbers.decimal());
        // One series of few rows stops no other.
        let needed = fitted.h() + usize::from(!self.from_padding);
        let panel = match self.drop_short || (self.insample && !self.strict && panel.max_len() >= needed) {
            true => without_short(context, panel, needed, "give more rows")?,
            false => panel,
        };
        if let Some(intervals) = self.intervals {
            fitted = fitted.calibrate(&panel, intervals)?;
        }
        let h = self.h.unwrap_or(fitted.h());
        let read_ahead = fitted.steps_read(h);
        if let Some(fallbacks) = self.fallbacks.open(context)? {
            fallbacks.write(&fitted.columns().id, &fitted.fallbacks(&panel))?;
        }
        let future = self.data.read_future(&self.futr, &options, (&panel, read_ahead), context)?;
        let step_size = self.step_size.unwrap_or(1);
        let LevelArgs { levels, quantiles } = &self.level;
        let mut options =
            PredictOptions::new().future(future.as_ref()).h(h).level(levels).quantiles(quantiles);
        options.strict = self.strict;
        let mut insample = InsampleOptions::new(step_size).level(levels).quantiles(quantiles);
        insample.from_padding = self.from_padding;
        let blocks = match self.insample {
            true => fitted.predict_insample_blocks(&panel, &insample)?,
            false => fitted.predict_blocks(&panel, &options)?,
        };
        let to_file = !sink.is_stdout();
        let rows = sink.write_blocks(blocks)?;
        if to_file {
            let what = match self.insample {
                true => format!("{} forecasts of {h} steps", rows / h),
                false => format!("{} series, {h} steps each", panel.n_series()),
            };
            context.wrote(&self.out.path, &what);
        }
        Ok(())
    }
}
