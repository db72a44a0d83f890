//! Tables of sums over time.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::hierarchy::Reconciliation;
use foretell::{ForecastTable, ReadOptions, Warning, of_complete_models};
use foretell_auto::{SumsTable, Temporal, TemporalTables};

use crate::failure::Usage;
use crate::hierarchy_args::method;

/// Forecasts of sums over periods of the steps, and how both are made to agree.
#[derive(Debug, Args)]
pub(crate) struct TemporalArgs {
    /// Period of the steps in --forecast, and file of forecasts of the sums over it, as 24h=days.csv, with the columns of --forecast. MS=months.csv
    /// of days has the days of each month. Several times for several periods
    #[arg(long, value_name = "P=FILE", value_parser = period_and_file)]
    temporal: Vec<(String, PathBuf)>,
    /// How steps and sums are made to agree [default: MinTraceVar with --residuals of steps and of sums, else MinTraceWLS]
    #[arg(
        long, value_name = "M", value_parser = method(&Temporal::METHODS), ignore_case = true, requires = "temporal"
    )]
    temporal_method: Option<Reconciliation>,
}

/// A period, and a file of its sums.
type OfPeriod<'a> = (&'a str, &'a Path);

impl TemporalArgs {
    pub(crate) fn is_given(&self) -> bool {
        !self.temporal.is_empty()
    }

    /// The files of past forecasts of the steps, and those of sums, `24h=past_days.csv`, with their periods.
    pub(crate) fn residuals<'a>(
        &self,
        given: &'a [String],
    ) -> Result<(Option<&'a Path>, Vec<OfPeriod<'a>>), Usage> {
        let of_sums = |text: &'a str| {
            let (period, file) = text.split_once('=')?;
            self.temporal.iter().any(|(known, _)| known == period).then_some((period, Path::new(file)))
        };
        let sums = given.iter().filter_map(|text| of_sums(text)).collect();
        let steps: Vec<&str> =
            given.iter().map(String::as_str).filter(|text| of_sums(text).is_none()).collect();
        match steps[..] {
            [] => Ok((None, sums)),
            [only] => Ok((Some(Path::new(only)), sums)),
            [one, other, ..] => Err(Usage(format!(
                "--residuals: {one} and {other} are both of the steps; name one of them, and those of sums with their period as --temporal \
                 does, 24h=FILE"
            ))),
        }
    }

    /// The forecasts of steps, reconciled with those of the sums, and by which method, of past forecasts of both; and a warning of models
    /// that are left out.
    pub(crate) fn reconciled(
        &self,
        forecast: &ForecastTable,
        residuals: (Option<&ForecastTable>, &[OfPeriod<'_>]),
        options: &ReadOptions,
    ) -> anyhow::Result<((ForecastTable, Reconciliation), Option<Warning>)> {
        let read = |path: &Path| ForecastTable::from_file(path, options);
        let past = |period: &str| residuals.1.iter().find(|(of, _)| *of == period);
        let sums = self.temporal.iter().map(|(period, path)| {
            Ok::<_, anyhow::Error>((
                period,
                read(path)?,
                past(period).map(|(_, path)| read(path)).transpose()?,
            ))
        });
        let sums = sums.collect::<Result<Vec<_>, _>>()?;
        let sums =
            sums.iter().map(|(period, forecast, past)| SumsTable { period, forecast, past: past.as_ref() });
        let (sums, target): (Vec<_>, _) = (sums.collect(), &options.target_col);
        let over_time = |steps: &ForecastTable| {
            let (past, sums) = (residuals.0, sums.clone());
            TemporalTables { steps, past, sums, target, method: self.temporal_method }.reconcile()
        };
        Ok(of_complete_models(forecast, target, over_time)?)
    }
}

/// Reads `24h=days.csv`.
fn period_and_file(text: &str) -> Result<(String, PathBuf), String> {
    let parts = text.split_once('=').filter(|(period, file)| !period.is_empty() && !file.is_empty());
    let (period, file) = parts.ok_or("write it as PERIOD=FILE, for example 24h=days.csv")?;
    Ok((period.to_owned(), file.into()))
}
