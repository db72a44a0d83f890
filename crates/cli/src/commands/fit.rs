//! `foretell fit`: from a file of series to a model directory.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::{ColumnNames, Fitted, Interruption, ModelDirectory, ModelSpec};
use foretell_auto::TrainedAuto;

use crate::args::{CheckpointArgs, ModelOutArgs};
use crate::commands::forecast;
use crate::context::Context;
use crate::data_args::check_not_stdin;
use crate::failure::Interrupted;
use crate::fallback_args::FallbackArgs;
use crate::saving::save_or_keep;
use crate::train_args::TrainArgs;

/// Train models on a file of series and save them
///
/// The directory can be read by `foretell predict`, and by neuralforecast's `NeuralForecast.load`.
#[derive(Debug, Args)]
#[command(mut_arg("models", |models| models.required_unless_present("from")), after_help = "\
Examples:
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 --out model
  foretell fit --data ETTh1.csv --wide --model NHITS,NLinear --h 24 \\
    --input-size 96 --val-size 48 --set scaler_type=standard \\
    --set 'NHITS.loss={\"MQLoss\": {\"level\": [80]}}' --out model
  foretell fit --data 2023.csv --val-data 2024.csv --model NHITS --h 24 \\
    --input-size 96 --set early_stop_patience_steps=5 --out model
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --futr-exog price,holiday --static shops.csv --cat-exog holiday --out model
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --out model \\
    --features lag:7,roll_mean:28,weekday,fourier:yearly:3,holidays:DE
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --intervals 20:conformal_error --out model   # for predict --level 80
  foretell fit --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --out model \\
    --set optimizer=AdamW --set 'optimizer_kwargs={\"weight_decay\": 0.1}' \\
    --set lr_scheduler=CosineWarmup --checkpoint state
  foretell fit --data sales.csv --model NHITS,NHITS --h 24 --input-size 96 \\
    --set NHITS.1.input_size=192 --out model   # columns NHITS and NHITS1
  foretell fit --data sales.csv --model LSTM --h 24 --input-size 96 \\
    --out model \\
    --precision bf16   # faster where the machine multiplies such numbers
  foretell fit --data sales.csv --model SeasonalNaive --h 24 --out model
  foretell fit --data sales.csv --aggregate sum --resample W-SUN \\
    --model SeasonalNaive --h 8 --out model   # transactions to weeks
  foretell fit --data load.csv --time-cols date,hour_ending --target-col load \\
    --model SeasonalNaive --h 24 --out model
  foretell fit --data stock.csv --transposed --model SeasonalNaive --h 12 \\
    --out model
  foretell fit --data export.csv --wide --encoding windows-1252 --skip-rows 2 \\
    --skip-matching Total --model SeasonalNaive --h 24 --out model
  # their weighted mean, too
  foretell fit --data sales.csv --model NHITS,MLP,SeasonalNaive --h 24 \\
    --input-size 96 --ensemble weighted:5 --out model
  # trains it further
  foretell fit --from model --data new.csv --set max_steps=100 \\
    --set learning_rate=1e-4 --freeze blocks.0 --out model-2
  foretell fit --data sales.csv --levels state,city --hierarchy shops.csv \\
    --reconciliation MinTraceOLS --model NHITS --h 14 --input-size 56 \\
    --out model \\
    --set 'NHITS.loss={\"DistributionLoss\": {\"distribution\": \"Normal\"}}'   # HINT
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
Two models of a name are tables [[model]] with name = \"NHITS\" (and an alias)
each.

