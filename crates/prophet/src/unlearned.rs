//! What a history teaches nothing of: columns that never changed, holidays that no row falls on or that were not in it yet.

use std::collections::{BTreeMap, BTreeSet};

use foretell_calendar::{TimeKind, usual_season};
use foretell_data::Panel;

use crate::design::Design;
use crate::rows::DAY;
use crate::settings::{Growth, ProphetSettings};

/// Sentences on columns and holidays whose effect the history of a panel cannot tell.
pub(crate) fn caveats(settings: &ProphetSettings, design: &Design, panel: &Panel) -> Vec<String> {
    let constant = design.regressors().filter_map(|name| constant_regressor(name, panel));
    let bounds = settings.futr_exog_list.iter().filter(|name| settings.is_only_bound(name));
    let bounds = bounds.map(|name| {
        format!(
            "{name} is the capacity or the floor, and no regressor as well, though futr_exog_list names it; name it in regressors to \
             have it as one, too"
        )
    });
    let reached = settings.cap.as_deref().filter(|_| settings.growth == Growth::Logistic);
    let reached = reached.and_then(|cap| reached_capacity(cap, panel));
    let mut caveats: Vec<String> = constant.chain(bounds).chain(reached).collect();
    if panel.freq().kind() == TimeKind::Timestamp {
        caveats.extend(missed_holidays(design, panel).or_else(|| new_holidays(settings, design, panel)));
        caveats.extend(holidays_in_utc(settings, panel));
    }
    caveats
}

/// A column that is the same in all rows of a series.
fn constant_regressor(name: &str, panel: &Panel) -> Option<String> {
    let never = |series: &usize| {
        let values = panel.column(name, *series);
        values.is_ok_and(|values| values.windows(2).all(|pair| pair[0] == pair[1]))
    };
    let series: Vec<usize> = (0..panel.n_series()).filter(never).collect();
    let shown: Vec<&str> = series.iter().take(5).map(|&series| &**panel.id(series)).collect();
    let more = match series.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!series.is_empty()).then(|| {
        format!(
            "the regressor {name} never changes in the history of series {}{more}: nothing is known of its effect there, and it has \
             none; give rows where it changes, or leave it out",
            shown.join(", ")
        )
    })
}

/// Values above the capacity, which no logistic curve reaches.
fn reached_capacity(cap: &str, panel: &Panel) -> Option<String> {
    let above = |series: usize| {
        let caps = panel.column(cap, series).ok()?;
        let y = panel.known_y(series, 0..panel.len(series));
        let rows = y.iter().zip(caps).filter(|(y, cap)| *y > *cap).count();
        (rows > 0).then(|| (panel.id(series), rows, panel.len(series)))
    };
    let found: Vec<_> = (0..panel.n_series()).filter_map(above).collect();
    let (id, rows, of) = found.first()?;
    let more =
        if found.len() > 1 { format!(" (and in {} more series)", found.len() - 1) } else { String::new() };
    Some(format!(
        "{rows} of {of} values of series {id}{more} are above the capacity {cap}, which no logistic trend reaches: forecasts stay \
         below such values; give a capacity that they could have"
    ))
}

/// The days of a series' rows, since 1970-01-01.
fn days(panel: &Panel, series: usize) -> impl Iterator<Item = i64> {
    days_of(panel, panel.times(series).collect())
}

/// The days of the `steps` steps after the end of a series.
fn days_ahead(panel: &Panel, series: usize, steps: usize) -> impl Iterator<Item = i64> {
    days_of(panel, panel.future_times(series, steps).unwrap_or_default())
}

fn days_of(panel: &Panel, times: Vec<i64>) -> impl Iterator<Item = i64> {
    times
        .into_iter()
        .map(move |time| panel.zone().and_then(|zone| zone.civil(time)).unwrap_or(time).div_euclid(DAY))
}

