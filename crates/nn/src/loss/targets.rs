//! The true values that forecasts are compared with.

use std::fmt;

/// The targets of `n` windows of `horizon` steps, with the facts about the windows that a loss needs.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    /// Steps of a window.
    pub horizon: usize,
    /// `[n, horizon]`: on the scale of the forecast, or for a distribution's loss as in the data.
    pub target: &'a [f32],
    /// The weight of each step, `[n, horizon]`.
    pub weights: &'a [f32],
    /// [`Loss::error_scale`](crate::Loss::error_scale) of each window's history, `[n]`; empty stands for 1.
    pub error_scale: &'a [f32],
    /// The shift of each window's target, `[n]`, for a distribution's loss; empty stands for 0.
    pub loc: &'a [f32],
    /// The scale that each window's target was divided by, `[n]`, for a distribution's loss; empty stands for 1.
    pub scale: &'a [f32],
}

impl fmt::Debug for Targets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let windows = self.target.len() / self.horizon.max(1);
        f.debug_struct("Targets")
            .field("windows", &windows)
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

impl<'a> Targets<'a> {
    /// A target `[n, horizon]` with its weights, and nothing else known of the windows.
    pub fn new(horizon: usize, target: &'a [f32], weights: &'a [f32]) -> Self {
        Self { horizon, target, weights, error_scale: &[], loc: &[], scale: &[] }
    }

    /// Panics if the lengths do not fit.
    pub(super) fn check(&self) {
        let Self { horizon, target, weights, error_scale, loc, scale } = *self;
        let n = target.len() / horizon.max(1);
        let fits = |values: &[f32]| values.is_empty() || values.len() == n;
        assert!(
            target.len() == n * horizon
                && weights.len() == target.len()
                && [error_scale, loc, scale].map(fits) == [true; 3],
            "{n} windows of {horizon} steps with {} targets, {} weights, {} error scales, {} locations and {} scales",
            target.len(),
            weights.len(),
            error_scale.len(),
            loc.len(),
            scale.len()
        );
    }
}

/// The values of the target that a loss is defined for, in words and as a test.
pub(super) type Support = (&'static str, fn(f32) -> bool);

pub(super) const NUMBERS: Support = ("a number", |_| true);
pub(super) const FROM_ZERO: Support = ("at least 0", |y| y >= 0.0);
