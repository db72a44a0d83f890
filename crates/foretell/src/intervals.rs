//! Where the intervals of models come from that forecast a single number.

use std::fmt;
use std::str::FromStr;

use crate::conformal::PredictionIntervals;
use crate::error::Error;
use crate::interval_error::IntervalError;

/// Samples by dropout, where their number is not said.
const SAMPLES: usize = 100;

/// Where the intervals of models come from that forecast a single number.
///
/// ```
/// use foretell::Intervals;
///
/// let intervals: Intervals = "dropout:200".parse()?;
/// assert_eq!(intervals, Intervals::Dropout { samples: 200 });
/// assert!("1:conformal_error".parse::<Intervals>().is_err(), "one window is too few");
/// # Ok::<(), foretell::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Intervals {
    /// The errors of forecasts of the past, for which the models are trained twice.
    Calibrated(PredictionIntervals),
    /// Quantiles of this many forecasts of a network with dropout (Gal and Ghahramani 2016). They say how unsure the network is of
    /// its forecast, not how noisy the values are, and are mostly too narrow: the docs have their coverage.
    Dropout {
        /// Forecasts of each window; at least 2.
        samples: usize,
    },
    /// The spread of the members of an ensemble, as if the truth were one more of them: intervals of Student's t distribution
    /// around its forecast. They are the ensemble's alone.
    Spread,
}

impl From<PredictionIntervals> for Intervals {
    fn from(intervals: PredictionIntervals) -> Self {
        Self::Calibrated(intervals)
    }
}

impl fmt::Display for Intervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calibrated(intervals) => intervals.fmt(f),
            Self::Dropout { samples } => write!(f, "dropout:{samples}"),
            Self::Spread => write!(f, "spread"),
        }
    }
}

/// Reads `N[:METHOD[:STEP]]`, `dropout[:N]` or `spread`.
impl FromStr for Intervals {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || IntervalError::IntervalsText { found: text.to_owned() };
        match text.split_once(':').unwrap_or((text, "")) {
            ("spread", "") => Ok(Self::Spread),
            ("dropout", "") if !text.ends_with(':') => Ok(Self::Dropout { samples: SAMPLES }),
            ("dropout", samples) => match samples.parse() {
                Ok(samples @ 2..=10_000) => Ok(Self::Dropout { samples }),
                _ => Err(wrong().into()),
            },
            _ => text.parse().map(Self::Calibrated),
        }
    }
}