/// Holidays between the first and the last row that most rows miss, as those of weeks do.
fn missed_holidays(design: &Design, panel: &Panel) -> Option<String> {
    let holidays: BTreeSet<i64> = design.holidays().map(|(day, _)| day).collect();
    let rows = || (0..panel.n_series()).flat_map(|series| days(panel, series));
    let (first, last) = (rows().min()?, rows().max()?);
    let all = holidays.range(first..=last).count();
    let hit: BTreeSet<i64> = rows().filter(|day| holidays.contains(day)).collect();
    // A row of each day hits all, and one of business days most. Of weeks and months no other row stands for those that are missed.
    let is_coarse = panel.freq().next(0, 48).is_some_and(|last| last / 48 >= 5 * DAY);
    if hit.len() == all || !is_coarse && 2 * hit.len() >= all {
        return None;
    }
    // The steps of a forecast are not known here: a season ahead is looked at.
    let season = usual_season(panel.freq()).max(1);
    let ahead = (0..panel.n_series()).flat_map(|series| days_ahead(panel, series, season));
    let ahead: BTreeSet<i64> = ahead.filter(|day| holidays.contains(day)).collect();
    Some(format!(
        "{} of {all} days of holidays between the first and the last row are the day of a row, and {} of the steps of a season after \
         them: with the frequency `{}` a holiday has an effect only where a row has its very day; write each holiday with the day of \
         its row (holidays), or give a column that counts those of each step (futr_exog_list)",
        hit.len(),
        ahead.len(),
        panel.freq()
    ))
}

/// Holidays among the steps to forecast that the history of their series has not had.
fn new_holidays(settings: &ProphetSettings, design: &Design, panel: &Panel) -> Option<String> {
    let holidays: BTreeMap<i64, &[usize]> = design.holidays().collect();
    let columns = |day: i64| holidays.get(&day).copied().unwrap_or_default();
    if holidays.is_empty() {
        return None;
    }
    let new = |series: usize| {
        let known: BTreeSet<usize> = days(panel, series).flat_map(columns).copied().collect();
        let is_new = |day: &i64| columns(*day).iter().any(|column| !known.contains(column));
        let days: BTreeSet<i64> = days_ahead(panel, series, settings.h).filter(is_new).collect();
        Some((panel.id(series), *days.first()?, days.len()))
    };
    let found: Vec<_> = (0..panel.n_series()).filter_map(new).collect();
    let (id, first, count) = found.first()?;
    let more =
        if found.len() > 1 { format!(" (and of {} more series)", found.len() - 1) } else { String::new() };
    Some(format!(
        "{count} of the days to forecast of series {id}{more} are holidays that its history has not had, the first {}: nothing is known of \
         their effect, and they are forecast as other days are; give a history that has each holiday",
        TimeKind::Timestamp.display(first * DAY)
    ))
}

