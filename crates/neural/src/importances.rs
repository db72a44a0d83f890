//! Feature importances: the weights of columns and steps behind forecasts.

use foretell_infer::ExplanationSum;
use foretell_nn::{Explanation, Tensor, Variable, VariableWeights};
use serde::{Serialize, Serializer};

use crate::spec::NetworkSpec;
use crate::trained_network::TrainedNetwork;

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

    /// `weights [steps, columns]` of steps from `first` on.
    fn new(first: i64, names: impl IntoIterator<Item = String>, weights: &Tensor) -> Self {
        let column = |i: usize| weights.narrow(1, i, 1).to_vec();
        let columns = names.into_iter().enumerate().map(|(i, name)| (name, column(i))).collect();
        Self { steps: (first..).take(weights.shape()[0]).collect(), columns }
    }
}

fn as_object<V: Serialize, S: Serializer>(columns: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().map(|(name, value)| (name, value)))
}

impl TrainedNetwork {
    /// The weights behind the forecasts that were added to `sum` ([`TrainedNetwork::explain`]), under the name of the network's
    /// column; nothing if there were none.
    pub fn importances(&self, name: String, sum: ExplanationSum) -> Option<FeatureImportances> {
        let series = sum.rows();
        Some(named(&self.spec, name, series, sum.mean()?))
    }
}

/// A mean explanation with the names of columns.
fn named(spec: &NetworkSpec, name: String, series: usize, mean: Explanation) -> FeatureImportances {
    let names = |variables: &[Variable]| -> Vec<String> {
        let targets = variables.iter().filter(|variable| matches!(variable, Variable::Target(_))).count();
        let name = |variable: &Variable| match *variable {
            Variable::Hist(i) => spec.hist_exog_list()[i].clone(),
            Variable::Futr(i) => spec.futr_exog_list()[i].clone(),
            Variable::Stat(i) => spec.stat_exog_list()[i].clone(),
            Variable::Target(_) if targets == 1 => "observed_target".to_owned(),
            Variable::Target(i) => format!("observed_target_{}", i + 1),
            Variable::LastTarget => "repeated_target".to_owned(),
        };
        variables.iter().map(name).collect()
    };
    let first = 1 - spec.input_size() as i64;
    let by_step =
        |first: i64, part: VariableWeights| StepWeights::new(first, names(&part.variables), &part.weights);
    let Explanation { past, future, fixed, attention } = mean;
    let fixed = fixed.map(|part| names(&part.variables).into_iter().zip(part.weights.to_vec()).collect());
    let future = future.filter(|part| part.variables != [Variable::LastTarget]);
    let attention = attention.map(|weights| {
        let steps = (first..).take(weights.shape()[0]).map(|step| step.to_string());
        StepWeights::new(first, steps, &weights)
    });
    FeatureImportances {
        model: name,
        series,
        past: past.map(|part| by_step(first, part)),
        future: future.map(|part| by_step(1, part)),
        fixed: fixed.unwrap_or_default(),
        attention,
    }
}
