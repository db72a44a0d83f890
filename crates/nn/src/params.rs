//! The values of a model's parameters, in one flat arena. The other values of PyTorch's state dictionary are in arenas of their
//! own: constants, state that training changes but no gradient does (running means and variances), and counters.

use std::fmt;
use std::sync::Arc;

use foretell_pool::Buffer;
use foretell_simd::Key;
use foretell_tensor::{Storage, Tensor};

use crate::WeightPrecision;
use crate::held_copies::HeldCopies;
use crate::param_entry::{Origin, ParamEntry, ParamId};
use crate::table::Table;

/// Why a parameter cannot take these values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// No parameter of that name.
    #[error("no parameter is called {found}; Params::table().entries() lists their names")]
    UnknownName {
        /// The name asked for.
        found: String,
    },
    /// Values of another shape.
    #[error("parameter {name} has shape {expected:?}, found values of shape {found:?}")]
    Shape {
        /// The parameter.
        name: String,
        /// Its shape.
        expected: Vec<usize>,
        /// The shape of the values.
        found: Vec<usize>,
    },
}

/// The values of a model's parameters. Cloning shares them until one side writes.
///
/// ```
/// use foretell_nn::{Linear, Table, Tensor};
///
/// let mut table = Table::default();
/// Linear::new(&mut table.root().at("out"), 3, 2);
/// let mut params = table.initialise(1);
/// params.assign("out.bias", &Tensor::from_slice(&[0.5, -0.5], [2]))?;
/// assert_eq!(params.get("out.bias").unwrap().values(), [0.5, -0.5]);
/// assert!(params.get("in.bias").is_none());
/// # Ok::<(), foretell_nn::ParamError>(())
/// ```
#[derive(Clone)]
pub struct Params {
    pub(crate) table: Arc<Table>,
    arena: Storage,
    constants: Storage,
    pub(crate) state: Storage,
    pub(crate) counters: Vec<i64>,
    /// Weights as forecasts hold them beside the arena, each computed when it is first asked for.
    pub(crate) copies: HeldCopies,
}

impl Table {
    /// Parameters drawn by their initialisers; the same seed gives the same values.
    pub fn initialise(self, seed: u64) -> Params {
        let (mut arena, mut constants) =
            (Buffer::zeroed(self.arena_len()), Buffer::zeroed(self.constants_len));
        let mut state = Buffer::zeroed(self.state_len);
        let key = Key::new(seed);
        for (i, entry) in self.entries.iter().enumerate() {
            let range = entry.offset..entry.offset + entry.shape.numel();
            match &entry.origin {
                Origin::Trained(init) | Origin::LookedUp(init) => {
                    init.fill(key.fold(i as u64), &mut arena[range])
                }
                Origin::Frozen(init) => init.fill(key.fold(i as u64), &mut constants[range]),
                Origin::Constant(fill) => fill(&mut constants[range]),
                Origin::State(first) => state[range].fill(*first),
                Origin::Counter => {}
            }
        }
        Params {
            arena: Storage::new(arena),
            constants: Storage::new(constants),
            state: Storage::new(state),
            counters: vec![0; self.counters_len],
            copies: HeldCopies::new(WeightPrecision::F32, &self),
            table: Arc::new(self),
        }
    }
}

impl Params {
    /// Names, shapes and offsets.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// One parameter or constant, as a view of its arena.
    ///
    /// # Panics
    /// If it is one of another table.
    #[track_caller]
    pub fn tensor(&self, id: ParamId) -> Tensor {
        let entry = self.table.entry(id);
        Tensor::row_major(self.storage(entry).clone(), entry.offset, entry.shape)
    }

    /// [`Params::tensor`] as a matrix: its first dimension by all the others.
    pub(crate) fn matrix(&self, id: ParamId) -> Tensor {
        let value = self.tensor(id);
        let shape = [value.shape()[0], value.shape()[1..].iter().product()];
        value.reshape(shape)
    }

    /// The parameter or constant of this name, as a view of its arena.
    pub fn get(&self, name: &str) -> Option<Tensor> {
        self.table.find(name).map(|id| self.tensor(id))
    }

    /// Replaces the values of the parameter or constant of this name.
    ///
    /// # Errors
    /// If there is none of that name, or it has another shape.
    pub fn assign(&mut self, name: &str, values: &Tensor) -> Result<(), ParamError> {
        let Some(id) = self.table.find(name) else {
            return Err(ParamError::UnknownName { found: name.to_owned() });
        };
        let (expected, found) = (self.table.entry(id).shape, values.shape());
        if found != expected {
            let (expected, found) = (expected.to_vec(), found.to_vec());
            return Err(ParamError::Shape { name: name.to_owned(), expected, found });
        }
        self.set(id.0, values.contiguous().values());
        Ok(())
    }

