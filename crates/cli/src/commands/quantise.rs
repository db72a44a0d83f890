//! `foretell quantise`: what forecasts lose and gain by weights in fewer bits.

use std::path::PathBuf;

use clap::Args;
use foretell::{PrecisionScore, WeightPrecision, usual_season};
use serde_json::json;

use crate::args::{MemoryArgs, ThreadArgs, steps};
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::output::print;
use crate::precision::weight_precision;
use crate::saved_run::read_saved;
use crate::table::AlignedTable;

/// Measure what forecasts lose and gain by weights in fewer bits
///
/// Forecasts the end of each series from several cutoffs with the weights of the saved models in f32, bf16 and int8,
/// and prints the errors of each, the change of MAE and RMSE against f32 in percent, the bytes of all parameters as they
/// are held, and the times of one forecast and of 128 at once on this machine.
///
/// Nothing is written: a model directory always holds f32, which neuralforecast loads too, and `foretell predict
/// --weights` converts the weights at its first forecast, which takes a moment. On rows that the models were trained on all errors
/// are smaller; what changes between the formats can be read there as well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell quantise model --data sales.csv
  foretell quantise model --data sales.csv --weights int8 --n-windows 50
  foretell quantise model --data sales.csv --json | jq '.scores[].mae_change'
  foretell predict --model model --data sales.csv --weights bf16

With --json one object is printed: n_series, n_windows (asked for, of each
series), step_size, h, season, and scores, an array of: precision, model, mae,
rmse, smape, mase, scored_windows, scored_series, mase_series (as of
cross-validate), mae_change and rmse_change (in percent of those in f32),
weight_bytes, forecast_us, batch_ms (of 128 windows at once).")]
pub(crate) struct Quantise {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Formats to compare with f32, separated by commas
    #[arg(
        long, alias = "precision", value_name = "FORMAT", value_delimiter = ',', default_value = "bf16,int8",
        value_parser = weight_precision()
    )]
    weights: Vec<WeightPrecision>,
    /// Forecasts of each series
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = steps())]
    n_windows: usize,
    /// Steps from one forecast to the next [default: h]
    #[arg(long, value_name = "N", value_parser = steps())]
    step_size: Option<usize>,
    /// Steps of a season, for MASE [default: as usual for the frequency: 24 of h, 7 of D, 12 of MS, ...; 1 for times
    /// that are integers]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Quantise {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        self.data.check_names(&[])?;
        let models = ("MODEL", &*self.model);
        let (fitted, panel, _) =
            read_saved(context, models, &self.data, &self.memory, self.threads.count, Ok)?;
        let h = fitted.h();
        let step_size = self.step_size.unwrap_or(h);
        let season = self.season.unwrap_or_else(|| usual_season(panel.freq()));
        let scores = fitted.compare_precisions(&panel, [self.n_windows, step_size], season, &self.weights)?;
        let others: Vec<String> = fitted
            .column_names()
            .into_iter()
            .filter(|name| scores.iter().all(|score| score.metrics.model != *name))
            .collect();
        if !others.is_empty() {
            let text =
                format!("left out, as only networks have weights in these formats: {}", others.join(", "));
            context.report(&text, &json!({ "event": "note", "message": text }));
        }
        print(match self.json {
            true => {
                let report = json!({
                    "n_series": panel.n_series(), "n_windows": self.n_windows, "step_size": step_size,
                    "h": h, "season": season, "scores": scores,
                });
                format!("{report}\n")
            }
            false => table(&scores).render(),
        })
    }
}

/// A row for each model and format.
fn table(scores: &[PrecisionScore]) -> AlignedTable {
    let numbers = |figure: fn(&PrecisionScore) -> f64| scores.iter().map(figure);
    // The change of f32 against itself is none.
    let changes = |figure: fn(&PrecisionScore) -> f64| {
        scores
            .iter()
            .map(move |score| if score.precision == WeightPrecision::F32 { f64::NAN } else { figure(score) })
    };
    AlignedTable::new()
        .text("model", scores.iter().map(|score| score.metrics.model.as_str()))
        .text("weights", scores.iter().map(|score| score.precision.name()))
        .numbers("MAE", numbers(|score| score.metrics.mae))
        .numbers("RMSE", numbers(|score| score.metrics.rmse))
        .numbers("sMAPE", numbers(|score| score.metrics.smape))
        .numbers("MASE", numbers(|score| score.metrics.mase))
        .changes("MAE %", changes(|score| score.mae_change))
        .changes("RMSE %", changes(|score| score.rmse_change))
        .counts("bytes", scores.iter().map(|score| score.weight_bytes))
        .numbers("ms per 128 forecasts", numbers(|score| score.batch_ms))
        .tenths("µs per forecast", numbers(|score| score.forecast_us))
}
