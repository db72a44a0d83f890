//! Panels that are continued beyond their end: by forecasts, to forecast further ahead than a model's horizon, and by rows
//! that were held out.

use std::ops::Range;
use std::sync::Arc;

use super::covariates::Future;
use super::numbers::Numbers;
use super::panel::{Data, Panel};
use crate::error::DataError;

impl Panel {
    /// The last `rows` rows of each series, or all that it has. Nothing is copied.
    pub fn last(&self, rows: usize) -> Self {
        let mut cut = self.clone();
        for (i, series) in cut.series.iter_mut().enumerate().filter(|(_, series)| series.len > rows.max(1)) {
            let gone = series.len - rows.max(1);
            series.first_time = self.time(i, gone);
            series.start += gone;
            series.len -= gone;
        }
        cut
    }

    /// The time that is a step before the first row of a series.
    ///
    /// # Errors
    /// [`StepError::TimeRange`](crate::StepError::TimeRange) if it is before the calendar.
    pub fn time_before(&self, series: usize) -> Result<i64, DataError> {
        let before = self.freq().next_in(self.zone(), self.time(series, 0), -1);
        before.ok_or_else(|| DataError::time_range(self.id(series)))
    }

    /// The panel with the targets `y`, `[series, steps]` and relative to their [`SeriesLevel`](crate::SeriesLevel)s, after the end of each series,
    /// as if they were known. Further columns continue with the values of `future`, and with zeros where it has none.
    ///
    /// # Panics
    /// If `y` is not as many steps for each series, or `future` has another number of them.
    #[track_caller]
    pub fn continued(&self, y: &[f32], future: Option<&Future>) -> Self {
        let steps = y.len() / self.n_series().max(1);
        assert_eq!(y.len(), steps * self.n_series(), "values for {} series", self.n_series());
        assert!(future.is_none_or(|future| future.h() == steps), "future columns of {steps} steps");
        let onwards = |past: &[f32], ahead: &dyn Fn(usize) -> f32| -> Vec<f32> {
            let mut values = Vec::with_capacity(self.n_rows() + y.len());
            for (i, series) in self.series.iter().enumerate() {
                values.extend_from_slice(&past[series.rows()]);
                values.extend((i * steps..(i + 1) * steps).map(ahead));
            }
            values
        };
        let Data { table, freq_inferred, integer_ids, filled, trimmed, .. } = &*self.data;
        let ones = |past: &Option<Numbers>| past.as_deref().map(|past| onwards(past, &|_| 1.0).into());
        let columns = self.data.columns.iter().map(|column| {
            let ahead = future.and_then(|future| future.column(&column.name).ok());
            column.with_values(|past| onwards(past, &|i| ahead.map_or(0.0, |ahead| ahead[i])))
        });
        let data = Data {
            table: table.clone(),
            y: onwards(&self.data.y, &|i| y[i]).into(),
            mask: ones(&self.data.mask),
            weight: ones(&self.data.weight),
            columns: columns.collect(),
            freq_inferred: *freq_inferred,
            integer_ids: *integer_ids,
            filled: *filled,
            trimmed: *trimmed,
        };
        let mut panel = self.clone();
        let mut start = 0;
        for series in &mut panel.series {
            series.len += steps;
            series.start = start;
            start += series.len;
            series.reach = start;
        }
        panel.data = Arc::new(data);
        panel
    }
}

impl Future {
    /// The values of the columns of `panel` in the `h` rows that follow each series of `known`, which is the panel without its
    /// last rows.
    ///
    /// # Panics
    /// If a series of `known` is not followed by as many rows.
    #[track_caller]
    pub fn within(panel: &Panel, known: &Panel, h: usize) -> Self {
        let rows: Vec<Range<usize>> = (known.series.iter())
            .map(|cut| {
                let whole = &panel.series[panel.find(&cut.id).expect("a series of the panel")];
                let from = cut.start + cut.len;
                assert!(from + h <= whole.start + whole.len, "{h} rows after series {}", cut.id);
                from..from + h
            })
            .collect();
        let mut columns = panel.data.columns.clone();
        for column in &mut columns {
            if let Ok(values) = &mut column.values {
                *values = rows.iter().flat_map(|rows| &values[rows.clone()]).copied().collect();
            }
        }
        Self::of_columns([known.n_series(), h], panel.data.table.clone(), columns)
    }

