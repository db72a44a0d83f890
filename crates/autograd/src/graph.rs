//! The recorded graph, and the backward pass through it: nodes, the queue of those that wait for their turn, and where gradients
//! are collected.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use foretell_gemm::Accum;
use foretell_simd as simd;
use foretell_tensor::{Shape, Tensor};
use foretell_threads as threads;

/// Where the gradient of a variable goes; nowhere for a constant.
#[derive(Clone)]
pub struct Edge(Option<Place>);

/// A node, and which of an operation's results it is.
#[derive(Clone)]
struct Place {
    node: Rc<Node>,
    result: usize,
}

/// The most results of an operation.
pub(crate) const RESULTS: usize = 2;

/// The backward pass of an operation, run once the gradients of its results are complete; `None` for a result that received no
/// gradient.
type Backward = Box<dyn FnOnce([Option<Tensor>; RESULTS], &mut BackwardPass<'_>)>;

pub(crate) struct Node {
    /// Nodes are numbered in the order of creation, so a node's inputs have smaller numbers than itself, and going through the
    /// nodes by falling number is a valid order for the backward pass.
    pub(crate) number: u64,
    pub(crate) role: Role,
}

pub(crate) enum Role {
    /// A parameter: its gradient is added to this part of the arena.
    Parameter(Range<usize>),
    /// An input whose gradient is kept for the caller.
    Input(RefCell<Option<Tensor>>),
    /// An operation: the gradients of its results collected so far, and what to do with them.
    Operation { grads: [RefCell<Option<Tensor>>; RESULTS], backward: Cell<Option<Backward>> },
}

impl Edge {
    /// The edge of a constant.
    pub(crate) const NOWHERE: Self = Self(None);

    pub(crate) fn new(role: Role) -> Self {
        thread_local!(static NEXT: Cell<u64> = const { Cell::new(0) });
        let number = NEXT.replace(NEXT.get() + 1);
        Self(Some(Place { node: Rc::new(Node { number, role }), result: 0 }))
    }

    /// The edges of the results of an operation.
    pub(crate) fn of_operation(
        backward: impl FnOnce([Option<Tensor>; RESULTS], &mut BackwardPass<'_>) + 'static,
    ) -> [Self; RESULTS] {
        let backward: Backward = Box::new(backward);
        let role = Role::Operation { grads: Default::default(), backward: Cell::new(Some(backward)) };
        let first = Self::new(role);
        std::array::from_fn(|result| Self(first.0.clone().map(|place| Place { result, ..place })))
    }

    /// The role of the node that the edge leads to; `None` for a constant.
    pub(crate) fn role(&self) -> Option<&Role> {
        Some(&self.0.as_ref()?.node.role)
    }

    /// Whether a gradient is of any use here.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role() {
            None => write!(f, "constant"),
            Some(Role::Parameter(range)) => write!(f, "parameter at {range:?}"),
            Some(Role::Input(_)) => write!(f, "input"),
            Some(Role::Operation { .. }) => write!(f, "operation"),
        }
    }
}

/// Takes the gradients that operations pass on to their inputs.
pub struct BackwardPass<'a> {
    arena: &'a mut [f32],
    /// The offsets of the parameters whose gradients this pass has begun to write, where they replace what the arena
    /// holds; `None` where all gradients are added to what it holds.
    written: Option<&'a mut HashSet<usize>>,
    waiting: BinaryHeap<QueuedNode>,
}

impl fmt::Debug for BackwardPass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.len();
        f.debug_struct("BackwardPass")
            .field("arena", &self.arena.len())
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}

