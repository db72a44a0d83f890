//! Feature importances: the weights of columns and steps behind forecasts.

use foretell_data::{Future, Panel};
use foretell_threads::Workers;
use serde::{Serialize, Serializer};

use crate::error::EstimatorError;

/// The weights of columns and steps behind one model's forecasts of a panel: means over its series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatureImportances {
    /// The name of the model's column in forecasts.
    pub model: String,
    /// The series that the weights are means over.
    pub series: usize,
    /// The weights of the columns, and of the target (`observed_target`), at each step of the history; at each they add up to 1.
    /// Where a model has no column of the future, it reads the last value of the target as one, `repeated_target`.
    pub past: Option<StepWeights>,
    /// The weights of the columns of the future, at each step of the horizon; nothing where there are none.
    pub future: Option<StepWeights>,
    /// The weights of the static columns, which add up to 1; none where there are none.
    #[serde(rename = "static", serialize_with = "as_object")]
    pub fixed: Vec<(String, f32)>,
    /// How much each step, of the history and the horizon, reads of each: the mean over the heads of the attention. A column is
    /// named by the step that is read, a row is of the step that reads; a step reads none after itself.
    pub attention: Option<StepWeights>,
}

/// Weights of several things at each of several steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepWeights {
    /// The steps, one a row, counted from the last one of the history, which is 0; the first of the horizon is 1.
    pub steps: Vec<i64>,
    /// Columns with their names, each of one weight a step.
    #[serde(serialize_with = "as_object")]
    pub columns: Vec<(String, Vec<f32>)>,
}

impl StepWeights {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&[f32]> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, weights)| &weights[..])
    }

    /// The mean of each column over those of the steps that are from `first` on.
    pub fn means_from(&self, first: i64) -> Vec<(&str, f32)> {
        let rows: Vec<usize> = (0..self.steps.len()).filter(|&row| self.steps[row] >= first).collect();
        let mean = |weights: &[f32]| {
            rows.iter().map(|&row| f64::from(weights[row])).sum::<f64>() / rows.len().max(1) as f64
        };
        self.columns.iter().map(|(name, weights)| (name.as_str(), mean(weights) as f32)).collect()
    }
}

fn as_object<V: Serialize, S: Serializer>(columns: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().map(|(name, value)| (name, value)))
}

/// The weights behind forecasts, gathered from one block of series after the other.
pub trait ImportanceSum {
    /// Adds those of the forecasts of the steps after each series.
    ///
    /// # Errors
    /// As [`Trained::forecast`](crate::Trained::forecast).
    fn add(
        &mut self,
        panel: &Panel,
        future: Option<&Future>,
        workers: &Workers,
    ) -> Result<(), EstimatorError>;

    /// Their means, under the name of the model's column; nothing if no series was added.
    fn mean(self: Box<Self>, model: String) -> Option<FeatureImportances>;
}
