//! One dimension of an array, for kernels that walk it.

/// A dimension of a row-major array: `outer` blocks of `len` steps, each of `inner` neighbouring values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The product of the sizes before the dimension.
    pub outer: usize,
    /// The size of the dimension.
    pub len: usize,
    /// The product of the sizes behind it.
    pub inner: usize,
}

impl Axis {
    /// Dimension `axis` of `shape`.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[track_caller]
    pub fn of(shape: &[usize], axis: usize) -> Self {
        assert!(axis < shape.len(), "axis {axis} of shape {shape:?}");
        let (outer, inner) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
        Self { outer, len: shape[axis], inner }
    }

    /// The number of values of the array.
    pub fn numel(self) -> usize {
        self.outer * self.len * self.inner
    }

    /// The number of lines along the dimension.
    pub fn lines(self) -> usize {
        self.outer * self.inner
    }

    #[track_caller]
    pub(crate) fn check(self, what: &str, values: usize) {
        assert!(values == self.numel(), "{what} of {self:?}: {values} values");
    }
}
