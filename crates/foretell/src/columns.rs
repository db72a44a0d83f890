//! What columns are called, in the data and in forecasts.

use foretell_nn::Loss;
use serde::{Deserialize, Serialize};

use crate::forecaster::Forecaster;
use crate::spec::ModelSpec;

/// What the columns of the data are called; kept with saved models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnNames {
    /// The ids of the series.
    pub id: String,
    /// The times.
    pub time: String,
    /// The values.
    pub target: String,
}

impl Default for ColumnNames {
    fn default() -> Self {
        Self { id: "unique_id".to_owned(), time: "ds".to_owned(), target: "y".to_owned() }
    }
}

impl Forecaster {
    /// The names of the models' columns, without the suffixes of their outputs.
    pub fn column_names(&self) -> Vec<String> {
        column_names(&self.specs)
    }
}

/// The names of the models' columns: their aliases, the second of the same alias with a 1, and so on.
pub(crate) fn column_names(specs: &[ModelSpec]) -> Vec<String> {
    let earlier = |i: usize| specs[..i].iter().filter(|spec| spec.alias() == specs[i].alias()).count();
    (0..specs.len())
        .map(|i| match earlier(i) {
            0 => specs[i].alias().to_owned(),
            n => format!("{}{n}", specs[i].alias()),
        })
        .collect()
}

/// The columns beside the target that models read row by row.
pub(crate) fn columns_read<'a>(specs: impl IntoIterator<Item = &'a ModelSpec>) -> Vec<String> {
    let lists = |spec: &'a ModelSpec| spec.hist_exog_list().iter().chain(spec.futr_exog_list());
    let mut names: Vec<String> = specs.into_iter().flat_map(lists).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A column of a model's forecast: what stands behind the model's name, and the quantile that it is of, if it
/// is of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    pub(crate) suffix: String,
    pub(crate) quantile: Option<f32>,
}

/// The columns of a model of this loss.
pub(crate) fn outputs(loss: &Loss) -> Vec<Output> {
    let columns = loss.suffixes().into_iter().zip(loss.column_quantiles());
    columns.map(|(suffix, quantile)| Output { suffix, quantile }).collect()
}

/// Which of a model's columns is its forecast of a single number: one that is no quantile, else the quantile
/// nearest the median.
pub(crate) fn point(outputs: &[Output]) -> usize {
    let distance = |&i: &usize| outputs[i].quantile.map_or(-1.0, |q| (q - 0.5).abs());
    (0..outputs.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}
