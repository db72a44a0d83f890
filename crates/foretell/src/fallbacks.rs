//! Series that models forecast in another way than their hyper-parameters say.

use foretell_data::Panel;
use foretell_estimator::{Estimator, Trained};

use crate::error::Error;
use crate::series_fallback::SeriesFallback;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// The series of a panel that these models of these names forecast in another way, model by model.
pub(crate) fn fallbacks<'a>(
    models: impl Iterator<Item = (&'a dyn Estimator, String)>,
    panel: &Panel,
) -> Vec<SeriesFallback> {
    let of_model = |(model, name): (&dyn Estimator, String)| {
        let found = model.fallbacks(panel).into_iter();
        found
            .map(|(series, fallback)| {
                SeriesFallback::new(panel.id(series).to_string(), name.clone(), fallback)
            })
            .collect::<Vec<_>>()
    };
    models.flat_map(of_model).collect()
}

/// The series of a panel that these trained models of these names forecast in another way, by their histories or by what was chosen of them.
pub(crate) fn fallbacks_of<'a>(
    models: impl Iterator<Item = (&'a dyn Trained, String)> + Clone,
    panel: &Panel,
) -> Vec<SeriesFallback> {
    let mut found = fallbacks(models.clone().map(|(model, name)| (model.estimator(), name)), panel);
    for (model, name) in models {
        let here = model.passed_over().into_iter().filter(|(series, _)| panel.find(series).is_some());
        found.extend(here.map(|(series, fallback)| SeriesFallback::new(series, name.clone(), fallback)));
    }
    found
}

/// Refuses series that a model forecasts in another way than its hyper-parameters say.
pub(crate) fn check_fallbacks<'a>(
    models: impl Iterator<Item = (&'a dyn Estimator, String)>,
    panel: &Panel,
) -> Result<(), Error> {
    let found = fallbacks(models, panel);
    match found.first() {
        None => Ok(()),
        Some(first) => {
            let count = found.iter().filter(|other| other.model == first.model).count();
            Err(Error::Fallback { count, first: Box::new(first.clone()) })
        }
    }
}

impl WarningListener {
    /// Warns of these series, once for each model and reason.
    pub(crate) fn warn_of_fallbacks(&self, mut found: Vec<SeriesFallback>) {
        while let Some(first) = found.first().cloned() {
            let alike = |other: &SeriesFallback| other.model == first.model && other.reason == first.reason;
            let (group, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(alike);
            found = rest;
            let series = group.into_iter().map(|fallback| fallback.series).collect();
            let SeriesFallback { model, reason, instead, remedy, .. } = first;
            self.warn(&Warning::Fallback { model, reason, instead, remedy, series });
        }
    }
}
