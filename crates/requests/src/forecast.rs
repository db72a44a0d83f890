//! `forecast`: the best forecast of series, as the command line's `foretell forecast`.

use foretell::report::SearchInputs;
use foretell::{
    Fitted, Forecaster, Frame, PredictOptions, StepSettings, statics_and_texts, texts_not_read, usual_season,
};
use foretell_auto::{Auto, BASELINE, Board, QUANTILES, TrainedAuto};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kept::Kept;
use crate::kept_asked::KeptAsked;
use crate::refusal::Refusal;
use crate::series::{Read, Series, Tables};
use crate::table::table;

/// What a forecast is asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Asked {
    tables: Tables,
    h: Option<usize>,
    season: Value,
    levels: Vec<f64>,
    quantiles: Vec<f64>,
    models: Option<Vec<String>>,
    budget: Option<Value>,
    metric: Option<String>,
    ensemble: Option<bool>,
    hist: Vec<String>,
    categories: Vec<String>,
    kept: KeptAsked,
    step: StepSettings,
    /// Whether the models are kept, for `predict` and `save`.
    keep: bool,
    /// Whether a report is wanted beside the answer.
    report: bool,
}

impl Kept {
    /// The answer: the table of the forecast, the leaderboard, and what was done in the caller's stead; beside it the report, if one is
    /// wanted.
    pub(crate) fn forecast(&mut self, asked: Asked, bytes: &[u8]) -> Result<(Value, Vec<u8>), Refusal> {
        let (categories, hist) = (asked.categories.clone(), asked.hist.clone());
        let read = Read { categories, hist, ..Read::new(self.most(), bytes) };
        let series = asked.tables.clone().read(read)?;
        let mut told = series.told.clone();
        let h = match asked.h {
            Some(h) => h,
            None => {
                let season = usual_season(series.panel.freq());
                if season < 2 || 3 * season > series.panel.max_len() {
                    return Err(Refusal::request(
                        "h",
                        "h is missing: how many steps to forecast, as { h: 14 }",
                    ));
                }
                told.push(format!(
                    "forecasting {season} steps, a season of the frequency; h says how many others"
                ));
                season
            }
        };
        let future = series.future(h)?;
        let (statics, texts) = statics_and_texts(series.statics.clone(), &asked.categories, &series.panel);
        told.extend(
            texts_not_read(&texts, &series.panel)
                .map(|told| format!("{told}; categories names those that are read")),
        );
        let mut auto = Auto::new(h);
        for (name, value) in [
            ("futr_exog_list", json!(series.known_ahead)),
            ("hist_exog_list", json!(asked.hist)),
            ("stat_exog_list", json!(statics)),
            ("cat_exog_list", json!(asked.categories)),
        ] {
            auto = auto.with(name, value)?;
        }
        for (name, value) in [
            ("h", Some(json!(h))),
            ("season_length", Some(asked.season).filter(|season| !season.is_null())),
            ("models", asked.models.map(Value::from)),
            ("budget", asked.budget),
            ("metric", asked.metric.map(Value::from)),
            ("ensemble", asked.ensemble.map(Value::from)),
        ] {
            if let Some(value) = value {
                auto = auto.with(name, value)?;
            }
        }
        let forecaster = Forecaster::new([auto.into()])?;
        let (forecaster, heard) = self.prepared(forecaster, &series, asked.kept, asked.step);
        let fitted = forecaster.fit(&series.panel)?;
        let board = TrainedAuto::board_of(&fitted).unwrap_or_default();
        let quantiles = match asked.levels.is_empty() && asked.quantiles.is_empty() {
            true => &QUANTILES[..],
            false => &asked.quantiles[..],
        };
        let options = PredictOptions::new().future(future.as_ref()).level(&asked.levels).quantiles(quantiles);
        let frame = fitted.predict_with(&series.panel, &options)?;
        told.extend(heard.take());
        let target = series.names().target;
        let page = match asked.report {
            true => report(&series, &frame, &fitted, &board)?,
            false => Vec::new(),
        };
        let model = asked.keep.then(|| self.keep(fitted));
        let answer = json!({ "table": table(&frame, &target), "board": board.to_json(), "told": told, "model": model });
        Ok((answer, page))
    }
}

/// The report on a forecast, as HTML.
fn report(series: &Series, frame: &Frame, fitted: &Fitted, board: &Board) -> Result<Vec<u8>, Refusal> {
    let searched = SearchInputs {
        data: &series.name,
        forecast: &fitted.column_names().join(", "),
        panel: &series.panel,
        frame,
        target: &series.names().target,
        models: board.rows.iter().map(|row| row.model.clone()).collect(),
        scores: board.scores(),
        baseline: BASELINE,
        notes: board.notes(),
        commands: Vec::new(),
    };
    let mut page = Vec::new();
    let written = searched.report()?.write(&mut page);
    written.map_err(|error| Refusal::request("report", error.to_string()))?;
    Ok(page)
}
