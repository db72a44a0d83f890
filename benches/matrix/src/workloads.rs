//! The workloads that are measured in every cell.

use std::error::Error;
use std::io::{BufWriter, Write};
use std::sync::mpsc;

use foretell::jiff::civil::date;
use foretell::{
    Fitted, Forecaster, Freq, ModelSpec, Panel, Precision, ReadOptions, Verdict, WeightPrecision, Workers,
};
use foretell_simd as simd;
use foretell_threads::{rows, share};

use crate::Settings;
use crate::feed_forward::FeedForward;
use crate::measure::{Measured, calls, repeat};

type Outcome = Result<Measured, Box<dyn Error>>;

pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Settings) -> Outcome,
}

/// The training steps, batch forecasts and single forecast of a model of the zoo. Of an input of 1024 steps, of which the
/// baseline takes seconds a window, there are fewer windows.
macro_rules! model {
    ($model:literal) => {
        [
            Workload { name: concat!("step ", $model, " 96, batch 32"), run: |s| step(s, $model, 96, 32) },
            Workload { name: concat!("step ", $model, " 96, batch 128"), run: |s| step(s, $model, 96, 128) },
            Workload { name: concat!("step ", $model, " 1024, batch 4"), run: |s| step(s, $model, 1024, 4) },
            Workload { name: concat!("forecast ", $model, " 96, one"), run: |s| forecast(s, $model, 96, 1) },
            Workload {
                name: concat!("forecast ", $model, " 96, batch 32"),
                run: |s| forecast(s, $model, 96, 32),
            },
            Workload {
                name: concat!("forecast ", $model, " 96, batch 256"),
                run: |s| forecast(s, $model, 96, 256),
            },
            Workload {
                name: concat!("forecast ", $model, " 1024, one"),
                run: |s| forecast(s, $model, 1024, 1),
            },
            Workload {
                name: concat!("forecast ", $model, " 1024, batch 8"),
                run: |s| forecast(s, $model, 1024, 8),
            },
        ]
    };
}

const MODELS: [[Workload; 8]; 4] =
    [model!("NHITS"), model!("LSTM"), model!("TCN"), model!("VanillaTransformer")];

/// Small ones, whose fixed costs are most of them.
const SMALL: [Workload; 12] = [
    Workload { name: "normalise 100 points", run: |s| normalise(s, 100) },
    Workload { name: "normalise 1,000 points", run: |s| normalise(s, 1_000) },
    Workload { name: "read 1,000 rows of CSV", run: |s| read(s, 10) },
    Workload { name: "read 5,000 rows of CSV", run: |s| read(s, 50) },
    Workload { name: "read 10,000 rows of CSV", run: |s| read(s, 100) },
    Workload { name: "forecast NHITS 96, batch 1,000", run: |s| forecast(s, "NHITS", 96, 1_000) },
    Workload { name: "step NHITS 96, batch 16", run: |s| step(s, "NHITS", 96, 16) },
    Workload { name: "step LSTMAttention 96, batch 16", run: |s| step(s, "LSTMAttention", 96, 16) },
    Workload { name: "step VanillaTransformer 96, batch 16", run: |s| step(s, "VanillaTransformer", 96, 16) },
    Workload { name: "forecast NHITS 96, batch 16", run: |s| forecast(s, "NHITS", 96, 16) },
    Workload { name: "forecast LSTMAttention 96, batch 16", run: |s| forecast(s, "LSTMAttention", 96, 16) },
    Workload {
        name: "forecast VanillaTransformer 96, batch 16",
        run: |s| forecast(s, "VanillaTransformer", 96, 16),
    },
];

const OTHERS: [Workload; 7] = [
    Workload { name: "preprocess 100,000 points", run: |s| preprocess(s, 1, 100_000) },
    Workload { name: "preprocess 50 features x 10,000", run: |s| preprocess(s, 50, 10_000) },
    Workload { name: "read 1,000,000 rows of CSV", run: |s| read(s, 10_000) },
    Workload { name: "step 128-256-128-10, batch 32", run: |s| feed_forward_step(s, 32) },
    Workload { name: "step 128-256-128-10, batch 64", run: |s| feed_forward_step(s, 64) },
    Workload { name: "save NHITS", run: save },
    Workload { name: "load NHITS", run: load },
];

