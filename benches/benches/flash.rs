//! The suite of attention: the whole matrix of scores at once beside tiles, and the way that is taken, forward and backward
//! by themselves. Throughput is in FLOP/s ("elements") of the products. Beside PyTorch: `benches/torch_attention.py`.
//!
//! `cargo bench -p foretell-benches --bench flash [-- FILTER]`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell_benches::{criterion, wave, zeros};
use foretell_flash::{
    Algorithm, Attention, AttentionGradients, Operand, OperandMut, Pattern, SavedForBackward, Sizes, Strides,
};

/// Windows, heads, steps, head dimension.
const SHAPES: [[usize; 4]; 12] = [
    [128, 16, 12, 8],
    [128, 8, 16, 16],
    [128, 4, 16, 32],
    [32, 8, 7, 64],
    [256, 4, 24, 8],
    [128, 4, 96, 32],
    [64, 8, 200, 64],
    [1, 8, 256, 64],
    [1, 8, 512, 64],
    [1, 8, 1024, 64],
    [1, 8, 2048, 64],
    [1, 8, 4096, 64],
];

fn attention(c: &mut Criterion) {
    for [batch, heads, steps, dim] in SHAPES {
        let sizes = Sizes { batch, heads, queries: steps, keys: steps, dim, value_dim: dim };
        let strides = Strides::packed(steps, heads, dim);
        let [q, k, v, grad] = [0.37, 0.41, 0.43, 0.47].map(|step| wave(sizes.rows() * dim, step));
        let [q, k, v, grad] = [&q, &k, &v, &grad].map(|data| Operand { data, strides });
        let [mut out, mut dq, mut dk, mut dv] = [(); 4].map(|()| zeros(sizes.rows() * dim));
        let mut stats = zeros(sizes.rows());
        let product = (2 * sizes.rows() * steps * dim) as u64;
        for (masked, pattern) in [("full", Pattern::Full), ("causal", Pattern::Causal)] {
            let name = format!("flash/{masked}/{batch}x{heads}x{steps}x{dim}");
            let mut group = c.benchmark_group(name);
            group.sample_size(20);
            for way in [Algorithm::Standard, Algorithm::Tiled, Algorithm::Fastest] {
                let attention = Attention::new(sizes).pattern(pattern).way(way);
                group.throughput(Throughput::Elements(2 * product));
                group.bench_function(format!("forward/{way:?}"), |b| {
                    b.iter(|| {
                        let out = OperandMut { data: &mut out, strides };
                        attention.forward([q, k, v], out, &mut stats, None);
                    });
                });
                group.throughput(Throughput::Elements(5 * product));
                group.bench_function(format!("backward/{way:?}"), |b| {
                    b.iter(|| {
                        let saved =
                            SavedForBackward { q, k, v, out: Operand { data: &out, strides }, stats: &stats };
                        let [q, k, v] = [&mut dq, &mut dk, &mut dv].map(|data| OperandMut { data, strides });
                        attention.backward(saved, grad, None, AttentionGradients { q, k, v, scores: None });
                    });
                });
            }
            group.finish();
        }
    }
}

criterion_group! { name = benches; config = criterion(); targets = attention }
criterion_main!(benches);
