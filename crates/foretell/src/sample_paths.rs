//! Sample paths of the future as a table.

use std::sync::OnceLock;

use foretell_data::{ColumnLevel, Future, Panel, Span};
use foretell_estimator::{Asked, Output, is_wanted};
use foretell_simulation::{Marginals, PathDraws, SimulationError, SimulationMethod, sample_paths};
use foretell_tables::{ForecastColumn, Frame, SAMPLE_ID};

use crate::conformal::exact;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecasts::blocks::blocks_ahead;
use crate::forecasts::further::forecast_ahead;
use crate::forecasts::memory::check_forecast;
use crate::forecasts::windows::forecast_windows;
use crate::inputs::local_scalers::LocallyScaled;
use crate::interval_error::IntervalError;
use crate::predict_options::PredictOptions;
use crate::simulate_options::{PathMethod, SimulateOptions};
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::has_any_intervals;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// The most paths of a series: their numbers are exact in single precision.
const MOST_PATHS: usize = 1 << 24;

/// The quantiles of the steps of one model, on the scale of the data.
struct ModelQuantiles {
    name: String,
    levels: Vec<f64>,
    /// The columns of the levels, `[series, steps]` each.
    columns: Vec<Vec<f32>>,
}

pub(crate) fn simulate(
    trained: &TrainedModels,
    panel: &Panel,
    options: &SimulateOptions<'_>,
) -> Result<Frame, Error> {
    let SimulateOptions { n_paths, method, future, .. } = *options;
    if n_paths == 0 || n_paths > MOST_PATHS {
        return Err(UsageError::Paths { most: MOST_PATHS, found: n_paths }.into());
    }
    if let [only] = *options.quantiles {
        return Err(IntervalError::OneQuantile { found: only }.into());
    }
    let asked = asked_quantiles(trained, options)?;
    // Blocks of series lack the same.
    let warnings = trained.warnings.once();
    let shown = options.h.unwrap_or(trained.h());
    let h = trained.steps_forecast(shown);
    let blocks = blocks_ahead(trained, panel, &PredictOptions::new().future(future).h(h), asked.clone())?;
    let windows = panel.n_series();
    let rows = windows.saturating_mul(h).saturating_mul(n_paths);
    let remedy = "draw fewer paths, or simulate some of the series at a time";
    check_forecast(trained, panel, (windows, h), rows, &asked, remedy)?;
    let mut frame = blocks.joined_ahead(|panel, scaled, future| {
        // Before the rows, which may be many, since models without quantiles have no paths.
        let paths = match method {
            PathMethod::OfQuantiles(method) => {
                let forecast = |model: &FittedModel, quantiles: Option<&[f64]>| {
                    forecast_ahead(trained, model, quantiles, &scaled.panel, future, h)
                };
                let forecasts = forecast_windows(trained, panel, scaled, &asked, forecast)?;
                let models = quantiles_of_models(trained, &warnings, forecasts.models, forecasts.columns)?;
                let draw = |model: ModelQuantiles| -> Result<(String, Vec<f32>), Error> {
                    let paths = paths_of_quantiles(trained, panel, &model, h, method, options)?;
                    Ok((model.name, paths))
                };
                models.into_iter().map(draw).collect::<Result<Vec<_>, _>>()?
            }
            PathMethod::Ancestral => ancestral_paths(trained, panel, scaled, h, options, future)?,
        };
        let mut part = rows_of_paths(trained, panel, n_paths, h)?;
        part.columns.extend(paths);
        let columns = std::iter::once(ColumnLevel::Apart);
        let columns = columns.chain(part.columns[1..].iter().map(|_| ColumnLevel::Value)).collect();
        Ok((part, columns))
    })?;
    frame.keep_first_steps(h, shown);
    match &trained.pipeline.coherence {
        Some(coherence) => {
            coherence.apply_to_paths(frame, SAMPLE_ID, &trained.pipeline.columns, trained.pipeline.settings)
        }
        None => Ok(frame),
    }
}

/// The quantiles that models are asked for: none where all models have only their own.
fn asked_quantiles(trained: &TrainedModels, options: &SimulateOptions<'_>) -> Result<AskedQuantiles, Error> {
    static HUNDREDTHS: OnceLock<Vec<f64>> = OnceLock::new();
    let quantiles = match options.quantiles {
        [] => &HUNDREDTHS.get_or_init(|| (1..100).map(|i| f64::from(i) / 100.0).collect())[..],
        quantiles => quantiles,
    };
    let asked = AskedQuantiles::new(&[], quantiles)?;
    let any = options.method != PathMethod::Ancestral && has_any_intervals(trained, &asked);
    Ok(if any { asked } else { AskedQuantiles::default() })
}

/// The ids, times and numbers of the paths of `h` steps of each series of a panel.
fn rows_of_paths(trained: &TrainedModels, panel: &Panel, n_paths: usize, h: usize) -> Result<Frame, Error> {
    let mut frame = trained.frame(panel);
    let mut numbers = Vec::with_capacity(panel.n_series() * n_paths * h);
    for series in 0..panel.n_series() {
        if !is_wanted() {
            return Err(Error::NotWanted);
        }
        frame.ids.extend(std::iter::repeat_n(panel.id(series), n_paths * h).cloned());
        let times = panel.future_times(series, h)?;
        for path in 0..n_paths {
            frame.times.extend(&times);
            numbers.extend(std::iter::repeat_n(path as f32, h));
        }
    }
    frame.columns.push((SAMPLE_ID.to_owned(), numbers));
    frame.integers.push(SAMPLE_ID.to_owned());
    Ok(frame)
}

