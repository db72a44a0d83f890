//! Feature importances of networks: the weights behind their forecasts, with the names of columns.

use foretell_estimator::{FeatureImportances, StepWeights};
use foretell_nn::{Explanation, Tensor, Variable, VariableWeights};

use crate::spec::NetworkSpec;

/// `weights [steps, columns]` of steps from `first` on.
fn step_weights(first: i64, names: impl IntoIterator<Item = String>, weights: &Tensor) -> StepWeights {
    let column = |i: usize| weights.narrow(1, i, 1).to_vec();
    let columns = names.into_iter().enumerate().map(|(i, name)| (name, column(i))).collect();
    StepWeights { steps: (first..).take(weights.shape()[0]).collect(), columns }
}

/// A mean explanation with the names of columns.
pub(crate) fn named(
    spec: &NetworkSpec,
    name: String,
    series: usize,
    mean: Explanation,
) -> FeatureImportances {
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
        |first: i64, part: VariableWeights| step_weights(first, names(&part.variables), &part.weights);
    let Explanation { past, future, fixed, attention } = mean;
    let fixed = fixed.map(|part| names(&part.variables).into_iter().zip(part.weights.to_vec()).collect());
    let future = future.filter(|part| part.variables != [Variable::LastTarget]);
    let attention = attention.map(|weights| {
        let steps = (first..).take(weights.shape()[0]).map(|step| step.to_string());
        step_weights(first, steps, &weights)
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
