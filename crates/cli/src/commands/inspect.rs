//! `foretell inspect`: what a model directory holds.

use std::path::PathBuf;

use clap::Args;
use foretell::report::grouped;
use foretell::{
    Chosen, ChosenOfSeries, Contents, Fitted, HierarchyContents, ModelContents, ModelState, TrainingRecord,
    Value, json,
};
use foretell_auto::Auto;

use crate::args::MemoryArgs;
use crate::commands::features::of_data;
use crate::commands::forecast::lines;
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::importances;
use crate::output::print;
use crate::setting::plain;
use crate::table::AlignedTable;

/// Show what a model directory holds, or how far a training is
///
/// Reads directories that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote, and folders of pretrained weights, also those whose models
/// foretell cannot run: their class, hyper-parameters and tensors are shown all the same. Of a directory of `fit
/// --checkpoint` it shows the steps that are done.
///
/// Of models that choose a form of each series (AutoETS, AutoARIMA, AutoTheta, MSTL, Prophet) it counts the forms, and shows the first
/// series with their smoothing parameters, coefficients and changes of the trend.
///
/// With --data it shows the feature importances behind the forecasts of these data instead, of the models that have them
/// (TFT): the weights of the columns and of the target, means over the steps of the history, of the horizon, and over all
/// series; and the steps that the horizon attends to most, where step 0 is the last one of the history.
#[derive(Debug, Args)]
#[command(mut_arg("data", |data| data.required(false)), mut_group("DataArgs", of_data), after_help = "\
Examples:
  foretell inspect model
  foretell inspect model --tensors
  foretell inspect model --series 20   # forms and coefficients
  foretell inspect state   # fit --checkpoint state
  foretell inspect model --json | jq '.models[].hyper_parameters'
  foretell inspect model --data sales.csv --futr holidays.csv   # importances

With --json one object is printed: h, freq, fitted, id_col, time_col,
target_col, local_scaler, local_static_scaler, features, prediction_intervals,
ensembles (columns, with their weights), hierarchy (series at the bottom, sums
of these, and the method by which forecasts are made to add up; or null),
interruption (models, an array of: model, step, max_steps; missing, the columns
whose training had not begun; training; or null), dataset ([series, rows]),
bytes, and models, an array of: alias, class, unsupported (why foretell cannot
run it, or null), input_size, loss, scaler_type, hyper_parameters (those that
differ from their defaults), parameters, bytes, tensors ([{name, shape,
dtype}]), chosen (of models that are no networks: forms, an array of [form,
count]; series, an array of: series, form, numbers ({name: value}); or null). Of a directory of fit --checkpoint it is an array of: model, training,
step, max_steps, finished, train_loss, valid_loss.

With --data and --json an array is printed, an object for each model: model,
series (that the weights are means over), past and future ({steps, columns}: a
weight for each step of each column, or null), static ({column: weight}),
attention ({steps, columns}: the weight that each step reads each column's step
with, or null).")]
pub(crate) struct Inspect {
    /// The directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// List the tensors of each model; not with --data
    #[arg(long, conflicts_with = "data")]
    tensors: bool,
    #[command(flatten)]
    data: Option<DataArgs>,
    /// File with the future rows of each series, as for predict
    #[arg(long, value_name = "FILE", requires = "data")]
    futr: Vec<PathBuf>,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Show what was chosen for the first N series: forms, orders, coefficients [default: 3, with --json all]
    #[arg(long, value_name = "N", conflicts_with = "data")]
    series: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if let Some(data) = &self.data {
            return self.tell_importances(context, data);
        }
        let states = ModelState::all_in(&self.dir)?;
        if !states.is_empty() {
            return print(if self.json { format!("{}\n", json!(states)) } else { states_table(&states) });
        }
        // What a file of JSON is read by wants all; a person wants to see a few.
        let series = self.series.unwrap_or(if self.json { usize::MAX } else { FEW });
        let contents = Contents::with_series(&self.dir, series)?;
        if self.json {
            return print(format!("{}\n", json!(contents)));
        }
        let mut text = facts(&contents).render_bare();
        for model in &contents.models {
            text += &format!("\n{}", description(model, self.tensors));
        }
        print(text)
    }
}

