//! The table of a model's parameters: their names, shapes and offsets, filled through scopes while the model is built.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::Arc;

use foretell_tensor::Shape;

use crate::Init;
use crate::layer_params::{LinearParams, Multiplied, MultipliedId, RecurrentParams};
use crate::param_entry::{CounterId, Origin, ParamEntry, ParamId, StateId};

/// Parameters start at multiples of this many elements: one 64-byte cache line.
const ALIGNMENT: usize = 16;

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
    recurrent: Vec<RecurrentParams>,
    /// The names of parameters and constants, second names included.
    names: HashMap<String, ParamId>,
    seed: u64,
    len: usize,
    multiplied_len: usize,
    pub(crate) constants_len: usize,
    pub(crate) state_len: usize,
    pub(crate) counters_len: usize,
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
    ///
    /// # Panics
    /// If it is one of another table.
    #[track_caller]
    pub fn entry(&self, id: ParamId) -> &ParamEntry {
        self.entries.get(id.0).unwrap_or_else(|| {
            panic!(
                "parameter {} of a table that has {}: the layer was built with another table; run a model with the parameters of \
                 the table that it was built with (Table::initialise)",
                id.0,
                self.entries.len()
            )
        })
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
    pub(crate) fn recurrent(&self) -> &[RecurrentParams] {
        &self.recurrent
    }

    /// The length in elements of an arena of gradients: of the parameters, then of the multiplied weights.
    pub fn gradients_len(&self) -> usize {
        self.len.saturating_add(self.multiplied_len)
    }

    /// The range of the gradient of multiplied weights among the gradients.
    pub fn multiplied_range(&self, multiplied: &Multiplied) -> Range<usize> {
        let start = self.len + multiplied.offset;
        start..start + multiplied.shape.numel()
    }

    /// The elements of all that a model holds: of the arena, the constants, the state and the multiplied weights.
    pub fn total_len(&self) -> usize {
        self.gradients_len().saturating_add(self.constants_len).saturating_add(self.state_len)
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

    /// The seed of choices during the construction of a model that are not stored in a checkpoint, such as FEDformer's
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
    pub(crate) fn register_multiplied(&mut self, shape: Shape, layers: [LinearParams; 2]) -> MultipliedId {
        let offset = reserve(&mut self.table.multiplied_len, &shape);
        self.table.multiplied.push(Multiplied { shape, offset, layers });
        MultipliedId(self.table.multiplied.len() - 1)
    }

    /// Registers a recurrent layer, whose weights forecasts lay out anew.
    pub(crate) fn register_recurrent(&mut self, layer: &RecurrentParams) {
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

/// Lengthens an arena of `len` elements by room for this shape, and returns where it starts. Sizes come from
/// hyper-parameters: an absurd one must not wrap round to a small arena.
fn reserve(len: &mut usize, shape: &Shape) -> usize {
    let offset = *len;
    let numel = shape.iter().fold(1_usize, |numel, &size| numel.saturating_mul(size));
    let end = offset.saturating_add(numel).checked_next_multiple_of(ALIGNMENT);
    *len = end.unwrap_or(usize::MAX / ALIGNMENT * ALIGNMENT);
    offset
}
