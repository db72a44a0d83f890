//! `foretell reconcile`: forecasts of any models, changed so that sums of series hold, and sums over time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    ColumnNames, FileOptions, ForecastTable, Freq, LabelFiles, ReadOptions, ReconcileOptions, SeriesLabels,
    TimeKind, bounded, column_names, newly_below_zero, of_complete_models, reconcile, without_forecasts,
    without_intervals, without_past_forecasts,
};

use crate::args::TruthArgs;
use crate::context::Context;
use crate::drawn_forecasts::{tell_named_quantiles, tell_unleveled};
use crate::failure::Usage;
use crate::hierarchy_args::{HierarchyArgs, MethodArgs};
use crate::looked_at::{LookedAt, as_written};
use crate::output::Sink;
use crate::sums_with_others::sums_with_others;
use crate::temporal_args::TemporalArgs;

/// Change forecasts of a hierarchy so that they add up
///
/// Takes forecasts of all series (or of steps and their sums), sums and parts, of any models and tools, and changes them so that
/// each sum is that of its parts.
/// MinTrace changes them as little as possible, the series being weighed as the method says; BottomUp adds up the forecasts of the
/// parts and needs none of the sums; TopDown divides the forecast of the total, MiddleOut adds up and divides those of the level in the
/// middle. Columns such as NHITS-lo-80, NHITS-hi-80 and NHITS-median are quantiles: samples are drawn from them, each of which adds up, and their quantiles are written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell reconcile --forecast forecast.csv --hierarchy summing.csv \\
    --out coherent.csv
  foretell reconcile --forecast forecast.csv --levels country,state,city \\
    --static shops.csv --method BottomUp
  foretell reconcile --forecast hours.csv --temporal 24h=days.csv

From series at the bottom to coherent forecasts of all, weighed by the errors of
the past:
  foretell aggregate --data sales.csv --levels state,city --static shops.csv \\
    --out all.csv
  foretell cross-validate --data all.csv --model NHITS --h 14 --input-size 56 \\
    --n-windows 8 --step-size 14 --out past.csv
  foretell fit --data all.csv --model NHITS --h 14 --input-size 56 --out model
  foretell predict --model model --data all.csv --out forecast.csv
  foretell reconcile --forecast forecast.csv --levels state,city \\
    --static shops.csv \\
    --method MinTraceShrink --residuals past.csv --out coherent.csv

Methods: BottomUp, TopDown and MiddleOut (which need --history), MinTraceOLS (all
series alike), MinTraceWLS (by the number of series summed up), MinTraceVar and MinTraceShrink
(by the variances, and by the shrunk covariance, of the errors in --residuals).")]
pub(crate) struct Reconcile {
    /// File of forecasts: ids, times, a column per model and quantile, and cutoffs if there are several forecasts of a time
    #[arg(long, value_name = "FILE")]
    forecast: PathBuf,
    #[command(flatten)]
    hierarchy: HierarchyArgs,
    #[command(flatten)]
    method: MethodArgs,
    #[command(flatten)]
    temporal: TemporalArgs,
    /// File with one row per series at the bottom: its id, and its labels; several files, folders and patterns are one table
    #[arg(long = "static", value_name = "FILE")]
    statics: Vec<PathBuf>,
    /// File with forecasts of the past beside the actual values, as cross-validation writes: for MinTraceVar and MinTraceShrink, and for
    /// samples that are high and low together as the errors were [default: series are sampled independently]. Those of sums over
    /// time have their period in front, as 24h=past-days.csv
    #[arg(long, value_name = "FILE")]
    residuals: Vec<String>,
    /// File with the history of the series at the bottom, for TopDown and MiddleOut
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Samples that quantiles are taken of
    #[arg(
        long, value_name = "N", default_value_t = 1000,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000)
    )]
    samples: usize,
    /// Forecasts below 0 become 0: those of series at the bottom, which are added up again
    #[arg(long)]
    non_negative: bool,
    /// Forecasts become whole numbers: those of series at the bottom, which are added up again
    #[arg(long)]
    integer: bool,
    /// Another seed draws other samples
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    columns: TruthArgs,
    /// File to write to: Parquet if it ends in .parquet, else CSV; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

