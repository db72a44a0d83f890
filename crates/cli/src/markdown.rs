//! The chapter of the documentation that lists the models, from the models' own declarations.

use foretell::{Loss, MODELS, ModelEntry, ModelSpec};
use serde_json::{Map, Value};

use crate::model_facts::{ListedModel, columns_of, exogenous, losses, plain_models};

/// The chapter, as `cargo xtask models` writes it to `docs/models.md`.
pub(crate) fn models() -> anyhow::Result<String> {
    let mut text = format!(
        "<!-- `cargo xtask models` writes this file; what it says is in `crates/models/src`. -->\n\
         # Models\n\n\
         Names, hyper-parameters and defaults of networks are neuralforecast 3.3's (LSTMAttention and RLinear are foretell's own); \
         [differences.md](differences.md) says what differs for all models. `foretell models` lists the same on the \
         command line, `foretell models NHITS` all about one.\n\n\
         {}\n\
         *Direct* models forecast all steps of the horizon at once; *classical* ones are no networks. *Future* columns are known in advance, \
         *historic* ones for the past only, *static* ones do not change over time.\n\n\
         ## Losses\n\n\
         A loss is a mean over windows and steps. Every network trains with every loss, where its own section does not name those \
         that it refuses.\n\n{}\n\
         ## Hyper-parameters of all networks\n\n\
         `h` and `input_size` have to be given. Where a model has another default, its own section says so.\n\n{}",
        table(["model", "kind", "exogenous columns", "paper"], ListedModel::all().iter().map(row)),
        table(
            ["loss", "mean of"],
            Loss::NAMES.iter().zip(Loss::MEANINGS).map(|(name, of)| [code(name), of.to_owned()])
        ),
        hyper_parameters(&ModelSpec::new(MODELS[0].name, 1, 1)?, &ModelSpec::common_defaults()),
    );
    for model in MODELS {
        text += &section(model)?;
    }
    for entry in plain_models() {
        let spec = ModelSpec::from((entry.new)(1));
        text += &format!(
            "\n## {}\n\n{}; classical; exogenous columns: {}.\n",
            entry.name,
            entry.paper,
            exogenous(columns_of(entry))
        );
        text += &format!("\n{}", hyper_parameters(&spec, &spec.hyper_parameters()));
    }
    Ok(text)
}

fn row(model: &ListedModel) -> [String; 4] {
    let anchor = model.name.to_lowercase();
    [
        format!("[{}](#{anchor})", model.name),
        model.kind.to_owned(),
        exogenous(model.exogenous),
        model.paper.to_owned(),
    ]
}

fn section(model: &ModelEntry) -> anyhow::Result<String> {
    let (own, others) = (model.own_defaults(), model.common_defaults());
    let mut text = format!(
        "\n## {}\n\n{}; {}; exogenous columns: {}.\n",
        model.name,
        model.paper,
        model.kind,
        exogenous(model.exogenous)
    );
    let trains = losses(model);
    let of_several =
        |name: &&str| Loss::parse(&(*name).into()).is_ok_and(|loss| loss.trains() && loss.outputs() > 1);
    let refused = Loss::NAMES.into_iter().filter(|loss| !trains.contains(loss)).filter(of_several).map(code);
    let refused = refused.collect::<Vec<_>>().join(", ");
    if !refused.is_empty() {
        text += &format!("\nIt makes one number for each step and refuses losses of several: {refused}.\n");
    }
    if !others.is_empty() {
        let others = others.iter().map(|(name, default)| format!("`{name}` {}", code(default)));
        text += &format!("\nDefaults of its own: {}.\n", others.collect::<Vec<_>>().join(", "));
    }
    if !own.is_empty() {
        text += &format!("\n{}", hyper_parameters(&ModelSpec::new(model.name, 1, 1)?, &own));
    }
    if !model.differences.is_empty() {
        let lines = model.differences.iter().map(|difference| format!("- {difference}\n"));
        text += &format!("\nOtherwise than in neuralforecast:\n\n{}", lines.collect::<String>());
    }
    Ok(text)
}

fn hyper_parameters(spec: &ModelSpec, defaults: &Map<String, Value>) -> String {
    let required = |name: &str| ["h", "input_size"].contains(&name);
    let rows = defaults.iter().map(|(name, default)| {
        let default = if required(name) { "–".to_owned() } else { code(default) };
        [code(name), default, spec.meaning(name).unwrap_or_default().to_owned()]
    });
    table(["name", "default", "meaning"], rows)
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = head.map(str::to_owned);
    let rule = [const { "---" }; N].map(str::to_owned);
    [head, rule].into_iter().chain(rows).map(|cells| line(&cells)).collect()
}
