//! Tests of the counter of attention's products. In a process of its own: the counter sees the products of all threads.

use foretell_fuzz::in_own_process;
use foretell_gemm::FlopCounter;

use crate::{
    Algorithm, Attention, AttentionGradients, Operand, OperandMut, SavedForBackward, Sizes, Strides,
};

#[test]
fn every_way_counts_the_same_products() {
    if !in_own_process("tests::flops::every_way_counts_the_same_products") {
        return;
    }
    let sizes = Sizes { batch: 3, heads: 16, queries: 12, keys: 7, dim: 8, value_dim: 5 };
    let Sizes { batch, heads, queries, keys, dim, value_dim } = sizes;
    let strides = [(queries, dim), (keys, dim), (keys, value_dim), (queries, value_dim)]
        .map(|(steps, dim)| Strides::packed(steps, heads, dim));
    let data = vec![0.5; batch * heads * queries * dim];
    let [q, k, v, out] = strides.map(|strides| Operand { data: &data, strides });
    let each_head = 2 * batch * heads * queries * keys;
    for way in [Algorithm::Fastest, Algorithm::Standard, Algorithm::Tiled] {
        let attention = Attention::new(sizes).way(way);
        let mut made = [(); 4].map(|()| data.clone());
        let [a, b, c, d] = &mut made;
        let mut stats = vec![0.0; sizes.rows()];
        let counter = FlopCounter::start();
        attention.forward([q, k, v], OperandMut { data: d, strides: out.strides }, &mut stats, None);
        assert_eq!(counter.flops(), (each_head * (dim + value_dim)) as u64, "{way:?} forwards");
        let counter = FlopCounter::start();
        let saved = SavedForBackward { q, k, v, out, stats: &stats };
        let gradients = AttentionGradients {
            q: OperandMut { data: a, strides: q.strides },
            k: OperandMut { data: b, strides: k.strides },
            v: OperandMut { data: c, strides: v.strides },
            scores: None,
        };
        attention.backward(saved, out, None, gradients);
        assert_eq!(counter.flops(), (each_head * (3 * dim + 2 * value_dim)) as u64, "{way:?} backwards");
    }
}
