//! `foretell cross-validate`: how good models are on the end of each series.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use foretell::evaluate::Metric;
use foretell::report::grouped;
use foretell::{Error, Interruption, Metrics, ModelSpec, Panel, ValidationOptions, usual_season};
use serde_json::json;

use crate::args::{CheckpointArgs, LevelArgs, steps};
use crate::context::Context;
use crate::failure::{Interrupted, Usage};
use crate::output::{Sink, print};
use crate::ranking::Ranking;
use crate::train_args::TrainArgs;

/// Score models on rolling forecasts of the end of each series
///
/// Models that need no training in steps, which are all but networks, are fitted anew on all that is before each forecast; networks
/// are trained once on what is before the first one (or anew on the way: --refit). Prints the errors of
/// each model beside those of two forecasts that need none: Naive repeats the last value, SeasonalNaive the last
/// season. The best comes first. With a directory of trained models as --model these are scored unchanged, without
/// any training.
///
/// The figures are those of `foretell evaluate` and of utilsforecast: the mean over the forecasts of each series and cutoff. MAE and
/// RMSE are in the units of the data. sMAPE is between 0 and 1. MASE is
/// MAE, divided by the MAE of the seasonal naive forecast within the history before the forecast: below 1 is
/// better than that. Forecasts of series that are constant before them, or not longer than a season, have no MASE. Below the
/// table stand the season, and how many windows and series are behind the figures.
///
/// Models that forecast quantiles are scored by their median, distributions by their mean; for these, mqloss is the
/// mean pinball loss of their quantiles, and cover-80 the share of the truths within the central interval of 80 %.
#[derive(Debug, Args)]
#[command(mut_arg("models", |models| models.required_unless_present("from")), after_help = "\
Examples:
  foretell cross-validate --data sales.csv --model NHITS,MLP --h 24 \\
    --input-size 96 --set scaler_type=standard --n-windows 10
  foretell cross-validate --data ETTh1.csv --wide --model NLinear --h 24 \\
    --input-size 96 --n-windows 10 --out forecasts.csv --json > metrics.json
  foretell cross-validate --data sales.csv --model NHITS --h 24 \\
    --input-size 96 \\
    --n-windows 10 --refit --intervals 20 --level 80 --checkpoint state
  foretell cross-validate --data sales.csv --model NHITS,MLP,SeasonalNaive \\
    --h 24 \\
    --input-size 96 --ensemble mean,weighted:5 --n-windows 10
  foretell cross-validate --data this-year.csv --model model --n-windows 10
  foretell cross-validate --data this-year.csv --model model --ahead 5 \\
    --quantiles 0.1,0.5,0.9 --n-windows 10

With --json one object is printed: n_series, n_windows (asked for, of each
series), step_size, h, season, metric (by which the models are sorted), refitted
(models that were fitted anew on the way), and metrics, an array of: model, mae,
rmse, smape, mase, the metric of --metric if it is none of these, scored_windows
(of all series, with a known truth), scored_series (behind mae, rmse and smape),
mase_series (behind mase), missing (rows that the model has no forecast of), and
for models that forecast quantiles mqloss and coverage ([{level, coverage}]);
and partial: null, or where Ctrl-C stopped training, of which the models and
windows until then are scored.")]
pub(crate) struct CrossValidate {
    #[command(flatten)]
    train: TrainArgs,
    /// Forecasts of each series
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = steps())]
    n_windows: usize,
    /// Steps of each forecast, where they are to be fewer or more than the models' own h; those beyond it are forecast from
    /// forecasts [default: h]
    #[arg(long, value_name = "N", value_parser = steps())]
    ahead: Option<usize>,
    /// Steps from one forecast to the next [default: those of a forecast]
    #[arg(long, value_name = "N", value_parser = steps())]
    step_size: Option<usize>,
    /// Train the models anew for each forecast, or for every N-th, on all that comes before it [default: those that need no
    /// training in steps, for each forecast]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", value_parser = steps())]
    refit: Option<usize>,
    /// Train all models once, on what is before the first forecast
    #[arg(long, conflicts_with = "refit")]
    no_refit: bool,
    /// The metric that the models are sorted by, one of those of `foretell evaluate`: mase, mae, rmse, mqloss, mape, ... [default: mase,
    /// which series of any size have the same part in; mae where no series has it]
    #[arg(long, value_name = "METRIC", value_parser = parse_metric)]
    metric: Option<Metric>,
    /// Score the models of --from unchanged, as --model DIR does. Errors on rows that they were trained on say little
    #[arg(long, conflicts_with_all = ["refit", "freeze"])]
    as_is: bool,
    #[command(flatten)]
    level: LevelArgs,
    /// Steps of a season, for MASE and SeasonalNaive [default: as usual for the frequency: 24 of h, 7 of D, 12 of
    /// MS, ...; 1 for times that are integers]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    /// File to write the forecasts to, those of Naive and SeasonalNaive included, beside the truth: CSV, compressed
    /// if it ends in .csv.gz, or Parquet if it ends in .parquet; `-` writes CSV to standard output, and the errors to
    /// standard error
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the errors as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

