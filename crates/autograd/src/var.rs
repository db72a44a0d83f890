//! Variables: tensors, and where their gradients go.

use std::cell::RefCell;
use std::collections::HashSet;

use foretell_gemm::Rounding;
use foretell_tensor::{KeptTensor, Shape, Tensor};

use crate::graph::{BackwardPass, Edge, Role};

/// A tensor, and the node that its gradient goes to if there is one. Cloning copies no values.
#[derive(Clone, Debug)]
pub struct Var {
    value: Tensor,
    edge: Edge,
    marks: Marks,
}

/// What a variable passes on to the results of operations on it.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// How products round their operands.
    rounding: Rounding,
    /// How what is kept for the backward pass is rounded, where products round nothing.
    keeping: Rounding,
}

impl Marks {
    /// Of each kind that of the last of these variables that has one.
    fn of(inputs: &[&Var]) -> Self {
        inputs.iter().fold(Self::default(), |marks, input| Self {
            rounding: input.marks.rounding.or(marks.rounding),
            keeping: input.marks.keeping.or(marks.keeping),
        })
    }
}

impl Var {
    /// A value that no gradient flows to.
    pub fn constant(value: Tensor) -> Self {
        Self { value, edge: Edge::NOWHERE, marks: Marks::default() }
    }

    /// A parameter whose gradient is added to `arena[offset..]` by [`Var::backward`].
    pub fn parameter(value: Tensor, offset: usize) -> Self {
        let range = offset..offset + value.numel();
        Self { value, edge: Edge::new(Role::Parameter(range)), marks: Marks::default() }
    }

    /// An input whose gradient [`Var::grad`] returns after the backward pass.
    pub fn input(value: Tensor) -> Self {
        Self { value, edge: Edge::new(Role::Input(RefCell::default())), marks: Marks::default() }
    }

