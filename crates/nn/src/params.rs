//! The parameters of a model: a table of names, shapes and offsets, and one flat arena of values. What PyTorch's
//! state dictionary lists beside them lies in arenas of its own: constants, state that training changes but no
//! gradient does (running means and variances), and counters.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foretell_pool::Buffer;
use foretell_simd::Key;
use foretell_tensor::{Shape, Storage, Tensor};

use crate::layers::recurrent::Layer;
use crate::param_entry::{Origin, ParamEntry};
use crate::running_state::{CounterId, StateId};
use crate::weights::{HeldCopies, Multiplied, MultipliedId};
use crate::{Init, Linear, WeightPrecision};

/// Parameters start at multiples of this many elements: one 64-byte cache line.
const ALIGNMENT: usize = 16;

/// A parameter's place in its model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamId(pub(crate) usize);

/// A second name for a parameter, where PyTorch's state dictionary lists a shared module twice.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The second name.
    pub name: String,
    /// The parameter it stands for.
    pub of: ParamId,
}

/// Names, shapes and offsets of all parameters of a model, filled while the model is built.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(crate) entries: Vec<ParamEntry>,
    aliases: Vec<Alias>,
    multiplied: Vec<Multiplied>,
    recurrent: Vec<Layer>,
    /// Of parameters and constants, second names included.
    names: HashMap<String, ParamId>,
    seed: u64,
    len: usize,
    multiplied_len: usize,
    constants_len: usize,
    state_len: usize,
    counters_len: usize,
}

impl Table {
    /// Sets [`Scope::seed`], which is 0 by default.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// The scope without a prefix.
    pub fn root(&mut self) -> Scope<'_> {
        Scope { table: self, prefix: String::new() }
    }

    /// All parameters and constants in the order in which they were registered.
    pub fn entries(&self) -> &[ParamEntry] {
        &self.entries
    }

    /// The entries that training changes.
    pub fn trained(&self) -> impl Iterator<Item = &ParamEntry> {
        self.entries.iter().filter(|entry| entry.is_trained())
    }

    /// All second names.
    pub fn aliases(&self) -> &[Alias] {
        &self.aliases
    }

    /// All weights that are multiplied with each other.
    pub fn multiplied(&self) -> &[Multiplied] {
        &self.multiplied
    }

    /// The parameter or constant of this name, or of this second name.
    pub fn find(&self, name: &str) -> Option<ParamId> {
        self.names.get(name).copied()
    }

    /// One parameter.
    pub fn entry(&self, id: ParamId) -> &ParamEntry {
        &self.entries[id.0]
    }

    /// The number of trained values, without the gaps that alignment leaves in the arena.
    pub fn numel(&self) -> usize {
        self.trained().map(|entry| entry.shape.numel()).sum()
    }

    /// The length of the arena in elements, gaps included; saturated where sizes are absurd.
    pub fn arena_len(&self) -> usize {
        self.len
    }

    /// All recurrent layers.
    pub(crate) fn recurrent(&self) -> &[Layer] {
        &self.recurrent
    }

    /// The length in elements of an arena of gradients: of the parameters, then of the multiplied weights.
    pub fn gradients_len(&self) -> usize {
        self.len.saturating_add(self.multiplied_len)
    }

    /// Where the gradient of multiplied weights lies among the gradients.
    pub fn multiplied_range(&self, multiplied: &Multiplied) -> Range<usize> {
        let start = self.len + multiplied.offset;
        start..start + multiplied.shape.numel()
    }

    /// The elements of all that a model holds: of the arena, the constants, the state and the multiplied weights.
    pub fn total_len(&self) -> usize {
        self.gradients_len().saturating_add(self.constants_len).saturating_add(self.state_len)
    }

    /// The total number of outputs of all trained matrices whose names begin with `prefix`, if each is applied once.
    pub fn matrix_outputs(&self, prefix: &str) -> usize {
        let is_matrix =
            |entry: &&ParamEntry| entry.shape.len() == 2 && matches!(entry.origin, Origin::Trained(_));
        let matrices = self.entries.iter().filter(is_matrix).filter(|entry| entry.name.starts_with(prefix));
        matrices.map(|entry| entry.shape[0]).fold(0, usize::saturating_add)
    }

    /// Parameters drawn by their initialisers; the same seed gives the same values.
    pub fn initialise(self, seed: u64) -> Params {
        let (mut arena, mut constants) = (Buffer::zeroed(self.len), Buffer::zeroed(self.constants_len));
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
        let multiplied = vec![OnceLock::new(); self.multiplied.len()];
        Params {
            arena: Storage::new(arena),
            constants: Storage::new(constants),
            state: Storage::new(state),
            counters: vec![0; self.counters_len],
            multiplied,
            copies: HeldCopies::new(WeightPrecision::F32, &self),
            table: Arc::new(self),
        }
    }
}

