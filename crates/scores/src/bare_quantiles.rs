//! Columns whose names tell a quantile and no model, as AutoGluon's `0.1` and GluonTS's `p10`.

use foretell_data::ForecastTable;
use foretell_tables::{ColumnPart, ForecastColumn, SAMPLE_ID};

/// What may stand before the number.
const MARKS: [&str; 6] = ["quantile_", "quantile", "q_", "q", "p_", "p"];

/// The model of quantiles beside which there is no forecast.
const NAMELESS: &str = "forecast";

/// The quantile that a column's name tells, if it tells nothing else.
fn told(name: &str) -> Option<f64> {
    let lower = name.to_ascii_lowercase();
    let behind = MARKS.iter().find_map(|mark| lower.strip_prefix(mark));
    let number = behind.unwrap_or(&lower);
    if !number.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let value: f64 = number.parse().ok()?;
    match (number.contains('.'), behind) {
        (true, _) => Some(value).filter(|q| 0.0 < *q && *q < 1.0),
        // Percent: a number alone may be the name of anything.
        (false, Some(_)) => Some(value / 100.0).filter(|q| 0.0 < *q && *q < 1.0),
        (false, None) => None,
    }
}

/// Names columns that tell a quantile and no model as quantiles of the only forecast beside them, `0.1` beside `mean` as `mean_ql0.1`: each would be
/// scored as a forecast of its own. Gives the names of before and now; none where it is not clear that they are quantiles: of two or more on either
/// side of the median, beside at most one forecast.
///
/// ```
/// # use foretell_scores::name_quantiles;
/// # use foretell_data::{ForecastTable, ReadOptions};
/// # let path = std::env::temp_dir().join(format!("foretell-quantiles-{}.csv", std::process::id()));
/// std::fs::write(&path, "unique_id,ds,mean,0.1,0.9\na,1,5,3,8\n")?;
/// let mut table = ForecastTable::from_file(&path, &ReadOptions::new())?;
/// # std::fs::remove_file(&path)?;
/// assert_eq!(name_quantiles(&mut table, "y")[0], ["0.1", "mean_ql0.1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn name_quantiles(table: &mut ForecastTable, target: &str) -> Vec<[String; 2]> {
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let quantiles: Vec<(usize, f64)> =
        names.iter().enumerate().filter_map(|(place, name)| Some((place, told(name)?))).collect();
    let others: Vec<&str> = (names.iter().copied())
        .filter(|name| *name != target && *name != SAMPLE_ID && told(name).is_none())
        .collect();
    // Both sides of the median, and no quantile twice: names of models such as p1 and p2 are no quantiles.
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let has = |wanted: f64| quantiles.iter().filter(|(_, q)| near(*q, wanted)).count() == 1;
    let are_quantiles = quantiles.len() > 1 && quantiles.iter().all(|(_, q)| has(*q) && has(1.0 - q));
    let model = match &others[..] {
        _ if !are_quantiles => return Vec::new(),
        [] => NAMELESS,
        [model] => *model,
        _ => return Vec::new(),
    };
    let is_alone = others.is_empty();
    let named = |(place, q): (usize, f64)| {
        let part = if is_alone && near(q, 0.5) { ColumnPart::Median } else { ColumnPart::Quantile(q) };
        (place, ForecastColumn::new(model, part).name())
    };
    let renamed: Vec<(usize, String)> = quantiles.into_iter().map(named).collect();
    let rename = |(place, name): (usize, String)| {
        let before = std::mem::replace(&mut table.columns[place].0, name.clone());
        [before, name]
    };
    renamed.into_iter().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use foretell_calendar::TimeKind;

    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        let mut table = ForecastTable {
            file: "f.csv".into(),
            ids: vec![Arc::from("a")],
            integer_ids: false,
            is_unnamed: false,
            times: vec![1],
            kind: TimeKind::Integer,
            zone: None,
            cutoffs: None,
            columns: names.iter().map(|name| ((*name).to_owned(), vec![1.0])).collect(),
            known: Default::default(),
            notes: Vec::new(),
        };
        name_quantiles(&mut table, "y");
        table.columns.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn quantiles_are_those_of_the_forecast_beside_them() {
        assert_eq!(
            named(&["y", "mean", "0.1", "0.5", "0.9"]),
            ["y", "mean", "mean_ql0.1", "mean_ql0.5", "mean_ql0.9"]
        );
        assert_eq!(named(&["p10", "P50", "p90"]), ["forecast_ql0.1", "forecast-median", "forecast_ql0.9"]);
        assert_eq!(named(&["q0.25", "q0.75"]), ["forecast_ql0.25", "forecast_ql0.75"]);
        for unclear in [
            &["p1", "p2"][..],
            &["A", "B", "0.1", "0.9"],
            &["mean", "0.5"],
            &["mean", "10", "90"],
            &["q0.1", "p10", "q0.9"],
        ] {
            assert_eq!(named(unclear), unclear);
        }
    }
}
