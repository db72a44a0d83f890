//! Training by several processes ends with the bits of training by one. Threads stand for processes here.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use crate::{
    Batch, Clip, Engine, Key, Loss, Model, Needs, Network, OneProcess, Optimizer, Params, Precision,
    Reduction, Rule, Table, Tensor, Windows, Workers, add_in_order, shard_count,
};
use foretell_nn::{
    Activation, BatchNorm, BatchNormConfig, Coupling, Forward, Init, Inputs, Linear, LinearPair, PairSizes,
    Var,
};
use serde_json::json;

/// The memory through which the processes exchange numbers.
struct Exchange {
    all_here: Barrier,
    numbers: Mutex<Vec<Vec<f64>>>,
    /// The sum of those before, if there were any.
    sum: Mutex<(bool, Vec<f32>)>,
}

impl Exchange {
    fn new(processes: usize) -> Self {
        let (numbers, sum) = (Mutex::new(vec![Vec::new(); processes]), Mutex::default());
        Self { all_here: Barrier::new(processes), numbers, sum }
    }
}

struct Process<'a> {
    rank: usize,
    exchange: &'a Exchange,
}

impl Reduction for Process<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn processes(&self) -> usize {
        self.exchange.numbers.lock().unwrap().len()
    }

    fn gather(&self, own: Vec<f64>) -> Vec<f64> {
        self.exchange.numbers.lock().unwrap()[self.rank] = own;
        self.exchange.all_here.wait();
        let all = self.exchange.numbers.lock().unwrap().concat();
        self.exchange.all_here.wait();
        all
    }

    fn sum(&self, own: &[&[f32]], sum: &mut [f32]) -> bool {
        for rank in 0..self.processes() {
            if rank == self.rank {
                let (any, before) = &mut *self.exchange.sum.lock().unwrap();
                *any &= rank > 0;
                before.resize(sum.len(), f32::NAN);
                *any = add_in_order(own, *any, before);
            }
            self.exchange.all_here.wait();
        }
        let any = {
            let (any, all) = &*self.exchange.sum.lock().unwrap();
            sum.copy_from_slice(all);
            *any
        };
        self.exchange.all_here.wait();
        any
    }
}

const STEPS: usize = 8;

/// Weights that are multiplied for all shards, statistics that no gradient changes, dropout, and a layer of one number.
struct Layers(LinearPair, BatchNorm, Linear);

impl Model for Layers {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Self(pair, norm, last) = self;
        let x = windows.insample_y.clone();
        let hidden = pair.forward(cx, vec![x], Activation::Identity);
        let hidden = cx.dropout(norm.forward(cx, &hidden), 0.1);
        last.forward(cx, &hidden, Activation::Identity).reshape([windows.batch(), 1, 1])
    }
}

/// One training: its loss, and how its batches are cut into shards.
#[derive(Clone, Copy)]
struct Case {
    loss: &'static str,
    precision: Precision,
    needs: Needs,
}

/// Batches with 8, 2 and 1 shards where windows are independent.
const BATCHES: [usize; 5] = [67, 67, 18, 5, 67];

/// All bits that a training leaves behind.
#[derive(PartialEq)]
struct Trained {
    losses: Vec<u64>,
    params: Vec<u32>,
    statistics: Vec<u32>,
    counters: Vec<i64>,
    /// Windows that were cut.
    cut: usize,
}

