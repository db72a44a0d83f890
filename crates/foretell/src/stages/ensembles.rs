//! Columns that combine those of the models.

use foretell_estimator::{Output, point_column};
use foretell_tables::ColumnPart;

use crate::error::Error;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::recipe;
use crate::stages::spread::spread_quantile;
use crate::stages::window_forecasts::WindowForecasts;
use crate::trained_models::TrainedModels;

/// Adds the columns of the ensembles of the models, whose columns are there.
pub(crate) fn add_ensembles(
    trained: &TrainedModels,
    asked: &AskedQuantiles,
    forecasts: &mut WindowForecasts,
) {
    let WindowForecasts { columns, models, .. } = forecasts;
    let members = std::mem::take(models);
    let starts: Vec<usize> = members
        .iter()
        .scan(0, |start, outputs| Some(std::mem::replace(start, *start + outputs.len())))
        .collect();
    for ensemble in &trained.ensembles {
        let members_of = |output: &Output| -> Vec<usize> {
            let places = members.iter().zip(&starts).take(trained.n_members());
            places.map(|(outputs, start)| start + place_of(output, outputs)).collect()
        };
        let spread = spread_ends(trained, asked);
        let outputs =
            if spread.is_empty() { ensemble_outputs(trained, &members) } else { vec![Output::point()] };
        for output in outputs {
            let places = members_of(&output);
            let of_members: Vec<&[f32]> = places.iter().map(|&place| &columns[place].1[..]).collect();
            let combined = ensemble.combine(&of_members);
            columns.push((output.column(ensemble.column()), combined));
        }
        let (center, places) = (columns.len() - 1, members_of(&Output::point()));
        for (output, q) in spread {
            let at = |(row, &center): (usize, &f32)| {
                let members = places.iter().map(|&place| columns[place].1[row]);
                spread_quantile(q, center, members)
            };
            let values = columns[center].1.iter().enumerate().map(at).collect();
            columns.push((output.column(ensemble.column()), values));
        }
    }
    *models = with_ensembles(trained, members, asked);
}

/// The columns that each model will forecast of what is asked for, followed by those of each ensemble of them.
///
/// # Errors
/// If a model does not have the intervals.
pub(crate) fn outputs(trained: &TrainedModels, asked: &AskedQuantiles) -> Result<Vec<Vec<Output>>, Error> {
    let of_models = trained.named().map(|(model, name)| Ok(recipe(trained, model, &name, asked)?.outputs));
    Ok(with_ensembles(trained, of_models.collect::<Result<_, Error>>()?, asked))
}

/// The columns of each model, followed by those of each ensemble of them.
fn with_ensembles(
    trained: &TrainedModels,
    mut members: Vec<Vec<Output>>,
    asked: &AskedQuantiles,
) -> Vec<Vec<Output>> {
    let spread = spread_ends(trained, asked).into_iter().map(|(output, _)| output);
    let outputs = match spread.len() {
        0 => ensemble_outputs(trained, &members),
        _ => std::iter::once(Output::point()).chain(spread).collect(),
    };
    members.extend(trained.ensembles.iter().map(|_| outputs.clone()));
    members
}

/// The quantiles that ensembles have of the spread of their members, and their columns.
fn spread_ends(trained: &TrainedModels, asked: &AskedQuantiles) -> Vec<(Output, f64)> {
    if trained.pipeline.settings.spread { asked.columns(false) } else { Vec::new() }
}

/// The columns of an ensemble of models with these columns: the forecast of a single number, and the quantiles that all members
/// have, but for medians that are such a forecast.
fn ensemble_outputs(trained: &TrainedModels, models: &[Vec<Output>]) -> Vec<Output> {
    let members = &models[..trained.n_members()];
    let is_asked = |output: &&Output| output.quantile.is_some() && output.part() != ColumnPart::Median;
    let in_all = |output: &&Output| {
        members.iter().all(|outputs| outputs.iter().any(|own| own.quantile == output.quantile))
    };
    let quantiles = members.first().into_iter().flatten().filter(is_asked).filter(in_all).cloned();
    [Output::point()].into_iter().chain(quantiles).collect()
}

/// Which of a model's columns an ensemble combines for this column of its own.
fn place_of(output: &Output, outputs: &[Output]) -> usize {
    let quantile = outputs.iter().position(|own| own.quantile.is_some() && own.quantile == output.quantile);
    quantile.unwrap_or_else(|| point_column(outputs))
}
