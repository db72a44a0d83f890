//! The copies of weights that forecasts hold beside the arena: packed, in `f32` or in fewer bits, multiplied with each other, or
//! laid out for one sequence. Here are their places and their sizes; [`weights`](crate::weights) computes them.

use std::sync::{Arc, OnceLock};

use foretell_autograd::{HeldWeights, Rounding, Tensor, WeightFormat, WeightMatrix};
use foretell_tensor::Shape;

use crate::table::Table;
use crate::weight_precision::WeightPrecision;

/// The least inputs and outputs of a layer that is held in fewer bits. Outputs are padded to a multiple of 16, inputs in bfloat16
/// to one of 32, so smaller layers would save little or nothing.
pub(crate) const MIN_SIDE: usize = 16;

/// Rows with which packing weights in `f32` pays if it does with any.
const SOME_ROWS: usize = 16;

/// Weights as they are held, with the bytes that they take and those of the weights that they stand for.
pub(crate) struct HeldCopy<T> {
    pub(crate) held: T,
    pub(crate) bytes: usize,
    pub(crate) trained_bytes: usize,
}

/// The multiplied weights of a pair in fewer bits, and the bias that is their last row, `[outputs]`.
pub(crate) struct HeldPair {
    pub(crate) weight: WeightMatrix,
    pub(crate) bias: Tensor,
}

pub(crate) type Slot<T> = OnceLock<Arc<HeldCopy<T>>>;

/// The copies that are held beside the arena, by the places of the weights in their table. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct HeldCopies {
    pub(crate) precision: WeightPrecision,
    pub(crate) matrices: Vec<Slot<WeightMatrix>>,
    /// By the place of the weights of the state.
    pub(crate) recurrent: Vec<OnceLock<Arc<HeldWeights>>>,
    /// The multiplied weights of pairs in `f32`, by their place among the pairs.
    pub(crate) products: Vec<OnceLock<Tensor>>,
    /// The multiplied weights of pairs in fewer bits.
    pub(crate) pairs: Vec<Slot<HeldPair>>,
}

impl HeldCopies {
    pub(crate) fn new(precision: WeightPrecision, table: &Table) -> Self {
        let entries = table.entries().len();
        Self {
            precision,
            matrices: vec![OnceLock::new(); entries],
            recurrent: vec![OnceLock::new(); entries],
            products: vec![OnceLock::new(); table.multiplied().len()],
            pairs: vec![OnceLock::new(); table.multiplied().len()],
        }
    }

    /// Forgets all copies, because a weight changes.
    pub(crate) fn forget(&mut self) {
        self.matrices.fill_with(OnceLock::new);
        self.recurrent.fill_with(OnceLock::new);
        self.products.fill_with(OnceLock::new);
        self.pairs.fill_with(OnceLock::new);
    }
}

impl Table {
    /// The most bytes that forecasts take for the weights as they hold them in this precision, beside the parameters: see
    /// [`Params::hold`](crate::Params::hold).
    pub fn held_copies_bytes(&self, precision: WeightPrecision) -> usize {
        let recurrent = self.recurrent().iter().map(|layer| self.entry(layer.state).shape);
        let trained = self.entries().iter().filter(|entry| entry.is_trained()).map(|entry| entry.shape);
        let sides = |shape: Shape| [shape[1..].iter().product::<usize>(), shape[0]];
        let matrices = trained.filter(|shape| shape.len() > 1).map(sides);
        let Some(format) = precision.narrow() else {
            let format = |[inputs, outputs]: [usize; 2]| {
                WeightFormat::best_for([SOME_ROWS, inputs, outputs], Rounding::None)
            };
            let copied = matrices.filter(|&sides| format(sides).is_some());
            // Rows of gates become columns, whose number is padded.
            return copied
                .chain(recurrent.map(sides))
                .map(|[inputs, outputs]| WeightMatrix::bytes_of(inputs, outputs, WeightFormat::F32))
                .fold(0, usize::saturating_add);
        };
        let multiplied =
            self.multiplied().iter().map(|multiplied| [multiplied.shape[0] - 1, multiplied.shape[1]]);
        let biases = self.multiplied().iter().map(|multiplied| size_of::<f32>() * multiplied.shape[1]);
        // A recurrent layer may hold the weights of its state twice: for one sequence and for several. The columns of its inputs
        // and of its groups of units are padded part by part.
        let parts = self.recurrent().iter().flat_map(|layer| [layer.input, layer.state, layer.state]);
        let padding = parts.map(|id| [self.entry(id).shape[1], MIN_SIDE]);
        matrices
            .chain(recurrent.map(sides))
            .chain(multiplied)
            .filter(|[inputs, outputs]| inputs.min(outputs) >= &MIN_SIDE)
            .chain(padding)
            .map(|[inputs, outputs]| WeightMatrix::bytes_of(inputs, outputs, format))
            .chain(biases)
            .fold(0, usize::saturating_add)
    }
}
