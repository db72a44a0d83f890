//! Tables of forecasts in memory, for tests.

use std::sync::Arc;

use foretell_calendar::TimeKind;
use foretell_data::ForecastTable;

/// A table of rows, each a series and a time, with these columns.
pub(super) fn table_of_rows(rows: &[(&str, i64)], columns: &[(&str, &[f64])]) -> ForecastTable {
    ForecastTable {
        file: "f.csv".into(),
        ids: rows.iter().map(|(id, _)| Arc::from(*id)).collect(),
        integer_ids: false,
        is_unnamed: false,
        times: rows.iter().map(|(_, time)| *time).collect(),
        kind: TimeKind::Integer,
        zone: None,
        cutoffs: None,
        columns: columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())).collect(),
        known: Default::default(),
        notes: Vec::new(),
    }
}
