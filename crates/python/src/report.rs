//! A report on forecasts as one page of HTML.

use foretell::report::{Report, ScoreSheet, ScoredBy};
use foretell::{Frame, Value, refuse_sample_paths, usual_season};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;
use crate::evaluation::table_of;
use crate::fitted::PyFitted;
use crate::panel::PyPanel;
use crate::told::Told;

/// Scores: what they are by (`all`, `step`, `cutoff` or `series`), their models, and rows of a key, a metric and a score of each model.
pub(crate) type ScoreRows = (String, Vec<String>, Vec<(String, String, Vec<f64>)>);

/// What is told beside the forecasts.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReportArguments {
    title: Option<String>,
    /// What the data are called.
    data: String,
    /// The unit of the values.
    unit: Option<String>,
    /// The model that errors are told relative to.
    baseline: Option<String>,
    /// Steps of a season, for mase.
    season: Option<usize>,
    /// Steps of each series' end to draw.
    last: Option<usize>,
    /// The weights behind forecasts, as `Fitted.feature_importances` has them.
    importances: Option<String>,
}

/// The page that tells of forecasts of these series: they and further forecasts beside what came true (`validations`) are drawn and,
/// with the tables of scores, told how good they are.
#[pyfunction]
#[pyo3(signature = (panel, forecast, validations, scores, told, fitted = None))]
pub(crate) fn report(
    panel: &PyPanel,
    forecast: &Bound<'_, PyAny>,
    validations: Vec<Bound<'_, PyAny>>,
    scores: Vec<ScoreRows>,
    told: ReportArguments,
    fitted: Option<&PyFitted>,
) -> PyResult<String> {
    let frame = frame_of(panel, forecast)?;
    let beside = validations.iter().map(|table| frame_of(panel, table)).collect::<PyResult<Vec<_>>>()?;
    let mut sheets = scores.into_iter().map(sheet).collect::<PyResult<Vec<_>>>()?;
    let importances = told.importances.as_deref().map(importances).transpose()?.unwrap_or_default();
    let warnings = Told::default();
    let write = || -> PyResult<String> {
        let target = &panel.options.target_col;
        let season = told.season.unwrap_or_else(|| usual_season(panel.panel.freq()));
        let scored = |frame: &Frame| foretell::report::scored(frame, &panel.panel, target, season);
        for table in &beside {
            sheets.extend(scored(table).map_err(exception)?);
        }
        let mut notes = Vec::new();
        if let Some(apart) =
            foretell::report::forecasts_apart(&panel.panel, &frame, 0..panel.panel.n_series())
        {
            warnings.add(apart.to_string());
            notes.push(format!("Beware: {apart}."));
        }
        if sheets.is_empty() {
            sheets = scored(&frame).map_err(exception)?;
        }
        if sheets.is_empty() {
            notes.push("None of the forecasts has come true, so there are no scores.".to_owned());
        }
        let baseline = foretell::report::baseline(&sheets, told.baseline.as_deref());
        let baseline = baseline.map_err(|error| PyValueError::new_err(error.to_string()))?;
        foretell::report::check_series(&panel.panel, &frame)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let contents = fitted.map(|models| models.fitted.contents()).transpose().map_err(exception)?;
        let tables: Vec<&Frame> = std::iter::once(&frame).chain(&beside).collect();
        let asked = foretell::report::AnswerInputs {
            panel: &panel.panel,
            frame: &frame,
            target,
            unit: told.unit.as_deref(),
            scores: &sheets,
            baseline: baseline.as_deref(),
            hierarchy: fitted.and_then(|models| models.fitted.hierarchy()).map(|(hierarchy, _)| hierarchy),
        };
        let report = Report {
            answer: foretell::report::answer(&asked),
            scores_of: Vec::new(),
            title: told.title.unwrap_or_else(|| format!("Forecasts of {target}")),
            facts: foretell::report::facts(&told.data, &models(&frame, target), &panel.panel, &frame),
            notes,
            baseline,
            scores: sheets,
            importances,
            settings: contents.as_ref().map(foretell::report::settings).unwrap_or_default(),
            commands: Vec::new(),
            charts: foretell::report::charts(&panel.panel, &tables, target, told.last),
        };
        let mut page = Vec::new();
        report.write(&mut page)?;
        Ok(String::from_utf8(page)?)
    };
    let page = forecast.py().detach(write)?;
    warnings.tell(forecast.py())?;
    Ok(page)
}

fn frame_of(panel: &PyPanel, table: &Bound<'_, PyAny>) -> PyResult<Frame> {
    let options = &panel.options;
    let time = options.time_col.clone().unwrap_or_default();
    let names = (options.id_col.clone(), time, options.target_col.clone());
    let frame = table_of(table, &names)?.into_frame(options, panel.panel.freq()).map_err(exception)?;
    refuse_sample_paths(&frame, "the table of forecasts").map_err(exception)?;
    match models(&frame, &names.2).is_empty() {
        false => Ok(frame),
        true => Err(PyValueError::new_err(format!(
            "expected a table of forecasts, with a column for each model beside {}; found none",
            names.2
        ))),
    }
}

/// The models of a table of forecasts, in words.
fn models(frame: &Frame, target: &str) -> String {
    let models = foretell::report::drawn_models(frame, target);
    models.iter().map(|model| &*model.model).collect::<Vec<_>>().join(", ")
}

fn sheet((by, models, rows): ScoreRows) -> PyResult<ScoreSheet> {
    let by = match &*by {
        "all" => ScoredBy::All,
        "step" => ScoredBy::Step,
        "cutoff" => ScoredBy::Cutoff,
        "series" => ScoredBy::Series,
        other => {
            return Err(PyValueError::new_err(format!(
                "expected scores by all, step, cutoff or series, found {other}"
            )));
        }
    };
    if let Some((key, metric, scores)) = rows.iter().find(|(_, _, scores)| scores.len() != models.len()) {
        let (found, expected) = (scores.len(), models.len());
        return Err(PyValueError::new_err(format!(
            "expected {expected} scores, one for each model ({}), in the row of {metric} {key}; found {found}",
            models.join(", ")
        )));
    }
    ScoreSheet::of_rows(by, models, rows).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn importances(text: &str) -> PyResult<Vec<foretell::report::Importances>> {
    let weights = serde_json::from_str::<Value>(text).ok();
    weights.as_ref().and_then(foretell::report::importances).ok_or_else(|| {
        PyValueError::new_err("importances: expected what NeuralForecast.feature_importances returns")
    })
}
