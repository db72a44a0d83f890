//! Rows that come in one after another, appended to the series that they belong to.

use std::sync::Arc;

use super::cells::{check_mask, check_weight, finite};
use super::column::ColumnKind;
use super::numbers::Numbers;
use super::panel::{Data, Panel};
use super::read::{AVAILABLE_MASK, WEIGHT};
use crate::error::DataError;
use crate::error::series::SeriesError;
use foretell_messages::nearest;
use foretell_tables::{ColumnError, Flaw, Place, TableError};

impl Panel {
    /// Appends rows to a series, at the times that follow its last by the frequency: their `y`, and the values of every further
    /// column of the panel. `available_mask` and `sample_weight` come under these names, if the panel has them; where they are
    /// left out, they are 1.
    ///
    /// A series has twice the room that it needs when it grows, so a row costs the same however long the series is, on average. A
    /// panel that shares its columns with another (a clone, a cut) copies them first.
    ///
    /// ```
    /// use foretell_calendar::Freq;
    /// use foretell_data::Panel;
    ///
    /// let mut panel = Panel::from_series(Freq::parse("h")?, [("meter", 0, vec![1.0, 2.0, 3.0])])?;
    /// panel.append("meter", &[4.0, 5.0], &[])?;
    /// assert_eq!(panel.y(0), [1.0, 2.0, 3.0, 4.0, 5.0]);
    /// # Ok::<(), foretell_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// A series that the panel does not have, a column that is missing, not there, or of another length, a value that is no number,
    /// and times that leave the calendar. The panel is then unchanged.
    pub fn append(&mut self, id: &str, y: &[f32], columns: &[(&str, &[f32])]) -> Result<(), DataError> {
        let series = self.find(id).ok_or_else(|| {
            let ids = self.ids().map(|id| &**id);
            SeriesError::Unknown { id: id.to_owned(), nearest: nearest(id, ids) }
        })?;
        self.check_appended(series, y, columns)?;
        let own = self.series[series].clone();
        let (from, to) = (own.start + own.len, own.start + own.len + y.len());
        let data = Arc::make_mut(&mut self.data);
        let start = match to <= own.reach {
            true => own.start,
            false => {
                let end = data.y.len();
                // The last series in memory grows in place.
                let start = if own.reach == end { own.start } else { end };
                let room = 2 * (own.len + y.len());
                data.each(|values| {
                    values.resize(start + room, 0.0);
                    if start != own.start {
                        values.copy_within(own.start..from, start);
                    }
                });
                self.series[series].reach = start + room;
                start
            }
        };
        let rows = start + own.len..start + own.len + y.len();
        let appended =
            |name: &str| columns.iter().find(|(column, _)| *column == name).map(|(_, values)| *values);
        let held = &mut data.y[rows.clone()];
        held.copy_from_slice(y);
        if !own.level.is_default() {
            held.iter_mut().for_each(|y| *y = own.level.hold(f64::from(*y)));
        }
        for (name, values) in [(AVAILABLE_MASK, &mut data.mask), (WEIGHT, &mut data.weight)] {
            if let Some(values) = values {
                match appended(name) {
                    Some(appended) => values[rows.clone()].copy_from_slice(appended),
                    None => values[rows.clone()].fill(1.0),
                }
            }
        }
        for column in &mut data.columns {
            if let (Ok(values), Some(appended)) = (&mut column.values, appended(&column.name)) {
                values[rows.clone()].copy_from_slice(appended);
            }
        }
        self.series[series].start = start;
        self.series[series].len += y.len();
        Ok(())
    }

    fn check_appended(&self, series: usize, y: &[f32], columns: &[(&str, &[f32])]) -> Result<(), DataError> {
        let Data { mask, weight, columns: own, table, .. } = &*self.data;
        let marks = [(AVAILABLE_MASK, mask.is_some()), (WEIGHT, weight.is_some())];
        let marks = marks.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name);
        let names: Vec<&str> = self.column_names().chain(marks).collect();
        for (name, values) in columns {
            if !names.contains(name) {
                let remedy = "give one of these names, or leave it out";
                return Err(TableError::missing_column(table, name, names.iter().copied(), remedy).into());
            }
            if values.len() != y.len() {
                let what = format!("column `{name}`");
                return Err(DataError::Table(TableError::Length {
                    what,
                    expected: y.len(),
                    found: values.len(),
                }));
            }
        }
        for column in own {
            if matches!(column.kind, ColumnKind::Labels(_)) {
                return Err(ColumnError::Labels { column: column.name.clone() }.into());
            }
            let names = columns.iter().map(|(name, _)| *name);
            if column.values.is_ok() && !names.clone().any(|name| name == column.name) {
                let remedy = "give its values in the new rows";
                return Err(
                    TableError::missing_column(&"the new rows".into(), &column.name, names, remedy).into()
                );
            }
        }
        let known = columns.iter().find(|(name, _)| *name == AVAILABLE_MASK).map(|(_, mask)| *mask);
        let check = |name: &str, values: &[f32], check: &dyn Fn(usize, f32) -> Result<f32, Flaw>| {
            let wrong = values
                .iter()
                .enumerate()
                .find_map(|(row, &value)| Some((row, value, check(row, value).err()?)));
            wrong.map_or(Ok(()), |(row, value, flaw)| {
                let at = Place::of_series(self.id(series), self.len(series) + row);
                Err(TableError::bad_value(at, name, value, flaw))
            })
        };
        check("y", y, &|row, value| match known {
            Some(mask) if mask[row] == 0.0 && value.is_nan() => Err(Flaw::Missing),
            _ => finite(value),
        })?;
        for (name, values) in columns {
            check(name, values, &|_, value| match *name {
                AVAILABLE_MASK => check_mask(value),
                WEIGHT => check_weight(value),
                _ => finite(value),
            })?;
        }
        self.future_times(series, y.len()).map(drop)
    }
}

