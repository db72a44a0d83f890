//! Rows of a table that are missing between others, and values that are missing in rows: filled.

use std::ops::Range;

use super::column::{BadCell, Column, ColumnKind};
use super::fill::{Fill, Filled};
use super::rows::{SeriesRun, TableRows};
use super::series_parts::series_parts;
use crate::error::DataError;
use crate::error::steps::StepError;
use foretell_calendar::{Freq, Steps, Zone};
use foretell_tables::{Flaw, ReadNote, TooLarge};
use foretell_threads::{Workers, rows, share};

impl TableRows {
    /// Adds the rows that are missing by the frequency to a sorted table, then fills NaN.
    pub(crate) fn fill_gaps(
        &mut self,
        fill: Fill,
        zone: Option<&Zone>,
        freq: Freq,
    ) -> Result<Filled, DataError> {
        let missing = |values: &[f32]| {
            let rows = self.runs.iter().flat_map(|run| &values[run.start..run.start + run.len]);
            rows.filter(|value| value.is_nan()).count()
        };
        let usable = self.columns.iter().filter_map(|column| column.values.as_ref().ok());
        if fill == Fill::Interpolate {
            self.unrounded.keep(&self.y);
        }
        let values = missing(&self.y) + usable.map(|values| missing(values)).sum::<usize>();
        let workers = Workers::new(self.threads).unwrap_or_else(|_| Workers::apart(1));
        let rows = self.add_rows(zone, freq, &workers, |_, _| true)?;
        let runs = &self.runs;
        let filled =
            fill_series(&mut self.y, runs, &workers, |values| fill.values(values, true).map(|()| false));
        if let Err((run, row, flaw)) = filled {
            let run = self.runs[run];
            return Err(self.missing(&run, run.start + row, flaw));
        }
        self.unrounded.each(|values| {
            let filled =
                fill_series(values, runs, &workers, |values| fill.values(values, true).map(|()| false));
            filled.expect("as of the rounded values");
        });
        let mut never_zero: Vec<String> = Vec::new();
        for column in 0..self.columns.len() {
            let Column { name, kind, values } = &mut self.columns[column];
            let numbers = matches!(kind, ColumnKind::Numbers);
            let Ok(values) = values else { continue };
            let filled = fill_series(values.vec(), &self.runs, &workers, |values| {
                // The value before, or at the beginning the first one.
                let keeps = fill == Fill::Zero && numbers && is_never_zero(values);
                let (fill, lines) = if keeps { (Fill::Interpolate, false) } else { (fill, numbers) };
                fill.values(values, lines).map(|()| keeps)
            });
            match filled {
                Ok(true) => never_zero.push(name.clone()),
                Ok(false) => {}
                Err((run, row, flaw)) => {
                    let at = self.place(self.runs[run].start + row);
                    self.columns[column].values = Err(BadCell { at, value: String::new(), flaw });
                }
            }
        }
        if !never_zero.is_empty() {
            self.note(vec![ReadNote::NeverZero { table: self.origin.table(), columns: never_zero }]);
        }
        Ok(Filled { rows, values })
    }

    /// Adds the rows that are missing between those of each series, where they are wanted of it and at their time; their values are NaN,
    /// and they count as standing where the row before them stands.
    pub(super) fn add_rows(
        &mut self,
        zone: Option<&Zone>,
        freq: Freq,
        workers: &Workers,
        is_wanted: impl Fn(&SeriesRun, i64) -> bool,
    ) -> Result<usize, DataError> {
        // Two far times and a fine frequency must not fill the memory.
        let limit = 100 * self.len() + 100_000;
        let room = self.max_rows.map_or(usize::MAX, |most| most.saturating_sub(self.len()));
        let mut times = Vec::new();
        let regular = self.runs.iter().all(|run| {
            self.times.copy(run.start, run.len, &mut times);
            freq.first_break(zone, &times).is_none()
        });
        if regular {
            return Ok(0);
        }
        // The row that each row of the new table is; one that is added repeats the row before it.
        let mut sources: Vec<u32> = Vec::new();
        let mut added = 0;
        let (mut runs, mut stretches) = (Vec::with_capacity(self.runs.len()), Steps::default());
        for run in &self.runs {
            let start = sources.len();
            self.times.copy(run.start, run.len, &mut times);
            let mut step = 0;
            for (i, &time) in times.iter().enumerate() {
                while let Some(gap) = freq.next_in(zone, times[0], step).filter(|next| *next < time) {
                    step += 1;
                    if !is_wanted(run, gap) {
                        continue;
                    }
                    if added == room {
                        let (table, found) = (self.origin.table(), self.len() + added + 1);
                        return Err(TooLarge::Rows { table, most: self.len() + room, found }.into());
                    }
                    if added == limit {
                        let id = self.id(run).to_string();
                        return Err(StepError::FillTooLarge { id, freq, rows: self.len(), limit }.into());
                    }
                    added += 1;
                    sources.push((run.start + i - 1) as u32);
                    stretches.push(gap);
                }
                step += 1;
                sources.push((run.start + i) as u32);
                stretches.push(time);
            }
            runs.push(SeriesRun { start, len: sources.len() - start, ..*run });
        }
        let spread = |values: &mut Vec<f32>, absent: Option<f32>| spread(values, &sources, absent, workers);
        spread(&mut self.y, Some(f32::NAN));
        self.unrounded.each(|values| self::spread(values, &sources, Some(f64::NAN), workers));
        self.columns
            .iter_mut()
            .filter_map(|column| column.values.as_mut().ok())
            .for_each(|values| spread(values.vec(), Some(f32::NAN)));
        self.mask.iter_mut().for_each(|mask| spread(mask, Some(0.0)));
        self.weight.iter_mut().for_each(|weight| spread(weight, None));
        if let Some(order) = &self.order {
            sources.iter_mut().for_each(|row| *row = order[*row as usize]);
        }
        self.order = Some(sources);
        (self.runs, self.times) = (runs, stretches);
        Ok(added)
    }
}

