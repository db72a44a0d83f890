//! An operand that several threads write, each its own heads and steps.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

use foretell_gemm::MatMut;

use crate::sizes::{OperandMut, Strides};
use crate::tiles::Head;

/// An operand whose elements lie at distinct places, of which each thread writes heads and steps of its own.
pub(crate) struct Shared<'a> {
    start: NonNull<f32>,
    strides: Strides,
    borrow: PhantomData<&'a mut [f32]>,
}

// SAFETY: an exclusive borrow of the elements, which only unsafe functions hand out: their callers promise that no element is
// handed out twice at a time.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    /// The operand, whose bounds and distinct places were checked.
    pub(crate) fn of(operand: OperandMut<'a>) -> Self {
        Self { start: NonNull::from(operand.data).cast(), strides: operand.strides, borrow: PhantomData }
    }

    /// Rows of `dim` numbers.
    ///
    /// # Safety
    /// The head and the steps exist, and while the view lives no one else has any of these rows.
    pub(crate) unsafe fn rows(&self, head: Head, steps: Range<usize>, dim: usize) -> MatMut<'_, f32> {
        // SAFETY: these elements lie within the slice and at distinct places, as was checked; no one else has them, as the
        // caller says.
        unsafe {
            let start = self.place(head, steps.start, steps.len() * dim);
            MatMut::from_raw(start, steps.len(), dim, self.strides.step, 1)
        }
    }

    /// One of the rows.
    ///
    /// # Safety
    /// As [`Shared::rows`].
    #[expect(clippy::mut_from_ref, reason = "each row has one owner, as the caller says")]
    pub(crate) unsafe fn row(&self, head: Head, step: usize, dim: usize) -> &mut [f32] {
        // SAFETY: as in `rows`; the numbers of a row lie side by side.
        unsafe { std::slice::from_raw_parts_mut(self.place(head, step, dim).as_ptr(), dim) }
    }

    /// Where `count` numbers begin with a step; without numbers there may be no such place.
    ///
    /// # Safety
    /// If there are numbers, the head and the step exist.
    unsafe fn place(&self, head: Head, step: usize, count: usize) -> NonNull<f32> {
        let Self { start, strides, .. } = self;
        match count {
            0 => *start,
            // SAFETY: the element is within the slice, as was checked.
            _ => unsafe { start.add(strides.at(head.batch, head.head) + step * strides.step) },
        }
    }
}

/// A dense array whose rows several threads write, each row by one thread only.
pub(crate) struct Dense<'a>(NonNull<f32>, PhantomData<&'a mut [f32]>);

// SAFETY: as of `Shared`.
unsafe impl Sync for Dense<'_> {}

impl<'a> Dense<'a> {
    pub(crate) fn of(data: &'a mut [f32]) -> Self {
        Self(NonNull::from(data).cast(), PhantomData)
    }

    /// Some of the elements.
    ///
    /// # Safety
    /// The elements exist, and while the slice lives no one else has any of them.
    #[expect(clippy::mut_from_ref, reason = "each element has one owner, as the caller says")]
    pub(crate) unsafe fn part(&self, range: Range<usize>) -> &mut [f32] {
        // SAFETY: the caller's contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start).as_ptr(), range.len()) }
    }
}
