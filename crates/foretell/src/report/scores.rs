//! Scores of forecasts beside the actual values.

use super::windows::civil;
use crate::error::Error;
use foretell_data::{ForecastTable, Panel};
use foretell_evaluate::{Metric, ScoreBy, ScoreGroup, ScoreTable};
use foretell_report::{ScoreSheet, ScoredBy, grouped};
use foretell_scores::{ScoredForecasts, ScoresError};
use foretell_tables::Frame;

/// Scores of a table of forecasts over all, by step, series and cutoff; none if nothing has come true. The truth is the table's own
/// target, else the data; what was known before is in the data. `season` is in steps.
///
/// # Errors
/// If the rows cannot be scored: of another kind of times than the data, of a series and time twice.
pub fn scored(frame: &Frame, panel: &Panel, target: &str, season: usize) -> Result<Vec<ScoreSheet>, Error> {
    let data = ForecastTable::of_panel(panel, target);
    let table = ForecastTable::of_frame(frame.clone());
    let own_truth = table.columns.iter().any(|(name, _)| name == target);
    let scored = match ScoredForecasts::new(&table, (!own_truth).then_some(&data), Some(&data), target) {
        Err(ScoresError::NothingCameTrue { .. }) => return Ok(Vec::new()),
        scored => scored?,
    };
    let metrics = |by: ScoreBy<'_>| -> Result<Vec<Metric>, Error> {
        let mut names = vec!["mae"];
        // Of one step a forecast has one row, whose rmse is mae.
        names.extend((by != ScoreBy::Step).then_some("rmse"));
        names.push("smape");
        names.extend(scored.has_history().then_some("mase"));
        names.extend(scored.has_quantiles().then_some("mqloss"));
        names.extend(scored.has_intervals().then_some("coverage"));
        names.push("bias");
        Ok(names.into_iter().map(Metric::parse).collect::<Result<_, _>>()?)
    };
    let sheet = |by: ScoreBy<'_>, scored_by| -> Result<ScoreSheet, Error> {
        let metrics = metrics(by)?;
        let table = scored.scores(&metrics, by, season, None, None)?;
        let key = |group: &ScoreGroup| match by {
            ScoreBy::Series => scored.ids()[group.series.unwrap_or_default() as usize].to_string(),
            ScoreBy::Step => group.step.unwrap_or_default().to_string(),
            ScoreBy::Cutoff => {
                panel.freq().kind().display(civil(panel.zone(), group.cutoff.unwrap_or_default()))
            }
            _ => String::new(),
        };
        Ok(listed(table, scored_by, key))
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

/// Where scores come from and of which models they are; and that they are of others than those that forecast, where they are.
pub fn whose_scores(file: &str, sheets: &[ScoreSheet], forecast: &[String]) -> Vec<String> {
    let Some(all) = sheets.iter().find(|sheet| sheet.by == ScoredBy::All).or(sheets.first()) else {
        return Vec::new();
    };
    let count = |by, one: &str, several: &str| {
        let sheet = sheets.iter().find(|sheet| sheet.by == by)?;
        Some(match sheet.keys.len() {
            1 => format!("1 {one}"),
            count => format!("{} {several}", grouped(count)),
        })
    };
    let groups = [
        count(ScoredBy::Series, "series", "series"),
        count(ScoredBy::Cutoff, "cutoff", "cutoffs"),
        count(ScoredBy::Step, "step ahead", "steps ahead"),
    ];
    let groups: Vec<String> = groups.into_iter().flatten().collect();
    let of = if groups.is_empty() { String::new() } else { format!(", over {}", groups.join(", ")) };
    let mut told = vec![format!("These are the scores of {file}: of {}{of}.", all.models.join(", "))];
    let unscored: Vec<&str> =
        forecast.iter().filter(|model| !all.models.contains(model)).map(String::as_str).collect();
    if !unscored.is_empty() {
        let what = if unscored.len() == forecast.len() { "They say nothing of" } else { "They lack" };
        told.push(format!("{what} {}, which the forecasts above are of.", unscored.join(", ")));
    }
    told
}

fn listed(table: ScoreTable, by: ScoredBy, key: impl Fn(&ScoreGroup) -> String) -> ScoreSheet {
    let mut order: Vec<usize> = (0..table.groups.len()).collect();
    order.sort_by_key(|&group| (table.groups[group].step, table.groups[group].cutoff));
    let table = table.with_counts();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_say_whose_they_are() {
        let sheet = |by, keys: &[&str]| {
            let rows = keys.iter().map(|key| (*key, "mae", vec![1.0, 2.0]));
            ScoreSheet::of_rows(by, vec!["A".to_owned(), "B".to_owned()], rows).unwrap()
        };
        let sheets = [sheet(ScoredBy::All, &[""]), sheet(ScoredBy::Cutoff, &["1", "2"])];
        let told = |models: &[&str]| {
            let models: Vec<String> = models.iter().map(|model| (*model).to_owned()).collect();
            whose_scores("cv.csv", &sheets, &models).join(" ")
        };
        assert_eq!(told(&["B"]), "These are the scores of cv.csv: of A, B, over 2 cutoffs.");
        assert!(told(&["C", "A"]).ends_with("They lack C, which the forecasts above are of."));
        assert!(told(&["C"]).ends_with("They say nothing of C, which the forecasts above are of."));
        assert!(whose_scores("cv.csv", &[], &[]).is_empty());
    }
}
