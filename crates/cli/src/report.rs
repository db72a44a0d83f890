//! The files of other commands that a report takes.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use foretell::report::{Importances, ScoreSheet, ScoredBy};
use foretell::{Value, id_name};

use crate::failure::Usage;

/// The column that tells a table of scores from one of forecasts.
pub(crate) const METRIC: &str = "metric";

/// A table that `evaluate --out` wrote.
pub(crate) fn read_scores(path: &Path, id_col: &str) -> anyhow::Result<ScoreSheet> {
    let shown = path.display();
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("cannot read {shown}"))?;
    let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let place = header.iter().position(|name| name == METRIC).unwrap_or(header.len());
    let by = match header.get(..place).unwrap_or_default() {
        [] => ScoredBy::All,
        [key] if key == id_name(id_col) => ScoredBy::Series,
        [key] if key == "step" => ScoredBy::Step,
        [key] if key == "cutoff" || key == "first" => ScoredBy::Cutoff,
        keys => {
            let message = format!(
                "--scores {shown}: expected scores over all, or by {id_col}, step or cutoff, found some by {}; name \
                 what `evaluate --by all`, `series`, `step` or `cutoff` writes",
                keys.join(", ")
            );
            return Err(Usage(message).into());
        }
    };
    let models: Vec<String> = header.iter().skip(place + 1).cloned().collect();
    let mut rows = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let record = record.with_context(|| format!("cannot read {shown}"))?;
        let key = if by == ScoredBy::All { "" } else { &record[0] };
        let score = |(cell, model): (&str, &String)| {
            let number = if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
            number
                .with_context(|| format!("{shown}, row {}, column `{model}`: {cell:?} is no number", row + 1))
        };
        let scores = record.iter().skip(place + 1).zip(&models).map(score).collect::<Result<_, _>>()?;
        rows.push((key.to_owned(), record[place].to_owned(), scores));
    }
    Ok(ScoreSheet::of_rows(by, models, rows)?)
}

/// A file that `inspect --data FILE --json` wrote.
pub(crate) fn read_importances(path: &Path) -> anyhow::Result<Vec<Importances>> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let weights = serde_json::from_str::<Value>(&text).ok();
    weights.as_ref().and_then(foretell::report::importances).ok_or_else(|| {
        let message = format!(
            "--importances {shown}: expected an array of models with their weights; name what `foretell inspect \
             DIR --data FILE --json` prints"
        );
        Usage(message).into()
    })
}
