//! The values of series that are known, of which forecasts come true and metrics are relative.

use std::collections::HashMap;
use std::sync::Arc;

use foretell_calendar::{Freq, Zone};
use foretell_data::ForecastTable;
use foretell_evaluate::ScoreHistory;

use crate::error::ScoresError;

/// Steps without a row that are added to few rows.
const LEAST_ROOM: usize = 10_000;

/// Times and values of series, one after the other, each in the order of time.
#[derive(Debug)]
pub(crate) struct KnownValues {
    numbers: HashMap<Arc<str>, u32>,
    /// Where each series begins, and the end of the last one.
    starts: Vec<usize>,
    times: Vec<i64>,
    values: Vec<f64>,
}

impl KnownValues {
    /// The values of these series in two tables, actual ones, which take precedence, and those of before. Steps of the frequency that lack
    /// a row have the value NaN, so that what is a season apart is so.
    ///
    /// # Errors
    /// If a table has no target, or two values of one series and time.
    pub(crate) fn of(
        ids: &[Arc<str>],
        [actual, history]: [Option<&ForecastTable>; 2],
        target: &str,
        freq: Option<Freq>,
    ) -> Result<Self, ScoresError> {
        let numbers: HashMap<Arc<str>, u32> = ids.iter().cloned().zip(0..).collect();
        // The series, the time, whether it is in the second of the tables, and its row.
        let mut rows: Vec<(u32, i64, bool, usize)> = Vec::new();
        for (table, is_history) in [(actual, false), (history, true)] {
            let Some(table) = table else { continue };
            table.column(target)?;
            let mut last = None;
            for (row, (id, &time)) in table.ids.iter().zip(&table.times).enumerate() {
                let number = match &last {
                    Some((same, number)) if Arc::ptr_eq(same, id) => *number,
                    _ => numbers.get(id).copied(),
                };
                last = Some((id.clone(), number));
                rows.extend(number.map(|series| (series, time, is_history, row)));
            }
        }
        rows.sort_unstable();
        let of_table = |is_history| if is_history { history } else { actual };
        let value = |&(.., is_history, row): &(u32, i64, bool, usize)| {
            let column = of_table(is_history).and_then(|table| table.column(target).ok());
            column.map_or(f64::NAN, |values| values[row])
        };
        let mut known = Self {
            numbers,
            starts: vec![0; ids.len() + 1],
            times: Vec::with_capacity(rows.len()),
            values: Vec::with_capacity(rows.len()),
        };
        let mut before: Option<&(u32, i64, bool, usize)> = None;
        let mut room = 4 * rows.len() + LEAST_ROOM;
        let zone = actual.or(history).and_then(|table| table.zone.as_ref());
        for row in &rows {
            match before {
                Some(one) if (one.0, one.1) == (row.0, row.1) => {
                    let [a, b] = [value(one), value(row)];
                    if let Some(table) = of_table(row.2)
                        && one.2 == row.2
                        && !(a == b || a.is_nan() && b.is_nan())
                    {
                        return Err(doubled(table, one.3, row.3));
                    }
                }
                _ => {
                    let missing = before.filter(|before| before.0 == row.0).zip(freq);
                    let missing = missing.map_or_else(Vec::new, |(before, freq)| {
                        missing_steps(freq, zone, [before.1, row.1], room)
                    });
                    room -= missing.len();
                    known.values.resize(known.values.len() + missing.len(), f64::NAN);
                    known.times.extend(missing);
                    known.times.push(row.1);
                    known.values.push(value(row));
                    known.starts[row.0 as usize + 1] = known.times.len();
                    before = Some(row);
                }
            }
        }
        for series in 0..ids.len() {
            known.starts[series + 1] = known.starts[series + 1].max(known.starts[series]);
        }
        Ok(known)
    }

    /// The value at that time; NaN where it is not known.
    pub(crate) fn at(&self, series: u32, time: i64) -> f64 {
        let start = self.starts[series as usize];
        let times = &self.times[start..self.starts[series as usize + 1]];
        times.binary_search(&time).map_or(f64::NAN, |place| self.values[start + place])
    }

    /// Whether a series is one of them.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.numbers.contains_key(id)
    }
}

impl ScoreHistory for KnownValues {
    fn until(&self, series: u32, cutoff: i64) -> &[f64] {
        let (start, end) = (self.starts[series as usize], self.starts[series as usize + 1]);
        let count = self.times[start..end].partition_point(|time| *time <= cutoff);
        &self.values[start..start + count]
    }
}

/// The times of the steps between two rows, at most `room`; none where they do not lead from one to the other.
fn missing_steps(freq: Freq, zone: Option<&Zone>, [from, to]: [i64; 2], room: usize) -> Vec<i64> {
    let next = |time: &i64| freq.next_in(zone, *time, 1).filter(|next| next > time);
    let mut missing = Vec::new();
    let mut time = next(&from);
    while let Some(step) = time.filter(|step| *step < to && missing.len() < room) {
        missing.push(step);
        time = next(&step);
    }
    if time == Some(to) { missing } else { Vec::new() }
}

/// The error of two rows of one series and time.
pub(crate) fn doubled(table: &ForecastTable, one: usize, other: usize) -> ScoresError {
    let [first, second] = [one.min(other) + 1, one.max(other) + 1];
    ScoresError::DoubledRow {
        table: table.file.clone(),
        id: table.ids[one].to_string(),
        time: table.kind.display_in(table.zone.as_ref(), table.times[one]),
        rows: [first, second],
        clocks: table
            .zone
            .as_ref()
            .filter(|zone| were_put_forward(zone, table.times[one]))
            .map(ToString::to_string),
    }
}

/// Whether the clocks of a zone were put forward to this instant.
fn were_put_forward(zone: &Zone, instant: i64) -> bool {
    let shown = |instant| zone.civil(instant);
    shown(instant).zip(shown(instant - 1)).is_some_and(|(now, before)| now - before > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_without_a_row_keep_their_place() {
        let table = ForecastTable {
            file: "a.csv".into(),
            ids: ["a", "a", "a", "b"].map(Arc::from).to_vec(),
            integer_ids: false,
            is_unnamed: false,
            times: vec![10, 12, 18, 12],
            kind: foretell_calendar::TimeKind::Integer,
            zone: None,
            cutoffs: None,
            columns: vec![("y".to_owned(), vec![1.0, 2.0, 3.0, 4.0])],
            known: Default::default(),
            notes: Vec::new(),
        };
        let ids = ["a", "b"].map(Arc::from);
        let known = |freq: &str| {
            let freq = Freq::parse(freq).ok();
            KnownValues::of(&ids, [Some(&table), None], "y", freq).unwrap()
        };
        let steps = known("2");
        assert_eq!(steps.times, [10, 12, 14, 16, 18, 12]);
        assert!(steps.values[2].is_nan() && steps.values[3].is_nan() && steps.until(0, 17).len() == 4);
        assert_eq!((steps.at(0, 18), steps.at(1, 12), steps.until(1, 12)), (3.0, 4.0, &[4.0][..]));
        assert_eq!(known("5").times, [10, 12, 18, 12], "no steps of 5");
    }
}