    fn storage(&self, entry: &ParamEntry) -> &Storage {
        match entry.origin {
            Origin::Trained(_) | Origin::LookedUp(_) => &self.arena,
            Origin::State(_) => &self.state,
            Origin::Constant(_) | Origin::Frozen(_) | Origin::Counter => &self.constants,
        }
    }

    /// Where a parameter starts in the arena; `None` for a constant.
    pub fn offset(&self, id: ParamId) -> Option<usize> {
        let entry = self.table.entry(id);
        entry.is_trained().then_some(entry.offset)
    }

    /// The values of a parameter, a constant or state; none for a counter.
    pub fn values(&self, entry: &ParamEntry) -> &[f32] {
        if entry.is_counter() {
            return &[];
        }
        &self.storage(entry).values()[entry.offset..entry.offset + entry.shape.numel()]
    }

    /// A clone that does not share the copies of weights that forecasts have computed.
    pub fn without_copies(&self) -> Self {
        let mut clone = self.clone();
        clone.forget_copies();
        clone
    }

    /// The format in which forecasts have the weights of products.
    pub fn precision(&self) -> WeightPrecision {
        self.copies.precision
    }

    /// Forgets everything computed from the weights, before one of them changes.
    fn forget_copies(&mut self) {
        self.copies.forget();
    }

    /// The arena of all trained parameters.
    pub fn arena(&self) -> &[f32] {
        self.arena.values()
    }

    /// The whole arena, mutably. Copies it first where a tensor or a clone still shares it.
    pub fn arena_mut(&mut self) -> &mut [f32] {
        self.forget_copies();
        make_unique(&mut self.arena)
    }

    /// Replaces the values of the parameter, constant or state at place `index` of the table.
    ///
    /// # Panics
    /// If there is another number of values.
    #[track_caller]
    pub fn set(&mut self, index: usize, values: &[f32]) {
        self.forget_copies();
        let entry = &self.table.entries[index];
        let ParamEntry { offset, shape, ref name, .. } = *entry;
        assert!(!entry.is_counter(), "values for the counter {name}");
        assert_eq!(values.len(), shape.numel(), "values for {name} of shape {shape:?}");
        let storage = match entry.origin {
            Origin::Trained(_) | Origin::LookedUp(_) => &mut self.arena,
            Origin::State(_) => &mut self.state,
            Origin::Constant(_) | Origin::Frozen(_) | Origin::Counter => &mut self.constants,
        };
        make_unique(storage)[offset..offset + values.len()].copy_from_slice(values);
    }
}

