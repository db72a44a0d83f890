//! FEDformer's substitutes for attention: neuralforecast's `FourierBlock` and `FourierCrossAttention`, each within its
//! `AutoCorrelationLayer` (Zhou et al. 2022, "FEDformer", arXiv 2201.12740, sections 3.2 and 3.3).
//!
//! Both reduce a sequence to a few of its frequencies, the modes. The transform at these is a product with a matrix
//! of sines and cosines, `[2 modes, steps]` times `[steps, channels]`: it reads the sequence with the channels last,
//! without a transposition, and runs at the rate of a matrix product. What it makes, `[2 modes, channels]`, is what
//! products among modes read.
//!
//! Two things are as in neuralforecast, so that its checkpoints forecast alike. The block writes its results not to
//! the modes that it read, but to the first frequencies, one after another. Both layers lay out their results channel
//! by channel, and read them as if they were laid out step by step.

use std::f64::consts::TAU;
use std::sync::OnceLock;

use foretell_autograd::{Activation, Tensor, Var};

use crate::{Forward, Init, Linear, ParamId, Scope};

/// Heads that FEDformer's weights are laid out for.
const HEADS: usize = 8;

/// The sizes of a [`FourierBlock`] or a [`FourierCrossAttention`].
#[derive(Clone, Debug)]
pub struct FourierSizes {
    /// Width of a step's vector.
    pub hidden: usize,
    /// Steps of the sequence, or of the queries.
    pub steps: usize,
    /// The modes that are taken of it, by rising frequency.
    pub modes: Vec<usize>,
    /// Whether a constant added to all steps of the result changes the forecast: it does not where the moving average
    /// of the result is subtracted and dropped.
    pub constants: bool,
}

impl FourierSizes {
    /// Width of a head: an eighth of `hidden`, rounded down.
    pub fn head(&self) -> usize {
        self.hidden / HEADS
    }

    fn width(&self) -> usize {
        self.head() * HEADS
    }

    /// Registers the complex weights of the modes, `[8, head, head, modes]` (or takes those that another layer shares), at
    /// first uniform between 0 and 1 / hidden² in both parts.
    fn weights(&self, scope: &mut Scope<'_>, shared: Option<ParamId>) -> ParamId {
        let (head, bound) = (self.head(), 1.0 / (self.hidden as f32).powi(2));
        let mut scope = scope.at("inner_correlation");
        match shared {
            Some(id) => {
                scope.alias("weights1", id);
                id
            }
            None => scope.complex("weights1", [HEADS, head, head, self.modes.len()], Init::UpTo { bound }),
        }
    }
}

/// The last part of both layers: each mode is multiplied by its weights, all are transformed back to steps, and go through the
/// last linear layer.
#[derive(Clone, Debug)]
struct Frequencies {
    weights: ParamId,
    /// From frequencies to steps.
    back: DftMatrix,
    out: Linear,
}

/// Multiplies each mode of a sequence by a matrix of its own: `query_projection`, `out_projection`, and
/// `inner_correlation.weights1`, which layers may share. `key_projection` and `value_projection` are in
/// neuralforecast's module, and nothing reads them.
#[derive(Clone, Debug)]
pub struct FourierBlock {
    query: Linear,
    transform: DftMatrix,
    frequencies: Frequencies,
}

impl FourierBlock {
    /// Registers the layers in `scope`, and the weights of the modes, unless they are `shared` with another.
    pub fn new(scope: &mut Scope<'_>, sizes: &FourierSizes, shared: Option<ParamId>) -> Self {
        let &FourierSizes { hidden, steps, ref modes, constants } = sizes;
        unread(scope, "key_projection", [hidden, sizes.width()]);
        unread(scope, "value_projection", [hidden, sizes.width()]);
        let first: Vec<usize> = (0..modes.len()).collect();
        Self {
            query: projection(scope, "query_projection", [hidden, sizes.width()], modes),
            transform: DftMatrix::to_frequencies(modes, steps),
            frequencies: Frequencies {
                weights: sizes.weights(scope, shared),
                back: DftMatrix::to_steps(&first, steps, 1.0),
                out: Linear::with_optional_bias(
                    &mut scope.at("out_projection"),
                    [sizes.width(), hidden],
                    constants,
                ),
            },
        }
    }

