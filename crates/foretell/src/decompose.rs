//! The parts of forecasts as a table.

use foretell_data::{ColumnLevel, Future, LocalScaler, Panel};
use foretell_estimator::{Trained, WithoutParts};
use foretell_neural::NetworkError;
use foretell_tables::{ForecastColumn, Frame};

use crate::contributions::scale_back;
use crate::decompose_options::DecomposeOptions;
use crate::error::Error;
use crate::explanation_error::ExplanationError;
use crate::forecasts::blocks::blocks_ahead;
use crate::forecasts::further::each_horizon;
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;
use crate::warning::Warning;

/// The parts of the forecasts of one model: their names, and the columns `[series * h]`, the first of which has the level.
type Parts = (Vec<String>, Vec<Vec<f32>>);

pub(crate) fn decompose(
    trained: &TrainedModels,
    panel: &Panel,
    options: &DecomposeOptions<'_>,
) -> Result<Frame, Error> {
    if trained.pipeline.local_scalers.series == Some(LocalScaler::BoxCox) {
        return Err(ExplanationError::ExplainedCurve.into());
    }
    let shown = options.h.unwrap_or(trained.h());
    let h = trained.steps_forecast(shown);
    let asked = PredictOptions::new().future(options.future).h(h);
    let blocks = blocks_ahead(trained, panel, &asked, AskedQuantiles::default())?;
    let mut refusals: Vec<Error> = Vec::new();
    let mut frame = blocks.joined_ahead(|panel, scaled, future| {
        let (mut part, mut levels) = (trained.frame_ahead(panel, h)?, Vec::new());
        refusals.clear();
        for (model, name) in trained.named() {
            let (names, mut columns) = match parts_of(trained, model.trained(), &scaled.panel, future, h) {
                Ok(parts) => parts,
                Err(refusal) if is_unexplained(&refusal) => {
                    refusals.push(refusal);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some((level, others)) = columns.split_first_mut() {
                scale_back(scaled, h, level, others);
            }
            // The first part has the level, and the others add to it.
            let first = levels.len();
            levels.resize(first + columns.len(), ColumnLevel::Difference);
            levels.iter_mut().skip(first).take(1).for_each(|level| *level = ColumnLevel::Value);
            let components = names.iter().map(|component| ForecastColumn::component(&*name, component));
            part.push_forecasts(components.zip(columns));
        }
        Ok((part, levels))
    })?;
    if frame.columns.is_empty() && panel.n_series() > 0 {
        let none = || ExplanationError::NoParts { found: trained.column_names().join(", ") }.into();
        return Err(refusals.into_iter().next().unwrap_or_else(none));
    }
    leave_out_nothing(&mut frame);
    for refusal in refusals {
        trained.warnings.warn(&Warning::NoParts { reason: refusal.to_string() });
    }
    frame.keep_first_steps(h, shown);
    Ok(frame)
}

/// Leaves out parts that add nothing to any forecast, as a season that no series has; the first part of each model stays.
fn leave_out_nothing(frame: &mut Frame) {
    let columns = frame.forecast_columns("");
    let models: Vec<Option<&str>> = columns.iter().map(|column| Some(column.as_ref()?.model())).collect();
    let mut place = 0..;
    frame.columns.retain(|(name, values)| {
        let is_first = place.next().is_some_and(|place| !models[..place].contains(&models[place]));
        let stays = is_first || values.iter().any(|x| *x != 0.0);
        if !stays {
            frame.wide.remove(name);
        }
        stays
    });
}

/// The parts that a model has of the forecasts of `h` steps, and of each horizon that these are made of; none where it has no parts.
fn parts_of(
    trained: &TrainedModels,
    model: &dyn Trained,
    panel: &Panel,
    future: Option<&Future>,
    h: usize,
) -> Result<Parts, Error> {
    let parts_of = |panel: &Panel, future: Option<&Future>, h| -> Result<Parts, Error> {
        let parts = model.parts(panel, future, h, &trained.workers).transpose()?.unwrap_or_default();
        Ok(parts.into_iter().map(|part| (part.name, part.values)).unzip())
    };
    let own = trained.h();
    if h == own || model.reaches_any_horizon() {
        return parts_of(panel, future, h);
    }
    let (mut names, mut columns) = (Vec::new(), Vec::new());
    each_horizon(trained, model, panel, future, h, |horizon| {
        let (found, parts) = parts_of(horizon.panel, horizon.future, own)?;
        columns.resize_with(found.len(), || vec![0.0; panel.n_series() * h]);
        names = found;
        for (column, values) in columns.iter_mut().zip(&parts) {
            for (rows, values) in column.chunks_exact_mut(h).zip(values.chunks_exact(own)) {
                rows[horizon.new.clone()].copy_from_slice(&values[horizon.had..]);
            }
        }
        Ok(None)
    })?;
    Ok((names, columns))
}

/// Whether forecasts are not taken apart because of the model that makes them.
fn is_unexplained(error: &Error) -> bool {
    match error {
        Error::Usage(UsageError::Network(error)) => matches!(**error, NetworkError::Explain { .. }),
        Error::Usage(UsageError::Estimator(error)) => error.is::<WithoutParts>(),
        _ => false,
    }
}