/// The holidays of a country by the days of UTC.
fn holidays_in_utc(settings: &ProphetSettings, panel: &Panel) -> Option<String> {
    let country = settings.country_holidays.as_deref()?;
    let zone = panel.zone()?;
    let is_utc = ["UTC", "Z", "+00:00", "Etc/UTC"].contains(&zone.to_string().as_str());
    (is_utc && !panel.freq().is_daily_or_coarser()).then(|| {
        format!(
            "the times are in UTC, and so the holidays of country_holidays={country} begin and end at midnight in UTC; name the zone of \
             the country"
        )
    })
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, Zone};
    use serde_json::{Map, Value};

    use super::*;
    use crate::hyper_parameters::with;

    fn told(panel: &Panel, settings: &str) -> Vec<String> {
        let table: Map<String, Value> = serde_json::from_str(settings).expect("settings");
        let settings = table.iter().fold(ProphetSettings::default(), |settings, (name, value)| {
            with(&settings, name, value).expect("a setting")
        });
        caveats(&settings, &Design::new(&settings), panel)
    }

    fn panel(freq: &str, rows: usize) -> Panel {
        let y: Vec<f32> = (0..rows).map(|row| (row % 7) as f32).collect();
        Panel::from_series(Freq::parse(freq).expect("a frequency"), [("a", "2023-01-01", y)])
            .expect("a panel")
    }

    #[test]
    fn holidays_that_rows_miss_are_counted() {
        let country = r#"{"country_holidays": "US"}"#;
        let weeks = told(&panel("W-SUN", 200), country);
        assert!(weeks.len() == 1 && weeks[0].contains("with the frequency `W-SUN`"), "{weeks:?}");
        assert!(told(&panel("D", 400), country).is_empty());
        // Half of the holidays of Germany are Mondays.
        let y: Vec<f32> = (0..110).map(|row| (row % 7) as f32).collect();
        let mondays = Panel::from_series(Freq::parse("W-MON").expect("weeks"), [("a", "2022-01-03", y)]);
        let mondays = told(&mondays.expect("a panel"), r#"{"country_holidays": "DE"}"#);
        assert!(mondays.len() == 1 && mondays[0].contains("with the frequency `W-MON`"), "{mondays:?}");
        // From January to March: of the holidays that follow none is known.
        let days = told(&panel("D", 90), r#"{"country_holidays": "US", "h": 100}"#);
        assert!(
            days.len() == 1 && days[0].starts_with("3 of the days to forecast of series a are"),
            "{days:?}"
        );
        assert!(days[0].contains("the first 2023-05-29"), "{days:?}");
        assert!(told(&panel("W-SUN", 200), "{}").is_empty());
        // Those that are written with the days of rows are hit.
        let own = r#"{"holidays": [{"holiday": "sale", "ds": "2023-11-26"}, {"holiday": "sale", "ds": "2024-12-01"}]}"#;
        assert!(told(&panel("W-SUN", 200), own).is_empty());
    }

    #[test]
    fn holidays_of_a_country_are_not_those_of_utc() {
        let hours = |zone: &str| {
            let start = Zone::parse(zone).expect("a zone");
            let builder =
                Panel::builder(TimeKind::Timestamp).zone(start).freq(Freq::parse("h").expect("hours"));
            let times: Vec<i64> = (0..48).map(|hour| 1_703_376_000_000_000 + hour * 3_600_000_000).collect();
            builder.series("a", &times, &[1.0; 48]).build().expect("a panel")
        };
        let country = r#"{"country_holidays": "DE"}"#;
        let utc = told(&hours("UTC"), country);
        assert!(utc.iter().any(|caveat| caveat.contains("midnight in UTC")), "{utc:?}");
        assert!(told(&hours("Europe/Berlin"), country).is_empty());
    }

    #[test]
    fn values_above_the_capacity_are_told() {
        let told_of = |cap: f32, growth: &str| {
            let builder = Panel::builder(TimeKind::Timestamp).freq(Freq::parse("D").expect("days"));
            let times: Vec<i64> = (0..5).map(|day| day * DAY).collect();
            let builder = builder.series("a", &times, &[1.0, 2.0, 3.0, 4.0, 5.0]).column("cap", &[cap; 5]);
            let settings = format!(r#"{{"growth": "{growth}", "cap": "cap"}}"#);
            told(&builder.build().expect("a panel"), &settings)
        };
        let low = told_of(3.5, "logistic");
        assert!(low.len() == 1 && low[0].starts_with("2 of 5 values of series a are above"), "{low:?}");
        assert!(told_of(5.0, "logistic").is_empty() && told_of(3.5, "linear").is_empty());
    }

    #[test]
    fn columns_that_never_changed_and_bounds_are_told() {
        let priced = |price: &[f32]| {
            let builder = Panel::builder(TimeKind::Timestamp).freq(Freq::parse("D").expect("days"));
            let times: Vec<i64> = (0..price.len() as i64).map(|day| day * DAY).collect();
            let builder = builder.series("a", &times, &vec![1.0; price.len()]);
            builder.column("price", price).build().expect("a panel")
        };
        let read = r#"{"futr_exog_list": ["price"]}"#;
        let constant = told(&priced(&[5.0; 9]), read);
        assert!(constant.len() == 1 && constant[0].contains("regressor price never changes"), "{constant:?}");
        assert!(told(&priced(&[5.0, 5.0, 6.0]), read).is_empty());
        let bound = told(
            &priced(&[5.0; 9]),
            r#"{"growth": "logistic", "cap": "price", "futr_exog_list": ["price"]}"#,
        );
        assert!(bound.len() == 1 && bound[0].contains("no regressor as well"), "{bound:?}");
    }
}
