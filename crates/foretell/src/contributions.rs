//! The contributions of the inputs to forecasts, as a table.

use std::ops::Range;

use foretell_data::{ColumnLevel, Future, LocalScaler, Panel};
use foretell_estimator::{Attribution, Contributions, MemoryEstimate, Trained};
use foretell_tables::{ForecastColumn, Frame};

use crate::error::{Error, check_wanted};
use crate::explain_options::ExplainOptions;
use crate::explanation_error::ExplanationError;
use crate::forecasts::blocks::blocks_ahead;
use crate::forecasts::further::each_horizon;
use crate::inputs::local_scalers::LocallyScaled;
use crate::memory::{forecasts, panels};
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::trained_models::TrainedModels;

pub(crate) fn explain(
    trained: &TrainedModels,
    panel: &Panel,
    options: &ExplainOptions<'_>,
) -> Result<Frame, Error> {
    let models = explained(trained, options.models)?;
    if trained.pipeline.local_scalers.series == Some(LocalScaler::BoxCox) {
        return Err(ExplanationError::ExplainedCurve.into());
    }
    let shown = options.h.unwrap_or(trained.h());
    let h = trained.steps_forecast(shown);
    let asked = PredictOptions::new().future(options.future).h(h);
    let blocks = blocks_ahead(trained, panel, &asked, AskedQuantiles::default())?;
    check_explain(trained, panel, &models, h, options.method)?;
    let mut frame = blocks.joined_ahead(|panel, scaled, future| {
        let (mut part, mut levels) = (trained.frame_ahead(panel, h)?, Vec::new());
        for (model, name) in &models {
            let inputs = input_names(*model, &trained.pipeline.columns.target, panel, h);
            let mut table = ContributionTable::new(panel.n_series(), h, inputs.len());
            table.fill(trained, *model, &scaled.panel, future, options)?;
            let ContributionTable { mut baseline, mut columns, .. } = table;
            scale_back(scaled, h, &mut baseline, &mut columns);
            levels.push(ColumnLevel::Value);
            levels.extend(columns.iter().map(|_| ColumnLevel::Difference));
            part.push_forecast(ForecastColumn::baseline(&**name), baseline);
            let inputs = inputs.iter().map(|input| ForecastColumn::component(&**name, input));
            part.push_forecasts(inputs.zip(columns));
        }
        Ok((part, levels))
    })?;
    frame.keep_first_steps(h, shown);
    Ok(frame)
}

/// Whether the contributions to `h` steps of each series can be computed and held in memory: a column for each input.
fn check_explain(
    trained: &TrainedModels,
    panel: &Panel,
    models: &[Explained<'_>],
    h: usize,
    method: Attribution,
) -> Result<(), Error> {
    /// The bytes of a name of a column.
    const NAME: u64 = 64;
    let columns = |(model, _): &Explained<'_>| {
        let inputs = inputs_of(*model, &trained.pipeline.columns.target, h).len();
        1 + if model.estimator().needs().is_joint { inputs.saturating_mul(panel.n_series()) } else { inputs }
    };
    let columns = models.iter().map(columns).fold(0, usize::saturating_add);
    // One model after the other.
    let needs = |(model, _): &Explained<'_>| {
        model.contribution_memory(panel.n_series(), h, method, trained.workers.threads())
    };
    let largest = models.iter().map(needs).max_by_key(MemoryEstimate::total).unwrap_or_default();
    // As they are computed, and as columns.
    let rows = panel.n_series().saturating_mul(h);
    let needs = panels(panel, 0)
        .and("names of columns", NAME.saturating_mul(columns as u64))
        .and_all(largest)
        .and_all(forecasts(rows, columns.saturating_mul(2)));
    let remedy = "explain fewer series, steps or models at a time";
    Ok(needs.check(&trained.memory, "explaining forecasts", remedy)?)
}

