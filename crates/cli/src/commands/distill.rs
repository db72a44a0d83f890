//! `foretell distill`: a small network learns what other models forecast.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use foretell::{
    DistillationOptions, Distilled, Fitted, Forecaster, Future, Metrics, ModelSpec, Panel, ReadOptions,
    usual_season,
};
use serde_json::json;

use crate::args::{CheckpointArgs, ModelOutArgs, steps};
use crate::context::Context;
use crate::failure::{Interrupted, Usage};
use crate::model_args::load_models;
use crate::output::print;
use crate::saving::save_or_keep;
use crate::table::AlignedTable;
use crate::train_args::TrainArgs;

/// Train a small network on the forecasts of other models
///
/// The teacher is a directory of trained models of any kind: networks, classical models, an ensemble, `forecast --save`,
/// Foretell0. It forecasts the history of the series from many cutoffs, and the student, a network, learns these forecasts in place
/// of what came true: those of the teacher's ensemble if it has one, else the mean of its models. A student with a loss of quantiles or of a
/// distribution learns the teacher's quantiles. The student is a model like any other, and the quicker one.
///
/// The last windows of each series take no part in the lessons: teacher and student are scored on them.
#[derive(Debug, Args)]
#[command(alias = "distil", override_usage = USAGE)]
#[command(mut_arg("models", |models| models.required(true)), mut_arg("h", |h| h.required(true)), mut_arg("from", |from| from.hide(true)), after_help = "\
Examples:
  foretell distill --teacher model --data sales.csv --model MLP --h 14 \\
    --input-size 56 --out student
  foretell distill --teacher model --data sales.csv --model NHITS --h 14 \\
    --input-size 56 --set 'loss={\"MQLoss\": {\"level\": [80]}}' --out student
  # few rows: the teacher forecasts mixtures of the series as well
  foretell distill --teacher model --data sales.csv --model MLP --h 14 \\
    --input-size 56 --mixtures 20 --out student

With --json one object is printed: lessons, step_size (between the cutoffs of a
series), n_windows, h, season, and models, an array of: who (teacher or student),
model, mae, rmse, smape, mase, scored_windows, scored_series, mase_series (as of
cross-validate; null without windows), parameters, and
series_per_second, the whole teacher's or the student's.")]
pub(crate) struct Distill {
    /// Directory of the models that teach
    #[arg(long, value_name = "DIR")]
    teacher: PathBuf,
    #[command(flatten)]
    train: TrainArgs,
    /// The most cutoffs that the teacher forecasts from; where the data have more, some of them, evenly spread
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = steps())]
    lessons: usize,
    /// Further series beside each, mixed of two stretches of series, that the teacher forecasts as well
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = count())]
    mixtures: usize,
    /// Last windows of each series that take no part in the lessons and that both are scored on [default: 3, fewer where series
    /// are short]
    #[arg(long, value_name = "N", value_parser = count())]
    n_windows: Option<usize>,
    /// Steps of a season, for MASE [default: as usual for the frequency]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    #[command(flatten)]
    out: ModelOutArgs,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

/// What must be given; with `[OPTIONS]` it would be longer than a line.
const USAGE: &str = "foretell distill --teacher DIR --data FILE --model NAME --h N --out DIR";

/// As many as anyone has use for, or none.
fn count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=1_000_000)
}

/// Windows that both are scored on, where there are rows for them.
const WINDOWS: usize = 3;

/// Forecasts of all series, of which the quickest is told.
const TIMES: usize = 3;

