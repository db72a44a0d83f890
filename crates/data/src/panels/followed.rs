//! Panels whose series are followed by the rows of others, to validate on.

use std::sync::Arc;

use super::column::Column;
use super::level::SeriesLevel;
use super::numbers::Numbers;
use super::panel::{Data, Panel};
use crate::error::DataError;
use crate::error::series::SeriesError;
use foretell_messages::nearest;

impl Panel {
    /// The rows of each series, and after them those of the same series of `later`, whatever the times of these are: rows count
    /// as steps, and times continue from the first. Static columns are those of this panel; of further columns those that both have
    /// remain. Rows whose value is not known, and weights, are taken over from either.
    ///
    /// # Errors
    /// If the two do not have the same series.
    pub fn followed_by(&self, later: &Self) -> Result<Self, DataError> {
        for (here, there) in [(self, later), (later, self)] {
            if let Some(id) = here.ids().find(|id| there.find(id).is_none()) {
                let nearest = nearest(id, there.ids().map(|id| &**id));
                return Err(SeriesError::Unknown { id: id.to_string(), nearest }.into());
            }
        }
        let later = &later
            .with_levels(|id| self.find(id).map_or(SeriesLevel::default(), |series| self.level(series)));
        let rows = self.n_rows() + later.n_rows();
        let values_of = |first: &dyn Fn(usize) -> f32, second: &dyn Fn(usize) -> f32| -> Vec<f32> {
            let mut values = Vec::with_capacity(rows);
            for (before, after) in self.series.iter().zip(&later.series) {
                values.extend(before.rows().map(first).chain(after.rows().map(second)));
            }
            values
        };
        let both = |first: &[f32], second: &[f32]| values_of(&|row| first[row], &|row| second[row]);
        // What is not said of a row is 1.
        let or_ones = |first: &Option<Numbers>, second: &Option<Numbers>| {
            let of = |values: &Option<Numbers>, row: usize| values.as_ref().map_or(1.0, |values| values[row]);
            (first.is_some() || second.is_some())
                .then(|| values_of(&|row| of(first, row), &|row| of(second, row)).into())
        };
        let mut columns: Vec<Column> = Vec::new();
        for column in &self.data.columns {
            let Ok(second) = later.find_column(&column.name) else { continue };
            columns.push(match (column.usable(), second.usable()) {
                (Ok(first), Ok(second)) => column.with_values(|_| both(first, second)),
                // An error only when it is used.
                _ if column.values.is_err() => column.clone(),
                _ if second.values.is_err() => second.clone(),
                _ => continue,
            });
        }
        let data = Data {
            mask: or_ones(&self.data.mask, &later.data.mask),
            weight: or_ones(&self.data.weight, &later.data.weight),
            ..self.data.with_values(both(&self.data.y, &later.data.y).into(), columns)
        };
        let (mut series, mut start) = (self.series.clone(), 0);
        for (series, after) in series.iter_mut().zip(&later.series) {
            series.len += after.len;
            series.start = start;
            start += series.len;
            series.reach = start;
        }
        let mut joined = self.with_series(series);
        joined.data = Arc::new(data);
        Ok(joined)
    }
}

#[cfg(test)]
mod tests {
    use crate::panels::panel::Panel;
    use foretell_calendar::{Freq, TimeKind};

    fn panel(rows: &[(&str, i64, &[f32])], column: Option<&[f32]>) -> Panel {
        let mut builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").unwrap());
        for (id, first, y) in rows {
            let times: Vec<i64> = (*first..).take(y.len()).collect();
            builder = builder.series(id, &times, y);
        }
        let builder = column.into_iter().fold(builder, |builder, column| builder.column("x", column));
        builder.build().unwrap()
    }

    #[test]
    fn rows_stand_behind_those_of_their_series() {
        let first = panel(
            &[("a", 0, &[1.0, 2.0, 3.0]), ("b", 5, &[4.0, 5.0])],
            Some(&[10.0, 20.0, 30.0, 40.0, 50.0]),
        );
        let later = panel(&[("b", 99, &[7.0]), ("a", 50, &[6.0])], Some(&[70.0, 60.0]));
        let joined = first.followed_by(&later).unwrap();
        assert_eq!((joined.y(0), joined.y(1)), (&[1.0, 2.0, 3.0, 6.0][..], &[4.0, 5.0, 7.0][..]));
        assert_eq!((joined.len(0), joined.time(0, 3), joined.time(1, 2)), (4, 3, 7));
        // Values of a column stand as the builder had them: in the order of the series that were added.
        assert_eq!(joined.column("x", 0).unwrap()[3], later.column("x", 0).unwrap()[0]);
        assert_eq!(joined.column("x", 1).unwrap()[..2], [40.0, 50.0]);

        let without = panel(&[("b", 0, &[7.0]), ("a", 0, &[6.0])], None);
        assert!(first.followed_by(&without).unwrap().column("x", 0).is_err());
    }

    #[test]
    fn other_series_are_refused() {
        let (both, one) =
            (panel(&[("a", 0, &[1.0]), ("b", 0, &[1.0])], None), panel(&[("a", 0, &[1.0])], None));
        let message = |first: &Panel, later: &Panel| first.followed_by(later).unwrap_err().to_string();
        assert!(message(&both, &one).contains("no series `b`"));
        assert!(message(&one, &both).contains("no series `b`"));
    }
}
