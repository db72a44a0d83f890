//! Columns known in advance, before and within the rows of a forecast.

use std::ops::Range;

use foretell_data::{DataError, Future, FutureError, Panel};

/// The values of a column of a series beside its history and beside a forecast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownColumn {
    /// Beside the history.
    pub past: Vec<f64>,
    /// Beside the forecast.
    pub ahead: Vec<f64>,
}

impl KnownColumn {
    /// The column of a series before these rows and within them; rows behind the end of the series are those of `future`.
    ///
    /// # Errors
    /// If the panel lacks the column, or there are no or too few values behind its end.
    pub fn of(
        panel: &Panel,
        series: usize,
        name: &str,
        rows: Range<usize>,
        future: Option<&Future>,
    ) -> Result<Self, DataError> {
        let (len, values) = (panel.len(series), panel.column(name, series)?);
        let numbers = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let mut ahead = numbers(&values[rows.start.min(len)..rows.end.min(len)]);
        if rows.end > len {
            let lacks = || DataError::Future(FutureError::Needed { columns: vec![name.to_owned()] });
            let future = future.ok_or_else(lacks)?;
            let of_series = &future.column(name)?[series * future.h()..][..future.h()];
            let (needed, found) = (rows.end - len, future.h());
            let first = rows.start.max(len) - len;
            let behind = of_series
                .get(first..needed)
                .ok_or(DataError::Future(FutureError::Shape { expected: needed, found }))?;
            ahead.extend(numbers(behind));
        }
        Ok(Self { past: numbers(&values[..rows.start]), ahead })
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, TimeKind};
    use foretell_data::Span;

    use super::*;
    use crate::forecasts::cutoffs_beside;

    #[test]
    fn values_are_those_of_the_panel_and_of_what_follows() {
        let freq = Freq::parse("D").expect("days");
        let times = freq.times(0, 4).expect("times");
        let builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times, &[0.0; 4]);
        let panel = builder.column("x", &[1.0, 2.0, 3.0, 4.0]).build().expect("a panel");
        let future = Future::new(&panel, 2, &[("x", &[5.0, 6.0])]).expect("a column");
        let of = |rows: Range<usize>, future: Option<&Future>| KnownColumn::of(&panel, 0, "x", rows, future);
        let inside = of(2..4, None).expect("rows of the panel");
        assert_eq!((inside.past, inside.ahead), (vec![1.0, 2.0], vec![3.0, 4.0]));
        let across = of(3..6, Some(&future)).expect("rows behind it");
        assert_eq!((across.past.len(), across.ahead), (3, vec![4.0, 5.0, 6.0]));
        assert!(matches!(of(4..6, None), Err(DataError::Future(FutureError::Needed { .. }))));
        assert!(matches!(
            of(4..7, Some(&future)),
            Err(DataError::Future(FutureError::Shape { expected: 3, found: 2 }))
        ));
        let columns = ["x".to_owned()];
        let cutoffs = cutoffs_beside(&panel, Span::Predict { future: Some(&future) }, 2, &columns);
        assert_eq!(cutoffs.expect("one forecast"), [(0, 4)]);
        assert!(cutoffs_beside(&panel, Span::Predict { future: None }, 2, &columns).is_err());
    }
}
