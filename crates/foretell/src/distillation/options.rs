//! The options of a distillation, and its result.

use crate::fitted::Fitted;
use crate::setters::setters;

/// The options of [`Forecaster::distil`](crate::Forecaster::distil).
///
/// ```
/// use foretell::DistillationOptions;
///
/// let options = DistillationOptions::new().lessons(5000).mixtures(2);
/// assert_eq!((options.lessons, options.mixtures), (5000, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DistillationOptions {
    /// The most cutoffs that the teacher forecasts from; where there are more, some of them, evenly spread. 20,000 by default.
    pub lessons: usize,
    /// Further series beside each of the panel, each mixed of two stretches of series, that the teacher forecasts as well: more lessons
    /// where there are few rows. 0 by default.
    pub mixtures: usize,
    /// The seed of the mixtures.
    pub seed: u64,
}

impl Default for DistillationOptions {
    fn default() -> Self {
        Self { lessons: 20_000, mixtures: 0, seed: 1 }
    }
}

impl DistillationOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// At most this many cutoffs.
        lessons(usize);
        /// This many mixed series beside each of the panel.
        mixtures(usize);
        /// The seed of the mixtures.
        seed(u64);
    }
}

/// What [`Forecaster::distil`](crate::Forecaster::distil) gives.
#[derive(Clone, Debug)]
pub struct Distilled {
    /// The student.
    pub fitted: Fitted,
    /// Cutoffs whose forecasts it learnt.
    pub lessons: usize,
    /// Steps between the cutoffs of a series.
    pub step_size: usize,
}
