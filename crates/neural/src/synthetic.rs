//! Synthetic windows, and how long a network takes for them.

use std::convert::Infallible;
use std::time::Instant;

use foretell_estimator::Workers;
use foretell_gemm::{PlanRecorder, RecordedProduct};
use foretell_infer::{Batch, forecast, mean_of_outputs, share_forecast};
use foretell_models::{CategoricalColumn, CategoricalColumns};
use foretell_nn::{Dims, Forward, Init, Key, Network, Params, Tensor, Windows};

use crate::spec::NetworkSpec;
use crate::windows::{Purpose, window_dims};

/// Steps before anything is measured: buffers are allocated, caches filled, clocks raised.
pub(crate) const WARM_UP: usize = 5;

/// The least runs of a bench that a median is taken of.
pub(crate) const RUNS: usize = 15;

/// The median time of the forecasts of this many synthetic windows by a trained model, made for about `seconds`. Each thread has as
/// many of them, and a single one is shared.
pub(crate) fn seconds_of_forecasts(
    spec: &NetworkSpec,
    network: &Network,
    params: &Params,
    workers: &Workers,
    windows: usize,
    seconds: f64,
) -> f64 {
    with_forecasts(spec, network, params, workers, windows, |make| warm_median_seconds(make, seconds))
}

/// The products of the forecasts of this many windows, as in [`seconds_of_forecasts`].
pub(crate) fn products_of_forecasts(
    spec: &NetworkSpec,
    network: &Network,
    params: &Params,
    workers: &Workers,
    windows: usize,
) -> Vec<RecordedProduct> {
    with_forecasts(spec, network, params, workers, windows, |make| {
        let recorder = PlanRecorder::start();
        make();
        recorder.finish()
    })
}

/// Calls `measure` with what makes the forecasts of this many windows.
fn with_forecasts<R: Send>(
    spec: &NetworkSpec,
    network: &Network,
    params: &Params,
    workers: &Workers,
    windows: usize,
    measure: impl FnOnce(&mut dyn FnMut()) -> R + Send,
) -> R {
    let dims = dims_ahead(spec, network, Purpose::Forecast);
    let all = synthetic(&dims, &spec.categories(), windows * dims.n_series);
    let make = |windows: &Windows| {
        let cx = Forward::inference(params).with_key(Key::new(2));
        drop(forecast(network, &cx, windows, dims.horizon, &mean_of_outputs));
    };
    let parts = workers.threads().min(windows);
    if parts < 2 {
        return share_forecast(workers, params, || measure(&mut || make(&all.windows)));
    }
    let cut = |part: usize| windows * part / parts * dims.n_series;
    let mut parts: Vec<_> = (0..parts).map(|part| slice(&all, cut(part)..cut(part + 1)).windows).collect();
    workers.enter(|| measure(&mut || workers.each(&mut parts, true, |_, windows| make(windows))))
}

/// The windows of a purpose; those of a model that forecasts step by step reach over the horizon, less its last step.
pub(crate) fn dims_ahead(spec: &NetworkSpec, network: &Network, purpose: Purpose) -> Dims {
    let dims = window_dims(spec, network.needs, purpose);
    let more = if network.needs.decoding.is_step_by_step() { dims.horizon - 1 } else { 0 };
    Dims { input_size: dims.input_size + more, ..dims }
}

/// Runs `f` for about `seconds`, after a few runs that do not count; the median time of a run.
fn warm_median_seconds(f: &mut dyn FnMut(), seconds: f64) -> f64 {
    (0..WARM_UP).for_each(|_| f());
    let mut run = || -> Result<(), Infallible> {
        f();
        Ok(())
    };
    let Ok((median, _)) = median_seconds(&mut run, RUNS, seconds);
    median
}

/// Runs `f` for about `seconds`, at least `runs` times; the median time of a run, and how many there were.
pub(crate) fn median_seconds<E>(
    f: &mut dyn FnMut() -> Result<(), E>,
    runs: usize,
    seconds: f64,
) -> Result<(f64, usize), E> {
    let times = sorted_seconds(f, runs, seconds)?;
    Ok((times[times.len() / 2], times.len()))
}

/// Runs `f` likewise; the times of all runs, the shortest first.
pub(crate) fn sorted_seconds<E>(
    f: &mut dyn FnMut() -> Result<(), E>,
    runs: usize,
    seconds: f64,
) -> Result<Vec<f64>, E> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < runs || start.elapsed().as_secs_f64() < seconds {
        let run = Instant::now();
        f()?;
        times.push(run.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Random windows in [-2, 2), nothing masked; of categories, each in turn.
pub(crate) fn synthetic(dims: &Dims, categories: &CategoricalColumns, batch: usize) -> Batch {
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
pub(crate) fn slice(batch: &Batch, range: std::ops::Range<usize>) -> Batch {
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
