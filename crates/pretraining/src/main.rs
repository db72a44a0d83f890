//! `cargo xtask pretrain` builds and calls this program.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Parser;
use foretell_pretrained::foretell0::forecast::Foretell0Network;
use foretell_pretrained::foretell0::network::PatchNetwork;
use foretell_pretrained::foretell0::weights;
use foretell_pretraining::evaluate::{self, PanelScores};
use foretell_pretraining::schedule::LearningRate;
use foretell_pretraining::state::{self, PretrainingProgress};
use foretell_pretraining::training::{Ground, Training};
use foretell_pretraining::windows;
use foretell_train::{Precision, Workers};

/// Trains Foretell0 on synthetic series, or continues a training.
#[derive(Parser)]
#[command(name = "pretrain")]
struct Options {
    /// Minutes after which the run stops and keeps its state
    #[arg(long, default_value_t = 95.0)]
    minutes: f64,
    /// Steps of this run: the learning rate falls over the last of them
    #[arg(long, default_value_t = 20000)]
    steps: u64,
    /// The share of the steps in which the learning rate falls to 0
    #[arg(long, default_value_t = 0.2)]
    decay: f64,
    /// Windows of a step
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// The learning rate between its rise and its fall
    #[arg(long, default_value_t = 1.5e-3)]
    rate: f64,
    /// Steps in which the learning rate rises
    #[arg(long, default_value_t = 300)]
    warm_up: u64,
    /// Seed of the series and of the initial weights
    #[arg(long, default_value_t = 57)]
    seed: u64,
    /// Products in bfloat16
    #[arg(long)]
    bf16: bool,
    /// File of the run's state, which is read if it is there
    #[arg(long, default_value = "target/pretrain/state.bin")]
    state: PathBuf,
    /// File of the weights, as the program holds them; written at the end of a run
    #[arg(long, default_value = "crates/pretrained/weights/foretell0.bin")]
    weights: PathBuf,
    /// Without a state file, go on from the file of the weights, with fresh moments; without this, from initial weights
    #[arg(long)]
    resume: bool,
    /// Write the average of the weights in the state file to the file of the weights, and train nothing
    #[arg(long)]
    export: bool,
    /// Print the scores of the file of the weights on the panels NAME-hH-sS.csv of this folder, and train nothing
    #[arg(long)]
    evaluate: Option<PathBuf>,
    /// Time this many windows and training steps each, and train nothing
    #[arg(long)]
    measure: Option<u64>,
}

/// Steps of a point of the loss curve.
const POINT: u64 = 100;

/// Steps between two validations, and their windows.
const VALIDATED: u64 = 1000;
const VALIDATION: (u64, usize) = (991, 256);

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    if let Some(folder) = &options.evaluate {
        return evaluate(&options.weights, folder);
    }
    ensure!(
        !options.export || options.state.exists(),
        "the weights are the average in {}, which does not exist: train first, or name the state of a training",
        options.state.display()
    );
    let precision = if options.bf16 { Precision::Bf16 } else { Precision::F32 };
    let ground = &Ground::new(Workers::new(0)?);
    let (mut training, mut progress) = if options.state.exists() {
        state::load(ground, &options.state, precision)?
    } else if options.resume {
        let bytes = std::fs::read(&options.weights)
            .with_context(|| format!("reading {}", options.weights.display()))?;
        state::fresh(ground, Some(weights::read(&bytes, PatchNetwork::new().1)?), options.seed, precision)
    } else {
        state::fresh(ground, None, options.seed, precision)
    };
    ensure!(
        progress.provenance.seed == options.seed,
        "the training so far has the seed {}, and this run {}: series are numbered by their seed",
        progress.provenance.seed,
        options.seed
    );
    if let Some(count) = options.measure {
        return measure(&options, &mut training, count);
    }
    if !options.export {
        train(&options, &mut training, &mut progress)?;
    }
    export(&options.weights, &training, &progress)
}

