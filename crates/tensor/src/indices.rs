//! Places along a dimension.

use std::fmt;
use std::sync::Arc;

use foretell_pool::Buffer;

use crate::shape::Shape;
use crate::storage::written;
use crate::trace::TracedOperand;

/// A row-major array of places along a dimension: the result of a search, the argument of a gather. Cloning copies no
/// values.
#[derive(Clone)]
pub struct Indices {
    values: Arc<Buffer<u32>>,
    shape: Shape,
}

impl Indices {
    /// Places that `write` fills in. It gets initialised places that are unspecified and must write each one; in debug
    /// builds those it does not write are the largest number.
    pub fn build(shape: impl Into<Shape>, write: impl FnOnce(&mut [u32])) -> Self {
        let shape = shape.into();
        Self { values: Arc::new(written(shape.numel(), write)), shape }
    }

    /// A copy of `values`, row-major.
    ///
    /// # Panics
    /// If their number is not that of the shape.
    #[track_caller]
    pub fn from_slice(values: &[u32], shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        assert_eq!(values.len(), shape.numel(), "{} places do not make shape {shape:?}", values.len());
        Self { values: Arc::new(Buffer::copied(values)), shape }
    }

    /// The sizes of the dimensions, outermost first.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The places, row-major.
    pub fn values(&self) -> &[u32] {
        &self.values
    }
}

impl From<&Indices> for TracedOperand {
    fn from(places: &Indices) -> Self {
        Self::Places { values: places.values.clone(), shape: places.shape }
    }
}

impl fmt::Debug for Indices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Indices{:?} {:?}", self.shape, &self.values[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_shape() {
        let built = Indices::build([2, 2], |out| out.copy_from_slice(&[3, 1, 0, 2]));
        assert_eq!(built.values(), Indices::from_slice(&[3, 1, 0, 2], [2, 2]).values());
        assert_eq!(format!("{built:?}"), "Indices[2, 2] [3, 1, 0, 2]");
    }

    #[test]
    #[should_panic(expected = "3 places do not make shape [2, 2]")]
    fn a_wrong_number_of_places_panics() {
        Indices::from_slice(&[1, 2, 3], [2, 2]);
    }
}
