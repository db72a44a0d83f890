//! Columns that are computed from a panel, and become columns of it.

use std::sync::Arc;

use super::cells::finite;
use super::column::Column;
use super::covariates::Future;
use super::panel::{Data, Panel, Series};
use crate::error::DataError;
use foretell_tables::{ColumnError, Place, TableError};

impl Panel {
    /// The panel with further columns, the rows of one series after the other in each.
    ///
    /// # Errors
    /// A column of another length or with the name of another one, a value that is not finite.
    pub fn with_computed(&self, columns: Vec<(String, Vec<f32>)>) -> Result<Self, DataError> {
        let mut panel = if self.has_own_rows_alone() { self.clone() } else { self.with_own_rows() };
        let mut data = Data::clone(&panel.data);
        for (name, values) in columns {
            if data.columns.iter().any(|known| known.name == name) {
                return Err(ColumnError::Duplicate { table: data.table, column: name }.into());
            }
            let place = |row: usize| {
                let series = panel.series.partition_point(|series| series.start + series.len <= row);
                let Series { id, start, .. } = &panel.series[series];
                Place::of_series(id, row - start)
            };
            data.columns.push(computed(name, values, panel.n_rows(), place)?);
        }
        panel.data = Arc::new(data);
        Ok(panel)
    }

    /// Whether its columns hold the rows of its series, one after the other, and nothing else.
    fn has_own_rows_alone(&self) -> bool {
        let mut end = 0;
        let follow = |series: &Series| series.start == std::mem::replace(&mut end, series.start + series.len);
        self.series.iter().all(follow) && self.data.y.len() == self.n_rows()
    }
}

impl Future {
    /// The table with further columns, `[series, h]` each.
    ///
    /// # Errors
    /// A column of another length or with the name of another one, a value that is not finite.
    pub fn with_computed(mut self, columns: Vec<(String, Vec<f32>)>) -> Result<Self, DataError> {
        for (name, values) in columns {
            self.add(computed(name, values, self.n_rows(), Place::row)?)?;
        }
        Ok(self)
    }
}

fn computed(
    name: String,
    values: Vec<f32>,
    expected: usize,
    place: impl Fn(usize) -> Place,
) -> Result<Column, DataError> {
    if values.len() != expected {
        let what = format!("column `{name}`");
        return Err(DataError::Table(TableError::Length { what, expected, found: values.len() }));
    }
    if let Some((row, value, flaw)) =
        values.iter().enumerate().find_map(|(row, value)| Some((row, value, finite(*value).err()?)))
    {
        return Err(TableError::bad_value(place(row), name, value, flaw).into());
    }
    Ok(Column { values: Ok(values.into()), ..Column::new(name) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::{Freq, TimeKind};

    fn panel() -> Panel {
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").unwrap());
        let builder = builder.series("a", &[0, 1, 2], &[1.0, 2.0, 3.0]).series("b", &[5, 6], &[4.0, 5.0]);
        builder.column("x", &[10.0, 20.0, 30.0, 40.0, 50.0]).build().unwrap()
    }

    #[test]
    fn columns_join_the_rows_of_their_series() {
        let whole = panel();
        let wide = whole.with_computed(vec![("z".into(), vec![1.0, 2.0, 3.0, 4.0, 5.0])]).unwrap();
        assert_eq!(wide.column("z", 0).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(wide.column("z", 1).unwrap(), [4.0, 5.0]);
        // Of a panel that was cut, the columns of the whole are left unchanged.
        let cut = whole.without_last(1).with_computed(vec![("z".into(), vec![7.0, 8.0, 9.0])]).unwrap();
        assert_eq!((cut.column("z", 0).unwrap(), cut.column("z", 1).unwrap()), (&[7.0, 8.0][..], &[9.0][..]));
        assert_eq!((cut.column("x", 0).unwrap(), cut.y(1)), (&[10.0, 20.0][..], &[4.0][..]));
        assert_eq!(cut.times(1).collect::<Vec<_>>(), [5]);
        let future = Future::new(&whole, 1, &[]).unwrap();
        let future = future.with_computed(vec![("z".into(), vec![6.0, 7.0])]).unwrap();
        assert_eq!(future.column("z").unwrap(), [6.0, 7.0]);
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let add = |name: &str, values: &[f32]| {
            panel().with_computed(vec![(name.to_owned(), values.to_vec())]).map(|_| ()).unwrap_err()
        };
        assert!(matches!(
            add("z", &[1.0]),
            DataError::Table(TableError::Length { expected: 5, found: 1, .. })
        ));
        assert!(matches!(
            add("x", &[0.0; 5]),
            DataError::Table(TableError::Column(ColumnError::Duplicate { .. }))
        ));
        let error = add("z", &[0.0, 0.0, 0.0, 0.0, f32::INFINITY]).to_string();
        assert!(error.contains("series `b`"), "{error}");
        let future = Future::new(&panel(), 1, &[("z", &[1.0, 2.0])]).unwrap();
        assert!(future.with_computed(vec![("z".into(), vec![1.0, 2.0])]).is_err());
    }
}
