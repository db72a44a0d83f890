//! A vector for each category, the parameter named as in `torch.nn.Embedding`.

use foretell_autograd::Var;
use foretell_tensor::Tensor;

use crate::{Forward, Init, ParamId, Scope};

/// Vectors of categories: `weight [categories + 1, width]`, normal with mean 0 and variance 1. Row 0, as in
/// neuralforecast, belongs to categories that training did not see; the mean of the others takes its place.
#[derive(Clone, Debug)]
pub struct Embedding {
    weight: ParamId,
    width: usize,
}

impl Embedding {
    /// Registers the layer's parameter in `scope`.
    pub fn new(scope: &mut Scope<'_>, categories: usize, width: usize) -> Self {
        Self { weight: scope.lookup("weight", [categories + 1, width], Init::Normal), width }
    }

    /// The length of a category's vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// `ids [...]`, 0 for the unseen category and 1 for the first, to `[..., width]`.
    pub fn forward(&self, cx: &Forward<'_>, ids: &Tensor) -> Var {
        cx.param(self.weight).embedding(ids)
    }
}