impl CrossValidate {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if self.train.intervals.is_some() && self.level.is_empty() {
            return Err(Usage("--intervals needs --level or --quantiles, as in --level 80".to_owned()).into());
        }
        let sink = self.out.as_deref().map(|path| Sink::open(context, path)).transpose()?;
        let as_they_are = self.train.in_directory()?;
        let as_is = self.as_is || as_they_are.is_some();
        let from = match as_they_are {
            Some(fitted) => Some(fitted),
            None => self.train.trained()?,
        };
        let from = from.as_ref();
        if self.as_is && from.is_none() {
            return Err(
                Usage("--as-is scores trained models; name their directory by --from".to_owned()).into()
            );
        }
        if as_is && self.refit.is_some() {
            let message =
                "--refit: a directory's models are scored unchanged; --from DIR trains them further";
            return Err(Usage(message.to_owned()).into());
        }
        if as_is {
            let which =
                if self.as_is { "with --as-is the models of --from" } else { "the models of --model" };
            self.train.refuse_training(which)?;
        }
        let decimal = self.train.decimal(from)?;
        let sink = sink.map(|sink| sink.decimal(decimal));
        let forecaster =
            self.checkpoint.of(context, self.train.forecaster(context, from, |h| self.baselines(h))?);
        let mut forecaster = if as_is { forecaster.untrained() } else { forecaster };
        let h = self.ahead.unwrap_or(forecaster.h());
        let step_size = self.step_size.unwrap_or(h);
        let options = ValidationOptions::new(self.n_windows, step_size)
            .refit(self.refit.unwrap_or(0))
            .refit_without_steps(!self.no_refit)
            .level(&self.level.levels)
            .quantiles(&self.level.quantiles)
            .h(h);
        let rows_needed = forecaster.rows_needed_to_validate(&options);
        let (refitted, trained_once) = forecaster.refitted(&options);
        let panel = self.train.read(context, from, &mut forecaster, rows_needed)?;
        context.catch_interrupts();
        let validation = match forecaster.cross_validate(&panel, &options) {
            Err(Error::NothingForecast { after }) => {
                return Err(Interrupted(self.interrupted(context, &after, "nothing was scored yet")).into());
            }
            validation => validation?,
        };
        context.fitted(&validation.fitted);
        let interruption = validation.fitted.interruption();

        let season = self.season.unwrap_or_else(|| usual_season(panel.freq()));
        let mut metrics = validation.metrics(&panel, season);
        let ranking = Ranking::of(&validation, &panel, season, self.metric)?;
        ranking.sort(&mut metrics);
        metrics.iter().for_each(|metrics| context.scored(metrics));
        let report = match self.json {
            true => {
                let report = json!({
                    "n_series": panel.n_series(), "n_windows": self.n_windows, "step_size": step_size, "h": h,
                    "season": season, "metric": ranking.name, "refitted": refitted, "metrics": ranking.to_json(&metrics), "partial": interruption.map(ToString::to_string),
                });
                format!("{report}\n")
            }
            false => {
                let partial = interruption.map(|at| format!("partial:        training stopped after {at}\n"));
                let notes = self.notes(&metrics, &panel, season) + &partial.unwrap_or_default();
                let refits = refits(&refitted, &trained_once, (self.n_windows, self.refit.unwrap_or(1)));
                let sorted = format!("sorted by:      {}{}\n", ranking.name, ranking.uncounted());
                format!("{}\n{sorted}{notes}{refits}", ranking.leaderboard(&metrics).render())
            }
        };
        let to_stdout = sink.as_ref().is_some_and(Sink::is_stdout);
        if let Some(sink) = sink {
            sink.write_or_keep(&validation.frame)?;
        }
        if interruption.is_none() {
            self.checkpoint.finish()?;
        }
        match to_stdout {
            true => io::stderr().write_all(report.as_bytes()).context("cannot write to standard error")?,
            false => {
                if let Some(path) = &self.out {
                    let what = format!("{} forecasts of {h} steps", validation.frame.n_rows() / h);
                    context.wrote(path, &what);
                }
                print(report)?;
            }
        }
        let scored = "what was forecast until then is scored and written, which is a part";
        let stopped =
            |at: &Interruption| Err(Interrupted(self.interrupted(context, &at.to_string(), scored)).into());
        interruption.map_or(Ok(()), stopped)
    }
}

