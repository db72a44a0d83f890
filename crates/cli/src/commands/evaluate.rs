//! `foretell evaluate`: how good forecasts are, whatever their source.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use foretell::evaluate::{Metric, RowScore, ScoreBy, ScoreGroup, ScoreTable};
use foretell::{ForecastTable, ScoredForecasts, series_labels, usual_season};
use serde_json::{Map, Value, json};

use crate::args::{LogArgs, TruthArgs};
use crate::data_args::shown;
use crate::failure::{ThresholdCrossed, Usage};
use crate::output::{print, write_file};
use crate::progress::Log;
use crate::table::AlignedTable;
use crate::threshold::Threshold;

/// Score forecasts of any tool against the actual values
///
/// Compares each row of a forecast with the actual value of the same series and time, and prints a row per metric and a column per
/// model, best where it is lowest but for bias (0), coverage (the level) and calibration (the quantile). Columns such as
/// NHITS-lo-80 and NHITS-hi-80 are intervals. The metrics are those of utilsforecast, with the same figures: the mean over the
/// forecasts of each series and cutoff; by step, over all rows of the step.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell evaluate --forecast forecast.csv --actual sales.csv
  foretell evaluate --forecast validation.csv --history sales.csv --metrics mase,rmsse --season 7 --by series
  foretell evaluate --forecast forecast.csv --actual sales.csv --by step --json
  foretell evaluate --forecast forecast.csv --actual sales.csv --compare NHITS,SeasonalNaive

Every week, score last week's forecast, add the scores to a table, and end with exit code 3 if it was too far off:
  foretell evaluate --forecast last_week.csv --actual sales.csv --by cutoff \\
    --out scores.csv --append --fail-if 'mase>1.2' --fail-if 'coverage_level80<0.6:NHITS'

With --json an object is printed: models, rows (of the forecast), scored (those with an actual value), scores, an array of objects with
metric, what they are of (unique_id, cutoff, step or the column of --group-by) and values by model (null where there is none),
and with --compare the test of Diebold and Mariano.

Metrics: mae, mse, rmse, bias, cfe, pis, spis, mape, smape (0 to 1), mase, msse, rmsse, rmae, nd, wape, tweedie_deviance(power),
linex(a), quantile_loss, scaled_quantile_loss, mqloss, scaled_mqloss, scaled_crps, calibration, coverage, winkler_score.")]
pub(crate) struct Evaluate {
    /// File of forecasts: ids, times, a column per model and interval, and cutoffs if there are several forecasts of a time
    #[arg(long, value_name = "FILE")]
    forecast: PathBuf,
    /// File with the actual values, in the column --target-col [default: that column of the forecast]
    #[arg(long, value_name = "FILE")]
    actual: Option<PathBuf>,
    /// File with what was known before, for metrics that are relative to it (mase, rmsse, ...) [default: the rows of --actual before
    /// the forecasts]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Metrics, some with a parameter: linex(0.5) [default: mae, rmse, bias, smape; mase if there is a history; mqloss and coverage
    /// if there are quantiles]
    #[arg(long, value_name = "METRIC,...", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Rows that one score covers
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::All)]
    by: By,
    /// Score groups of series, which have the same label in this column of --static
    #[arg(long, value_name = "COLUMN", requires = "statics", conflicts_with = "by")]
    group_by: Option<String>,
    /// File with one row per series: its id, and labels or weights; several files, folders and patterns are one table
    #[arg(long = "static", value_name = "FILE")]
    statics: Vec<PathBuf>,
    /// Weigh series by this column of --static in means over series
    #[arg(long, value_name = "COLUMN", requires = "statics")]
    weight_col: Option<String>,
    /// Steps of a season, for scaled metrics [default: the usual one of the frequency]
    #[arg(long, value_name = "N")]
    season: Option<usize>,
    /// The model that rmae is relative to
    #[arg(long, value_name = "MODEL")]
    baseline: Option<String>,
    /// Test whether the absolute errors of the first model are smaller than those of the second (Diebold and Mariano)
    #[arg(long, value_name = "MODEL,MODEL", value_delimiter = ',', num_args = 1)]
    compare: Vec<String>,
    #[command(flatten)]
    columns: TruthArgs,
    /// CSV file to write the scores to as well
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Add the scores to the rows that --out has
    #[arg(long, requires = "out")]
    append: bool,
    /// End with exit code 3 if a score is beyond this: METRIC>NUMBER or METRIC<NUMBER, of any model, or of one: mae>10:NHITS
    #[arg(long, value_name = "CONDITION", value_parser = str::parse::<Threshold>)]
    fail_if: Vec<Threshold>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The mean over all series and cutoffs
    All,
    /// Each series
    Series,
    /// Each cutoff
    Cutoff,
    /// Each step ahead
    Step,
    /// Each series and cutoff
    Window,
}

