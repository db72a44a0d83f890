//! How fast a model is on this machine, on synthetic windows.

use std::ops::Range;

use foretell_estimator::{MemoryLimit, StepSettings, Workers};
use foretell_gemm::{FlopCounter, PlanRecorder, RecordedProduct};
use foretell_infer::Batch;
use foretell_nn::{Forward, Key, Loss, Network, Params, Table, WeightPrecision, check_amp};
use foretell_optim::Optimizer;
use foretell_train::{Engine, Precision, TrainConfig, TrainError, check_coupling, rounding_of};
use serde::Serialize;

use crate::acceleration::Acceleration;
use crate::error::NetworkError;
use crate::kept_numbers::KeptNumbers;
use crate::memory::{Training, check_bench};
use crate::product_rate::product_rate;
use crate::spec::NetworkSpec;
use crate::synthetic::{
    RUNS, WARM_UP, dims_ahead, products_of_forecasts, seconds_of_forecasts, slice, sorted_seconds, synthetic,
};
use crate::train_config::train_config;
use crate::windows::Purpose;

/// How long steps are measured, and forecasts, in seconds.
const STEPS: f64 = 1.5;
const FORECASTS: f64 = 0.5;

/// The measurements of [`bench()`].
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The model.
    pub model: String,
    /// The vector instructions and optimisations used.
    pub acceleration: Acceleration,
    /// How the training step is computed: its fields are among the others.
    #[serde(flatten)]
    pub step: StepSettings,
    /// Threads used.
    pub threads: usize,
    /// Windows of a step.
    pub batch: usize,
    /// Numbers that training changes.
    pub parameters: usize,
    /// The median time of a step: forward, loss, backward, optimiser.
    pub step_ms: f64,
    /// The least, the mean and the most time of a step.
    pub step_range_ms: [f64; 3],
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
    /// The process's resident memory at its peak beyond that before the model, its windows and its steps; `None` where the
    /// system does not report it. It is less where the process held more memory before, such as that of another bench.
    pub step_peak_mb: Option<f64>,
    /// The peak of the process's resident memory so far; `None` where the system does not report it.
    pub peak_rss_mb: Option<f64>,
    /// The products of matrices of a step, of the forecasts of a batch and of the forecast of one window, in this order; those with
    /// the most multiplications first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<BenchProduct>,
}

/// Products of matrices of one shape that [`bench()`] saw.
#[derive(Clone, Debug, Serialize)]
pub struct BenchProduct {
    /// The part of the bench that they belong to: `step`, `forward_batch` or `forward_one`.
    pub part: &'static str,
    /// `[m, k, n]` of a product of `[m, k]` and `[k, n]`.
    pub shape: [usize; 3],
    /// How many there are in a step, or in the forecasts.
    pub count: usize,
    /// The numbers that they are multiplied in, the kernel, and how they are cut, in words.
    pub plan: String,
}

impl BenchProduct {
    fn all(part: &'static str, products: Vec<RecordedProduct>) -> impl Iterator<Item = Self> {
        let one =
            move |RecordedProduct { shape, plan, count }| Self { part, shape, count, plan: plan.to_string() };
        products.into_iter().map(one)
    }
}

/// Measures a model on `batch` synthetic windows with `threads` threads (0: as many as the machine has), in no more
/// memory than `limit`. Its training steps are computed as `step` says; its forecasts hold their weights in bfloat16 where that is the
/// precision of these, else in `f32`.
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
    step: StepSettings,
    limit: &MemoryLimit,
) -> Result<Bench, NetworkError> {
    assert!(batch > 0, "a bench of 0 windows");
    check_amp(step.precision.name())?;
    let before_mb = resident_mb("VmRSS:");
    spec.check()?;
    let (loss, workers) = (spec.loss(), Workers::new(threads)?);
    let mut table = Table::default();
    let network = spec.build(&mut table)?;
    let failed = |source| NetworkError::Train { model: spec.alias().to_owned(), source };
    check_coupling(&network, batch, 1).map_err(failed)?;
    let [dims, ahead] =
        [Purpose::Train, Purpose::Forecast].map(|purpose| dims_ahead(spec, &network, purpose));
    let config = &train_config(spec, step)?;
    let training = Training {
        network: &network,
        table: &table,
        dims,
        config,
        windows: batch,
        threads: workers.threads(),
        validates: false,
        is_kept: false,
        kept: KeptNumbers::default(),
    }
    .measured(spec, limit);
    let weights = weights_as(step);
    check_bench(&training, &ahead, weights, limit)?;
    let kept = training.kept.of(&dims);
    let params = table.initialise(spec.common().random_seed);
    let parameters = params.table().numel();
    let n_series = dims.n_series;
    let mut data = synthetic(&dims, &spec.categories(), batch * n_series);
    loss.weigh(data.weights.values_mut(), dims.horizon);
    let (_, possible) = loss.support();
    data.target.values_mut().iter_mut().filter(|y| !possible(**y)).for_each(|y| *y = 1.0);
    let steps =
        Steps { network: &network, loss, config, workers: &workers, data: &data, n_series, kept, before_mb };
    let (figures, mut params) = workers.enter(|| steps.measure(params)).map_err(failed)?;
    let StepFigures { seconds: [least, step_s, mean, most], misses, peak_mb, flops, products } = figures;
    // After the steps, so that the memory of a run of all windows at once does not count as theirs.
    let held_bytes = steps.held_bytes(&params);
    params.hold(weights);
    let [forward_batch_s, forward_one_s] =
        [batch, 1].map(|windows| seconds_of_forecasts(spec, &network, &params, &workers, windows, FORECASTS));

    let mut products: Vec<_> = BenchProduct::all("step", products).collect();
    for (part, windows) in [("forward_batch", batch), ("forward_one", 1)] {
        let recorded = products_of_forecasts(spec, &network, &params, &workers, windows);
        products.extend(BenchProduct::all(part, recorded));
    }

    let gemm_rate = product_rate(&workers);

    Ok(Bench {
        model: spec.name().to_owned(),
        acceleration: Acceleration::current(),
        step,
        threads: workers.threads(),
        batch,
        parameters,
        step_ms: step_s * 1e3,
        step_range_ms: [least, mean, most].map(|seconds| seconds * 1e3),
        gflop_per_step: flops as f64 / 1e9,
        gemm_gflop_per_s: gemm_rate / 1e9,
        share_of_gemm_rate: flops as f64 / step_s / gemm_rate,
        forward_batch_ms: forward_batch_s * 1e3,
        forward_one_us: forward_one_s * 1e6,
        pool_misses_per_step: misses,
        held_bytes,
        step_peak_mb: peak_mb,
        peak_rss_mb: resident_mb("VmHWM:"),
        products,
    })
}