/// Whether some values of a series are missing, and none of the others is 0, as of prices: then the missing ones are not 0 either.
fn is_never_zero(values: &[f32]) -> bool {
    let is_known = |value: &&f32| !value.is_nan();
    let known = || values.iter().filter(is_known);
    known().count() < values.len() && known().next().is_some() && known().all(|value| *value != 0.0)
}

/// Rows from which on threads gain more than they cost.
const MANY: usize = 1 << 16;

/// Fills the values of each series; whether `fill` says so of any. The first error is that of the first series, with its row.
fn fill_series<T: Send>(
    values: &mut [T],
    runs: &[SeriesRun],
    workers: &Workers,
    fill: impl Fn(&mut [T]) -> Result<bool, (usize, Flaw)> + Sync,
) -> Result<bool, (usize, usize, Flaw)> {
    let many = values.len() >= MANY;
    let parts = series_parts(values, runs.iter().map(|run| run.start..run.start + run.len));
    let mut parts: Vec<_> = parts.into_iter().map(|part| (part, Ok(false))).collect();
    workers.each(&mut parts, many, |_, (part, filled)| *filled = fill(part));
    let mut any = false;
    for (run, (_, filled)) in parts.into_iter().enumerate() {
        any |= filled.map_err(|(row, flaw)| (run, row, flaw))?;
    }
    Ok(any)
}

/// The values of these rows; in place of one that repeats the row before it, the one of an absent row.
fn spread<T: Copy + Default + Send + Sync>(
    values: &mut Vec<T>,
    sources: &[u32],
    absent: Option<T>,
    workers: &Workers,
) {
    let cell = |row: usize| match absent {
        Some(absent) if row > 0 && sources[row - 1] == sources[row] => absent,
        _ => values[sources[row] as usize],
    };
    let mut out = vec![T::default(); sources.len()];
    let fill = |rows: Range<usize>, out: &mut [T]| rows.zip(out).for_each(|(row, out)| *out = cell(row));
    match sources.len() < MANY {
        true => fill(0..sources.len(), &mut out),
        false => workers.enter(|| {
            share(workers.threads(), || {
                rows(sources.len(), 2, [&mut out[..]], |rows, [out]| fill(rows, out))
            });
        }),
    }
    *values = out;
}

#[cfg(test)]
mod tests {
    use crate::{Fill, Panel, ReadOptions};

    #[test]
    fn zeros_are_for_what_may_be_zero() {
        let text = "unique_id,ds,y,price,promo\n\
            a,2024-01-01,5,,0\na,2024-01-02,6,4.5,1\na,2024-01-04,7,4,\na,2024-01-05,8,4,1\n\
            b,2024-01-01,5,2,0\nb,2024-01-02,6,2,1\nb,2024-01-03,7,2,0\nb,2024-01-04,8,2,1\n";
        let panel = Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::new().fill(Fill::Zero)).unwrap();
        assert_eq!(panel.y(0), [5.0, 6.0, 0.0, 7.0, 8.0]);
        assert_eq!(panel.column("price", 0).unwrap(), [4.5, 4.5, 4.5, 4.0, 4.0], "a price is not 0");
        assert_eq!(panel.column("promo", 0).unwrap(), [0.0, 1.0, 0.0, 0.0, 1.0]);
        let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.contains("never 0: `price`")), "{notes:?}");
    }

    #[test]
    fn threads_change_nothing_of_what_is_filled() {
        let mut text = String::from("unique_id,ds,y,x\n");
        for (series, row) in (0..70).flat_map(|series| (0..1000).map(move |row| (series, row))) {
            // Rows that are missing, and values; of the 60th series the first one.
            let x = if row % 7 == 3 || (series, row) == (60, 0) { String::new() } else { row.to_string() };
            if row % 11 != 5 {
                text += &format!("s{series},{row},{},{x}\n", series * row);
            }
        }
        for fill in Fill::ALL {
            let read = |threads| {
                let options = ReadOptions::new().fill(fill).threads(threads);
                Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap()
            };
            let (one, three) = (read(1), read(3));
            assert_eq!(one.filled(), three.filled());
            for series in 0..one.n_series() {
                assert_eq!(one.y(series), three.y(series), "{fill}");
                let x = |panel: &Panel| {
                    panel.column("x", series).map(<[f32]>::to_vec).map_err(|error| error.to_string())
                };
                assert_eq!(x(&one), x(&three), "{fill}");
                assert_eq!(
                    x(&one).is_err(),
                    fill == Fill::Forward,
                    "nothing is before the first value of one series"
                );
            }
        }
    }
}
