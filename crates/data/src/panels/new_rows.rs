//! Other rows for the series of a panel, from arrays: forecasts of the same series again and again, without a table.

use std::sync::Arc;

use super::cells::finite;
use super::column::Column;
use super::level::SeriesLevel;
use super::panel::{Data, Panel, Series};
use crate::error::DataError;
use foretell_calendar::zone::in_range;
use foretell_tables::{Place, TableError};

impl Panel {
    /// The same series and static columns with other rows: the target `y` and further columns, `[series, rows]` each, in the panel's order
    /// of series. The panel is the one that a table of these values would be read into, to the last bit.
    ///
    /// The last rows are at the times `last`, one for each series; without them where the series ended before.
    ///
    /// # Errors
    /// Lengths that do not fit, values that are not finite, last times off the frequency's grid or beyond the calendar.
    pub fn with_new_rows(
        &self,
        y: &[f64],
        columns: &[(&str, &[f32])],
        last: Option<&[i64]>,
    ) -> Result<Self, DataError> {
        let n_series = self.n_series();
        let rows = (y.len() / n_series.max(1)).max(1);
        let check_len = |what: &str, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => Err(DataError::Table(TableError::Length { what: what.to_owned(), expected, found })),
        };
        check_len("y", n_series * rows, y.len())?;
        check_len("last", n_series, last.map_or(n_series, <[i64]>::len))?;
        let place = |at: usize| Place::of_series(self.id(at / rows), at % rows);
        let checked = |name: &str, at: usize, value: f32, shown: &dyn Fn() -> String| {
            finite(value).map_err(|flaw| TableError::bad_value(place(at), name, shown(), flaw))
        };
        let mut held = Vec::with_capacity(y.len());
        let mut series = Vec::with_capacity(n_series);
        for (i, values) in y.chunks_exact(rows).enumerate() {
            let start = held.len();
            for (row, &value) in values.iter().enumerate() {
                held.push(checked("y", start + row, value as f32, &|| value.to_string())?);
            }
            let level = SeriesLevel::of(values.iter().copied());
            if !level.is_default() {
                held[start..].iter_mut().zip(values).for_each(|(y, &value)| *y = level.hold(value));
            }
            let last = last.map_or_else(|| self.time(i, self.len(i) - 1), |last| last[i]);
            let (id, first_time) = (self.id(i).clone(), self.first_of(i, last, rows)?);
            let (reach, place) = (start + rows, self.series[i].place);
            series.push(Series { id, start, len: rows, reach, first_time, place, level });
        }
        let mut read = Vec::with_capacity(columns.len());
        for (name, values) in columns {
            check_len(&format!("column `{name}`"), y.len(), values.len())?;
            for (at, &value) in values.iter().enumerate() {
                checked(name, at, value, &|| value.to_string())?;
            }
            let mut column = Column::new(*name);
            column.values = Ok(values.to_vec().into());
            read.push(column);
        }
        let data = Data { mask: None, weight: None, columns: read, y: held.into(), ..self.data_of_rows() };
        let mut panel = self.with_series(series);
        panel.data = Arc::new(data);
        Ok(panel)
    }

    /// `n` series of one row each, of which nothing is known but that they end with the first of this panel. Their ids are numbers with
    /// as many digits, in their order.
    pub fn with_unknown_series(&self, n: usize) -> Self {
        let digits = n.saturating_sub(1).to_string().len();
        let first_time = self.time(0, self.len(0) - 1);
        let series = (0..n).map(|i| {
            let (id, level) = (format!("series {i:0digits$}").into(), SeriesLevel::default());
            Series { id, start: i, len: 1, reach: i + 1, first_time, place: i, level }
        });
        let data = Data { mask: None, weight: None, y: vec![0.0; n].into(), ..self.data_of_rows() };
        let mut panel = self.with_series(series.collect());
        panel.data = Arc::new(Data { integer_ids: false, ..data });
        panel.statics = Arc::default();
        panel
    }

    /// All that does not depend on rows.
    fn data_of_rows(&self) -> Data {
        let Data { table, freq_inferred, integer_ids, filled, trimmed, .. } = &*self.data;
        Data {
            table: table.clone(),
            freq_inferred: *freq_inferred,
            integer_ids: *integer_ids,
            filled: *filled,
            trimmed: *trimmed,
            ..Data::of_slices(Vec::new())
        }
    }

    /// The time of the first of `rows` rows, the last of which is at `last`.
    fn first_of(&self, series: usize, last: i64, rows: usize) -> Result<i64, DataError> {
        let (freq, zone, steps) = (self.freq(), self.zone(), rows as i64 - 1);
        let out = || DataError::time_range(self.id(series));
        let first = freq.next_in(zone, last, -steps).ok_or_else(out)?;
        if !(in_range(freq.kind(), zone, first) && in_range(freq.kind(), zone, last)) {
            return Err(out());
        }
        match freq.next_in(zone, first, steps) == Some(last) {
            true => Ok(first),
            false => {
                let found = freq.kind().display_in(zone, last);
                Err(TableError::setting("last", found, format!("a time that steps of `{freq}` lead to"))
                    .into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};
    use foretell_calendar::Freq;

    fn read(rows: &str, freq: &str) -> Panel {
        let options = ReadOptions { freq: Some(Freq::parse(freq).unwrap()), ..ReadOptions::new() };
        Panel::read_csv(format!("unique_id,ds,y,x\n{rows}").as_bytes(), "t.csv", &options).unwrap()
    }

    #[test]
    fn a_panel_of_new_rows_is_that_of_a_table() {
        let like = read("a,2020-01-31,1,1\nb,2020-02-29,1,1\n", "ME");
        let y = [1.5, 2.5, 3.5, 20_000_000.0, 20_000_001.0, 20_000_003.0];
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let new = like.with_new_rows(&y, &[("x", &x)], None).unwrap();
        let table = read(
            "a,2019-11-30,1.5,1\na,2019-12-31,2.5,2\na,2020-01-31,3.5,3\n\
             b,2019-12-31,20000000,4\nb,2020-01-31,20000001,5\nb,2020-02-29,20000003,6\n",
            "ME",
        );
        for series in 0..2 {
            assert_eq!(new.id(series), table.id(series));
            assert_eq!(new.y(series), table.y(series));
            assert_eq!(new.level(series), table.level(series));
            assert_eq!(new.column("x", series).unwrap(), table.column("x", series).unwrap());
            assert!(new.times(series).eq(table.times(series)));
        }
        assert!(!new.level(1).is_default());
        let later = like.with_new_rows(&y, &[], Some(&[table.time(1, 2), table.time(1, 2)])).unwrap();
        assert_eq!(later.time(0, 2), table.time(1, 2));
    }

    #[test]
    fn new_rows_must_fit() {
        let like = read("a,2020-01-31,1,1\nb,2020-01-31,1,1\n", "ME");
        let error = |y: &[f64], x: &[f32], last: Option<&[i64]>| {
            like.with_new_rows(y, &[("x", x)], last).unwrap_err().to_string()
        };
        assert!(error(&[1.0, 2.0, 3.0], &[], None).starts_with("y: 3 values where 2"));
        assert!(error(&[], &[], None).starts_with("y: 0 values where 2"));
        assert!(error(&[1.0, f64::NAN], &[1.0, 1.0], None).contains("series `b`"));
        assert!(error(&[1.0, 1e300], &[1.0, 1.0], None).contains("1000000"));
        assert!(error(&[1.0, 2.0], &[1.0], None).starts_with("column `x`: 1 values where 2"));
        assert!(error(&[1.0, 2.0], &[1.0, f32::NAN], None).contains("column `x`"));
        let off = like.time(0, 0) - 86_400_000_000;
        let four = [1.0, 2.0, 3.0, 4.0];
        assert!(error(&four, &[0.0; 4], Some(&[off, off])).starts_with("last must be a time"));
        assert!(error(&four, &[0.0; 4], Some(&[off])).starts_with("last: 1 values where 2"));
    }

    #[test]
    fn unknown_series_end_with_the_first() {
        let like = read("a,2020-01-31,1,1\nb,2020-02-29,1,1\n", "ME");
        let unknown = like.with_unknown_series(11);
        assert_eq!([&**unknown.id(0), &**unknown.id(10)], ["series 00", "series 10"]);
        assert_eq!((unknown.time(10, 0), unknown.n_series()), (like.time(0, 0), 11));
        assert!(unknown.with_new_rows(&[0.5; 22], &[], None).is_ok());
    }
}
