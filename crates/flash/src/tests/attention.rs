//! Attention against its definition in double precision: values and gradients.

use foretell_gemm::Rounding;

use crate::{
    Algorithm, Attention, AttentionGradients, Dropout, Key, Mask, Operand, OperandMut, Pattern,
    SavedForBackward, Sizes, Strides,
};

/// The level of threads that no one gave another.
static BEST: std::sync::LazyLock<foretell_simd::Level> =
    std::sync::LazyLock::new(|| std::thread::spawn(foretell_simd::level).join().expect("a level"));

/// Numbers between -1 and 1.
fn numbers(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// A case: what is attended to, and how.
struct Case<'a> {
    attention: Attention<'a>,
    packed: bool,
    seed: u64,
    /// Queries and keys are this many times as large.
    loud: f32,
}

/// The results of a forward and a backward pass, each `[batch, heads, steps, dim]`.
struct Made<T> {
    out: Vec<T>,
    scores: Vec<T>,
    grads: [Vec<T>; 3],
    grad_mask: Vec<T>,
}

impl Case<'_> {
    fn strides(&self, steps: usize, dim: usize) -> Strides {
        let heads = self.attention.sizes.heads;
        if self.packed { Strides::packed(steps, heads, dim) } else { Strides::heads_first(heads, steps, dim) }
    }

    /// Steps and numbers of queries, keys, values.
    fn shapes(&self) -> [(usize, usize); 3] {
        let Sizes { queries, keys, dim, value_dim, .. } = self.attention.sizes;
        [(queries, dim), (keys, dim), (keys, value_dim)]
    }

    fn operands(&self) -> [Vec<f32>; 3] {
        let all = self.attention.sizes.batch * self.attention.sizes.heads;
        let mut i = 0;
        self.shapes().map(|(steps, dim)| {
            i += 1;
            let loud = if i < 3 { self.loud } else { 1.0 };
            numbers(self.seed + i, all * steps * dim).into_iter().map(|x| x * loud).collect()
        })
    }

    fn upstream(&self) -> [Vec<f32>; 2] {
        let Sizes { keys, value_dim, .. } = self.attention.sizes;
        let rows = self.attention.sizes.rows();
        [numbers(self.seed + 7, rows * value_dim), numbers(self.seed + 8, rows * keys)]
    }

    fn run(&self, threads: usize) -> Made<f32> {
        if threads == 1 {
            return self.compute();
        }
        let workers = foretell_threads::Workers::new(threads).expect("threads");
        workers.enter(|| foretell_threads::share(threads, || self.compute()))
    }

    fn compute(&self) -> Made<f32> {
        let [q, k, v] = self.operands();
        let [upstream, upstream_scores] = self.upstream();
        let [(queries, dim), (keys, _), (_, value_dim)] = self.shapes();
        let (rows, of_v) = (self.attention.sizes.rows(), self.strides(keys, value_dim));
        let of_out = self.strides(queries, value_dim);
        let [q, k, v] = [
            Operand { data: &q, strides: self.strides(queries, dim) },
            Operand { data: &k, strides: self.strides(keys, dim) },
            Operand { data: &v, strides: of_v },
        ];
        let (mut out, mut stats) = (vec![f32::NAN; rows * value_dim], vec![f32::NAN; rows]);
        let mut scores = vec![f32::NAN; rows * keys];
        let to = OperandMut { data: &mut out, strides: of_out };
        self.attention.forward([q, k, v], to, &mut stats, Some(&mut scores));
        let mut grads = [q, k, v].map(|operand| vec![f32::NAN; operand.data.len()]);
        let mut grad_mask = vec![f32::NAN; rows * keys];
        let [to_q, to_k, to_v] = &mut grads;
        let saved = SavedForBackward { q, k, v, out: Operand { data: &out, strides: of_out }, stats: &stats };
        self.attention.backward(
            saved,
            Operand { data: &upstream, strides: of_out },
            Some(&upstream_scores),
            AttentionGradients {
                q: OperandMut { data: to_q, strides: q.strides },
                k: OperandMut { data: to_k, strides: k.strides },
                v: OperandMut { data: to_v, strides: v.strides },
                scores: Some(&mut grad_mask),
            },
        );
        let [dq, dk, dv] = grads;
        Made {
            out: self.in_order(&out, queries, value_dim),
            scores,
            grads: [
                self.in_order(&dq, queries, dim),
                self.in_order(&dk, keys, dim),
                self.in_order(&dv, keys, value_dim),
            ],
            grad_mask,
        }
    }

    /// The elements as `[batch, heads, steps, dim]`.
    fn in_order<T: Copy>(&self, data: &[T], steps: usize, dim: usize) -> Vec<T> {
        let (Sizes { batch, heads, .. }, at) = (self.attention.sizes, self.strides(steps, dim));
        let mut out = Vec::with_capacity(data.len());
        for (b, h) in (0..batch).flat_map(|b| (0..heads).map(move |h| (b, h))) {
            for step in 0..steps {
                out.extend_from_slice(&data[b * at.batch + h * at.head + step * at.step..][..dim]);
            }
        }
        out
    }

    /// The definition, in double precision.
    fn expected(&self) -> Made<f64> {
        let Sizes { batch, heads, queries, keys, dim, value_dim } = self.attention.sizes;
        let shapes = self.shapes();
        let mut i = 0;
        let [q, k, v] = self.operands().map(|data| {
            let (steps, dim) = shapes[i];
            i += 1;
            self.in_order(&data, steps, dim).into_iter().map(f64::from).collect::<Vec<_>>()
        });
        let [upstream, upstream_scores] = self.upstream();
        let upstream: Vec<f64> =
            self.in_order(&upstream, queries, value_dim).into_iter().map(f64::from).collect();
        let attention = &self.attention;
        let scale = f64::from(attention.scale);
        let mut made = Made {
            out: vec![0.0; upstream.len()],
            scores: vec![f64::NEG_INFINITY; batch * heads * queries * keys],
            grads: [vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; v.len()]],
            grad_mask: vec![0.0; batch * heads * queries * keys],
        };
        for head in 0..batch * heads {
            let (b, h) = (head / heads, head % heads);
            let q_row = |i: usize| (head * queries + i) * dim..(head * queries + i + 1) * dim;
            let k_row = |j: usize| (head * keys + j) * dim..(head * keys + j + 1) * dim;
            let v_row = |j: usize| (head * keys + j) * value_dim..(head * keys + j + 1) * value_dim;
            let o_row = |i: usize| (head * queries + i) * value_dim..(head * queries + i + 1) * value_dim;
            for i in 0..queries {
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let sees = |j: usize| {
                    let apart = i.abs_diff(j);
                    let pattern = match attention.pattern {
                        Pattern::Full => true,
                        Pattern::Causal => j <= i,
                        Pattern::Window { before, after } => i <= j + before && j <= i + after,
                        Pattern::Strided { local, stride } => apart < local || apart.is_multiple_of(stride),
                        Pattern::Blocks { size, pairs } => pairs.contains(&(i / size, j / size)),
                    };
                    pattern && attention.key_padding.is_none_or(|padding| !padding[b * keys + j])
                };
                let score = |j: usize| {
                    let mask = attention.mask.map_or(0.0, |mask| {
                        f64::from(mask.data[b * mask.batch + h * mask.head + i * mask.query + j])
                    });
                    if sees(j) { scale * dot(&q[q_row(i)], &k[k_row(j)]) + mask } else { f64::NEG_INFINITY }
                };
                let scores: Vec<f64> = (0..keys).map(score).collect();
                let at = (head * queries + i) * keys;
                made.scores[at..at + keys].copy_from_slice(&scores);
                let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 =
                    scores.iter().map(|s| if max.is_finite() { (s - max).exp() } else { 0.0 }).sum();
                let p: Vec<f64> =
                    scores.iter().map(|s| if sum > 0.0 { (s - max).exp() / sum } else { 0.0 }).collect();
                let kept: Vec<f64> = match attention.dropout {
                    None => vec![1.0; keys],
                    Some(Dropout { rate, key }) => {
                        let mut kept = vec![0.0f32; keys];
                        foretell_simd::dropout(key, at as u64, rate, &vec![1.0; keys], &mut kept);
                        kept.into_iter().map(f64::from).collect()
                    }
                };
                for j in 0..keys {
                    let (weight, row) = (p[j] * kept[j], o_row(i));
                    made.out[row].iter_mut().zip(&v[v_row(j)]).for_each(|(o, v)| *o += weight * v);
                }
                let up = &upstream[o_row(i)];
                let dp: Vec<f64> = (0..keys).map(|j| kept[j] * dot(up, &v[v_row(j)])).collect();
                let shift: f64 = p.iter().zip(&dp).map(|(p, dp)| p * dp).sum();
                for j in 0..keys {
                    let weight = p[j] * kept[j];
                    made.grads[2][v_row(j)].iter_mut().zip(up).for_each(|(g, up)| *g += weight * up);
                    let upstream = if sees(j) { f64::from(upstream_scores[at + j]) } else { 0.0 };
                    let ds = p[j] * (dp[j] - shift) + upstream;
                    made.grad_mask[at + j] = ds;
                    let (dq, dk) = (&mut made.grads[0][q_row(i)], &k[k_row(j)]);
                    dq.iter_mut().zip(dk).for_each(|(g, k)| *g += ds * scale * k);
                    let (dk, dq) = (&mut made.grads[1][k_row(j)], &q[q_row(i)]);
                    dk.iter_mut().zip(dq).for_each(|(g, q)| *g += ds * scale * q);
                }
            }
        }
        made
    }

    /// Each way, on 1, 2 and 3 threads, against the definition.
    fn check(mut self, what: &str) {
        let expected = self.expected();
        for way in [Algorithm::Standard, Algorithm::Tiled, Algorithm::Fastest] {
            self.attention.way = way;
            let found = self.run(1);
            // Other threads keep their own level.
            let threads: &[usize] = if foretell_simd::level() == *BEST { &[2, 3] } else { &[] };
            for &threads in threads {
                let again = self.run(threads);
                let same =
                    |a: &[f32], b: &[f32]| a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()));
                let pairs = [(&found.out, &again.out), (&found.scores, &again.scores)];
                let pairs = pairs.into_iter().chain([(&found.grad_mask, &again.grad_mask)]);
                let mut pairs = pairs.chain(found.grads.iter().zip(&again.grads));
                assert!(pairs.all(|(a, b)| same(a, b)), "{what}, {way:?}: {threads} threads");
            }
            close(&found.out, &expected.out, &format!("{what}, {way:?}: output"));
            close(&found.scores, &expected.scores, &format!("{what}, {way:?}: scores"));
            for ((found, expected), name) in found.grads.iter().zip(&expected.grads).zip(["q", "k", "v"]) {
                close(found, expected, &format!("{what}, {way:?}: gradient of {name}"));
            }
            close(&found.grad_mask, &expected.grad_mask, &format!("{what}, {way:?}: gradient of the mask"));
        }
    }
}