/// A row of scores: its series, cutoff, step or label, the metric, and the values of the models.
struct Row {
    keys: Vec<(String, String)>,
    metric: String,
    values: Vec<f64>,
}

impl Evaluate {
    pub(crate) fn log(&self) -> Log {
        self.log.log()
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let options = self.columns.options()?;
        let read = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| ForecastTable::actual_from_file(path, &options)).transpose()
        };
        let forecast = ForecastTable::from_file(&self.forecast, &options)?;
        let (actual, history) = (read(&self.actual)?, read(&self.history)?);
        let columns = self.columns.names();
        let scored = ScoredForecasts::new(&forecast, actual.as_ref(), history.as_ref(), &columns)?;
        let tables = [history.as_ref(), actual.as_ref(), Some(&forecast)];
        let freq = || tables.into_iter().flatten().find_map(ForecastTable::freq);
        let season = self.season.unwrap_or_else(|| freq().map_or(1, usual_season));
        let rows = self.rows(&forecast, &scored, season)?;
        self.check_bounds(&rows, &scored.models())?;
        let [all, true_rows] = scored.rows();
        if true_rows < all {
            self.log()
                .warning(&format!("{} of {all} rows have not come true and do not count", all - true_rows));
        }
        let comparison = match &self.compare[..] {
            [] => None,
            [first, second] if first == second => {
                return Err(Usage(format!(
                    "--compare {first},{second}: it is one model twice, whose errors do not differ; name two models"
                ))
                .into());
            }
            [first, second] => Some((first, second, scored.compare(first, second)?)),
            _ => return Err(Usage("--compare: name two models, as NHITS,SeasonalNaive".to_owned()).into()),
        };
        if let Some(path) = &self.out {
            self.write(path, &rows, &scored.models())?;
            self.log().wrote(path, &format!("{} scores", rows.len()));
        }
        let models = scored.models();
        if self.json {
            let mut report = json!({
                "models": models, "rows": all, "scored": true_rows,
                "scores": rows.iter().map(|row| row.to_json(&models)).collect::<Vec<Value>>(),
            });
            if let Some((first, second, test)) = &comparison {
                report["comparison"] = json!({
                    "first": first, "second": second, "statistic": test.statistic, "p_value": test.p_value,
                    "times": test.rows,
                });
            }
            print(format!("{report}\n"))?;
        } else {
            let mut text = told(&rows, &models).render();
            if let Some((first, second, test)) = &comparison {
                let better = if test.statistic < 0.0 { "smaller" } else { "larger" };
                text += &format!(
                    "\nabsolute errors of {first} are {better} than those of {second}: statistic {:.3}, p = {:.4} \
                     (Diebold and Mariano, {} times)\n",
                    test.statistic, test.p_value, test.rows
                );
            }
            print(text)?;
        }
        let mut crossed = Vec::new();
        for row in &rows {
            for (model, value) in models.iter().zip(&row.values) {
                let beyond = self.fail_if.iter().filter(|bound| bound.is_crossed(&row.metric, model, *value));
                crossed.extend(
                    beyond.map(|bound| format!("{} is {value} for {model}, beyond {bound}", row.told())),
                );
            }
        }
        if crossed.is_empty() { Ok(()) } else { Err(ThresholdCrossed(crossed.join("; ")).into()) }
    }

    /// Whether each bound is one of a score that there is; warns of those whose scores are all undefined.
    fn check_bounds(&self, rows: &[Row], models: &[&str]) -> anyhow::Result<()> {
        let mut metrics: Vec<&str> = rows.iter().map(|row| &*row.metric).collect();
        metrics.sort_unstable();
        metrics.dedup();
        for bound in &self.fail_if {
            bound.check(&metrics, models).map_err(Usage)?;
            let scores =
                rows.iter().flat_map(|row| models.iter().zip(&row.values).map(move |score| (row, score)));
            let mut bounded = scores.filter(|(row, (model, _))| bound.concerns(&row.metric, model));
            if bounded.all(|(_, (_, value))| value.is_nan()) {
                self.log().warning(&format!(
                    "--fail-if {bound}: the score is not defined here, so it bounds nothing"
                ));
            }
        }
        Ok(())
    }

    fn chosen(&self, scored: &ScoredForecasts) -> anyhow::Result<Vec<Metric>> {
        let mut names: Vec<String> = self.metrics.clone();
        if names.is_empty() {
            names.extend(scored.usual_metrics(self.baseline.is_some()).into_iter().map(str::to_owned));
        }
        for Threshold { metric, .. } in &self.fail_if {
            let name = metric.split("_level").next().unwrap_or(metric).split("_q0").next().unwrap_or(metric);
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        let parsed = |name: &String| Metric::parse(name).map_err(|error| Usage(error.to_string()));
        let metrics = names.iter().map(parsed).collect::<Result<Vec<_>, _>>()?;
        metrics.iter().try_for_each(|metric| self.check_columns(metric, scored))?;
        Ok(metrics)
    }

    /// Checks that the forecasts have the columns that a metric scores: without them it has no row, and no bound on it is crossed.
    fn check_columns(&self, metric: &Metric, scored: &ScoredForecasts) -> Result<(), Usage> {
        let (has_columns, columns) = match metric.score {
            RowScore::Interval(_) => (scored.has_intervals(), "interval columns (MODEL-lo-80, MODEL-hi-80)"),
            _ if metric.needs_quantiles() => {
                (scored.has_quantiles(), "quantile columns (MODEL-lo-80, MODEL-hi-80, MODEL-median)")
            }
            _ => (true, ""),
        };
        if has_columns {
            return Ok(());
        }
        Err(Usage(format!(
            "{}: {} has no {columns}, which it scores; forecast with --level 80, say, or leave {} out",
            metric.name,
            self.forecast.display(),
            metric.name
        )))
    }

    fn rows(
        &self,
        forecast: &ForecastTable,
        scored: &ScoredForecasts,
        season: usize,
    ) -> anyhow::Result<Vec<Row>> {
        let labels = self.group_by.as_ref().map(|column| self.labels(column, scored)).transpose()?;
        let by = match (&labels, self.by) {
            (Some((_, labels)), _) => ScoreBy::Labels(labels),
            (None, By::All) => ScoreBy::All,
            (None, By::Series) => ScoreBy::Series,
            (None, By::Cutoff) => ScoreBy::Cutoff,
            (None, By::Step) => ScoreBy::Step,
            (None, By::Window) => ScoreBy::Window,
        };
        let weights = self.weight_col.as_ref().map(|column| self.weights(column, scored)).transpose()?;
        let metrics = self.chosen(scored)?;
        let table = scored.scores(&metrics, by, season, self.baseline.as_deref(), weights.as_deref())?;
        let names = labels.map(|(names, _)| names).unwrap_or_default();
        Ok(self.listed(forecast, scored, &table, &names))
    }

    /// The scores as rows, sorted by series, cutoff, step or label.
    fn listed(
        &self,
        forecast: &ForecastTable,
        scored: &ScoredForecasts,
        table: &ScoreTable,
        labels: &[String],
    ) -> Vec<Row> {
        let shown = |time: i64| forecast.kind.display_in(forecast.zone.as_ref(), time);
        let keys = |group: &ScoreGroup| -> Vec<(String, String)> {
            let mut keys = Vec::new();
            if let Some(series) = group.series {
                keys.push((self.columns.id.clone(), scored.ids()[series as usize].to_string()));
            }
            match group.cutoff {
                Some(cutoff) if forecast.cutoffs.is_some() => keys.push(("cutoff".to_owned(), shown(cutoff))),
                // Without cutoffs a forecast is known by its first time.
                Some(cutoff) => keys.push(("first".to_owned(), shown(cutoff + 1))),
                None => {}
            }
            if let (Some(label), Some(column)) = (group.label, &self.group_by) {
                keys.push((column.clone(), labels[label as usize].clone()));
            }
            keys.extend(group.step.map(|step| ("step".to_owned(), step.to_string())));
            keys
        };
        let mut order: Vec<usize> = (0..table.groups.len()).collect();
        order.sort_by_key(|&i| (table.groups[i].step, table.groups[i].cutoff));
        let rows = table.metrics.iter().flat_map(|metric| {
            order.iter().map(|&i| Row {
                keys: keys(&table.groups[i]),
                metric: metric.name.clone(),
                values: metric.values[i].clone(),
            })
        });
        rows.collect()
    }

    /// The different labels of the series, and the number of that of each.
    fn labels(&self, column: &str, scored: &ScoredForecasts) -> anyhow::Result<(Vec<String>, Vec<u32>)> {
        let labels = series_labels(&self.statics, &self.columns.id, column)?;
        let mut names: Vec<String> = Vec::new();
        let mut numbers = Vec::new();
        for id in scored.ids() {
            let label = labels
                .get(id)
                .with_context(|| format!("{} has no row of series {id}", shown(&self.statics)))?;
            let place = names.iter().position(|name| name == label).unwrap_or_else(|| {
                names.push(label.clone());
                names.len() - 1
            });
            numbers.push(place as u32);
        }
        Ok((names, numbers))
    }

    fn weights(&self, column: &str, scored: &ScoredForecasts) -> anyhow::Result<Vec<f64>> {
        let labels = series_labels(&self.statics, &self.columns.id, column)?;
        let weight = |id: &std::sync::Arc<str>| {
            let label = labels
                .get(id)
                .with_context(|| format!("{} has no row of series {id}", shown(&self.statics)))?;
            label.trim().parse().with_context(|| {
                format!("{}, series {id}, column `{column}`: {label:?} is no number", shown(&self.statics))
            })
        };
        scored.ids().iter().map(weight).collect()
    }

    /// Writes the scores, below those that the file has already where that is asked for.
    fn write(&self, path: &Path, rows: &[Row], models: &[&str]) -> anyhow::Result<()> {
        let mut header: Vec<&str> =
            rows.first().map_or(Vec::new(), |row| row.keys.iter().map(|(key, _)| &**key).collect());
        header.push("metric");
        header.extend(models);
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&header)?;
        let first_line = writer.into_inner()?;
        let before = match self.append.then(|| fs::read(path)) {
            Some(Ok(before)) => {
                if !before.starts_with(&first_line) {
                    let columns = String::from_utf8_lossy(
                        before.split(|byte| *byte == b'\n').next().unwrap_or_default(),
                    )
                    .into_owned();
                    anyhow::bail!(
                        "--append: {} has the columns {columns:?}, and these scores {:?}; name another file",
                        path.display(),
                        String::from_utf8_lossy(first_line.trim_ascii_end())
                    );
                }
                before
            }
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
            _ => first_line,
        };
        let mut writer = csv::Writer::from_writer(before);
        for row in rows {
            let keys = row.keys.iter().map(|(_, key)| key.clone());
            let values =
                row.values.iter().map(|value| if value.is_nan() { String::new() } else { value.to_string() });
            writer.write_record(keys.chain([row.metric.clone()]).chain(values))?;
        }
        write_file(path, &writer.into_inner()?)
    }
}

