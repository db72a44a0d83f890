//! Models that are named: trained, kept, forecast with, judged.

use foretell::evaluate::{Metric, ScoreBy};
use foretell::{
    DataError, DecomposeOptions, Fitted, Forecaster, Future, Intervals, LocalScaler, PredictOptions,
    StepSettings, ValidationOptions, ValidationScores, usual_season,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::archive;
use crate::evaluation::scores;
use crate::kept::{Heard, Kept, warnings};
use crate::kept_asked::KeptAsked;
use crate::refusal::Refusal;
use crate::series::{Read, Series, Tables};
use crate::specs::Models;
use crate::table::table;

/// What is trained, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FitAsked {
    tables: Tables,
    models: Models,
    h: Option<usize>,
    input_size: Option<usize>,
    season: Option<usize>,
    val_size: usize,
    intervals: Option<String>,
    local_scaler: Option<String>,
    kept: KeptAsked,
    step: StepSettings,
}

/// What is forecast, or taken apart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PredictAsked {
    model: u32,
    tables: Tables,
    h: Option<usize>,
    levels: Vec<f64>,
    quantiles: Vec<f64>,
}

/// Models that are kept, the data that they forecast, and what is known ahead of these.
struct Ahead {
    fitted: Fitted,
    series: Series,
    h: usize,
    future: Option<Future>,
    /// What the models warn of.
    heard: Heard,
}

/// Which windows are forecast.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ValidationAsked {
    training: FitAsked,
    n_windows: usize,
    step_size: Option<usize>,
    refit: usize,
    levels: Vec<f64>,
    quantiles: Vec<f64>,
    metrics: Vec<String>,
}

impl Default for ValidationAsked {
    fn default() -> Self {
        Self {
            training: FitAsked::default(),
            n_windows: 1,
            step_size: None,
            refit: 0,
            levels: Vec::new(),
            quantiles: Vec::new(),
            metrics: Vec::new(),
        }
    }
}

/// Which values are judged.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AnomaliesAsked {
    training: FitAsked,
    n_windows: usize,
    step_size: Option<usize>,
    level: f64,
}

impl Default for AnomaliesAsked {
    fn default() -> Self {
        Self { training: FitAsked::default(), n_windows: 4, step_size: None, level: 99.0 }
    }
}

/// Models before training, and the series to train them on.
struct Training {
    forecaster: Forecaster,
    series: Series,
    heard: Heard,
}

impl Kept {
    /// Reads the series, and makes the models.
    fn training(&self, asked: FitAsked, bytes: &[u8]) -> Result<Training, Refusal> {
        let specs = asked.models.specs(asked.h, asked.input_size, asked.season)?;
        let forecaster = Forecaster::new(specs)?;
        let read = Read {
            columns: Some(forecaster.columns_read()),
            categories: forecaster.categories(),
            ..Read::new(self.most(), bytes)
        };
        let series = asked.tables.read(read)?;
        let (forecaster, heard) = self.prepared(forecaster, &series, asked.kept, asked.step);
        let mut forecaster = forecaster.val_size(asked.val_size);
        if let Some(text) = asked.intervals {
            forecaster = forecaster.intervals(text.parse::<Intervals>()?);
        }
        if let Some(name) = asked.local_scaler {
            forecaster = forecaster.local_scaler(name.parse::<LocalScaler>().map_err(DataError::from)?);
        }
        Ok(Training { forecaster, series, heard })
    }

    /// Trains models and keeps them.
    pub(crate) fn fit(&mut self, asked: FitAsked, bytes: &[u8]) -> Result<Value, Refusal> {
        let Training { forecaster, series, heard } = self.training(asked, bytes)?;
        let fitted = forecaster.fit(&series.panel)?;
        Ok(self.told_of(fitted, series.told_with(&heard)))
    }

    /// What the package knows of a model that is kept.
    fn told_of(&mut self, fitted: Fitted, told: Vec<String>) -> Value {
        let about = json!({
            "h": fitted.h(), "freq": fitted.freq().to_string(), "columns": fitted.column_names(),
            "reads": fitted.columns_read(), "readsAhead": fitted.future_columns(), "interrupted": fitted.interrupted(),
        });
        json!({ "model": self.keep(fitted), "about": about, "told": told })
    }

