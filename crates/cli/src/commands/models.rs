//! `foretell models`: what there is to choose from.

use clap::Args;
use foretell::{Entry, MODELS, ModelSpec};
use serde_json::{Map, Value, json};

use crate::output::print;
use crate::table::Table;

/// List the models and their hyper-parameters
///
/// Tells their names, papers, and the kinds of exogenous columns they read (future: known in advance;
/// historic: known for the past only; static: one value per series). With --json also every
/// hyper-parameter with its default, as `--set key=JSON` takes it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell models
  foretell models --json | jq '.[] | select(.name == \"NHITS\").hyper_parameters'")]
pub(crate) struct Models {
    /// Print JSON, with the hyper-parameters and their defaults
    #[arg(long)]
    json: bool,
}

impl Models {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if self.json {
            let models = MODELS.iter().map(described).collect::<anyhow::Result<Vec<_>>>()?;
            return print(format!("{}\n", serde_json::to_string_pretty(&models)?));
        }
        let table = Table::new()
            .text("model", MODELS.iter().map(|model| model.name))
            .text("exogenous", MODELS.iter().map(exogenous))
            .text("paper", MODELS.iter().map(|model| model.paper));
        print(table.render())
    }
}

fn exogenous(model: &Entry) -> String {
    let reads = model.exogenous;
    let kinds = [(reads.futr, "future"), (reads.hist, "historic"), (reads.stat, "static")];
    let kinds: Vec<&str> = kinds.into_iter().filter(|(reads, _)| *reads).map(|(_, kind)| kind).collect();
    if kinds.is_empty() { "-".to_owned() } else { kinds.join(", ") }
}

fn described(model: &Entry) -> anyhow::Result<Value> {
    // These have no defaults: they are the flags --h and --input-size.
    let required = ["h", "input_size"];
    let all = ModelSpec::new(model.name, 1, 1)?.hyper_parameters();
    let defaults: Map<String, Value> =
        all.into_iter().filter(|(name, _)| !required.contains(&name.as_str())).collect();
    Ok(json!({
        "name": model.name, "paper": model.paper, "exogenous": model.exogenous,
        "required": required, "hyper_parameters": defaults,
    }))
}
