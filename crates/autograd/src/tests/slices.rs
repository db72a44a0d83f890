//! The memory that gradients of slices take, in a process of its own, so that the pool's counters are its own.

use foretell_fuzz::in_own_process;
use foretell_pool::metrics;

use crate::{Tensor, Var};

#[test]
fn slices_of_a_sequence_share_one_gradient() {
    if !in_own_process("tests::slices::slices_of_a_sequence_share_one_gradient") {
        return;
    }
    const STEPS: usize = 500;
    let x = Var::input(Tensor::from_slice(&(0..2 * STEPS).map(|i| i as f32).collect::<Vec<_>>(), [STEPS, 2]));
    let steps: Vec<Var> = (0..STEPS).map(|t| x.narrow(0, t, 1)).collect();
    let joined = Var::concat(&steps.iter().collect::<Vec<_>>(), 0);
    let seed = Tensor::full([STEPS, 2], 3.0);

    let before = metrics();
    joined.backward_from(seed, &mut []);
    let after = metrics();
    let buffers = (after.hits + after.misses) - (before.hits + before.misses);
    assert!(buffers <= 3, "{buffers} buffers for the gradients of {STEPS} slices");
    assert_eq!(x.grad().unwrap().to_vec(), [3.0; 2 * STEPS]);
}