#[track_caller]
fn close(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let finite = expected.iter().filter(|x| x.is_finite());
    let scale = finite.fold(1e-3f64, |scale, x| scale.max(x.abs()));
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let same = f64::from(found) == expected;
        assert!(
            same || (f64::from(found) - expected).abs() <= 2e-5 * scale,
            "{what}[{i}]: {found}, expected {expected}"
        );
    }
}

fn sizes([batch, heads, queries, keys, dim, value_dim]: [usize; 6]) -> Sizes {
    Sizes { batch, heads, queries, keys, dim, value_dim }
}

fn case<'a>(attention: Attention<'a>, packed: bool, seed: u64) -> Case<'a> {
    Case { attention, packed, seed, loud: 1.0 }
}

#[test]
fn lengths_about_the_edges_of_vectors_and_tiles() {
    for (i, length) in [1, 15, 16, 17, 127, 128, 129, 257].into_iter().enumerate() {
        for other in [1, 17, 255, 256, 300] {
            let sizes = sizes([1, 2, length, other, 5, 7]);
            case(Attention::new(sizes), i % 2 == 0, 10).check(&format!("{length} queries, {other} keys"));
        }
    }
}

#[test]
fn nothing_to_ask_and_nobody_to_ask() {
    for shape in [[1, 2, 0, 5, 3, 3], [0, 2, 4, 5, 3, 3], [1, 2, 4, 0, 3, 3], [1, 0, 4, 5, 3, 3]] {
        case(Attention::new(sizes(shape)), true, 11).check(&format!("{shape:?}"));
    }
}

