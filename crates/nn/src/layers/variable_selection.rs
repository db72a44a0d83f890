//! Variable selection networks (Lim et al. 2021, arXiv 1912.09363, section 4.2), parameters named as in neuralforecast's
//! `VariableSelectionNetwork`.

use foretell_autograd::{Activation, Tensor, Var};

use crate::{EmbeddedNumbers, Forward, GatedResidual, GatedResidualSizes, ResidualContext, Scope};

/// The sizes of a [`VariableSelection`].
#[derive(Clone, Copy, Debug)]
pub struct VariableSelectionSizes {
    /// The number of variables, each a vector.
    pub variables: usize,
    /// Width of each vector.
    pub hidden: usize,
    /// Whether it reads a context of `hidden` numbers. Weights for one are registered in any case.
    pub reads_context: bool,
    /// The rate of dropout within the networks of the variables.
    pub dropout: f32,
    /// The activation within all networks.
    pub activation: Activation,
}

/// A network for each variable (`var_grns.0` and so on), and one on all of them side by side (`joint_grn`), whose softmax says
/// how much of each is selected.
///
/// The weight of a single variable is always 1: the joint network is then neither computed nor trained, but a
/// checkpoint's parameters are kept.
#[derive(Clone, Debug)]
pub struct VariableSelection {
    joint: Option<GatedResidual>,
    of_variables: Vec<GatedResidual>,
    reads_context: bool,
}

/// The result of a [`VariableSelection`].
#[derive(Clone, Debug)]
pub struct SelectedVariables {
    /// The sum of the variables, each behind its network, by their weights, `[..., hidden]`.
    pub sum: Var,
    /// The weights, `[..., variables]`, which add up to 1.
    pub weights: Var,
}

impl VariableSelection {
    /// Registers the parameters in `scope`.
    ///
    /// # Panics
    /// If there are no variables.
    #[track_caller]
    pub fn new(scope: &mut Scope<'_>, sizes: &VariableSelectionSizes) -> Self {
        let &VariableSelectionSizes { variables, hidden, reads_context, dropout, activation } = sizes;
        assert!(variables > 0, "nothing to select from");
        let inputs = variables.saturating_mul(hidden);
        let mut joint_scope = scope.at("joint_grn");
        let joint = if variables == 1 {
            GatedResidual::unread(&mut joint_scope, inputs, hidden);
            None
        } else {
            let outputs = Some(variables);
            let context = if reads_context { ResidualContext::Read } else { ResidualContext::Unused };
            let sizes = GatedResidualSizes { inputs, hidden, outputs, context, dropout: 0.0, activation };
            Some(GatedResidual::new(&mut joint_scope, &sizes))
        };
        let of_one = GatedResidualSizes {
            inputs: hidden,
            hidden,
            outputs: None,
            context: ResidualContext::None,
            dropout,
            activation,
        };
        let mut scope = scope.at("var_grns");
        let of_variables = (0..variables).map(|i| GatedResidual::new(&mut scope.at(i), &of_one)).collect();
        Self { joint, of_variables, reads_context }
    }

    /// Selects from `x`, numbers `[..., batch, variables]`, and a context `[batch, hidden]` if it reads one; a
    /// network that reads none ignores it.
    ///
    /// # Panics
    /// If the shapes do not fit, or a context is missing.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &EmbeddedNumbers, context: Option<&Var>) -> SelectedVariables {
        assert_eq!(x.variables(), self.of_variables.len(), "variables to select from");
        let of_variables = self.of_variables.iter().enumerate();
        let vectors: Vec<Var> =
            of_variables.map(|(i, network)| network.forward_embedded(cx, &x.variable(i), None)).collect();
        let Some(joint) = &self.joint else {
            let [sum] = &vectors[..] else { unreachable!("one variable") };
            let shape = sum.shape();
            let weights = Tensor::full(shape.without(shape.len() - 1).with(shape.len() - 1, 1), 1.0);
            return SelectedVariables { sum: sum.clone(), weights: Var::constant(weights) };
        };
        let scores = joint.forward_embedded(cx, x, context.filter(|_| self.reads_context));
        let weights = scores.softmax(scores.shape().len() - 1);
        SelectedVariables { sum: weights.weighted_sum(&vectors), weights }
    }
}
