//! Rows of a table that are missing between others, and values that are missing in rows: filled.

use super::column::{BadCell, ColumnKind};
use super::fill::{Fill, Filled};
use super::rows::{SeriesRun, TableRows};
use foretell_calendar::{Freq, Steps, Zone};
use foretell_tables::{DataError, TooLarge};

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
                let lines = matches!(self.columns[column].kind, ColumnKind::Numbers);
                let Ok(values) = &mut self.columns[column].values else { continue };
                if let Err((row, flaw)) = fill.values(&mut values[range.clone()], lines) {
                    let at = self.place(run.start + row);
                    self.columns[column].values = Err(BadCell { at, value: String::new(), flaw });
                }
            }
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

/// The values of these rows; in place of one that repeats the row before it, the one of an absent row.
fn spread<T: Copy>(values: &mut Vec<T>, sources: &[u32], absent: Option<T>) {
    let cell = |row: usize| match absent {
        Some(absent) if row > 0 && sources[row - 1] == sources[row] => absent,
        _ => values[sources[row] as usize],
    };
    *values = (0..sources.len()).map(cell).collect();
}