    /// The weights of the modes, for another layer to share.
    pub fn weights(&self) -> ParamId {
        self.frequencies.weights
    }

    /// `x [batch, steps, hidden]` to the same shape.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let x = self.query.forward(cx, x, Activation::Identity);
        self.frequencies.forward(cx, &self.transform.spectrum(&x))
    }
}

/// Attention among the modes of two sequences, `tanh` being its activation: `query_projection`, `key_projection`,
/// `out_projection`, and `inner_correlation.weights1`. `value_projection` is in neuralforecast's module, and nothing reads
/// it: keys are values too.
#[derive(Clone, Debug)]
pub struct FourierCrossAttention {
    query: Linear,
    key: Linear,
    query_transform: DftMatrix,
    key_transform: DftMatrix,
    frequencies: Frequencies,
}

impl FourierCrossAttention {
    /// Registers the layers in `scope`, and the weights of the modes, unless they are `shared` with another. `source` are
    /// the steps and the modes of the source.
    pub fn new(
        scope: &mut Scope<'_>,
        sizes: &FourierSizes,
        (source_steps, source_modes): (usize, &[usize]),
        shared: Option<ParamId>,
    ) -> Self {
        let &FourierSizes { hidden, steps, ref modes, constants } = sizes;
        unread(scope, "value_projection", [hidden, sizes.width()]);
        let query = projection(scope, "query_projection", [hidden, sizes.width()], modes);
        let key = projection(scope, "key_projection", [hidden, sizes.width()], source_modes);
        let out =
            Linear::with_optional_bias(&mut scope.at("out_projection"), [sizes.width(), hidden], constants);
        Self {
            query,
            key,
            query_transform: DftMatrix::to_frequencies(modes, steps),
            key_transform: DftMatrix::to_frequencies(source_modes, source_steps),
            frequencies: Frequencies {
                weights: sizes.weights(scope, shared),
                back: DftMatrix::to_steps(modes, steps, (hidden as f64).powi(-2)),
                out,
            },
        }
    }

    /// The weights of the modes, for another layer to share.
    pub fn weights(&self) -> ParamId {
        self.frequencies.weights
    }

    /// `queries [batch, steps, hidden]` and `source [batch, source steps, hidden]` to `[batch, steps, hidden]`.
    pub fn forward(&self, cx: &Forward<'_>, queries: &Var, source: &Var) -> Var {
        let queries = self.query.forward(cx, queries, Activation::Identity);
        let source = self.key.forward(cx, source, Activation::Identity);
        let (queries, keys) = (self.query_transform.spectrum(&queries), self.key_transform.spectrum(&source));
        self.frequencies.forward(cx, &queries.mode_attention(&keys, HEADS))
    }
}

impl Frequencies {
    /// The modes `[batch, 2, modes, width]`, multiplied by their weights, back in time and through the last layer: `[batch,
    /// steps, hidden]`.
    fn forward(&self, cx: &Forward<'_>, modes: &Var) -> Var {
        let back = self.back.matrix();
        let (steps, rows) = (back.shape()[0], back.shape()[1]);
        let y = modes.mode_products(&cx.param(self.weights));
        let (batch, width) = (y.shape()[0], y.shape()[3]);
        let y = y.reshape([batch, rows, width]);
        // [batch, width, steps], read as [batch, steps, width].
        let y = y.linear_from_columns(&Var::constant(back.clone()), None, Activation::Identity);
        self.out.forward(cx, &y.reshape([batch, steps, width]), Activation::Identity)
    }
}