#[test]
fn long_sequences() {
    for pattern in [Pattern::Full, Pattern::Causal, Pattern::Window { before: 100, after: 0 }] {
        let attention = Attention::new(sizes([1, 1, 1100, 4096, 3, 2])).pattern(pattern);
        case(attention, true, 12).check(&format!("1100 queries, 4096 keys, {pattern:?}"));
    }
}

#[test]
fn every_simd_level() {
    for level in foretell_simd::Level::available() {
        for [queries, keys, dim] in [[17, 33, 5], [24, 24, 8], [130, 300, 32], [1, 1, 1]] {
            foretell_simd::with_level(level, || {
                let dropout = Some(Dropout { rate: 0.1, key: Key::new(3) });
                let attention = Attention::new(sizes([1, 2, queries, keys, dim, dim]));
                case(attention, true, 13).check(&format!("{queries} queries, {keys} keys at {level}"));
                case(attention.dropout(dropout).pattern(Pattern::Causal), false, 14)
                    .check(&format!("{queries} queries, {keys} keys with dropout at {level}"));
            });
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]

    #[test]
    fn random_shapes(
        batch in 1..4usize, heads in 1..5usize, queries in 0..70usize, keys in 0..70usize,
        dim in 1..20usize, value_dim in 1..20usize, scale in -2.0..2.0f32, packed: bool, causal: bool, seed in 1..1000u64,
    ) {
        let pattern = if causal { Pattern::Causal } else { Pattern::Full };
        let attention = Attention::new(sizes([batch, heads, queries, keys, dim, value_dim]));
        case(attention.scale(scale).pattern(pattern), packed, seed).check("random");
    }
}

#[test]
fn many_small_heads() {
    let mask = numbers(4, 5 * 17 * 144);
    for level in foretell_simd::Level::available() {
        for (i, shape) in
            [[5, 16, 12, 12, 8, 8], [5, 17, 5, 9, 3, 7], [9, 2, 1, 16, 16, 1], [40, 1, 16, 1, 1, 32]]
                .into_iter()
                .enumerate()
        {
            foretell_simd::with_level(level, || {
                let attention = Attention::new(sizes(shape));
                case(attention, i % 2 == 0, 70).check(&format!("{shape:?} at {level}"));
                let [_, heads, queries, keys, ..] = shape;
                let strides =
                    [(heads * queries * keys, queries * keys, keys), (0, queries * keys, keys), (0, 0, keys)];
                for (batch, head, query) in strides {
                    let mask = Some(Mask { data: &mask, batch, head, query });
                    case(attention.mask(mask), i % 2 == 1, 71)
                        .check(&format!("{shape:?} with a mask of {batch}, {head}, {query} at {level}"));
                }
            });
        }
    }
}

#[test]
fn small_heads_that_see_no_key_or_one_score_of_ten_thousand() {
    let none = f32::NEG_INFINITY;
    // Query 0 sees nothing, query 1 one key, query 2 all of them, one far above the others.
    let hidden = [none, none, none, none, 0.0, none, 1e4, -1e4, 0.0];
    let mask = Some(Mask { data: &hidden, batch: 0, head: 0, query: 3 });
    let attention = Attention::new(sizes([2, 10, 3, 3, 4, 4])).mask(mask);
    let [small, alone] =
        [Algorithm::Fastest, Algorithm::Standard].map(|way| case(attention.way(way), true, 72).run(1));
    let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|&x| f64::from(x)).collect() };
    close(&small.out, &wide(&alone.out), "output");
    close(&small.grad_mask, &wide(&alone.grad_mask), "gradient of the mask");
    for (small, alone) in small.grads.iter().zip(&alone.grads) {
        close(small, &wide(alone), "gradients");
    }
    assert!(small.out.chunks_exact(12).all(|head| head[..4].iter().all(|&x| x == 0.0)));
}

