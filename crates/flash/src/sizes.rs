//! How large the operands of attention are, and where their elements lie.

/// The sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Windows, each of which attends to itself only.
    pub batch: usize,
    /// Heads of a window.
    pub heads: usize,
    /// Steps of the queries.
    pub queries: usize,
    /// Steps of the keys and the values.
    pub keys: usize,
    /// Width of a query and of a key.
    pub dim: usize,
    /// Width of a value.
    pub value_dim: usize,
}

impl Sizes {
    /// Heads of all windows.
    pub(crate) fn all_heads(&self) -> usize {
        self.batch * self.heads
    }

    /// Queries of all heads of all windows: the length of the saved statistics.
    ///
    /// # Panics
    /// If no slice is that long.
    #[track_caller]
    pub fn rows(&self) -> usize {
        self.times(self.queries)
    }

    /// Scores of all heads of all windows.
    #[track_caller]
    pub(crate) fn all_scores(&self) -> usize {
        let of_a_head = self.queries.checked_mul(self.keys);
        self.times(of_a_head.unwrap_or_else(|| panic!("too many scores of a head: {self:?}")))
    }

    /// This many numbers for each head of all windows.
    #[track_caller]
    fn times(&self, numbers: usize) -> usize {
        let all = self.batch.checked_mul(self.heads).and_then(|heads| heads.checked_mul(numbers));
        all.unwrap_or_else(|| panic!("more numbers than there is memory: {self:?}"))
    }
}

/// Where an operand's rows lie: element `d` of step `t` of head `h` of window `b` is `data[b * batch + h * head + t * step + d]`.
///
/// ```
/// use foretell_flash::Strides;
///
/// // As a linear layer leaves 4 heads of 8 numbers for 24 steps: [batch, 24, 4 * 8].
/// assert_eq!(Strides::packed(24, 4, 8), Strides { batch: 768, head: 8, step: 32 });
/// // Heads before steps: [batch, 4, 24, 8].
/// assert_eq!(Strides::heads_first(4, 24, 8), Strides { batch: 768, head: 192, step: 8 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// From a window to the next.
    pub batch: usize,
    /// From a head to the next.
    pub head: usize,
    /// From a step to the next.
    pub step: usize,
}

impl Strides {
    /// `[batch, steps, heads, dim]`: as a linear layer leaves its outputs.
    pub fn packed(steps: usize, heads: usize, dim: usize) -> Self {
        Self { batch: steps * heads * dim, head: dim, step: heads * dim }
    }

    /// `[batch, heads, steps, dim]`.
    pub fn heads_first(heads: usize, steps: usize, dim: usize) -> Self {
        Self { batch: heads * steps * dim, head: steps * dim, step: dim }
    }

    pub(crate) fn at(&self, batch: usize, head: usize) -> usize {
        batch * self.batch + head * self.head
    }

    /// Panics unless all elements lie within `len`.
    #[track_caller]
    pub(crate) fn check(&self, what: &str, len: usize, [batch, heads, steps, dim]: [usize; 4]) {
        let dims = [(batch, self.batch), (heads, self.head), (steps, self.step), (dim, 1)];
        if dims.iter().any(|(count, _)| *count == 0) {
            return;
        }
        let last = dims
            .iter()
            .try_fold(0usize, |last, (count, stride)| last.checked_add((count - 1).checked_mul(*stride)?));
        assert!(
            last.is_some_and(|last| last < len),
            "{what} of {batch} windows, {heads} heads, {steps} steps and {dim} numbers with {self:?} do not lie in {len} elements"
        );
    }

    /// [`Strides::check`], and that no two elements lie at the same place.
    #[track_caller]
    pub(crate) fn check_distinct(
        &self,
        what: &str,
        len: usize,
        sizes @ [batch, heads, steps, dim]: [usize; 4],
    ) {
        self.check(what, len, sizes);
        let mut dims = [(batch, self.batch), (heads, self.head), (steps, self.step), (dim, 1)];
        if dims.iter().any(|(count, _)| *count == 0) {
            return;
        }
        dims.sort_unstable_by_key(|(_, stride)| *stride);
        let mut reach = 0;
        for (count, stride) in dims.into_iter().filter(|(count, _)| *count > 1) {
            assert!(stride > reach, "{what}: elements overlap, with {self:?}");
            reach += (count - 1) * stride;
        }
    }
}

/// An operand that is read.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Its elements, and perhaps others between them.
    pub data: &'a [f32],
    /// Their layout. A stride of 0 repeats, as for keys and values that all heads share.
    pub strides: Strides,
}

/// An operand that is written. Its elements lie at distinct places.
#[derive(Debug)]
pub struct OperandMut<'a> {
    /// Its elements, and perhaps others between them, which stay unchanged.
    pub data: &'a mut [f32],
    /// Their layout.
    pub strides: Strides,
}
