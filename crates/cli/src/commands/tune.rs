//! `foretell tune`: a search for hyper-parameters, and the training of the best.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use foretell::{Error, Forecaster, ModelSpec, Panel};
use foretell_auto::{Auto, TrainedAuto};
use foretell_tuning::{Halving, KeptScore, Sampler, Search, SearchRange, SearchSpace, SearchTrial, Tuned};
use serde_json::json;

use crate::args::{CheckpointArgs, directory, halving, steps, time};
use crate::commands::forecast;
use crate::context::Context;
use crate::failure::{Interrupted, Usage};
use crate::output::{Sink, print};
use crate::saving::{save_or_keep, take};
use crate::score_rows::digits;
use crate::setting::{Key, Setting, any_setting};
use crate::short_series::without_short;
use crate::table::AlignedTable;
use crate::train_args::{AskedHierarchy, TrainArgs};
use crate::tuned_models::{combined, combined_otherwise, suiting_models, told, without_intervals};

/// Search for the best hyper-parameters, and train with them
///
/// Without --model it searches the models that suit the data, as `foretell forecast` does (networks are among them with --max-time), and
/// saves the best five trials as one forecast (--combine). Each trial is a set of hyper-parameters, trained on what is before the last
/// windows of each series and scored on these. The spaces are those of neuralforecast's Auto models, for classical models and Prophet our
/// own; --space and the table [space] of --config name others. The last horizon of each series takes no part in the search: the best model
/// is scored on it in the end, and trained on all data. What --set, --input-size and --seed say is not searched. The first trials have the
/// default hyper-parameters. Hyper-parameters that cannot work with the horizon or the series are drawn again. The number of threads, on which
/// trials run side by side, changes nothing in the result.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell tune --data sales.csv --h 14 --n-windows 3 --out best
  foretell tune --data sales.csv --model NHITS,LSTM --h 14 --trials 50 \\
    --out best
  foretell tune --data sales.csv --model NHITS --h 14 --n-windows 5 \\
    --metric mase \\
    --trials-out trials.csv --checkpoint state --out best
  foretell tune --data sales.csv --model NHITS,MLP --h 14 --halving \\
    --max-time 30m --out best
  foretell tune --data sales.csv --model MLP --h 14 --sampler grid \\
    --set max_steps=300 \\
    --space 'hidden_size=[64,256]' --space learning_rate=loguniform:1e-4:1e-2 \\
    --only-space --out best

