//! No suite but a server: `benches/torch_attention.py` starts it, asks it line by line for one measurement at a time, and
//! takes turns with PyTorch. The suite that measures attention by itself is `flash`.
//!
//! It answers each line of its input. `product THREADS` gets the rate of a product 2048x512x512 in GFLOP/s; `THREADS BATCH
//! HEADS STEPS DIM PASS WAY`, with the pass `forward` or `both` (forward and backward) and the way `fastest` or `standard`, the
//! seconds of a run, the least of many, and the bytes of scratch of a thread.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use foretell_benches::{wave, zeros};
use foretell_flash::{
    Algorithm, Attention, AttentionGradients, Operand, OperandMut, SavedForBackward, Sizes, Strides,
};
use foretell_gemm::{MatMut, MatRef, Options, matmul};
use foretell_threads::{Workers, share};

const LEAST: Duration = Duration::from_millis(300);
const RUNS: usize = 5;

fn main() {
    if !std::env::args().any(|argument| argument == "serve") {
        return println!("a server for benches/torch_attention.py; the suite of attention is `flash`");
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let threads = if words[0] == "product" { words[1] } else { words[0] };
        let threads: usize = threads.parse().expect("a number of threads");
        let workers = Workers::new(threads).expect("threads");
        println!("{}", workers.enter(|| share(threads, || answer(&words))));
        std::io::stdout().flush().expect("an open output");
    }
}

fn answer(words: &[&str]) -> String {
    if words[0] == "product" {
        let (x, w, mut y) = (wave(2048 * 512, 0.37), wave(512 * 512, 0.21), zeros(2048 * 512));
        let seconds = least(|| {
            let (x, w) = (MatRef::row_major(&x, 2048, 512), MatRef::row_major(&w, 512, 512));
            matmul(MatMut::row_major(&mut y, 2048, 512), x, w.t(), Options::default());
        });
        return format!("{}", 2.0 * 2048.0 * 512.0 * 512.0 / seconds / 1e9);
    }
    let number = |i: usize| words[i].parse::<usize>().expect("a size");
    let [batch, heads, steps, dim] = [1, 2, 3, 4].map(number);
    let way = if words[6] == "standard" { Algorithm::Standard } else { Algorithm::Fastest };
    let sizes = Sizes { batch, heads, queries: steps, keys: steps, dim, value_dim: dim };
    let (attention, strides) = (Attention::new(sizes).way(way), Strides::packed(steps, heads, dim));
    let [q, k, v, grad] = [0.37, 0.41, 0.43, 0.47].map(|step| wave(sizes.rows() * dim, step));
    let [q, k, v, grad] = [&q, &k, &v, &grad].map(|data| Operand { data, strides });
    let [mut out, mut dq, mut dk, mut dv] = [(); 4].map(|()| zeros(sizes.rows() * dim));
    let mut stats = zeros(sizes.rows());
    let both = words[5] == "both";
    let seconds = least(|| {
        attention.forward([q, k, v], OperandMut { data: &mut out, strides }, &mut stats, None);
        if both {
            let saved = SavedForBackward { q, k, v, out: Operand { data: &out, strides }, stats: &stats };
            let [q, k, v] = [&mut dq, &mut dk, &mut dv].map(|data| OperandMut { data, strides });
            attention.backward(saved, grad, None, AttentionGradients { q, k, v, scores: None });
        }
    });
    format!("{seconds} {}", attention.scratch_bytes()[usize::from(both)])
}

/// The least seconds of a run.
fn least(mut run: impl FnMut()) -> f64 {
    let (mut least, begin, mut runs) = (f64::MAX, Instant::now(), 0);
    while runs < RUNS || begin.elapsed() < LEAST {
        let start = Instant::now();
        run();
        least = least.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    least
}
