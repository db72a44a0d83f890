//! One layer of a recurrent network over a whole sequence: RNN (Elman 1990), LSTM (Hochreiter and Schmidhuber
//! 1997, with the projection of Sak et al. 2014) and GRU (Cho et al. 2014), with PyTorch's weights.
//!
//! Everything is time-major, so the values of a step are contiguous: inputs `[steps, batch, inputs]`, states
//! `[steps + 1, batch, state]`, the first of which are the initial states. The products of the inputs are computed
//! for several steps at a time, as many as stay in cache; each step then adds the product of its state and makes one
//! pass over its gates. Where the batch is large, a block of its sequences goes through all steps before the next one
//! starts, so that the results of a step are still in cache when the next one reads them.
//!
//! # Derivation of the backward pass
//!
//! With a = W x + U h₋ + b the sums that go into the gates of a step, h its state and h₋ the one before, the
//! gradient of the loss with respect to h comes from two sides: from the layer's output, and from the next
//! step through its sums, `dh = dy + Uᵀ da₊`. The pass over the gates turns dh (and for the LSTM dc, which
//! goes from step to step beside it) into da, see [`foretell_simd::lstm_cell_backward`] and
//! [`foretell_simd::gru_cell_backward`]. All other gradients are products with da:
//!
//! ```text
//! dW = Σₜ daₜ xₜᵀ     dU = Σₜ daₜ hₜ₋₁ᵀ     db = Σₜ daₜ     dxₜ = Wᵀ daₜ
//! ```
//!
//! An LSTM with a projection has h = P m with m what its cell gives: then `dm = Pᵀ dh` and `dP = Σₜ dhₜ mₜᵀ`.
//!
//! In the GRU the products of input and state enter the candidate separately, n = tanh(aₙ + r (Uₙ h₋ + bₙ)), so it
//! has four sums for three gates. Their order is r, z, m = Uₙ h₋ + bₙ, aₙ: the first three are those of U's rows, the
//! first two and the last those of W's.

mod backward;
mod cell;
mod forward;
mod groups;
mod held;
mod inputs;
mod kept;
mod layer;
mod one_sequence;
mod operand;
mod stack;
mod weights;

pub use backward::{RecurrentGradients, RecurrentRun};
pub use cell::Cell;
pub use held::{HeldWeights, RecurrentBytes};
pub use layer::{Layer, RunMode};
pub use stack::{LEAST_STACKED_STEPS, StackedLayer, forward_stack};
pub use weights::Weights;

#[cfg(test)]
#[path = "recurrent_tests.rs"]
mod tests;