impl Row {
    fn to_json(&self, models: &[&str]) -> Value {
        let mut row: Map<String, Value> =
            self.keys.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
        row.insert("metric".to_owned(), self.metric.as_str().into());
        let finite = |value: f64| if value.is_finite() { value.into() } else { Value::Null };
        let values: Map<String, Value> = models
            .iter()
            .zip(&self.values)
            .map(|(model, value)| ((*model).to_owned(), finite(*value)))
            .collect();
        row.insert("values".to_owned(), values.into());
        row.into()
    }

    fn told(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(|(key, value)| format!("{key} {value}")).collect();
        match keys.is_empty() {
            true => self.metric.clone(),
            false => format!("{} of {}", self.metric, keys.join(", ")),
        }
    }
}

/// The scores as a table for people.
fn told(rows: &[Row], models: &[&str]) -> AlignedTable {
    let keys = rows.first().map_or(0, |row| row.keys.len());
    let mut table = AlignedTable::new();
    for key in 0..keys {
        table = table.text(rows[0].keys[key].0.clone(), rows.iter().map(|row| row.keys[key].1.clone()));
    }
    table = table.text("metric", rows.iter().map(|row| row.metric.clone()));
    for (i, model) in models.iter().enumerate() {
        table = table.text(*model, rows.iter().map(|row| digits(row.values[i])));
    }
    table
}

/// A score with four digits.
fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let whole = value.abs().max(1e-9).log10().floor() as i32;
    let decimals = (3 - whole).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}
