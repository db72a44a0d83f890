//! Scores of a report: those that `evaluate --out` wrote, or those of forecasts beside the actual values.

use std::path::Path;

use anyhow::Context as _;
use foretell::evaluate::{Metric, ScoreBy, ScoreGroup, ScoreTable};
use foretell::{ColumnNames, Error, ForecastTable, Frame, Panel, ScoredForecasts};
use foretell_report::{ScoreSheet, ScoredBy};

use crate::failure::Usage;
use crate::forecast_windows::{civil, known_values};

/// The column that tells a table of scores from one of forecasts.
pub(crate) const METRIC: &str = "metric";

/// Scores of a table of forecasts over all, by step, series and cutoff; none if nothing has come true. The truth is the table's own
/// target, else the data; what was known before is in the data.
pub(crate) fn scored(
    frame: &Frame,
    panel: &Panel,
    target: &str,
    season: usize,
) -> anyhow::Result<Vec<ScoreSheet>> {
    let columns = ColumnNames { target: target.to_owned(), ..ColumnNames::default() };
    let data = ForecastTable::of_frame(history(panel, target));
    let table = ForecastTable::of_frame(frame.clone());
    let own_truth = table.columns.iter().any(|(name, _)| name == target);
    let scored = match ScoredForecasts::new(&table, (!own_truth).then_some(&data), Some(&data), &columns) {
        Err(Error::NothingCameTrue { .. }) => return Ok(Vec::new()),
        scored => scored?,
    };
    let mut names = vec!["mae", "rmse", "smape"];
    names.extend(scored.has_history().then_some("mase"));
    names.extend(if scored.has_quantiles() { &["mqloss", "coverage"][..] } else { &[] });
    names.push("bias");
    let metrics: Vec<Metric> = names.into_iter().map(Metric::parse).collect::<Result<_, _>>()?;
    let sheet = |by, scored_by| -> anyhow::Result<ScoreSheet> {
        let table = scored.scores(&metrics, by, season, None, None)?;
        let key = |group: &ScoreGroup| match by {
            ScoreBy::Series => scored.ids()[group.series.unwrap_or_default() as usize].to_string(),
            ScoreBy::Step => group.step.unwrap_or_default().to_string(),
            ScoreBy::Cutoff => {
                panel.freq().kind().display(civil(panel.zone(), group.cutoff.unwrap_or_default()))
            }
            _ => String::new(),
        };
        Ok(listed(&table, scored_by, key))
    };
    let mut sheets = vec![
        sheet(ScoreBy::All, ScoredBy::All)?,
        sheet(ScoreBy::Step, ScoredBy::Step)?,
        sheet(ScoreBy::Series, ScoredBy::Series)?,
    ];
    // Without cutoffs a forecast is one of one time.
    if frame.cutoffs.is_some() {
        sheets.extend(Some(sheet(ScoreBy::Cutoff, ScoredBy::Cutoff)?).filter(|sheet| sheet.keys.len() > 1));
    }
    Ok(sheets)
}

/// The data as a table.
fn history(panel: &Panel, target: &str) -> Frame {
    let mut frame = Frame::new(panel.freq());
    frame.zone = panel.zone().cloned();
    let mut y = Vec::with_capacity(panel.n_rows());
    for series in 0..panel.n_series() {
        for (time, value) in known_values(panel, series) {
            frame.ids.push(panel.id(series).clone());
            frame.times.push(time);
            y.push(value);
        }
    }
    frame.columns = vec![(target.to_owned(), y)];
    frame
}

fn listed(table: &ScoreTable, by: ScoredBy, key: impl Fn(&ScoreGroup) -> String) -> ScoreSheet {
    let mut order: Vec<usize> = (0..table.groups.len()).collect();
    order.sort_by_key(|&group| (table.groups[group].step, table.groups[group].cutoff));
    let values = order
        .iter()
        .flat_map(|&group| table.metrics.iter().flat_map(move |metric| metric.values[group].iter().copied()));
    ScoreSheet {
        by,
        keys: order.iter().map(|&group| key(&table.groups[group])).collect(),
        metrics: table.metrics.iter().map(|metric| metric.name.clone()).collect(),
        models: table.models.clone(),
        values: values.collect(),
    }
}

/// A table that `evaluate --out` wrote. Of scores of the same key and metric the last ones count.
pub(crate) fn read(path: &Path, id_col: &str) -> anyhow::Result<ScoreSheet> {
    let shown = path.display();
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("cannot read {shown}"))?;
    let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let place = header.iter().position(|name| name == METRIC).unwrap_or(header.len());
    let by = match header.get(..place).unwrap_or_default() {
        [] => ScoredBy::All,
        [key] if key == id_col => ScoredBy::Series,
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
    let (mut keys, mut metrics) = (Names::default(), Names::default());
    let mut cells = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let record = record.with_context(|| format!("cannot read {shown}"))?;
        let key = if by == ScoredBy::All { "" } else { &record[0] };
        let [key, metric] = [keys.place(key), metrics.place(&record[place])];
        for (model, cell) in record.iter().skip(place + 1).enumerate() {
            let number = if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
            let number = number.with_context(|| {
                format!("{shown}, row {}, column `{}`: {cell:?} is no number", row + 1, models[model])
            })?;
            cells.push((key, metric, model, number));
        }
    }
    let (keys, metrics) = (keys.names, metrics.names);
    let mut values = vec![f64::NAN; keys.len() * metrics.len() * models.len()];
    for (key, metric, model, number) in cells {
        values[(key * metrics.len() + metric) * models.len() + model] = number;
    }
    Ok(ScoreSheet { by, keys, metrics, models, values })
}

/// Different names in the order in which they appear.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    places: std::collections::HashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}