    /// The same for a horizon of `h` steps: fewer, or more that have the values of the last one.
    ///
    /// # Panics
    /// If it has no step.
    #[must_use]
    pub fn of_steps(&self, h: usize) -> Self {
        let own = self.h();
        let all = |values: &[f32]| {
            let of_series = |ahead: &[f32]| (0..h).map(|step| ahead[step.min(own - 1)]).collect::<Vec<_>>();
            values.chunks_exact(own).flat_map(of_series).collect()
        };
        let columns = self.columns().iter().map(|column| column.with_values(all)).collect();
        Self::of_columns([self.n_series(), h], self.table().clone(), columns)
    }

    /// The values of some of the steps.
    ///
    /// # Panics
    /// If they are not within the horizon.
    #[track_caller]
    pub fn part(&self, steps: Range<usize>) -> Self {
        let some = |values: &[f32]| {
            values.chunks_exact(self.h()).flat_map(|ahead| &ahead[steps.clone()]).copied().collect()
        };
        let columns = self.columns().iter().map(|column| column.with_values(some)).collect();
        Self::of_columns([self.n_series(), steps.len()], self.table().clone(), columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::{Freq, TimeKind};

    /// Two series of integers' times, of 5 and 3 rows, with a column and a mask.
    fn panel() -> Panel {
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("2").unwrap());
        let builder = builder.series("a", &[0, 2, 4, 6, 8], &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let builder = builder.series("b", &[10, 12, 14], &[6.0, 7.0, 8.0]);
        let column = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0];
        let mask = [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        builder.column("x", &column).available_mask(&mask).build().unwrap()
    }

    #[test]
    fn the_last_rows_keep_their_times() {
        let last = panel().last(4);
        assert_eq!((last.y(0), last.y(1)), (&[2.0, 3.0, 4.0, 5.0][..], &[6.0, 7.0, 8.0][..]));
        assert_eq!(last.times(0).collect::<Vec<_>>(), [2, 4, 6, 8]);
        assert_eq!(last.time_before(1).unwrap(), 8);
    }

    #[test]
    fn a_panel_continues_with_forecasts() {
        let whole = panel();
        let known = whole.without_last(2);
        let future = Future::within(&whole, &known, 2);
        assert_eq!(future.column("x").unwrap(), [40.0, 50.0, 70.0, 80.0]);
        let second = future.part(1..2);
        assert_eq!((second.h(), second.column("x").unwrap()), (1, &[50.0, 80.0][..]));
        let three = future.of_steps(3);
        assert_eq!((three.h(), three.column("x").unwrap()), (3, &[40.0, 50.0, 50.0, 70.0, 80.0, 80.0][..]));
        assert_eq!(future.of_steps(1).column("x").unwrap(), [40.0, 70.0]);

        let on = known.last(2).continued(&[-1.0, -2.0, -3.0, -4.0], Some(&future));
        assert_eq!((on.y(0), on.y(1)), (&[2.0, 3.0, -1.0, -2.0][..], &[6.0, -3.0, -4.0][..]));
        assert_eq!(on.column("x", 0).unwrap(), [20.0, 30.0, 40.0, 50.0]);
        assert_eq!(on.available_mask(0), Some(&[0.0, 1.0, 1.0, 1.0][..]));
        assert_eq!(on.times(1).collect::<Vec<_>>(), [10, 12, 14]);
        assert_eq!(known.continued(&[0.0; 2], None).column("x", 1).unwrap(), [60.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "2 rows after series a")]
    fn rows_that_are_not_there_are_not_read() {
        Future::within(&panel(), &panel(), 2);
    }
}
