//! `foretell models`: what there is to choose from.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use foretell::{ColumnNames, ModelSpec, Panel, ReadOptions, model_names, usual_season};
use foretell_auto::{Budget, PanelTraits, candidates};
use serde_json::{Map, Value, json};

use crate::args::steps;
use crate::context::Context;
use crate::looked_at::{LookedAt, as_written};
use crate::markdown;
use crate::model_facts::{ListedModel, exogenous};
use crate::model_uses::use_of;
use crate::output::print;
use crate::table::AlignedTable;

/// List the models and their hyper-parameters
///
/// Lists their names, what each is for, and whether they forecast one series or many together and all steps at once. With --for, those
/// that `foretell forecast` tries on a file, and why. With a model's name: its hyper-parameters with their defaults,
/// as `--set key=JSON` takes them, and what they mean.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell models
  foretell models NHITS
  foretell models --for sales.csv --h 14
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
    /// List the models that suit this file, and why: those that `foretell forecast` tries, and those that it does not. Which columns hold
    /// the ids, the times and the values is told by their names, or by what they hold
    #[arg(long = "for", value_name = "FILE", conflicts_with_all = ["model", "kind", "json", "markdown"])]
    data: Option<PathBuf>,
    /// Column of the series' ids, of --for
    #[arg(long, value_name = "C", requires = "data", hide_short_help = true)]
    id_col: Option<String>,
    /// Column of the times, of --for
    #[arg(long, value_name = "C", requires = "data", hide_short_help = true)]
    time_col: Option<String>,
    /// Column of the values, of --for
    #[arg(long, value_name = "C", requires = "data", hide_short_help = true)]
    target_col: Option<String>,
    /// Steps to forecast, of --for [default: a season]
    #[arg(long, value_name = "N", requires = "data", value_parser = steps())]
    h: Option<usize>,
    /// Time that a forecast may take, of --for, as 30s or 2m
    #[arg(long, value_name = "TIME", requires = "data", default_value = "0", value_parser = str::parse::<Budget>)]
    budget: Budget,
    /// Print JSON, with the hyper-parameters and their defaults
    #[arg(long)]
    json: bool,
    /// Print the chapter of the documentation; not with --json or a model
    #[arg(long, conflicts_with_all = ["json", "model"])]
    markdown: bool,
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
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if let Some(data) = &self.data {
            return self.suiting(data, context);
        }
        let mut chosen = ListedModel::all();
        if let Some(name) = &self.model {
            // A folder of weights is a name, too.
            let spec = ModelSpec::new(name, 1, 1)?;
            chosen.retain(|model| model.name == spec.name());
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
                .text("for", chosen.iter().map(|model| use_of(model.name)))
                .text("kind", chosen.iter().map(|model| model.kind));
            print(table.render())
        }
    }
}

impl Models {
    /// The models that were thought of for a file, and why.
    fn suiting(&self, data: &Path, context: &'static Context) -> anyhow::Result<()> {
        let panel = self.read(data, context)?;
        let h = self.h.unwrap_or_else(|| usual_season(panel.freq()));
        let traits = PanelTraits::of(&panel, h, &[], 0);
        let found = candidates(&traits, self.budget);
        let table = AlignedTable::new()
            .text("model", found.iter().map(|model| model.model))
            .text("tried", found.iter().map(|model| if model.is_tried { "yes" } else { "no" }))
            .text("why", found.iter().map(|model| model.why.clone()));
        let seasons: Vec<String> = traits.seasons.iter().map(ToString::to_string).collect();
        let facts = format!(
            "{} series, half of them of {} steps or more; season: {}; many zeros: {:.0} %; short: {:.0} %\n",
            traits.series,
            traits.typical_len,
            if traits.season() > 1 { seasons.join(" and ") } else { "none".to_owned() },
            100.0 * traits.intermittent,
            100.0 * traits.short
        );
        print(format!("{facts}\n{}", table.render()))
    }
}

impl Models {
    /// The series of a file.
    fn read(&self, data: &Path, context: &'static Context) -> anyhow::Result<Panel> {
        let Self { id_col, time_col, target_col, .. } = self;
        let mut options = ReadOptions::new().without_unknown();
        options.time_col.clone_from(time_col);
        options.id_col = id_col.clone().unwrap_or(options.id_col);
        options.target_col = target_col.clone().unwrap_or(options.target_col);
        let looked_at = LookedAt::default();
        options = as_written(data, options, [false; 2]);
        if let Some(roles) = looked_at.roles(data, || Some(options.clone())).filter(|roles| roles.are_clear())
        {
            let usual = ColumnNames { id: options.id_col.clone(), ..ColumnNames::default() };
            let ColumnNames { id, time, target } = usual.or_found(roles);
            (options.id_col, options.time_col, options.target_col) = (id, Some(time), target);
        }
        let are_said = [id_col.is_some(), target_col.is_some()];
        let panel = Panel::from_files(&[data], &options)
            .map_err(|error| looked_at.asking(error.into(), &data.display().to_string(), are_said))?;
        looked_at.tell(None, context);
        context.notes(panel.notes());
        Ok(panel)
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