/// The values, mutably; copied first where others share them.
pub(crate) fn make_unique(storage: &mut Storage) -> &mut [f32] {
    if storage.unique().is_none() {
        *storage = Storage::new(Buffer::copied(storage.values()));
    }
    storage.unique().expect("a fresh copy has one owner")
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Params({} values in {} tensors)", self.table.numel(), self.table.entries.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Forward, Init};

    fn params(seed: u64) -> (Params, ParamId, ParamId) {
        let mut table = Table::default();
        let a = table.root().at("blocks").at(0).param("weight", [3, 5], Init::fan_in(5));
        let b = table.root().param("slope", [1], Init::Constant(0.25));
        table.root().at("again").alias("slope", b);
        (table.initialise(seed), a, b)
    }

    #[test]
    fn names_are_paths_and_offsets_are_aligned() {
        let (params, a, b) = params(1);
        assert_eq!(params.table().entry(a).name, "blocks.0.weight");
        assert_eq!((params.offset(a), params.offset(b)), (Some(0), Some(16)));
        assert_eq!((params.table().numel(), params.table().arena_len()), (16, 32));
        assert_eq!(params.table().aliases()[0].name, "again.slope");
        assert_eq!(params.tensor(b).to_vec(), [0.25]);
    }

    #[test]
    fn parameters_are_found_and_set_by_name() {
        let (mut params, a, b) = params(1);
        let before = params.clone();
        assert_eq!(
            (params.table().find("blocks.0.weight"), params.table().find("again.slope")),
            (Some(a), Some(b))
        );
        let values = Tensor::full([3, 5], 2.0);
        params.assign("blocks.0.weight", &values).unwrap();
        params.assign("again.slope", &Tensor::full([1], 7.0)).unwrap();
        assert_eq!((params.tensor(a), params.get("slope")), (values.clone(), Some(Tensor::full([1], 7.0))));
        assert_eq!(before.get("slope"), Some(Tensor::full([1], 0.25)), "a clone keeps its own");
        let slip = params.assign("blocks.0.bias", &values).unwrap_err();
        assert!(slip.to_string().starts_with("no parameter is called blocks.0.bias"), "{slip}");
        let slip = params.assign("blocks.0.weight", &values.transpose(0, 1)).unwrap_err();
        assert_eq!(
            slip.to_string(),
            "parameter blocks.0.weight has shape [3, 5], found values of shape [5, 3]"
        );
    }

    #[test]
    fn constants_are_named_with_the_parameters_and_lie_apart() {
        let mut table = Table::default();
        let fill = |out: &mut [f32]| out.iter_mut().enumerate().for_each(|(i, x)| *x = i as f32);
        let basis = table.root().at(0).constant("basis", [2, 2], fill);
        let slope = table.root().at(0).param("slope", [1], Init::Constant(0.25));
        table.root().at(0).at("again").alias("slope", slope);
        table.root().alias_all(1, 0);
        assert_eq!((table.numel(), table.arena_len(), table.total_len()), (1, 16, 32));
        let names: Vec<&str> = table.aliases().iter().map(|alias| alias.name.as_str()).collect();
        assert_eq!(names, ["0.again.slope", "1.basis", "1.slope", "1.again.slope"]);
        assert_eq!(table.trained().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["0.slope"]);

        let mut params = table.initialise(1);
        assert_eq!((params.offset(basis), params.offset(slope)), (None, Some(0)));
        assert_eq!(params.tensor(basis).to_vec(), [0.0, 1.0, 2.0, 3.0]);
        let copy = params.clone();
        params.set(0, &[9.0; 4]);
        assert_eq!(params.values(&params.table().entries()[0]), [9.0; 4]);
        assert_eq!((copy.tensor(basis).to_vec()[1], params.arena()), (1.0, copy.arena()));
    }

    #[test]
    fn what_nothing_reads_is_drawn_and_kept_but_not_trained() {
        let mut table = Table::default();
        let id = table.root().unread("weight", [2, 3], Init::fan_in(3));
        assert_eq!((table.numel(), table.arena_len(), table.trained().count()), (0, 0, 0));
        assert!(table.entry(id).is_frozen() && !table.entry(id).is_constant());
        let mut params = table.initialise(1);
        assert!(params.tensor(id).to_vec().iter().all(|&x| x != 0.0 && x.abs() < 0.6));
        assert_eq!(params.offset(id), None);
        params.assign("weight", &Tensor::full([2, 3], 2.0)).unwrap();
        assert_eq!(params.values(&params.table().entries()[0]), [2.0; 6]);
    }

    #[test]
    fn state_and_counters_follow_their_updates() {
        let mut table = Table::default();
        let mean = table.root().at("norm").state("running_mean", [2], 0.0);
        let variance = table.root().at("norm").state("running_var", [2], 1.0);
        let batches = table.root().at("norm").counter("num_batches_tracked");
        assert_eq!((table.numel(), table.arena_len()), (0, 0), "no gradient reaches them");
        let mut params = table.initialise(1);
        let before = params.clone();
        let cx = Forward::training(&params, Key::new(0));
        cx.average_into(mean, 0.5, Tensor::from_slice(&[2.0, 4.0], [2]));
        cx.average_into(mean, 0.5, Tensor::from_slice(&[0.0, 0.0], [2]));
        cx.count(batches);
        assert_eq!(cx.state(mean).to_vec(), [0.0, 0.0], "a run sees the state before the step");
        let updates = cx.into_updates();
        params.apply(updates);
        assert_eq!(params.state(mean).to_vec(), [0.5, 1.0]);
        assert_eq!(params.state(variance).to_vec(), [1.0, 1.0]);
        let entries = params.table().entries().to_vec();
        assert_eq!(
            entries.iter().map(|entry| params.counter(entry)).collect::<Vec<_>>(),
            [None, None, Some(1)]
        );
        assert_eq!(before.state(mean).to_vec(), [0.0, 0.0], "a copy is left alone");

        params.restore_state(before.state_arena(), before.counters());
        assert_eq!((params.state(mean).to_vec(), params.counters()), (vec![0.0, 0.0], &[0_i64][..]));
        params.set_counter(2, 7);
        assert_eq!(params.counter(&entries[2]), Some(7));

        let inference = Forward::inference(&params);
        inference.average_into(mean, 1.0, Tensor::full([2], 9.0));
        inference.count(batches);
        assert!(inference.into_updates().is_empty(), "only training changes state");
    }

    #[test]
    fn the_seed_decides_the_values() {
        assert_eq!(params(1).0.arena(), params(1).0.arena());
        assert_ne!(params(1).0.arena(), params(2).0.arena());
    }

    #[test]
    fn writing_to_a_clone_leaves_the_original_alone() {
        let (mut params, a, _) = params(1);
        let copy = params.clone();
        params.arena_mut()[0] = 9.0;
        assert_ne!(copy.arena()[0], 9.0);
        assert_eq!(params.tensor(a).to_vec()[0], 9.0);
    }
}
