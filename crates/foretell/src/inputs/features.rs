//! The columns that models read beside those of the data: computed by features, and kept as words with the models.

use std::borrow::Cow;

use foretell_data::{DataError, Future, FutureError, Panel};
use foretell_estimator::{Estimator, Workers};
use foretell_features::{FeatureError, Features};
use foretell_neural::Exogenous;

use crate::error::Error;
use crate::model_spec::ModelSpec;
use crate::plan_error::PlanError;

/// Has the models read the columns of the features, each model those that it can read.
pub(crate) fn read_features(specs: &mut [ModelSpec], features: &Features) -> Result<(), Error> {
    type Reads = fn(Exogenous) -> bool;
    let kinds: [(&str, &'static str, Vec<String>, Reads); 2] = [
        ("hist_exog_list", "columns known for the past alone", features.hist_columns(), |reads| reads.hist),
        ("futr_exog_list", "columns known ahead", features.futr_columns(), |reads| reads.futr),
    ];
    for (setting, kind, columns, reads) in kinds.into_iter().filter(|(_, _, columns, _)| !columns.is_empty())
    {
        if !specs.iter().any(|spec| reads(spec.exogenous())) {
            let models = specs.iter().map(ModelSpec::alias).collect::<Vec<_>>().join(", ");
            return Err(PlanError::FeaturesUnread { models, kind, columns: columns.join(", ") }.into());
        }
        for spec in specs.iter_mut().filter(|spec| reads(spec.exogenous())) {
            let read = spec.as_ref().columns_read();
            let known = if setting == "hist_exog_list" { read.hist } else { read.futr };
            let further = columns.iter().filter(|column| !known.contains(column));
            let all: Vec<String> = known.iter().chain(further).cloned().collect();
            *spec = spec.clone().set(setting, all)?;
        }
    }
    Ok(())
}

/// The panel with the columns of the features.
pub(crate) fn with_features<'p>(
    panel: &'p Panel,
    features: &Features,
    workers: &Workers,
) -> Result<Cow<'p, Panel>, FeatureError> {
    Ok(match features.is_empty() {
        true => Cow::Borrowed(panel),
        false => Cow::Owned(features.add_to(panel, workers)?),
    })
}

/// The future values that these models read in the `h` rows after each series: those that are given, with the columns of the
/// features. None need be given where the models read no others.
pub(crate) fn future_with_features<'a>(
    future: Option<Future>,
    (panel, h): (&Panel, usize),
    features: &Features,
    models: impl Iterator<Item = &'a dyn Estimator>,
    workers: &Workers,
) -> Result<Option<Future>, Error> {
    let computed = features.futr_columns();
    if computed.is_empty() {
        return Ok(future);
    }
    let given = match future {
        Some(future) => future,
        None => {
            let mut columns: Vec<String> = models
                .flat_map(|model| model.columns_read().futr)
                .filter(|name| !computed.contains(name))
                .cloned()
                .collect();
            columns.sort_unstable();
            columns.dedup();
            if !columns.is_empty() {
                return Err(DataError::from(FutureError::Needed { columns }).into());
            }
            Future::new(panel, h, &[])?
        }
    };
    Ok(Some(features.add_to_future(given, panel, workers)?))
}
