//! `foretell explain`: what each input contributes to forecasts of saved networks.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use foretell::{Attribution, ExplainOptions, Fitted, Frame};

use crate::args::{LogArgs, MemoryArgs, OutArgs, ThreadArgs};
use crate::bars::{Bars, Group};
use crate::data_args::DataArgs;
use crate::output::Sink;
use crate::picture::{Picture as _, check_ending};
use crate::progress::Log;

/// Compute what each input contributes to the forecasts of saved networks
///
/// Writes a row per series and step. Of each network there is a column baseline, its forecast of a window of nothing but its own
/// shift (zeros, as the network sees them), and a column for each of its inputs, NHITS:price@-3 for the price three steps before the end of
/// the history, NHITS:price@2 for that of the second step ahead, and NHITS:size for a static column: what the input adds to that
/// forecast, in units of the target. With integrated gradients and Shapley values they add up to the forecast.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell explain --model model --data sales.csv --out contributions.csv
  foretell explain --model model --data sales.csv --futr holidays.csv \\
    --method shapley-sampling --samples 50 --out contributions.parquet
  foretell explain --model model --data sales.csv --only NHITS --points 200 | head
  foretell explain --model model --data sales.csv --out contributions.csv \\
    --plot contributions.svg   # the largest ones as bars")]
pub(crate) struct Explain {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// File with the future rows of each series: ids, times, and the columns known in advance; several files, folders and
    /// patterns are one table, as of --data
    #[arg(long, value_name = "FILE")]
    futr: Vec<PathBuf>,
    /// Explain these networks alone, by the names of their columns
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    only: Vec<String>,
    /// How contributions are computed
    #[arg(long, value_enum, default_value_t = Method::IntegratedGradients)]
    method: Method,
    /// Points on the way from the baseline, of integrated gradients: more of them add up to the forecast more closely
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    points: usize,
    /// Orders that are drawn, of Shapley values
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    samples: usize,
    /// Seed of the orders, of Shapley values
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The output that is explained, where a loss has several, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    output: usize,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    out: OutArgs,
    /// Picture to write of the inputs that contribute most, in the mean over series and steps: SVG or PNG, as its name ends in .svg
    /// or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// How contributions are computed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Method {
    /// Gradients along the way from the baseline, times the inputs
    IntegratedGradients,
    /// The gradient at the inputs, times the inputs
    InputXGradient,
    /// The change by an input when it comes after others, over drawn orders
    ShapleySampling,
}

impl Explain {
    pub(crate) fn log(&self) -> Log {
        self.log.log()
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.data.check_names(&self.futr)?;
        self.plot.as_deref().map_or(Ok(()), |plot| check_ending("--plot", plot))?;
        let sink = Sink::open(&self.out.path)?;
        let log = self.log();
        let fitted = Fitted::load_within(&self.model, self.memory.limit())?
            .threads(self.threads.count)?
            .on_warning(move |warning| log.warning(&warning.to_string()));
        let (panel, options) =
            self.data.read_for(&fitted, self.memory.limit().bytes(), self.threads.count, self.log())?;
        let sink = sink.decimal(options.numbers.decimal());
        let future = self.data.read_future(&self.futr, &options, (&panel, fitted.h()), self.log())?;
        let method = match self.method {
            Method::IntegratedGradients => Attribution::IntegratedGradients { points: self.points },
            Method::InputXGradient => Attribution::InputXGradient,
            Method::ShapleySampling => {
                Attribution::ShapleySampling { permutations: self.samples, seed: self.seed }
            }
        };
        let options =
            ExplainOptions::new(method).output(self.output).models(&self.only).future(future.as_ref());
        let frame = fitted.explain(&panel, &options)?;
        if let Some(plot) = &self.plot {
            let bars = bars(&frame, &self.method, panel.n_series());
            bars.write(plot)?;
            self.log().wrote(plot, &format!("the {MOST} largest contributions of each network"));
        }
        let to_file = !sink.is_stdout();
        sink.write_or_keep(&frame)?;
        if to_file {
            let what = format!("{} series, {} steps each", panel.n_series(), fitted.h());
            self.log().wrote(&self.out.path, &what);
        }
        Ok(())
    }
}

/// Inputs of a network in a picture.
const MOST: usize = 20;

/// The column of a network's forecast of nothing.
const BASELINE: &str = "baseline";

/// A column and its name.
type NamedColumn<'a> = (&'a str, &'a [f32]);

/// The largest contributions of each network, whose columns are named by it, a colon and the input.
fn bars(frame: &Frame, method: &Method, series: usize) -> Bars {
    let mut groups: Vec<(&str, Vec<NamedColumn<'_>>)> = Vec::new();
    for (name, values) in &frame.columns {
        let Some((network, input)) = name.split_once(':') else { continue };
        if input == BASELINE {
            groups.push((network, Vec::new()));
        } else if let Some((_, inputs)) = groups.last_mut() {
            inputs.push((input, values));
        }
    }
    let method = method.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    Bars {
        title: "What inputs contribute to forecasts".to_owned(),
        subtitle: format!(
            "mean size of the contributions over {series} series and all steps, in units of the target, by {method}"
        ),
        groups: groups
            .into_iter()
            .map(|(network, inputs)| Group::of(network.to_owned(), inputs.into_iter(), MOST))
            .collect(),
    }
}
