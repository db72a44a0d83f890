//! `foretell models`: what there is to choose from.

use clap::Args;
use foretell::{Loss, MODELS, ModelEntry, ModelSpec};
use serde_json::{Map, Value, json};

use crate::args::LogArgs;
use crate::markdown;
use crate::output::print;
use crate::progress::Log;
use crate::table::AlignedTable;

/// List the models and their hyper-parameters
///
/// Lists their names, papers, whether they forecast one series or many together and all steps at once, and the kinds
/// of exogenous columns they read (future: known in advance; historic: known for the past only; static: one value per
/// series; categorical ones among them, by embedding). With a model's name: its hyper-parameters with their defaults,
/// as `--set key=JSON` takes them, and what they mean.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell models
  foretell models NHITS
  foretell models --json | jq '.[] | select(.name == \"NHITS\").hyper_parameters'

With --json an array is printed, an object for each model: name, paper, kind,
exogenous ({futr, hist, stat, cat}: whether it reads them), losses, differences
(from neuralforecast's, texts), required (hyper-parameters without default),
hyper_parameters (with their defaults), meanings (what they mean).")]
pub(crate) struct Models {
    /// The model whose hyper-parameters to list, in any case of letters
    #[arg(ignore_case = true, value_parser = clap::builder::PossibleValuesParser::new(MODELS.iter().map(|model| model.name)))]
    model: Option<String>,
    /// Print JSON, with the hyper-parameters and their defaults
    #[arg(long)]
    json: bool,
    /// Print the chapter of the documentation; not with --json or a model
    #[arg(long, conflicts_with_all = ["json", "model"])]
    markdown: bool,
    #[command(flatten)]
    log: LogArgs,
}

impl Models {
    pub(crate) fn log(&self) -> Log {
        self.log.log
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let asked_for = |entry: &&ModelEntry| {
            self.model.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(entry.name))
        };
        let chosen = || MODELS.iter().filter(asked_for);
        if self.json {
            let models = chosen().map(described).collect::<anyhow::Result<Vec<_>>>()?;
            print(format!("{}\n", serde_json::to_string_pretty(&models)?))
        } else if self.markdown {
            print(markdown::models()?)
        } else if self.model.is_some() {
            chosen().try_for_each(|model| print(description(model)?))
        } else {
            let table = AlignedTable::new()
                .text("model", MODELS.iter().map(|model| model.name))
                .text("kind", MODELS.iter().map(|model| model.kind))
                .text("exogenous", MODELS.iter().map(exogenous))
                .text("paper", MODELS.iter().map(|model| model.paper));
            print(table.render())
        }
    }
}

/// The kinds of columns that a model reads.
pub(crate) fn exogenous(model: &ModelEntry) -> String {
    let reads = model.exogenous;
    let kinds = [
        (reads.futr, "future"),
        (reads.hist, "historic"),
        (reads.stat, "static"),
        (reads.cat, "categorical"),
    ];
    let kinds: Vec<&str> = kinds.into_iter().filter(|(reads, _)| *reads).map(|(_, kind)| kind).collect();
    if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") }
}

/// The losses that it trains with. One that has no defaults has one output.
pub(crate) fn losses(model: &ModelEntry) -> Vec<&'static str> {
    let fits = |name: &&str| {
        let outputs = Loss::parse(&(*name).into()).map_or(1, |loss| loss.outputs());
        model.check_outputs(outputs).is_ok()
    };
    Loss::NAMES.into_iter().filter(fits).collect()
}

/// All about one model, for people.
fn description(model: &ModelEntry) -> anyhow::Result<String> {
    let spec = ModelSpec::new(model.name, 1, 1)?;
    let defaults = defaults(&spec);
    let facts = AlignedTable::new().text("model", ["kind", "exogenous", "losses", "paper"]).text(
        model.name,
        [model.kind.to_owned(), exogenous(model), losses(model).join(", "), model.paper.to_owned()],
    );
    let table = AlignedTable::new()
        .text("hyper-parameter", defaults.keys())
        .text("default", defaults.values().map(Value::to_string))
        .text("meaning", defaults.keys().map(|name| spec.meaning(name).unwrap_or_default()));
    let differences = model.differences.iter().map(|difference| format!("{difference}\n"));
    let differences: String = match model.differences {
        [] => String::new(),
        _ => std::iter::once("\nOtherwise than in neuralforecast:\n".to_owned()).chain(differences).collect(),
    };
    Ok(format!("{}\n{}{differences}", facts.render(), table.render()))
}

/// Hyper-parameters that have no default: they are the flags --h and --input-size.
const REQUIRED: [&str; 2] = ["h", "input_size"];

fn defaults(spec: &ModelSpec) -> Map<String, Value> {
    let all = spec.hyper_parameters().into_iter();
    all.filter(|(name, _)| !REQUIRED.contains(&name.as_str())).collect()
}

fn described(model: &ModelEntry) -> anyhow::Result<Value> {
    let spec = ModelSpec::new(model.name, 1, 1)?;
    let hyper_parameters = spec.hyper_parameters();
    let meanings: Map<String, Value> =
        hyper_parameters.keys().map(|name| (name.clone(), spec.meaning(name).into())).collect();
    Ok(json!({
        "name": model.name, "paper": model.paper, "kind": model.kind, "exogenous": model.exogenous,
        "losses": losses(model), "differences": model.differences,
        "required": REQUIRED, "hyper_parameters": defaults(&spec), "meanings": meanings,
    }))
}
