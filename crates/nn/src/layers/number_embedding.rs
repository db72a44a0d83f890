//! Numbers embedded as vectors, parameters named as in neuralforecast's `TFTEmbedding`.

use foretell_autograd::{Activation, Var};

use crate::{Forward, Init, Linear, ParamId, Scope};

/// A vector and a bias for each of several variables: `NAME_vectors [variables, hidden]`, normal at first with variance
/// `2 / (variables + hidden)` (Glorot and Bengio 2010), and `NAME_bias`, zeros.
#[derive(Clone, Debug)]
pub struct NumberEmbedding {
    vectors: ParamId,
    bias: ParamId,
}

impl NumberEmbedding {
    /// Registers the parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, name: &str, variables: usize, hidden: usize) -> Self {
        let deviation = (2.0 / variables.saturating_add(hidden) as f32).sqrt();
        let mut param = |what: &str, init| scope.param(format!("{name}_{what}"), [variables, hidden], init);
        Self {
            vectors: param("vectors", Init::NormalOf { deviation }),
            bias: param("bias", Init::Constant(0.0)),
        }
    }

    /// `numbers [..., variables]`, embedded.
    pub fn embed(&self, cx: &Forward<'_>, numbers: Var) -> EmbeddedNumbers {
        EmbeddedNumbers { numbers, vectors: cx.param(self.vectors), bias: cx.param(self.bias) }
    }
}

/// Numbers `[..., variables]`, each of which stands for the vector `number * vectors[variable] + bias[variable]`.
///
/// The vectors are not written out where a linear layer reads them: its product with all vectors side by side equals
/// a product of the numbers with a matrix of `variables` rows, `W (x v + b) = x (W v) + W b`.
#[derive(Clone, Debug)]
pub struct EmbeddedNumbers {
    /// `[..., variables]`.
    numbers: Var,
    /// `[variables, hidden]` each.
    vectors: Var,
    bias: Var,
}

impl EmbeddedNumbers {
    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.vectors.shape()[0]
    }

    /// The variables of all parts.
    ///
    /// # Panics
    /// If there are none, or their shapes differ in more than the number of variables.
    #[track_caller]
    pub fn concat(parts: &[Self]) -> Self {
        let join = |tensor: fn(&Self) -> &Var, axis| {
            Var::concat(&parts.iter().map(tensor).collect::<Vec<_>>(), axis)
        };
        Self {
            numbers: join(|part| &part.numbers, parts[0].numbers.shape().len() - 1),
            vectors: join(|part| &part.vectors, 0),
            bias: join(|part| &part.bias, 0),
        }
    }

    /// Some of the steps of the first dimension.
    pub fn steps(&self, start: usize, len: usize) -> Self {
        Self { numbers: self.numbers.narrow(0, start, len), ..self.clone() }
    }

    /// One of the variables.
    pub fn variable(&self, variable: usize) -> Self {
        let axis = self.numbers.shape().len() - 1;
        Self {
            numbers: self.numbers.narrow(axis, variable, 1),
            vectors: self.vectors.narrow(0, variable, 1),
            bias: self.bias.narrow(0, variable, 1),
        }
    }

    /// The vectors of one variable, `[..., hidden]`.
    ///
    /// # Panics
    /// If there are several.
    #[track_caller]
    pub fn vector(&self) -> Var {
        let &[1, hidden] = &*self.vectors.shape() else {
            panic!("the vector of {} variables", self.variables())
        };
        self.numbers.linear_by_inputs(&self.vectors, Some(&self.bias.reshape([hidden])), Activation::Identity)
    }

    /// The product of a layer's weights with the vectors of all variables side by side, its bias and activation:
    /// `[..., outputs]`.
    ///
    /// # Panics
    /// If the layer has another number of inputs, or no bias.
    #[track_caller]
    pub fn linear(&self, cx: &Forward<'_>, layer: &Linear, activation: Activation) -> Var {
        let weight = cx.joined_weight(layer.weight());
        let own_bias = cx.param(layer.bias().expect("a layer on embedded numbers has a bias"));
        let [variables, hidden] = [self.variables(), self.vectors.shape()[1]];
        let outputs = weight.shape()[0];
        // [variables, outputs, hidden] times [variables, hidden, 1].
        let by_variable = weight.reshape([outputs, variables, hidden]).permute(&[1, 0, 2]);
        let rows =
            by_variable.matmul(&self.vectors.reshape([variables, hidden, 1])).reshape([variables, outputs]);
        let bias = self.bias.reshape([1, variables * hidden]);
        let bias = bias.linear(&weight, Some(&own_bias), Activation::Identity).reshape([outputs]);
        self.numbers.linear_by_inputs(&rows, Some(&bias), activation)
    }
}