    /// The result of an operation on `inputs`: `backward` gets the gradient of `value` and passes
    /// gradients on to the inputs' edges. Dropped unused where no input wants a gradient.
    pub fn operation(
        value: Tensor,
        inputs: &[&Self],
        backward: impl FnOnce(Tensor, &mut BackwardPass<'_>) + 'static,
    ) -> Self {
        let marks = Marks::of(inputs);
        if inputs.iter().all(|input| !input.edge.is_wanted()) {
            return Self::constant(value).with_marks(marks);
        }
        Self::recorded(value, backward).with_marks(marks)
    }

    /// [`Var::operation`] with two results: `backward` gets the gradients of both `values`, once both are complete. The
    /// gradient of a value that no operation used is `None`; at least one of the two is present.
    pub fn operation_of_two(
        values: [Tensor; 2],
        inputs: &[&Self],
        backward: impl FnOnce([Option<Tensor>; 2], &mut BackwardPass<'_>) + 'static,
    ) -> [Self; 2] {
        let marks = Marks::of(inputs);
        if inputs.iter().all(|input| !input.edge.is_wanted()) {
            return values.map(|value| Self::constant(value).with_marks(marks));
        }
        let ([first, second], edges) = (values, Edge::of_operation(backward));
        let [of_first, of_second] = edges;
        [(first, of_first), (second, of_second)].map(|(value, edge)| Self { value, edge, marks })
    }

    /// The result of an operation that wants a gradient whatever its inputs are.
    pub(crate) fn recorded(
        value: Tensor,
        backward: impl FnOnce(Tensor, &mut BackwardPass<'_>) + 'static,
    ) -> Self {
        let [edge, _] = Edge::of_operation(|[grad, _], gradients| {
            backward(grad.expect("a waiting node has a gradient"), gradients);
        });
        Self { value, edge, marks: Marks::default() }
    }

    /// The same variable, with this rounding of its products.
    ///
    /// Weights are marked with it, and results of operations on a variable inherit its mark. A product with weights
    /// is rounded as the weights are marked, one of two activations if either is marked. No other operation rounds.
    pub fn with_rounding(self, rounding: Rounding) -> Self {
        let marks = Marks { rounding, ..self.marks };
        self.with_marks(marks)
    }

    /// How its products are rounded.
    pub fn rounding(&self) -> Rounding {
        self.marks.rounding
    }

    /// The same variable, of which and of whose results the backward pass keeps numbers rounded to 16 bits, also where products
    /// round nothing: half of the memory, and gradients of operands that are rounded so.
    pub fn with_keeping(self, keeping: Rounding) -> Self {
        let marks = Marks { keeping, ..self.marks };
        self.with_marks(marks)
    }

    /// How what is kept of it for the backward pass is rounded at least.
    pub fn keeping(&self) -> Rounding {
        self.marks.keeping
    }

    fn with_marks(self, marks: Marks) -> Self {
        Self { marks, ..self }
    }

    /// A value of this variable (itself, or a row-major copy), to be kept for the backward pass: in the 16 bits that
    /// `rounding` or [`Var::keeping`] rounds to, except for constants and parameters, which stay in memory anyway.
    pub(crate) fn save_for_backward(&self, value: &Tensor, rounding: Rounding) -> KeptTensor {
        // Of a view of a few numbers all others would be rounded, too: a part of the parameters, which are in memory anyway.
        let keeping = if value.is_most() { self.marks.keeping } else { Rounding::None };
        let operation = matches!(self.edge.role(), Some(Role::Operation { .. }));
        value.keep(if operation { rounding.or(keeping) } else { Rounding::None })
    }

    /// The rounding of the tensors that an operation on `inputs` keeps: none where no gradient is wanted.
    pub(crate) fn saved_rounding(inputs: &[&Self], rounding: Rounding) -> Rounding {
        let wanted = inputs.iter().any(|input| input.edge.is_wanted());
        if wanted { rounding.or(Marks::of(inputs).keeping) } else { Rounding::None }
    }

    /// The value.
    pub fn value(&self) -> &Tensor {
        &self.value
    }

    /// Takes the value out of the variable, which keeps only the edge that its gradient goes to.
    pub(crate) fn take_value(&mut self) -> Tensor {
        std::mem::replace(&mut self.value, Tensor::zeros([0]))
    }

    /// The shape of the value.
    pub fn shape(&self) -> Shape {
        self.value.shape()
    }

    /// Where the gradient goes, for the backward pass of an operation to hold on to.
    pub fn edge(&self) -> Edge {
        self.edge.clone()
    }

    /// The gradient that a backward pass left at a [`Var::input`].
    pub fn grad(&self) -> Option<Tensor> {
        match self.edge.role()? {
            Role::Input(grad) => grad.borrow().clone(),
            _ => None,
        }
    }

    /// Runs the backward pass from this scalar; parameters' gradients are added to `arena`.
    ///
    /// # Panics
    /// If the value is not a single number, or the graph was walked before.
    #[track_caller]
    pub fn backward(&self, arena: &mut [f32]) {
        assert_eq!(
            self.value.numel(),
            1,
            "backward() starts from one number, not from shape {:?}",
            self.shape()
        );
        self.backward_from(Tensor::full(self.shape(), 1.0), arena);
    }

    /// Runs the backward pass from the gradient `seed` of this variable.
    ///
    /// # Panics
    /// If the shapes differ, or the graph was walked before.
    #[track_caller]
    pub fn backward_from(&self, seed: Tensor, arena: &mut [f32]) {
        assert_eq!(seed.shape(), self.shape(), "the seed gradient's shape and the variable's differ");
        BackwardPass::run(&self.edge, seed, arena, None);
    }

    /// Runs the backward pass from the gradient `seed` of this variable into an arena whose contents do not matter:
    /// the first gradient of a parameter that is not in `written` replaces the old contents, so the arena need not be
    /// cleared before. Adds to `written` the offsets of the parameters that got a gradient; the others are left as
    /// they were.
    ///
    /// # Panics
    /// If the shapes differ, or the graph was walked before.
    #[track_caller]
    pub fn backward_overwriting(&self, seed: Tensor, arena: &mut [f32], written: &mut HashSet<usize>) {
        assert_eq!(seed.shape(), self.shape(), "the seed gradient's shape and the variable's differ");
        BackwardPass::run(&self.edge, seed, arena, Some(written));
    }
}
