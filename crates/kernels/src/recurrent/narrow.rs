//! The weights of a recurrent layer in fewer bits, for forecasts.

use foretell_gemm::{MatRef, NarrowFormat, NarrowMatrix};

use super::{Layer, Weights};

/// Up to so many inputs W stays in `f32`: a row of fewer numbers is filled up to as many.
const FEW_INPUTS: usize = 15;

/// The matrices of [`Weights`] in fewer bits, packed once for all runs; biases stay as they are.
#[derive(Clone, Debug)]
pub struct NarrowWeights {
    /// Wᵀ, cut as the sums that it goes to; empty where it stays in `f32`.
    pub(super) input: Vec<NarrowMatrix>,
    /// Uᵀ.
    pub(super) state: NarrowMatrix,
    /// Pᵀ.
    pub(super) projection: Option<NarrowMatrix>,
    bytes: usize,
}

impl NarrowWeights {
    /// Packs the matrices of a layer, of whatever batch and number of steps.
    ///
    /// # Panics
    /// If their sizes are not the layer's.
    #[track_caller]
    pub fn new(layer: &Layer, weights: &Weights<'_>, format: NarrowFormat) -> Self {
        let (rows, size) = (layer.cell.gates() * layer.hidden, layer.state());
        let input = MatRef::row_major(weights.input, rows, layer.inputs);
        let parts = layer.input_columns().into_iter().flatten();
        let parts = parts.filter(|_| layer.inputs > FEW_INPUTS);
        let input: Vec<_> = parts.map(|(_, from)| NarrowMatrix::new(input.rows(from).t(), format)).collect();
        let state = NarrowMatrix::new(MatRef::row_major(weights.state, rows, size).t(), format);
        let projection = weights.projection.map(|projection| {
            NarrowMatrix::new(MatRef::row_major(projection, size, layer.hidden).t(), format)
        });
        let wide = if input.is_empty() { size_of_val(weights.input) } else { 0 };
        let all = input.iter().chain([&state]).chain(&projection);
        let bytes = wide + all.map(NarrowMatrix::bytes).sum::<usize>();
        Self { input, state, projection, bytes }
    }

    /// The memory that the matrices take in bytes, W's included where it stays in `f32`.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