#[test]
fn small_heads_round_where_products_alone_would() {
    for (shape, rounds) in [([2, 16, 12, 12, 8, 8], false), ([2, 16, 32, 32, 16, 16], true)] {
        let [exact, bf16, f16] = [Rounding::None, Rounding::Bf16, Rounding::F16].map(|rounding| {
            let attention = Attention::new(sizes(shape)).rounding(rounding);
            case(attention, true, 73).run(1).out
        });
        assert_eq!(exact != bf16, rounds, "{shape:?} in bf16");
        assert_ne!(exact, f16, "{shape:?} in f16");
    }
}

#[test]
fn scores_are_said_to_be_rounded_where_each_tile_is() {
    let rounds = |rounding, [queries, keys]: [usize; 2]| {
        let way = Algorithm::Tiled;
        Attention::new(sizes([1, 1, queries, keys, 64, 64])).rounding(rounding).way(way).rounds_scores()
    };
    // Of 514 queries the last tile has two, if there are tiles.
    let edge = !cfg!(feature = "flash");
    for (steps, all) in [([7, 7], false), ([96, 96], true), ([512, 512], true), ([514, 512], edge)] {
        assert_eq!(rounds(Rounding::Bf16, steps), all, "{steps:?}");
        assert!(rounds(Rounding::F16, steps) && !rounds(Rounding::None, steps), "{steps:?}");
    }
}

