//! Scores as rows: a metric, what it is of, and the value of each model; printed, written and added to tables.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use foretell::evaluate::{ScoreGroup, ScoreTable, Uncounted, is_count};
use foretell::{CellTable, Cells, ForecastTable, ScoredForecasts, id_name};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::failure::Usage;
use crate::output::{Sink, write_file};
use crate::table::write_aligned;

/// The column of a table that scores are added to, of the time when they were.
const SCORED_AT: &str = "scored_at";

/// The column of the version of the models in it.
const VERSION: &str = "version";

/// A table of scores with what its groups are called.
pub(crate) struct ScoreRows<'a> {
    pub(crate) table: ScoreTable,
    scored: &'a ScoredForecasts,
    forecast: &'a ForecastTable,
    id_col: &'a str,
    /// The column of labels, and the labels by their numbers.
    labels: Option<(&'a str, Vec<String>)>,
    /// The groups by step and cutoff.
    order: Vec<usize>,
}

/// One metric of one group.
#[derive(Clone, Copy)]
pub(crate) struct ScoreRow<'a> {
    pub(crate) metric: &'a str,
    pub(crate) values: &'a [f64],
    group: usize,
}

impl<'a> ScoreRows<'a> {
    /// The scores, with a row of what each model misses and of what each metric has no score of, where there is any.
    pub(crate) fn new(
        table: ScoreTable,
        (scored, forecast): (&'a ScoredForecasts, &'a ForecastTable),
        id_col: &'a str,
        labels: Option<(&'a str, Vec<String>)>,
    ) -> Self {
        let mut order: Vec<usize> = (0..table.groups.len()).collect();
        order.sort_by_key(|&i| (table.groups[i].step, table.groups[i].cutoff));
        let table = table.with_counts();
        Self { table, scored, forecast, id_col, labels, order }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len() * self.table.metrics.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ScoreRow<'_>> {
        self.table.metrics.iter().flat_map(|metric| {
            self.order.iter().map(|&group| ScoreRow {
                metric: &metric.name,
                values: &metric.values[group],
                group,
            })
        })
    }

    /// The columns that tell what scores are of.
    fn keys(&self) -> Vec<&str> {
        let Some(group) = self.table.groups.first() else { return Vec::new() };
        let ScoreGroup { series, cutoff, label, step } = *group;
        let mut keys = Vec::new();
        keys.extend(series.map(|_| id_name(self.id_col)));
        // Without cutoffs a forecast is known by its first time.
        keys.extend(cutoff.map(|_| if self.forecast.cutoffs.is_some() { "cutoff" } else { "first" }));
        keys.extend(label.and(self.labels.as_ref()).map(|(column, _)| *column));
        keys.extend(step.map(|_| "step"));
        keys
    }

    /// What a row is of, in the order of [`ScoreRows::keys`].
    fn of(&self, row: ScoreRow<'_>) -> Vec<String> {
        let ScoreGroup { series, cutoff, label, step } = self.table.groups[row.group];
        let shown = |time: i64| self.forecast.kind.display_in(self.forecast.zone.as_ref(), time);
        let mut keys = Vec::new();
        keys.extend(series.map(|series| self.scored.ids()[series as usize].to_string()));
        let first = |cutoff| if self.forecast.cutoffs.is_some() { cutoff } else { cutoff + 1 };
        keys.extend(cutoff.map(|cutoff| shown(first(cutoff))));
        keys.extend(label.zip(self.labels.as_ref()).map(|(label, (_, names))| names[label as usize].clone()));
        keys.extend(step.map(|step| step.to_string()));
        keys
    }

    /// A row in words.
    pub(crate) fn told(&self, row: ScoreRow<'_>) -> String {
        let keys: Vec<String> =
            self.keys().iter().zip(self.of(row)).map(|(key, value)| format!("{key} {value}")).collect();
        match keys.is_empty() {
            true => row.metric.to_owned(),
            false => format!("{} of {}", row.metric, keys.join(", ")),
        }
    }

    /// What all models forecast of a row and its metric has no score of.
    pub(crate) fn uncounted(&self, row: ScoreRow<'_>) -> Uncounted {
        let metric = self.table.metrics.iter().find(|metric| metric.name == row.metric);
        metric.and_then(|metric| metric.uncounted.get(row.group)).copied().unwrap_or_default()
    }

    /// Whether any actual value of what a row is of is known.
    pub(crate) fn has_come_true(&self, row: ScoreRow<'_>) -> bool {
        self.table.compared[row.group] > 0 || self.table.missing[row.group].iter().any(|count| *count > 0)
    }

    pub(crate) fn to_json(&self, row: ScoreRow<'_>) -> Value {
        let keys = self.keys().into_iter().map(str::to_owned).zip(self.of(row).into_iter().map(Value::from));
        let mut object: Map<String, Value> = keys.collect();
        object.insert("metric".to_owned(), row.metric.into());
        let values = self.table.models.iter().cloned().zip(row.values.iter().map(|value| number(*value)));
        object.insert("values".to_owned(), values.collect::<Map<_, _>>().into());
        object.into()
    }

    /// Writes the scores as a table for people.
    pub(crate) fn write_table(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut header: Vec<String> = self.keys().into_iter().map(str::to_owned).collect();
        header.push("metric".to_owned());
        header.extend(self.table.models.iter().cloned());
        write_aligned(out, &header, || {
            self.iter().map(|row| {
                let mut cells = self.of(row);
                cells.push(row.metric.to_owned());
                cells.extend(row.values.iter().map(|value| match is_count(row.metric) {
                    true => value.to_string(),
                    false => digits(*value),
                }));
                cells
            })
        })
    }

    /// Writes the scores to a file in the format of its name.
    pub(crate) fn write(&self, sink: Sink) -> anyhow::Result<()> {
        if sink.is_text() {
            return sink.fill(|out| {
                let mut writer = csv::Writer::from_writer(out);
                writer.write_record(self.header(&[]))?;
                self.iter().try_for_each(|row| writer.write_record(self.record(row, &[])))?;
                writer.flush()?;
                anyhow::Ok(())
            });
        }
        let keys = self.keys();
        let text = |place: usize| self.iter().map(|row| Some(self.of(row).swap_remove(place))).collect();
        let keys = keys.iter().enumerate().map(|(place, key)| ((*key).to_owned(), Cells::Texts(text(place))));
        let mut columns: Vec<(String, Cells)> = keys.collect();
        let metrics = self.iter().map(|row| Some(row.metric.to_owned()));
        columns.push(("metric".to_owned(), Cells::Texts(metrics.collect())));
        for (model, name) in self.table.models.iter().enumerate() {
            let values =
                self.iter().map(|row| Some(rounded(row.values[model])).filter(|value| value.is_finite()));
            columns.push((name.clone(), Cells::Numbers(values.collect())));
        }
        sink.write_cells(&CellTable { columns })
    }

    fn header(&self, before: &[&str]) -> Vec<String> {
        let keys = before.iter().copied().chain(self.keys()).chain(["metric"]).map(str::to_owned);
        keys.chain(self.table.models.iter().cloned()).collect()
    }

    fn record(&self, row: ScoreRow<'_>, before: &[String]) -> Vec<String> {
        let cell = |value: &f64| if value.is_nan() { String::new() } else { rounded(*value).to_string() };
        let keys = before.iter().cloned().chain(self.of(row)).chain([row.metric.to_owned()]);
        keys.chain(row.values.iter().map(cell)).collect()
    }

    /// Adds the scores to a table of this command, with the time and the version of the models, except those that it has: of the same
    /// version, what they are of, and with the same values. Gives how many were added.
    pub(crate) fn append(&self, context: &Context, path: &Path, version: &str) -> anyhow::Result<usize> {
        check_appendable(path)?;
        let header = self.header(&[SCORED_AT, VERSION]);
        let line = |record: &[String]| -> anyhow::Result<Vec<u8>> {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(record)?;
            Ok(writer.into_inner()?)
        };
        let first_line = line(&header)?;
        let mut table = match fs::read(path) {
            Ok(before) if before.is_empty() => first_line,
            Ok(before) if before.starts_with(&first_line) => before,
            Ok(before) => {
                let columns = before.split(|byte| *byte == b'\n').next().unwrap_or_default();
                anyhow::bail!(
                    "--append: {} has the columns {:?}, and these scores {:?}; name another file",
                    path.display(),
                    String::from_utf8_lossy(columns).trim_end(),
                    String::from_utf8_lossy(first_line.trim_ascii_end())
                );
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => first_line,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let state = RandomState::new();
        let mut known = HashSet::new();
        for record in csv::Reader::from_reader(&*table).into_records() {
            let record = record.with_context(|| format!("cannot read {}", path.display()))?;
            known.insert(state.hash_one(record.iter().skip(1).collect::<Vec<_>>()));
        }
        if table.last().is_some_and(|byte| *byte != b'\n') {
            table.push(b'\n');
        }
        let (now, mut added) = (Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), 0);
        let mut writer = csv::Writer::from_writer(table);
        for row in self.iter() {
            let record = self.record(row, &[now.clone(), version.to_owned()]);
            let own: Vec<&str> = record.iter().skip(1).map(String::as_str).collect();
            if known.insert(state.hash_one(&own)) {
                writer.write_record(&record)?;
                added += 1;
            }
        }
        write_file(context, path, &writer.into_inner()?)?;
        Ok(added)
    }
}

/// Whether rows can be added to a file of that name: text, and none that has no end.
pub(crate) fn check_appendable(path: &Path) -> Result<(), Usage> {
    let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file());
    let ending = path.extension().unwrap_or_default();
    let is_text = ending.is_empty() || ["csv", "txt"].iter().any(|text| ending.eq_ignore_ascii_case(text));
    match (is_other || path == Path::new("-"), is_text) {
        (true, _) => Err(Usage(format!(
            "--append: {} is no regular file, whose rows could be read; name a .csv file",
            path.display()
        ))),
        (false, false) => Err(Usage(format!(
            "--append: rows are added to a plain CSV file alone, and {} is none; name a .csv file",
            path.display()
        ))),
        (false, true) => Ok(()),
    }
}

/// A score with eight digits: what more there are is noise of its computation.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.7e}").parse().unwrap_or(value)
}

/// A score with eight digits in JSON.
pub(crate) fn number(value: f64) -> Value {
    if value.is_finite() { rounded(value).into() } else { Value::Null }
}

/// A score with four digits.
pub(crate) fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let whole = value.abs().max(1e-9).log10().floor() as i32;
    let decimals = (3 - whole).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_the_digits_that_mean_something() {
        assert_eq!(
            [1.0 / 3.0, 0.1 + 0.2, 123_456_789.123, -2.0].map(rounded),
            [0.333_333_33, 0.3, 123_456_790.0, -2.0]
        );
        assert!(rounded(f64::NAN).is_nan());
        assert_eq!([3.75, 0.001_234_5, f64::NAN].map(digits), ["3.750", "0.001234", "-"]);
    }
}
