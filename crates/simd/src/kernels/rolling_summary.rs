//! Summaries of moving windows, and how those of longer windows follow from those of shorter ones.
//!
//! Windows are joined from smaller windows, never by taking the element that leaves out of a
//! running sum: nothing cancels, an outlier or a NaN is forgotten with its window, and every step
//! is arithmetic on whole vectors.

use crate::isa::Simd;

use crate::vector::{Lanes, Vector, Vectors};

/// A summary of the windows at every start: `F` numbers for each.
pub(super) trait Summary<T: Lanes, const F: usize>: Copy {
    /// Whether joining needs the step from one window to the other.
    const STEPS: bool;

    /// A window of one element.
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, F>;

    /// A window and its right neighbour. `step` is from the first element of the one to the first
    /// element of the other.
    fn join<S: Simd>(
        self,
        left: Vectors<T, S, F>,
        right: Vectors<T, S, F>,
        step: Vector<T, S>,
        sizes: Sizes<T>,
    ) -> Vectors<T, S, F>;

    /// The result for windows of `size` elements.
    fn finish<S: Simd>(self, window: Vectors<T, S, F>, size: usize) -> Vector<T, S>;
}

/// The sizes of two windows that are joined, as the factors that the moments need.
#[derive(Clone, Copy)]
pub(super) struct Sizes<T> {
    /// The share of the right window.
    share: T,
    /// The product of the sizes over their sum.
    pull: T,
}

impl<T: Lanes> Sizes<T> {
    #[inline(always)]
    pub(super) fn new(left: usize, right: usize) -> Self {
        let share = right as f64 / (left + right) as f64;
        Self { share: T::from_f64(share), pull: T::from_f64(share * left as f64) }
    }
}

/// The sum, times a factor at the end.
#[derive(Clone, Copy)]
pub(super) struct Sum<T> {
    pub(super) factor: T,
}

impl<T: Lanes> Summary<T, 1> for Sum<T> {
    const STEPS: bool = false;

    #[inline(always)]
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, 1> {
        [x]
    }

    #[inline(always)]
    fn join<S: Simd>(
        self,
        [left]: Vectors<T, S, 1>,
        [right]: Vectors<T, S, 1>,
        _: Vector<T, S>,
        _: Sizes<T>,
    ) -> Vectors<T, S, 1> {
        [left + right]
    }

    #[inline(always)]
    fn finish<S: Simd>(self, [sum]: Vectors<T, S, 1>, _: usize) -> Vector<T, S> {
        sum * self.factor
    }
}

/// The mean, counted from the first element of the window, and the sum of the squared deviations:
/// both follow from differences of elements, so a common level does no harm.
#[derive(Clone, Copy)]
pub(super) struct Deviation {
    pub(super) ddof: usize,
}

impl<T: Lanes> Summary<T, 2> for Deviation {
    const STEPS: bool = true;

    #[inline(always)]
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, 2> {
        // 0 for a number; NaN and infinities have no spread.
        [x * T::default(); 2]
    }

    #[inline(always)]
    fn join<S: Simd>(
        self,
        [mean, squares]: Vectors<T, S, 2>,
        [right_mean, right_squares]: Vectors<T, S, 2>,
        step: Vector<T, S>,
        sizes: Sizes<T>,
    ) -> Vectors<T, S, 2> {
        let delta = (right_mean + step) - mean;
        let squares = (delta * delta).mul_add(sizes.pull, squares + right_squares);
        [delta.mul_add(sizes.share, mean), squares]
    }

    #[inline(always)]
    fn finish<S: Simd>(self, [_, squares]: Vectors<T, S, 2>, size: usize) -> Vector<T, S> {
        (squares * T::from_f64(1.0 / (size - self.ddof) as f64)).sqrt()
    }
}

/// The smallest element, where `SIGN` is -1, or the largest, where it is 1; NaN if there is one.
#[derive(Clone, Copy)]
pub(super) struct Extremum<const SIGN: i8>;

impl<T: Lanes, const SIGN: i8> Summary<T, 1> for Extremum<SIGN> {
    const STEPS: bool = false;

    #[inline(always)]
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, 1> {
        [x]
    }

    #[inline(always)]
    fn join<S: Simd>(
        self,
        [left]: Vectors<T, S, 1>,
        [right]: Vectors<T, S, 1>,
        _: Vector<T, S>,
        _: Sizes<T>,
    ) -> Vectors<T, S, 1> {
        // Both keep a NaN of their receiver only.
        let best = if SIGN > 0 { left.at_least(right) } else { left.at_most(right) };
        [right.is_nan().select(right, best)]
    }

    #[inline(always)]
    fn finish<S: Simd>(self, [best]: Vectors<T, S, 1>, _: usize) -> Vector<T, S> {
        best
    }
}
