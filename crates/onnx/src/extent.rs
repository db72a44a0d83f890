//! Sizes that grow with the number of windows.

/// `each` times the number of windows, plus `fixed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) each: usize,
    pub(crate) fixed: usize,
}

/// The numbers of windows of the two runs: primes that no other size of a small model is likely to be.
pub(crate) const RUNS: [usize; 2] = [5, 7];

impl Extent {
    /// One that does not grow.
    pub(crate) fn fixed(size: usize) -> Self {
        Self { each: 0, fixed: size }
    }

    /// The size that was the first of these in the first run, the other in the second; `None` if no line leads through them.
    pub(crate) fn through([a, b]: [usize; 2]) -> Option<Self> {
        let [few, many] = RUNS;
        let rise = b.checked_sub(a)?;
        let each = rise / (many - few);
        let fixed = a.checked_sub(each * few)?;
        (each * (many - few) == rise).then_some(Self { each, fixed })
    }

    /// The extents of two shapes.
    pub(crate) fn of_shapes(a: &[usize], b: &[usize]) -> Option<Vec<Self>> {
        if a.len() != b.len() {
            return None;
        }
        a.iter().zip(b).map(|(&a, &b)| Self::through([a, b])).collect()
    }

    pub(crate) fn is_fixed(self) -> bool {
        self.each == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_leads_through_the_sizes_of_two_runs() {
        assert_eq!(Extent::through([15, 21]), Some(Extent { each: 3, fixed: 0 }));
        assert_eq!(Extent::through([11, 15]), Some(Extent { each: 2, fixed: 1 }));
        assert_eq!(Extent::through([4, 4]), Some(Extent::fixed(4)));
        assert_eq!(Extent::through([4, 5]), None, "half a step for each window");
        assert_eq!(Extent::through([5, 4]), None, "fewer of more windows");
        assert_eq!(Extent::through([1, 5]), None, "less than none of no window");
    }
}
