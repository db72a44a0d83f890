//! `foretell fit`: from a file of series to a model directory.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::Usage;
use crate::args::TrainArgs;
use crate::progress::Log;

/// Train models on a file of series and save them
///
/// The directory can be read by `foretell predict`, and by neuralforecast's `NeuralForecast.load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 --out model
  foretell fit --data ETTh1.csv --wide --model NHITS,NLinear --h 24 \\
    --input-size 96 --val-size 48 --set scaler_type=standard \\
    --set 'NHITS.loss={\"MQLoss\": {\"level\": [80]}}' --out model
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --intervals 20:conformal_error --out model   # for predict --level 80")]
pub(crate) struct Fit {
    #[command(flatten)]
    train: TrainArgs,
    /// Directory to save the models in
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the model directory at --out
    #[arg(long)]
    overwrite: bool,
}

impl Fit {
    pub(crate) fn log(&self) -> Log {
        self.train.log.log
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.check_out()?;
        let forecaster = self.train.forecaster()?;
        let panel = self.train.read(&forecaster)?;
        let fitted = forecaster.fit(&panel)?;
        self.log().fitted(&fitted);
        fitted.save(&self.out, self.overwrite)?;
        self.log().wrote(&self.out, &format!("the models {}", fitted.column_names().join(", ")));
        Ok(())
    }

    /// Nobody wants to be told after hours of training that there was no place for the result.
    fn check_out(&self) -> anyhow::Result<()> {
        let out = self.out.display();
        if self.out.exists() && !self.out.is_dir() {
            return Err(Usage(format!("--out {out} is a file; name a directory")).into());
        }
        let occupied = fs::read_dir(&self.out).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !self.overwrite {
            return Err(Usage(format!(
                "--out {out} exists and is not empty; name another directory, or give --overwrite to \
                 replace the models in it"
            ))
            .into());
        }
        Ok(())
    }
}
