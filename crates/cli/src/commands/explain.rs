//! `foretell explain`: what each input contributes to forecasts of saved models.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use foretell::{Attribution, ExplainOptions, Fitted, Frame};

use crate::args::steps;
use crate::bars::{Bars, Group};
use crate::context::Context;
use crate::failure::Usage;
use crate::picture::{Picture as _, check_ending, is_stdout};
use crate::saved_run::SavedRunArgs;

/// Compute what each input contributes to forecasts
///
/// Writes a row per series and step. Of each network there is a column baseline, its forecast of a window of nothing but its own
/// shift (zeros, as the network sees them), and a column for each of its inputs, NHITS:price@-3 for the price three steps before the end of
/// the history, NHITS:price@2 for that of the second step ahead, and NHITS:size for a static column: what the input adds to that
/// forecast, in units of the target. With integrated gradients and Shapley values they add up to the forecast. Of `foretell forecast`
/// the baseline is the seasonal naive's forecast, and Auto:AutoETS what that model adds to it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell explain --model model --data sales.csv --out contributions.csv
  foretell explain --model model --data sales.csv --futr holidays.csv \\
    --method shapley-sampling --samples 50 --out contributions.parquet
  foretell explain --model model --data sales.csv --only NHITS --points 200 \\
    | head
  foretell explain --model model --data sales.csv --out contributions.csv \\
    --plot contributions.svg   # the largest ones as bars")]
pub(crate) struct Explain {
    #[command(flatten)]
    run: SavedRunArgs,
    /// Steps to explain; those beyond the models' own horizon are forecast from forecasts, and explained by what each of these horizons
    /// reads: NHITS:y@0 is the last value before it, a forecast [default: the models' own]
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
    /// Explain these models alone, by the names of their columns
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
    /// Picture to write of the columns that contribute most, each summed over the steps that are read of it, in the mean over series and steps: SVG or PNG, as its name ends in .svg
    /// or .png; - for standard output, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// How contributions are computed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Method {
    /// Gradients along the way from the baseline, times the inputs
    IntegratedGradients,
    /// The gradient at the inputs, times the inputs
    InputXGradient,
    /// What an input changes when it comes after others, over drawn orders
    ShapleySampling,
}

impl Explain {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if let Some(plot) = &self.plot {
            check_ending("--plot", plot)?;
            if is_stdout(plot) && self.run.is_to_stdout() {
                let message =
                    "--plot -: the table goes to standard output, too; name a file for one of them (--out)";
                return Err(Usage(message.to_owned()).into());
            }
        }
        let run = self.run.read(context, self.h)?;
        let method = match self.method {
            Method::IntegratedGradients => Attribution::IntegratedGradients { points: self.points },
            Method::InputXGradient => Attribution::InputXGradient,
            Method::ShapleySampling => {
                Attribution::ShapleySampling { permutations: self.samples, seed: self.seed }
            }
        };
        let options = ExplainOptions::new(method).output(self.output).models(&self.only);
        let options = options.future(run.future.as_ref()).h(run.h);
        let frame = run.fitted.explain(&run.panel, &options)?;
        context.explained(&self.explained(&run.fitted));
        if let Some(plot) = &self.plot {
            let bars = bars(&frame, &self.method, run.panel.n_series());
            bars.write(plot, context)?;
            if !is_stdout(plot) {
                context.wrote(plot, &format!("the {MOST} largest contributions of each network"));
            }
        }
        self.run.write(context, run, &frame, "")
    }
}

impl Explain {
    /// The columns of forecasts that are explained, of networks with several outputs: their own columns bear only the network's name.
    fn explained(&self, fitted: &Fitted) -> Vec<String> {
        let networks = fitted.models().iter().zip(fitted.column_names());
        let networks = networks.filter(|(model, name)| {
            model.is_explained() && (self.only.is_empty() || self.only.contains(name))
        });
        let columns = networks.filter_map(|(model, name)| {
            let outputs = model.trained().estimator().outputs();
            let output = outputs.get(self.output).filter(|_| outputs.len() > 1)?;
            Some(output.name(&name))
        });
        columns.collect()
    }
}

/// Columns of a network in a picture.
const MOST: usize = 20;

/// The columns of inputs by their names, each with the sums of the contributions of its steps.
type ColumnSums<'a> = Vec<(&'a str, Vec<f32>)>;

/// Adds the contributions of a step of a column: `price@-3` is one of price.
fn add_step<'a>(sums: &mut ColumnSums<'a>, input: &'a str, values: &[f32]) {
    let column = match input.rsplit_once('@') {
        Some((column, step)) if step.parse::<i64>().is_ok() => column,
        _ => input,
    };
    match sums.iter_mut().find(|(known, _)| *known == column) {
        None => sums.push((column, values.to_vec())),
        // A row may have no contribution of a step.
        Some((_, sums)) => {
            sums.iter_mut().zip(values).for_each(|(sum, value)| match (sum.is_nan(), value.is_nan()) {
                (true, _) => *sum = *value,
                (false, true) => {}
                (false, false) => *sum += value,
            })
        }
    }
}

/// The largest contributions of each network, whose columns are named by it, a colon and the input.
fn bars(frame: &Frame, method: &Method, series: usize) -> Bars {
    let columns = frame.forecast_columns("");
    let mut groups: Vec<(&str, ColumnSums<'_>)> = Vec::new();
    for (column, (_, values)) in columns.iter().zip(&frame.columns) {
        let Some(column) = column else { continue };
        let Some(input) = column.component_name() else { continue };
        if column.is_baseline() {
            groups.push((column.model(), Vec::new()));
        } else if let Some((_, inputs)) = groups.last_mut() {
            add_step(inputs, input, values);
        }
    }
    let method = method.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    Bars {
        title: "What columns contribute to forecasts".to_owned(),
        subtitle: format!(
            "mean size of each column's contribution, the sum over its steps, over {series} series and all steps ahead, in units of the \
             target, by {method}"
        ),
        groups: groups
            .into_iter()
            .map(|(network, columns)| {
                let columns = columns.iter().map(|(name, sums)| (*name, &sums[..]));
                Group::of(network.to_owned(), columns, MOST)
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_column_add_up() {
        let mut sums = ColumnSums::new();
        for (input, values) in
            [("y@-1", [1.0, f32::NAN]), ("price@2", [5.0, 5.0]), ("y@0", [2.0, 4.0]), ("a@b", [1.0, 1.0])]
        {
            add_step(&mut sums, input, &values);
        }
        let expected = [("y", vec![3.0, 4.0]), ("price", vec![5.0, 5.0]), ("a@b", vec![1.0, 1.0])];
        assert_eq!(sums, expected);
    }
}