As a table of --config run.toml:
  [tune.space]
  learning_rate = \"loguniform:1e-4:1e-2\"
  input_size = [\"2h\", \"7h\"]
  [tune.space.NHITS]
  n_pool_kernel_size = [[2, 2, 1], [8, 4, 1]]

With --json one object is printed: metric, best (a trial, or null), baseline
(the score of SeasonalNaive in the same windows, or null), kept (score and
baseline on the last horizon, which no trial saw, or null where most series are
too short), combined (the numbers of the trials that --out combines, or null where
it has the best alone), fewer_windows (the sentence on windows that short
series do not have, or null) and trials, an array of: trial, model, space, hyper_parameters, scores
(one for each rung that was reached, null where it failed), seconds, failure.")]
pub(crate) struct Tune {
    #[command(flatten)]
    train: TrainArgs,
    /// Sets of hyper-parameters to try [default: 10, or two of each model if these are more; of a grid all]
    #[arg(long, value_name = "N", value_parser = steps())]
    trials: Option<usize>,
    /// Try no further ones after this time, as 90s, 30m or 2h; trainings that it ends do not count
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Duration>,
    /// How hyper-parameters are proposed
    #[arg(long, value_enum, default_value_t = Proposals::Tpe)]
    sampler: Proposals,
    /// Values of a range without steps in a grid
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = steps())]
    grid_points: usize,
    /// Train all trials for a share of their max_steps, and only the best of them for more: those of the RUNGS shares that are among
    /// the best 1 / ETA advance to the next, ETA times larger [ETA:RUNGS without a value: 3:3]
    #[arg(long, value_name = "ETA[:RUNGS]", num_args = 0..=1, default_missing_value = "3:3", value_parser = halving)]
    halving: Option<Halving>,
    /// Values of a hyper-parameter to search, with NAME.key for the models of a name: a list, as [64,128] or [1,"2h"] with h for the
    /// horizon, or int:1:3, uniform:0:0.5, loguniform:1e-4:1e-1, quniform:500:1500:100
    #[arg(long = "space", value_name = "key=VALUES", value_parser = any_setting)]
    spaces: Vec<Setting>,
    /// Search nothing but what --space names, and do not begin with the models themselves
    #[arg(long, requires = "spaces")]
    only_space: bool,
    /// Windows of each series that a trial is scored on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = steps())]
    n_windows: usize,
    /// Steps from one window to the next [default: h]
    #[arg(long, value_name = "N", value_parser = steps())]
    step_size: Option<usize>,
    /// Score trials on all windows of the last N steps of each series, in place of --n-windows and --step-size
    #[arg(long, value_name = "N", value_parser = steps(), conflicts_with_all = ["n_windows", "step_size"])]
    tail: Option<usize>,
    /// Train the models anew before each window, or before every N-th, on all that comes before it [default: networks once, before the
    /// first, and others before each]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", value_parser = steps())]
    refit: Option<usize>,
    /// The error that is to be small: mae, mse, rmse, mape, smape, mase, rmsse, nd, mqloss, scaled_crps, ...
    #[arg(long, value_name = "METRIC", default_value = "mae")]
    metric: String,
    /// Steps of a season, for scaled metrics [default: as usual for the frequency]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    /// Trials that are proposed together, and do not learn from each other: at most this many run side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = steps())]
    round: usize,
    /// Seed of the proposals
    #[arg(long, value_name = "N", default_value_t = 0)]
    search_seed: u64,
    /// File to write the trials to: CSV, or Parquet if it ends in .parquet
    #[arg(long, value_name = "FILE")]
    trials_out: Option<PathBuf>,
    /// Save the best N trials as one forecast with intervals, the model Auto: their weights are chosen on windows as `foretell forecast`
    /// chooses them, and scored on the last one [default: 1, the best alone; without --model 5]
    #[arg(long, value_name = "N", value_parser = steps())]
    combine: Option<usize>,
    /// Directory to save the best model in, trained on all data
    #[arg(long, value_name = "DIR", value_parser = directory())]
    out: Option<PathBuf>,
    /// Replace the models in --out
    #[arg(long, requires = "out")]
    overwrite: bool,
    /// Print the trials as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Proposals {
    /// Near the best so far: tree-structured Parzen estimators (Bergstra et al. 2011), after ten random ones
    Tpe,
    /// At random
    Random,
    /// All combinations, in an order that is spread over them
    Grid,
}

/// The model that needs no search, with which trials are compared.
const BASELINE: &str = "SeasonalNaive";

impl Tune {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if self.train.trained()?.is_some() {
            return Err(Usage("--from: a search trains anew; name the models by --model".to_owned()).into());
        }
        if !self.train.ensembles.is_empty() {
            let message = "--ensemble: a search combines its best trials by --combine N, with weights that windows choose";
            return Err(Usage(message.to_owned()).into());
        }
        let sink = self.trials_out.as_deref().map(|path| Sink::open(context, path)).transpose()?;
        // What this command saved when it was interrupted in its last training, it may replace when it continues.
        let replaces = |out: &Path| self.overwrite || self.checkpoint.resumes(out);
        let directory = self.out.as_deref().map(|out| take(out, replaces(out))).transpose()?;
        let hierarchy = self.train.hierarchy(None)?;
        let (specs, rows) = match self.train.names_models() {
            true => (self.train.specs(context, None, true)?, None),
            false => {
                let (specs, rows) = self.suiting(context, hierarchy.as_ref())?;
                (specs, Some(rows))
            }
        };
        let spaces = self.search_spaces(&specs)?;
        let h = specs[0].h();
        let (n_windows, step_size) = self.windows(h)?;
        let mut forecaster = self.train.configured(Forecaster::new(specs)?, None, hierarchy.as_ref())?;
        let options = foretell::ValidationOptions::new(n_windows, step_size);
        let rows_needed = forecaster.rows_needed_to_validate(&options);
        // Which series are too short the search knows, which may keep a horizon beside its windows.
        let panel = match rows {
            Some(rows) => self.train.ready(context, rows, &mut forecaster, 0)?,
            None => self.train.read(context, None, &mut forecaster, 0)?,
        };
        context.catch_interrupts();

