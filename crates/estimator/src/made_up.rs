//! Made-up data, for forecasts whose results are thrown away.

use foretell_calendar::Freq;
use foretell_data::{DataError, Future, Panel};

use crate::estimator::Estimator;

/// A panel of `n_series` series of `rows` rows that the estimator can forecast, or learn of: values are small whole numbers above 0, as counts
/// are, every column that it reads is 1, which is the number of a category as well.
///
/// # Errors
/// If this many steps leave the calendar, or there are no rows.
pub fn made_up_panel(
    estimator: &dyn Estimator,
    freq: Freq,
    n_series: usize,
    rows: usize,
) -> Result<Panel, DataError> {
    let out = || DataError::time_range("0");
    // One step leads to a time of the frequency.
    let times = freq.next(0, 1).and_then(|first| freq.times(first, rows)).ok_or_else(out)?;
    let ids: Vec<String> = (0..n_series).map(|series| series.to_string()).collect();
    let mut builder = Panel::builder(freq.kind()).freq(freq);
    for (series, id) in ids.iter().enumerate() {
        let y: Vec<f32> = (0..rows).map(|row| (1 + (row + series) % 7) as f32).collect();
        builder = builder.series(id, &times, &y);
    }
    let columns = estimator.columns_read();
    for name in columns.of_rows() {
        builder = builder.column(name, &vec![1.0; rows * n_series]);
    }
    let of_series: Vec<(&str, f32)> = ids.iter().map(|id| (id.as_str(), 1.0)).collect();
    for name in columns.stat {
        builder = builder.static_column(name, &of_series);
    }
    builder.build()
}

/// What follows such a panel, over the estimator's horizon, of the columns that it knows ahead, if it reads some.
///
/// # Errors
/// None of a horizon above 0.
pub fn made_up_future(estimator: &dyn Estimator, panel: &Panel) -> Result<Option<Future>, DataError> {
    let (names, h) = (estimator.columns_read().futr, estimator.horizon());
    let values = vec![1.0; panel.n_series() * h];
    let columns: Vec<(&str, &[f32])> = names.iter().map(|name| (name.as_str(), &values[..])).collect();
    if columns.is_empty() { Ok(None) } else { Future::new(panel, h, &columns).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnsRead;
    use crate::error::EstimatorError;
    use crate::estimator::Trained;
    use crate::run::{HeldOut, Run};
    use foretell_data::StepError;
    use serde_json::{Map, Value};

    /// It reads a column of each kind.
    #[derive(Clone, Debug)]
    struct Reader([Vec<String>; 3]);

    impl Estimator for Reader {
        fn name(&self) -> &'static str {
            "Reader"
        }
        fn alias(&self) -> &str {
            "Reader"
        }
        fn horizon(&self) -> usize {
            2
        }
        fn set(&mut self, _: &str, _: Value) -> Result<(), EstimatorError> {
            Ok(())
        }
        fn hyper_parameters(&self) -> Map<String, Value> {
            Map::new()
        }
        fn meaning(&self, _: &str) -> Option<&'static str> {
            None
        }
        fn columns_read(&self) -> ColumnsRead<'_> {
            let [hist, futr, stat] = &self.0;
            ColumnsRead { hist, futr, stat, cat: stat }
        }
        fn fit(&self, _: &Panel, _: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
            unreachable!("it is not trained")
        }
        fn boxed(&self) -> Box<dyn Estimator> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn it_has_the_columns_that_are_read_at_times_of_any_frequency() {
        let reader = Reader([vec!["h".into()], vec!["f".into()], vec!["s".into()]]);
        for word in ["1", "D", "W-SUN", "MS", "QE", "B", "h", "YS"] {
            let freq = Freq::parse(word).unwrap();
            let panel = made_up_panel(&reader, freq, 3, 9).unwrap();
            assert_eq!((panel.n_series(), panel.len(2), panel.freq()), (3, 9, freq), "{word}");
            assert_eq!(panel.y(1)[..7], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0]);
            assert_eq!([panel.column("h", 2).unwrap(), panel.column("f", 0).unwrap()], [&[1.0; 9]; 2]);
            let future = made_up_future(&reader, &panel).unwrap().unwrap();
            assert_eq!(future.column("f").unwrap(), [1.0; 6]);
        }
        let none = Reader(Default::default());
        let panel = made_up_panel(&none, Freq::parse("D").unwrap(), 1, 1).unwrap();
        assert!(made_up_future(&none, &panel).unwrap().is_none());
        let beyond = made_up_panel(&none, Freq::parse("YS").unwrap(), 1, 20_000).unwrap_err();
        assert!(matches!(beyond, DataError::Steps(StepError::TimeRange { .. })), "{beyond}");
    }
}