/// The quantiles of each model and ensemble that has some, upwards, from the columns of all of them; `warnings` hears of the models that have none.
fn quantiles_of_models(
    trained: &TrainedModels,
    warnings: &WarningListener,
    outputs: Vec<Vec<Output>>,
    columns: Vec<(ForecastColumn, Vec<f32>)>,
) -> Result<Vec<ModelQuantiles>, Error> {
    let members = trained.named().map(|(_, name)| (name, true));
    let ensembles = trained.ensembles.iter().map(|ensemble| (ensemble.column().to_owned(), false));
    let (mut columns, mut models, mut lacking) = (columns.into_iter(), Vec::new(), Vec::new());
    for ((name, is_model), outputs) in members.chain(ensembles).zip(outputs) {
        let own = columns.by_ref().take(outputs.len()).map(|(_, values)| values);
        let of_quantile = |(output, values): (Output, Vec<f32>)| output.quantile.map(|q| (exact(q), values));
        let mut quantiles: Vec<(f64, Vec<f32>)> =
            outputs.into_iter().zip(own.collect::<Vec<_>>()).filter_map(of_quantile).collect();
        quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        quantiles.dedup_by(|a, b| a.0 == b.0);
        if quantiles.len() > 1 {
            let (levels, columns) = quantiles.into_iter().unzip();
            models.push(ModelQuantiles { name, levels, columns });
        } else if is_model {
            lacking.push(name);
        }
    }
    if models.is_empty() {
        let has_loss = trained.have_loss(&lacking[..lacking.len().min(1)]);
        let model = lacking.into_iter().next().unwrap_or_default();
        return Err(IntervalError::NoIntervals { model, has_loss }.into());
    }
    if !lacking.is_empty() {
        let has_loss = trained.have_loss(&lacking);
        warnings.warn(&Warning::NoPaths { models: lacking, has_loss });
    }
    Ok(models)
}

/// The paths of all series by one model, `[series, paths, steps]`.
fn paths_of_quantiles(
    trained: &TrainedModels,
    panel: &Panel,
    model: &ModelQuantiles,
    h: usize,
    method: SimulationMethod,
    options: &SimulateOptions<'_>,
) -> Result<Vec<f32>, Error> {
    let each = h * options.n_paths;
    let mut paths = vec![0.0_f32; panel.n_series() * each];
    let mut series: Vec<(&mut [f32], Result<(), SimulationError>)> =
        paths.chunks_exact_mut(each).map(|paths| (paths, Ok(()))).collect();
    trained.workers.each(&mut series, true, |series, (paths, result)| {
        let rows = series * h..(series + 1) * h;
        let values: Vec<f64> =
            rows.flat_map(|row| model.columns.iter().map(move |column| f64::from(column[row]))).collect();
        let known = panel.known_y(series, 0..panel.len(series));
        let history: Vec<f64> = known.iter().filter(|y| !y.is_nan()).map(|&y| f64::from(y)).collect();
        let draws = PathDraws::new(options.seed, panel.id(series), panel.time(series, panel.len(series) - 1));
        let drawn = Marginals::new(&model.levels, &values)
            .and_then(|marginals| sample_paths(method, &marginals, &history, options.n_paths, draws));
        match drawn {
            Ok(drawn) => paths.iter_mut().zip(drawn).for_each(|(path, drawn)| *path = drawn as f32),
            Err(error) => *result = Err(error),
        }
    });
    let results: Vec<Result<(), SimulationError>> = series.into_iter().map(|(_, result)| result).collect();
    for (series, result) in results.into_iter().enumerate() {
        result.map_err(|source| Error::Simulation { id: panel.id(series).to_string(), source })?;
    }
    bound(trained, panel, &mut paths);
    Ok(paths)
}

/// Rounds and bounds the paths of all series, as many numbers of each, unless they are to add up first.
fn bound(trained: &TrainedModels, panel: &Panel, paths: &mut [f32]) {
    if trained.pipeline.coherence.is_some() {
        return;
    }
    let each = paths.len() / panel.n_series().max(1);
    for (series, paths) in paths.chunks_mut(each.max(1)).enumerate() {
        trained.pipeline.settings.bound(panel.level(series), paths);
    }
}

/// The paths of all series by each model that draws its own.
fn ancestral_paths(
    trained: &TrainedModels,
    panel: &Panel,
    scaled: &LocallyScaled<'_>,
    h: usize,
    options: &SimulateOptions<'_>,
    future: Option<&Future>,
) -> Result<Vec<(String, Vec<f32>)>, Error> {
    let asked = Asked { span: Span::Predict { future }, h, quantiles: None };
    let draw = |(model, name): (&FittedModel, String)| -> Result<(String, Vec<f32>), Error> {
        let drawn =
            model.trained().paths(&scaled.panel, &asked, options.n_paths, options.seed, &trained.workers);
        let mut paths = match drawn {
            Some(paths) => paths?,
            None => return Err(UsageError::NoOwnPaths { model: name }.into()),
        };
        scaled.inverse(0..scaled.panel.n_series(), &mut paths, h * options.n_paths);
        bound(trained, panel, &mut paths);
        Ok((name, paths))
    };
    trained.named().map(draw).collect()
}
