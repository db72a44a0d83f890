//! `foretell bench`: how fast models are here.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::report::grouped;
use foretell::{BenchProduct, ForecastCurve, ModelSpec, Precision, ThreadCurve, WeightPrecision};

use crate::args::{MemoryArgs, steps, thread_count};
use crate::context::Context;
use crate::curve_figure::CurveFigure;
use crate::failure::Usage;
use crate::model_args::ModelArgs;
use crate::output::{print, write_file};
use crate::picture::{Picture as _, check_ending, is_stdout};
use crate::precision::StepArgs;
use crate::table::AlignedTable;

/// Measure how fast models train and forecast on this machine
///
/// On synthetic windows: a training step (forward, loss, backward, optimiser), the forecasts of a batch, and the
/// forecast of one window. Times are medians. Beside the time of a step stand its multiplications and additions in products,
/// attention and convolutions, and the share of the rate that a large product of matrices reaches here.
#[derive(Debug, Args)]
#[command(mut_arg("models", |models| models.required_unless_present("from")), after_help = "\
Examples:
  foretell bench --model NLinear,MLP,NHITS --h 24 --input-size 96 --threads 2
  foretell bench --model NHITS --h 24 --input-size 96 --batch 128 --json
  foretell bench --model MLP,LSTM --h 24 --input-size 96 --precision bf16
  foretell bench --model TSMixer --h 24 --input-size 96 --batch 1024 --low-memory
  foretell bench --model NHITS --h 24 --input-size 96 --explain
  foretell bench --model NHITS,LSTM --h 24 --input-size 96 --curve --out curve.svg
  foretell bench --model NHITS,LSTM --h 24 --input-size 96 --threads 1,2,4,16

