//! Where the intervals of each model come from.

use foretell::Fitted;
use foretell::own_estimator::Estimator;

/// The source of the intervals of each column of a forecast: `windows:method:step` of those that were calibrated, `dropout:samples`, `own`
/// of a model that forecasts them by itself, `spread` of an ensemble, `members` of one that combines those of its members; none for a column
/// without any.
pub(crate) fn interval_sources(fitted: &Fitted) -> Vec<(String, Option<String>)> {
    let errors = fitted.calibration_errors();
    let kept = fitted.kept_settings();
    let of_model = |estimator: &dyn Estimator, name: &str| {
        if errors.as_ref().is_some_and(|errors| errors.column(name).is_some()) {
            return fitted.intervals().map(|intervals| intervals.to_string());
        }
        match kept.dropout {
            Some(samples) if estimator.needs().takes_dropout_samples => Some(format!("dropout:{samples}")),
            _ => has_quantiles(estimator).then(|| "own".to_owned()),
        }
    };
    let models = fitted.models().iter().zip(fitted.column_names());
    let mut sources: Vec<(String, Option<String>)> = models
        .map(|(model, name)| {
            let source = of_model(model.trained().estimator(), &name);
            (name, source)
        })
        .collect();
    let of_ensembles = match kept.spread {
        true => Some("spread"),
        false => sources.iter().all(|(_, source)| source.is_some()).then_some("members"),
    };
    let ensembles = fitted.ensembles().map(|(name, _)| (name.to_owned(), of_ensembles.map(str::to_owned)));
    sources.extend(ensembles);
    sources
}

/// Whether a model has quantiles by itself.
fn has_quantiles(estimator: &dyn Estimator) -> bool {
    estimator.outputs_at(&[]).is_some() || estimator.outputs().iter().any(|output| output.quantile.is_some())
}
