//! The contributions of the inputs to the forecasts of networks, as a table.

use foretell_data::{ColumnLevel, Frame, LocalScaler, Panel};
use foretell_neural::TrainedNetwork;

use crate::error::Error;
use crate::explain_options::ExplainOptions;
use crate::forecasts::asked_quantiles::AskedQuantiles;
use crate::forecasts::blocks::blocks_ahead;
use crate::inputs::local_scalers::LocallyScaled;
use crate::predict_options::PredictOptions;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

pub(crate) fn explain(
    trained: &TrainedModels,
    panel: &Panel,
    options: &ExplainOptions<'_>,
) -> Result<Frame, Error> {
    let networks = explained(trained, options.models)?;
    if trained.local_scalers.series == Some(LocalScaler::BoxCox) {
        return Err(UsageError::ExplainedCurve.into());
    }
    let asked = PredictOptions::new().future(options.future);
    let blocks = blocks_ahead(trained, panel, &asked, AskedQuantiles::default())?;
    let mut frame: Option<Frame> = None;
    blocks.each_ahead(|panel, scaled, future| {
        let mut part = rows_ahead(trained, panel)?;
        for (network, name) in &networks {
            let contributions =
                network.attribute(&scaled.panel, future, &trained.workers, options.method, options.output)?;
            let inputs = input_names(network, &trained.columns.target, panel);
            let mut baseline = Vec::new();
            let mut columns: Vec<Vec<f32>> = vec![Vec::new(); inputs.len()];
            for window in &contributions {
                baseline.extend(&window.baseline);
                for row in window.values.chunks_exact(inputs.len()) {
                    columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
                }
            }
            scale_back(scaled, trained.h(), &mut baseline, &mut columns);
            part.columns.push((format!("{name}:baseline"), baseline));
            let named = inputs.into_iter().zip(columns);
            part.columns.extend(named.map(|(input, values)| (format!("{name}:{input}"), values)));
        }
        let columns = part.columns.iter().map(|(name, _)| match name.ends_with(":baseline") {
            true => ColumnLevel::Value,
            false => ColumnLevel::Difference,
        });
        let columns = columns.collect();
        let part = panel.without_levels_in(part, columns);
        match &mut frame {
            Some(frame) => frame.append(part),
            None => frame = Some(part),
        }
        Ok(())
    })?;
    Ok(frame.unwrap_or_else(|| trained.frame(panel)))
}

/// The networks whose columns have these names, or all.
fn explained<'a>(
    trained: &'a TrainedModels,
    models: &[String],
) -> Result<Vec<(&'a TrainedNetwork, String)>, Error> {
    let networks = || trained.named().filter_map(|(model, name)| Some((model.network()?, name)));
    let known = || networks().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
    if let Some(found) = models.iter().find(|asked| networks().all(|(_, name)| name != **asked)) {
        return Err(UsageError::NotExplained { found: found.clone(), known: known() }.into());
    }
    let chosen: Vec<_> = networks().filter(|(_, name)| models.is_empty() || models.contains(name)).collect();
    match chosen.is_empty() {
        true => {
            let found = trained.column_names().join(", ");
            Err(UsageError::NotExplained { found, known: "none".to_owned() }.into())
        }
        false => Ok(chosen),
    }
}

/// The ids and times of the steps after each series.
pub(crate) fn rows_ahead(trained: &TrainedModels, panel: &Panel) -> Result<Frame, Error> {
    let mut frame = trained.frame(panel);
    for series in 0..panel.n_series() {
        frame.ids.extend(std::iter::repeat_n(panel.id(series), trained.h()).cloned());
        frame.times.extend(panel.future_times(series, trained.h())?);
    }
    Ok(frame)
}

/// The names of the inputs of a network, those of several series with the series in front.
fn input_names(network: &TrainedNetwork, target: &str, panel: &Panel) -> Vec<String> {
    let names = network.attributed_inputs(target);
    match network.spec().is_multivariate() {
        false => names,
        true => panel.ids().flat_map(|id| names.iter().map(move |name| format!("{id}/{name}"))).collect(),
    }
}

/// Brings baselines and contributions, `h` rows for each series, to the scale of the data: contributions are differences, which
/// no shift changes.
pub(crate) fn scale_back(
    scaled: &LocallyScaled<'_>,
    h: usize,
    baseline: &mut [f32],
    columns: &mut [Vec<f32>],
) {
    let series = baseline.len() / h;
    let (mut zeros, mut ones) = (vec![0.0; series], vec![1.0; series]);
    scaled.inverse(0..series, &mut zeros, 1);
    scaled.inverse(0..series, &mut ones, 1);
    scaled.inverse(0..series, baseline, h);
    for column in columns {
        for (values, (one, zero)) in column.chunks_exact_mut(h).zip(ones.iter().zip(&zeros)) {
            values.iter_mut().for_each(|value| *value *= one - zero);
        }
    }
}
