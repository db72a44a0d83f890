//! Activations by the names that hyper-parameters give them, including PReLU, which has a parameter, and RReLU, which draws.

use foretell_autograd::{Activation, Var};

use crate::{Forward, Init, ParamId, Scope};

/// PyTorch's bounds of the slopes of RReLU.
const RANDOM_SLOPES: [f32; 2] = [1.0 / 8.0, 1.0 / 3.0];

/// The activation behind a linear layer.
#[derive(Clone, Copy, Debug)]
pub enum Nonlinearity {
    /// A fixed function, which [`Linear`](crate::Linear) applies as it writes its result.
    Fixed(Activation),
    /// A rectifier with a learned slope, shared by all places that hold this layer.
    PRelu(ParamId),
    /// A rectifier whose slope below 0 is drawn for each element where dropout is on, and is the mean of all slopes else.
    RRelu,
}

impl Nonlinearity {
    /// What a hyper-parameter that is an activation must be: the names of PyTorch's modules that are known here.
    pub const NAMES: &str = "ReLU, Softplus, Tanh, SELU, LeakyReLU, PReLU, Sigmoid, GELU, ELU, SiLU, Mish, Softsign, \
        Hardshrink, Softshrink, RReLU, CELU, LogSigmoid, Hardtanh, Hardswish or Identity (GLU, which halves the width, and \
        Threshold, which has no defaults, fail in neuralforecast)";

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
            "Softsign" => Activation::Softsign,
            "Hardshrink" => Activation::Hardshrink,
            "Softshrink" => Activation::Softshrink,
            "LogSigmoid" => Activation::LogSigmoid,
            "Hardtanh" => Activation::Hardtanh,
            "Hardswish" => Activation::Hardswish,
            "Identity" => Activation::Identity,
            _ => return None,
        })
    }

    /// The activation of this PyTorch module name, whose parameter, if it has one, is registered in `scope`; `None` for a name
    /// that is not known here.
    pub fn named(name: &str, scope: &mut Scope<'_>) -> Option<Self> {
        match name {
            "PReLU" => Some(Self::prelu(scope)),
            "RReLU" => Some(Self::RRelu),
            _ => Self::fixed(name).map(Self::Fixed),
        }
    }

    /// A learned slope, starting at PyTorch's 0.25.
    pub fn prelu(scope: &mut Scope<'_>) -> Self {
        Self::PRelu(scope.param("weight", [1], Init::Constant(0.25)))
    }

    /// The function that the linear layer before it applies as it writes its result; the identity if there is none.
    pub fn fused(self) -> Activation {
        match self {
            Self::Fixed(activation) => activation,
            Self::PRelu(_) | Self::RRelu => Activation::Identity,
        }
    }

    /// Applies what [`Nonlinearity::fused`] leaves to do.
    pub fn finish(self, cx: &Forward<'_>, x: Var) -> Var {
        match self {
            Self::Fixed(_) => x,
            Self::PRelu(slope) => x.prelu(&cx.param(slope)),
            Self::RRelu if cx.drops() => x.rrelu(RANDOM_SLOPES, cx.next_key()),
            Self::RRelu => {
                let [lower, upper] = RANDOM_SLOPES;
                x.activation(Activation::LeakyRelu { slope: (lower + upper) / 2.0 })
            }
        }
    }
}
