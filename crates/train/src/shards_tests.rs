//! Tests of a step's shards: their number, their gradients, and steps that are not taken.

use std::sync::Arc;

use foretell_nn::{
    Activation, Coupling, Init, Inputs, Linear, Model, Needs, ParamId, Table, Tensor, Var, Windows,
};
use foretell_nn::{LinearPair, PairSizes};
use foretell_optim::{Clip, Rule};
use serde_json::json;

use super::*;
use crate::shard::windows_at_a_time;

/// One weight: the forecast is `w` times the last value. A share of its square is a loss of the model's own.
struct Line(ParamId, f32);

impl Model for Line {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let x = windows.insample_y.clone();
        let y = x.mul(&cx.param(self.0)).reshape([windows.batch()]);
        if self.1 > 0.0 {
            cx.add_loss(y.mul(&y).scale(self.1));
        }
        y.reshape([windows.batch(), 1, 1])
    }
}

/// Adam's second step depends on the ratio of the first gradient to the second: it shows whether the slope of a
/// root or of a ratio, known only when all shards are done, reached the gradients.
#[test]
fn losses_have_the_gradients_of_the_whole_batch() {
    const N: usize = 150;
    assert_eq!(shard_count(N, Needs::default(), false), 2);
    let x: Vec<f32> = (0..N).map(|i| (i as f32 * 0.7).sin() + 0.01 * i as f32).collect();
    let y: Vec<f32> = x.iter().enumerate().map(|(i, x)| 3.0 * x + (i as f32).cos()).collect();
    for (name, own) in [("RMSE", 0.0), ("relMSE", 0.0), ("MSE", 0.5), ("RMSE", 0.25)] {
        let loss = Loss::parse(&json!(name)).expect("a loss");
        let cut = |range: Range<usize>| {
            let n = range.len();
            let column = |values: &[f32]| Tensor::from_slice(&values[range.clone()], [n, 1]);
            let (insample_y, ones) = (column(&x), Tensor::full([n], 1.0));
            Batch {
                windows: Windows {
                    insample_mask: Tensor::full([n, 1], 1.0),
                    insample_y,
                    hist_exog: None,
                    futr_exog: None,
                    stat_exog: None,
                },
                target: column(&y),
                weights: Tensor::full([n, 1], 1.0),
                error_scale: column(&x).reshape([n]),
                loc: Tensor::zeros([n]),
                scale: ones,
            }
        };
        let mut table = Table::default();
        let weight = table.root().param("w", [1], Init::Uniform { bound: 1.0 });
        let network = Network::from(Line(weight, own));
        let params = table.initialise(3);
        let (mut w, workers) = (f64::from(params.tensor(weight).item()), Workers::new(2).unwrap());
        let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
        let mut engine = Engine::new(&network, params, adam, &loss, Key::new(0), &workers);
        let (mut first, mut second) = (0.0, 0.0);
        for step in 1..=3 {
            let loss_value = engine.step(N, N as f64, 0.5, cut).expect("a number");
            // Value and derivative over the whole batch, then Adam.
            let mean = |term: &dyn Fn(f64, f64) -> f64| {
                x.iter().zip(&y).map(|(&x, &y)| term(x.into(), y.into())).sum::<f64>() / N as f64
            };
            let own = f64::from(own);
            let square = mean(&|x, y| (w * x - y) * (w * x - y) + own * w * x * w * x);
            let naive = mean(&|x, y| (x - y) * (x - y)) + 1e-5;
            let slope = mean(&|x, y| 2.0 * (w * x - y) * x + own * 2.0 * w * x * x);
            let (value, slope) = match name {
                "RMSE" => (square.sqrt(), slope / (2.0 * square.sqrt())),
                "MSE" => (square, slope),
                _ => (square / naive, slope / naive),
            };
            assert!((loss_value - value).abs() < 1e-5 * value, "{name}: {loss_value}, expected {value}");
            first = 0.9 * first + 0.1 * slope;
            second = 0.999 * second + 0.001 * slope * slope;
            let correct = |decay: f64| 1.0 - decay.powi(step);
            w -= 0.5 * (first / correct(0.9)) / ((second / correct(0.999)).sqrt() + 1e-8);
            let weight_after = f64::from(engine.params().tensor(weight).item());
            assert!(
                (weight_after - w).abs() < 1e-5,
                "{name}: step {step} leads to {weight_after}, expected {w}"
            );
        }
    }
}

