//! Buffers of a repeated pass, in a process of its own, so that the pool's counters are its own.

use std::path::Path;

use foretell_autograd::{Tensor, Var};
use foretell_fuzz::in_own_process;
use foretell_pool::metrics;

use crate::LanguageModel;

/// Texts of other lengths in each pass, as the digits of windows are.
fn pass(model: &LanguageModel, number: usize) -> f32 {
    let text = |window: usize| {
        format!("min value -1.2{}, the trend of input is upward", "7".repeat(window + number))
    };
    let texts = model.tokens(&(0..8).map(text).collect::<Vec<_>>(), 100);
    let x = Var::parameter(Tensor::full([8, 12, model.width()], 0.5), 0);
    let mut gradients = vec![0.0; 8 * 12 * model.width()];
    model.read_after(&texts, &x).sum(2).sum(1).sum(0).backward(&mut gradients);
    gradients[0]
}

#[test]
fn a_warm_pass_asks_the_system_for_no_buffer() {
    if !in_own_process("warm_tests::a_warm_pass_asks_the_system_for_no_buffer") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpt2");
    let model = LanguageModel::open(&folder).expect("the model");
    for number in 0..2 {
        pass(&model, number);
    }
    let before = metrics();
    for number in 0..5 {
        assert!(pass(&model, number).is_finite());
    }
    let after = metrics();
    assert_eq!(after.misses, before.misses, "buffers from the system");
    assert!(after.hits > before.hits + 100, "{} buffers from the pool", after.hits - before.hits);
}
