//! How fast a model is on this machine, on synthetic windows.

use std::convert::Infallible;
use std::time::Instant;

use foretell_estimator::{MemoryLimit, Workers};
use foretell_gemm::FlopCounter;
use foretell_infer::{Batch, forecast, mean_of_outputs, share_forecast};
use foretell_models::{CategoricalColumn, CategoricalColumns};
use foretell_nn::{
    Dims, Forward, Init, Key, Network, Params, Table, Tensor, WeightPrecision, Windows, check_amp,
};
use foretell_optim::Optimizer;
use foretell_train::{Engine, Precision, TrainConfig, TrainError, check_coupling, rounding_of};
use serde::Serialize;

use crate::acceleration::Acceleration;
use crate::error::NetworkError;
use crate::memory::{Training, check_bench};
use crate::product_rate::product_rate;
use crate::spec::NetworkSpec;
use crate::training::train_config;
use crate::windows::{Purpose, window_dims};

/// What [`bench()`] measured.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The model.
    pub model: String,
    /// The vector instructions and optimisations used.
    pub acceleration: Acceleration,
    /// What the products of the training step round to.
    pub precision: Precision,
    /// Threads used.
    pub threads: usize,
    /// Windows of a step.
    pub batch: usize,
    /// Numbers that training changes.
    pub parameters: usize,
    /// The median time of a step: forward, loss, backward, optimiser.
    pub step_ms: f64,
    /// Floating-point operations of a step's products of matrices, attention and convolutions, in billions: two for each
    /// multiplication with its addition, counted while the step runs. Passes over elements and Fourier transforms are not in it.
    pub gflop_per_step: f64,
    /// Billions of such operations in a second that a large product of `f32` matrices reaches with these threads.
    pub gemm_gflop_per_s: f64,
    /// The rate of a step, `gflop_per_step` in its time, beside that of the large product.
    pub share_of_gemm_rate: f64,
    /// The median time of the forecasts of a batch.
    pub forward_batch_ms: f64,
    /// The median time of the forecast of one window.
    pub forward_one_us: f64,
    /// Calls to the system allocator for tensor buffers, per step, after warm-up.
    pub pool_misses_per_step: f64,
    /// Bytes that the forward pass of a batch keeps for the backward pass.
    pub held_bytes: u64,
    /// What the model, its windows and its steps added to the process's resident memory at its peak; `None` where the system
    /// does not report it. It is less where the process held more memory before, such as that of another bench.
    pub step_peak_mb: Option<f64>,
    /// The peak of the process's resident memory so far; `None` where the system does not report it.
    pub peak_rss_mb: Option<f64>,
}

/// Steps before anything is measured: buffers are allocated, caches filled, clocks raised.
const WARM_UP: usize = 5;