/// Layers wide enough for their products and passes to be shared out to threads, where the batch is one shard.
struct Layers([Linear; 3]);

impl Model for Layers {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let [first, second, last] = &self.0;
        let x = windows.insample_y.clone();
        let hidden = cx.dropout(first.forward(cx, &x, Activation::Gelu), 0.1);
        let hidden = hidden.add(&second.forward(cx, &hidden, Activation::Tanh));
        last.forward(cx, &hidden, Activation::Identity).reshape([windows.batch(), 1, 1])
    }
}

/// The parameters after three steps on `batch` windows.
fn trained(batch: usize, needs: Needs, threads: usize, precision: Precision) -> Vec<u32> {
    trained_by(batch, needs, threads, |engine| engine.precision(precision)).0
}

/// The parameters after three steps on `batch` windows by an engine that was set so, and its arenas of gradients.
fn trained_by(
    batch: usize,
    needs: Needs,
    threads: usize,
    set: impl FnOnce(Engine<'_>) -> Engine<'_>,
) -> (Vec<u32>, usize) {
    const WIDTH: usize = 800;
    let random = |seed: u64, shape: [usize; 2]| {
        Tensor::build(shape, |out| Init::Uniform { bound: 1.0 }.fill(Key::new(seed), out))
    };
    let data = Batch {
        windows: Windows {
            insample_y: random(1, [batch, 8]),
            insample_mask: Tensor::full([batch, 8], 1.0),
            hist_exog: None,
            futr_exog: None,
            stat_exog: None,
        },
        target: random(2, [batch, 1]),
        weights: Tensor::full([batch, 1], 1.0),
        error_scale: Tensor::full([batch], 1.0),
        loc: Tensor::zeros([batch]),
        scale: Tensor::full([batch], 1.0),
    };
    let mut table = Table::default();
    let mut layer = |name: &str, inputs, outputs| Linear::new(&mut table.root().at(name), inputs, outputs);
    let layers = Layers([layer("first", 8, WIDTH), layer("second", WIDTH, WIDTH), layer("last", WIDTH, 1)]);
    let network = Network { needs, model: Arc::new(layers) };
    let (loss, workers) = (Loss::parse(&json!("MSE")).expect("a loss"), Workers::new(threads).unwrap());
    let params = table.initialise(3);
    let clip = Some(Clip::Norm(0.1));
    let adam = Optimizer::new(params.table().arena_len(), Rule::default(), clip);
    let mut engine = set(Engine::new(&network, params, adam, &loss, Key::new(0), &workers));
    let cut = |range: Range<usize>| {
        let rows = |tensor: &Tensor| tensor.narrow(0, range.start, range.len());
        Batch {
            windows: data.windows.rows(range.clone()),
            target: rows(&data.target).contiguous(),
            weights: rows(&data.weights),
            error_scale: rows(&data.error_scale),
            loc: rows(&data.loc),
            scale: rows(&data.scale),
        }
    };
    let mut step = || engine.step(batch, batch as f64, 0.01, cut).expect("a number");
    workers.enter(|| (0..3).for_each(|_| _ = step()));
    let arenas = engine.shards.len();
    (engine.into_params().arena().iter().map(|x| x.to_bits()).collect(), arenas)
}

#[test]
fn threads_change_no_bit_of_shards_of_any_size() {
    let [one_series, coupled] =
        [Coupling::Independent, Coupling::Coupled].map(|coupling| Needs { coupling, ..Needs::default() });
    for (batch, needs) in
        [(63, one_series), (96, one_series), (127, one_series), (192, one_series), (192, coupled)]
    {
        let one = trained(batch, needs, 1, Precision::F32);
        for threads in [2, 3] {
            assert!(
                trained(batch, needs, threads, Precision::F32) == one,
                "{batch} windows, {needs:?}, {threads} threads"
            );
        }
    }
}

#[test]
fn threads_change_no_bit_of_products_in_16_bits() {
    let coupled = Needs { coupling: Coupling::Coupled, ..Needs::default() };
    for precision in [Precision::Bf16, Precision::F16] {
        for (batch, needs) in [(127, Needs::default()), (192, coupled)] {
            let one = trained(batch, needs, 1, precision);
            assert!(trained(batch, needs, 3, precision) == one, "{batch} windows, {precision}");
            assert!(trained(batch, needs, 1, Precision::F32) != one, "{precision} rounds nothing");
        }
    }
}

#[test]
fn little_memory_takes_two_arenas_and_the_same_steps_on_any_number_of_threads() {
    let needs = Needs { shard_windows: 16, ..Needs::default() };
    let low = |threads| trained_by(100, needs, threads, |engine| engine.low_memory(true));
    let ((all, arenas), (one, fewer)) = (trained_by(100, needs, 1, |engine| engine), low(1));
    assert_eq!((arenas, fewer), (4, 2));
    assert!(one == low(2).0 && one == low(3).0, "threads change bits");
    // Adam's steps of 0.01 go with the signs of gradients, which few roundings change; dropout is drawn anew by shard.
    let off: Vec<f32> =
        all.iter().zip(&one).map(|(a, b)| (f32::from_bits(*a) - f32::from_bits(*b)).abs()).collect();
    let mean = off.iter().sum::<f32>() / off.len() as f32;
    assert!(mean > 0.0 && mean < 0.01, "off by {mean}");
}

#[test]
fn pieces_cover_a_shard() {
    for (windows, at_a_time) in [(1, 1), (16, 16), (17, 9), (64, 16), (100, 15)] {
        let needs = Needs { shard_windows: 16, ..Needs::default() };
        let cut: Vec<_> = pieces(7..7 + windows, needs, true).collect();
        assert_eq!(windows_at_a_time(windows, needs, true), at_a_time);
        assert_eq!(cut.iter().map(Range::len).max(), Some(at_a_time));
        assert_eq!((cut[0].start, cut[cut.len() - 1].end), (7, 7 + windows));
        assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
        let coupled = Needs { coupling: Coupling::Coupled, ..needs };
        assert_eq!(pieces(7..7 + windows, coupled, true).count(), 1);
        assert_eq!(pieces(7..7 + windows, needs, false).count(), 1);
    }
}

/// A layer of one weight: its gradient is a product.
struct Slope(Linear);

impl Model for Slope {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let x = windows.insample_y.clone();
        self.0.forward(cx, &x, Activation::Identity).reshape([windows.batch(), 1, 1])
    }
}