#[test]
fn a_number_that_is_none_stays_with_its_query() {
    let mut scores = [0.0; 9];
    scores[4] = f32::NAN;
    let mask = Some(Mask { data: &scores, batch: 0, head: 0, query: 3 });
    let made = case(Attention::new(sizes([2, 10, 3, 3, 4, 4])).mask(mask), true, 74).run(1);
    for (i, value) in made.out.iter().enumerate() {
        assert_eq!(value.is_nan(), i / 4 % 3 == 1, "output {i} is {value}");
    }
}

#[test]
fn a_number_that_is_none_stays_where_the_next_tile_is_hidden() {
    let mut scores = [0.0; 2 * 300];
    scores[303] = f32::NAN;
    let padding: Vec<bool> = (0..300).map(|key| key >= 256).collect();
    let attention = Attention::new(sizes([1, 1, 2, 300, 4, 4]))
        .mask(Mask { data: &scores, batch: 0, head: 0, query: 300 })
        .key_padding(&padding[..])
        .way(Algorithm::Tiled);
    let made = case(attention, true, 75).run(1);
    for (i, value) in made.out.iter().enumerate() {
        assert_eq!(value.is_nan(), i / 4 == 1, "output {i} is {value}");
    }
}

#[test]
fn values_of_no_numbers() {
    for way in [Algorithm::Fastest, Algorithm::Standard, Algorithm::Tiled] {
        for shape in [[2, 3, 4, 5, 2, 0], [2, 3, 4, 5, 0, 2], [2, 3, 4, 5, 0, 0]] {
            case(Attention::new(sizes(shape)).way(way), true, 76).check(&format!("{shape:?}"));
        }
    }
}

#[test]
#[should_panic(expected = "too many scores of a head")]
fn more_scores_than_can_be_counted() {
    let none = Strides { batch: 0, head: 0, step: 0 };
    let [q, k] = [0, 0].map(|step| Operand { data: &[1.0], strides: Strides { step, ..none } });
    let mut out = [0.0; 256];
    let out = OperandMut { data: &mut out, strides: Strides { step: 1, ..none } };
    let attention = Attention::new(sizes([1, 1, 256, 1 << 56, 1, 1]));
    attention.forward([q, k, k], out, &mut [0.0; 256], Some(&mut []));
}

#[test]
fn head_dimensions_from_1_to_256() {
    for (dim, value_dim) in [(1, 1), (8, 8), (16, 3), (31, 64), (64, 64), (256, 200)] {
        case(Attention::new(sizes([2, 3, 19, 23, dim, value_dim])), true, 20)
            .check(&format!("dimension {dim}"));
    }
}

#[test]
fn patterns_masks_and_padding() {
    let pairs = [(0, 0), (0, 1), (2, 0), (3, 3), (9, 4)];
    let patterns = [
        Pattern::Causal,
        Pattern::Window { before: 20, after: 3 },
        Pattern::Window { before: 0, after: 0 },
        Pattern::Strided { local: 3, stride: 7 },
        Pattern::Blocks { size: 16, pairs: &pairs },
    ];
    let padding: Vec<bool> = (0..2 * 270).map(|i| i % 3 == 0 || (270..400).contains(&i)).collect();
    let mask = numbers(3, 2 * 140 * 270);
    let strides = [(2 * 37_800, 37_800, 270), (0, 37_800, 270), (37_800, 0, 270), (0, 0, 0)];
    for (i, pattern) in patterns.into_iter().enumerate() {
        let (batch, head, query) = strides[i % strides.len()];
        let attention = Attention::new(sizes([1, 2, 140, 270, 8, 8])).pattern(pattern);
        case(attention, i % 2 == 0, 30).check(&format!("{pattern:?}"));
        let mask = (batch == 0).then_some(Mask { data: &mask, batch, head, query });
        let attention = attention.mask(mask).key_padding(&padding[..270]);
        case(attention, i % 2 == 1, 31).check(&format!("{pattern:?} with mask and padding"));
    }
    let attention = Attention::new(sizes([2, 2, 9, 270, 8, 8])).key_padding(&padding[..]);
    case(attention, true, 32).check("padding of two windows");
}