fn train(case: Case, reduction: Option<&dyn Reduction>) -> Trained {
    let random = |seed: u64, shape: [usize; 2]| {
        Tensor::build(shape, |out| Init::Uniform { bound: 1.0 }.fill(Key::new(seed), out))
    };
    let mut table = Table::default();
    let pair = LinearPair::new(
        &mut table.root().at("pair"),
        [0, 1],
        PairSizes { inputs: STEPS, hidden: 2 * STEPS, outputs: STEPS },
    );
    let norm = BatchNorm::new(&mut table.root().at("norm"), STEPS, BatchNormConfig::default());
    let last = Linear::new(&mut table.root().at("last"), STEPS, 1);
    let network = Network { needs: case.needs, model: Arc::new(Layers(pair, norm, last)) };
    let params = table.initialise(3);
    assert_eq!(params.table().multiplied().len(), 1);
    let adam = Optimizer::new(params.table().arena_len(), Rule::default(), Some(Clip::Norm(0.5)));
    let (loss, workers) =
        (Loss::parse(&json!(case.loss)).expect("a loss"), Workers::new(1).expect("a thread"));
    let engine = Engine::new(&network, params, adam, &loss, Key::new(5), &workers).precision(case.precision);
    let mut engine = match reduction {
        Some(reduction) => engine.reduction(reduction),
        None => engine,
    };
    let windows_cut = AtomicUsize::new(0);
    let mut losses = Vec::new();
    for (step, windows) in (0..).zip(BATCHES) {
        let (x, y) = (random(2 * step, [windows, STEPS]), random(2 * step + 1, [windows, 1]));
        let cut = |range: Range<usize>| {
            let rows = |tensor: &Tensor| tensor.narrow(0, range.start, range.len()).contiguous();
            let n = range.len();
            windows_cut.fetch_add(n, Ordering::Relaxed);
            Batch {
                windows: Windows {
                    insample_y: rows(&x),
                    insample_mask: Tensor::full([n, STEPS], 1.0),
                    hist_exog: None,
                    futr_exog: None,
                    stat_exog: None,
                },
                target: rows(&y),
                weights: Tensor::full([n, 1], 1.0),
                error_scale: rows(&x.narrow(1, 0, 1)).reshape([n]),
                loc: Tensor::zeros([n]),
                scale: Tensor::full([n], 1.0),
            }
        };
        losses.push(engine.step(windows, windows as f64, 0.01, cut).expect("a number").to_bits());
    }
    let params: Params = engine.into_params();
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect();
    Trained {
        losses,
        params: bits(params.arena()),
        statistics: bits(params.state_arena()),
        counters: params.counters().to_vec(),
        cut: windows_cut.into_inner(),
    }
}

fn is_the_same_by_any_number_of_processes(case: Case) {
    let one = train(case, None);
    assert!(train(case, Some(&OneProcess)) == one);
    let all: usize = BATCHES.iter().sum();
    assert_eq!(one.cut, all);
    for processes in 1..=5 {
        let exchange = &Exchange::new(processes);
        let each: Vec<Trained> = std::thread::scope(|scope| {
            let start = |rank| scope.spawn(move || train(case, Some(&Process { rank, exchange })));
            let started: Vec<_> = (0..processes).map(start).collect();
            started.into_iter().map(|process| process.join().expect("a training")).collect()
        });
        assert_eq!(each.iter().map(|process| process.cut).sum::<usize>(), all, "each window is cut once");
        for (rank, process) in each.into_iter().enumerate() {
            let alone = processes == 1 || case.needs.coupling == Coupling::Coupled;
            assert!(alone || process.cut < all, "process {rank} of {processes} ran all shards");
            let process = Trained { cut: all, ..process };
            assert!(process == one, "{} by process {rank} of {processes}", case.loss);
        }
    }
}

fn independent() -> Needs {
    Needs { shard_windows: 8, ..Needs::default() }
}

#[test]
fn processes_change_no_bit() {
    assert_eq!(BATCHES.map(|windows| shard_count(windows, independent(), false)), [8, 8, 2, 1, 8]);
    // The last two are functions of a mean, known only when all shards are done.
    for loss in ["MAE", "RMSE", "relMSE"] {
        is_the_same_by_any_number_of_processes(Case {
            loss,
            precision: Precision::F32,
            needs: independent(),
        });
    }
}

#[test]
fn a_batch_that_is_one_shard_is_run_by_one_process() {
    let needs = Needs { coupling: Coupling::Coupled, ..Needs::default() };
    is_the_same_by_any_number_of_processes(Case { loss: "RMSE", precision: Precision::F32, needs });
}

/// The first steps overflow, which every process needs to know.
#[test]
fn processes_change_no_bit_of_products_in_16_bits() {
    for precision in [Precision::Bf16, Precision::F16] {
        is_the_same_by_any_number_of_processes(Case { loss: "RMSE", precision, needs: independent() });
    }
}
