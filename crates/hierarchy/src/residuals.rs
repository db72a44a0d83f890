//! The errors of past forecasts.

use crate::error::HierarchyError;

/// The errors of past forecasts of all series, at times that all have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    times: usize,
    /// `[series, times]`.
    values: Vec<f64>,
}

impl Residuals {
    /// The errors `[series, times]`. A time at which one is unknown (NaN) does not count.
    ///
    /// # Errors
    /// If fewer than two times are left.
    ///
    /// # Panics
    /// If the values are not a multiple of the series.
    #[track_caller]
    pub fn new(series: usize, values: &[f64]) -> Result<Self, HierarchyError> {
        let times = values.len() / series.max(1);
        assert_eq!(series * times, values.len(), "errors of {series} series");
        let known = |time: &usize| (0..series).all(|number| values[number * times + time].is_finite());
        let kept: Vec<usize> = (0..times).filter(known).collect();
        if kept.len() < 2 {
            return Err(HierarchyError::FewResiduals { found: kept.len(), needed: 2 });
        }
        let of_series = |number: usize| kept.iter().map(move |time| values[number * times + time]);
        Ok(Self { times: kept.len(), values: (0..series).flat_map(of_series).collect() })
    }

    /// Number of times.
    pub fn times(&self) -> usize {
        self.times
    }

    /// Number of series.
    pub fn n_series(&self) -> usize {
        self.values.len() / self.times
    }

    /// The errors of a series, in the order of time.
    ///
    /// # Panics
    /// If there are not this many series.
    #[track_caller]
    pub fn of_series(&self, number: usize) -> &[f64] {
        &self.values[number * self.times..][..self.times]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_a_series_lacks_do_not_count() {
        let values = [1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0, f64::INFINITY, 10.0, 11.0, 12.0];
        let residuals = Residuals::new(2, &values).unwrap();
        assert_eq!((residuals.times(), residuals.n_series()), (4, 2));
        assert_eq!(residuals.of_series(0), [1.0, 4.0, 5.0, 6.0]);
        assert_eq!(residuals.of_series(1), [7.0, 10.0, 11.0, 12.0]);
        let error = Residuals::new(2, &[1.0, f64::NAN, 3.0, 4.0]).unwrap_err();
        assert_eq!(error, HierarchyError::FewResiduals { found: 1, needed: 2 });
    }
}
