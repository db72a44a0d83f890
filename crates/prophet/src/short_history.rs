//! What to expect of series that are shorter than two of their seasons.

use foretell_calendar::TimeKind;
use foretell_data::Panel;

use crate::design::Design;

/// A sentence for each seasonality of which series of the panel have fewer than two seasons.
pub(crate) fn caveats(design: &Design, panel: &Panel) -> Vec<String> {
    if panel.freq().kind() == TimeKind::Integer {
        return Vec::new();
    }
    let mut short: Vec<(String, Vec<usize>)> = Vec::new();
    for series in 0..panel.n_series() {
        let time = |row| panel.time(series, row);
        let rows = panel.len(series);
        let spacing = (1..rows).map(|row| time(row) - time(row - 1)).filter(|&step| step > 0).min();
        let Some(spacing) = spacing else { continue };
        for season in design.short_seasons(time(rows - 1) - time(0), spacing) {
            let what = said(season.name, season.period, season.left_out);
            match short.iter_mut().find(|(said, _)| *said == what) {
                Some((_, places)) => places.push(series),
                None => short.push((what, vec![series])),
            }
        }
    }
    short.iter().map(|(what, places)| format!("{} {what}", named(panel, places))).collect()
}

/// What a history of fewer than two seasons means for a forecast.
fn said(name: &str, period: f64, left_out: bool) -> String {
    let few = format!("fewer than two seasons of {name} ({period} days each)");
    match left_out {
        true => format!(
            "{few}, which is left out, so forecasts are the trend and what else there is; give more history, or switch \
             {name}_seasonality on to fit it all the same"
        ),
        false => format!(
            "{few}, which is fitted all the same: it takes up what the trend could explain as well, and forecasts may go either \
             way; give more history, or leave it out"
        ),
    }
}

/// The first few of some series.
fn named(panel: &Panel, places: &[usize]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = places.iter().take(SHOWN).map(|&series| &**panel.id(series)).collect();
    match places.len().saturating_sub(SHOWN) {
        0 => format!("series {} {}", shown.join(", "), if places.len() == 1 { "has" } else { "have" }),
        more => format!("series {} and {more} more have", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;
    use serde_json::{Map, Value};

    use super::*;
    use crate::hyper_parameters::with;
    use crate::settings::ProphetSettings;

    /// Caveats on series of this many rows each.
    fn told(freq: &str, rows: &[usize], settings: &str) -> Vec<String> {
        let series: Vec<(String, &str, Vec<f32>)> = rows
            .iter()
            .enumerate()
            .map(|(i, &rows)| (format!("s{i}"), "2024-01-01", (0..rows).map(|row| row as f32).collect()))
            .collect();
        let panel = Panel::from_series(Freq::parse(freq).expect("a frequency"), series).expect("a panel");
        let table: Map<String, Value> = serde_json::from_str(settings).expect("settings");
        let settings = table.iter().fold(ProphetSettings::default(), |settings, (name, value)| {
            with(&settings, name, value).expect("a setting")
        });
        caveats(&Design::new(&settings), &panel)
    }

    #[test]
    fn seasons_that_are_left_out_and_those_that_are_fitted_all_the_same_are_told() {
        let year = told("D", &[800, 400, 500], "{}");
        assert_eq!(year.len(), 1, "{year:?}");
        assert!(
            year[0].starts_with("series s1, s2 have fewer than two seasons of yearly (365.25 days each)"),
            "{year:?}"
        );
        assert!(year[0].contains("left out") && year[0].contains("yearly_seasonality"), "{year:?}");
        let fitted = told("D", &[400], r#"{"yearly_seasonality": true}"#);
        assert!(
            fitted.len() == 1
                && fitted[0].contains("series s0 has")
                && fitted[0].contains("fitted all the same"),
            "{fitted:?}"
        );
        let own = r#"{"seasonalities": [{"name": "monthly", "period": 30.5, "fourier_order": 3}]}"#;
        assert!(told("D", &[800], own).is_empty());
        assert_eq!(told("D", &[50], own).len(), 2, "monthly and yearly");
        // A day's season of daily rows is no matter of length.
        assert!(told("D", &[1000], "{}").is_empty());
        assert_eq!(told("h", &[40], "{}").len(), 3, "yearly, weekly and daily");
        assert!(told("D", &[400], r#"{"yearly_seasonality": false}"#).is_empty());
        assert!(told("D", &[1], "{}").is_empty(), "which no trend is fitted to");
    }
}
