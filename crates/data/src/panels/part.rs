//! Some of the series of a panel, for those who work through a large panel piece by piece.

use std::ops::Range;
use std::sync::Arc;

use super::column::Column;
use super::covariates::Future;
use super::panel::Panel;
use crate::error::DataError;
use crate::error::future::FutureError;

impl Panel {
    /// The series in these places. Nothing is copied.
    ///
    /// # Panics
    /// If the panel has no such series.
    #[track_caller]
    pub fn of_series(&self, places: Range<usize>) -> Self {
        self.with_series(self.series[places].to_vec())
    }

    /// The series in these places, in ascending order. Nothing is copied.
    ///
    /// # Panics
    /// If the panel has no such series, or the places do not ascend.
    #[track_caller]
    pub fn of_places(&self, places: &[usize]) -> Self {
        assert!(places.is_sorted_by(|a, b| a < b), "places of series do not ascend: {places:?}");
        self.with_series(places.iter().map(|&place| self.series[place].clone()).collect())
    }

    /// The same panel with nothing but the rows and static values of its own series in memory: what is computed for
    /// all rows, such as scaled columns, is then computed for these alone.
    pub fn with_own_rows(&self) -> Self {
        let mut own = self.continued(&[], None);
        let place = |values: &[f32]| self.series.iter().map(|series| values[series.place]).collect();
        own.statics = Arc::new(self.statics.iter().map(|column| column.with_values(place)).collect());
        own.series.iter_mut().enumerate().for_each(|(place, series)| series.place = place);
        own
    }
}

impl Future {
    /// The values of the series in these places.
    ///
    /// # Errors
    /// [`FutureError::Shape`] if there are no values for them.
    pub fn of_series(&self, places: Range<usize>) -> Result<Self, DataError> {
        let rows = places.start * self.h()..places.end * self.h();
        if rows.end > self.n_rows() {
            return Err(FutureError::Shape { expected: rows.end, found: self.n_rows() }.into());
        }
        let some = |values: &[f32]| values[rows.clone()].to_vec();
        let columns: Vec<Column> = self.columns().iter().map(|column| column.with_values(some)).collect();
        Ok(Self::of_columns([places.len(), self.h()], self.table().clone(), columns))
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, TimeKind};

    use super::*;

    fn panel() -> Panel {
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").unwrap());
        let builder = builder.series("a", &[0, 1], &[1.0, 2.0]).series("b", &[5, 6, 7], &[3.0, 4.0, 5.0]);
        let builder = builder.series("c", &[1], &[6.0]).column("x", &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        let panel = builder.available_mask(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]).build().unwrap();
        panel.with_static("size", &[("a", 0.1), ("b", 0.2), ("c", 0.3)]).unwrap()
    }

    #[test]
    fn a_part_is_what_it_is_in_the_whole() {
        let whole = panel();
        let part = whole.of_series(1..3);
        for part in [part.with_own_rows(), part] {
            assert_eq!(part.ids().map(|id| &**id).collect::<Vec<_>>(), ["b", "c"]);
            for series in 0..2 {
                let same = series + 1;
                assert_eq!(part.y(series), whole.y(same));
                assert_eq!(part.column("x", series).unwrap(), whole.column("x", same).unwrap());
                assert_eq!(part.available_mask(series), whole.available_mask(same));
                assert_eq!(
                    part.static_value("size", series).unwrap(),
                    whole.static_value("size", same).unwrap()
                );
                assert_eq!(part.times(series).collect::<Vec<_>>(), whole.times(same).collect::<Vec<_>>());
            }
        }
        assert_eq!(*whole.of_series(1..3).with_own_rows().data.y, [3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn some_series_are_those_of_their_places() {
        let (whole, some) = (panel(), panel().of_places(&[0, 2]));
        assert_eq!(some.ids().map(|id| &**id).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(some.y(1), whole.y(2));
        assert_eq!(some.static_value("size", 1).unwrap(), whole.static_value("size", 2).unwrap());
    }

    #[test]
    fn the_future_of_a_part_is_that_of_its_series() {
        let x: Vec<f32> = (0..6).map(|x| x as f32).collect();
        let future = Future::new(&panel(), 2, &[("x", &x)]).unwrap();
        let part = future.of_series(1..2).unwrap();
        assert_eq!((part.h(), part.column("x").unwrap()), (2, &[2.0, 3.0][..]));
        assert!(matches!(
            future.of_series(2..4),
            Err(DataError::Future(FutureError::Shape { expected: 8, found: 6 }))
        ));
    }
}