/// A place in the tree of names, through which a model registers its parameters.
pub struct Scope<'a> {
    table: &'a mut Table,
    prefix: String,
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({:?})", self.prefix)
    }
}

impl Scope<'_> {
    /// The scope one level down.
    pub fn at(&mut self, name: impl Display) -> Scope<'_> {
        let prefix = self.path(name);
        Scope { table: self.table, prefix }
    }

    /// Registers a parameter.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn param(&mut self, name: impl Display, shape: impl Into<Shape>, init: Init) -> ParamId {
        self.register(name, shape.into(), Origin::Trained(init))
    }

    /// Registers a parameter whose rows are looked up, such as a vector for each category.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn lookup(&mut self, name: impl Display, shape: impl Into<Shape>, init: Init) -> ParamId {
        self.register(name, shape.into(), Origin::LookedUp(init))
    }

    /// Registers a parameter of complex numbers: of this shape in PyTorch, with one dimension more of real and imaginary part.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn complex(&mut self, name: impl Display, shape: impl Into<Shape>, init: Init) -> ParamId {
        let shape = shape.into();
        let id = self.param(name, shape.with(shape.len(), 2), init);
        self.table.entries[id.0].is_complex = true;
        id
    }

    /// The seed of choices that are made while a model is built and are not stored in a checkpoint, such as FEDformer's
    /// frequencies.
    pub fn seed(&self) -> u64 {
        self.table.seed
    }

    /// Registers values that no training changes, but that PyTorch's state dictionary lists. `fill` computes
    /// them; a checkpoint's own replace them.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn constant(
        &mut self,
        name: impl Display,
        shape: impl Into<Shape>,
        fill: impl Fn(&mut [f32]) + Send + Sync + 'static,
    ) -> ParamId {
        self.register(name, shape.into(), Origin::Constant(Arc::new(fill)))
    }

    /// Registers values that PyTorch's state dictionary lists as a parameter, but that no output depends on: layers that
    /// neuralforecast makes and never calls, biases that a later operation cancels. They are drawn as a parameter is, kept
    /// in checkpoints, and never trained.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn unread(&mut self, name: impl Display, shape: impl Into<Shape>, init: Init) -> ParamId {
        self.register(name, shape.into(), Origin::Frozen(init))
    }

    /// Registers values that are drawn as a parameter is, read, and never trained.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn frozen(&mut self, name: impl Display, shape: impl Into<Shape>, init: Init) -> ParamId {
        self.register(name, shape.into(), Origin::Frozen(init))
    }

    /// Registers values that training changes but no gradient does, such as running means, all of them `first` at the
    /// start. A run of the model reads them by [`Forward::state`](crate::Forward::state) and changes them by
    /// [`Forward::average_into`](crate::Forward::average_into).
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn state(&mut self, name: impl Display, shape: impl Into<Shape>, first: f32) -> StateId {
        StateId(self.register(name, shape.into(), Origin::State(first)))
    }

    /// Registers a 64-bit counter, 0 at the start, which [`Forward::count`](crate::Forward::count) raises.
    ///
    /// # Panics
    /// If the name is taken.
    #[track_caller]
    pub fn counter(&mut self, name: impl Display) -> CounterId {
        CounterId(self.register(name, Shape::new(&[]), Origin::Counter))
    }

    #[track_caller]
    fn register(&mut self, name: impl Display, shape: Shape, origin: Origin) -> ParamId {
        let name = self.path(name);
        let id = ParamId(self.table.entries.len());
        assert!(self.table.names.insert(name.clone(), id).is_none(), "two parameters are called {name}");
        let len = match origin {
            Origin::Trained(_) | Origin::LookedUp(_) => &mut self.table.len,
            Origin::Constant(_) | Origin::Frozen(_) => &mut self.table.constants_len,
            Origin::State(_) => &mut self.table.state_len,
            Origin::Counter => &mut self.table.counters_len,
        };
        let offset = match origin {
            Origin::Counter => {
                *len += 1;
                *len - 1
            }
            _ => reserve(len, &shape),
        };
        self.table.entries.push(ParamEntry { name, shape, offset, is_complex: false, origin });
        id
    }

    /// Registers the multiplied weights of two layers: see [`Multiplied`].
    pub(crate) fn register_multiplied(&mut self, shape: Shape, layers: [Linear; 2]) -> MultipliedId {
        let offset = reserve(&mut self.table.multiplied_len, &shape);
        self.table.multiplied.push(Multiplied::new(shape, offset, layers));
        MultipliedId(self.table.multiplied.len() - 1)
    }

    /// Registers a recurrent layer, whose weights forecasts lay out anew.
    pub(crate) fn register_recurrent(&mut self, layer: &Layer) {
        self.table.recurrent.push(layer.clone());
    }

    /// Registers a second name for a parameter.
    pub fn alias(&mut self, name: impl Display, of: ParamId) {
        let name = self.path(name);
        self.table.names.insert(name.clone(), of);
        self.table.aliases.push(Alias { name, of });
    }

    /// Registers second names, below `name`, for all that is registered below `of`: one module in two places.
    pub fn alias_all(&mut self, name: impl Display, of: impl Display) {
        let (name, of) = (self.path(name), self.path(of) + ".");
        let Table { entries, aliases, .. } = &*self.table;
        let own = entries.iter().enumerate().map(|(i, entry)| (&entry.name, ParamId(i)));
        let again = own.chain(aliases.iter().map(|alias| (&alias.name, alias.of)));
        let again = again.filter_map(|(path, id)| Some((path.strip_prefix(&of)?, id)));
        let again: Vec<_> = again.map(|(rest, of)| Alias { name: format!("{name}.{rest}"), of }).collect();
        self.table.names.extend(again.iter().map(|alias| (alias.name.clone(), alias.of)));
        self.table.aliases.extend(again);
    }

    fn path(&self, name: impl Display) -> String {
        if self.prefix.is_empty() { name.to_string() } else { format!("{}.{name}", self.prefix) }
    }
}

