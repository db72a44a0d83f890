//! Borrowed matrices with strides, checked when they are made.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

/// A matrix to read: element `(i, j)` is `data[i * row_stride + j * col_stride]`.
///
/// Strides are in elements; a stride of zero repeats the same row or column.
#[derive(Clone, Copy)]
pub struct MatRef<'a, T> {
    /// From the first element to the last one, and perhaps beyond.
    pub(crate) data: &'a [T],
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) row_stride: usize,
    pub(crate) col_stride: usize,
}

/// A matrix to write. Its elements lie at distinct places.
pub struct MatMut<'a, T> {
    pub(crate) start: NonNull<T>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) row_stride: usize,
    pub(crate) col_stride: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: a `MatMut` is an exclusive borrow of its elements, as `&mut [T]` is.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: a shared `MatMut` gives shared access to its elements only, as `&&mut [T]` does.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

/// The number of elements from the first to the last of a strided array; `None` if it overflows.
pub(crate) fn extent(dims: &[(usize, usize)]) -> Option<usize> {
    if dims.iter().any(|(count, _)| *count == 0) {
        return Some(0);
    }
    let last = dims
        .iter()
        .try_fold(0usize, |last, (count, stride)| last.checked_add((count - 1).checked_mul(*stride)?))?;
    last.checked_add(1).filter(|extent| *extent <= isize::MAX as usize)
}

/// Whether each stride steps over all that the smaller ones reach, so that no two elements share a
/// place. The extent must not overflow.
pub(crate) fn distinct<const N: usize>(mut dims: [(usize, usize); N]) -> bool {
    if dims.iter().any(|(count, _)| *count == 0) {
        return true;
    }
    dims.sort_unstable_by_key(|(_, stride)| *stride);
    let mut reach = 0;
    dims.iter().filter(|(count, _)| *count > 1).all(|(count, stride)| {
        let steps_over = *stride > reach;
        reach += (count - 1) * stride;
        steps_over
    })
}

impl<'a, T> MatRef<'a, T> {
    /// A view of `data` with the given strides.
    ///
    /// # Panics
    ///
    /// If the last element is beyond the slice.
    #[track_caller]
    pub fn new(data: &'a [T], rows: usize, cols: usize, row_stride: usize, col_stride: usize) -> Self {
        let extent = extent(&[(rows, row_stride), (cols, col_stride)]);
        let Some(data) = extent.and_then(|extent| data.get(..extent)) else {
            beyond(rows, cols, row_stride, col_stride, data.len())
        };
        Self { data, rows, cols, row_stride, col_stride }
    }

    /// A view of `rows * cols` elements, row after row without gaps.
    ///
    /// # Panics
    ///
    /// If the slice does not have exactly that length.
    #[track_caller]
    pub fn row_major(data: &'a [T], rows: usize, cols: usize) -> Self {
        assert_dense(data.len(), rows, cols);
        Self { data, rows, cols, row_stride: cols, col_stride: 1 }
    }

    /// The transpose, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            data: self.data,
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
        }
    }

    /// Some of the rows.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the rows.
    #[must_use]
    #[track_caller]
    pub fn rows(self, range: Range<usize>) -> Self {
        assert_range(&range, self.rows);
        let rows = range.len();
        let dims = [(rows, self.row_stride), (self.cols, self.col_stride)];
        let extent = extent(&dims).expect("a part is no longer than the whole");
        let start = if extent == 0 { 0 } else { range.start * self.row_stride };
        Self { data: &self.data[start..start + extent], rows, ..self }
    }

    /// Some of the columns.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the columns.
    #[must_use]
    #[track_caller]
    pub fn cols(self, range: Range<usize>) -> Self {
        self.t().rows(range).t()
    }

    /// The number of rows.
    pub fn nrows(self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(self) -> usize {
        self.cols
    }

    /// Elements from one row to the next.
    pub fn row_stride(self) -> usize {
        self.row_stride
    }

    /// Elements from one column to the next.
    pub fn col_stride(self) -> usize {
        self.col_stride
    }

    /// The elements from the first to the last, with whatever is between and behind them.
    pub(crate) fn data(self) -> &'a [T] {
        self.data
    }

    /// An element.
    ///
    /// # Safety
    ///
    /// The view has that row and that column.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        // SAFETY: every element of the view is within its slice.
        unsafe { *self.data.get_unchecked(i * self.row_stride + j * self.col_stride) }
    }

    /// A row whose columns are adjacent.
    pub(crate) fn row(self, i: usize) -> &'a [T] {
        debug_assert!(self.col_stride == 1 || self.cols <= 1);
        let start = i * self.row_stride;
        &self.data[start..start + self.cols]
    }
}

