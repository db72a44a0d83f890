//! Series of a hierarchy that a table has no forecasts of: they are left out of it.

use std::collections::HashSet;
use std::sync::Arc;

use foretell_data::ForecastTable;
use foretell_hierarchy::{Hierarchy, Reconciler, Reconciliation};

use crate::warning::Warning;

/// The series at the bottom that [`reconcile`](crate::reconcile) leaves out of the hierarchy by this method, since the table has no
/// forecasts of them.
pub fn without_forecasts(
    forecast: &ForecastTable,
    hierarchy: &Hierarchy,
    method: Reconciliation,
) -> Option<Warning> {
    let series = absent(forecast, hierarchy, method);
    let series: Vec<String> = series.iter().map(ToString::to_string).collect();
    (!series.is_empty()).then_some(Warning::NoForecasts { series })
}

/// Those that the method reads; none where it has rows of none of them.
fn absent(forecast: &ForecastTable, hierarchy: &Hierarchy, method: Reconciliation) -> Vec<Arc<str>> {
    let known: HashSet<&str> = forecast.ids.iter().map(|id| &**id).collect();
    let is_read = &Reconciler::reads(hierarchy, method)[hierarchy.n_aggregates()..];
    let read = || hierarchy.bottom_ids().iter().zip(is_read).filter(|(_, is_read)| **is_read);
    let absent: Vec<Arc<str>> =
        read().map(|(id, _)| id).filter(|id| !known.contains(&***id)).cloned().collect();
    if absent.len() < read().count() { absent } else { Vec::new() }
}

/// The hierarchy without them and without sums of no others; nothing where all are there.
pub(super) fn among_forecasts(
    forecast: &ForecastTable,
    hierarchy: &Hierarchy,
    method: Reconciliation,
) -> Option<Hierarchy> {
    let absent = absent(forecast, hierarchy, method);
    let absent: HashSet<&str> = absent.iter().map(|id| &**id).collect();
    if absent.is_empty() { None } else { hierarchy.among(|id| !absent.contains(id)) }
}

/// The rows of a table without those of series that `all` has and `rest` has not.
pub(super) fn rows_of(table: &ForecastTable, all: &Hierarchy, rest: &Hierarchy) -> ForecastTable {
    let kept: HashSet<&str> = rest.ids().map(|id| &**id).collect();
    let gone: HashSet<&str> = all.ids().map(|id| &**id).filter(|id| !kept.contains(id)).collect();
    table.of_ids(|id| !gone.contains(id))
}

#[cfg(test)]
mod tests {
    use super::super::reconcile::{ReconcileOptions, reconcile};
    use super::super::table_of_rows::table_of_rows;
    use super::*;
    use crate::columns::ColumnNames;

    #[test]
    fn labels_of_series_without_forecasts_stop_nothing() {
        let sums = [("all", vec![0, 1, 2]), ("east", vec![0, 1]), ("west", vec![2])];
        let hierarchy = Hierarchy::new(["a", "b", "c"], sums).unwrap();
        // Neither `b` nor `c` is forecast, and `west`, which is of `c` alone, goes with it.
        let rows: Vec<(&str, i64)> =
            ["all", "east", "west", "a"].iter().flat_map(|id| [(*id, 1), (*id, 2), (*id, 3)]).collect();
        let values = [12.0, 24.0, 36.0, 10.0, 20.0, 30.0, 2.0, 4.0, 6.0, 8.0, 16.0, 24.0];
        let forecast = table_of_rows(&rows, &[("M", &values)]);
        let past = table_of_rows(&rows, &[("M", &values), ("y", &values.map(|y| y + (y * 7.0) % 3.0))]);
        for (method, of_a) in [
            (Reconciliation::BottomUp, [8.0, 16.0, 24.0]),
            // The mean of what is forecast of one series by three.
            (Reconciliation::MinTraceOls, [10.0, 20.0, 30.0]),
        ] {
            let options = ReconcileOptions::new(method).residuals(Some(&past));
            let found = reconcile(&forecast, &hierarchy, &ColumnNames::default(), &options).unwrap();
            let ids: Vec<&str> = found.ids.iter().map(|id| &**id).collect();
            assert_eq!(ids, ["all", "all", "all", "east", "east", "east", "a", "a", "a"]);
            for (found, expected) in found.column("M").unwrap().iter().zip(of_a.repeat(3)) {
                assert!((found - expected).abs() < 1e-9, "{method}: {found} and {expected}");
            }
            let told = without_forecasts(&forecast, &hierarchy, method);
            let series = ["b", "c"].map(str::to_owned).to_vec();
            assert_eq!(told, Some(Warning::NoForecasts { series }));
        }
        // What divides the total does not read them.
        assert_eq!(without_forecasts(&forecast, &hierarchy, Reconciliation::TopDown), None);
        let total = table_of_rows(&rows[..3], &[("M", &values[..3])]);
        assert_eq!(without_forecasts(&total, &hierarchy, Reconciliation::MinTraceOls), None, "none is there");
    }
}