/// Measures a model on `batch` synthetic windows with `threads` threads (0: as many as the machine has), in no more
/// memory than `limit`. Its training steps run in `precision`; its forecasts hold their weights in bfloat16 where that is the
/// precision, else in `f32`.
///
/// # Errors
/// If the hyper-parameters do not fit together or let the training diverge, there are more than 1024 threads, the
/// model and its windows do not fit into memory, the batch has one window where windows are coupled, or the program was
/// built without this precision (the feature `amp`).
///
/// # Panics
/// If `batch` is 0.
pub fn bench(
    spec: &NetworkSpec,
    batch: usize,
    threads: usize,
    precision: Precision,
    limit: &MemoryLimit,
) -> Result<Bench, NetworkError> {
    assert!(batch > 0, "a bench of 0 windows");
    check_amp(precision.name())?;
    let before_mb = resident_mb("VmRSS:");
    spec.check()?;
    let (loss, workers) = (spec.loss(), Workers::new(threads)?);
    let settings = spec.optimizer_settings().expect("checked above");
    let mut table = Table::default();
    let network = spec.build(&mut table)?;
    let failed = |source| NetworkError::Train { model: spec.alias().to_owned(), source };
    check_coupling(&network, batch, 1).map_err(failed)?;
    let [dims, ahead] =
        [Purpose::Train, Purpose::Forecast].map(|purpose| dims_ahead(spec, &network, purpose));
    let training = Training {
        network: &network,
        table: &table,
        dims,
        config: &TrainConfig { precision, ..train_config(spec) },
        windows: batch,
        threads: workers.threads(),
        validates: false,
        is_kept: false,
    };
    let weights = if precision == Precision::Bf16 { WeightPrecision::Bf16 } else { WeightPrecision::F32 };
    check_bench(&training, &ahead, weights, limit)?;
    let params = table.initialise(spec.common().random_seed);
    let parameters = params.table().numel();
    let n_series = dims.n_series;
    let whole = |range: std::ops::Range<usize>| range.start * n_series..range.end * n_series;
    let mut data = synthetic(&dims, &spec.categories(), batch * n_series);
    loss.weigh(data.weights.values_mut(), dims.horizon);
    let (_, possible) = loss.support();
    data.target.values_mut().iter_mut().filter(|y| !possible(**y)).for_each(|y| *y = 1.0);
    let total = data.weights.values().iter().map(|&weight| f64::from(weight)).sum();

    let measured = workers.enter(|| -> Result<_, TrainError> {
        let optimizer = Optimizer::new(params.table().arena_len(), settings.rule, settings.clip);
        let mut engine =
            Engine::new(&network, params, optimizer, loss, Key::new(1), &workers).precision(precision);
        let mut steps = 0;
        let mut step = || {
            let rows = |range: std::ops::Range<usize>| slice(&data, whole(range));
            steps += 1;
            let taken = engine.step(batch, total, settings.schedule.at(0), rows);
            taken.map(drop).map_err(|fault| TrainError::NotFinite {
                loss: fault.loss,
                step: steps,
                shard: fault.shard,
                series: "synthetic".to_owned(),
            })
        };
        (0..WARM_UP).try_for_each(|_| step())?;
        let before = foretell_pool::metrics().misses;
        let (seconds, runs) = median_seconds(&mut step, 1.5)?;
        let misses = foretell_pool::metrics().misses - before;
        let step_peak_mb = resident_mb("VmHWM:").zip(before_mb).map(|(peak, before)| peak - before);
        let counter = FlopCounter::start();
        step()?;
        let flops = counter.flops();
        drop(counter);
        Ok((seconds, misses as f64 / runs as f64, step_peak_mb, flops, engine.into_params()))
    });
    let (step_s, misses, step_peak_mb, flops, mut params) = measured.map_err(failed)?;
    // After the steps, so that the memory of a run of all windows at once does not count as theirs.
    let held_bytes = {
        let before = foretell_pool::metrics().live_bytes;
        let cx = Forward::training(&params, Key::new(0)).rounding(rounding_of(precision));
        let output = network.model.forward(&cx, &data.windows.inputs());
        let mean = loss.mean(&output, data.truth(), total);
        drop(output);
        let held = foretell_pool::metrics().live_bytes.saturating_sub(before);
        drop(mean);
        held as u64
    };
    params.hold(weights);
    let [forward_batch_s, forward_one_s] =
        [batch, 1].map(|windows| seconds_of_forecasts(spec, &network, &params, &workers, windows));

    let gemm_rate = product_rate(&workers);

    Ok(Bench {
        model: spec.name().to_owned(),
        acceleration: Acceleration::current(),
        precision,
        threads: workers.threads(),
        batch,
        parameters,
        step_ms: step_s * 1e3,
        gflop_per_step: flops as f64 / 1e9,
        gemm_gflop_per_s: gemm_rate / 1e9,
        share_of_gemm_rate: flops as f64 / step_s / gemm_rate,
        forward_batch_ms: forward_batch_s * 1e3,
        forward_one_us: forward_one_s * 1e6,
        pool_misses_per_step: misses,
        held_bytes,
        step_peak_mb,
        peak_rss_mb: resident_mb("VmHWM:"),
    })
}