/// Windows of one step that begin at -1, a quarter apart, and targets `slope` times as large.
fn line(slope: f32) -> impl Fn(Range<usize>) -> Batch + Copy + Sync {
    move |range| {
        let n = range.len();
        let x: Vec<f32> = range.map(|i| i as f32 / 4.0 - 1.0).collect();
        let y: Vec<f32> = x.iter().map(|x| slope * x).collect();
        let column = |values: &[f32]| Tensor::from_slice(values, [n, 1]);
        Batch {
            windows: Windows {
                insample_y: column(&x),
                insample_mask: Tensor::full([n, 1], 1.0),
                hist_exog: None,
                futr_exog: None,
                stat_exog: None,
            },
            target: column(&y),
            weights: Tensor::full([n, 1], 1.0),
            error_scale: Tensor::full([n], 1.0),
            loc: Tensor::zeros([n]),
            scale: Tensor::full([n], 1.0),
        }
    }
}

/// Two layers whose weights are multiplied.
struct Pair(LinearPair);

impl Model for Pair {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let x = windows.insample_y.clone();
        self.0.forward(cx, vec![x], Activation::Identity).reshape([windows.batch(), 1, 1])
    }
}

/// Two layers whose weights are multiplied, with as many inputs as outputs.
struct WidePair(LinearPair);

impl Model for WidePair {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let x = windows.insample_y.clone();
        let y = self.0.forward(cx, vec![x], Activation::Identity);
        y.reshape([windows.batch(), windows.insample_y.shape()[1], 1])
    }
}

