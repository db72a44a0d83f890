//! The same bits on any number of threads.

use foretell_threads::share;

use super::common;

#[test]
fn threads_change_no_bit_of_a_step() {
    let bits = |threads| -> Vec<u32> { share(threads, common::step).into_iter().map(f32::to_bits).collect() };
    let one = bits(1);
    assert!(one.iter().all(|&bits| f32::from_bits(bits).is_finite()));
    assert!(one.iter().filter(|&&bits| f32::from_bits(bits) != 0.0).count() > one.len() / 2);
    for threads in [2, 3, 8] {
        assert!(bits(threads) == one, "{threads} threads");
    }
}
