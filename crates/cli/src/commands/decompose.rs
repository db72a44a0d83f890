//! `foretell decompose`: the parts of which saved models make their forecasts.

use clap::Args;
use foretell::DecomposeOptions;

use crate::args::steps;
use crate::context::Context;
use crate::saved_run::SavedRunArgs;

/// Take forecasts of saved models apart
///
/// Writes a row per series and step, and a column per part, which add up to the forecast: of NBEATS, NBEATSx and NHITS the level and what
/// each block adds, of DLinear, Autoformer and FEDformer trend and seasonality, of FLAIR level and season, of exponential smoothing and Theta level,
/// trend and season, of MSTL each season, of Prophet the trend, seasonalities, holidays and columns. A part that is zero everywhere has no column. Other models have no parts, and no columns, nor do networks with the loss of a distribution.
/// Of `foretell forecast` the parts are the seasonal naive's forecast and what each model adds to it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell decompose --model model --data sales.csv --out parts.csv
  foretell decompose --model model --data sales.csv --futr holidays.csv --h 48 \\
    | head")]
pub(crate) struct Decompose {
    #[command(flatten)]
    run: SavedRunArgs,
    /// Steps to take apart; networks forecast those beyond their own horizon from forecasts [default: the models' own]
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
}

impl Decompose {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let run = self.run.read(context, self.h)?;
        let options = DecomposeOptions::new().future(run.future.as_ref()).h(run.h);
        let frame = run.fitted.decompose(&run.panel, &options)?;
        self.run.write(context, run, &frame, "")
    }
}
