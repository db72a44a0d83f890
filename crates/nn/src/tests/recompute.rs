//! Blocks that are computed again in the backward pass. The buffers of the whole process are counted, so the test has one of its own.

use std::cell::Cell;
use std::rc::Rc;

use foretell_fuzz::in_own_process;

use crate::{Activation, CounterId, Forward, Init, Key, Linear, Table, Tensor, Var};

const WIDTH: usize = 64;
const DEPTH: usize = 12;

/// How the blocks are run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Kept,
    Again,
    /// By [`Forward::block`], which computes them again in a run of little memory.
    Block,
}

/// Deep layers with dropout, each a block that widens its input and raises a counter; and the most bytes in
/// buffers that a block saw.
struct Deep {
    layers: Vec<[Linear; 2]>,
    count: CounterId,
    way: Way,
    most_bytes: Rc<Cell<u64>>,
}

impl Deep {
    fn new(table: &mut Table, way: Way) -> Self {
        let mut scope = table.root();
        let layers = (0..DEPTH).map(|i| {
            let wide = Linear::new(&mut scope.at(2 * i), WIDTH, 4 * WIDTH);
            [wide, Linear::new(&mut scope.at(2 * i + 1), 4 * WIDTH, WIDTH)]
        });
        let layers = layers.collect();
        Self { layers, count: table.root().counter("count"), way, most_bytes: Rc::default() }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let mut x = x.clone();
        for [wide, narrow] in self.layers.clone() {
            let (count, most) = (self.count, self.most_bytes.clone());
            let block = move |cx: &Forward<'_>, v: &[Var]| {
                cx.count(count);
                let hidden = cx.dropout(wide.forward(cx, &v[0], Activation::Relu), 0.2);
                let hidden = narrow.forward(cx, &hidden, Activation::Tanh);
                most.set(most.get().max(foretell_pool::metrics().live_bytes as u64));
                hidden.add(&v[0])
            };
            x = match self.way {
                Way::Kept => block(cx, &[x]),
                Way::Again => cx.recompute(&[&x], block),
                Way::Block => cx.block(&(), &[&x], move |(), cx, v| block(cx, v)),
            };
        }
        x
    }
}

/// The loss, the gradients, the updates, and the most bytes that were in use beyond those at the start.
fn train(way: Way) -> (f32, Vec<f32>, usize, u64) {
    let mut table = Table::default();
    let deep = Deep::new(&mut table, way);
    let params = table.initialise(5);
    let x = Tensor::build([128, WIDTH], |out| Init::Uniform { bound: 1.0 }.fill(Key::new(1), out));
    let mut gradients = vec![0.0; params.table().arena_len()];
    let before = foretell_pool::metrics().live_bytes as u64;
    let cx = Forward::training(&params, Key::new(2));
    let cx = if way == Way::Block { cx.in_little_memory() } else { cx };
    let y = deep.forward(&cx, &Var::constant(x));
    let y = cx.dropout(y, 0.1);
    let loss = y.mul(&y).sum(1).sum(0);
    loss.backward(&mut gradients);
    (loss.value().item(), gradients, cx.into_updates().len(), deep.most_bytes.get() - before)
}

#[test]
fn a_block_that_is_computed_again_keeps_its_inputs_alone() {
    if !in_own_process("tests::recompute::a_block_that_is_computed_again_keeps_its_inputs_alone") {
        return;
    }
    let (loss, gradients, updates, bytes) = train(Way::Kept);
    let (again_loss, again_gradients, again_updates, again_bytes) = train(Way::Again);
    assert_eq!(loss, again_loss);
    assert_eq!((updates, again_updates), (DEPTH, DEPTH));
    let largest = gradients.iter().fold(0.0_f32, |largest, gradient| largest.max(gradient.abs()));
    for (found, expected) in again_gradients.iter().zip(&gradients) {
        assert!((found - expected).abs() <= 1e-5 * largest, "{found}, expected {expected}");
    }
    assert!(2 * again_bytes < bytes, "{again_bytes} bytes, {bytes} where all is kept");
    let (low_loss, low_gradients, low_updates, low_bytes) = train(Way::Block);
    assert_eq!((loss, updates), (low_loss, low_updates), "values and updates are not rounded");
    for (found, expected) in low_gradients.iter().zip(&gradients) {
        assert!((found - expected).abs() <= 0.1 * largest, "{found}, expected {expected}");
    }
    assert!(2 * low_bytes < bytes, "{low_bytes} bytes, {bytes} where all is kept");
    check_inference();
}

/// Inference runs a block once.
fn check_inference() {
    let mut table = Table::default();
    let deep = Deep::new(&mut table, Way::Again);
    let params = table.initialise(5);
    let x = Var::constant(Tensor::full([2, WIDTH], 0.3));
    let y = deep.forward(&Forward::inference(&params), &x);
    assert!(!y.edge().is_wanted());
    let kept = Deep { way: Way::Kept, ..deep };
    assert_eq!(y.value().to_vec(), kept.forward(&Forward::inference(&params), &x).value().to_vec());
}