/// All workloads, in the order of the table.
pub(crate) fn all() -> impl Iterator<Item = &'static Workload> {
    OTHERS.iter().chain(&SMALL).chain(MODELS.iter().flatten())
}

const H: usize = 24;

/// A wave with a daily season and some noise, other for each series.
fn wave(series: usize, len: usize) -> Vec<f32> {
    let value = |t: usize| {
        let (t, phase) = (t as f32, series as f32);
        let noise = (t * 12.9898 + phase * 78.233).sin() * 43_758.547;
        1.0 + (t * 0.261_799 + phase).sin() + 0.3 * (noise - noise.floor())
    };
    (0..len).map(value).collect()
}

fn panel(series: usize, len: usize) -> Result<Panel, Box<dyn Error>> {
    let first = date(2024, 1, 1).at(0, 0, 0, 0);
    let series = (0..series).map(|i| (format!("s{i:04}"), first, wave(i, len)));
    Ok(Panel::from_series(Freq::parse("h")?, series)?)
}

/// A model of the zoo as users get it, but for a rate at which steps whose rounding differs stay close.
fn spec(
    settings: &Settings,
    model: &str,
    input_size: usize,
    batch: usize,
) -> Result<ModelSpec, Box<dyn Error>> {
    let spec = match model {
        "FeedForward" => ModelSpec::of::<FeedForward>(10, input_size)?,
        _ => ModelSpec::new(model, H, input_size)?,
    };
    let spec = match (settings.quick, model) {
        (true, "LSTM") => spec.set("encoder_hidden_size", 16)?,
        (true, "TCN") => spec.set("encoder_hidden_size", 16)?.set("context_size", 4)?,
        (true, "VanillaTransformer") => spec.set("hidden_size", 16)?.set("conv_hidden_size", 8)?,
        _ => spec,
    };
    let spec = spec.set("windows_batch_size", batch)?.set("learning_rate", 1e-4)?;
    Ok(spec.set("scaler_type", "standard")?.set("start_padding_enabled", false)?)
}

/// The windows of a batch, fewer where the matrix itself is tested.
fn sized(settings: &Settings, batch: usize) -> usize {
    if settings.quick { batch.min(4) } else { batch }
}

fn step(settings: &Settings, model: &'static str, input_size: usize, batch: usize) -> Outcome {
    let batch = sized(settings, batch);
    let panel = panel(8, input_size + H + 500)?;
    // Until the time is up. The outputs are the losses of the first two steps: that of the second one tells the gradients.
    let (tell, told) = mpsc::channel();
    let seconds = settings.seconds;
    let mut last = (0.0, calls());
    let listener = move |_: &str, progress: &foretell::Progress| {
        let elapsed = progress.elapsed.as_secs_f64();
        let now = calls();
        let time = elapsed - last.0;
        let _ = tell.send((time, now - last.1, progress.train_loss));
        last = (elapsed, now);
        // A step takes seconds in the baseline: two of them are all that is needed.
        let enough = if time < 1.0 { 8 } else { 2 };
        match progress.step >= enough && elapsed >= seconds {
            true => Verdict::Stop,
            false => Verdict::Continue,
        }
    };
    let spec = spec(settings, model, input_size, batch)?.set("max_steps", 1_000_000)?;
    let precision = if settings.bf16 { Precision::Bf16 } else { Precision::F32 };
    Forecaster::new([spec])?.precision(precision).on_progress(listener).fit(&panel)?;
    let steps: Vec<(f64, usize, f64)> = told.iter().collect();
    // The first steps allocate buffers and fill caches.
    let cold = if steps.len() > 3 { 3 } else { 0 };
    Ok(Measured {
        seconds: steps[cold..].iter().map(|(time, ..)| *time).collect(),
        allocations: steps.last().map_or(0, |(_, allocations, _)| *allocations),
        outputs: steps.iter().take(2).map(|(.., loss)| *loss).collect(),
    })
}

fn feed_forward_step(settings: &Settings, batch: usize) -> Outcome {
    step(settings, "FeedForward", 128, batch)
}

/// A model after one step on one window.
fn fitted(settings: &Settings, model: &str, input_size: usize) -> Result<Fitted, Box<dyn Error>> {
    let spec = spec(settings, model, input_size, 1)?.set("max_steps", 1)?;
    Ok(Forecaster::new([spec])?.fit(&panel(1, input_size + H)?)?)
}

