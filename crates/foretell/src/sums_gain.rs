//! What reconciliation gains, by the forecasts of the past that it weighs series by.

use std::fmt;

use foretell_data::ForecastTable;
use foretell_hierarchy::Reconciliation;
use serde::Serialize;

use crate::error::Error;
use crate::fitted::Fitted;
use crate::hierarchies::reconcile::{ReconcileOptions, reconcile};

/// The errors of a model's forecasts of the past, each as a share of the values of all series, sums included.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SumsGain {
    /// The column of the model.
    pub model: String,
    /// As the model forecasts each series.
    pub alone: f64,
    /// With the forecasts of the bottom added up.
    pub bottom_up: f64,
    /// By the method of the models, whose weights these errors give.
    pub reconciled: f64,
}

impl fmt::Display for SumsGain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, alone, bottom_up, reconciled } = self;
        let [alone, bottom_up, reconciled] = [alone, bottom_up, reconciled].map(|share| 100.0 * share);
        write!(
            f,
            "{model} misses {reconciled:.2} % of the last values, {bottom_up:.2} % by BottomUp, {alone:.2} % if nothing adds up"
        )
    }
}

impl Fitted {
    /// What the reconciliation of models that keep a hierarchy gains in the forecasts of the past that weigh its series: of methods that
    /// weigh by errors; nothing of others.
    ///
    /// # Errors
    /// Those of a reconciliation.
    pub fn sums_gain(&self) -> Result<Vec<SumsGain>, Error> {
        let Some(coherence) = &self.trained.pipeline.coherence else { return Ok(Vec::new()) };
        let Some(past) = coherence.past() else { return Ok(Vec::new()) };
        let (columns, past) = (&self.trained.pipeline.columns, ForecastTable::of_frame(past.clone()));
        let by = |method| {
            let options = ReconcileOptions::new(method).residuals(&past);
            reconcile(&past, &coherence.hierarchy, columns, &options)
        };
        let tables = [by(Reconciliation::BottomUp)?, by(coherence.method)?];
        let of_model = |model: &foretell_tables::ModelInTable| {
            let (name, _) = &past.columns[model.number?];
            let share = |table: &ForecastTable| error_share(table, name, &columns.target);
            Some(SumsGain {
                model: name.clone(),
                alone: share(&past)?,
                bottom_up: share(&tables[0])?,
                reconciled: share(&tables[1])?,
            })
        };
        Ok(past.models(&columns.target).iter().filter_map(of_model).collect())
    }
}

/// The sum of absolute errors of a column, as a share of that of the values.
fn error_share(table: &ForecastTable, column: &str, target: &str) -> Option<f64> {
    let (forecast, y) = (table.column(column).ok()?, table.column(target).ok()?);
    let known = || forecast.iter().zip(y).filter(|(forecast, y)| forecast.is_finite() && y.is_finite());
    let size: f64 = known().map(|(_, y)| y.abs()).sum();
    (size > 0.0).then(|| known().map(|(forecast, y)| (forecast - y).abs()).sum::<f64>() / size)
}