impl Reconcile {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let sink = Sink::open(context, &self.out)?;
        let (options, columns) = self.found(context)?;
        let beside = |path: &Path| as_written(path, options.clone(), self.columns.says_notation());
        let mut forecast = ForecastTable::from_file(&self.forecast, &options)?;
        tell_named_quantiles(context, &mut forecast, &options.target_col);
        tell_unleveled(context, &forecast, &[]);
        let (of_steps, of_sums) = self.temporal.residuals(&self.residuals)?;
        let residuals = of_steps.map(|path| ForecastTable::from_file(path, &beside(path))).transpose()?;
        let history = self.history.as_ref();
        let history = history.map(|path| ForecastTable::actual_from_file(path, &beside(path))).transpose()?;
        let mut done = Vec::new();
        let given = forecast.clone();
        if self.temporal.is_given() {
            let past = (residuals.as_ref(), &of_sums[..]);
            let ((steps, method), incomplete) = self.temporal.reconciled(&forecast, past, &options)?;
            incomplete.iter().for_each(|warning| context.warned(warning));
            forecast = steps;
            done.push(format!("over time by {method}"));
        }
        let labelled = |labels: &[SeriesLabels]| {
            let has_all = |id: &Arc<str>| labels.iter().all(|labels| labels.of(id).is_some());
            Ok(forecast.ids.iter().filter(|id| has_all(id)).cloned().collect())
        };
        let usual = FileOptions::default();
        let statics = LabelFiles { paths: &self.statics, options: &usual, id_col: &columns.id };
        let coherent = match self.hierarchy.given(&[statics], &columns.id, labelled)? {
            Some(hierarchy) => {
                let past = (residuals.as_ref(), history.as_ref());
                let (coherent, method) = self.across(context, (&forecast, &columns), &hierarchy, past)?;
                done.push(format!("by {method}"));
                coherent
            }
            None => {
                let steps = self.without_hierarchy(forecast)?;
                bounded(steps, &columns.target, self.non_negative, self.integer)
            }
        };
        let before: Vec<&ForecastTable> = std::iter::once(&given).chain(&residuals).chain(&history).collect();
        if let Some(warning) = newly_below_zero(&coherent, &before, &columns.target) {
            context.warned(&warning);
        }
        let freq = freq_of(&coherent)?;
        let frame = coherent.into_frame(&options, freq)?;
        let to_file = !sink.is_stdout();
        sink.decimal(options.numbers.decimal()).write_or_keep(&frame)?;
        if to_file {
            context
                .wrote(&self.out, &format!("{} rows, which add up {}", frame.n_rows(), done.join(" and ")));
        }
        Ok(())
    }

    /// How the forecasts are read, and the names of their columns: those of the flags, else those that their rows tell.
    fn found(&self, context: &'static Context) -> anyhow::Result<(ReadOptions, ColumnNames)> {
        let path = &self.forecast;
        let mut options = as_written(path, self.columns.options()?, self.columns.says_notation());
        let (mut names, usual) = (self.columns.names(), ColumnNames::default());
        let header = column_names(path, &options.file).unwrap_or_default();
        if (&names.id, &names.time) != (&usual.id, &usual.time)
            || [&names.id, &names.time].iter().all(|name| header.contains(name))
        {
            return Ok((options, names));
        }
        let looked_at = LookedAt::default();
        let unnamed = || {
            let mut unnamed = options.clone();
            unnamed.time_col = unnamed.time_col.filter(|time| header.contains(time));
            Some(unnamed)
        };
        let found = looked_at.roles(path, unnamed).filter(|roles| !roles.repeats);
        if let Some((roles, time)) = found.and_then(|roles| Some((roles, roles.time.clone()?))) {
            names.id = roles.id.clone().unwrap_or(names.id);
            names.time = time;
            options.id_col.clone_from(&names.id);
            options.time_col = Some(names.time.clone());
            looked_at.tell_forecasts(path, context);
        }
        Ok((options, names))
    }

    /// The forecasts, changed so that the sums of the hierarchy hold, and by which method.
    fn across(
        &self,
        context: &'static Context,
        (forecast, names): (&ForecastTable, &ColumnNames),
        hierarchy: &Hierarchy,
        (residuals, history): (Option<&ForecastTable>, Option<&ForecastTable>),
    ) -> anyhow::Result<(ForecastTable, Reconciliation)> {
        let method = self.method.method.unwrap_or(Reconciliation::usual(residuals.is_some()));
        let how = ReconcileOptions::new(method).residuals(residuals).history(history);
        let how = how.samples(self.samples).seed(self.seed);
        let how = how.non_negative(self.non_negative).integer(self.integer);
        let across = |forecast: &ForecastTable| reconcile(forecast, hierarchy, names, &how);
        let (coherent, incomplete) = of_complete_models(forecast, &names.target, across)?;
        let of_past = residuals.and_then(|past| without_past_forecasts(past, hierarchy));
        let lacking = without_forecasts(forecast, hierarchy, method);
        // What adds up the series alone reads no forecast of a sum.
        let reads_sums = lacking.is_some() && method != Reconciliation::BottomUp;
        let of_others = if reads_sums { sums_with_others(forecast, hierarchy, &names.target) } else { None };
        let warnings = lacking.into_iter().chain(of_past).chain(incomplete);
        warnings.for_each(|warning| context.warned(&warning));
        of_others.iter().for_each(|told| context.warning(told));
        if let Some(warning) = without_intervals(forecast, &names.target) {
            context.warned(&warning);
        }
        let has_intervals = forecast.models(&names.target).iter().any(|model| model.quantiles.len() > 1);
        if residuals.is_none() && has_intervals {
            context.warning(
                "intervals of sums are those of series whose errors have nothing to do with each other: too narrow where series rise and \
                 fall together; give their errors of the past (--residuals)",
            );
        }
        Ok((coherent, method))
    }

    /// The forecasts unchanged, which need no hierarchy if they add up over time.
    fn without_hierarchy(&self, forecast: ForecastTable) -> Result<ForecastTable, Usage> {
        let of_hierarchies =
            [("--method", self.method.method.is_some()), ("--history", self.history.is_some())];
        let hierarchy = "name a file with a summing matrix by --hierarchy, or columns of labels by --levels";
        if !self.temporal.is_given() {
            return Err(Usage(format!("{hierarchy}, or forecasts of sums over time by --temporal")));
        }
        match of_hierarchies.into_iter().find(|(_, given)| *given) {
            None => Ok(forecast),
            Some((flag, _)) => Err(Usage(format!(
                "{flag}: it says how a hierarchy adds up, and none is given; {hierarchy}, or leave it out"
            ))),
        }
    }
}

/// The frequency of a table; days, or steps, where there are too few times to tell.
fn freq_of(table: &ForecastTable) -> anyhow::Result<Freq> {
    let usual = match table.kind {
        TimeKind::Integer => "1",
        TimeKind::Timestamp => "D",
    };
    table.freq().map_or_else(|| Ok(Freq::parse(usual)?), Ok)
}
