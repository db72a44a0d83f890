//! What a training run is after a step: enough to go on from, to the last bit.

use std::fmt;
use std::ops::ControlFlow;

use foretell_nn::Params;

/// The state after a step.
///
/// Draws of series, windows and dropout are functions of the seed and the step, so none of theirs is kept.
/// Where early stopping and schedules stand follows from the validation losses so far.
#[derive(Clone)]
pub struct State<'a> {
    /// Steps taken.
    pub step: u64,
    /// The loss of the last batch.
    pub train_loss: f64,
    /// The validation losses of all checks, in order.
    pub valid_losses: &'a [f64],
    /// What is kept for each parameter: the parameters themselves as [`PARAMS`], those of the best check, if early
    /// stopping may go back to them, as [`BEST`], and the optimiser's own under PyTorch's names.
    pub arenas: Vec<(&'a str, &'a [f32])>,
    /// What no gradient changes, beside [`PARAMS`].
    pub latest: Statistics<'a>,
    /// What no gradient changes, beside [`BEST`].
    pub best: Statistics<'a>,
}

/// What a model has that training changes but no gradient does: running means and variances, and counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics<'a> {
    /// [`Params::state_arena`].
    pub values: &'a [f32],
    /// [`Params::counters`].
    pub counters: &'a [i64],
}

impl<'a> Statistics<'a> {
    /// Those of `params`.
    pub fn of(params: &'a Params) -> Self {
        Self { values: params.state_arena(), counters: params.counters() }
    }

    /// Makes `params` those of `arena` and these.
    ///
    /// # Panics
    /// If the lengths are those of another model.
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
    /// The values of this name.
    pub fn arena(&self, name: &str) -> Option<&[f32]> {
        self.arenas.iter().find(|(known, _)| *known == name).map(|(_, values)| *values)
    }
}

/// Who keeps the state, and when.
pub struct StateWriter<'a> {
    /// Steps from one time to the next; at least 1. It is also kept where the listener interrupts.
    pub every: u64,
    /// Takes the state; training stops where it breaks off.
    pub write: &'a mut (dyn FnMut(&State<'_>) -> ControlFlow<()> + Send),
}

impl fmt::Debug for StateWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateWriter").field("every", &self.every).finish_non_exhaustive()
    }
}
