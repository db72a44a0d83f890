//! The rows of a series as the model sees them: when they are, and the columns beside the target.

use std::ops::Range;

use foretell_calendar::TimeKind;
use foretell_data::{DataError, Future, FutureError, Panel};
use foretell_estimator::EstimatorError;

use crate::error::ProphetError;

/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// Rows of a series, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Times as clocks show them, in microseconds since 1970-01-01 00:00 on them.
    pub(crate) times: Vec<i64>,
    /// The columns that the settings name, `[columns, rows]`.
    pub(crate) columns: Vec<Vec<f64>>,
    /// Their places in the series.
    pub(crate) places: Vec<usize>,
}

impl Rows {
    /// Rows of a series, which may lie behind its end; values of columns there are those of `future`.
    ///
    /// # Errors
    /// If times are step numbers or leave the calendar, or a column or its future is missing.
    pub(crate) fn new(
        panel: &Panel,
        series: usize,
        rows: Range<usize>,
        names: &[String],
        future: Option<&Future>,
    ) -> Result<Self, EstimatorError> {
        if panel.freq().kind() == TimeKind::Integer {
            return Err(ProphetError::StepNumbers.into());
        }
        let len = panel.len(series);
        let known = rows.start.min(len)..rows.end.min(len);
        let ahead = rows.start.max(len) - len..rows.end.max(len) - len;
        let mut times: Vec<i64> = known.clone().map(|row| panel.time(series, row)).collect();
        times.extend_from_slice(&panel.future_times(series, ahead.end)?[ahead.clone()]);
        if let Some(zone) = panel.zone() {
            let out = || DataError::time_range(panel.id(series));
            times =
                times.into_iter().map(|time| zone.civil(time).ok_or_else(out)).collect::<Result<_, _>>()?;
        }
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let mut values: Vec<f64> =
                panel.column(name, series)?[known.clone()].iter().map(|&x| f64::from(x)).collect();
            if !ahead.is_empty() {
                let lacks = || DataError::Future(FutureError::Needed { columns: names.to_vec() });
                let future = future.ok_or_else(lacks)?;
                let of_series = &future.column(name)?[series * future.h()..][..future.h()];
                let found = future.h();
                let values_ahead = of_series
                    .get(ahead.clone())
                    .ok_or(DataError::Future(FutureError::Shape { expected: ahead.end, found }))?;
                values.extend(values_ahead.iter().map(|&x| f64::from(x)));
            }
            columns.push(values);
        }
        Ok(Self { times, columns, places: rows.collect() })
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Those rows alone for which `keep` is true.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut kept = keep.iter();
            values.retain(|_| *kept.next().expect("a word for each row"));
        }
        retain(&mut self.times, keep);
        retain(&mut self.places, keep);
        self.columns.iter_mut().for_each(|column| retain(column, keep));
    }
}
