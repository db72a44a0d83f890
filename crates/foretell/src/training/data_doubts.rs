//! Warnings about the data and the settings of a training, before anything is trained.

use foretell_data::{End, Panel};
use foretell_estimator::{Estimator, Workers};

use crate::fallbacks::fallbacks;
use crate::hierarchies::sums::{warnings_of_sums, wrong_sum};
use crate::inputs::local_scalers::LocalScalers;
use crate::inputs::series_levels::sees_none;
use crate::last_rows::doubts_of_last_rows;
use crate::training::level_breaks::level_breaks;
use crate::training::odd_values::odd_values;
use crate::training::plan::TrainingPlan;
use crate::warning::Warning;

/// Warns of doubts about the data or the settings before anything is trained.
pub(crate) fn warn_of_data(plan: &TrainingPlan, panel: &Panel) {
    let mut settings: Vec<String> =
        plan.models().into_iter().flat_map(Estimator::passed_over).cloned().collect();
    settings.sort_unstable();
    settings.dedup();
    if !settings.is_empty() {
        plan.warnings.warn(&Warning::PassedOver { settings });
    }
    warn_of_twins(plan);
    if let Some(coherence) = &plan.pipeline.coherence
        && let Some((sum, time, [found, expected])) = wrong_sum(panel, &coherence.hierarchy)
    {
        let time = panel.freq().kind().display_in(panel.zone(), time);
        plan.warnings.warn(&Warning::WrongSum { sum, time, found, expected });
    }
    if let Some(coherence) = &plan.pipeline.coherence {
        let warnings = warnings_of_sums(panel, &coherence.hierarchy);
        warnings.iter().for_each(|warning| plan.warnings.warn(warning));
    }
    warn_of_values_below_bound(plan, panel);
    // A number of threads that there cannot be is told by the training.
    let workers = plan.workers.clone().unwrap_or_else(|_| Workers::apart(1));
    let values = odd_values(panel, &workers);
    if !values.is_empty() {
        plan.warnings.warn(&Warning::OddValues { values });
    }
    let breaks = level_breaks(panel, &workers);
    if !breaks.is_empty() {
        plan.warnings.warn(&Warning::LevelBreaks { breaks });
    }
    for doubt in doubts_of_last_rows(panel) {
        plan.warnings.warn(&doubt);
    }
    plan.warnings.warn_of_coarse_values(panel, &without_levels(plan));
    for (feature, told) in plan.pipeline.features.caveats_ahead(panel, plan.h()) {
        plan.warnings.warn(&Warning::Feature { feature, told });
    }
    for (model, name) in plan.models().into_iter().zip(plan.column_names()) {
        if model.needs().max_steps == Some(0) && plan.start.of(&name).from.is_none() {
            plan.warnings.warn(&Warning::NoSteps { model: name.clone() });
        }
        plan.warnings.warn_of_few_checks(model, &name, plan.val_rows() > 0);
        plan.warnings.warn_of_no_counts(model, &name, panel);
        plan.warnings.warn_of_fallbacks(fallbacks([(model, name.clone())].into_iter(), panel));
        for lacks in model.caveats(panel) {
            plan.warnings.warn(&Warning::Caveat { model: name.clone(), lacks });
        }
    }
}

/// Warns of values that forecasts are kept from.
fn warn_of_values_below_bound(plan: &TrainingPlan, panel: &Panel) {
    if !plan.pipeline.settings.non_negative {
        return;
    }
    let is_below = |series: &usize| {
        let y = panel.known_y(*series, 0..panel.len(*series));
        y.iter().any(|y| panel.level(*series).value(*y) < 0.0)
    };
    let series = (0..panel.n_series()).filter(is_below).map(|series| panel.id(series).to_string());
    let series: Vec<String> = series.collect();
    if !series.is_empty() {
        plan.warnings.warn(&Warning::BelowBound { series });
    }
}

/// Warns of models that are trained twice.
fn warn_of_twins(plan: &TrainingPlan) {
    let (models, names) = (plan.models(), plan.column_names());
    for (second, model) in models.iter().enumerate() {
        if let Some(first) = models[..second].iter().position(|earlier| earlier == model) {
            let (first, second) = (names[first].clone(), names[second].clone());
            plan.warnings.warn(&Warning::Twins { first, second });
        }
    }
}

/// Warns of series that end before others, unless a model refuses them.
pub(crate) fn warn_of_early_ends(plan: &TrainingPlan, panel: &Panel) {
    let is_known = plan.models().into_iter().any(|model| model.needs().is_joint)
        || plan.pipeline.settings.end == Some(End::Own);
    if let Some(ends) = panel.early_ends().filter(|_| !is_known) {
        plan.warnings.warn(&Warning::EarlyEnds(ends));
    }
}

/// The names of the models that see series without levels.
fn without_levels(plan: &TrainingPlan) -> Vec<String> {
    let models = plan.models().into_iter().zip(plan.column_names());
    models
        .filter(|(model, _)| sees_none(&[model.needs().levels_seen], LocalScalers::default()))
        .map(|(_, name)| name)
        .collect()
}
