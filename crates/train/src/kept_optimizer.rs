//! The state of an optimiser behind a training, from which another continues.

use foretell_amp::GradScaler;
use foretell_optim::Rule;

use crate::state::State;

/// The state of an optimiser after a training.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptOptimizer {
    /// Steps of all trainings so far: draws of series, windows and dropout continue from here.
    pub steps: u64,
    /// Steps of the optimiser among these, which in `f16` leaves some out.
    pub updates: u64,
    /// Its arrays with one number for each parameter, under PyTorch's names.
    pub states: Vec<(String, Vec<f32>)>,
    /// The scale of the loss, of a training in `f16`.
    pub scaler: Option<GradScaler>,
}

impl KeptOptimizer {
    /// The optimiser in the state of a training by this rule that is done, which went on with the one `before` it.
    ///
    /// # Panics
    /// If an array is missing from the state.
    #[track_caller]
    pub fn of_state(state: &State<'_>, before: Option<&Self>, rule: Rule) -> Self {
        let array =
            |name: &str| state.arena(name).unwrap_or_else(|| panic!("a state without {name}")).to_vec();
        let skipped = state.scaler.as_ref().map_or(0, GradScaler::skipped);
        let [steps, updates] = before.map_or([0; 2], |before| [before.steps, before.updates]);
        Self {
            steps: steps + state.step,
            updates: updates + state.step - skipped,
            states: rule.state_names().iter().map(|&name| (name.to_owned(), array(name))).collect(),
            scaler: state.scaler.clone(),
        }
    }

    /// The array of this name, if there is one.
    pub fn state(&self, name: &str) -> Option<&[f32]> {
        self.states.iter().find(|(known, _)| known == name).map(|(_, values)| &values[..])
    }
}
