//! Tests of the counters of operations. They count the products of the whole process, so each test has one of its own.

use std::thread;

use foretell_fuzz::in_own_process;
use half::bf16;

use crate::{
    BatchMut, BatchRef, FlopCounter, MatMut, MatRef, Options, Rounding, WeightFormat, WeightMatrix,
    count_products, matmul, matmul_batched,
};

fn counted(work: impl FnOnce()) -> u64 {
    let counter = FlopCounter::start();
    work();
    counter.flops()
}

fn product(m: usize, k: usize, n: usize) {
    let (a, b, mut c) = (vec![1.0f32; m * k], vec![1.0f32; k * n], vec![0.0f32; m * n]);
    let (a, b) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
    matmul(MatMut::row_major(&mut c, m, n), a, b, Options::default());
}

#[test]
fn every_product_counts_by_its_shape() {
    if !in_own_process("tests::flops::every_product_counts_by_its_shape") {
        return;
    }
    // One element, one row, tiny ones, and one that is cut into tiles.
    for [m, k, n] in [[1, 1, 1], [1, 512, 64], [7, 13, 9], [300, 200, 400], [3, 0, 2]] {
        assert_eq!(counted(|| product(m, k, n)), 2 * (m * k * n) as u64, "{m}x{k}x{n}");
    }
}

#[test]
fn batches_and_packed_operands_count_once() {
    if !in_own_process("tests::flops::batches_and_packed_operands_count_once") {
        return;
    }
    let (count, m, k, n) = (5, 8, 6, 32);
    let (a, b) = (vec![1.0f32; count * m * k], vec![1.0f32; count * k * n]);
    let mut c = vec![0.0f32; count * m * n];
    let flops = counted(|| {
        let operands = (BatchRef::row_major(&a, count, m, k), BatchRef::row_major(&b, count, k, n));
        matmul_batched(BatchMut::row_major(&mut c, count, m, n), operands.0, operands.1, Options::default());
    });
    assert_eq!(flops, 2 * (count * m * k * n) as u64);
}

#[test]
fn every_kind_of_right_operand_counts_as_much() {
    if !in_own_process("tests::flops::every_kind_of_right_operand_counts_as_much") {
        return;
    }
    let (m, k, n) = (8, 6, 32);
    let (a, b, mut c) = (vec![1.0f32; m * k], vec![1.0f32; k * n], vec![0.0f32; m * n]);
    let rounded = vec![bf16::ONE; k * n];
    let (a, b) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
    let (mut c, options) = (MatMut::row_major(&mut c, m, n), Options::default());
    let flops = 2 * (m * k * n) as u64;
    for format in [WeightFormat::F32, WeightFormat::Bf16, WeightFormat::Int8] {
        let weights = WeightMatrix::new(b, format);
        assert_eq!(counted(|| matmul(c.reborrow(), a, &weights, options)), flops, "{format:?}");
    }
    assert_eq!(counted(|| matmul(c.reborrow(), a, MatRef::row_major(&rounded, k, n), options)), flops);
    for rounding in [Rounding::Bf16, Rounding::F16] {
        let options = options.rounding(rounding);
        assert_eq!(counted(|| matmul(c.reborrow(), a, b, options)), flops, "{rounding:?}");
    }
}

#[test]
fn products_of_all_threads_count_while_somebody_counts() {
    if !in_own_process("tests::flops::products_of_all_threads_count_while_somebody_counts") {
        return;
    }
    let flops = counted(|| {
        thread::scope(|scope| {
            (0..3).for_each(|_| _ = scope.spawn(|| product(20, 30, 40)));
        });
    });
    assert_eq!(flops, 3 * 2 * 20 * 30 * 40);
    let outer = counted(|| {
        let inner = FlopCounter::start();
        count_products(2, [3, 4, 5]);
        assert_eq!(inner.flops(), 240);
        drop(inner);
        product(1, 2, 3);
    });
    assert_eq!(outer, 240 + 12);
}

#[test]
fn nothing_counts_before_the_start() {
    if !in_own_process("tests::flops::nothing_counts_before_the_start") {
        return;
    }
    product(10, 10, 10);
    let counter = FlopCounter::start();
    assert_eq!(counter.flops(), 0);
}