/// A linear layer whose result is reduced to these modes: nothing depends on its bias unless mode 0, the mean, is one
/// of them.
fn projection(scope: &mut Scope<'_>, name: &str, sizes: [usize; 2], modes: &[usize]) -> Linear {
    Linear::with_optional_bias(&mut scope.at(name), sizes, modes.contains(&0))
}

/// A linear layer that neuralforecast makes and never calls.
fn unread(scope: &mut Scope<'_>, name: &str, [inputs, outputs]: [usize; 2]) {
    let (mut scope, init) = (scope.at(name), Init::fan_in(inputs));
    scope.unread("weight", [outputs, inputs], init);
    scope.unread("bias", [outputs], init);
}

/// A matrix of sines and cosines, computed when it is first read: a model that is built only to count its parameters
/// never does.
#[derive(Clone, Debug)]
struct DftMatrix {
    direction: Direction,
    modes: Vec<usize>,
    steps: usize,
    matrix: OnceLock<Tensor>,
}

#[derive(Clone, Copy, Debug)]
enum Direction {
    ToFrequencies,
    ToSteps { scale: f64 },
}

impl DftMatrix {
    /// The transform from steps to frequencies: `[2 modes, steps]`, for real parts, then imaginary ones.
    fn to_frequencies(modes: &[usize], steps: usize) -> Self {
        Self::new(Direction::ToFrequencies, modes, steps)
    }

    /// The transform from frequencies to steps, times `scale`: `[steps, 2 modes]`, for real parts, then imaginary ones. The
    /// imaginary parts of frequencies that are their own conjugates (the mean, and the last one of an even number of steps)
    /// count as 0.
    fn to_steps(modes: &[usize], steps: usize, scale: f64) -> Self {
        Self::new(Direction::ToSteps { scale }, modes, steps)
    }

    fn new(direction: Direction, modes: &[usize], steps: usize) -> Self {
        Self { direction, modes: modes.to_vec(), steps, matrix: OnceLock::new() }
    }

    /// Frequencies of `x [batch, steps, width]`: `[batch, 2, modes, width]`, real parts before imaginary ones.
    fn spectrum(&self, x: &Var) -> Var {
        let transform = self.matrix();
        let (rows, batch, width) = (transform.shape()[0], x.shape()[0], x.shape()[2]);
        let spectrum = x.linear_of_columns(&Var::constant(transform.clone()), None, Activation::Identity);
        spectrum.reshape([batch, 2, rows / 2, width])
    }

    fn matrix(&self) -> &Tensor {
        let (modes, steps) = (&self.modes, self.steps);
        let rows = |value: &dyn Fn(usize, usize, f64, f64) -> f64| {
            Tensor::build([2 * modes.len(), steps], |out| {
                for (i, row) in out.chunks_exact_mut(steps).enumerate() {
                    let (part, mode) = (i / modes.len(), modes[i % modes.len()]);
                    for (t, x) in row.iter_mut().enumerate() {
                        let (sin, cos) = angle(mode, t, steps).sin_cos();
                        *x = value(part, mode, sin, cos) as f32;
                    }
                }
            })
        };
        self.matrix.get_or_init(|| match self.direction {
            Direction::ToFrequencies => rows(&|part, _, sin, cos| if part == 0 { cos } else { -sin }),
            Direction::ToSteps { scale } => {
                let rows = rows(&|part, mode, sin, cos| {
                    let alone = mode == 0 || 2 * mode == steps;
                    let factor = scale / steps as f64;
                    match (part, alone) {
                        (0, true) => factor * cos,
                        (0, false) => 2.0 * factor * cos,
                        (_, true) => 0.0,
                        (_, false) => -2.0 * factor * sin,
                    }
                });
                rows.transpose(0, 1).contiguous()
            }
        })
    }
}

fn angle(mode: usize, t: usize, steps: usize) -> f64 {
    TAU * (mode * t % steps) as f64 / steps as f64
}