/// One forecast of this many series, by weights that were trained in `f32`.
fn forecast(settings: &Settings, model: &'static str, input_size: usize, series: usize) -> Outcome {
    let precision = if settings.bf16 { WeightPrecision::Bf16 } else { WeightPrecision::F32 };
    let fitted = fitted(settings, model, input_size)?.weight_precision(precision)?;
    let panel = panel(sized(settings, series), input_size)?;
    repeat(settings, || {
        let forecast = fitted.predict(&panel, None)?;
        Ok(forecast
            .column(model)
            .expect("the model's column")
            .iter()
            .take(H)
            .map(|&y| f64::from(y))
            .collect())
    })
}

/// z-score, exponential and rolling means, and rolling deviations of each feature.
fn preprocess(settings: &Settings, features: usize, len: usize) -> Outcome {
    const OUTPUTS: usize = 4;
    let columns: Vec<Vec<f32>> = (0..features).map(|i| wave(i, len)).collect();
    let mut out = vec![0.0; features * OUTPUTS * len];
    let workers = Workers::new(0)?;
    let threads = workers.threads();
    repeat(settings, || {
        workers.enter(|| {
            share(threads, || {
                rows(features, OUTPUTS * len, [&mut out[..]], |range, [out]| {
                    for (x, out) in columns[range].iter().zip(out.chunks_exact_mut(OUTPUTS * len)) {
                        let (scaled, out) = out.split_at_mut(len);
                        let (smooth, out) = out.split_at_mut(len);
                        let (mean, deviation) = out.split_at_mut(len);
                        let (centre, variance) = simd::mean_variance(x);
                        simd::normalise(x, centre, variance.sqrt(), scaled);
                        simd::ema(x, 0.1, smooth);
                        simd::rolling_mean(x, 24, mean);
                        simd::rolling_std(x, 24, 1, deviation);
                    }
                });
            });
        });
        Ok(out[len - 100..len].iter().chain(&out[out.len() - 100..]).map(|&x| f64::from(x)).collect())
    })
}

/// This many points, less their mean, divided by their deviation: a thousand times, as once takes less than a clock tells.
fn normalise(settings: &Settings, len: usize) -> Outcome {
    const TIMES: usize = 1_000;
    let (x, mut out) = (wave(0, len), vec![0.0; len]);
    let mut measured = repeat(settings, || {
        for _ in 0..TIMES {
            let (centre, variance) = simd::mean_variance(std::hint::black_box(&x));
            simd::normalise(&x, centre, variance.sqrt(), &mut out);
        }
        Ok(out.iter().map(|&x| f64::from(x)).collect())
    })?;
    measured.seconds.iter_mut().for_each(|seconds| *seconds /= TIMES as f64);
    Ok(measured)
}

/// A file of a hundred series of this many rows.
fn read(settings: &Settings, len: usize) -> Outcome {
    let len = if settings.quick { len.min(100) } else { len };
    let mut file = tempfile::NamedTempFile::with_suffix(".csv")?;
    let mut to = BufWriter::new(file.as_file_mut());
    writeln!(to, "unique_id,ds,y")?;
    for series in 0..100 {
        for (t, y) in wave(series, len).into_iter().enumerate() {
            writeln!(to, "s{series:04},{t},{y}")?;
        }
    }
    to.flush()?;
    drop(to);
    repeat(settings, || {
        let panel = Panel::from_file(file.path(), &ReadOptions::default())?;
        Ok(vec![panel.n_rows() as f64, f64::from(panel.y(99)[len - 1])])
    })
}

fn save(settings: &Settings) -> Outcome {
    let (fitted, home) = (fitted(settings, "NHITS", 96)?, tempfile::tempdir()?);
    let to = home.path().join("model");
    repeat(settings, || {
        fitted.save(&to, true)?;
        Ok(vec![std::fs::read_dir(&to)?.count() as f64])
    })
}

fn load(settings: &Settings) -> Outcome {
    let (fitted, home) = (fitted(settings, "NHITS", 96)?, tempfile::tempdir()?);
    let from = home.path().join("model");
    fitted.save(&from, true)?;
    repeat(settings, || Ok(vec![Fitted::load(&from)?.models()[0].parameters() as f64]))
}
