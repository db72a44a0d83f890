//! How many series a model forecasts together without changing a bit.

use std::sync::atomic::{AtomicU8, Ordering};

/// Requests that are computed together, at most.
pub(crate) const MOST: usize = 16;

/// What is known of a number of series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum JointSize {
    /// It was not tried yet.
    Unknown,
    /// So many series together have the forecasts that each has alone.
    Same,
    /// They have not: sums over other shapes are added up in another order, or a window holds all series.
    Other,
}

/// What is known of each number of series that a model may forecast together. Kernels and the order of their sums follow from shapes
/// alone, so a number that gave the same bits once gives them always.
#[derive(Debug)]
pub(crate) struct JointSizes([AtomicU8; MOST + 1]);

impl Default for JointSizes {
    fn default() -> Self {
        Self([const { AtomicU8::new(JointSize::Unknown as u8) }; MOST + 1])
    }
}

impl JointSizes {
    /// What is known of this number.
    pub(crate) fn get(&self, size: usize) -> JointSize {
        match self.0[size].load(Ordering::Relaxed) {
            known if known == JointSize::Unknown as u8 => JointSize::Unknown,
            known if known == JointSize::Same as u8 => JointSize::Same,
            _ => JointSize::Other,
        }
    }

    /// Keeps what a trial found.
    pub(crate) fn set(&self, size: usize, found: JointSize) {
        self.0[size].store(found as u8, Ordering::Relaxed);
    }

    /// The most series, of so many, that may be forecast together; 1 where none may.
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
        (4..=MOST).for_each(|size| sizes.set(size, JointSize::Other));
        sizes.set(3, JointSize::Same);
        assert_eq!([1, 2, 3, 5, 99].map(|count| sizes.most_of(count)), [1, 2, 3, 3, 3]);
        (2..=MOST).for_each(|size| sizes.set(size, JointSize::Other));
        assert_eq!(sizes.most_of(99), 1);
    }
}
