//! The rows of a table of forecasts by series and time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foretell_data::ForecastTable;
use foretell_hierarchy::Hierarchy;

use crate::reconciliation_error::ReconciliationError;

/// Where the row of each series of a hierarchy and of each forecast time stands in a table.
pub(super) struct Grid<'a> {
    table: &'a ForecastTable,
    ids: Vec<&'a Arc<str>>,
    /// Cutoff and time, sorted; without cutoffs all are of one.
    pub(super) times: Vec<(i64, i64)>,
    /// `[series, times]`; nothing where there is no row.
    rows: Vec<Option<usize>>,
}

impl<'a> Grid<'a> {
    /// The rows of a table; series that are not read may be missing.
    pub(super) fn new(
        table: &'a ForecastTable,
        hierarchy: &'a Hierarchy,
        is_read: &[bool],
    ) -> Result<Self, ReconciliationError> {
        let file = || table.file.to_string();
        let shown = |time: i64| table.kind.display_in(table.zone.as_ref(), time);
        let ids: Vec<&Arc<str>> = hierarchy.ids().collect();
        let numbers: HashMap<&str, usize> =
            ids.iter().enumerate().map(|(number, id)| (&***id, number)).collect();
        let cutoff = |row: usize| table.cutoffs.as_ref().map_or(i64::MIN, |cutoffs| cutoffs[row]);
        let key = |row: usize| (cutoff(row), table.times[row]);
        let mut places: BTreeMap<(i64, i64), usize> = (0..table.ids.len()).map(|row| (key(row), 0)).collect();
        places.values_mut().enumerate().for_each(|(place, value)| *value = place);
        let mut rows = vec![None; ids.len() * places.len()];
        for (row, id) in table.ids.iter().enumerate() {
            let id = &**id;
            let number = numbers
                .get(id)
                .ok_or_else(|| ReconciliationError::OtherSeries { file: file(), id: id.to_owned() })?;
            let place = &mut rows[number * places.len() + places[&key(row)]];
            if place.replace(row).is_some() {
                let time = shown(table.times[row]);
                return Err(ReconciliationError::TwoRows { file: file(), id: id.to_owned(), time });
            }
        }
        let times: Vec<(i64, i64)> = places.into_keys().collect();
        for (number, rows) in rows.chunks_exact(times.len().max(1)).enumerate() {
            let missing = rows.iter().position(Option::is_none);
            let all_missing = || !is_read[number] && rows.iter().all(Option::is_none);
            if let Some(place) = missing.filter(|_| !all_missing()) {
                let (id, time) = (ids[number].to_string(), shown(times[place].1));
                return Err(match number < hierarchy.n_aggregates() {
                    true => ReconciliationError::NoAggregate { file: file(), id, time },
                    false => ReconciliationError::NoSeries { file: file(), id, time },
                });
            }
        }
        Ok(Self { table, ids, times, rows })
    }

    /// The values of a column, `[series, times]`; NaN where there is no row.
    pub(super) fn values(&self, column: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| row.map_or(f64::NAN, |row| column[row])).collect()
    }

    /// The same, all of which are known but those of missing rows.
    pub(super) fn known_values(&self, name: &str, column: &[f64]) -> Result<Vec<f64>, ReconciliationError> {
        self.checked(name, self.values(column))
    }

    /// These values of a column, all of which are known but those of missing rows.
    pub(super) fn checked(&self, name: &str, values: Vec<f64>) -> Result<Vec<f64>, ReconciliationError> {
        let unknown =
            self.rows.iter().zip(&values).position(|(row, value)| row.is_some() && !value.is_finite());
        match unknown {
            None => Ok(values),
            Some(place) => {
                let (number, place) = (place / self.times.len(), place % self.times.len());
                let (_, time) = self.times[place];
                Err(ReconciliationError::Unknown {
                    file: self.table.file.to_string(),
                    column: name.to_owned(),
                    id: self.ids[number].to_string(),
                    time: self.table.kind.display_in(self.table.zone.as_ref(), time),
                })
            }
        }
    }

    /// A table with the same times and these columns `[series, times]`: rows by series, cutoff and time.
    pub(super) fn with_columns(&self, columns: Vec<(String, Vec<f64>)>) -> ForecastTable {
        let all = |of: fn(&(i64, i64)) -> i64| -> Vec<i64> {
            self.ids.iter().flat_map(|_| self.times.iter().map(of)).collect()
        };
        let table = self.table;
        ForecastTable {
            file: table.file.clone(),
            ids: self
                .ids
                .iter()
                .flat_map(|id| std::iter::repeat_n((*id).clone(), self.times.len()))
                .collect(),
            integer_ids: table.integer_ids && self.ids.iter().all(|id| id.parse::<i64>().is_ok()),
            is_unnamed: table.is_unnamed,
            times: all(|(_, time)| *time),
            kind: table.kind,
            zone: table.zone.clone(),
            cutoffs: table.cutoffs.as_ref().map(|_| all(|(cutoff, _)| *cutoff)),
            columns,
            known: table.known.clone(),
            notes: table.notes.clone(),
        }
    }
}