impl BackwardPass<'_> {
    #[track_caller]
    pub(crate) fn run(from: &Edge, seed: Tensor, arena: &mut [f32], written: Option<&mut HashSet<usize>>) {
        let mut pass = BackwardPass { arena, written, waiting: BinaryHeap::new() };
        pass.add_gradient(from, seed);
        while let Some(QueuedNode(node)) = pass.waiting.pop() {
            let Role::Operation { grads, backward } = &node.role else {
                unreachable!("only operations wait")
            };
            let backward = backward.take().expect("backward() ran through this graph before");
            // A gradient may arrive as a view (of a sum, a slice); operations see plain rows.
            let grads = grads.each_ref().map(|grad| grad.take().map(|grad| grad.contiguous()));
            backward(grads, &mut pass);
        }
    }

    /// Passes a whole gradient on. The first one is kept unchanged, later ones are added to it in place.
    ///
    /// # Panics
    /// If the gradient's shape is not that of the parameter, or of the gradients added before, or the arena ends before the
    /// parameter does.
    #[track_caller]
    pub fn add_gradient(&mut self, to: &Edge, grad: Tensor) {
        let Some(Place { node, result }) = &to.0 else { return };
        match &node.role {
            Role::Parameter(range) => match self.first_write(range.start) {
                Accum::Replace => self.gradient(range).copy_from_slice(grad.contiguous().values()),
                Accum::Add => simd::add_assign(self.gradient(range), grad.contiguous().values()),
            },
            Role::Input(slot) => keep_or_add(slot, grad),
            Role::Operation { grads, .. } => {
                let first = grads.iter().all(|slot| slot.borrow().is_none());
                keep_or_add(&grads[*result], grad);
                if first {
                    self.waiting.push(QueuedNode(node.clone()));
                }
            }
        }
    }

    /// Lets `add` add a gradient of this shape in place: for a parameter straight into the arena, else
    /// into what was collected so far, or zeros.
    pub fn accumulate(&mut self, to: &Edge, shape: impl Into<Shape>, add: impl FnOnce(&mut [f32])) {
        self.write(to, shape, |sum, accum| {
            if accum == Accum::Replace {
                threads::fill_zero(sum);
            }
            add(sum);
        });
    }

    /// Lets `write` write a gradient of this shape in place: it replaces the old contents, which it must not
    /// read, or adds to them, as [`Accum`] says.
    pub fn write(&mut self, to: &Edge, shape: impl Into<Shape>, write: impl FnOnce(&mut [f32], Accum)) {
        let Some(Place { node, result }) = &to.0 else { return };
        let slot = match &node.role {
            Role::Parameter(range) => {
                let accum = self.first_write(range.start);
                return write(self.gradient(range), accum);
            }
            Role::Input(slot) => slot,
            Role::Operation { grads, .. } => &grads[*result],
        };
        let collected = slot.borrow_mut().take();
        if let Some(mut grad) = collected {
            write(grad.values_mut(), Accum::Add);
            *slot.borrow_mut() = Some(grad);
        } else {
            self.add_gradient(to, Tensor::build(shape, |out| write(out, Accum::Replace)));
        }
    }

    /// The place of a parameter's gradient.
    #[track_caller]
    fn gradient(&mut self, range: &Range<usize>) -> &mut [f32] {
        let len = self.arena.len();
        let place = self.arena.get_mut(range.clone());
        place
            .unwrap_or_else(|| panic!("a parameter at {range:?} has no place in an arena of {len} gradients"))
    }

    /// Whether the next gradient written for the parameter at `offset` replaces the contents of the arena.
    fn first_write(&mut self, offset: usize) -> Accum {
        let first = self.written.as_mut().is_some_and(|written| written.insert(offset));
        if first { Accum::Replace } else { Accum::Add }
    }
}

#[track_caller]
fn keep_or_add(slot: &RefCell<Option<Tensor>>, grad: Tensor) {
    let mut slot = slot.borrow_mut();
    match slot.as_mut() {
        Some(sum) => sum.add_assign(&grad),
        None => *slot = Some(grad),
    }
}

/// A node whose turn has not come; the youngest is the largest.
struct QueuedNode(Rc<Node>);

impl Ord for QueuedNode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.number.cmp(&other.0.number)
    }
}

