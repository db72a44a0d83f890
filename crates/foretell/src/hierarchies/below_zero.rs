//! Forecasts that fall below 0 where they are made to add up.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use foretell_data::ForecastTable;

use crate::kept_settings::KeptSettings;
use crate::warning::Warning;

/// Ids that are kept for the warning.
const KEPT: usize = 6;

/// The series whose forecasts are below 0 in a table that was reconciled, and in none of those before: neither forecasts nor, in any of these,
/// the actual values.
pub fn newly_below_zero(
    reconciled: &ForecastTable,
    before: &[&ForecastTable],
    target: &str,
) -> Option<Warning> {
    let below = |table: &ForecastTable, with_target: bool| -> BTreeSet<Arc<str>> {
        let models = table.models(target);
        let forecasts = models.iter().filter_map(|model| model.point()).map(|place| &table.columns[place].1);
        let actual = table.columns.iter().filter(|(name, _)| with_target && name == target);
        let columns: Vec<&Vec<f64>> = forecasts.chain(actual.map(|(_, values)| values)).collect();
        let rows = table.ids.iter().enumerate();
        let is_below = |row: usize| columns.iter().any(|values| values[row] < 0.0);
        rows.filter(|(row, _)| is_below(*row)).map(|(_, id)| id.clone()).collect()
    };
    let known: HashSet<Arc<str>> = before.iter().flat_map(|table| below(table, true)).collect();
    let new: Vec<Arc<str>> = below(reconciled, false).into_iter().filter(|id| !known.contains(id)).collect();
    let series = new.iter().take(KEPT).map(ToString::to_string).collect();
    (!new.is_empty()).then_some(Warning::ReconciledBelowZero { series, count: new.len() })
}

/// A table whose forecasts are not below 0, or whole numbers, each by itself.
pub fn bounded(mut table: ForecastTable, target: &str, non_negative: bool, integer: bool) -> ForecastTable {
    let bounds = KeptSettings { non_negative, integer, ..KeptSettings::default() };
    let models = table.models(target);
    let places = models
        .iter()
        .flat_map(|model| model.number.into_iter().chain(model.quantiles.iter().map(|(_, place)| *place)));
    for place in places.collect::<Vec<_>>() {
        table.columns[place].1.iter_mut().for_each(|value| *value = bounds.bounded(*value));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::table_of_rows::table_of_rows;
    use super::*;

    fn table(columns: &[(&str, &[f64])]) -> ForecastTable {
        table_of_rows(&[("a", 1), ("a", 2), ("b", 1), ("b", 2)], columns)
    }

    #[test]
    fn series_are_told_that_fall_below_zero_and_never_were() {
        let before = table(&[("M", &[1.0, 2.0, 3.0, 4.0])]);
        let after = table(&[("M", &[1.0, -2.0, -3.0, 4.0]), ("M-lo-80", &[-9.0; 4])]);
        let told = |before: &[&ForecastTable]| newly_below_zero(&after, before, "y");
        let series = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(told(&[&before]), Some(Warning::ReconciledBelowZero { series, count: 2 }));
        let past = table(&[("y", &[1.0, 1.0, -1.0, 1.0])]);
        assert_eq!(
            told(&[&before, &past]),
            Some(Warning::ReconciledBelowZero { series: vec!["a".to_owned()], count: 1 })
        );
        assert_eq!(told(&[&before, &after]), None);
        let bounded = bounded(after.clone(), "y", true, false);
        assert_eq!(bounded.column("M").unwrap(), [1.0, 0.0, 0.0, 4.0]);
        assert_eq!(bounded.column("M-lo-80").unwrap(), [0.0; 4]);
    }
}
