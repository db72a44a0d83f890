//! What a model computes of its parameters alone.

use std::fmt;
use std::sync::Arc;

use foretell_autograd::Var;
use foretell_tensor::Shape;

use crate::Forward;

/// A tensor computed of parameters alone, not of windows.
///
/// Training computes it once for all shards of a batch: they treat it as a parameter, and its gradient,
/// added up over the shards, goes on to the parameters behind it. Inference computes it once for all
/// windows.
#[derive(Clone)]
pub struct Derived {
    pub(crate) shape: Shape,
    /// Where its gradient starts behind those of the parameters, in elements.
    pub(crate) offset: usize,
    pub(crate) compute: Arc<dyn Fn(&Forward<'_>) -> Var + Send + Sync>,
}

/// A derived tensor's place in its model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedId(pub(crate) usize);

impl Derived {
    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its value, and the graph that leads its gradient to the parameters if the run records one.
    ///
    /// # Panics
    /// If the value has another shape than was registered.
    pub fn compute(&self, cx: &Forward<'_>) -> Var {
        let value = (self.compute)(cx);
        assert_eq!(value.shape(), self.shape, "shape of a derived tensor, and as registered");
        value
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Derived({:?})", self.shape)
    }
}
