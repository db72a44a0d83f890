//! Series that models forecast in another way than their hyper-parameters say.

use foretell_data::Panel;
use foretell_estimator::Estimator;

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
            .map(|(series, fallback)| SeriesFallback {
                series: panel.id(series).to_string(),
                model: name.clone(),
                reason: fallback.reason,
                instead: fallback.instead,
                remedy: fallback.remedy,
            })
            .collect::<Vec<_>>()
    };
    models.flat_map(of_model).collect()
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
