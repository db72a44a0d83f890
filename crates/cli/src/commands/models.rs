//! `foretell models`: what there is to choose from.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use foretell::{ModelSpec, model_names};
use serde_json::{Map, Value, json};

use crate::args::LogArgs;
use crate::markdown;
use crate::model_facts::{ListedModel, exogenous};
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
  foretell models --kind multivariate
  foretell models --json | jq '.[] | select(.name == \"NHITS\").hyper_parameters'

With --json an array is printed, an object for each model: name, paper, kind,
exogenous ({futr, hist, stat, cat}: whether it reads them), losses, differences
(from neuralforecast's, texts), required (hyper-parameters without default),
hyper_parameters (with their defaults), meanings (what they mean).")]
pub(crate) struct Models {
    /// The model whose hyper-parameters to list, in any case of letters
    #[arg(value_parser = ModelNameParser)]
    model: Option<String>,
    /// List the models of this kind alone
    #[arg(long, value_name = "KIND", value_enum, conflicts_with_all = ["model", "markdown"])]
    kind: Option<Kind>,
    /// Print JSON, with the hyper-parameters and their defaults
    #[arg(long)]
    json: bool,
    /// Print the chapter of the documentation; not with --json or a model
    #[arg(long, conflicts_with_all = ["json", "model"])]
    markdown: bool,
    #[command(flatten)]
    log: LogArgs,
}

/// Reads the name of a model: shells complete it, and another name is answered with what was meant.
#[derive(Clone, Debug)]
struct ModelNameParser;

impl TypedValueParser for ModelNameParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let known = |name: String| ModelSpec::new(&name, 1, 1).map(|_| name);
        StringValueParser::new().try_map(known).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(model_names().into_iter().map(PossibleValue::new)))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Networks that forecast each series by itself
    Univariate,
    /// Networks that forecast many series together
    Multivariate,
    /// Those of both that forecast one step after the other
    StepByStep,
    /// What is no network
    Classical,
}

impl Kind {
    /// How [`ListedModel::kind`] says it.
    fn word(self) -> &'static str {
        match self {
            Self::Univariate => "univariate",
            Self::Multivariate => "multivariate",
            Self::StepByStep => "step by step",
            Self::Classical => "classical",
        }
    }
}

impl Models {
    pub(crate) fn log(&self) -> Log {
        self.log.log()
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let mut chosen = ListedModel::all();
        if let Some(name) = &self.model {
            chosen.retain(|model| name.eq_ignore_ascii_case(model.name));
        }
        if let Some(kind) = self.kind {
            chosen.retain(|model| model.kind.split(", ").any(|word| word == kind.word()));
        }
        if self.json {
            let models = chosen.iter().map(described).collect::<anyhow::Result<Vec<_>>>()?;
            print(format!("{}\n", serde_json::to_string_pretty(&models)?))
        } else if self.markdown {
            print(markdown::models()?)
        } else if self.model.is_some() {
            chosen.iter().try_for_each(|model| print(description(model)?))
        } else {
            let table = AlignedTable::new()
                .text("model", chosen.iter().map(|model| model.name))
                .text("kind", chosen.iter().map(|model| model.kind))
                .text("exogenous", chosen.iter().map(|model| exogenous(model.exogenous)))
                .text("paper", chosen.iter().map(|model| model.paper));
            print(table.render())
        }
    }
}

/// All about one model, for people.
fn description(model: &ListedModel) -> anyhow::Result<String> {
    let spec = ModelSpec::new(model.name, 1, 1)?;
    let defaults = defaults(&spec);
    let losses = if model.losses.is_empty() { "none".to_owned() } else { model.losses.join(", ") };
    let facts = AlignedTable::new().text("model", ["kind", "exogenous", "losses", "paper"]).text(
        model.name,
        [model.kind.to_owned(), exogenous(model.exogenous), losses, model.paper.to_owned()],
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

fn described(model: &ListedModel) -> anyhow::Result<Value> {
    let spec = ModelSpec::new(model.name, 1, 1)?;
    let hyper_parameters = spec.hyper_parameters();
    let meanings: Map<String, Value> =
        hyper_parameters.keys().map(|name| (name.clone(), spec.meaning(name).into())).collect();
    let required: Vec<&str> =
        REQUIRED.into_iter().filter(|name| hyper_parameters.contains_key(*name)).collect();
    Ok(json!({
        "name": model.name, "paper": model.paper, "kind": model.kind, "exogenous": model.exogenous,
        "losses": model.losses, "differences": model.differences,
        "required": required, "hyper_parameters": defaults(&spec), "meanings": meanings,
    }))
}
