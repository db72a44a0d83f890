//! Warnings of forecasts.

use std::collections::BTreeMap;

use foretell_data::{DataError, End, Future, Panel};

use crate::error::Error;
use crate::fallbacks::{check_fallbacks, fallbacks_of};
use crate::fitted_model::FittedModel;
use crate::last_rows::doubts_of_last_rows;
use crate::stage::{Source, Stage};
use crate::trained_models::TrainedModels;
use crate::training_record::TrainingRecord;
use crate::warning::Warning;

/// Warns of the stages that change other forecasts of these models, and not those of this source.
pub(crate) fn warn_of_stages(trained: &TrainedModels, source: Source) {
    let is_kept = |stage: &Stage| match stage {
        Stage::Intervals => false,
        Stage::Ensembles => !trained.ensembles.is_empty(),
        Stage::Bounds => trained.pipeline.settings.bounds(),
        Stage::Sums => trained.pipeline.coherence.is_some(),
    };
    for stage in Stage::ALL.into_iter().filter(is_kept) {
        if let Some(reason) = stage.refusal(source) {
            trained.warnings.warn(&Warning::StageLeftOut { stage, source, reason });
        }
    }
}

/// Warns of categories that training did not see, in what models read to forecast what follows a panel.
pub(crate) fn warn_of_unseen_categories(
    trained: &TrainedModels,
    panel: &Panel,
    future: Option<&Future>,
) -> Result<(), DataError> {
    // Those that read no categories do not count.
    let reads = |model: &&FittedModel| !model.trained().estimator().columns_read().cat.is_empty();
    let reading = trained.models.iter().filter(reads);
    let rows = reading.map(|model| model.needs().rows_read).max().unwrap_or(0);
    warn_of_unseen_categories_in(trained, panel, rows, future)
}

/// Warns of categories that training did not see in the last `rows` rows of each series, and in their future.
pub(crate) fn warn_of_unseen_categories_in(
    trained: &TrainedModels,
    panel: &Panel,
    rows: usize,
    future: Option<&Future>,
) -> Result<(), DataError> {
    let columns = panel.unseen_categories(&trained.vocabulary, rows, future)?;
    if !columns.is_empty() {
        trained.warnings.warn(&Warning::UnseenCategories { columns });
    }
    Ok(())
}

/// Warns of series that end before others, if a model sees all of them side by side: it takes rows of different times for
/// those of one. Training refuses them; neuralforecast's models have it so, and forecast all the same.
pub(crate) fn warn_of_other_ends(trained: &TrainedModels, panel: &Panel) {
    if let Some(ends) = panel.early_ends().filter(|_| trained.is_joint()) {
        trained.warnings.warn(&Warning::EndsDiffer(ends));
    }
}

/// Warns of series that end before others, so that what has passed is forecast, and of series of which nothing is known in
/// what models read.
pub(crate) fn warn_of_unknown_history(trained: &TrainedModels, panel: &Panel) {
    let is_known = trained.is_joint() || trained.pipeline.settings.end == Some(End::Own);
    if let Some(ends) = panel.early_ends().filter(|_| !is_known) {
        trained.warnings.warn(&Warning::EarlyEnds(ends));
    }
    warn_of_other_ends(trained, panel);
    let read = trained.models.iter().map(|model| model.needs().rows_read).max().unwrap_or(usize::MAX);
    let unknown = |series: &usize| {
        let mask = panel.available_mask(*series).unwrap_or(&[1.0]);
        mask[mask.len().saturating_sub(read)..].iter().all(|known| *known == 0.0)
    };
    let series: Vec<_> =
        (0..panel.n_series()).filter(unknown).map(|series| panel.id(series).to_string()).collect();
    if !series.is_empty() {
        trained.warnings.warn(&Warning::NothingKnown { series });
    }
}

/// Refuses series that are shorter than what a model reads.
pub(crate) fn check_history(trained: &TrainedModels, panel: &Panel) -> Result<(), Error> {
    for (input_size, models) in models_by_rows_read(trained) {
        let mut short = (0..panel.n_series()).filter(|&series| panel.len(series) < input_size);
        if let Some(first) = short.next() {
            return Err(Error::ShortHistory {
                models,
                input_size,
                count: 1 + short.count(),
                series: panel.n_series(),
                id: panel.id(first).to_string(),
                rows: panel.len(first),
            });
        }
    }
    Ok(())
}

/// Refuses series that a model forecasts in another way than its hyper-parameters say.
pub(crate) fn check_no_fallback(trained: &TrainedModels, panel: &Panel) -> Result<(), Error> {
    check_fallbacks(trained.estimators().zip(trained.column_names()), &trained.held(panel))
}

/// Warns of series that a model forecasts in another way than its hyper-parameters say.
pub(crate) fn warn_of_fallbacks(trained: &TrainedModels, panel: &Panel) {
    let models = trained.named().map(|(model, name)| (model.trained(), name));
    trained.warnings.warn_of_fallbacks(fallbacks_of(models, &trained.held(panel)));
}

/// Warns of doubts about the last rows, unless they are of the time at which the training ended, which has told them.
pub(crate) fn warn_of_last_rows(trained: &TrainedModels, panel: &Panel) {
    let trained_to = trained.record.as_ref().map(|record| &record.last);
    if trained_to != TrainingRecord::of(panel, 0).map(|record| record.last).as_ref() {
        doubts_of_last_rows(panel).iter().for_each(|doubt| trained.warnings.warn(doubt));
    }
}

/// Warns of series that are all of another size than those of the training.
pub(crate) fn warn_of_other_size(trained: &TrainedModels, panel: &Panel) {
    if let Some(factor) = trained.record.as_ref().and_then(|record| record.other_size(panel)) {
        trained.warnings.warn(&Warning::OtherSize { factor });
    }
}

/// The models by the rows that they expect of each series.
fn models_by_rows_read(trained: &TrainedModels) -> BTreeMap<usize, Vec<String>> {
    let mut models: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (model, name) in trained.named() {
        if let Some(rows) = model.needs().rows_expected {
            models.entry(rows).or_default().push(name);
        }
    }
    models
}

/// Warns of series that training would have refused, as they are shorter than what a model reads.
pub(crate) fn warn_of_short_history(trained: &TrainedModels, panel: &Panel) {
    for (input_size, models) in models_by_rows_read(trained) {
        let short = (0..panel.n_series()).filter(|&series| panel.len(series) < input_size);
        let series: Vec<_> = short.map(|series| (panel.id(series).to_string(), panel.len(series))).collect();
        if !series.is_empty() {
            trained.warnings.warn(&Warning::ShortHistory { models, input_size, series });
        }
    }
}
