//! The weights of a recurrent layer as forecasts multiply with them: laid out when a run first asks, and kept.

use std::sync::OnceLock;

use foretell_gemm::{MatRef, Rounding, WeightFormat, WeightMatrix};

use super::groups::UnitGroup;
use super::layer::Layer;

/// With at most this many inputs W stays in `f32`: in bfloat16 they are padded to 32, which would save nothing.
const FEW_INPUTS: usize = 15;

/// The matrices of [`Weights`](super::Weights) as forecasts hold them, in `f32` or in fewer bits; biases stay unchanged.
///
/// A run over one sequence reads U in groups of units, a run over several in fewer bits reads it as a whole: after
/// runs of both kinds U is held in both forms.
#[derive(Debug)]
pub struct HeldWeights {
    format: Option<WeightFormat>,
    /// Wᵀ, cut as the sums that it goes to.
    input: OnceLock<Vec<WeightMatrix>>,
    /// Uᵀ as a whole, and in groups.
    state: OnceLock<WeightMatrix>,
    groups: OnceLock<Vec<UnitGroup>>,
    /// Pᵀ.
    projection: OnceLock<WeightMatrix>,
}

/// The bytes of a layer's matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecurrentBytes {
    /// The bytes of W, the weights of the inputs.
    pub input: usize,
    /// The bytes of U, the weights of the state.
    pub state: usize,
    /// The bytes of P, the weights of the projection; 0 without one.
    pub projection: usize,
}

impl RecurrentBytes {
    /// The bytes of all three.
    pub fn sum(self) -> usize {
        self.input + self.state + self.projection
    }
}

impl HeldWeights {
    /// The weights of a layer in this format, as they are where it is none or `F32`; nothing is made yet. The matrices are made
    /// from the weights of the first run, so after a change of a weight new ones are needed.
    pub fn new(format: Option<WeightFormat>) -> Self {
        let (input, state, groups, projection) = Default::default();
        let format = format.filter(|format| *format != WeightFormat::F32);
        Self { format, input, state, groups, projection }
    }

    /// Whether the matrices are in fewer bits.
    pub fn is_narrow(&self) -> bool {
        self.format.is_some()
    }

    /// The bytes of W, U and P as the runs so far have held them, given the bytes that they take in `f32`.
    pub fn bytes(&self, wide: RecurrentBytes) -> usize {
        let RecurrentBytes { input, state, projection } = wide;
        let narrow = |matrix: &OnceLock<WeightMatrix>| matrix.get().map(WeightMatrix::bytes);
        let inputs = self.input.get().map(|parts| parts.iter().map(WeightMatrix::bytes).sum());
        let groups = self.groups.get().map(|groups| groups.iter().map(UnitGroup::bytes).sum());
        let states = match (narrow(&self.state), groups) {
            (None, None) => state,
            (whole, groups) => whole.unwrap_or(0) + groups.unwrap_or(0),
        };
        inputs.unwrap_or(input) + states + narrow(&self.projection).unwrap_or(projection)
    }

    /// Wᵀ, in fewer bits or packed for this many `rows`; empty where that does not pay.
    pub(super) fn input(&self, layer: &Layer, input: &[f32], rows: usize) -> &[WeightMatrix] {
        let parts = || layer.input_columns().into_iter().flatten().map(|(_, from)| from);
        let pays = match self.format {
            Some(_) => layer.inputs > FEW_INPUTS,
            None => parts().all(|part| {
                let shape = [rows, layer.inputs, part.len()];
                WeightFormat::best_for(shape, layer.rounding) == Some(WeightFormat::F32)
            }),
        };
        if !pays {
            return &[];
        }
        let format = self.format.unwrap_or(WeightFormat::F32);
        self.input.get_or_init(|| {
            let rows = MatRef::row_major(input, layer.cell.gates() * layer.hidden, layer.inputs);
            parts().map(|part| WeightMatrix::new(rows.rows(part).t(), format)).collect()
        })
    }

    /// Uᵀ in fewer bits, if it is held so.
    pub(super) fn state(&self, layer: &Layer, state: &[f32]) -> Option<&WeightMatrix> {
        let format = self.format?;
        Some(self.state.get_or_init(|| {
            let rows = MatRef::row_major(state, layer.cell.gates() * layer.hidden, layer.state());
            WeightMatrix::new(rows.t(), format)
        }))
    }

    /// U in groups of units, if the run can use them: it has one sequence and no projection, and does not round
    /// operands held in `f32`.
    pub(super) fn groups(&self, layer: &Layer, state: &[f32]) -> Option<&[UnitGroup]> {
        let serves = layer.batch == 1 && layer.projection.is_none();
        let rounds = layer.rounding != Rounding::None && self.format.is_none();
        let make = || UnitGroup::all(layer, state, self.format);
        (serves && !rounds).then(|| self.groups.get_or_init(make).as_slice())
    }

    /// Pᵀ in fewer bits, if it is held so.
    pub(super) fn projection(&self, layer: &Layer, projection: &[f32]) -> Option<&WeightMatrix> {
        let format = self.format?;
        Some(self.projection.get_or_init(|| {
            let rows = MatRef::row_major(projection, layer.state(), layer.hidden);
            WeightMatrix::new(rows.t(), format)
        }))
    }
}