impl Inspect {
    /// Prints the feature importances behind the forecasts of `data`.
    fn tell_importances(&self, context: &'static Context, data: &DataArgs) -> anyhow::Result<()> {
        data.check_names(&self.futr)?;
        let fitted = Fitted::load_within(&self.dir, self.memory.limit())?
            .on_warning(move |warning| context.warned(warning));
        let (panel, options) = data.read_for(&fitted, self.memory.limit().bytes(), 0, context)?;
        let future = data.read_future(&self.futr, &options, (&panel, fitted.h()), context)?;
        let weights = fitted.feature_importances(&panel, future.as_ref())?;
        if self.json {
            return print(format!("{}\n", json!(weights)));
        }
        print(weights.iter().map(importances::told).collect::<Vec<_>>().join("\n"))
    }
}

/// How far the training of each model is.
fn states_table(states: &[ModelState]) -> String {
    let step = |state: &ModelState| match state.max_steps {
        _ if state.finished => format!("{}, finished", state.step),
        Some(all) => format!("{} of {all}", state.step),
        None => state.step.to_string(),
    };
    let loss = |loss: Option<f64>| loss.unwrap_or(f64::NAN);
    let mut table = AlignedTable::new().text("model", states.iter().map(|state| state.model.as_str()));
    if states.iter().any(|state| state.training > 0) {
        table = table.counts("training", states.iter().map(|state| state.training));
    }
    table
        .text("step", states.iter().map(step))
        .numbers("training loss", states.iter().map(|state| loss(state.train_loss)))
        .numbers("validation loss", states.iter().map(|state| loss(state.valid_loss)))
        .render()
}

/// Series of which it is shown what was chosen.
const FEW: usize = 3;

/// Forms that are counted by themselves.
const MOST_FORMS: usize = 12;

