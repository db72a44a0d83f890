//! Intervals by dropout: which models have them, and what is told of the others.

use foretell_estimator::Estimator;

use crate::error::Error;
use crate::interval_error::IntervalError;
use crate::model_spec::ModelSpec;
use crate::warning::Warning;

/// Checks that one of these models with these names has intervals by dropout.
///
/// # Errors
/// If none has.
pub(crate) fn check_dropout<'a>(
    models: impl Iterator<Item = &'a ModelSpec> + Clone,
    names: &[String],
) -> Result<(), Error> {
    if models.clone().any(takes_dropout) {
        return Ok(());
    }
    let to_set = models.zip(names).filter_map(|(spec, name)| {
        let setting = spec.network()?.dropout_to_set()?;
        Some((name.clone(), setting.to_owned()))
    });
    Err(IntervalError::NoDropout { models: names.join(", "), to_set: to_set.collect() }.into())
}

/// The warning of models that have no intervals by dropout, where they are asked for and others have them.
pub(crate) fn without_dropout<'a>(
    models: impl Iterator<Item = &'a ModelSpec>,
    names: &[String],
) -> Option<Warning> {
    let others = models.zip(names).filter(|(spec, _)| !takes_dropout(spec));
    let (own, none): (Vec<_>, Vec<_>) = others.partition(|(spec, _)| has_quantiles(spec.as_ref()));
    let named =
        |models: Vec<(&ModelSpec, &String)>| models.into_iter().map(|(_, name)| name.clone()).collect();
    let to_set =
        none.iter().any(|(spec, _)| spec.network().is_some_and(|spec| spec.dropout_to_set().is_some()));
    let (own, none): (Vec<String>, Vec<String>) = (named(own), named(none));
    (!own.is_empty() || !none.is_empty()).then_some(Warning::WithoutDropout { own, none, to_set })
}

fn takes_dropout(spec: &ModelSpec) -> bool {
    spec.as_ref().needs().takes_dropout_samples
}

/// Whether a model has quantiles by itself.
fn has_quantiles(model: &dyn Estimator) -> bool {
    model.outputs_at(&[]).is_some() || model.outputs().iter().any(|output| output.quantile.is_some())
}