impl Distill {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let directory = self.out.take(self.checkpoint.resumes(&self.out.path))?;
        self.refuse_unread()?;
        let teacher = load_models("--teacher", &self.teacher, self.train.memory.limit())?
            .threads(self.train.threads)?
            .on_warning(move |warning| context.warned(warning));
        let (forecaster, input_size) = self.student(context, &teacher)?;
        let (panel, options) = self.read(context, &teacher, &forecaster)?;
        let h = teacher.h();
        let n_windows = self.n_windows(&panel, input_size.saturating_add(h), h);
        context.catch_interrupts();
        let lessons = DistillationOptions::new().lessons(self.lessons).mixtures(self.mixtures);
        let taught = panel.without_last(n_windows.saturating_mul(h));
        let distilled = forecaster.reading(&options).distil(&teacher, &taught, &lessons)?;
        let Distilled { fitted, lessons, step_size, .. } = &distilled;
        context.fitted(fitted);
        if !fitted.interrupted() {
            self.checkpoint.saves_at(&self.out.path, fitted)?;
        }
        let saved = save_or_keep(fitted, Ok(directory))?;
        let names = fitted.column_names().join(", ");
        context.wrote(
            &saved,
            &format!("{names}, which learnt {lessons} forecasts of {}", self.teacher.display()),
        );
        if let Some(interruption) = fitted.interruption() {
            let (cause, saved) = (context.interrupts.cause(), saved.display());
            let message =
                format!("{cause} stopped training after {interruption}; {saved} holds what is trained");
            return Err(Interrupted(message).into());
        }
        let season = self.season.unwrap_or_else(|| usual_season(panel.freq()));
        let mut rows = Vec::new();
        for (who, models) in [("teacher", &teacher), ("student", fitted)] {
            rows.extend(scored(who, models, &panel, [n_windows, h], season)?);
        }
        print(match self.json {
            true => {
                let rows: Vec<_> = rows.iter().map(ModelRow::json).collect();
                let report = json!({
                    "lessons": lessons, "step_size": step_size, "n_windows": n_windows, "h": h, "season": season,
                    "models": rows,
                });
                format!("{report}\n")
            }
            false => table(&rows).render(),
        })?;
        self.checkpoint.finish()
    }

    /// The student before its training, with what its teacher keeps of columns, ends and bounds, and the steps of history that it reads.
    fn student(&self, context: &'static Context, teacher: &Fitted) -> anyhow::Result<(Forecaster, usize)> {
        let specs = self.train.specs(context, None, false)?;
        let input_size = specs.first().and_then(ModelSpec::input_size).unwrap_or(1);
        let forecaster = self.checkpoint.of(context, self.train.forecaster_of(context, specs, None)?);
        let kept = forecaster.kept_settings().or(teacher.kept_settings().of_any_models());
        let columns = self.train.data.columns(teacher.columns().clone());
        Ok((forecaster.columns(columns).keep(kept), input_size))
    }

    /// The series with the columns that teacher and student read, read as those of the teacher were; and how that is.
    fn read(
        &self,
        context: &'static Context,
        teacher: &Fitted,
        student: &Forecaster,
    ) -> anyhow::Result<(Panel, ReadOptions)> {
        let mut columns = [teacher.columns_read(), student.columns_read()].concat();
        let mut categories = [teacher.categories(), student.categories()].concat();
        for names in [&mut columns, &mut categories] {
            names.sort();
            names.dedup();
        }
        let (limit, threads) = (self.train.memory.limit().bytes(), self.train.threads);
        let (panel, options) =
            self.train.data.read_as_saved(teacher, (columns, categories), limit, threads, context)?;
        Ok((teacher.with_sums(panel)?, options))
    }

    /// Refuses what would say how data are read in place of what the teacher says.
    fn refuse_unread(&self) -> Result<(), Usage> {
        let given = [
            ("--freq", self.train.freq.is_some()),
            ("--holidays", self.train.holidays.is_some()),
            ("--drop-short", self.train.drop_short),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Usage(format!(
                "{flag}: the data are read as those of the teacher were, and series that are too short for a lesson give none; \
                 leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// The windows to score on: as many as are asked for, else those that leave a lesson of `rows` rows to the longest series.
    fn n_windows(&self, panel: &Panel, rows: usize, h: usize) -> usize {
        let room = panel.max_len().saturating_sub(rows) / h;
        self.n_windows.unwrap_or(WINDOWS.min(room))
    }
}

/// A model in the table of scores.
struct ModelRow {
    who: &'static str,
    model: String,
    /// Nothing without windows to score on.
    metrics: Option<Metrics>,
    parameters: usize,
    /// Series that all models of the directory forecast in a second.
    series_per_second: f64,
}

impl ModelRow {
    fn json(&self) -> serde_json::Value {
        let mut row = json!(self.metrics);
        if !row.is_object() {
            row = json!({ "model": self.model, "mae": null, "rmse": null, "smape": null, "mase": null });
        }
        row["who"] = json!(self.who);
        row["parameters"] = json!(self.parameters);
        row["series_per_second"] = json!(self.series_per_second);
        row
    }
}

/// The scores of models on the last windows of each series, and how many series they forecast in a second.
fn scored(
    who: &'static str,
    models: &Fitted,
    panel: &Panel,
    [n_windows, h]: [usize; 2],
    season: usize,
) -> anyhow::Result<Vec<ModelRow>> {
    let all = match n_windows {
        0 => Vec::new(),
        _ => models.validate(panel, n_windows, h)?.metrics(panel, season),
    };
    // What a forecast of these warns of was told by the scores.
    let quiet = models.clone().on_warning(|_| ());
    // Rows before those that networks read would only be looked through.
    let read: Option<Vec<usize>> = models.models().iter().map(|model| model.spec().input_size()).collect();
    let read = read.and_then(|read| read.into_iter().max());
    let known = panel.without_last(h).last(read.map_or(usize::MAX, |read| 2 * read));
    let future = Future::within(panel, &known, h);
    let mut fastest = f64::INFINITY;
    // The first packs weights.
    for _ in 0..TIMES {
        let started = Instant::now();
        quiet.predict(&known, Some(&future))?;
        fastest = fastest.min(started.elapsed().as_secs_f64());
    }
    let series_per_second = known.n_series() as f64 / fastest;
    let ensembles: Vec<String> = models.ensembles().map(|(column, _)| column.to_owned()).collect();
    let parameters: Vec<usize> = models.models().iter().map(|model| model.parameters()).collect();
    let sum = parameters.iter().sum();
    let names = models.column_names().into_iter().zip(parameters);
    let names: Vec<(String, usize)> = names.chain(ensembles.into_iter().map(|name| (name, sum))).collect();
    let row = |(model, parameters): (String, usize)| {
        let metrics = all.iter().find(|metrics| metrics.model == model).cloned();
        ModelRow { who, model, metrics, parameters, series_per_second }
    };
    Ok(names.into_iter().map(row).collect())
}

fn table(rows: &[ModelRow]) -> AlignedTable {
    let numbers = |figure: fn(&Metrics) -> f64| {
        rows.iter().map(move |row| row.metrics.as_ref().map_or(f64::NAN, figure))
    };
    AlignedTable::new()
        .text("", rows.iter().map(|row| row.who))
        .text("model", rows.iter().map(|row| row.model.as_str()))
        .numbers("MAE", numbers(|metrics| metrics.mae))
        .numbers("RMSE", numbers(|metrics| metrics.rmse))
        .numbers("sMAPE", numbers(|metrics| metrics.smape))
        .numbers("MASE", numbers(|metrics| metrics.mase))
        .counts("parameters", rows.iter().map(|row| row.parameters))
        .numbers("series a second", rows.iter().map(|row| row.series_per_second))
}
