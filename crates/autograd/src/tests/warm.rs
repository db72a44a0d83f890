//! Buffers of a repeated step, in a process of its own, so that the pool's counters are its own.

use foretell_fuzz::in_own_process;
use foretell_pool::metrics;

use super::common;

#[test]
fn a_warm_step_asks_the_system_for_no_buffer() {
    if !in_own_process("tests::warm::a_warm_step_asks_the_system_for_no_buffer") {
        return;
    }
    for _ in 0..2 {
        common::step();
    }
    let before = metrics();
    for _ in 0..3 {
        common::step();
    }
    let after = metrics();
    assert_eq!(after.misses, before.misses, "buffers from the system");
    assert!(after.hits > before.hits + 300, "{} buffers from the pool", after.hits - before.hits);
}