impl PartialOrd for QueuedNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedNode {
    fn eq(&self, other: &Self) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for QueuedNode {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::Var;
    use foretell_tensor::Tensor;

    fn input(values: &[f32]) -> Var {
        Var::input(Tensor::from_slice(values, [values.len()]))
    }

    #[test]
    fn a_variable_used_twice_gets_both_gradients() {
        let x = input(&[3.0, -2.0]);
        let square = x.mul(&x);
        square.add(&x).sum(0).backward(&mut []);
        assert_eq!(x.grad().unwrap().to_vec(), [7.0, -3.0]);
    }

    #[test]
    fn a_diamond_waits_for_both_branches() {
        let x = input(&[2.0]);
        let shared = x.scale(3.0);
        let (a, b) = (shared.scale(5.0), shared.mul(&shared));
        a.add(&b).sum(0).backward(&mut []);
        assert_eq!(x.grad().unwrap().to_vec(), [3.0 * 5.0 + 2.0 * 6.0 * 3.0]);
    }

    #[test]
    fn parameters_add_to_what_the_arena_holds() {
        let w = Var::parameter(Tensor::from_slice(&[1.0, 1.0], [2]), 1);
        let mut arena = [10.0; 4];
        w.scale(2.0).sum(0).backward(&mut arena);
        assert_eq!(arena, [10.0, 12.0, 12.0, 10.0]);
    }

    #[test]
    fn a_fresh_pass_replaces_what_the_arena_holds() {
        let w = Var::parameter(Tensor::from_slice(&[1.0, 1.0], [2]), 1);
        let mut arena = [10.0; 4];
        let mut written = HashSet::new();
        w.mul(&w).add(&w.scale(2.0)).backward_overwriting(Tensor::full([2], 1.0), &mut arena, &mut written);
        assert_eq!(arena, [10.0, 4.0, 4.0, 10.0]);
        assert_eq!(written, HashSet::from([1]));
    }

    /// `[x², 3 x]` as one operation.
    fn two(x: &Var) -> [Var; 2] {
        let (edge, value) = (x.edge(), x.value().clone());
        let results = [x.mul(x).value().clone(), value.scale(3.0)];
        Var::operation_of_two(results, &[x], move |[square, triple], gradients| {
            if let Some(grad) = square {
                gradients.add_gradient(&edge, grad.mul(&value).scale(2.0));
            }
            if let Some(grad) = triple {
                gradients.add_gradient(&edge, grad.scale(3.0));
            }
        })
    }

    #[test]
    fn an_operation_of_two_results_gets_the_gradients_of_those_that_were_used() {
        let gradient = |f: fn([Var; 2]) -> Var| {
            let x = input(&[5.0]);
            f(two(&x)).sum(0).backward(&mut []);
            x.grad().unwrap().to_vec()
        };
        assert_eq!(gradient(|[square, _]| square), [10.0]);
        assert_eq!(gradient(|[_, triple]| triple), [3.0]);
        assert_eq!(gradient(|[square, triple]| square.add(&triple)), [13.0]);
        assert_eq!(
            gradient(|[square, triple]| triple.add(&square.mul(&triple))),
            [3.0 + 15.0 * 10.0 + 25.0 * 3.0]
        );
        let [square, triple] = two(&Var::constant(Tensor::zeros([1])));
        assert!(!square.edge().is_wanted() && !triple.edge().is_wanted());
    }

    #[test]
    fn constants_record_nothing() {
        let x = Var::constant(Tensor::zeros([2]));
        assert!(!x.add(&x).edge().is_wanted());
    }

    #[test]
    #[should_panic(expected = "a parameter at 3..5 has no place in an arena of 4 gradients")]
    fn an_arena_that_is_too_short_is_told_with_both_sizes() {
        let w = Var::parameter(Tensor::from_slice(&[1.0, 1.0], [2]), 3);
        w.scale(2.0).sum(0).backward(&mut [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "ran through this graph before")]
    fn a_graph_is_walked_once() {
        let y = input(&[1.0]).scale(2.0).sum(0);
        y.backward(&mut []);
        y.backward(&mut []);
    }
}
