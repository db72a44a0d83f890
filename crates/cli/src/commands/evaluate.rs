//! `foretell evaluate`: how good forecasts are, whatever their source.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use foretell::evaluate::{DieboldMariano, MISSING, Metric, RowScore, ScoreBy};
use foretell::{FileOptions, LabelFiles, ScoredForecasts, SeriesLabels, id_name};
use serde_json::{Map, Value, json};

use crate::args::steps;
use crate::bounded_scores::BoundedScores;
use crate::closed_stdout;
use crate::context::Context;
use crate::data_args::shown;
use crate::drawn_forecasts::tell_unleveled;
use crate::failure::{ThresholdCrossed, Usage};
use crate::output::Sink;
use crate::score_rows::{ScoreRows, check_appendable, number};
use crate::threshold::Threshold;
use crate::truth_args::{ComparedFiles, ComparedTables};

/// Score forecasts of any tool against the actual values
///
/// Compares each row of a forecast with the actual value of the same series and time, and prints a row per metric and a column per
/// model, best where it is lowest but for bias (0), coverage (the level) and calibration (the quantile). Columns such as
/// NHITS-lo-80 and NHITS-hi-80 are intervals. The metrics are those of utilsforecast, with the same figures: the mean over the
/// forecasts of each series and cutoff; by step, of their rows of that step.
///
/// Models are compared on the rows that all of them have. Rows that a model has no forecast of are counted in the row `missing`, those
/// that it has no interval of in rows as `coverage_level80_missing`; what a metric has no score of in rows as `mape_uncounted` (rows whose actual value is 0) and `mase_uncounted` (forecasts of series that
/// do not change from season to season before them, or are not longer than one).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell evaluate --forecast forecast.csv --actual sales.csv
  foretell evaluate --forecast validation.csv --history sales.csv \\
    --metrics mase,rmsse --season 7 --by series
  foretell evaluate --forecast forecast.csv --actual sales.csv --by step --json
  foretell evaluate --forecast forecast.csv --actual sales.csv \\
    --compare NHITS,SeasonalNaive
  foretell evaluate --forecast load.csv --actual meter.csv \\
    --actual-time-col hour --zone Europe/Berlin

Every week, score last week's forecast, add the scores to a table, and end with
exit code 3 if it was too far off:
  foretell evaluate --forecast last_week.csv --actual sales.csv --by cutoff \\
    --out scores.csv --append --fail-if 'mase>1.2' \\
    --fail-if 'coverage_level80<0.6:NHITS'

With --json an object is printed: models, rows (of the forecast), scored (those
with an actual value), missing (by model, those of the scored ones that it has
no forecast of), missing_quantiles (by column of quantiles, those of the others
that it lacks), season, scores, an array of objects with metric, what they are
of (unique_id, cutoff, step or the column of --group-by) and values by model
(null where there is none), and with --compare the test of Diebold and Mariano.

Metrics: mae, mse, rmse, bias, cfe, pis, spis, mape, smape (0 to 1), mase, msse,
rmsse, rmae, nd, wape, tweedie_deviance(power), linex(a), quantile_loss,
scaled_quantile_loss, mqloss, scaled_mqloss, scaled_crps, calibration, coverage,
winkler_score.")]
pub(crate) struct Evaluate {
    #[command(flatten)]
    files: ComparedFiles,
    /// Models of the forecasts to score [default: all]
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    models: Vec<String>,
    /// Metrics, some with a parameter: linex(0.5) [default: mae, rmse, bias, smape; mase if there is a history; mqloss and coverage
    /// if there are quantiles]
    #[arg(long, value_name = "METRIC,...", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Rows that one score covers
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::All)]
    by: By,
    /// Score groups of series, which have the same label in this column of --static or of --actual, or the same part of an id
    /// that several columns make (--id-col store,item)
    #[arg(long, value_name = "COLUMN", conflicts_with = "by")]
    group_by: Option<String>,
    /// File with one row per series: its id, or some of the columns that make it, and labels or weights; several files, folders
    /// and patterns are one table
    #[arg(long = "static", value_name = "FILE")]
    statics: Vec<PathBuf>,
    /// Weigh series by this column of --static in means over series
    #[arg(long, value_name = "COLUMN", requires = "statics")]
    weight_col: Option<String>,
    /// Steps of a season, for scaled metrics; 1 where there is none [default: the usual one of the frequency]
    #[arg(long, value_name = "N", value_parser = steps())]
    season: Option<usize>,
    /// The model that rmae is relative to
    #[arg(long, value_name = "MODEL")]
    baseline: Option<String>,
    /// Test whether the absolute errors of the first model are smaller than those of the second (Diebold and Mariano), over the rows
    /// that both have; ends with exit code 3 if one misses some, as --fail-if does
    #[arg(long, value_name = "MODEL,MODEL", value_delimiter = ',', num_args = 1)]
    compare: Vec<String>,
    /// File to write the scores to as well: CSV, compressed if it ends in .csv.gz, or Parquet if it ends in .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Add the scores to the rows that --out has, with the time; those that it has already are not added again
    #[arg(long, requires = "out")]
    append: bool,
    /// The version of the models, written with the scores that --append adds
    #[arg(long, value_name = "TEXT", requires = "append", default_value = "")]
    model_version: String,
    /// End with exit code 3 if a score is beyond this: METRIC>NUMBER or METRIC<NUMBER, of any model, or of one: mae>10:NHITS; and
    /// if the score is not defined, or a model has no forecast of rows that have come true
    #[arg(long, value_name = "CONDITION", value_parser = str::parse::<Threshold>)]
    fail_if: Vec<Threshold>,
    /// Let --fail-if and --compare pass though a model has no forecast of some rows, or a score is not defined in some groups: the others
    /// are judged
    #[arg(long)]
    allow_missing: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
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

