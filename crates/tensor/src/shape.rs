//! A short list of sizes, held inline: shapes and strides are copied on every operation.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// The largest number of dimensions a tensor may have.
pub const MAX_RANK: usize = 6;

/// Up to [`MAX_RANK`] sizes: the shape of a tensor, or its strides in elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    // Sizes past `rank` are zero, so that derived equality compares only what counts.
    rank: u8,
    sizes: [usize; MAX_RANK],
}

impl Shape {
    /// A shape of these sizes, outermost first.
    ///
    /// # Panics
    /// With more than [`MAX_RANK`] sizes.
    #[track_caller]
    pub fn new(sizes: &[usize]) -> Self {
        assert!(sizes.len() <= MAX_RANK, "a tensor has at most {MAX_RANK} dimensions, got shape {sizes:?}");
        let mut shape = Self { rank: sizes.len() as u8, sizes: [0; MAX_RANK] };
        shape.sizes[..sizes.len()].copy_from_slice(sizes);
        shape
    }

    /// The number of elements: the product of the sizes, 1 for a scalar.
    pub fn numel(&self) -> usize {
        self.iter().product()
    }

    /// The strides, in elements, of a row-major tensor of this shape.
    pub fn row_major_strides(&self) -> Self {
        let mut strides = *self;
        let mut step = 1;
        for axis in (0..self.len()).rev() {
            strides[axis] = step;
            step *= self[axis];
        }
        strides
    }

    /// The shape with `size` at `axis` taken out.
    pub fn without(&self, axis: usize) -> Self {
        let mut sizes = [0; MAX_RANK];
        sizes[..axis].copy_from_slice(&self[..axis]);
        sizes[axis..self.len() - 1].copy_from_slice(&self[axis + 1..]);
        Self::new(&sizes[..self.len() - 1])
    }

    /// The shape with `size` put in before `axis`.
    #[track_caller]
    pub fn with(&self, axis: usize, size: usize) -> Self {
        assert!(self.len() < MAX_RANK, "no room for another dimension in shape {self:?}");
        let mut sizes = [0; MAX_RANK];
        sizes[..axis].copy_from_slice(&self[..axis]);
        sizes[axis] = size;
        sizes[axis + 1..=self.len()].copy_from_slice(&self[axis..]);
        Self::new(&sizes[..=self.len()])
    }

    /// The shape that both shapes stretch to: sizes are matched from the last one back, and a size of 1
    /// or a missing one stretches (NumPy's rule). `None` where two sizes differ and neither is 1.
    pub fn broadcast(&self, other: &Self) -> Option<Self> {
        let rank = self.len().max(other.len());
        let mut sizes = [0; MAX_RANK];
        for back in 1..=rank {
            let size = |shape: &Self| if back <= shape.len() { shape[shape.len() - back] } else { 1 };
            sizes[rank - back] = match (size(self), size(other)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => return None,
            };
        }
        Some(Self::new(&sizes[..rank]))
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.sizes[..self.rank as usize]
    }
}

impl DerefMut for Shape {
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.sizes[..self.rank as usize]
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl From<&[usize]> for Shape {
    #[track_caller]
    fn from(sizes: &[usize]) -> Self {
        Self::new(sizes)
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    #[track_caller]
    fn from(sizes: [usize; N]) -> Self {
        Self::new(&sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_numel() {
        let shape = Shape::from([2, 3, 4]);
        assert_eq!(shape.numel(), 24);
        assert_eq!(&*shape.row_major_strides(), [12, 4, 1]);
        assert_eq!(Shape::from([]).numel(), 1);
    }

    #[test]
    fn taking_out_and_putting_in_are_inverse() {
        let shape = Shape::from([2, 3, 4]);
        assert_eq!(&*shape.without(1), [2, 4]);
        assert_eq!(shape.without(1).with(1, 3), shape);
    }

    #[test]
    fn broadcasting_follows_numpy() {
        let b = |a: &[usize], b: &[usize]| Shape::new(a).broadcast(&Shape::new(b)).map(|s| s.to_vec());
        assert_eq!(b(&[2, 3], &[3]), Some(vec![2, 3]));
        assert_eq!(b(&[2, 1], &[1, 5]), Some(vec![2, 5]));
        assert_eq!(b(&[], &[4]), Some(vec![4]));
        assert_eq!(b(&[2], &[3]), None);
    }
}
