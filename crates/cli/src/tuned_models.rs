//! Which models `foretell tune` searches where none are named, and what it makes of its best trials.

use foretell::own_estimator::Estimator as _;
use foretell::{ModelSpec, Panel};
use foretell_auto::{Auto, Budget, Criterion, PanelTraits, suiting};
use foretell_tuning::{SearchTrial, Tuned};
use serde_json::{Value, json};

use crate::context::Context;
use crate::setting::plain;

/// The models that suit a panel, of `futr` columns that are known ahead; networks are among them where the search has a limit of time.
pub(crate) fn suiting_models(
    panel: &Panel,
    (h, futr): (usize, usize),
    season: Option<usize>,
    has_time: bool,
    context: &'static Context,
) -> Vec<ModelSpec> {
    let seasons: Vec<usize> = season.into_iter().collect();
    let traits = PanelTraits::of(panel, h, &seasons, futr);
    let budget = if has_time { Budget::Steps(1) } else { Budget::Quick };
    let (models, left_out) = suiting(&traits, budget);
    let names: Vec<&str> = models.iter().map(ModelSpec::name).collect();
    let why = |(model, why): &(&str, String)| format!("{model} ({why})");
    let without = match left_out.is_empty() {
        true => String::new(),
        false => format!(", without {}", left_out.iter().map(why).collect::<Vec<_>>().join(", ")),
    };
    let text = format!(
        "searching the models that suit the data: {}{without}; --model names others",
        names.join(", ")
    );
    context.report(&text, &json!({ "event": "models", "models": names }));
    models
}

/// The best trials as one forecast, with the numbers of the trials; nothing where fewer than two have a score.
pub(crate) fn combined(
    found: &Tuned,
    most: usize,
    metric: &str,
    season: Option<usize>,
) -> Option<(Auto, Vec<usize>)> {
    let best = &found.ranked()[..most.min(found.ranked().len())];
    let (_, first) = best.first().filter(|_| best.len() > 1)?;
    // Models of one name are told apart on the board.
    let named = |(trial, spec): &(usize, ModelSpec)| {
        let alias = format!("{}-trial{trial}", spec.name());
        spec.clone().set("alias", alias).unwrap_or_else(|_| spec.clone())
    };
    let criterion: Criterion = metric.parse().unwrap_or_default();
    // Of a budget of steps networks are trained for as many as each of them has.
    let auto = Auto::new(first.h()).models(best.iter().map(named)).budget(Budget::Steps(1));
    let auto = auto.with("metric", criterion.name()).expect("a criterion by its name");
    let auto = auto.with("season_length", json!(season)).expect("steps of a season, or none");
    Some((auto, best.iter().map(|(trial, _)| *trial).collect()))
}

/// What was asked about combining trials and is done otherwise.
pub(crate) fn combined_otherwise(
    most: Option<usize>,
    metric: &str,
    combined: Option<&Auto>,
) -> Option<String> {
    let Some(auto) = combined else {
        let none = "fewer than two trials have a score, so none are combined";
        return most.is_some_and(|most| most > 1).then(|| none.to_owned());
    };
    let criterion = auto.hyper_parameters()["metric"].as_str().unwrap_or_default().to_owned();
    (criterion != metric)
        .then(|| format!("no weights are chosen by {metric}: those of the trials are chosen by {criterion}"))
}

/// What to do for intervals of a model that forecasts one number; nothing of one that has quantiles.
pub(crate) fn without_intervals(spec: &ModelSpec) -> Option<String> {
    let estimator = spec.as_ref();
    let has_some = estimator.outputs_at(&[0.1, 0.9]).is_some()
        || estimator.outputs().iter().any(|output| output.quantile.is_some());
    (!has_some).then(|| {
        format!(
            "{} forecasts one number and is saved without intervals: --intervals 20 calibrates some, --combine 5 has some",
            spec.alias()
        )
    })
}

/// The hyper-parameters of a trial in one line, or why it failed.
pub(crate) fn told(trial: &SearchTrial) -> String {
    if let Some(failure) = &trial.failure {
        return failure.clone();
    }
    let one = |(name, value): (&String, &Value)| match value.as_f64().filter(|_| value.is_f64()) {
        Some(number) => format!("{name}={number:.4e}"),
        None => format!("{name}={}", plain(value)),
    };
    trial.hyper_parameters.iter().map(one).collect::<Vec<_>>().join(" ")
}
