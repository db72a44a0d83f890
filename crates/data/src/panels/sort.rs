//! Rows in any order, grouped by series and sorted by time.

use super::numbers::Numbers;
use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use foretell_calendar::Steps;
use foretell_tables::TableError;

impl TableRows {
    /// Groups the rows by series with ascending times, if they are not so already.
    pub(crate) fn arrange(&mut self) -> Result<(), DataError> {
        let (rows, mut times) = (self.len(), Vec::new());
        if self.changes == self.ids.len() {
            let mut row = 0;
            for (code, len) in self.series.runs() {
                let code = code as u32;
                match self.runs.last_mut() {
                    Some(run) if run.code == code => run.len += len,
                    _ => self.runs.push(SeriesRun { code, start: row, len }),
                }
                row += len;
            }
            let ascending = self.runs.iter().all(|run| {
                self.times.regular(run.start, run.len).is_some_and(|(_, step)| step >= 0) || {
                    self.times.copy(run.start, run.len, &mut times);
                    times.is_sorted()
                }
            });
            if ascending {
                return Ok(());
            }
            self.runs.clear();
        }
        if u32::try_from(rows).is_err() {
            let expected = format!("at most {}, or sorted by id and time", u32::MAX);
            return Err(TableError::setting("the number of rows", rows, expected).into());
        }
        self.sort();
        Ok(())
    }

    /// Brings all columns into the order of (series, time), stably: first by counting the rows of each
    /// series, then by time where a series' times do not ascend.
    fn sort(&mut self) {
        let mut ends = vec![0; self.ids.len()];
        self.series.iter().for_each(|code| ends[code as usize] += 1);
        let mut start = 0;
        for (code, end) in ends.iter_mut().enumerate() {
            self.runs.push(SeriesRun { code: code as u32, start, len: *end });
            start += std::mem::replace(end, start);
        }
        let mut order = vec![0_u32; start];
        for (row, code) in self.series.iter().enumerate() {
            let end = &mut ends[code as usize];
            order[*end] = row as u32;
            *end += 1;
        }
        if !self.origin.is_slices() {
            self.series = Steps::default();
        }
        let time = std::mem::take(&mut self.times).into_lookup();
        let mut sorted = Steps::default();
        let mut keys: Vec<(i64, u32)> = Vec::new();
        for run in &self.runs {
            let rows = &mut order[run.start..run.start + run.len];
            keys.clear();
            keys.extend(rows.iter().map(|&row| (time(row), row)));
            if !keys.is_sorted_by_key(|(time, _)| time) {
                keys.sort_unstable();
                rows.iter_mut().zip(&keys).for_each(|(row, key)| *row = key.1);
            }
            keys.iter().for_each(|(time, _)| sorted.push(*time));
        }
        self.times = sorted;
        if !self.within.is_empty() {
            let within = std::mem::take(&mut self.within).into_lookup();
            let mut sorted = Steps::default();
            order.iter().for_each(|row| sorted.push(within(*row)));
            self.within = sorted;
        }
        gather(&mut self.y, &order);
        self.unrounded.each(|values| gather(values, &order));
        let extras = self.columns.iter_mut().filter_map(|column| column.values.as_mut().ok());
        let extras = extras.map(Numbers::vec);
        for values in self.mask.iter_mut().chain(&mut self.weight).chain(extras) {
            gather(values, &order);
        }
        self.order = Some(order);
    }
}

fn gather<T: Copy>(values: &mut Vec<T>, order: &[u32]) {
    *values = order.iter().map(|&row| values[row as usize]).collect();
}
