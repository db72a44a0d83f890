//! A record of the operations of one thread on tensors, for programs that write them down in another language.
//!
//! While [`traced`] runs a function, each operation notes its name, its arguments, and which tensors it read and made. Tensors are told
//! apart by the memory and the shape that they are views of; the record keeps them all, so none takes the place of another. What
//! no operation made is a constant of the record, as weights are, or an input where it was named so.
//!
//! An operation that is made of others notes itself after them: the last one that made a tensor counts. Outside of [`traced`]
//! nothing is kept, and an operation pays one read of a flag.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use foretell_pool::Buffer;

use crate::shape::Shape;
use crate::storage::Storage;

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static TRACE: RefCell<Trace> = RefCell::default();
}

/// What an operation reads or makes.
#[derive(Clone, Debug)]
pub enum TracedOperand {
    /// A view of numbers, as a tensor is: [`Tensor::of_operand`](crate::Tensor::of_operand) has them.
    Numbers {
        /// The memory.
        storage: Storage,
        /// Where the view begins.
        offset: usize,
        /// The sizes of its dimensions.
        shape: Shape,
        /// The steps between neighbours along each.
        strides: Shape,
    },
    /// Places along a dimension, row-major.
    Places {
        /// The places.
        values: Arc<Buffer<u32>>,
        /// The sizes of the dimensions.
        shape: Shape,
    },
}

impl TracedOperand {
    /// The sizes of the dimensions.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Numbers { shape, .. } | Self::Places { shape, .. } => *shape,
        }
    }

    /// The memory, where it begins, the shape, and the strides, those of single elements being 0.
    fn key(&self) -> Key {
        match self {
            Self::Numbers { storage, offset, shape, strides } => {
                let mut strides = strides.to_vec();
                strides
                    .iter_mut()
                    .zip(shape.iter())
                    .filter(|(_, size)| **size == 1)
                    .for_each(|(step, _)| *step = 0);
                (storage.address(), *offset, shape.to_vec(), strides)
            }
            Self::Places { values, shape } => (Arc::as_ptr(values).addr(), 0, shape.to_vec(), Vec::new()),
        }
    }
}

type Key = (usize, usize, Vec<usize>, Vec<usize>);

/// An argument of an operation beside its tensors.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A size, a place or a count.
    Size(usize),
    /// Several of them.
    Sizes(Vec<usize>),
    /// A number.
    Number(f32),
    /// A word.
    Word(&'static str),
}

/// An operation as it notes itself.
#[derive(Debug)]
pub struct Record {
    name: &'static str,
    inputs: Vec<Option<TracedOperand>>,
    outputs: Vec<TracedOperand>,
    arguments: Vec<(&'static str, Argument)>,
    is_view: bool,
}

impl Record {
    /// An operation of this name.
    pub fn new(name: &'static str) -> Self {
        Self { name, inputs: Vec::new(), outputs: Vec::new(), arguments: Vec::new(), is_view: false }
    }

    /// One whose result is another view of its input's memory.
    pub(crate) fn view(
        name: &'static str,
        from: impl Into<TracedOperand>,
        to: impl Into<TracedOperand>,
    ) -> Self {
        Self { is_view: true, ..Self::new(name).input(from).output(to) }
    }

    /// It reads this one, after those named before.
    pub fn input(self, input: impl Into<TracedOperand>) -> Self {
        self.optional(Some(input))
    }

    /// It may read this one.
    pub fn optional(mut self, input: Option<impl Into<TracedOperand>>) -> Self {
        self.inputs.push(input.map(Into::into));
        self
    }

    /// It makes this one.
    pub fn output(mut self, output: impl Into<TracedOperand>) -> Self {
        self.outputs.push(output.into());
        self
    }

    /// An argument that is a size.
    pub fn size(self, name: &'static str, size: usize) -> Self {
        self.argument(name, Argument::Size(size))
    }

    /// An argument of several sizes.
    pub fn sizes(self, name: &'static str, sizes: &[usize]) -> Self {
        self.argument(name, Argument::Sizes(sizes.to_vec()))
    }

    /// An argument that is a number.
    pub fn number(self, name: &'static str, number: f32) -> Self {
        self.argument(name, Argument::Number(number))
    }

    /// An argument that is a word.
    pub fn word(self, name: &'static str, word: &'static str) -> Self {
        self.argument(name, Argument::Word(word))
    }

    fn argument(mut self, name: &'static str, argument: Argument) -> Self {
        self.arguments.push((name, argument));
        self
    }
}

/// An operation of a [`Trace`]: its operands are places in [`Trace::operands`].
#[derive(Clone, Debug)]
pub struct TracedOperation {
    /// Its name.
    pub name: &'static str,
    /// What it read; `None` for what it could have read and did not.
    pub inputs: Vec<Option<usize>>,
    /// What it made.
    pub outputs: Vec<usize>,
    /// Its arguments by name.
    pub arguments: Vec<(&'static str, Argument)>,
}

/// The operations of a run, in their order.
#[derive(Debug, Default)]
pub struct Trace {
    /// All that was read or made, inputs first.
    pub operands: Vec<TracedOperand>,
    /// The operations.
    pub operations: Vec<TracedOperation>,
    /// Why the operations of another run may be others, if the values of the inputs decided on them.
    pub choices: Vec<&'static str>,
    known: HashMap<Key, usize>,
}

impl Trace {
    /// The place of a tensor among the operands, if an operation read or made it.
    pub fn place(&self, tensor: impl Into<TracedOperand>) -> Option<usize> {
        self.known.get(&tensor.into().key()).copied()
    }

    fn place_or_constant(&mut self, operand: TracedOperand) -> usize {
        match self.known.get(&operand.key()) {
            Some(&place) => place,
            None => self.add(operand),
        }
    }

    fn add(&mut self, operand: TracedOperand) -> usize {
        self.known.insert(operand.key(), self.operands.len());
        self.operands.push(operand);
        self.operands.len() - 1
    }

    fn record(&mut self, record: Record) {
        let Record { name, inputs, outputs, arguments, is_view } = record;
        let inputs = inputs.into_iter().map(|input| Some(self.place_or_constant(input?))).collect();
        if is_view && outputs.iter().all(|output| self.known.contains_key(&output.key())) {
            return;
        }
        let outputs = outputs.into_iter().map(|output| self.add(output)).collect();
        self.operations.push(TracedOperation { name, inputs, outputs, arguments });
    }
}

/// Whether this thread's operations are recorded.
pub fn is_on() -> bool {
    ON.get()
}

/// Records an operation, if this thread's are recorded.
pub fn record(operation: impl FnOnce() -> Record) {
    if is_on() {
        let record = operation();
        TRACE.with_borrow_mut(|trace| trace.record(record));
    }
}

/// Says that values of tensors decide on the operations that follow, and what is decided.
pub fn choose(choice: &'static str) {
    if is_on() {
        TRACE.with_borrow_mut(|trace| trace.choices.push(choice));
    }
}

/// Runs a function and records what it does on this thread with these inputs, which are the first operands.
///
/// # Panics
/// If this thread's operations are being recorded already.
pub fn traced<R>(inputs: Vec<TracedOperand>, run: impl FnOnce() -> R) -> (R, Trace) {
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            ON.set(false);
        }
    }
    assert!(!ON.replace(true), "a record within a record");
    let off = Off;
    TRACE.with_borrow_mut(|trace| {
        *trace = Trace::default();
        inputs.into_iter().for_each(|input| _ = trace.add(input));
    });
    let result = run();
    drop(off);
    (result, TRACE.take())
}
