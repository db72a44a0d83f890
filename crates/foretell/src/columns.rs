//! The names of columns in the data and in forecasts, and the columns that models read.

use std::sync::Arc;

use foretell_checkpoint::Column;
use foretell_data::{Panel, ReadOptions, Roles};
use foretell_estimator::{ColumnsRead, Estimator};
use foretell_features::Features;
use serde::{Deserialize, Serialize};

/// The names of the data's columns; kept with saved models.
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

impl ColumnNames {
    /// Those under which tables are read with these options.
    pub fn of_reading(options: &ReadOptions) -> Self {
        Self {
            id: options.id_col.clone(),
            time: options.time_col.clone().unwrap_or_else(|| Self::default().time),
            target: options.target_col.clone(),
        }
    }

    /// The names of the columns that hold ids, times and values, where that is clear; else these.
    #[must_use]
    pub fn or_found(self, roles: &Roles) -> Self {
        match (&roles.time, &roles.target) {
            (Some(time), Some(target)) if roles.are_clear() => {
                let id = roles.id.clone().unwrap_or(self.id);
                Self { id, time: time.clone(), target: target.clone() }
            }
            _ => self,
        }
    }
}

/// The names of the models' columns: their aliases, the second of the same alias with a 1, and so on.
pub(crate) fn column_names<'a>(models: impl IntoIterator<Item = &'a dyn Estimator>) -> Vec<String> {
    let aliases: Vec<&str> = models.into_iter().map(Estimator::alias).collect();
    let earlier = |i: usize| aliases[..i].iter().filter(|alias| **alias == aliases[i]).count();
    (0..aliases.len())
        .map(|i| match earlier(i) {
            0 => aliases[i].to_owned(),
            n => format!("{}{n}", aliases[i]),
        })
        .collect()
}

/// The columns beside the target that models read row by row.
pub(crate) fn columns_read<'a>(models: impl IntoIterator<Item = &'a dyn Estimator>) -> Vec<String> {
    let columns =
        |model: &'a dyn Estimator| -> Vec<String> { model.columns_read().of_rows().cloned().collect() };
    once_each(models.into_iter().flat_map(columns))
}

/// The columns beside the target that models read of the data row by row: without those that features compute.
pub(crate) fn columns_given<'a>(
    models: impl IntoIterator<Item = &'a dyn Estimator>,
    features: &Features,
) -> Vec<String> {
    let computed = features.columns();
    columns_read(models).into_iter().filter(|column| !computed.contains(column)).collect()
}

/// The columns of categories that any of the models reads, each once.
pub(crate) fn categorical<'a>(models: impl IntoIterator<Item = &'a dyn Estimator>) -> Vec<String> {
    let columns = |model: &'a dyn Estimator| {
        let ColumnsRead { cat, .. } = model.columns_read();
        cat.iter().cloned()
    };
    once_each(models.into_iter().flat_map(columns))
}

fn once_each(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The places of a panel's series in the order of neuralforecast, which sorts whole numbers by their values.
pub(crate) fn in_order_of_ids(panel: &Panel) -> Vec<usize> {
    let mut order: Vec<usize> = (0..panel.n_series()).collect();
    if panel.has_integer_ids() {
        order.sort_by_key(|&series| panel.id(series).parse::<i64>().ok());
    }
    order
}

/// Ids of a panel as a column: whole numbers, if they are some.
pub(crate) fn column_of_ids<'a>(panel: &Panel, ids: impl Iterator<Item = &'a Arc<str>> + Clone) -> Column {
    let numbers = || ids.clone().map(|id| id.parse().ok()).collect::<Option<Vec<i64>>>();
    match Some(()).filter(|()| panel.has_integer_ids()).and_then(|()| numbers()) {
        Some(numbers) => Column::Integers(numbers),
        None => Column::Text(ids.map(ToString::to_string).collect()),
    }
}
