//! The layer that halves the steps between two layers of Informer's encoder: neuralforecast's `ConvLayer`.

use foretell_autograd::{Activation, Conv1d, MaxOfSteps, PaddingMode, Var};

use crate::{BatchNorm, BatchNormConfig, Forward, Init, ParamId, Scope};

/// Distilling (Zhou et al. 2021, "Informer", arXiv 2012.07436, equation 5): a circular convolution over three steps,
/// batch normalisation, ELU, and the largest of three neighbouring steps at every second one. `downConv.weight [hidden, hidden,
/// 3]` and `downConv.bias`, and the batch norm `norm`.
///
/// Batch normalisation cancels the convolution's bias, so that is added and never trained. ELU is increasing, so the largest
/// values are chosen before it is computed.
#[derive(Clone, Debug)]
pub struct Distilling {
    convolution: [ParamId; 2],
    norm: BatchNorm,
}

impl Distilling {
    const KERNEL: usize = 3;
    /// Steps that are repeated from the other end: one more than the kernel reaches, as in neuralforecast.
    const PADDING: usize = 2;
    const POOL: MaxOfSteps = MaxOfSteps { kernel: 3, stride: 2, padding: 1 };

    /// Registers the layer in `scope`.
    pub fn new(scope: &mut Scope<'_>, hidden: usize) -> Self {
        let init = Init::fan_in(hidden.saturating_mul(Self::KERNEL));
        let mut convolution = scope.at("downConv");
        Self {
            convolution: [
                convolution.param("weight", [hidden, hidden, Self::KERNEL], init),
                convolution.frozen("bias", [hidden], init),
            ],
            norm: BatchNorm::new(&mut scope.at("norm"), hidden, BatchNormConfig::default()),
        }
    }

    /// The number of steps of the result, for a window of `steps` steps.
    pub fn output(steps: usize) -> usize {
        Self::POOL.output(Self::convolved(steps))
    }

    /// The number of steps of the convolution's result, for a window of `steps` steps.
    pub fn convolved(steps: usize) -> usize {
        steps + 2 * Self::PADDING + 1 - Self::KERNEL
    }

    /// `x [batch, steps, hidden]` to `[batch, output(steps), hidden]`.
    ///
    /// # Panics
    /// If there are fewer than two steps.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let moves =
            Conv1d { padding: [Self::PADDING; 2], beyond: PaddingMode::Circular, ..Conv1d::default() };
        let y = cx.convolution(self.convolution, x, Activation::Identity, moves);
        let y = self.norm.forward(cx, &y).max_of_steps(Self::POOL);
        y.activation(Activation::Elu { alpha: 1.0 })
    }
}
