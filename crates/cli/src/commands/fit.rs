//! `foretell fit`: from a file of series to a model directory.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::{Fitted, ModelDirectory};

use crate::args::{CheckpointArgs, TrainArgs, directory};
use crate::progress::Log;
use crate::saving::{save_or_keep, take};
use crate::{Interrupted, interrupt};

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

Ctrl-C (or SIGTERM) stops after the step and saves the models as they are; the exit
code is 130. Models that --overwrite would have replaced stay, and DIR.interrupted
holds the others.")]
pub(crate) struct Fit {
    #[command(flatten)]
    train: TrainArgs,
    /// Directory to save the models in
    #[arg(long, value_name = "DIR", value_parser = directory())]
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
        let directory = take(&self.out, self.overwrite)?;
        let forecaster = self.checkpoint.of(self.train.forecaster()?);
        let panel = self.train.read(&forecaster, forecaster.rows_needed())?;
        let names = forecaster.column_names();
        interrupt::catch(self.log())?;
        let fitted = forecaster.fit(&panel)?;
        self.log().fitted(&fitted);
        let directory = match fitted.interrupted() && directory.is_occupied() {
            true => ModelDirectory::at(beside(&self.out), true),
            false => Ok(directory),
        };
        let saved = save_or_keep(&fitted, directory)?;
        self.log().wrote(&saved, &format!("the models {}", fitted.column_names().join(", ")));
        if let Some(message) = self.interruption(&fitted, &names, &saved) {
            return Err(Interrupted(message).into());
        }
        self.checkpoint.finish()
    }

    /// What is not trained of the models of these names, and how to go on, if anything is not.
    fn interruption(&self, fitted: &Fitted, names: &[String], saved: &Path) -> Option<String> {
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
        message += &format!("; {} holds the models as they are", saved.display());
        if saved != self.out {
            message += &format!(", {} those of before", self.out.display());
        }
        if let Some(dir) = &self.checkpoint.dir {
            let state = dir.display();
            message += &format!("; {state} holds the state: the same command with --overwrite goes on");
        }
        Some(message)
    }
}

/// The directory for models that were not trained to their end, where the path holds others.
fn beside(out: &Path) -> PathBuf {
    // `.` and `..` are no names.
    let named = out.file_name().map(|_| out.to_owned());
    let named = named.or_else(|| out.canonicalize().ok()).unwrap_or_default();
    let mut name = named.file_name().unwrap_or_default().to_owned();
    name.push(".interrupted");
    named.with_file_name(name)
}
