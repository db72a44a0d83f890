//! `foretell bench`: how fast models are here.

use clap::Args;
use foretell::BenchProduct;

use crate::args::{MemoryArgs, ThreadArgs, steps};
use crate::context::Context;
use crate::model_args::ModelArgs;
use crate::output::print;
use crate::precision::PrecisionArgs;
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
  foretell bench --model NHITS --h 24 --input-size 96 --explain

With --json each model is an object on a line of its own: model, acceleration
(the vector instructions and features in use), precision (of the step; forecasts
have their weights in bf16 if it is bf16, else in f32), threads, batch,
parameters, step_ms, forward_batch_ms, forward_one_us, pool_misses_per_step
(calls to the system allocator for tensor buffers), gflop_per_step (operations
of products, counted), gemm_gflop_per_s (a large product's, in f32),
share_of_gemm_rate (a step's by it), held_bytes (what a forward pass of all
windows at once keeps for the backward pass; a step keeps that of the shards at
work), step_peak_mb (memory that model and steps added), peak_rss_mb (of the
process so far). With --explain also products: part (step, forward_batch,
forward_one), shape ([m, k, n]), count and plan of each.")]
pub(crate) struct Bench {
    #[command(flatten)]
    models: ModelArgs,
    /// Windows of a step
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = steps())]
    batch: usize,
    /// Series of a window, for multivariate models; the others take one series at a time
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = steps())]
    n_series: usize,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    precision: PrecisionArgs,
    /// Say how each product of matrices is computed: [m, k] by [k, n], in which numbers, by which kernel, in which tasks
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Bench {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let mut benches = Vec::new();
        let from = self.models.trained(self.memory.limit())?;
        for spec in self.models.specs(None, &[], from.as_ref(), false, context)? {
            let spec = match spec.is_multivariate() && spec.hyper_parameters()["n_series"].is_null() {
                true => spec.set("n_series", self.n_series)?,
                false => spec,
            };
            let mut bench = foretell::bench(
                &spec,
                self.batch,
                self.threads.count,
                self.precision.precision,
                &self.memory.limit(),
            )?;
            if !self.explain {
                bench.products.clear();
            }
            context.measured(&bench);
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
        let precision = self.precision.precision;
        print(format!("{}in {precision}, with {}\n", table.render(), foretell::Acceleration::current()))?;
        benches.iter().filter(|_| self.explain).try_for_each(explained)
    }
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
