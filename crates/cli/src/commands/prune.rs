//! `foretell prune`: smaller networks, trained on with what is left.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use foretell::{Error, Progress, PruneOptions, PruneScore, SparsityScope, usual_season};
use serde_json::json;

use crate::args::{MemoryArgs, ModelOutArgs, ThreadArgs, steps};
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::failure::Interrupted;
use crate::output::print;
use crate::precision::StepArgs;
use crate::progress::Reporter;
use crate::saved_run::read_saved;
use crate::saving::save_or_keep;
use crate::table::AlignedTable;

/// Make networks smaller by what counts little in them
///
/// The weights of the smallest magnitude become zero and stay so, more and more of them while the network is trained on with the
/// data; biases and norms stay. Zeros make no product faster here: such a network takes as long as before, and its file gets smaller only
/// where it is compressed.
///
/// --structured removes whole hidden units in place of single weights, so products get smaller and forecasts faster. What is left is a
/// network with smaller hyper-parameters, which neuralforecast loads, too. Networks of layers between two linear ones have such units: MLP,
/// NBEATS, NBEATSx, NHITS, MLPMultivariate, and most transformers and mixers in the perceptron of each layer.
///
/// The last --n-windows horizons of each series are not trained on here: they are forecast before and after, and what is printed are the
/// errors there, sizes and times. A model that was trained on these rows before looks better on them than it is. Models that are no
/// networks are kept unchanged.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_help = "\
Examples:
  foretell prune model --data sales.csv --sparsity 0.8 --out small
  foretell prune model --data sales.csv --sparsity 0.5 --structured --out small
  foretell prune model --data sales.csv --sparsity 0.9 --by network \\
    --steps 500 --learning-rate 1e-4 --out small
  foretell prune model --data sales.csv --sparsity 0.5 --steps 0 --out small
  foretell prune model --data sales.csv --sparsity 0.5 --out small --json |
    jq '.scores[] | select(.pruned).mae_change'

With --json one object is printed: n_series, n_windows, h, season, sparsity,
structured, kept (models that are no networks), and scores, two of each network,
before and after: pruned (whether it is after), model, mae, rmse, smape, mase,
scored_windows, scored_series, mase_series (as of cross-validate), mae_change,
rmse_change and mase_change (in percent of those before), parameters,
nonzero_parameters, weight_bytes (of all parameters in f32), forecast_us,
batch_ms (of 128 windows at once).")]
pub(crate) struct Prune {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Share of the weights that become zero, or of the hidden units that are removed: at least 0 and below 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    sparsity: f64,
    /// Remove hidden units in place of single weights; of each layer a multiple of 8 is left
    #[arg(long, conflicts_with = "by")]
    structured: bool,
    /// Which weights are compared: those of a layer, each of which loses the same share, or all of the network
    #[arg(long, value_name = "SCOPE", default_value = SparsityScope::default().name(), value_parser = scope())]
    by: SparsityScope,
    /// Steps to train on what is left; 0 for none [default: a quarter of each network's max_steps]
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Learning rate of these steps [default: that of each network]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// Horizons at the end of each series that are not trained on here, and that are scored
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = steps())]
    n_windows: usize,
    /// Steps of a season, for MASE [default: as usual for the frequency: 24 of h, 7 of D, 12 of MS, ...; 1 for times
    /// that are integers]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    #[command(flatten)]
    out: ModelOutArgs,
    #[command(flatten)]
    training: StepArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What must be given; with `[OPTIONS]` it would be longer than a line.
const USAGE: &str = "foretell prune MODEL --data FILE --sparsity SHARE --out DIR";

/// A share that leaves something.
fn share(word: &str) -> Result<f64, String> {
    let share = word.parse().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "expected a share of at least 0 and below 1, as 0.5".to_owned())
}

fn scope() -> impl TypedValueParser<Value = SparsityScope> {
    let of_name = |name: String| SparsityScope::ALL.into_iter().find(|scope| scope.name() == name);
    PossibleValuesParser::new(SparsityScope::ALL.map(SparsityScope::name))
        .try_map(move |name| of_name(name).ok_or("expected layer or network"))
}

impl Prune {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        self.data.check_names(&[])?;
        let directory = self.out.take(false)?;
        let models = ("MODEL", &*self.model);
        let (fitted, panel, _) =
            read_saved(context, models, &self.data, &self.memory, self.threads.count, Ok)?;
        let season = self.season.unwrap_or_else(|| usual_season(panel.freq()));
        let mut reporter = Reporter::new(context);
        context.catch_interrupts();
        let listener = move |model: &str, progress: &Progress| reporter.step(model, progress);
        let pruned = match fitted.prune_with(&panel, &self.options(season), listener) {
            Err(Error::NotWanted) if context.interrupts.asked() => {
                let (cause, out) = (context.interrupts.cause(), self.out.path.display());
                return Err(Interrupted(format!(
                    "{cause} stopped the training; nothing was written to {out}"
                ))
                .into());
            }
            pruned => pruned?,
        };
        if !pruned.kept.is_empty() {
            let models = pruned.kept.join(", ");
            context.report(
                &format!("kept unchanged, since they are no networks: {models}"),
                &json!({ "event": "kept", "models": pruned.kept }),
            );
        }
        let saved = save_or_keep(&pruned.fitted, Ok(directory))?;
        context.wrote(&saved, &format!("the models {}", pruned.fitted.column_names().join(", ")));
        print(match self.json {
            true => {
                let report = json!({
                    "n_series": panel.n_series(), "n_windows": self.n_windows, "h": fitted.h(), "season": season,
                    "sparsity": self.sparsity, "structured": self.structured, "kept": pruned.kept,
                    "scores": pruned.scores,
                });
                format!("{report}\n")
            }
            false => table(&pruned.scores).render(),
        })
    }

    fn options(&self, season: usize) -> PruneOptions {
        let mut options = PruneOptions::new(self.sparsity)
            .by(self.by)
            .structured(self.structured)
            .n_windows(self.n_windows)
            .steps_as(self.training.settings())
            .season(season);
        if let Some(steps) = self.steps {
            options = options.steps(steps);
        }
        if let Some(rate) = self.learning_rate {
            options = options.learning_rate(rate);
        }
        options
    }
}

/// Two rows for each network.
fn table(scores: &[PruneScore]) -> AlignedTable {
    let numbers = |figure: fn(&PruneScore) -> f64| scores.iter().map(figure);
    let counts = |figure: fn(&PruneScore) -> usize| scores.iter().map(figure);
    // The change of what was before against itself is none.
    let changes = |figure: fn(&PruneScore) -> f64| {
        scores.iter().map(move |score| if score.pruned { figure(score) } else { f64::NAN })
    };
    AlignedTable::new()
        .text("model", scores.iter().map(|score| score.metrics.model.as_str()))
        .text("", scores.iter().map(|score| if score.pruned { "after" } else { "before" }))
        .counts("parameters", counts(|score| score.parameters))
        .counts("not zero", counts(|score| score.nonzero_parameters))
        .counts("bytes", counts(|score| score.weight_bytes))
        .numbers("MAE", numbers(|score| score.metrics.mae))
        .numbers("RMSE", numbers(|score| score.metrics.rmse))
        .numbers("MASE", numbers(|score| score.metrics.mase))
        .changes("MAE %", changes(|score| score.mae_change))
        .changes("RMSE %", changes(|score| score.rmse_change))
        .changes("MASE %", changes(|score| score.mase_change))
        .numbers("ms per 128 forecasts", numbers(|score| score.batch_ms))
        .tenths("µs per forecast", numbers(|score| score.forecast_us))
}
