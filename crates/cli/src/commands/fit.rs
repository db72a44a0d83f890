//! `foretell fit`: from a file of series to a model directory.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use foretell::Fitted;

use crate::args::{CheckpointArgs, TrainArgs};
use crate::progress::Log;
use crate::{Interrupted, Usage, interrupt};

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
    --futr-exog price,holiday --static shops.csv --cat-exog holiday --out model
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --intervals 20:conformal_error --out model   # for predict --level 80
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 --out model \\
    --set optimizer=AdamW --set 'optimizer_kwargs={\"weight_decay\": 0.1}' \\
    --set lr_scheduler=CosineWarmup --checkpoint state
  foretell fit --data sales.csv --model NHITS,NHITS --h 24 --input-size 96 \\
    --set NHITS.1.input_size=192 --out model   # columns NHITS and NHITS1
  foretell fit --config run.toml --seed 7

run.toml holds flags by their names, and hyper-parameters in tables:
  data = \"sales.csv\"          # paths are relative to the file
  h = 24
  input-size = 96
  hist-exog = [\"price\"]
  [set]                       # for all models, as --set key=...
  scaler_type = \"standard\"
  [model.NHITS]               # as --model NHITS --set NHITS.key=...
  max_steps = 500
  loss = { MQLoss = { level = [80, 95] } }
  [model.NLinear]
  [fit]                       # flags of one command; the others pass them over
  out = \"model\"
  [predict]
  model = \"model\"
Two models of a name are tables [[model]] with name = \"NHITS\" (and an alias) each.

Ctrl-C stops after the step and saves the models as they are; the exit code is 130.")]
pub(crate) struct Fit {
    #[command(flatten)]
    train: TrainArgs,
    /// Directory to save the models in
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the model directory at --out
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

impl Fit {
    pub(crate) fn log(&self) -> Log {
        self.train.log.log
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.check_out()?;
        let forecaster = self.checkpoint.of(self.train.forecaster()?);
        let panel = self.train.read(&forecaster, forecaster.rows_needed())?;
        let names = forecaster.column_names();
        interrupt::catch(self.log())?;
        let fitted = forecaster.fit(&panel)?;
        self.log().fitted(&fitted);
        fitted.save(&self.out, self.overwrite)?;
        self.log().wrote(&self.out, &format!("the models {}", fitted.column_names().join(", ")));
        if let Some(message) = self.interruption(&fitted, &names) {
            return Err(Interrupted(message).into());
        }
        self.checkpoint.finish()
    }

    /// What is not trained of the models of these names, and how to go on, if anything is not.
    fn interruption(&self, fitted: &Fitted, names: &[String]) -> Option<String> {
        let last = fitted.models().len().checked_sub(1).filter(|_| fitted.interrupted())?;
        let rest = &names[last + 1..];
        let cut_short = fitted.models().iter().zip(names).enumerate().filter_map(|(i, (model, name))| {
            let outcome = model.outcome().filter(|outcome| outcome.interrupted || i == last)?;
            let all = &model.spec().hyper_parameters()["max_steps"];
            Some(format!("step {} of {all} of {name}", outcome.steps))
        });
        let cut_short: Vec<String> = cut_short.collect();
        let mut message = format!("Ctrl-C stopped training after {}", cut_short.join(" and "));
        if !rest.is_empty() {
            message += &format!(", before {}", rest.join(", "));
        }
        message += &format!("; {} holds the models as they are", self.out.display());
        if let Some(dir) = &self.checkpoint.dir {
            let state = dir.display();
            message += &format!("; {state} holds the state: the same command with --overwrite goes on");
        }
        Some(message)
    }

    /// Nobody wants to be told after hours of training that there was no place for the result.
    fn check_out(&self) -> anyhow::Result<()> {
        let out = self.out.display();
        if self.out.exists() && !self.out.is_dir() {
            return Err(Usage(format!("--out {out} is a file; name a directory")).into());
        }
        if self.checkpoint.dir.as_ref() == Some(&self.out) {
            let message =
                format!("--checkpoint {out}: the state of training needs another directory than --out");
            return Err(Usage(message).into());
        }
        let occupied = fs::read_dir(&self.out).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !self.overwrite {
            return Err(Usage(format!(
                "--out {out} exists and is not empty; name another directory, or give --overwrite to \
                 replace the models in it"
            ))
            .into());
        }
        Ok(Fitted::check_save(&self.out, self.overwrite)?)
    }
}
