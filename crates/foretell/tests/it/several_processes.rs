//! A forecaster of several processes ends with the bits of one. Threads stand for processes here.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use foretell::own_estimator::{Reduction, add_in_order};
use foretell::{Forecaster, Freq, ModelSpec, Panel};

/// The memory through which the processes exchange numbers, with the sum of those before, if there were any.
struct Exchange {
    all_here: Barrier,
    numbers: Mutex<Vec<Vec<f64>>>,
    sum: Mutex<(bool, Vec<f32>)>,
}

struct Process {
    rank: usize,
    processes: usize,
    exchange: Arc<Exchange>,
}

impl Reduction for Process {
    fn rank(&self) -> usize {
        self.rank
    }

    fn processes(&self) -> usize {
        self.processes
    }

    fn gather(&self, own: Vec<f64>) -> Vec<f64> {
        self.exchange.numbers.lock().unwrap()[self.rank] = own;
        self.exchange.all_here.wait();
        let all = self.exchange.numbers.lock().unwrap().concat();
        self.exchange.all_here.wait();
        all
    }

    fn sum(&self, own: &[&[f32]], sum: &mut [f32]) -> bool {
        for rank in 0..self.processes {
            if rank == self.rank {
                let (any, before) = &mut *self.exchange.sum.lock().unwrap();
                *any &= rank > 0;
                before.resize(sum.len(), f32::NAN);
                *any = add_in_order(own, *any, before);
            }
            self.exchange.all_here.wait();
        }
        let (any, all) = self.exchange.sum.lock().unwrap().clone();
        sum.copy_from_slice(&all);
        self.exchange.all_here.wait();
        any
    }
}

fn forecaster() -> Forecaster {
    let spec = |model: &str| {
        let spec = ModelSpec::new(model, 6, 24).unwrap().set("max_steps", 6).unwrap();
        spec.set("windows_batch_size", 200).unwrap().set("val_check_steps", 3).unwrap()
    };
    let naive = ModelSpec::new("SeasonalNaive", 6, 24).unwrap();
    Forecaster::new([spec("NHITS"), spec("GRU"), naive]).unwrap().val_size(6).threads(1)
}

fn panel() -> Panel {
    let value = |series: i32, row: i32| ((row * (series + 3)) as f32 * 0.31).sin() * 3.0 + series as f32;
    let series = |series: i32| (0..90).map(|row| value(series, row)).collect::<Vec<f32>>();
    Panel::from_series(Freq::parse("h").unwrap(), (0..4).map(|i| (format!("s{i}"), 0, series(i)))).unwrap()
}

/// The trained models of each of this many processes.
fn train(processes: usize) -> Vec<Vec<u8>> {
    let (numbers, sum) = (Mutex::new(vec![Vec::new(); processes]), Mutex::default());
    let exchange = Arc::new(Exchange { all_here: Barrier::new(processes), numbers, sum });
    let process = |rank| Process { rank, processes, exchange: exchange.clone() };
    thread::scope(|scope| {
        let train = |rank| {
            let process = process(rank);
            scope.spawn(|| forecaster().reduction(process).fit(&panel()).unwrap().to_bytes().unwrap())
        };
        let running: Vec<_> = (0..processes).map(train).collect();
        running.into_iter().map(|process| process.join().unwrap()).collect()
    })
}

#[test]
fn any_number_of_processes_trains_the_same_models() {
    let alone = forecaster().fit(&panel()).unwrap().to_bytes().unwrap();
    for processes in [1, 2, 3] {
        for (rank, bytes) in train(processes).iter().enumerate() {
            assert!(*bytes == alone, "process {rank} of {processes}");
        }
    }
}
