//! A dense layer whose weights are packed once.

use foretell_gemm::{Accum, Activation, Bias, MatMut, MatRef, Options, WeightFormat, WeightMatrix, matmul};

use crate::error::PretrainedError;
use crate::weights::Weights;

/// `activation(x wᵀ + b)`.
#[derive(Debug)]
pub(crate) struct Linear {
    weight: WeightMatrix,
    bias: Vec<f32>,
}

impl Linear {
    /// One of `weight [outputs, inputs]`, row-major, and a bias of as many outputs, or none.
    pub(crate) fn new(weight: &[f32], bias: Vec<f32>, [outputs, inputs]: [usize; 2]) -> Self {
        let weight = WeightMatrix::new(MatRef::row_major(weight, outputs, inputs).t(), WeightFormat::F32);
        Self { weight, bias }
    }

    /// The tensors `name.weight` and `name.bias`.
    pub(crate) fn take(
        weights: &mut Weights,
        name: &str,
        [outputs, inputs]: [usize; 2],
    ) -> Result<Self, PretrainedError> {
        let weight = weights.take(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = weights.take(&format!("{name}.bias"), &[outputs])?;
        Ok(Self::new(&weight, bias, [outputs, inputs]))
    }

    /// The tensor `name.weight`, of a layer without a bias.
    pub(crate) fn take_unbiased(
        weights: &mut Weights,
        name: &str,
        [outputs, inputs]: [usize; 2],
    ) -> Result<Self, PretrainedError> {
        let weight = weights.take(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Self::new(&weight, Vec::new(), [outputs, inputs]))
    }

    pub(crate) fn outputs(&self) -> usize {
        self.weight.ncols()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.weight.bytes() + size_of_val(&*self.bias)) as u64
    }

    /// `out = activation(x wᵀ + b)`, or `out += x wᵀ + b`: `x [rows, inputs]` to `out [rows, outputs]`.
    pub(crate) fn apply(&self, x: &[f32], out: &mut [f32], accum: Accum, activation: Activation) {
        let rows = out.len() / self.outputs();
        let bias = (!self.bias.is_empty()).then_some(Bias::PerColumn(&self.bias));
        matmul(
            MatMut::row_major(out, rows, self.outputs()),
            MatRef::row_major(x, rows, self.weight.nrows()),
            &self.weight,
            Options::default().accum(accum).bias(bias).activation(activation),
        );
    }
}