/// The contributions to the forecasts of one model, a row per series and step.
struct ContributionTable {
    h: usize,
    /// `[series * h]`.
    baseline: Vec<f32>,
    /// `[series * h]` of each input.
    columns: Vec<Vec<f32>>,
}

impl ContributionTable {
    fn new(series: usize, h: usize, inputs: usize) -> Self {
        let rows = vec![0.0; series * h];
        Self { h, columns: vec![rows.clone(); inputs], baseline: rows }
    }

    /// Explains each horizon by the inputs that the model reads for it: forecasts before it are among these, as known values.
    fn fill(
        &mut self,
        trained: &TrainedModels,
        model: &dyn Trained,
        panel: &Panel,
        future: Option<&Future>,
        options: &ExplainOptions<'_>,
    ) -> Result<(), Error> {
        let asked = (options.method, options.output);
        let attribute = |panel: &Panel, future: Option<&Future>, h: usize| {
            let found = model.contributions(panel, future, h, asked, &trained.workers);
            let found = found.expect("a model with inputs has contributions")?;
            check_wanted().map(|()| found)
        };
        let (own, h) = (trained.h(), self.h);
        if h == own || model.reaches_any_horizon() {
            self.take(&attribute(panel, future, h)?, 0, 0..h);
            return Ok(());
        }
        each_horizon(trained, model, panel, future, h, |horizon| {
            self.take(&attribute(horizon.panel, horizon.future, own)?, horizon.had, horizon.new.clone());
            Ok(None)
        })
    }

    /// Takes the rows of `steps`, which those of each series in `windows` end with, after the first `had`.
    fn take(&mut self, windows: &[Contributions], had: usize, steps: Range<usize>) {
        let (inputs, own) = (self.columns.len(), had + steps.len());
        let rows =
            windows.iter().flat_map(|window| window.baseline.iter().zip(window.values.chunks_exact(inputs)));
        for (row, (baseline, values)) in rows.enumerate().filter(|(row, _)| row % own >= had) {
            let place = row / own * self.h + steps.start + row % own - had;
            self.baseline[place] = *baseline;
            self.columns.iter_mut().zip(values).for_each(|(column, value)| column[place] = *value);
        }
    }
}

/// A model whose inputs have contributions, with the name of its column.
type Explained<'a> = (&'a dyn Trained, String);

/// The names of the inputs of a model.
fn inputs_of(model: &dyn Trained, target: &str, h: usize) -> Vec<String> {
    model.attributed_inputs(target, h).unwrap_or_default()
}

/// The models whose inputs have contributions and whose columns have these names, or all.
fn explained<'a>(trained: &'a TrainedModels, models: &[String]) -> Result<Vec<Explained<'a>>, Error> {
    let (target, h) = (&trained.pipeline.columns.target, trained.h());
    let named = trained.named().map(|(model, name)| (model.trained(), name));
    let mut explained: Vec<Explained<'a>> =
        named.filter(|(model, _)| model.attributed_inputs(target, h).is_some()).collect();
    let known: Vec<&str> = explained.iter().map(|(_, name)| name.as_str()).collect();
    let known = match known.is_empty() {
        true => "no model here is one of them".to_owned(),
        false => format!("those here are: {}", known.join(", ")),
    };
    let refuse = |found: String| Err(ExplanationError::NotExplained { found, known }.into());
    if let Some(found) = models.iter().find(|asked| explained.iter().all(|(_, name)| name != *asked)) {
        return refuse(found.clone());
    }
    explained.retain(|(_, name)| models.is_empty() || models.contains(name));
    match explained.is_empty() {
        true => refuse(trained.column_names().join(", ")),
        false => Ok(explained),
    }
}

/// The names of the inputs of a model, those of several series with the series in front.
fn input_names(model: &dyn Trained, target: &str, panel: &Panel, h: usize) -> Vec<String> {
    let names = inputs_of(model, target, h);
    match model.estimator().needs().is_joint {
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