/// Why a parameter cannot be given these values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// No parameter of that name.
    #[error("no parameter is called {found}; Params::table().entries() lists their names")]
    UnknownName {
        /// The name given.
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
    /// The multiplied weights of the arena as it is, each computed when it is first asked for.
    pub(crate) multiplied: Vec<OnceLock<Tensor>>,
    /// Weights as forecasts hold them beside the arena, likewise made when first asked for.
    pub(crate) copies: HeldCopies,
}

impl Params {
    /// Names, shapes and offsets.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// One parameter or constant, as a view of its arena.
    pub fn tensor(&self, id: ParamId) -> Tensor {
        let entry = self.table.entry(id);
        Tensor::row_major(self.storage(entry).clone(), entry.offset, entry.shape)
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

/// Lengthens an arena of `len` elements by room for this shape, and returns where it starts. Sizes come from
/// hyper-parameters: an absurd one must not wrap round to a small arena.
fn reserve(len: &mut usize, shape: &Shape) -> usize {
    let offset = *len;
    let numel = shape.iter().fold(1_usize, |numel, &size| numel.saturating_mul(size));
    let end = offset.saturating_add(numel).checked_next_multiple_of(ALIGNMENT);
    *len = end.unwrap_or(usize::MAX / ALIGNMENT * ALIGNMENT);
    offset
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
    use crate::Forward;

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