#[test]
fn rows_without_keys_are_zeros_and_pass_no_gradient_on() {
    let padding = [true; 12];
    let attention = Attention::new(sizes([2, 1, 4, 6, 3, 3])).key_padding(&padding[..]);
    let case = case(attention, true, 40);
    let made = case.run(1);
    assert!(made.out.iter().chain(made.grads.iter().flatten()).all(|&x| x == 0.0));
    let hidden = [f32::NEG_INFINITY; 6];
    let mask = Mask { data: &hidden, batch: 0, head: 0, query: 0 };
    let attention = Attention::new(sizes([1, 1, 4, 6, 3, 3])).mask(mask);
    let made = Case { attention, packed: true, seed: 41, loud: 1.0 }.run(1);
    assert!(made.out.iter().chain(made.grads.iter().flatten()).all(|&x| x == 0.0));
    let none = Attention::new(sizes([1, 2, 3, 0, 4, 4]));
    let made = Case { attention: none, packed: true, seed: 42, loud: 1.0 }.run(2);
    assert!(made.out.iter().all(|&x| x == 0.0) && made.out.len() == 24);
}

#[test]
fn scores_of_ten_thousand_do_not_overflow() {
    let attention = Attention::new(sizes([1, 2, 140, 300, 16, 4])).scale(1.0);
    let case = Case { attention, packed: true, seed: 50, loud: 60.0 };
    let largest = case.expected().scores.into_iter().fold(0.0, f64::max);
    assert!(largest > 1e4, "{largest}");
    for way in [Algorithm::Standard, Algorithm::Tiled] {
        let made = Case { attention: attention.way(way), ..case }.run(1);
        assert!(made.out.iter().chain(made.grads.iter().flatten()).all(|x| x.is_finite()));
        // Scores are rounded to some 1e-3, so what is nearly one key only is compared.
        let expected = case.expected().out;
        let near =
            made.out.iter().zip(&expected).filter(|(a, b)| (f64::from(**a) - **b).abs() < 5e-3).count();
        assert!(near * 100 >= expected.len() * 99, "{near} of {}", expected.len());
    }
}

#[test]
fn dropout_is_that_of_the_place() {
    let dropout = Some(Dropout { rate: 0.3, key: Key::new(9) });
    for packed in [true, false] {
        let attention = Attention::new(sizes([2, 2, 130, 260, 8, 8])).dropout(dropout);
        case(attention, packed, 60).check("dropout");
    }
}

#[test]
fn scratch_does_not_grow_with_the_length() {
    let of = |steps: usize, way| Attention::new(sizes([1, 8, steps, steps, 64, 64])).way(way).scratch_bytes();
    if cfg!(feature = "flash") {
        assert_eq!(of(4096, Algorithm::Tiled), of(16_384, Algorithm::Fastest));
        let [forward, backward] = of(16_384, Algorithm::Fastest);
        let matrix = 8 * 16_384usize.pow(2) * size_of::<f32>();
        assert!(matrix / forward > 5000 && matrix / backward > 5000, "{forward}, {backward}");
    }
    assert!(of(4096, Algorithm::Standard)[0] > 4096 * 4096 * size_of::<f32>());
}

#[test]
#[should_panic = "the keys of 1 windows, 1 heads, 3 steps and 2 numbers"]
fn operands_that_are_too_short_panic() {
    let (x, mut out, mut stats) = ([0.0; 6], [0.0; 4], [0.0; 2]);
    let strides = Strides::packed(3, 1, 2);
    let [long, short] = [&x[..], &x[..5]].map(|data| Operand { data, strides });
    let out = OperandMut { data: &mut out, strides };
    Attention::new(sizes([1, 1, 2, 3, 2, 2])).forward([long, short, long], out, &mut stats, None);
}

#[test]
#[should_panic = "elements overlap"]
fn outputs_that_overlap_panic() {
    let (x, mut out, mut stats) = ([0.0; 6], [0.0; 6], [0.0; 3]);
    let operand = Operand { data: &x, strides: Strides::packed(3, 1, 2) };
    let out = OperandMut { data: &mut out, strides: Strides { batch: 6, head: 2, step: 1 } };
    Attention::new(sizes([1, 1, 3, 3, 2, 2])).forward([operand; 3], out, &mut stats, None);
}
