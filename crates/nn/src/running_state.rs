//! State that training changes but no gradient does: running means and variances, and counters.

use foretell_tensor::Tensor;

use crate::param_entry::ParamEntry;
use crate::params::{ParamId, Params, make_unique};

/// The place in its model's table of state that training changes but no gradient does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub(crate) ParamId);

/// A counter's place in its model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterId(pub(crate) ParamId);

/// An update of running state by a training run.
#[derive(Clone, Debug)]
pub enum Update {
    /// `state = (1 - momentum) * state + momentum * value`.
    Average {
        /// The state.
        state: StateId,
        /// The weight of the new value.
        momentum: f32,
        /// The new value, of the state's shape.
        value: Tensor,
    },
    /// The counter rises by one.
    Count(CounterId),
}

impl Params {
    /// The state as it is.
    pub(crate) fn state(&self, id: StateId) -> Tensor {
        self.tensor(id.0)
    }

    /// All state that training changes but no gradient does, in one arena.
    pub fn state_arena(&self) -> &[f32] {
        self.state.values()
    }

    /// All counters.
    pub fn counters(&self) -> &[i64] {
        &self.counters
    }

    /// Sets all state and all counters to these values, those of an earlier step.
    ///
    /// # Panics
    /// If they are of another model.
    #[track_caller]
    pub fn restore_state(&mut self, state: &[f32], counters: &[i64]) {
        make_unique(&mut self.state).copy_from_slice(state);
        self.counters.copy_from_slice(counters);
    }

    /// Applies what runs on the parts of a batch do to the state, in the order given.
    ///
    /// # Panics
    /// If a value has another shape than its state.
    pub fn apply(&mut self, updates: impl IntoIterator<Item = Update>) {
        for update in updates {
            match update {
                Update::Count(CounterId(id)) => self.counters[self.table.entry(id).offset] += 1,
                Update::Average { state: StateId(id), momentum, value } => {
                    let ParamEntry { offset, shape, .. } = *self.table.entry(id);
                    assert_eq!(value.shape(), shape, "a value averaged into state of another shape");
                    let state = &mut make_unique(&mut self.state)[offset..offset + shape.numel()];
                    for (state, value) in state.iter_mut().zip(value.to_vec()) {
                        *state = (1.0 - momentum) * *state + momentum * value;
                    }
                }
            }
        }
    }

    /// The value of a counter; `None` for other entries.
    pub fn counter(&self, entry: &ParamEntry) -> Option<i64> {
        entry.is_counter().then(|| self.counters[entry.offset])
    }

    /// Sets the counter at place `index` of the table.
    ///
    /// # Panics
    /// If the entry is no counter.
    #[track_caller]
    pub fn set_counter(&mut self, index: usize, value: i64) {
        let entry = &self.table.entries[index];
        assert!(entry.is_counter(), "{} is no counter", entry.name);
        self.counters[entry.offset] = value;
    }
}
