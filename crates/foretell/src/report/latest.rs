//! The latest forecast of each series, and what is known of the series.

use std::collections::HashMap;

use foretell_data::Panel;
use foretell_tables::Frame;

use super::windows::{civil, known_values, windows};

/// Series that are forecast and that the data do not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{count} of {of} series that are forecast are not in the data, the first `{id}`; give the data that the forecasts are of, \
     with the directory of their models if these are of sums of series, or leave the rows of other series out"
)]
pub struct UnknownForecastSeries {
    /// The first of them.
    pub id: String,
    /// How many there are,
    pub count: usize,
    /// of how many that are forecast.
    pub of: usize,
}

/// The latest forecast of a series.
pub(super) struct Latest {
    /// The series' place in the panel.
    pub(super) series: usize,
    /// Its rows in the table.
    pub(super) rows: Vec<usize>,
}

/// Checks that the data have all series that are forecast.
///
/// # Errors
/// If some are of other data.
pub fn check_series(panel: &Panel, frame: &Frame) -> Result<(), UnknownForecastSeries> {
    let ids: Vec<&str> = ids_in_order(frame).into_iter().map(|(id, _)| id).collect();
    let mut unknown = ids.iter().filter(|id| panel.find(id).is_none());
    match unknown.next() {
        None => Ok(()),
        Some(first) => {
            Err(UnknownForecastSeries { id: (*first).to_owned(), count: 1 + unknown.count(), of: ids.len() })
        }
    }
}

/// The latest forecast of each series of a table that the panel has.
pub(super) fn latest(panel: &Panel, frame: &Frame) -> Vec<Latest> {
    let of_series = |(id, rows): (&str, Vec<usize>)| {
        let rows = windows(frame, &rows).pop()?;
        Some(Latest { series: panel.find(id)?, rows })
    };
    ids_in_order(frame).into_iter().filter_map(of_series).collect()
}

fn ids_in_order(frame: &Frame) -> Vec<(&str, Vec<usize>)> {
    let (mut places, mut ids) = (HashMap::<&str, usize>::new(), Vec::<(&str, Vec<usize>)>::new());
    for (row, id) in frame.ids.iter().enumerate() {
        let place = *places.entry(id).or_insert_with(|| {
            ids.push((id, Vec::new()));
            ids.len() - 1
        });
        ids[place].1.push(row);
    }
    ids
}

/// What is known of a series, on civil clocks.
pub(super) fn known(panel: &Panel, series: usize) -> Vec<(i64, f64)> {
    let known = known_values(panel, series).into_iter();
    known.map(|(time, value)| (civil(panel.zone(), time), f64::from(value))).collect()
}
