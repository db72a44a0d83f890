//! State that training changes but no gradient does: running means and variances, and counters.

use foretell_tensor::Tensor;

use crate::param_entry::{CounterId, ParamEntry, ParamId, StateId};
use crate::params::{Params, make_unique};
use crate::table::Table;

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

impl Update {
    /// Appends the update as plain numbers, which [`Table::read_updates`] of the same model reads, in this process or another: the
    /// place of its entry in the table and, of an average, the momentum and the values.
    pub fn write(&self, numbers: &mut Vec<f64>) {
        match self {
            Self::Count(CounterId(id)) => numbers.push(id.0 as f64),
            Self::Average { state: StateId(id), momentum, value } => {
                numbers.extend([id.0 as f64, f64::from(*momentum)]);
                numbers.extend(value.to_vec().into_iter().map(f64::from));
            }
        }
    }
}

impl Table {
    /// The updates that [`Update::write`] wrote, one after another.
    ///
    /// # Panics
    /// If they are of another model.
    #[track_caller]
    pub fn read_updates(&self, mut numbers: &[f64]) -> Vec<Update> {
        let mut updates = Vec::new();
        while let [place, rest @ ..] = numbers {
            let id = ParamId(*place as usize);
            let entry = self.entry(id);
            if entry.is_counter() {
                updates.push(Update::Count(CounterId(id)));
                numbers = rest;
                continue;
            }
            let len = 1 + entry.shape.numel();
            assert!(len <= rest.len(), "{} numbers are left for {} and its momentum", rest.len(), entry.name);
            let (own, rest) = rest.split_at(len);
            let values = own[1..].iter();
            let value = Tensor::build(entry.shape, |out| {
                out.iter_mut().zip(values).for_each(|(o, v)| *o = *v as f32)
            });
            updates.push(Update::Average { state: StateId(id), momentum: own[0] as f32, value });
            numbers = rest;
        }
        updates
    }
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

    /// Applies to the state the updates of runs on the parts of a batch, in the order of the iterator.
    ///
    /// # Panics
    /// If a value has another shape than its state.
    #[track_caller]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_become_numbers_and_back_to_the_last_bit() {
        let mut table = Table::default();
        let mut root = table.root();
        let mean = root.state("mean", [3], 0.0);
        let (batches, variance) = (root.counter("batches"), root.state("variance", [2], 1.0));
        let average = |state, momentum, values: &[f32]| Update::Average {
            state,
            momentum,
            value: Tensor::from_slice(values, [values.len()]),
        };
        let updates = [
            average(mean, 0.1, &[0.1, -0.0, f32::MIN_POSITIVE]),
            Update::Count(batches),
            average(variance, 0.3, &[1e30, 7.0]),
        ];
        let mut numbers = Vec::new();
        updates.iter().for_each(|update| update.write(&mut numbers));
        let [mut direct, mut read] = [(); 2].map(|()| table.clone().initialise(0));
        read.apply(table.read_updates(&numbers));
        direct.apply(updates);
        let bits = |params: &Params| params.state_arena().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&direct), bits(&read));
        assert_eq!((direct.counters(), read.counters()), (&[1][..], &[1][..]));
    }

    #[test]
    #[should_panic(expected = "2 numbers are left for mean")]
    fn updates_of_another_model_are_a_panic() {
        let mut table = Table::default();
        table.root().state("mean", [3], 0.0);
        table.read_updates(&[0.0, 0.1, 1.0]);
    }
}