With --json each model is an object on a line of its own: model, acceleration
(the vector instructions and features in use), precision (of the step; forecasts
have their weights in bf16 if it is bf16, else in f32), low_memory, threads,
batch, parameters, step_ms, step_range_ms (the least, the mean, the most),
forward_batch_ms, forward_one_us, pool_misses_per_step (calls to the system
allocator for tensor buffers), gflop_per_step (operations of products, counted),
gemm_gflop_per_s (a large product's, in f32), share_of_gemm_rate (a step's by
it), held_bytes (what a forward pass of all windows at once keeps for the
backward pass; a step keeps that of the shards at work), step_peak_mb (memory
that model and steps added), peak_rss_mb (of the process so far). With --explain
also products: part (step, forward_batch, forward_one), shape ([m, k, n]), count
and plan of each. With --curve: model, acceleration, precision (of the weights),
threads, parameters, points (batch, ms, per_second) and choice. With several
--threads: model, precision, low_memory, batch, shards, parameters, alone_ms (of
a step, which threads do not shorten), points (threads, step_ms, gain,
measured).")]
pub(crate) struct Bench {
    #[command(flatten)]
    models: ModelArgs,
    /// Windows of a step
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = steps())]
    batch: usize,
    /// Series of a window, for multivariate models; the others take one series at a time
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = steps())]
    n_series: usize,
    /// Threads; 0 for as many as the machine has. Several, as 1,2,4,16, show what a step gains by them: measured as far as the machine
    /// has cores, computed beyond
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "0", value_parser = thread_count())]
    threads: Vec<usize>,
    #[command(flatten)]
    steps: StepArgs,
    /// Say how each product of matrices is computed: [m, k] by [k, n], in which numbers, by which kernel, in which tasks
    #[arg(long)]
    explain: bool,
    /// Measure forecasts alone, in batches of 1, 2, 4 and so on up to N windows [default: 1024]: how many a second, and the smallest batch that
    /// reaches 90 % of the best rate
    #[arg(
        long, value_name = "N", num_args = 0..=1, default_missing_value = "1024", value_parser = steps(),
        conflicts_with_all = ["batch", "explain", "low_memory"]
    )]
    curve: Option<usize>,
    /// File to write the curves to as well: a picture if it ends in .svg or .png, all figures if it ends in .json
    #[arg(long, value_name = "FILE", requires = "curve")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Bench {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if let Some(largest) = self.curve {
            return self.measure_curves(largest, context);
        }
        if self.threads.len() > 1 {
            return self.measure_threads(context);
        }
        let mut benches = Vec::new();
        for spec in self.specs(context)? {
            let mut bench = foretell::bench(
                &spec,
                self.batch,
                self.threads[0],
                self.steps.settings(),
                &self.memory.limit(),
            )?;
            if !self.explain {
                bench.products.clear();
            }
            context.measured(serde_json::to_value(&bench)?);
            if self.json {
                print(format!("{}\n", serde_json::to_string(&bench)?))?;
            }
            benches.push(bench);
        }
        if self.json {
            return Ok(());
        }
        let column = |figure: fn(&foretell::Bench) -> f64| benches.iter().map(figure).collect::<Vec<_>>();
        let table = AlignedTable::new()
            .text("model", benches.iter().map(|bench| bench.model.as_str()))
            .counts("parameters", benches.iter().map(|bench| bench.parameters))
            .numbers("step [ms]", column(|bench| bench.step_ms))
            .numbers("GFLOP/step", column(|bench| bench.gflop_per_step))
            .numbers("of gemm's rate [%]", column(|bench| 100.0 * bench.share_of_gemm_rate))
            .numbers("forward, batch [ms]", column(|bench| bench.forward_batch_ms))
            .numbers("forward, one [us]", column(|bench| bench.forward_one_us))
            .numbers("pool misses/step", column(|bench| bench.pool_misses_per_step))
            .numbers("held [MB]", column(|bench| bench.held_bytes as f64 / 1e6))
            .numbers("peak RSS [MB]", column(|bench| bench.peak_rss_mb.unwrap_or(f64::NAN)));
        print(format!("{}{}", table.render(), self.how()))?;
        benches.iter().filter(|_| self.explain).try_for_each(explained)
    }

    /// A step by threads.
    fn measure_threads(&self, context: &'static Context) -> anyhow::Result<()> {
        if self.explain {
            let message = "--explain shows the products of one number of threads: give --threads one";
            return Err(Usage(message.to_owned()).into());
        }
        let mut curves = Vec::new();
        for spec in self.specs(context)? {
            let (step, limit) = (self.steps.settings(), self.memory.limit());
            let curve = foretell::thread_curve(&spec, self.batch, &self.threads, step, &limit)?;
            context.measured(serde_json::to_value(&curve)?);
            if self.json {
                print(format!("{}\n", serde_json::to_string(&curve)?))?;
            }
            curves.push(curve);
        }
        if self.json {
            return Ok(());
        }
        let points = || curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, point)));
        let table = AlignedTable::new()
            .text("model", points().map(|(curve, _)| curve.model.as_str()))
            .counts("shards", points().map(|(curve, _)| curve.shards))
            .counts("threads", points().map(|(_, point)| point.threads))
            .text("", points().map(|(_, point)| if point.measured { "measured" } else { "computed" }))
            .numbers("step [ms]", points().map(|(_, point)| point.step_ms))
            .numbers("of one thread's rate", points().map(|(_, point)| point.gain));
        print(format!("{}{}", table.render(), self.how()))?;
        let most = self.threads.iter().max().copied().unwrap_or(0);
        let has = |curve: &ThreadCurve| curve.points.iter().any(|point| point.threads == most);
        if most > 0 && !curves.iter().all(has) {
            context.warning("this machine has one core: there is nothing to compute further threads from");
        }
        Ok(())
    }

    /// How steps are computed, in words behind a table.
    fn how(&self) -> String {
        format!("in {}, with {}\n", self.steps.settings(), foretell::Acceleration::current())
    }

    /// The models, those of all series with a number of them.
    fn specs(&self, context: &'static Context) -> anyhow::Result<Vec<ModelSpec>> {
        let from = self.models.trained(self.memory.limit())?;
        let specs = self.models.specs(None, &[], from.as_ref(), false, context)?;
        let sized =
            |spec: ModelSpec| match spec.is_multivariate() && spec.hyper_parameters()["n_series"].is_null() {
                true => Ok(spec.set("n_series", self.n_series)?),
                false => Ok(spec),
            };
        specs.into_iter().map(sized).collect()
    }

    /// Forecasts a second by batch.
    fn measure_curves(&self, largest: usize, context: &'static Context) -> anyhow::Result<()> {
        let out = self.out.as_deref().filter(|out| !is_json(out));
        out.map_or(Ok(()), |out| check_ending("--out", out))?;
        if self.threads.len() > 1 {
            let message = "--curve measures batches on one number of threads: give --threads one";
            return Err(Usage(message.to_owned()).into());
        }
        let batches: Vec<usize> =
            (0..).map(|power| 1 << power).take_while(|batch| *batch <= largest).collect();
        // As the forecasts of a bench of training have them.
        let weights = match self.steps.settings().precision {
            Precision::Bf16 => WeightPrecision::Bf16,
            _ => WeightPrecision::F32,
        };
        let mut curves = Vec::new();
        for spec in self.specs(context)? {
            let limit = self.memory.limit();
            let curve = foretell::forecast_curve(&spec, &batches, self.threads[0], weights, &limit)?;
            context.measured(serde_json::to_value(&curve)?);
            if self.json {
                print(format!("{}\n", serde_json::to_string(&curve)?))?;
            }
            curves.push(curve);
        }
        let (threads, with) =
            (curves.first().map_or(0, |curve| curve.threads), foretell::Acceleration::current());
        let threads = if threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
        let how = format!("{threads}, weights in {weights}, with {with}");
        if !self.json {
            print(format!("forecasts a second, by windows at a time\n{}{how}\n", table(&curves, &batches)))?;
        }
        let Some(out) = &self.out else { return Ok(()) };
        match is_json(out) {
            true => write_file(context, out, &serde_json::to_vec(&curves)?)?,
            false => {
                let title = "Forecasts a second, by windows at a time".to_owned();
                let subtitle =
                    format!("The mark is the smallest batch that reaches 90 % of the best rate; {how}");
                CurveFigure { title, subtitle, curves: &curves }.write(out, context)?;
            }
        }
        if !is_stdout(out) {
            context.wrote(out, &format!("{} curves", curves.len()));
        }
        Ok(())
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// A row per model: its rate in each batch, and the batch to choose.
fn table(curves: &[ForecastCurve], batches: &[usize]) -> String {
    let table = AlignedTable::new()
        .text("model", curves.iter().map(|curve| curve.model.as_str()))
        .counts("choose", curves.iter().map(|curve| curve.choice));
    let with_rates = |table: AlignedTable, (place, &batch): (usize, &usize)| {
        table.counts(grouped(batch), curves.iter().map(|curve| curve.points[place].per_second as usize))
    };
    batches.iter().enumerate().fold(table, with_rates).render()
}

/// A table of the products of a model.
fn explained(bench: &foretell::Bench) -> anyhow::Result<()> {
    let products = &bench.products;
    let part = |product: &BenchProduct| match product.part {
        "step" => "step",
        "forward_batch" => "forward, batch",
        _ => "forward, one",
    };
    let shape = |BenchProduct { shape: [m, k, n], .. }: &BenchProduct| format!("{m}x{k}x{n}");
    let table = AlignedTable::new()
        .text("part", products.iter().map(part))
        .text("product", products.iter().map(shape))
        .counts("times", products.iter().map(|product| product.count))
        .text("plan", products.iter().map(|product| product.plan.as_str()));
    print(format!("\nProducts of {}\n{}", bench.model, table.render()))
}
