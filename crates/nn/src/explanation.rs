//! The weights of columns and steps behind a model's forecasts.

use foretell_autograd::Tensor;

/// A variable that a model weighs: a column, counted among those of its kind as the model sees them, or the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A column known for the past only.
    Hist(usize),
    /// A column known for past and future.
    Futr(usize),
    /// A column that does not change over time.
    Stat(usize),
    /// The target, in one of the vectors that it is embedded as.
    Target(usize),
    /// The last value of the target, repeated over all steps, where a model wants a column that is known for the future and
    /// there is none.
    LastTarget,
}

/// Weights of several variables, which add up to 1 at each place.
#[derive(Clone, Debug)]
pub struct VariableWeights {
    /// The variables.
    pub variables: Vec<Variable>,
    /// `[..., variables]`.
    pub weights: Tensor,
}

/// The weights behind the forecasts of a batch; `None` for those that the model does not have
/// ([`Model::explain`](crate::Model::explain)).
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The variables of each step of the history, `[batch, input_size, variables]`.
    pub past: Option<VariableWeights>,
    /// The variables known of each step of the horizon, `[batch, horizon, variables]`.
    pub future: Option<VariableWeights>,
    /// The columns that do not change over time, `[batch, variables]`.
    pub fixed: Option<VariableWeights>,
    /// How much each step of history and horizon attends to each, averaged over the heads,
    /// `[batch, input_size + horizon, input_size + horizon]`; each row adds up to 1.
    pub attention: Option<Tensor>,
}

impl Explanation {
    /// The explanation with other tensors in the place of its own, in the order of its fields.
    #[must_use]
    pub fn map(self, mut make: impl FnMut(&Tensor) -> Tensor) -> Self {
        let mut of_variables = |part: Option<VariableWeights>| {
            part.map(|part| VariableWeights { weights: make(&part.weights), ..part })
        };
        Self {
            past: of_variables(self.past),
            future: of_variables(self.future),
            fixed: of_variables(self.fixed),
            attention: self.attention.map(|attention| make(&attention)),
        }
    }
}