fn train(
    options: &Options,
    training: &mut Training<'_>,
    progress: &mut PretrainingProgress,
) -> anyhow::Result<()> {
    if let Some(folder) = options.state.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let rate = LearningRate {
        peak: options.rate,
        warm_up: options.warm_up,
        steps: options.steps,
        decay: options.decay,
    };
    let (started, mut saved) = (Instant::now(), Instant::now());
    let before = progress.provenance.seconds;
    let limit = Duration::from_secs_f64(60.0 * options.minutes);
    while progress.steps < options.steps && started.elapsed() < limit {
        let provenance = &mut progress.provenance;
        let loss = training.step(
            options.seed,
            provenance.steps,
            provenance.windows,
            options.batch,
            rate.at(progress.steps),
        );
        ensure!(loss.is_finite(), "the loss of step {} is {loss}", provenance.steps);
        progress.steps += 1;
        provenance.steps += 1;
        provenance.windows += options.batch as u64;
        provenance.seconds = before + started.elapsed().as_secs_f64();
        progress.pending.push(loss);
        if provenance.steps.is_multiple_of(POINT) {
            let mean = progress.pending.drain(..).collect::<Vec<f64>>();
            let mean = mean.iter().sum::<f64>() / mean.len() as f64;
            provenance.losses.push((provenance.steps, mean as f32));
            let seconds = provenance.seconds;
            println!("step {} loss {mean:.4} after {seconds:.0} s", provenance.steps);
        }
        if provenance.steps.is_multiple_of(VALIDATED) {
            let [loss, ratio] = training.validate(VALIDATION.0, VALIDATION.1);
            println!(
                "step {} validation {loss:.4}, error by the value a period ago {ratio:.4}",
                provenance.steps
            );
        }
        std::io::stdout().flush()?;
        if saved.elapsed() > Duration::from_secs(60) {
            state::save(&options.state, training, progress)?;
            saved = Instant::now();
        }
    }
    state::save(&options.state, training, progress)
}

/// Writes the average of the weights.
fn export(path: &Path, training: &Training<'_>, progress: &PretrainingProgress) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut params = training.params().clone();
    params.arena_mut().copy_from_slice(training.average());
    let bytes = weights::write(&params, &progress.provenance);
    foretell_files::write_whole(path, &bytes)?;
    println!(
        "{} bytes of weights after {} steps in {}",
        bytes.len(),
        progress.provenance.steps,
        path.display()
    );
    Ok(())
}

fn evaluate(path: &Path, folder: &Path) -> anyhow::Result<()> {
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let (params, provenance) = weights::read(&bytes, PatchNetwork::new().1)?;
    let started = Instant::now();
    let scores = evaluate::evaluate(&Foretell0Network::new(params), folder)?;
    println!("weights after {} steps", provenance.steps);
    for panel in &scores {
        println!(
            "{:<24} windows {:>4} MASE {:.4} loss {:.4} coverage {:.2}",
            panel.name, panel.windows, panel.mase, panel.loss, panel.coverage
        );
    }
    let mean = |of: fn(&PanelScores) -> f64| {
        (scores.iter().map(|panel| of(panel).ln()).sum::<f64>() / scores.len() as f64).exp()
    };
    let (mase, loss) = (mean(|panel| panel.mase), mean(|panel| panel.loss));
    println!("geometric mean MASE {mase:.3} loss {loss:.3} in {:.2} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn measure(options: &Options, training: &mut Training<'_>, count: u64) -> anyhow::Result<()> {
    let mut made = 0;
    let started = Instant::now();
    for step in 0..count {
        let shape = windows::shape(options.seed, step);
        for index in 0..options.batch as u64 {
            made += windows::window(options.seed, step * 1000 + index, shape).targets.len().min(1);
        }
    }
    let generating = started.elapsed().as_secs_f64();
    let started = Instant::now();
    for step in 0..count {
        training.step(options.seed, step, step * 1000, options.batch, 1e-9);
    }
    let all = started.elapsed().as_secs_f64();
    println!("{:.0} windows/s made", made as f64 / generating);
    println!("{:.1} ms a step of {}", 1e3 * all / count as f64, options.batch);
    println!("{:.1} % of it for making windows", 100.0 * generating / all);
    Ok(())
}