/// Shards share the product of the weights, a single one makes it itself: equal windows have the same loss in both.
#[test]
fn multiplied_weights_are_rounded_alike_by_one_shard_and_by_several() {
    const STEPS: usize = 32;
    let cut = |range: Range<usize>| {
        let rows = |row: &[f32]| Tensor::from_slice(&row.repeat(range.len()), [range.len(), STEPS]);
        let x: Vec<f32> = (0..STEPS).map(|i| (i as f32 * 0.7).sin()).collect();
        Batch {
            windows: Windows {
                insample_y: rows(&x),
                insample_mask: rows(&[1.0; STEPS]),
                hist_exog: None,
                futr_exog: None,
                stat_exog: None,
            },
            target: rows(&[0.0; STEPS]),
            weights: rows(&[1.0; STEPS]),
            error_scale: Tensor::full([range.len()], 1.0),
            loc: Tensor::zeros([range.len()]),
            scale: Tensor::full([range.len()], 1.0),
        }
    };
    let loss = |windows: usize, precision| {
        let mut table = Table::default();
        let network = Network::from(WidePair(LinearPair::new(
            &mut table.root(),
            [0, 1],
            PairSizes { inputs: STEPS, hidden: 2 * STEPS, outputs: STEPS },
        )));
        let (params, workers) = (table.initialise(3), Workers::new(1).unwrap());
        assert_eq!(params.table().multiplied().len(), 1);
        let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
        let loss = Loss::parse(&json!("MSE")).expect("a loss");
        let mut engine =
            Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(precision);
        engine.step(windows, (windows * STEPS) as f64, 0.01, cut).expect("a number")
    };
    let (few, many) = (32, 256);
    assert!(shard_count(few, Needs::default(), false) == 1 && shard_count(many, Needs::default(), false) > 1);
    let far = |a: f64, b: f64| (a / b - 1.0).abs();
    assert!(far(loss(few, Precision::F32), loss(many, Precision::F32)) < 1e-6);
    for precision in [Precision::Bf16, Precision::F16] {
        let [one, several, exact] =
            [(few, precision), (many, precision), (few, Precision::F32)].map(|(n, p)| loss(n, p));
        assert!(far(one, several) < 1e-6, "{precision}: {one} by one shard, {several} by several");
        assert!(far(one, exact) > 1e-6, "{precision} rounds nothing");
    }
}

/// A step with several shards may leave them behind, and one with a single shard neither writes nor clears their place.
#[test]
fn infinities_among_gradients_of_multiplied_weights_do_not_skip_a_step_of_one_shard() {
    const N: usize = 8;
    let mut table = Table::default();
    let network = Network::from(Pair(LinearPair::new(
        &mut table.root(),
        [0, 1],
        PairSizes { inputs: 1, hidden: 4, outputs: 1 },
    )));
    let loss = Loss::parse(&json!("MSE")).expect("a loss");
    let (params, workers) = (table.initialise(3), Workers::new(1).unwrap());
    let (len, all) = (params.table().arena_len(), params.table().gradients_len());
    assert!(all > len, "the weights are multiplied");
    let adam = Optimizer::new(len, Rule::default(), None);
    let mut engine =
        Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(Precision::F16);
    let mut skipped = || {
        engine.shards.iter_mut().for_each(|shard| shard.gradients[len..].fill(f32::INFINITY));
        engine.step(N, N as f64, 0.01, line(0.5)).expect("a number");
        engine.scaler().expect("a scaler").skipped()
    };
    // The first scales may be too large for the gradients themselves.
    let counts: Vec<u64> = (0..30).map(|_| skipped()).collect();
    assert_eq!(counts[20], counts[29], "steps skipped: {counts:?}");
}

/// Two layers, of which the second adds to the output where the first window begins above -1 only.
struct Sometimes([Linear; 2]);

impl Model for Sometimes {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let x = windows.insample_y.clone();
        let layers = if windows.insample_y.value().values()[0] > -1.0 { 2 } else { 1 };
        let parts: Vec<Var> =
            self.0[..layers].iter().map(|layer| layer.forward(cx, &x, Activation::Identity)).collect();
        let sum = parts.into_iter().reduce(|a, b| a + b).expect("a layer");
        sum.reshape([windows.batch(), 1, 1])
    }
}