impl CrossValidate {
    /// The message about an interrupted training: where it stopped, what is kept of it, and how to continue.
    fn interrupted(&self, context: &'static Context, after: &str, what: &str) -> String {
        let message = format!("{} stopped training after {after}; {what}", context.interrupts.cause());
        match &self.checkpoint.dir {
            Some(dir) => format!("{message}; {} holds the state: the same command resumes it", dir.display()),
            None => message,
        }
    }

    /// The baselines that the models are compared with.
    fn baselines(&self, h: usize) -> anyhow::Result<Vec<ModelSpec>> {
        let seasonal = ModelSpec::new("SeasonalNaive", h, 1)?.set("season_length", self.season)?;
        Ok(vec![ModelSpec::new("Naive", h, 1)?, seasonal])
    }

    /// Notes on the figures, which are the same for all models.
    fn notes(&self, all: &[Metrics], panel: &Panel, season: usize) -> String {
        let Metrics { scored_windows, scored_series, mase_series, .. } = all[0];
        let asked = self.n_windows * panel.n_series();
        let left_out = match scored_series - mase_series {
            0 => String::new(),
            count => {
                format!("; the history of {} is constant, or not longer than a season", grouped(count))
            }
        };
        let freq = panel.freq();
        let whence = match (self.season, season) {
            (Some(_), _) => String::new(),
            (None, 1) => format!(" (no other is usual for the frequency {freq}; --season sets one)"),
            (None, _) => format!(" (usual for the frequency {freq}; --season sets another)"),
        };
        let out_of = |count: usize, total: usize| format!("{} of {}", grouped(count), grouped(total));
        let missing = all.iter().filter(|metrics| metrics.missing > 0);
        let missing = missing.map(|metrics| format!("{} {}", metrics.model, grouped(metrics.missing)));
        let missing: Vec<String> = missing.collect();
        let missing = match missing.is_empty() {
            true => String::new(),
            false => format!(
                "rows missing:   {} (all models are scored on those that all have)\n",
                missing.join(", ")
            ),
        };
        format!(
            "{missing}windows scored: {}\nseries scored:  {}\nseries in MASE: {}{left_out}\nseason:         {season}{whence}\n",
            out_of(scored_windows, asked),
            out_of(scored_series, panel.n_series()),
            out_of(mase_series, panel.n_series()),
        )
    }
}

fn parse_metric(word: &str) -> Result<Metric, String> {
    Metric::parse(word).map_err(|error| error.to_string())
}

/// What was trained how often, as a note.
fn refits(refitted: &[String], once: &[String], (n_windows, every): (usize, usize)) -> String {
    let anew = match every {
        1 => "anew before each forecast".to_owned(),
        every => format!("anew before every {every} forecasts"),
    };
    let [refitted, once] = [refitted, once].map(|names| names.join(", "));
    match (refitted.is_empty(), once.is_empty()) {
        _ if n_windows == 1 => String::new(),
        (true, true) => String::new(),
        (false, true) => format!("trained:        {refitted} {anew}\n"),
        (true, false) => {
            format!("trained:        {once} once, before the first forecast (--refit: before each)\n")
        }
        (false, false) => format!(
            "trained:        {refitted} {anew}, {once} once before the first (--refit: before each)\n"
        ),
    }
}