/// What was compared by --compare, and the test.
type Comparison<'a> = (&'a str, &'a str, DieboldMariano);

impl Evaluate {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let sink = match (&self.out, self.append) {
            (Some(path), true) => {
                check_appendable(path)?;
                None
            }
            (Some(path), false) => Some(Sink::open(context, path)?),
            (None, _) => None,
        };
        let tables = self.files.read(&self.models, context)?;
        let ComparedTables { forecast, actual, history, columns, .. } = &tables;
        tell_unleveled(context, forecast, &self.models);
        let scored = ScoredForecasts::new(forecast, actual.as_ref(), history.as_ref(), &columns.target)?;
        let scored = if self.models.is_empty() { scored } else { scored.of_models(&self.models)? };
        let season = self.season.or(scored.usual_season()).unwrap_or(1);
        let rows = self.rows(context, &tables, &scored, season)?;
        let bounded = BoundedScores { bounds: &self.fail_if, rows: &rows, season };
        bounded.check()?;
        let short = self.warn_of_rows(context, &scored);
        scored.crossed_quantiles().iter().for_each(|crossed| context.warning(&crossed.to_string()));
        let comparison = self.comparison(&scored)?;
        let to_stdout = sink.as_ref().is_some_and(Sink::is_stdout);
        match (sink, &self.out) {
            (Some(sink), _) => rows.write(sink)?,
            (None, Some(path)) => {
                let added = rows.append(context, path, &self.model_version)?;
                if added < rows.len() {
                    context.warning(&format!(
                        "{} of {} scores are in {} already and were not added again",
                        rows.len() - added,
                        rows.len(),
                        path.display()
                    ));
                }
            }
            (None, None) => {}
        }
        if let Some(path) = self.out.as_ref().filter(|_| !to_stdout) {
            context.wrote(path, &format!("{} scores", rows.len()));
        }
        if !to_stdout {
            self.print(&rows, &scored, comparison.as_ref(), season)
                .context("cannot write to standard output")?;
        }
        let mut failures = bounded.crossed();
        failures.extend(bounded.undefined(self.allow_missing));
        let is_judged = !self.fail_if.is_empty() || comparison.is_some();
        if is_judged && !self.allow_missing {
            failures.extend(
                short.into_iter().map(|short| format!("{short} (--allow-missing judges the others)")),
            );
        }
        if failures.is_empty() { Ok(()) } else { Err(ThresholdCrossed(failures.join("; ")).into()) }
    }

    /// Warns of rows that are not scored; gives what models miss in words.
    fn warn_of_rows(&self, context: &'static Context, scored: &ScoredForecasts) -> Option<String> {
        let [all, true_rows] = scored.rows();
        if true_rows < all {
            context
                .warning(&format!("{} of {all} rows have not come true and do not count", all - true_rows));
        }
        let unknown = scored.without_values();
        if let Some(first) = unknown.first() {
            context.warning(&format!(
                "{} of {} series of the forecasts have no actual value at all, the first {first}: see whether ids are written alike in both files",
                unknown.len(),
                scored.ids().len()
            ));
        }
        if scored.not_forecast() > 0 {
            let text = format!("{} series of the actual values have no forecasts", scored.not_forecast());
            context.warning(&text);
        }
        let (models, missing) = (scored.models(), scored.missing());
        let on = |which: &str| match models.len() {
            1 => String::new(),
            _ => format!(
                "; all models are scored on the {which} that all have (--models scores some by themselves)"
            ),
        };
        let of_points: Vec<String> = (models.iter().zip(&missing).filter(|(_, missing)| **missing > 0))
            .map(|(model, missing)| format!("{model} has no forecast of {missing} of {true_rows} rows"))
            .collect();
        let quantiles = scored.missing_quantiles();
        let of_quantiles: Vec<String> = (quantiles.iter())
            .map(|(column, rows)| format!("{column} is missing in {rows} of {true_rows} rows"))
            .collect();
        if !of_points.is_empty() {
            context.warning(&format!("{}, which do not count{}", of_points.join(", "), on("rows")));
        }
        if !of_quantiles.is_empty() {
            let what = "which do not count in metrics of quantiles and intervals";
            context.warning(&format!("{}, {what}{}", of_quantiles.join(", "), on("intervals")));
        }
        let is_of_quantiles = |bound: &Threshold| {
            Metric::of_score(&bound.metric).is_some_and(|metric| metric.needs_quantiles())
        };
        let judged = self.fail_if.iter().any(is_of_quantiles).then_some(of_quantiles).into_iter().flatten();
        let short: Vec<String> = of_points.into_iter().chain(judged).collect();
        (!short.is_empty()).then(|| short.join(", "))
    }

    fn comparison<'a>(&'a self, scored: &ScoredForecasts) -> anyhow::Result<Option<Comparison<'a>>> {
        match &self.compare[..] {
            [] => Ok(None),
            [first, second] if first == second => Err(Usage(format!(
                "--compare {first},{second}: it is one model twice, whose errors do not differ; name two models"
            ))
            .into()),
            [first, second] => Ok(Some((first, second, scored.compare(first, second)?))),
            _ => Err(Usage("--compare: name two models, as NHITS,SeasonalNaive".to_owned()).into()),
        }
    }

    fn print(
        &self,
        rows: &ScoreRows<'_>,
        scored: &ScoredForecasts,
        comparison: Option<&Comparison<'_>>,
        season: usize,
    ) -> io::Result<()> {
        closed_stdout::check()?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        if self.json {
            let [all, true_rows] = scored.rows();
            let missing = scored.models().into_iter().map(str::to_owned).zip(scored.missing());
            let missing: Map<String, Value> = missing.map(|(model, count)| (model, count.into())).collect();
            let quantiles = scored.missing_quantiles().into_iter();
            let quantiles: Map<String, Value> =
                quantiles.map(|(column, rows)| (column.to_owned(), rows.into())).collect();
            let mut report = json!({
                "models": scored.models(), "rows": all, "scored": true_rows, "missing": missing,
                "missing_quantiles": quantiles, "season": season,
            });
            if let Some((first, second, test)) = comparison {
                report["comparison"] = json!({
                    "first": first, "second": second, "statistic": number(test.statistic),
                    "p_value": number(test.p_value), "times": test.rows,
                });
            }
            // The scores may be many: they are not held at once.
            let report = report.to_string();
            write!(out, "{},\"scores\":[", &report[..report.len() - 1])?;
            for (place, row) in rows.iter().enumerate() {
                write!(out, "{}{}", if place == 0 { "" } else { "," }, rows.to_json(row))?;
            }
            writeln!(out, "]}}")?;
            return out.flush();
        }
        rows.write_table(&mut out)?;
        if let Some((first, second, test)) = comparison {
            let better = if test.statistic < 0.0 { "smaller" } else { "larger" };
            writeln!(
                out,
                "\nabsolute errors of {first} are {better} than those of {second}: statistic {:.3}, p = {:.4} \
                 (Diebold and Mariano, {} times)",
                test.statistic, test.p_value, test.rows
            )?;
        }
        out.flush()
    }

    fn chosen(&self, scored: &ScoredForecasts, by: ScoreBy<'_>) -> anyhow::Result<Vec<Metric>> {
        let mut names: Vec<String> = self.metrics.clone();
        if names.is_empty() {
            names.extend(scored.usual_metrics(self.baseline.is_some(), by).into_iter().map(str::to_owned));
        }
        for Threshold { metric, .. } in self.fail_if.iter().filter(|bound| bound.metric != MISSING) {
            // A name that is none of a score is refused as one.
            let name = Metric::of_score(metric).map_or_else(|| metric.clone(), |metric| metric.to_string());
            if !names.contains(&name) {
                names.push(name);
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
            self.files.forecast.display(),
            metric.name
        )))
    }

    fn rows<'a>(
        &'a self,
        context: &'static Context,
        tables: &'a ComparedTables,
        scored: &'a ScoredForecasts,
        season: usize,
    ) -> anyhow::Result<ScoreRows<'a>> {
        let id_col = id_name(&tables.columns.id);
        let labels =
            self.group_by.as_ref().map(|column| Ok((&**column, self.labels(tables, column, scored)?)));
        /// Names, and the place of each row's among them.
        type Labels = (Vec<String>, Vec<u32>);
        let labels: Option<(&str, Labels)> = labels.transpose().map_err(|error: anyhow::Error| error)?;
        let by = match (&labels, self.by) {
            (Some((_, (_, labels))), _) => ScoreBy::Labels(labels),
            (None, By::All) => ScoreBy::All,
            (None, By::Series) => ScoreBy::Series,
            (None, By::Cutoff) => ScoreBy::Cutoff,
            (None, By::Step) => ScoreBy::Step,
            (None, By::Window) => ScoreBy::Window,
        };
        let weights =
            self.weight_col.as_ref().map(|column| self.weights(tables, column, scored)).transpose()?;
        let metrics = self.chosen(scored, by)?;
        if let Some(metric) = metrics.iter().find(|metric| metric.needs_season())
            && self.season.or(scored.usual_season()).is_none()
        {
            context.warning(&format!(
                "the times do not tell a frequency, so that {metric} is relative to the changes from row to row; --season says the steps of \
                 a season"
            ));
        }
        let table = scored.scores(&metrics, by, season, self.baseline.as_deref(), weights.as_deref())?;
        let labels = labels.map(|(column, (names, _))| (column, names));
        Ok(ScoreRows::new(table, (scored, &tables.forecast), id_col, labels))
    }

    /// The different labels of the series, and the number of that of each.
    fn labels(
        &self,
        tables: &ComparedTables,
        column: &str,
        scored: &ScoredForecasts,
    ) -> anyhow::Result<(Vec<String>, Vec<u32>)> {
        let labels = self.column_of_series(tables, column)?;
        let mut names: Vec<String> = Vec::new();
        let mut numbers = Vec::new();
        for id in scored.ids() {
            let label = self.of_series((&labels, tables), id, column)?;
            let place = names.iter().position(|name| *name == label).unwrap_or_else(|| {
                names.push(label.into_owned());
                names.len() - 1
            });
            numbers.push(place as u32);
        }
        Ok((names, numbers))
    }

    fn weights(
        &self,
        tables: &ComparedTables,
        column: &str,
        scored: &ScoredForecasts,
    ) -> anyhow::Result<Vec<f64>> {
        let labels = self.column_of_series(tables, column)?;
        let weight = |id: &std::sync::Arc<str>| {
            let label = self.of_series((&labels, tables), id, column)?;
            label.trim().parse().with_context(|| {
                let file = self.read_for(&labels, tables).map(|files| format!("{}, ", shown(files)));
                format!("{}series {id}, column `{column}`: {label:?} is no number", file.unwrap_or_default())
            })
        };
        scored.ids().iter().map(weight).collect()
    }

    /// The labels of series in a column of --static, of the actual values, or of the parts of ids.
    fn column_of_series(&self, tables: &ComparedTables, column: &str) -> anyhow::Result<SeriesLabels> {
        let (usual, id_col) = (FileOptions::default(), &*tables.columns.id);
        let statics = LabelFiles { paths: &self.statics, options: &usual, id_col };
        let files: Vec<LabelFiles<'_>> =
            [statics].into_iter().filter(|files| !files.paths.is_empty()).chain(tables.labels()).collect();
        let message = format!("--group-by {column}: name the file with this column by --static");
        Ok(SeriesLabels::read(&files, id_col, column)?.ok_or(Usage(message))?)
    }

    fn of_series<'a>(
        &self,
        (labels, tables): (&'a SeriesLabels, &ComparedTables),
        id: &'a str,
        column: &str,
    ) -> anyhow::Result<std::borrow::Cow<'a, str>> {
        labels.of(id).with_context(|| match self.read_for(labels, tables) {
            Some(files) => {
                format!("{} has no row of series {id}, which is to have its {column}", shown(files))
            }
            None => format!("series {id} has no {column}; give each series its own by --static"),
        })
    }

    /// The files that labels are of; nothing of parts of ids.
    fn read_for<'a>(&'a self, labels: &SeriesLabels, tables: &'a ComparedTables) -> Option<&'a [PathBuf]> {
        match (labels.table()?, &self.statics[..]) {
            (0, statics @ [_, ..]) => Some(statics),
            _ => Some(tables.labels()?.paths),
        }
    }
}
