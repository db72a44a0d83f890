//! Recurrent layers by themselves, forward and with the way back, and sums over what lies 16 numbers apart; two threads.
//!
//! `cargo bench -p foretell-benches --bench layers` prints a table. With the argument `serve` it answers each line of its input, the
//! name of a row, with the seconds of it: `benches/torch_layers.py` lets it take turns with PyTorch.

use std::hint::black_box;
use std::time::Duration;

use foretell_autograd::{Activation, Cell, Key};
use foretell_benches::{turns, wave};
use foretell_nn::{Forward, Params, Recurrent, RecurrentSizes, Table, Tensor, Var};
use foretell_threads::share;

// An encoder of the zoo's default width over four days of hours.
const STEPS: usize = 96;
const BATCH: usize = 32;
const INPUTS: usize = 32;
const HIDDEN: usize = 128;

/// Rows of 16 numbers: 64 MB, which no cache holds.
const ROWS: usize = 1 << 20;

const THREADS: usize = 2;

struct Layer {
    params: Params,
    layer: Recurrent,
    x: Tensor,
    gradients: Vec<f32>,
}

impl Layer {
    fn new(cell: Cell) -> Self {
        let mut table = Table::default();
        let sizes = RecurrentSizes {
            cell,
            inputs: INPUTS,
            hidden: HIDDEN,
            layers: 1,
            bias: true,
            dropout: 0.0,
            projection: None,
        };
        let layer = Recurrent::new(&mut table.root(), &sizes);
        let params = table.initialise(1);
        let gradients = vec![0.0; params.table().gradients_len()];
        let x = Tensor::from_slice(&wave(STEPS * BATCH * INPUTS, 0.37), [STEPS, BATCH, INPUTS]);
        Self { params, layer, x, gradients }
    }

    fn forward(&self) {
        let cx = Forward::inference(&self.params);
        black_box(self.layer.forward(&cx, &Var::constant(self.x.clone()), STEPS, None));
    }

    /// The sum of all states, and the gradients of the parameters.
    fn forward_and_back(&mut self) {
        self.gradients.fill(0.0);
        let cx = Forward::training(&self.params, Key::new(1));
        let states = self.layer.forward(&cx, &Var::constant(self.x.clone()), STEPS, None);
        states.sum(2).sum(1).sum(0).backward(&mut self.gradients);
    }
}

/// A name, the bytes that must be read where memory is the limit, and the work.
type Row = (String, Option<usize>, Box<dyn FnMut()>);

fn rows() -> Vec<Row> {
    let cells = [("RNN", Cell::Rnn(Activation::Tanh)), ("LSTM", Cell::Lstm), ("GRU", Cell::Gru)];
    let mut rows: Vec<Row> = Vec::new();
    for (name, cell) in cells {
        let forward = Layer::new(cell);
        let mut both = Layer::new(cell);
        rows.push((format!("{name} forward"), None, Box::new(move || forward.forward())));
        rows.push((format!("{name} forward and back"), None, Box::new(move || both.forward_and_back())));
    }
    let table = Tensor::from_slice(&wave(ROWS * 16, 0.37), [ROWS, 16]);
    // Each line of the cache holds one of the numbers, so one column costs as many bytes as all of them.
    let bytes = Some(4 * 16 * ROWS);
    let (one, all, flat) = (table.narrow(1, 0, 1), table.clone(), table);
    rows.push(("sum of one column of 16".into(), bytes, Box::new(move || _ = black_box(one.sum_all()))));
    rows.push(("sums of all 16 columns".into(), bytes, Box::new(move || _ = black_box(all.sum(0)))));
    rows.push(("sum of all numbers".into(), bytes, Box::new(move || _ = black_box(flat.sum_all()))));
    rows
}

fn seconds(run: &mut dyn FnMut(), rounds: usize) -> f64 {
    share(THREADS, || turns(rounds, Duration::from_millis(5), &mut [run]).seconds(0))
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(THREADS).build_global().expect("the first thread pool");
    let mut rows = rows();
    if std::env::args().any(|argument| argument == "serve") {
        for line in std::io::stdin().lines() {
            let wanted = line.expect("the name of a row");
            let row = rows.iter_mut().find(|(name, ..)| *name == wanted).expect("one of the rows");
            println!("{}", seconds(&mut row.2, 5));
        }
        return;
    }
    println!("| what | ms | GB/s |\n|---|---|---|");
    for (name, bytes, run) in &mut rows {
        let time = seconds(run, 41);
        let rate = bytes.map_or(String::new(), |bytes| format!("{:.1}", bytes as f64 / time / 1e9));
        println!("| {name} | {:.3} | {rate} |", time * 1e3);
    }
}
