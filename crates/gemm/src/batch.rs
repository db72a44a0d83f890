//! Borrowed batches of matrices of one shape, checked when they are made.

use std::fmt;
use std::ptr::NonNull;

use crate::view::{MatMut, MatRef, distinct, extent};

/// Matrices to read, one every `batch_stride` elements; a stride of zero repeats the same matrix.
#[derive(Clone, Copy)]
pub struct BatchRef<'a> {
    /// The first matrix, and behind its elements those of the others.
    pub(crate) first: MatRef<'a, f32>,
    pub(crate) count: usize,
    batch_stride: usize,
}

/// Matrices to write, one every `batch_stride` elements. All elements lie at distinct places, and all are borrowed.
pub struct BatchMut<'a> {
    pub(crate) first: MatMut<'a, f32>,
    pub(crate) count: usize,
    batch_stride: usize,
}

impl<'a> BatchRef<'a> {
    /// A view of `data` with the given strides: element `(b, i, j)` is
    /// `data[b * batch_stride + i * row_stride + j * col_stride]`.
    ///
    /// # Panics
    ///
    /// If the last element is beyond the slice.
    #[track_caller]
    pub fn new(
        data: &'a [f32],
        count: usize,
        batch_stride: usize,
        (rows, cols): (usize, usize),
        (row_stride, col_stride): (usize, usize),
    ) -> Self {
        assert_within(data.len(), count, batch_stride, (rows, cols), (row_stride, col_stride));
        Self { first: MatRef { data, rows, cols, row_stride, col_stride }, count, batch_stride }
    }

    /// A view of `count * rows * cols` elements without gaps: matrix after matrix, row after row.
    ///
    /// # Panics
    ///
    /// If the slice does not have exactly that length.
    #[track_caller]
    pub fn row_major(data: &'a [f32], count: usize, rows: usize, cols: usize) -> Self {
        assert_dense(data.len(), count, rows, cols);
        Self::new(data, count, rows * cols, (rows, cols), (cols, 1))
    }

    /// The transpose of each matrix, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        Self { first: self.first.t(), ..self }
    }

    /// A matrix of the batch.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> MatRef<'a, f32> {
        assert!(index < self.count);
        let MatRef { data, rows, cols, .. } = self.first;
        let start = if rows == 0 || cols == 0 { 0 } else { index * self.batch_stride };
        MatRef { data: &data[start..], ..self.first }
    }
}

impl<'a> From<MatRef<'a, f32>> for BatchRef<'a> {
    /// A batch of one.
    fn from(first: MatRef<'a, f32>) -> Self {
        Self { first, count: 1, batch_stride: 0 }
    }
}

impl<'a> BatchMut<'a> {
    /// A view of `data` with the given strides: element `(b, i, j)` is
    /// `data[b * batch_stride + i * row_stride + j * col_stride]`.
    ///
    /// # Panics
    ///
    /// If the last element is beyond the slice, or if elements may share a place: ordered by size,
    /// each stride must step over everything that the smaller ones reach.
    #[track_caller]
    pub fn new(
        data: &'a mut [f32],
        count: usize,
        batch_stride: usize,
        (rows, cols): (usize, usize),
        (row_stride, col_stride): (usize, usize),
    ) -> Self {
        assert_within(data.len(), count, batch_stride, (rows, cols), (row_stride, col_stride));
        assert!(
            distinct([(count, batch_stride), (rows, row_stride), (cols, col_stride)]),
            "elements of {count} destinations of {rows}x{cols} with strides {batch_stride}, {row_stride} \
             and {col_stride} overlap"
        );
        let start = NonNull::from(data).cast();
        // SAFETY: the elements of all matrices are within the slice, and no two share a place. Where there are no matrices, nothing
        // reads or writes the first.
        let first = unsafe { MatMut::from_raw(start, rows, cols, row_stride, col_stride) };
        Self { first, count, batch_stride }
    }

    /// A view of `count * rows * cols` elements without gaps: matrix after matrix, row after row.
    ///
    /// # Panics
    ///
    /// If the slice does not have exactly that length.
    #[track_caller]
    pub fn row_major(data: &'a mut [f32], count: usize, rows: usize, cols: usize) -> Self {
        assert_dense(data.len(), count, rows, cols);
        Self::new(data, count, rows * cols, (rows, cols), (cols, 1))
    }

    /// The transpose of each matrix, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        Self { first: self.first.t(), ..self }
    }

    /// A matrix of the batch.
    ///
    /// # Safety
    ///
    /// While it is used, no element of it is used otherwise.
    #[inline]
    pub(crate) unsafe fn get(&self, index: usize) -> MatMut<'_, f32> {
        assert!(index < self.count);
        let MatMut { start, rows, cols, row_stride, col_stride, .. } = self.first;
        let skipped = if rows == 0 || cols == 0 { 0 } else { index * self.batch_stride };
        // SAFETY: one of the borrowed matrices, whose elements lie within the slice at distinct places;
        // the caller sees to exclusiveness.
        unsafe { MatMut::from_raw(start.add(skipped), rows, cols, row_stride, col_stride) }
    }
}

impl<'a> From<MatMut<'a, f32>> for BatchMut<'a> {
    /// A batch of one.
    fn from(first: MatMut<'a, f32>) -> Self {
        Self { first, count: 1, batch_stride: 0 }
    }
}

impl fmt::Debug for BatchRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} every {} of {:?}", self.count, self.batch_stride, self.first)
    }
}

impl fmt::Debug for BatchMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} every {} of {:?}", self.count, self.batch_stride, self.first)
    }
}

#[track_caller]
fn assert_within(
    len: usize,
    count: usize,
    batch_stride: usize,
    (rows, cols): (usize, usize),
    (row_stride, col_stride): (usize, usize),
) {
    let extent = extent(&[(count, batch_stride), (rows, row_stride), (cols, col_stride)]);
    assert!(
        extent.is_some_and(|extent| extent <= len),
        "{count} matrices of {rows}x{cols} with strides {batch_stride}, {row_stride} and {col_stride} exceed \
         their {len} elements"
    );
}

#[track_caller]
fn assert_dense(len: usize, count: usize, rows: usize, cols: usize) {
    assert!(
        rows.checked_mul(cols).and_then(|size| size.checked_mul(count)) == Some(len),
        "{count} matrices of {rows}x{cols} were given a slice of {len} elements"
    );
}
