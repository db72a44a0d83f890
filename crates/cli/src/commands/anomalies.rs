//! `foretell anomalies`: actual values that no forecast would expect.

use std::path::PathBuf;

use clap::Args;
use foretell::{AnomalyMark, ColumnPart, Error, Fitted, Frame, ValidationOptions};
use foretell_auto::TrainedAuto;
use serde_json::{Value, json};

use crate::args::{CheckpointArgs, steps};
use crate::context::Context;
use crate::failure::{Interrupted, Usage};
use crate::output::{Sink, print};
use crate::short_series::without_short;
use crate::table::AlignedTable;
use crate::train_args::TrainArgs;

/// Mark values outside the intervals of their forecasts
///
/// With --from the trained models forecast the whole history, one horizon after the other, also rows that they were trained on. With
/// --model they are trained on what is before the last windows of each series, and judge these. An interval is the model's own where
/// it has one of the level (a loss of quantiles or of a distribution, --intervals; with --from of networks alone), else that of a normal
/// distribution with the deviation of its errors in the series, taken from the median of their sizes, which anomalies do not move.
///
/// Of a model NHITS there are the columns NHITS, NHITS-lo and NHITS-hi (the interval), NHITS-anomaly (1 outside, 0 inside), NHITS-score
/// (how far outside, in widths of the interval) and NHITS-rank (the share of the series' values that are as far off or farther: small
/// is rare).
#[derive(Debug, Args)]
#[command(mut_arg("models", |models| models.required_unless_present("from")), after_help = "\
Examples:
  foretell anomalies --data sales.csv --from model --level 99.5 --out marked.csv
  foretell anomalies --data sales.csv --model NHITS,SeasonalNaive --h 24 \\
    --input-size 96 \\
    --n-windows 30 --only --out anomalies.parquet
  foretell anomalies --data sales.csv --model NHITS --h 24 --input-size 96 \\
    --n-windows 30 \\
    --set 'loss={\"MQLoss\": {\"level\": [98]}}' --level 98 --json

With --json an array of the anomalies is printed, the farthest first: unique_id,
ds, y, model, forecast, lo, hi, score, rank.")]
pub(crate) struct FindAnomalies {
    #[command(flatten)]
    train: TrainArgs,
    /// The central interval, in percent
    #[arg(long, value_name = "P", default_value_t = 99.0)]
    level: f64,
    /// Forecasts of each series, where models are trained
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = steps(), conflicts_with = "from")]
    n_windows: usize,
    /// Steps from one forecast to the next, where models are trained [default: h]
    #[arg(long, value_name = "N", value_parser = steps(), conflicts_with = "from")]
    step_size: Option<usize>,
    /// Write only rows that one of the models finds outside
    #[arg(long)]
    only: bool,
    /// File to write the marked rows to: CSV, compressed if it ends in .csv.gz, or Parquet if it ends in .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the anomalies as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
}

/// A value that a model finds outside.
struct Found<'f> {
    id: &'f str,
    time: String,
    model: &'f str,
    /// The value, its forecast, the ends of the interval, the score and the rank.
    numbers: [f32; 6],
}

