//! The parts of forecasts as a table.

use std::any::Any;

use foretell_data::{ColumnLevel, Frame, Future, LocalScaler, Panel};
use foretell_prophet::{Mode, TrainedProphet};

use crate::contributions::{rows_ahead, scale_back};
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecasts::asked_quantiles::AskedQuantiles;
use crate::forecasts::blocks::blocks_ahead;
use crate::inputs::local_scalers::LocallyScaled;
use crate::predict_options::PredictOptions;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

/// The parts of the forecasts of one model: their names, and the columns `[series * h]`, the first of which has the level.
type Parts = (Vec<String>, Vec<Vec<f32>>);

pub(crate) fn decompose(
    trained: &TrainedModels,
    panel: &Panel,
    future: Option<&Future>,
) -> Result<Frame, Error> {
    if trained.local_scalers.series == Some(LocalScaler::BoxCox) {
        return Err(UsageError::ExplainedCurve.into());
    }
    let blocks =
        blocks_ahead(trained, panel, &PredictOptions::new().future(future), AskedQuantiles::default())?;
    let mut frame: Option<Frame> = None;
    blocks.each_ahead(|panel, scaled, future| {
        let (mut part, mut levels) = (rows_ahead(trained, panel, trained.h())?, Vec::new());
        for (model, name) in trained.named() {
            let (names, mut columns) = parts_of(trained, model, scaled, future)?;
            if let Some((level, others)) = columns.split_first_mut() {
                scale_back(scaled, trained.h(), level, others);
            }
            // The first part has the level, and the others add to it.
            let first = levels.len();
            levels.resize(first + columns.len(), ColumnLevel::Difference);
            levels.iter_mut().skip(first).take(1).for_each(|level| *level = ColumnLevel::Value);
            let named = names.into_iter().zip(columns);
            part.columns.extend(named.map(|(part, values)| (format!("{name}:{part}"), values)));
        }
        let part = panel.without_levels_in(part, levels);
        match &mut frame {
            Some(frame) => frame.append(part),
            None => frame = Some(part),
        }
        Ok(())
    })?;
    match frame {
        Some(frame) if frame.columns.is_empty() => {
            Err(UsageError::NoParts { found: trained.column_names().join(", ") }.into())
        }
        frame => Ok(frame.unwrap_or_else(|| trained.frame(panel))),
    }
}

/// The parts that a model has; none where it has no parts.
fn parts_of(
    trained: &TrainedModels,
    model: &FittedModel,
    scaled: &LocallyScaled<'_>,
    future: Option<&Future>,
) -> Result<Parts, Error> {
    if let Some(network) = model.network() {
        let parts = network.parts(&scaled.panel, future, &trained.workers)?;
        return Ok((parts.names, parts.values));
    }
    let any: &dyn Any = model.trained();
    match any.downcast_ref::<TrainedProphet>() {
        Some(prophet) => parts_of_prophet(prophet, &scaled.panel, future, trained.h()),
        None => Ok((Vec::new(), Vec::new())),
    }
}

/// The trend, and what each component adds to it; a component that a series lacks adds nothing.
fn parts_of_prophet(
    prophet: &TrainedProphet,
    panel: &Panel,
    future: Option<&Future>,
    h: usize,
) -> Result<Parts, Error> {
    let (mut names, mut columns) = (vec!["trend".to_owned()], vec![Vec::new()]);
    for series in 0..panel.n_series() {
        let before = panel.len(series);
        let parts = prophet.decompose(panel, series, before..before + h, future)?;
        columns[0].extend(parts.trend.iter().map(|&value| value as f32));
        for component in &parts.components {
            let place = names.iter().position(|name| *name == component.name).unwrap_or_else(|| {
                names.push(component.name.clone());
                columns.push(Vec::new());
                names.len() - 1
            });
            columns[place].resize(series * h, 0.0);
            let added =
                component.values.iter().zip(&parts.trend).map(|(value, trend)| match component.mode {
                    Mode::Additive => *value,
                    Mode::Multiplicative => value * trend,
                });
            columns[place].extend(added.map(|value| value as f32));
        }
    }
    columns.iter_mut().for_each(|column| column.resize(panel.n_series() * h, 0.0));
    Ok((names, columns))
}