/// The median time of the forecasts of so many synthetic windows by a trained model. Each thread has as many of them, and a
/// single one is shared.
pub(crate) fn seconds_of_forecasts(
    spec: &NetworkSpec,
    network: &Network,
    params: &Params,
    workers: &Workers,
    windows: usize,
) -> f64 {
    let dims = dims_ahead(spec, network, Purpose::Forecast);
    let all = synthetic(&dims, &spec.categories(), windows * dims.n_series);
    let make = |windows: &Windows| {
        drop(forecast(network, params, Key::new(2), windows, dims.horizon, &mean_of_outputs));
    };
    let parts = workers.threads().min(windows);
    if parts < 2 {
        return share_forecast(workers, params, || warm_median_seconds(|| make(&all.windows)));
    }
    let cut = |part: usize| windows * part / parts * dims.n_series;
    let mut parts: Vec<_> = (0..parts).map(|part| slice(&all, cut(part)..cut(part + 1)).windows).collect();
    workers.enter(|| warm_median_seconds(|| workers.each(&mut parts, true, |_, windows| make(windows))))
}

/// The windows of a purpose; those of a model that forecasts step by step reach over the horizon, less its last step.
fn dims_ahead(spec: &NetworkSpec, network: &Network, purpose: Purpose) -> Dims {
    let dims = window_dims(spec, network.needs, purpose);
    let more = if network.needs.decoding.is_step_by_step() { dims.horizon - 1 } else { 0 };
    Dims { input_size: dims.input_size + more, ..dims }
}

/// Runs `f` for about half a second, after a few runs that do not count; the median time of a run.
fn warm_median_seconds(mut f: impl FnMut()) -> f64 {
    (0..WARM_UP).for_each(|_| f());
    let mut run = || -> Result<(), Infallible> {
        f();
        Ok(())
    };
    let Ok((seconds, _)) = median_seconds(&mut run, 0.5);
    seconds
}

/// Runs `f` for about `seconds`, at least 15 times; the median time of a run, and how many there were.
fn median_seconds<E>(f: &mut dyn FnMut() -> Result<(), E>, seconds: f64) -> Result<(f64, usize), E> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 15 || start.elapsed().as_secs_f64() < seconds {
        let run = Instant::now();
        f()?;
        times.push(run.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times.len()))
}

/// Random windows in [-2, 2), nothing masked; of categories, each in turn.
fn synthetic(dims: &Dims, categories: &CategoricalColumns, batch: usize) -> Batch {
    let random = |seed: u64, shape: &[usize]| {
        Tensor::build(shape, |out| Init::Uniform { bound: 2.0 }.fill(Key::new(seed), out))
    };
    let columns = |seed, shape: &[usize], categories: &[CategoricalColumn]| {
        let count = shape[shape.len() - 1];
        let mut columns = (count > 0).then(|| random(seed, shape))?;
        for CategoricalColumn { column, cardinality, .. } in categories {
            let cells = columns.values_mut().iter_mut().skip(*column).step_by(count);
            cells.enumerate().for_each(|(i, cell)| *cell = (i % cardinality + 1) as f32);
        }
        Some(columns)
    };
    Batch {
        windows: Windows {
            insample_y: random(1, &[batch, dims.input_size]),
            insample_mask: Tensor::full([batch, dims.input_size], 1.0),
            hist_exog: columns(2, &[batch, dims.input_size, dims.hist_exog], &categories.hist),
            futr_exog: columns(3, &[batch, dims.input_size + dims.horizon, dims.futr_exog], &categories.futr),
            stat_exog: columns(4, &[batch, dims.stat_exog], &categories.stat),
        },
        target: random(5, &[batch, dims.horizon]),
        weights: Tensor::full([batch, dims.horizon], 1.0),
        error_scale: Tensor::full([batch], 1.0),
        loc: Tensor::zeros([batch]),
        scale: Tensor::full([batch], 1.0),
    }
}

/// Some windows of a batch, without a copy.
fn slice(batch: &Batch, range: std::ops::Range<usize>) -> Batch {
    let rows = |tensor: &Tensor| tensor.narrow(0, range.start, range.len());
    Batch {
        windows: batch.windows.rows(range.clone()),
        target: rows(&batch.target),
        weights: rows(&batch.weights),
        error_scale: rows(&batch.error_scale),
        loc: rows(&batch.loc),
        scale: rows(&batch.scale),
    }
}

/// The process's resident memory, now (`VmRSS:`) or at its peak (`VmHWM:`), where the system tells it as Linux does.
fn resident_mb(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
