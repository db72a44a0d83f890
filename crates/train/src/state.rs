//! The state of a training run after a step, from which it continues to the same bits.

use std::fmt;
use std::ops::ControlFlow;

use foretell_amp::GradScaler;
use foretell_nn::Params;

/// The state after a step.
///
/// Draws of series, windows and dropout are functions of the seed and the step, so their generators have no state to keep.
/// The states of early stopping and schedules are computed again from the validation losses.
#[derive(Clone)]
pub struct State<'a> {
    /// Steps taken.
    pub step: u64,
    /// The loss of the last batch.
    pub train_loss: f64,
    /// The validation losses of all checks, in order.
    pub valid_losses: &'a [f64],
    /// Arrays with one number for each parameter: the parameters themselves as [`PARAMS`], those of the best check, if early
    /// stopping may go back to them, as [`BEST`], and the optimiser's own under PyTorch's names.
    pub arenas: Vec<(&'a str, &'a [f32])>,
    /// The statistics and counters of the model whose parameters are [`PARAMS`].
    pub latest: Statistics<'a>,
    /// The statistics and counters of the model whose parameters are [`BEST`].
    pub best: Statistics<'a>,
    /// The scale of the loss, of a training in `f16`.
    pub scaler: Option<GradScaler>,
}

/// The state of a model that training changes but no gradient does: running means and variances, and counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics<'a> {
    /// [`Params::state_arena`].
    pub values: &'a [f32],
    /// [`Params::counters`].
    pub counters: &'a [i64],
}

impl<'a> Statistics<'a> {
    /// The statistics and counters of `params`.
    pub fn of(params: &'a Params) -> Self {
        Self { values: params.state_arena(), counters: params.counters() }
    }

    /// Sets the parameters of `params` to those of `arena`, and its statistics and counters to these.
    ///
    /// # Panics
    /// If the lengths are those of another model.
    #[track_caller]
    pub fn restore(&self, params: &mut Params, arena: &[f32]) {
        params.arena_mut().copy_from_slice(arena);
        params.restore_state(self.values, self.counters);
    }
}

/// The parameters, in [`State::arenas`].
pub const PARAMS: &str = "params";

/// The parameters of the best check, in [`State::arenas`].
pub const BEST: &str = "best";

impl fmt::Debug for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arenas: Vec<(&str, usize)> =
            self.arenas.iter().map(|(name, values)| (*name, values.len())).collect();
        f.debug_struct("State")
            .field("step", &self.step)
            .field("train_loss", &self.train_loss)
            .field("checks", &self.valid_losses.len())
            .field("arenas", &arenas)
            .finish()
    }
}

impl State<'_> {
    /// The array of this name.
    pub fn arena(&self, name: &str) -> Option<&[f32]> {
        self.arenas.iter().find(|(known, _)| *known == name).map(|(_, values)| *values)
    }
}

/// Keeps the state of a training while it runs.
pub struct StateWriter<'a> {
    /// Steps between two writes of the state, at least 1; it is also written when the listener interrupts.
    pub every: u64,
    /// Called with the state; training stops if it returns [`ControlFlow::Break`].
    pub write: &'a mut (dyn FnMut(&State<'_>) -> ControlFlow<()> + Send),
}

impl fmt::Debug for StateWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateWriter").field("every", &self.every).finish_non_exhaustive()
    }
}