impl Data {
    /// Shows `change` each array of one value per row.
    fn each(&mut self, change: impl Fn(&mut Vec<f32>)) {
        let extras = self.columns.iter_mut().filter_map(|column| column.values.as_mut().ok());
        let numbers = extras.chain(&mut self.mask).chain(&mut self.weight).chain([&mut self.y]);
        numbers.map(Numbers::vec).for_each(change);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use foretell_calendar::{Freq, TimeKind};

    fn panel() -> Panel {
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").unwrap());
        let builder = builder.series("a", &[0, 1], &[1.0, 2.0]).series("b", &[5], &[3.0]);
        builder.column("x", &[10.0, 20.0, 30.0]).available_mask(&[1.0, 0.0, 1.0]).build().unwrap()
    }

    #[test]
    fn rows_follow_their_series() {
        let mut panel = panel();
        let before = panel.clone();
        panel.append("a", &[7.0, 8.0], &[("x", &[40.0, 50.0])]).unwrap();
        panel.append("b", &[9.0], &[("x", &[60.0]), ("available_mask", &[0.0])]).unwrap();
        assert_eq!((panel.y(0), panel.y(1)), (&[1.0, 2.0, 7.0, 8.0][..], &[3.0, 9.0][..]));
        assert_eq!(panel.column("x", 0).unwrap(), [10.0, 20.0, 40.0, 50.0]);
        assert_eq!(panel.available_mask(0), Some(&[1.0, 0.0, 1.0, 1.0][..]));
        assert_eq!(panel.available_mask(1), Some(&[1.0, 0.0][..]));
        assert_eq!(panel.times(1).collect::<Vec<_>>(), [5, 6]);
        assert_eq!((before.y(0), before.n_rows()), (&[1.0, 2.0][..], 3), "a clone stays as it is");
        let mut cut = panel.without_last(1);
        cut.append("a", &[0.5], &[("x", &[1.0])]).unwrap();
        assert_eq!((cut.y(0), panel.y(0)[3]), (&[1.0, 2.0, 7.0, 0.5][..], 8.0));
    }

    #[test]
    fn what_does_not_fit_leaves_the_panel_as_it_was() {
        let mut panel = panel();
        let x: (&str, &[f32]) = ("x", &[1.0]);
        for (id, y, columns, message) in [
            ("c", &[1.0][..], &[x][..], "no series `c`"),
            ("a", &[1.0], &[], "no column `x`"),
            ("a", &[1.0], &[x, ("z", &[1.0])], "no column `z`"),
            ("a", &[1.0, 2.0], &[x], "column `x`: 1 values where 2 are expected"),
            ("a", &[f32::NAN], &[x], "series `a`, row 2, column `y`: \"NaN\" is missing"),
            ("a", &[1.0], &[x, ("available_mask", &[2.0])], "is not 0 or 1"),
        ] {
            let error = panel.append(id, y, columns).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert_eq!((panel.n_rows(), panel.y(0)), (3, &[1.0, 2.0][..]));
        }
    }

    #[test]
    fn a_row_costs_as_much_in_a_long_series() {
        let freq = Freq::parse("1").unwrap();
        let mut panel = Panel::from_series(freq, [("a", 0, vec![0.0]), ("b", 0, vec![0.0])]).unwrap();
        for i in 0..4000 {
            panel.append(["a", "b"][i % 2], &[i as f32], &[]).unwrap();
        }
        assert_eq!((panel.len(0), panel.y(1)[2000]), (2001, 3999.0));
        // Each series has moved as often as it has doubled.
        assert!(panel.data.y.len() < 16 * 4002, "{}", panel.data.y.len());
    }

    proptest! {
        #[test]
        fn appending_gives_what_reading_at_once_gives(pieces in prop::collection::vec((0..3_usize, 1..5_usize), 1..30)) {
            let freq = Freq::parse("1").unwrap();
            let ids = ["a", "b", "c"];
            let mut grown = Panel::from_series(freq, ids.map(|id| (id, 0, vec![-1.0]))).unwrap();
            let mut whole = [const { Vec::new() }; 3].map(|_: Vec<f32>| vec![-1.0_f32]);
            for (i, (series, rows)) in pieces.into_iter().enumerate() {
                let y: Vec<f32> = (0..rows).map(|row| (i * 10 + row) as f32).collect();
                grown.append(ids[series], &y, &[]).unwrap();
                whole[series].extend(y);
            }
            for (series, y) in whole.iter().enumerate() {
                prop_assert_eq!(grown.y(series), &y[..]);
            }
        }
    }
}