/// How forecasts hold their weights beside steps of a training that are computed so.
fn weights_as(step: StepSettings) -> WeightPrecision {
    if step.precision == Precision::Bf16 { WeightPrecision::Bf16 } else { WeightPrecision::F32 }
}

/// Training steps on synthetic windows.
struct Steps<'a> {
    network: &'a Network,
    loss: &'a Loss,
    config: &'a TrainConfig,
    workers: &'a Workers,
    data: &'a Batch,
    n_series: usize,
    /// About how many numbers a step keeps of a window.
    kept: usize,
    /// Resident memory before there was anything, if it is known.
    before_mb: Option<f64>,
}

/// The figures of a training step.
struct StepFigures {
    /// The least time of a step, the median, the mean and the most.
    seconds: [f64; 4],
    /// Buffers that the pool did not have.
    misses: f64,
    /// The resident memory at its peak, above that before.
    peak_mb: Option<f64>,
    flops: u64,
    /// The products of one step.
    products: Vec<RecordedProduct>,
}

impl Steps<'_> {
    /// The sum of the weights of all windows.
    fn total(&self) -> f64 {
        self.data.weights.values().iter().map(|&weight| f64::from(weight)).sum()
    }

    /// The figures of a step, and the parameters after all of them.
    fn measure(&self, params: Params) -> Result<(StepFigures, Params), TrainError> {
        let &Self { network, loss, config, workers, data, n_series, kept, before_mb } = self;
        let (total, windows) = (self.total(), data.windows.batch() / n_series);
        let optimizer = Optimizer::new(params.table().arena_len(), config.optimizer, config.clip);
        let mut engine = Engine::new(network, params, optimizer, loss, Key::new(1), workers)
            .precision(config.step.precision)
            .low_memory(config.step.low_memory)
            .kept(kept);
        let mut steps = 0;
        let mut step = || {
            let rows = |range: Range<usize>| slice(data, range.start * n_series..range.end * n_series);
            steps += 1;
            let taken = engine.step(windows, total, config.schedule.at(0), rows);
            taken.map(drop).map_err(|fault| TrainError::NotFinite {
                loss: fault.loss,
                step: steps,
                shard: fault.shard,
                series: "synthetic".to_owned(),
            })
        };
        (0..WARM_UP).try_for_each(|_| step())?;
        let before = foretell_pool::metrics().misses;
        let times = sorted_seconds(&mut step, RUNS, STEPS)?;
        let runs = times.len();
        let misses = (foretell_pool::metrics().misses - before) as f64 / runs as f64;
        let mean = times.iter().sum::<f64>() / runs as f64;
        let seconds = [times[0], times[runs / 2], mean, times[runs - 1]];
        let peak_mb = resident_mb("VmHWM:").zip(before_mb).map(|(peak, before)| peak - before);
        let counter = FlopCounter::start();
        step()?;
        let flops = counter.flops();
        drop(counter);
        let recorder = PlanRecorder::start();
        step()?;
        let products = recorder.finish();
        Ok((StepFigures { seconds, misses, peak_mb, flops, products }, engine.into_params()))
    }

    /// The bytes that a step holds between its two passes, over all windows at once.
    fn held_bytes(&self, params: &Params) -> u64 {
        let before = foretell_pool::metrics().live_bytes;
        let cx = Forward::training(params, Key::new(0)).rounding(rounding_of(self.config.step.precision));
        let cx = if self.config.step.low_memory { cx.in_little_memory() } else { cx };
        let output = self.network.model.forward(&cx, &self.data.windows.inputs());
        let mean = self.loss.mean(&output, self.data.truth(), self.total());
        drop(output);
        let held = foretell_pool::metrics().live_bytes.saturating_sub(before);
        drop(mean);
        held as u64
    }
}

/// The process's resident memory, now (`VmRSS:`) or at its peak (`VmHWM:`), where the system tells it as Linux does.
fn resident_mb(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
