//! `foretell simulate`: from a model directory and a file of series to sample paths of the future.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use foretell::{Intervals, PathMethod, SimulateOptions};

use crate::args::{KeptArgs, steps};
use crate::context::Context;
use crate::saved_run::SavedRunArgs;

/// Draw sample paths of what follows each series
///
/// Saved models forecast. Writes a row per series, path and step, with the number of the path in sample_id and a column per
/// model. Paths say how steps go together, which quantiles do not: what a horizon sums up to, or its highest value.
///
/// gaussian_copula and schaake_shuffle draw from the quantiles of each step: those of a distribution, those that a model was trained
/// for, or those of calibrated intervals. They learn from the history how steps go together: the copula by the correlation of neighbouring
/// changes, the shuffle by the order of values in stretches of it. ancestral draws each step after the path's own steps before it,
/// which recurrent networks of a distribution do (DeepAR).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell simulate --model model --data sales.csv --n-paths 500 --seed 7 \\
    --out paths.parquet
  foretell simulate --model model --data sales.csv --method schaake_shuffle \\
    --h 6 | head
  foretell simulate --model deepar --data sales.csv --method ancestral \\
    --out paths.csv
  foretell simulate --model model --data sales.csv --intervals 20 \\
    --out paths.csv")]
pub(crate) struct Simulate {
    #[command(flatten)]
    run: SavedRunArgs,
    /// Steps of each path; those beyond the models' own horizon are drawn from forecasts of forecasts [default: the models' own]
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
    /// Paths of each series
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 24))]
    n_paths: usize,
    /// Seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How steps go together: gaussian_copula, schaake_shuffle or ancestral
    #[arg(
        long, value_name = "METHOD", default_value_t = PathMethod::default(), value_parser = str::parse::<PathMethod>
    )]
    method: PathMethod,
    /// Quantiles that a distribution or calibrated intervals are known by, as 0.05,0.5,0.95: paths stay between the first and the
    /// last [default: 0.01, 0.02, ... 0.99]
    #[arg(long, value_name = "Q[,Q]", value_delimiter = ',')]
    quantiles: Vec<f64>,
    /// Calibrate intervals on these data, as for predict
    #[arg(long, value_name = "N[:METHOD[:STEP]]|dropout[:N]|spread", value_parser = str::parse::<Intervals>)]
    intervals: Option<Intervals>,
    #[command(flatten)]
    kept: KeptArgs,
}

impl Simulate {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let mut run = self.run.read(context, self.h)?;
        run.fitted = self.kept.told(run.fitted, context);
        if let Some(intervals) = self.intervals {
            run.fitted = run.fitted.calibrate(&run.panel, intervals)?;
        }
        let options = SimulateOptions::new(self.n_paths)
            .seed(self.seed)
            .method(self.method)
            .quantiles(&self.quantiles)
            .future(run.future.as_ref())
            .h(run.h);
        let frame = run.fitted.simulate(&run.panel, &options)?;
        self.run.write(context, run, &frame, &format!("{} paths of ", self.n_paths))
    }
}