Ctrl-C (or SIGTERM) stops after the current step and saves what is trained; the
exit code is 130. Models that --overwrite would have replaced stay, and
DIR.interrupted holds the others.")]
pub(crate) struct Fit {
    #[command(flatten)]
    train: TrainArgs,
    #[command(flatten)]
    out: ModelOutArgs,
    /// File with rows to watch the loss on, in place of the last --val-size rows: of the same series, as many rows of each, with
    /// the columns that the models read; their times may be any
    #[arg(long, value_name = "FILE", conflicts_with = "val_size")]
    val_data: Option<PathBuf>,
    /// Save the optimiser of each network, too: a fit --from these models continues with it
    #[arg(long)]
    keep_optimizer: bool,
    /// End with an error, in place of a warning, if a series would be forecast in another way than a model's hyper-parameters say
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    fallbacks: FallbackArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

impl Fit {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        check_not_stdin("--val-data", &self.val_data)?;
        // What this command saved when it was interrupted, it may replace when it continues.
        let resumes = self.checkpoint.resumes(&self.out.path);
        let directory = (!context.processes.is_follower()).then(|| self.out.take(resumes)).transpose()?;
        let from = self.train.trained()?;
        let from = from.as_ref();
        let specs = self.train.specs(context, from, false)?;
        self.warn_of_unread(context, &specs);
        let forecaster = self.train.forecaster_of(context, specs, from)?;
        let mut forecaster = self.checkpoint.of(context, forecaster);
        forecaster = forecaster.keep_optimizer(self.keep_optimizer);
        if let Some(world) = context.processes.world() {
            forecaster = forecaster.reduction(world.clone());
        }
        let rows_needed = forecaster.rows_needed();
        let panel = self.train.read(context, from, &mut forecaster, rows_needed)?;
        if let Some(path) = &self.val_data {
            let validation = self.train.read_validation(context, path, from, &forecaster, &panel)?;
            forecaster = forecaster.val_data(&validation);
        }
        if self.strict {
            forecaster.check_fallbacks(&panel)?;
        }
        let columns =
            self.train.data.columns(from.map_or_else(ColumnNames::default, |from| from.columns().clone()));
        let fallbacks = self.fallbacks.open(context)?;
        context.catch_interrupts();
        let fitted = forecaster.fit(&panel)?;
        let Some(directory) = directory else { return self.of_follower(&fitted) };
        context.fitted(&fitted);
        // A form that does not suit a series is known after the fit.
        if let Some(fallbacks) = fallbacks {
            fallbacks.write(&columns.id, &fitted.fallbacks(&panel))?;
        }
        if let Some(board) = TrainedAuto::board_of(&fitted) {
            forecast::tell(context, &board);
        }
        let directory = match fitted.interrupted() && directory.is_occupied() && !resumes {
            true => ModelDirectory::at(beside(&self.out.path), true),
            false => Ok(directory),
        };
        if !fitted.interrupted() {
            self.checkpoint.saves_at(&self.out.path, &fitted)?;
        }
        let saved = save_or_keep(&fitted, directory)?;
        context.wrote(&saved, &format!("the models {}", fitted.column_names().join(", ")));
        match fitted.interruption() {
            Some(interruption) => Err(Interrupted(self.interrupted(context, interruption, &saved)).into()),
            None => self.checkpoint.finish(),
        }
    }

    /// The end of a process whose models another one saves.
    fn of_follower(&self, fitted: &Fitted) -> anyhow::Result<()> {
        match fitted.interruption() {
            Some(interruption) => Err(Interrupted(interruption.to_string()).into()),
            None => Ok(()),
        }
    }

    /// Tells that rows to watch the loss on are read in vain: only networks are trained in steps that a loss is watched of.
    fn warn_of_unread(&self, context: &'static Context, specs: &[ModelSpec]) {
        let Some(path) = &self.val_data else { return };
        if specs.iter().all(|spec| spec.as_ref().needs().max_steps.is_none()) {
            let models: Vec<&str> = specs.iter().map(ModelSpec::alias).collect();
            context.warning(&format!(
                "--val-data {}: only the training of networks is watched on such rows, and none of the models is one: {}; leave it out",
                path.display(),
                models.join(", ")
            ));
        }
    }

    /// The message about an interrupted training: what is not trained, where the models are, and how to continue.
    fn interrupted(&self, context: &'static Context, interruption: &Interruption, saved: &Path) -> String {
        let mut message = format!(
            "{} stopped training after {interruption}; {} holds the partly trained models",
            context.interrupts.cause(),
            saved.display()
        );
        if saved != self.out.path {
            message += &format!(", {} those of before", self.out.path.display());
        }
        if let Some(dir) = &self.checkpoint.dir {
            message += &format!("; {} holds the state: the same command resumes it", dir.display());
        }
        message
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