/// The facts that concern all models.
fn facts(contents: &Contents) -> AlignedTable {
    let columns =
        format!("{} (id), {} (time), {} (target)", contents.id_col, contents.time_col, contents.target_col);
    let mut facts = vec![
        ("h", contents.h.to_string()),
        ("freq", contents.freq.clone()),
        ("columns", columns),
        ("size", size(contents.bytes as usize)),
    ];
    let optional = [
        ("local scaler", contents.local_scaler.clone()),
        ("local static scaler", contents.local_static_scaler.clone()),
        ("features", contents.features.clone()),
        ("intervals", contents.prediction_intervals.clone()),
        ("ensembles", (!contents.ensembles.is_empty()).then(|| contents.ensembles.join(", "))),
        ("hierarchy", contents.hierarchy.as_ref().map(hierarchy)),
        (
            "dataset",
            contents
                .dataset
                .map(|[series, rows]| format!("{} series, {} rows", grouped(series), grouped(rows))),
        ),
        ("trained", (!contents.fitted).then(|| "no".to_owned())),
        ("trained on", contents.training.as_ref().map(trained_on)),
        ("saved", contents.saved.clone()),
        ("interrupted", contents.interruption.as_ref().map(|interruption| format!("after {interruption}"))),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    pairs(facts)
}

/// The series of a hierarchy, and how forecasts are made to add up.
fn hierarchy(HierarchyContents { series, sums, method }: &HierarchyContents) -> String {
    format!("{} series and {} sums of them, reconciled by {method}", grouped(*series), grouped(*sums))
}

/// The data that models were trained on, and the version that trained them.
fn trained_on(record: &TrainingRecord) -> String {
    let TrainingRecord { version, series, rows, first, last, .. } = record;
    let (series, rows) = (grouped(*series), grouped(*rows));
    format!("{series} series, {rows} rows from {first} to {last}, by foretell {version}")
}

/// All about one model.
fn description(model: &ModelContents, tensors: bool) -> String {
    let of = match model.alias == model.class {
        true => String::new(),
        false => format!(" ({})", model.class),
    };
    let of_networks = [
        ("input_size", &model.input_size, Value::to_string as fn(&Value) -> String),
        ("loss", &model.loss, loss),
        ("scaler_type", &model.scaler_type, plain),
        ("random_seed", &model.random_seed, Value::to_string),
    ];
    // A model without a loss is no network.
    let of_networks = of_networks.into_iter().filter(|_| !model.loss.is_null());
    let mut facts: Vec<_> = of_networks.map(|(name, value, shown)| (name.to_owned(), shown(value))).collect();
    // What an automatic forecast chose is shown as its board.
    let board = Auto::board_of(&model.hyper_parameters);
    let shown = model.hyper_parameters.iter().filter(|(_, value)| board.is_none() || !value.is_object());
    facts.extend(shown.map(|(name, value)| (name.clone(), plain(value))));
    let (count, bytes) = (grouped(model.parameters), size(model.bytes));
    if model.parameters > 0 {
        // A model without tensors is no network.
        facts.push(match model.tensors.len() {
            0 => ("learned".to_owned(), format!("{count} numbers, {bytes}")),
            tensors => ("parameters".to_owned(), format!("{count} in {tensors} tensors, {bytes}")),
        });
    }
    if let Some(chosen) = &model.chosen {
        facts.extend(told(chosen));
    }
    facts.extend(model.unsupported.iter().map(|reason| ("not runnable".to_owned(), reason.clone())));
    let rendered = pairs(facts).render_bare();
    let mut text = format!("{}{of}\n", model.alias);
    rendered.lines().for_each(|line| text += &format!("  {line}\n"));
    for line in board.iter().flat_map(lines) {
        text += &format!("  {line}\n");
    }
    if tensors {
        let table = AlignedTable::new()
            .text("tensor", model.tensors.iter().map(|tensor| tensor.name.as_str()))
            .text("shape", model.tensors.iter().map(|tensor| format!("{:?}", tensor.shape)))
            .text("dtype", model.tensors.iter().map(|tensor| tensor.dtype.as_str()));
        table.render().lines().for_each(|line| text += &format!("  {line}\n"));
    }
    text
}

/// What was chosen: how many series have each form, and the first series by themselves.
fn told(Chosen { forms, series }: &Chosen) -> Vec<(String, String)> {
    let counts = |forms: &[(String, usize)]| {
        forms.iter().map(|(form, count)| format!("{} {form}", grouped(*count))).collect::<Vec<_>>().join("; ")
    };
    let (shown, rest) = forms.split_at(forms.len().min(MOST_FORMS));
    let others: usize = rest.iter().map(|(_, count)| count).sum();
    let more = if others > 0 {
        format!("; {} of {} other forms", grouped(others), rest.len())
    } else {
        String::new()
    };
    let mut facts = vec![("forms".to_owned(), counts(shown) + &more)];
    for ChosenOfSeries { series, form, numbers } in series {
        let number = |(name, value): (&String, &Value)| match value.as_f64() {
            Some(value) => format!("{name} {}", short(value)),
            None => format!("{name} ?"),
        };
        let numbers: Vec<String> = numbers.iter().map(number).collect();
        let colon = if numbers.is_empty() { "" } else { ": " };
        facts.push((format!("series {series}"), format!("{form}{colon}{}", numbers.join(", "))));
    }
    facts
}

/// A number in four digits.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e6).contains(&size) => {
            let decimals = (3 - size.log10().floor() as i32).clamp(0, 8) as usize;
            let text = format!("{value:.decimals$}");
            if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
        }
        _ => format!("{value:.3e}"),
    }
}

fn pairs<N: Into<String>>(facts: Vec<(N, String)>) -> AlignedTable {
    let (names, values): (Vec<N>, Vec<String>) = facts.into_iter().unzip();
    AlignedTable::new().text("", names).text("", values)
}

/// A loss without arguments is its name.
fn loss(loss: &Value) -> String {
    let has_arguments = |value: &Value| value.as_object().is_some_and(|arguments| !arguments.is_empty());
    match loss.as_object().and_then(|loss| loss.iter().next()) {
        Some((name, arguments)) if !has_arguments(arguments) => name.clone(),
        _ => loss.to_string(),
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{} bytes", grouped(bytes)),
        10_000..10_000_000 => format!("{} kB", grouped(bytes / 1000)),
        _ => format!("{} MB", grouped(bytes / 1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_sizes_are_told_shortly() {
        assert_eq!(loss(&json!({ "MAE": {} })), "MAE");
        assert_eq!(loss(&json!({ "MQLoss": { "level": [80] } })), r#"{"MQLoss":{"level":[80]}}"#);
        assert_eq!(
            [0.0, 0.123_456, 12.0, -1234.5, 2e7, 0.1].map(short),
            ["0", "0.1235", "12", "-1234", "2.000e7", "0.1"]
        );
        assert_eq!([999, 12_345, 123_456_789].map(size), ["999 bytes", "12 kB", "123 MB"]);
        assert_eq!((plain(&json!("a")), plain(&json!([1]))), ("a".to_owned(), "[1]".to_owned()));
    }
}