impl<'a, T> MatMut<'a, T> {
    /// A view of `data` with the given strides.
    ///
    /// # Panics
    ///
    /// If the last element is beyond the slice, or if elements may share a place: the larger stride
    /// must step over everything that the smaller one reaches.
    #[track_caller]
    pub fn new(data: &'a mut [T], rows: usize, cols: usize, row_stride: usize, col_stride: usize) -> Self {
        let dims = [(rows, row_stride), (cols, col_stride)];
        if extent(&dims).is_none_or(|extent| extent > data.len()) {
            beyond(rows, cols, row_stride, col_stride, data.len());
        }
        assert!(
            distinct(dims),
            "elements of a {rows}x{cols} destination with strides {row_stride} and {col_stride} overlap"
        );
        // SAFETY: the last element is within the slice, and no two share a place.
        unsafe { Self::from_raw(NonNull::from(data).cast(), rows, cols, row_stride, col_stride) }
    }

    /// A view of `rows * cols` elements, row after row without gaps.
    ///
    /// # Panics
    ///
    /// If the slice does not have exactly that length.
    #[track_caller]
    pub fn row_major(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        assert_dense(data.len(), rows, cols);
        // SAFETY: as many elements as the slice has, each at its own place.
        unsafe { Self::from_raw(NonNull::from(data).cast(), rows, cols, cols, 1) }
    }

    /// A view of elements that no slice may hold, since others lie between them that are written elsewhere meanwhile.
    ///
    /// # Safety
    ///
    /// For `'a` no one else uses the elements at `start + i * row_stride + j * col_stride`; they are
    /// valid and lie at distinct places of one allocation.
    pub unsafe fn from_raw(
        start: NonNull<T>,
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Self {
        Self { start, rows, cols, row_stride, col_stride, borrow: PhantomData }
    }

    /// The same view for a shorter time.
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { borrow: PhantomData, ..*self }
    }

    /// The transpose, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }

    /// Some of the rows.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the rows.
    #[must_use]
    #[track_caller]
    pub fn rows(self, range: Range<usize>) -> Self {
        assert_range(&range, self.rows);
        let skipped = if range.is_empty() || self.cols == 0 { 0 } else { range.start * self.row_stride };
        // SAFETY: a part of the borrowed elements: row `range.start` is one of them.
        Self { start: unsafe { self.start.add(skipped) }, rows: range.len(), ..self }
    }

    /// Some of the columns.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the columns.
    #[must_use]
    #[track_caller]
    pub fn cols(self, range: Range<usize>) -> Self {
        self.t().rows(range).t()
    }

    /// The number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.cols
    }

    /// Elements from one row to the next.
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Elements from one column to the next.
    pub fn col_stride(&self) -> usize {
        self.col_stride
    }

    #[cfg(feature = "faer")]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// A row whose columns are adjacent.
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [T] {
        assert!(i < self.rows && (self.col_stride == 1 || self.cols <= 1));
        let skipped = if self.cols == 0 { 0 } else { i * self.row_stride };
        // SAFETY: the row's elements are adjacent, borrowed exclusively and within the view.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(skipped), self.cols) }
    }

    /// All elements as one slice, if they are adjacent, row after row.
    pub(crate) fn dense_mut(&mut self) -> Option<&mut [T]> {
        let dense =
            (self.col_stride == 1 || self.cols <= 1) && (self.row_stride == self.cols || self.rows <= 1);
        // SAFETY: `rows * cols` adjacent elements, borrowed exclusively.
        dense.then(|| unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.rows * self.cols) })
    }

    /// The element at `(i, j)`.
    pub(crate) fn at(&mut self, i: usize, j: usize) -> &mut T {
        // SAFETY: within the view, and borrowed exclusively.
        unsafe { &mut *self.ptr_at(i, j) }
    }

    /// A pointer to the element at `(i, j)`, by which its neighbours in the view may be written too.
    pub(crate) fn ptr_at(&mut self, i: usize, j: usize) -> *mut T {
        assert!(i < self.rows && j < self.cols);
        // SAFETY: within the view.
        unsafe { self.start.as_ptr().add(i * self.row_stride + j * self.col_stride) }
    }
}

impl<T> fmt::Debug for MatRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} with strides {}, {}", self.rows, self.cols, self.row_stride, self.col_stride)
    }
}

impl<T> fmt::Debug for MatMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} with strides {}, {}", self.rows, self.cols, self.row_stride, self.col_stride)
    }
}

#[cold]
#[track_caller]
fn beyond(rows: usize, cols: usize, row_stride: usize, col_stride: usize, len: usize) -> ! {
    panic!("a {rows}x{cols} matrix with strides {row_stride} and {col_stride} exceeds its {len} elements")
}

#[track_caller]
fn assert_dense(len: usize, rows: usize, cols: usize) {
    assert!(
        rows.checked_mul(cols) == Some(len),
        "a {rows}x{cols} matrix was given a slice of {len} elements"
    );
}

#[track_caller]
fn assert_range(range: &Range<usize>, len: usize) {
    assert!(
        range.start <= range.end && range.end <= len,
        "range {}..{} of {len} rows or columns",
        range.start,
        range.end
    );
}