    /// What a forecast with models that are kept is made of.
    fn ahead(&self, model: u32, tables: Tables, h: Option<usize>, bytes: &[u8]) -> Result<Ahead, Refusal> {
        let (listener, heard) = warnings();
        let most = self.most();
        let fitted = self.model(model)?.clone().threads(most.threads)?;
        let fitted = fitted.max_memory(most.memory).on_warning(listener);
        let series = tables.read(Read { fitted: Some(&fitted), ..Read::new(most, bytes) })?;
        let h = h.unwrap_or(fitted.h());
        let future = series.future(h.max(fitted.h()))?;
        Ok(Ahead { fitted, series, h, future, heard })
    }

    /// Forecasts with models that are kept.
    pub(crate) fn predict(&self, asked: PredictAsked, bytes: &[u8]) -> Result<Value, Refusal> {
        let Ahead { fitted, series, future, heard, .. } =
            self.ahead(asked.model, asked.tables, asked.h, bytes)?;
        let mut options =
            PredictOptions::new().future(future.as_ref()).level(&asked.levels).quantiles(&asked.quantiles);
        options.h = asked.h;
        Ok(series.answer(&fitted.predict_with(&series.panel, &options)?, &heard))
    }

    /// The parts of the forecasts of models that are kept.
    pub(crate) fn decompose(&self, asked: PredictAsked, bytes: &[u8]) -> Result<Value, Refusal> {
        let Ahead { fitted, series, h, future, heard } =
            self.ahead(asked.model, asked.tables, asked.h, bytes)?;
        let options = DecomposeOptions::new().future(future.as_ref()).h(h);
        Ok(series.answer(&fitted.decompose(&series.panel, &options)?, &heard))
    }

    /// Forecasts the ends of series by models that have not seen them, and scores that.
    pub(crate) fn cross_validate(&self, asked: ValidationAsked, bytes: &[u8]) -> Result<Value, Refusal> {
        let season = asked.training.season;
        let Training { forecaster, series, heard } = self.training(asked.training, bytes)?;
        let options = ValidationOptions::new(asked.n_windows, asked.step_size.unwrap_or(forecaster.h()))
            .refit(asked.refit)
            .level(&asked.levels)
            .quantiles(&asked.quantiles);
        let validation = forecaster.cross_validate(&series.panel, &options)?;
        let names = match asked.metrics.is_empty() {
            true => ["mae", "rmse", "smape", "mase"].map(str::to_owned).to_vec(),
            false => asked.metrics,
        };
        let metrics = names.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>()?;
        let by = ValidationScores::new(season.unwrap_or_else(|| usual_season(series.panel.freq())));
        let scored = validation.scores(&series.panel, &metrics, ScoreBy::All, &by)?;
        let table = table(&validation.frame, &series.names().target);
        Ok(json!({ "table": table, "scores": scores(&scored), "told": series.told_with(&heard) }))
    }

    /// Marks the values outside of the intervals of models that have not seen them.
    pub(crate) fn anomalies(&self, asked: AnomaliesAsked, bytes: &[u8]) -> Result<Value, Refusal> {
        let Training { forecaster, series, heard } = self.training(asked.training, bytes)?;
        let step = asked.step_size.unwrap_or(forecaster.h());
        let options = ValidationOptions::new(asked.n_windows, step).refit_without_steps(false);
        let (frame, _) = forecaster.anomalies(&series.panel, &options, asked.level)?;
        Ok(series.answer(&frame, &heard))
    }

    /// Keeps the models of an archive.
    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<Value, Refusal> {
        let fitted = archive::read(bytes)?;
        Ok(self.told_of(fitted, Vec::new()))
    }

    /// The archive of models that are kept.
    pub(crate) fn save(&self, model: u32) -> Result<Vec<u8>, Refusal> {
        archive::write(self.model(model)?)
    }
}
