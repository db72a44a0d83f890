//! One entry of a model's table of parameters, and where its first values come from.

use std::fmt;
use std::sync::Arc;

use foretell_tensor::Shape;

use crate::Init;

/// A parameter's place in its model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamId(pub(crate) usize);

/// The place in its model's table of state that training changes but no gradient does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub(crate) ParamId);

/// A counter's place in its model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterId(pub(crate) ParamId);

/// One parameter, one constant, state or a counter.
#[derive(Clone, Debug)]
pub struct ParamEntry {
    /// The path that PyTorch's state dictionary has for it.
    pub name: String,
    /// Its shape, as PyTorch has it.
    pub shape: Shape,
    /// Where it starts in the arena of its kind, in elements.
    pub offset: usize,
    /// Whether PyTorch has complex numbers for it, whose two parts are its last dimension.
    pub is_complex: bool,
    pub(crate) origin: Origin,
}

impl ParamEntry {
    /// Whether gradients change it.
    pub fn is_trained(&self) -> bool {
        matches!(self.origin, Origin::Trained(_) | Origin::LookedUp(_))
    }

    /// Whether it is a matrix or a kernel that training changes and that something is multiplied with: no bias, no norm, and no
    /// table whose rows are looked up.
    pub fn is_weight(&self) -> bool {
        // Factors of norms begin at 1, whatever the number of their dimensions; some norms divide by them.
        let is_factor = |init: &Init| matches!(init, Init::Constant(first) if *first != 0.0);
        let is_drawn = matches!(&self.origin, Origin::Trained(init) if !is_factor(init));
        is_drawn && self.shape.len() > 1 && !self.name.ends_with("bias")
    }

    /// Whether nothing changes it.
    pub fn is_constant(&self) -> bool {
        matches!(self.origin, Origin::Constant(_))
    }

    /// Whether it is drawn as a parameter is, but not trained: see [`Scope::frozen`](crate::Scope::frozen).
    pub fn is_frozen(&self) -> bool {
        matches!(self.origin, Origin::Frozen(_))
    }

    /// Whether it is a 64-bit counter, which [`Params::counter`](crate::Params::counter) reads.
    pub fn is_counter(&self) -> bool {
        matches!(self.origin, Origin::Counter)
    }
}

/// Where the first values come from.
#[derive(Clone)]
pub(crate) enum Origin {
    Trained(Init),
    /// Trained, but no matrix of a product: its rows are looked up.
    LookedUp(Init),
    Constant(Fill),
    /// Initialised as if trained, stored among the constants.
    Frozen(Init),
    State(f32),
    Counter,
}

/// Runs when the arenas are allocated, so that absurd sizes are found before anything is.
pub(crate) type Fill = Arc<dyn Fn(&mut [f32]) + Send + Sync>;

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trained(init) | Self::LookedUp(init) | Self::Frozen(init) => init.fmt(f),
            Self::Constant(_) => write!(f, "constant"),
            Self::State(first) => write!(f, "state from {first}"),
            Self::Counter => write!(f, "counter"),
        }
    }
}