        let search = self.search(context, spaces, (n_windows, step_size), hierarchy)?;
        let panel = match self.train.drop_short {
            true => {
                let kept = search.kept_rows(&panel.without_shorter_than(rows_needed));
                without_short(
                    context,
                    panel,
                    rows_needed + kept,
                    "lower input_size or the steps that are held out",
                )?
            }
            false => panel,
        };
        if let Some(warning) = search.fewer_windows(&panel) {
            context.warned(&warning);
        }
        let found = search.run(&panel)?;
        if let (Some(sink), Some(path)) = (sink, &self.trials_out) {
            sink.write_cells(&found.table())?;
            context.wrote(path, &format!("{} trials", found.trials.len()));
        }
        let combined = combined(&found, self.combined(), &self.metric, self.season);
        let auto = combined.as_ref().map(|(auto, _)| auto);
        if let Some(text) = combined_otherwise(self.combine, &self.metric, auto) {
            context.report(&text, &json!({ "event": "combined_otherwise", "reason": text }));
        }
        self.print(&found, combined.as_ref().map(|(_, trials)| &trials[..]))?;
        if found.interrupted {
            return Err(Interrupted(self.interrupted(context, &found)).into());
        }
        let (Some(directory), Some(best)) = (directory, found.best_spec()) else {
            return self.finish(&found);
        };
        let combines = combined.is_some();
        let (spec, what): (ModelSpec, String) = match combined {
            Some((auto, trials)) => {
                let numbers: Vec<String> = trials.iter().map(ToString::to_string).collect();
                (
                    auto.stop_if(move || context.interrupts.asked()).into(),
                    format!("the trials {} combined", numbers.join(", ")),
                )
            }
            None => (best.clone(), "the best model".to_owned()),
        };
        if let Some(advice) = without_intervals(&spec).filter(|_| self.train.intervals.is_none()) {
            context.report(&advice, &json!({ "event": "no_intervals", "model": spec.alias() }));
        }
        let forecaster = self.train.forecaster_of(context, vec![spec], None)?;
        // The trials of a search that continues later stay in its directory, where no other training belongs.
        let forecaster = if found.complete { self.checkpoint.of(context, forecaster) } else { forecaster };
        let fitted = forecaster.fit(&panel)?;
        // What is combined until then would pass for what the trials give.
        if combines && context.interrupts.asked() {
            return Err(Interrupted(self.uncombined(context, &what)).into());
        }
        context.fitted(&fitted);
        if let Some(board) = TrainedAuto::board_of(&fitted) {
            forecast::tell(context, &board);
        }
        if found.complete && !fitted.interrupted() {
            self.checkpoint.saves_at(directory.path(), &fitted)?;
        }
        let saved = save_or_keep(&fitted, Ok(directory))?;
        context.wrote(&saved, &format!("{what}, {}", fitted.column_names().join(", ")));
        match fitted.interruption() {
            Some(at) => {
                let saved = saved.display();
                let mut message = format!(
                    "{} stopped the training of the best model after {at}; {saved} holds it as it is",
                    context.interrupts.cause()
                );
                if let Some(dir) = self.checkpoint.dir.as_ref().filter(|_| found.complete) {
                    message += &format!("; {} holds the state: the same command resumes it", dir.display());
                }
                Err(Interrupted(message).into())
            }
            None => self.finish(&found),
        }
    }

    /// Removes the state of a search that is done.
    fn finish(&self, found: &Tuned) -> anyhow::Result<()> {
        if found.complete { self.checkpoint.finish() } else { Ok(()) }
    }

    fn search<'a>(
        &'a self,
        context: &'static Context,
        spaces: Vec<SearchSpace>,
        (n_windows, step_size): (usize, usize),
        hierarchy: Option<AskedHierarchy>,
    ) -> anyhow::Result<Search<'a>> {
        let sampler = match self.sampler {
            Proposals::Tpe => Sampler::Tpe,
            Proposals::Random => Sampler::Random,
            Proposals::Grid => Sampler::Grid { points: self.grid_points },
        };
        let usual = match self.sampler {
            Proposals::Grid => usize::MAX,
            Proposals::Tpe | Proposals::Random => (2 * spaces.len()).max(10),
        };
        let metric = self.metric.clone();
        // Errors of the command line were told when the models were configured before.
        let configure = move |forecaster| {
            self.train.configured(forecaster, None, hierarchy.as_ref()).map_err(|error| {
                match error.downcast() {
                    Ok(error) => error,
                    Err(other) => Error::Usage(foretell::UsageError::Estimator(other.into())),
                }
            })
        };
        let mut search = Search::new(spaces)
            .trials(self.trials.unwrap_or(usual))
            .begin_as_given(!self.only_space)
            .sampler(sampler)
            .round(self.round)
            .seed(self.search_seed)
            .n_windows(n_windows, step_size)
            .refit(self.refit.unwrap_or(0))
            .metric(&self.metric)?
            .threads(self.train.threads)
            .keep_window(true)
            .each(configure)
            .interrupt_if(move || context.interrupts.asked())
            .on_trial(move |progress| context.tried(&metric, progress));
        if let Some(season) = self.season {
            search = search.season(season);
        }
        if let Some(halving) = self.halving {
            search = search.halving(halving);
        }
        if let Some(time) = self.max_time {
            search = search.time(time);
        }
        if let Some(dir) = &self.checkpoint.dir {
            search = search.checkpoint_to(dir);
        }
        Ok(search)
    }

    /// The windows of each series that trials are scored on, and the steps between them.
    fn windows(&self, h: usize) -> anyhow::Result<(usize, usize)> {
        match self.tail {
            Some(tail) if tail < h => {
                Err(Usage(format!("--tail {tail}: a window has h = {h} steps; name at least {h}")).into())
            }
            Some(tail) => Ok((tail - h + 1, 1)),
            None => Ok((self.n_windows, self.step_size.unwrap_or(h))),
        }
    }

    /// How many of the best trials are saved as one forecast.
    fn combined(&self) -> usize {
        self.combine.unwrap_or(if self.train.names_models() { 1 } else { 5 })
    }

    /// The models that suit the data, and the data with all columns that models are to read.
    fn suiting(
        &self,
        context: &'static Context,
        hierarchy: Option<&AskedHierarchy>,
    ) -> anyhow::Result<(Vec<ModelSpec>, Panel)> {
        let reader = self.train.reader(|h| Auto::new(h).into())?;
        let sizes = (reader.h(), reader.as_ref().columns_read().futr.len());
        let forecaster = self.train.configured(Forecaster::new([reader])?, None, hierarchy)?;
        let rows = self.train.read_by(context, &forecaster)?;
        let specs = suiting_models(&rows, sizes, self.season, self.max_time.is_some(), context);
        Ok((self.train.settle(context, specs)?, rows))
    }

    /// The models with what is searched of each.
    fn search_spaces(&self, specs: &[ModelSpec]) -> anyhow::Result<Vec<SearchSpace>> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut unused: Vec<&Setting> = self.spaces.iter().collect();
        let mut spaces = Vec::with_capacity(specs.len());
        for spec in specs {
            let number = *numbers.entry(spec.name()).and_modify(|number| *number += 1).or_default();
            let mut space = SearchSpace::new(spec.clone());
            if self.only_space {
                space = space.fix_all();
            }
            if !self.train.names_models() {
                // The seasons are those that were found.
                space = space.fix("season_length");
            }
            for name in self.train.set_by_user(spec.name(), number) {
                space = space.fix(&name);
            }
            let mut own: Vec<&Setting> =
                self.spaces.iter().filter(|setting| setting.key.is_for(spec.name(), number)).collect();
            own.sort_by_key(|setting| setting.key.rank());
            for Setting { key, value } in own {
                // What is searched of all models is searched of those that have it.
                if key.model.is_none() && !spec.hyper_parameters().contains_key(&key.name) {
                    continue;
                }
                unused.retain(|setting| setting.key != *key);
                let range = SearchRange::from_json(value.clone());
                let searched = range.and_then(|range| space.search(&key.name, range));
                space =
                    searched.map_err(|error| anyhow::Error::new(error).context(format!("--space {key}")))?;
            }
            spaces.push(space);
        }
        match unused.first() {
            Some(Setting { key: Key { model: Some(model), .. }, .. }) => {
                Err(Usage(format!("--space: there is no {model} among the models that are searched")).into())
            }
            Some(Setting { key, .. }) => {
                Err(Usage(format!("--space {key}: none of the models has such a hyper-parameter")).into())
            }
            None => Ok(spaces),
        }
    }

    fn print(&self, found: &Tuned, combined: Option<&[usize]>) -> anyhow::Result<()> {
        if self.json {
            let baseline = found.baseline.map(|score| json!({ "model": BASELINE, "score": score }));
            let kept = found.kept.map(|kept| json!({ "score": kept.score, "baseline": kept.baseline }));
            let fewer = found.fewer_windows.as_ref().map(ToString::to_string);
            let report = json!({
                "metric": self.metric, "best": found.best(), "baseline": baseline, "kept": kept, "combined": combined,
                "fewer_windows": fewer, "trials": found.trials,
            });
            return print(format!("{report}\n"));
        }
        const SHOWN: usize = 10;
        let mut order: Vec<&SearchTrial> = found.trials.iter().collect();
        // As the search ranks them: those that failed last, those of larger budgets first.
        let rank = |trial: &SearchTrial| {
            (
                trial.score().is_none(),
                std::cmp::Reverse(trial.scores.len()),
                trial.score().unwrap_or(f64::NAN),
            )
        };
        order.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
        });
        order.truncate(SHOWN);
        // The number of a trial, its model, its score, and its settings.
        let row = |trial: &&SearchTrial| {
            (trial.trial.to_string(), trial.model.clone(), trial.score().unwrap_or(f64::NAN), told(trial))
        };
        let mut rows: Vec<_> = order.iter().map(row).collect();
        let baseline =
            found.baseline.map(|score| ("-".to_owned(), BASELINE.to_owned(), score, String::new()));
        rows.extend(baseline);
        let table = AlignedTable::new()
            .text("trial", rows.iter().map(|row| row.0.clone()))
            .text("model", rows.iter().map(|row| row.1.clone()))
            .numbers(&*self.metric, rows.iter().map(|row| row.2))
            .text("hyper-parameters", rows.iter().map(|row| row.3.clone()));
        print(format!("{}\n{}\n", table.render(), self.expected(found)))
    }

    /// What to expect of the best model: its score on a window that no trial was scored on.
    fn expected(&self, found: &Tuned) -> String {
        let metric = &self.metric;
        match found.kept {
            Some(KeptScore { score, baseline, .. }) => {
                let beside =
                    baseline.map(|score| format!(", {BASELINE} {}", digits(score))).unwrap_or_default();
                format!(
                    "kept window:  {metric} {}{beside} on the last horizon, which chose nothing",
                    digits(score)
                )
            }
            None if found.interrupted => "kept window:  none, as the search was stopped".to_owned(),
            None => format!(
                "kept window:  none, as most series are too short for one more: {metric} is of the windows that chose the best model, \
                 which flatters it"
            ),
        }
    }

    /// Why nothing is saved of trials that were about to be combined.
    fn uncombined(&self, context: &'static Context, what: &str) -> String {
        let trials = what.trim_end_matches(" combined");
        let message =
            format!("{} stopped the last fits of {trials}; no models are saved", context.interrupts.cause());
        match &self.checkpoint.dir {
            Some(dir) => {
                format!("{message}; {} holds the trials: the same command resumes it", dir.display())
            }
            None => format!("{message}; with --checkpoint DIR the same command resumes it"),
        }
    }

    fn interrupted(&self, context: &'static Context, found: &Tuned) -> String {
        let mut message =
            format!("{} stopped the search after {} trials", context.interrupts.cause(), found.trials.len());
        if let Some(best) = found.best() {
            message +=
                &format!(", of which trial {} is the best; no model was trained on all data", best.trial);
        }
        if let Some(dir) = &self.checkpoint.dir {
            message += &format!("; {} holds the trials: the same command resumes it", dir.display());
        }
        message
    }
}
