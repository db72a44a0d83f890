//! Buffers of a repeated step: this is the only test of its process, so the pool's counters are its own.
#![cfg(feature = "pool")]

mod common;

use foretell_pool::metrics;

#[test]
fn a_warm_step_asks_the_system_for_no_buffer() {
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
