//! How many series a model forecasts together without changing a bit.

use std::sync::atomic::{AtomicU8, Ordering};

/// Requests that are computed together, at most.
pub(crate) const MOST: usize = 16;

/// Trials that have to agree: data on which sums of another order happen to be the same would have to come so often.
const TRIALS: u8 = 3;

/// That a trial did not agree.
const DIFFERS: u8 = u8::MAX;

/// Whether this many series may be forecast together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointSize {
    /// It was not tried often enough yet.
    Unknown,
    /// This many series together have the forecasts that each has alone.
    Same,
    /// They have not: sums over other shapes are added up in another order, or a window holds all series.
    Other,
}

/// How many trials agreed, for each number of series that a model may forecast together. Kernels and the order of their
/// sums follow from shapes alone, so what holds for a number of series holds whatever their values are.
#[derive(Debug)]
pub(crate) struct JointSizes([AtomicU8; MOST + 1]);

impl Default for JointSizes {
    fn default() -> Self {
        Self([const { AtomicU8::new(0) }; MOST + 1])
    }
}

impl JointSizes {
    /// Whether this many series may be forecast together.
    pub(crate) fn get(&self, size: usize) -> JointSize {
        match self.0[size].load(Ordering::Relaxed) {
            DIFFERS => JointSize::Other,
            agreed if agreed >= TRIALS => JointSize::Same,
            _ => JointSize::Unknown,
        }
    }

    /// Keeps what a trial found.
    pub(crate) fn tried(&self, size: usize, agrees: bool) {
        let next = |known: u8| match agrees {
            _ if known == DIFFERS => None,
            true => Some(TRIALS.min(known + 1)),
            false => Some(DIFFERS),
        };
        // One that differed before stays so.
        let _ = self.0[size].fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }

    /// The most series, of this many, that may be forecast together; 1 where none may.
    pub(crate) fn most_of(&self, count: usize) -> usize {
        (2..=count.min(MOST)).rev().find(|size| self.get(*size) != JointSize::Other).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_change_bits_are_passed_over() {
        let sizes = JointSizes::default();
        assert_eq!([1, 5, 99].map(|count| sizes.most_of(count)), [1, 5, MOST]);
        (4..=MOST).for_each(|size| sizes.tried(size, false));
        assert_eq!([1, 2, 3, 5, 99].map(|count| sizes.most_of(count)), [1, 2, 3, 3, 3]);
        for known in [JointSize::Unknown, JointSize::Unknown, JointSize::Same] {
            sizes.tried(3, true);
            assert_eq!(sizes.get(3), known);
        }
        sizes.tried(4, true);
        assert_eq!(sizes.get(4), JointSize::Other);
        (2..=MOST).for_each(|size| sizes.tried(size, false));
        assert_eq!(sizes.most_of(99), 1);
    }
}
