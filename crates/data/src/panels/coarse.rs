//! Series whose values single precision can hardly tell apart.

use std::sync::Arc;

use super::panel::Panel;
use super::precision::{SINGLE, loses_steps};

impl Panel {
    /// Whether there are any [`coarse_series`](Self::coarse_series).
    pub(super) fn is_coarse(&self) -> bool {
        (0..self.n_series()).any(|series| self.is_coarse_series(series))
    }

    /// Whether there is a series whose known values are all held as 0.
    pub(super) fn has_zero_series(&self) -> bool {
        let is_zero = |y: &f32| y.is_nan() || *y == 0.0;
        (0..self.n_series()).any(|series| self.known_y(series, 0..self.len(series)).iter().all(is_zero))
    }

    pub(super) fn is_coarse_series(&self, series: usize) -> bool {
        let values = self.known_y(series, 0..self.len(series));
        loses_steps(values.iter().copied().map(f64::from), &SINGLE)
    }

    /// The ids of series whose values single precision, which holds about 7 digits, can hardly tell apart as the panel holds them,
    /// [`SeriesLevel`](crate::SeriesLevel)s considered: those that change little against their level (20000000, then 20000001), and those
    /// that are next to 0 (1e-30).
    pub fn coarse_series(&self) -> Vec<Arc<str>> {
        let coarse = (0..self.n_series()).filter(|&series| self.is_coarse_series(series));
        coarse.map(|series| self.id(series).clone()).collect()
    }
}