#[test]
fn a_loss_that_is_not_finite_leaves_no_gradient_of_an_earlier_step() {
    const N: usize = 8;
    let loss = Loss::parse(&json!("MSE")).expect("a loss");
    let workers = Workers::new(1).unwrap();
    let run = |with_nan: bool| {
        let mut table = Table::default();
        let layers = ["first", "second"].map(|name| Linear::new(&mut table.root().at(name), 1, 1));
        let network = Network::from(Sometimes(layers));
        let params = table.initialise(3);
        let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
        let mut engine =
            Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(Precision::F16);
        let both = |range: Range<usize>| line(0.5)(range.start + 1..range.end + 1);
        // Down to a scale that hides no gradient by dividing it once more.
        while engine.scaler().expect("a scaler").scale() > 4.0 {
            engine.step(N, N as f64, 0.01, line(f32::NAN)).expect("the scale is lowered");
        }
        // In the last of these the second layer got a gradient.
        for _ in 0..5 {
            engine.step(N, N as f64, 0.01, both).expect("a number");
        }
        if with_nan {
            let skipped = engine.scaler().expect("a scaler").skipped();
            assert!(engine.step(N, N as f64, 0.01, line(f32::NAN)).expect("the scale is lowered").is_nan());
            assert_eq!(engine.scaler().expect("a scaler").skipped(), skipped + 1);
        }
        engine.step(N, N as f64, 0.01, line(0.5)).expect("a number");
        engine.into_params().arena().to_vec()
    };
    let (with, without) = (run(true), run(false));
    for (with, without) in with.iter().zip(&without) {
        assert!((with - without).abs() < 1e-5, "{with} after a loss of NaN, {without} without");
    }
}

/// With errors of hundreds and the first scale, gradients are far above what half precision holds.
#[test]
fn training_in_f16_recovers_from_overflow_and_converges() {
    const N: usize = 8;
    const SLOPE: f32 = 300.0;
    let cut = line(SLOPE);
    let mut table = Table::default();
    let layer = Linear::without_bias(&mut table.root(), 1, 1);
    let network = Network::from(Slope(layer.clone()));
    let loss = Loss::parse(&json!("MSE")).expect("a loss");
    let (params, workers) = (table.initialise(3), Workers::new(1).unwrap());
    let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
    let mut engine =
        Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(Precision::F16);
    let before = engine.params().arena().to_vec();
    let first = engine.step(N, N as f64, 5.0, cut).expect("a number");
    assert_eq!(engine.params().arena(), before, "a step that is skipped changes nothing");
    assert_eq!(engine.scaler().map(|scaler| (scaler.scale(), scaler.skipped())), Some((32_768.0, 1)));
    let mut last = first;
    for _ in 0..300 {
        last = engine.step(N, N as f64, 5.0, cut).expect("a number");
    }
    let slope = engine.params().tensor(layer.weight()).item();
    assert!(last < 1e-4 * first && (slope - SLOPE).abs() < 1.0, "{first} to {last}, slope {slope}");
    let skipped = engine.scaler().expect("a scaler").skipped();
    assert!((2..16).contains(&skipped), "{skipped} steps were skipped");
}

#[test]
fn coupled_windows_are_one_shard() {
    let needs = Needs { coupling: Coupling::Coupled, ..Needs::default() };
    assert!([1, 64, 5000].into_iter().all(|windows| shard_count(windows, needs, false) == 1));
}

#[test]
fn shards_are_powers_of_two_that_are_worth_their_while() {
    let counts = |windows: &[usize], shard_windows| -> Vec<usize> {
        let needs = Needs { shard_windows, ..Needs::default() };
        windows.iter().map(|&windows| shard_count(windows, needs, false)).collect()
    };
    let batches = [1, 63, 64, 96, 127, 128, 191, 192, 256, 383, 384, 512, 767, 768, 1024, 5000];
    assert_eq!(counts(&batches, 48), [1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16]);
    assert_eq!(counts(&batches, 128), [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 8, 16]);
    assert_eq!(counts(&[1, 2, 4, 16], 1), [1, 2, 4, 16], "windows of many series");
    assert_eq!(counts(&[32_767, 32_768, 65_536, 524_288], 48), [16, 32, 64, 512], "for as many machines");
}

#[test]
fn shards_cover_the_batch_as_evenly_as_may_be() {
    for windows in 1..1100 {
        let count = shard_count(windows, Needs::default(), false);
        let mut next = 0;
        for i in 0..count {
            let range = shard_range(windows, count, i);
            assert_eq!(range.start, next);
            assert!(range.len() == windows / count || range.len() == windows.div_ceil(count));
            next = range.end;
        }
        assert_eq!(next, windows);
    }
}