impl FindAnomalies {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let sink = self.out.as_deref().map(|path| Sink::open(context, path)).transpose()?;
        if sink.as_ref().is_some_and(Sink::is_stdout) {
            return Err(Usage("--out -: the anomalies are printed there; name a file".to_owned()).into());
        }
        let from = self.train.trained()?;
        let from = from.as_ref();
        if from.is_some() {
            let which = "the models of --from";
            self.train.refuse_training(which)?;
            self.train.refuse_ensembles(which)?;
        }
        let sink = match sink {
            Some(sink) => Some(sink.decimal(self.train.decimal(from)?)),
            None => None,
        };
        let mut forecaster =
            self.checkpoint.of(context, self.train.forecaster(context, from, |_| Ok(Vec::new()))?);
        let h = forecaster.h();
        let (frame, interruption) = match from {
            Some(fitted) => {
                let panel = self.train.read(context, from, &mut forecaster, h + 1)?;
                // One series of few rows stops no other.
                let panel = match panel.max_len() > h {
                    true => without_short(context, panel, h + 1, "give more rows")?,
                    false => panel,
                };
                self.tell_few_values(context, fitted);
                (self.train.as_trained(context, fitted, &panel)?.anomalies(&panel, self.level)?, None)
            }
            None => {
                let options = ValidationOptions::new(self.n_windows, self.step_size.unwrap_or(h))
                    .refit_without_steps(false);
                let rows_needed = forecaster.rows_needed_to_validate(&options);
                let panel = self.train.read(context, None, &mut forecaster, rows_needed)?;
                context.catch_interrupts();
                match forecaster.anomalies(&panel, &options, self.level) {
                    Err(Error::NothingForecast { after }) => {
                        return Err(interrupted(context, &after.to_string(), "nothing was judged yet").into());
                    }
                    found => {
                        let (frame, fitted) = found?;
                        context.fitted(&fitted);
                        self.tell_few_values(context, &fitted);
                        (frame, fitted.interruption().map(ToString::to_string))
                    }
                }
            }
        };
        let marked: Vec<String> = marks(&frame).map(|(model, _)| model).collect();
        let models: Vec<&str> = marked.iter().map(String::as_str).collect();
        let found = found(&frame, &models);
        if let Some((sink, path)) = sink.zip(self.out.as_ref()) {
            let written = if self.only { only_marked(&frame) } else { frame.clone() };
            sink.write_or_keep(&written)?;
            context.wrote(path, &format!("{} rows", written.n_rows()));
        }
        print(if self.json { as_json(&found) } else { self.told(&frame, &models, &found) })?;
        match interruption {
            Some(after) => Err(interrupted(context, &after, "what was forecast until then is judged").into()),
            None => self.checkpoint.finish(),
        }
    }

    /// Warns of an interval of the automatic forecast that is wider than values of the past have measured.
    fn tell_few_values(&self, context: &Context, fitted: &Fitted) {
        let Some(auto) = TrainedAuto::of(fitted) else { return };
        let (level, measured) = (self.level, auto.widest_measured().map(|level| 100.0 * level));
        if level <= measured.unwrap_or(80.0) {
            return;
        }
        context.warning(&match measured {
            Some(measured) => format!(
                "the interval of {level} % is wider than the windows that Auto was tried on can tell ({measured} %): from there on it is as much wider as \
                 that of a normal distribution, so more values may be outside; give Auto a longer history, or lower --level"
            ),
            None => format!(
                "the models were saved without how far values lay outside, so the interval of {level} % is as much wider than that of 80 % as that of a \
                 normal distribution; fit anew (`foretell forecast --save`)"
            ),
        });
    }

    /// How many there are of each model, and the farthest.
    fn told(&self, frame: &Frame, models: &[&str], found: &[Found<'_>]) -> String {
        const SHOWN: usize = 20;
        let of_model = |model: &str| {
            let known = frame.part(model, ColumnPart::Mark(AnomalyMark::Outside)).unwrap_or_default();
            let known = known.iter().filter(|mark| !mark.is_nan()).count();
            let outside = found.iter().filter(|found| found.model == model).count();
            format!("{model}: {outside} of {known} values are outside their interval of {} %\n", self.level)
        };
        let counts: String = models.iter().map(|&model| of_model(model)).collect();
        let shown = &found[..found.len().min(SHOWN)];
        if shown.is_empty() {
            return counts;
        }
        let numbers = |place: usize| shown.iter().map(move |found| f64::from(found.numbers[place]));
        let mut table = AlignedTable::new()
            .text(frame.id_name(), shown.iter().map(|found| found.id))
            .text(frame.time_col.clone(), shown.iter().map(|found| found.time.clone()))
            .text("model", shown.iter().map(|found| found.model));
        for (name, place) in ["y", "forecast", "lo", "hi", "score", "rank"].into_iter().zip(0..) {
            table = table.unlike(name, numbers(place));
        }
        format!("{counts}\n{}", table.render())
    }
}

fn interrupted(context: &Context, after: &str, what: &str) -> Interrupted {
    Interrupted(format!("{} stopped training after {after}; {what}", context.interrupts.cause()))
}

/// The values that a model finds outside, the farthest first.
fn found<'f>(frame: &'f Frame, models: &[&'f str]) -> Vec<Found<'f>> {
    let mut all = Vec::new();
    for &model in models {
        let column = |mark: AnomalyMark| frame.part(model, ColumnPart::Mark(mark));
        let Some(forecast) = frame.part(model, ColumnPart::Point) else { continue };
        let [Some(lo), Some(hi), Some(marks), Some(score), Some(rank)] = AnomalyMark::ALL.map(column) else {
            continue;
        };
        let y = &frame.columns[0].1;
        for row in (0..frame.n_rows()).filter(|&row| marks[row] == 1.0) {
            all.push(Found {
                id: &frame.ids[row],
                time: frame.freq.kind().display_in(frame.zone.as_ref(), frame.times[row]),
                model,
                numbers: [y, forecast, lo, hi, score, rank].map(|column| column[row]),
            });
        }
    }
    all.sort_by(|a, b| b.numbers[4].total_cmp(&a.numbers[4]));
    all
}

/// The models of a table of anomalies, and which values each finds outside.
fn marks(frame: &Frame) -> impl Iterator<Item = (String, &[f32])> {
    let target = &frame.columns[0].0;
    frame.forecast_columns(target).into_iter().zip(&frame.columns).filter_map(|(column, (_, values))| {
        let column = column.filter(|column| column.part() == ColumnPart::Mark(AnomalyMark::Outside))?;
        Some((column.model().to_owned(), &values[..]))
    })
}

/// The rows that any model finds outside.
fn only_marked(frame: &Frame) -> Frame {
    let marks: Vec<&[f32]> = marks(frame).map(|(_, marks)| marks).collect();
    let rows: Vec<usize> =
        (0..frame.n_rows()).filter(|&row| marks.iter().any(|marks| marks[row] == 1.0)).collect();
    frame.at(&rows)
}

fn as_json(found: &[Found<'_>]) -> String {
    let object = |found: &Found<'_>| {
        let [y, forecast, lo, hi, score, rank] = found.numbers;
        json!({
            "unique_id": found.id, "ds": found.time, "y": y, "model": found.model, "forecast": forecast,
            "lo": lo, "hi": hi, "score": score, "rank": rank,
        })
    };
    format!("{}\n", Value::from(found.iter().map(object).collect::<Vec<_>>()))
}
