//! Which parameters a layer multiplies with, as plain places in the table: what code that holds weights in other ways than the arena
//! needs to know of a layer.

use foretell_tensor::Shape;

use crate::param_entry::ParamId;

/// The parameters of a linear layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearParams {
    /// `[outputs, inputs]`, or `[outputs, inputs, 1]`.
    pub(crate) weight: ParamId,
    /// `[outputs]`.
    pub(crate) bias: Option<ParamId>,
    /// Why its products stay in `f32` where others are rounded to 16 bits, if they do.
    pub(crate) stays_f32: Option<&'static str>,
}

/// The parameters of one recurrent layer.
#[derive(Clone, Debug)]
pub(crate) struct RecurrentParams {
    /// W, the weights of the input: `[gates * hidden, inputs]`.
    pub(crate) input: ParamId,
    /// U, the weights of the state: `[gates * hidden, state]`.
    pub(crate) state: ParamId,
    /// The biases beside W and U, `[gates * hidden]` each.
    pub(crate) biases: Option<[ParamId; 2]>,
    /// P, which an LSTM projects its states with: `[state, hidden]`.
    pub(crate) projection: Option<ParamId>,
}

/// The sizes of two layers, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSizes {
    /// Numbers that the first layer reads.
    pub inputs: usize,
    /// Numbers between the two.
    pub hidden: usize,
    /// Numbers that the second layer makes.
    pub outputs: usize,
}

/// The weights of two linear layers without an activation between them, multiplied: `P [inputs + 1, outputs]`, whose
/// rows are the outputs of the layers for the unit vectors, `[W₁, b₁]ᵀ W₂ᵀ + [0, b₂]ᵀ`. For `u` units the work per window
/// falls from `u (inputs + u)` to `u inputs`.
///
/// Training multiplies once for all shards of a batch: they treat the product as a parameter, and its gradient, added up
/// over the shards, is passed on to the layers. Inference multiplies once for all windows.
#[derive(Clone, Debug)]
pub struct Multiplied {
    pub(crate) shape: Shape,
    /// Where its gradient starts behind those of the parameters, in elements.
    pub(crate) offset: usize,
    pub(crate) layers: [LinearParams; 2],
}

/// The place of multiplied weights in their model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultipliedId(pub(crate) usize);

impl Multiplied {
    /// Its shape, `[inputs + 1, outputs]`.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}
