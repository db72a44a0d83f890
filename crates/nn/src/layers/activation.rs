//! Activations by the names that hyper-parameters give them, including PReLU, which has a parameter.

use foretell_autograd::{Activation, Var};

use crate::{Forward, Init, ParamId, Scope};

/// The activation behind a linear layer.
#[derive(Clone, Copy, Debug)]
pub enum Nonlinearity {
    /// A fixed function, which [`Linear`](crate::Linear) applies as it writes its result.
    Fixed(Activation),
    /// A rectifier with a learned slope, shared by all places that hold this layer.
    PRelu(ParamId),
}

impl Nonlinearity {
    /// The names of PyTorch's modules that are known here.
    pub const NAMES: &str =
        "ReLU, Softplus, Tanh, SELU, LeakyReLU, PReLU, Sigmoid, GELU, ELU, CELU, SiLU, Mish or Identity";

    /// The fixed function of this PyTorch module name, if there is one.
    pub fn fixed(name: &str) -> Option<Activation> {
        Some(match name {
            "ReLU" => Activation::Relu,
            "Softplus" => Activation::Softplus,
            "Tanh" => Activation::Tanh,
            "SELU" => Activation::Selu,
            "LeakyReLU" => Activation::LeakyRelu { slope: 0.01 },
            "Sigmoid" => Activation::Sigmoid,
            "GELU" => Activation::Gelu,
            "ELU" | "CELU" => Activation::Elu { alpha: 1.0 },
            "SiLU" => Activation::Silu,
            "Mish" => Activation::Mish,
            "Identity" => Activation::Identity,
            _ => return None,
        })
    }

    /// A learned slope, starting at PyTorch's 0.25.
    pub fn prelu(scope: &mut Scope<'_>) -> Self {
        Self::PRelu(scope.param("weight", [1], Init::Constant(0.25)))
    }

    /// The function that the linear layer before it applies as it writes its result; the identity if there is none.
    pub fn fused(self) -> Activation {
        match self {
            Self::Fixed(activation) => activation,
            Self::PRelu(_) => Activation::Identity,
        }
    }

    /// Applies what [`Nonlinearity::fused`] leaves to do.
    pub fn finish(self, cx: &Forward<'_>, x: Var) -> Var {
        match self {
            Self::Fixed(_) => x,
            Self::PRelu(slope) => x.prelu(&cx.param(slope)),
        }
    }
}
