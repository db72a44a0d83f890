//! Rows of a table that are missing between others, and values that are missing in rows: filled.

use super::column::{BadCell, Column, ColumnKind};
use super::fill::{Fill, Filled};
use super::rows::{SeriesRun, TableRows};
use foretell_calendar::{Freq, Steps, Zone};
use foretell_tables::{DataError, ReadNote, TooLarge};

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
        let rows = self.add_rows(zone, freq)?;
        let mut never_zero: Vec<String> = Vec::new();
        for at in 0..self.runs.len() {
            let run = self.runs[at];
            let range = run.start..run.start + run.len;
            if let Err((row, flaw)) = fill.values(&mut self.y[range.clone()], true) {
                return Err(self.missing(&run, run.start + row, flaw));
            }
            self.unrounded.each(|values| {
                fill.values(&mut values[range.clone()], true).expect("as of the rounded values");
            });
            for column in 0..self.columns.len() {
                let Column { name, kind, values } = &mut self.columns[column];
                let mut lines = matches!(kind, ColumnKind::Numbers);
                let Ok(values) = values else { continue };
                let values = &mut values[range.clone()];
                let mut fill = fill;
                if fill == Fill::Zero && lines && is_never_zero(values) {
                    // The value before, or at the beginning the first one.
                    (fill, lines) = (Fill::Interpolate, false);
                    if !never_zero.contains(name) {
                        never_zero.push(name.clone());
                    }
                }
                if let Err((row, flaw)) = fill.values(values, lines) {
                    let at = self.place(run.start + row);
                    self.columns[column].values = Err(BadCell { at, value: String::new(), flaw });
                }
            }
        }
        if !never_zero.is_empty() {
            self.note(vec![ReadNote::NeverZero { table: self.origin.table(), columns: never_zero }]);
        }
        Ok(Filled { rows, values })
    }

    /// Adds the rows that are missing between those of each series; their values are NaN, and they
    /// count as standing where the row before them stands.
    fn add_rows(&mut self, zone: Option<&Zone>, freq: Freq) -> Result<usize, DataError> {
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
                    if added == room {
                        let (table, found) = (self.origin.table(), self.len() + added + 1);
                        return Err(TooLarge::Rows { table, most: self.len() + room, found }.into());
                    }
                    if added == limit {
                        let id = self.id(run).to_string();
                        return Err(DataError::FillTooLarge { id, freq, rows: self.len(), limit });
                    }
                    added += 1;
                    step += 1;
                    sources.push((run.start + i - 1) as u32);
                    stretches.push(gap);
                }
                step += 1;
                sources.push((run.start + i) as u32);
                stretches.push(time);
            }
            runs.push(SeriesRun { start, len: sources.len() - start, ..*run });
        }
        let spread = |values: &mut Vec<f32>, absent: Option<f32>| spread(values, &sources, absent);
        spread(&mut self.y, Some(f32::NAN));
        self.unrounded.each(|values| self::spread(values, &sources, Some(f64::NAN)));
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

/// The values of these rows; in place of one that repeats the row before it, the one of an absent row.
fn spread<T: Copy>(values: &mut Vec<T>, sources: &[u32], absent: Option<T>) {
    let cell = |row: usize| match absent {
        Some(absent) if row > 0 && sources[row - 1] == sources[row] => absent,
        _ => values[sources[row] as usize],
    };
    *values = (0..sources.len()).map(cell).collect();
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
}
