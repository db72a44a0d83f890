//! The values of a table relative to the levels of their series.

use super::level::SeriesLevel;
use super::rows::{SeriesRun, TableRows};

impl TableRows {
    /// Brings the values of each series, which are known, to a level of its own if it has one.
    pub(super) fn take_levels(&mut self) -> Vec<SeriesLevel> {
        let Self { unrounded, runs, y, mask, .. } = self;
        if !unrounded.is_wanted {
            return vec![SeriesLevel::default(); runs.len()];
        }
        let is_known = |row: usize| mask.as_ref().is_none_or(|mask| mask[row] != 0.0);
        let mut level_of = |&SeriesRun { start, len, .. }: &SeriesRun| {
            let value = |row: usize, y: &[f32]| unrounded.get(row, y[row]);
            let rows = start..start + len;
            let known = rows.clone().filter(|row| is_known(*row));
            let level = SeriesLevel::of(known.map(|row| value(row, y)));
            if !level.is_default() {
                for row in rows {
                    // Where nothing is known, there is 0 in place of a value.
                    let value = value(row, y);
                    y[row] = if !is_known(row) && value == 0.0 { 0.0 } else { level.hold(value) };
                }
            }
            level
        };
        runs.iter().map(&mut level_of).collect()
    }

    /// The first value that is held as 0 and is none: beside far larger ones of its series, or where no one asked for its digits.
    pub(super) fn first_lost(&self, levels: &[SeriesLevel]) -> Option<String> {
        if !self.unrounded.is_wanted {
            return self.read_as_zero.clone();
        }
        let lost = self.runs.iter().zip(levels).flat_map(|(run, level)| {
            let [offset, _] = <[f64; 2]>::from(*level);
            let rows =
                (run.start..run.start + run.len).filter(move |row| offset == 0.0 && self.y[*row] == 0.0);
            rows.map(|row| self.unrounded.get(row, self.y[row]))
                .find(|value| *value != 0.0 && !value.is_nan())
        });
        lost.map(|value| format!("{value:e}")).next()
    }
}
