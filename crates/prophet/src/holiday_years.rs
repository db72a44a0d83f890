//! What to expect of the holidays of a country in years that its calendar does not cover.

use foretell_calendar::{TimeKind, jiff::Timestamp, jiff::tz::TimeZone};
use foretell_data::Panel;

use crate::settings::ProphetSettings;

/// A sentence if the data, or what is forecast after them, are partly of other years than the country's calendar.
pub(crate) fn caveat(settings: &ProphetSettings, panel: &Panel) -> Option<String> {
    let country = settings.country_holidays.as_deref()?;
    if panel.freq().kind() == TimeKind::Integer {
        return None;
    }
    let year = |time: i64| {
        let civil = panel.zone().and_then(|zone| zone.civil(time)).unwrap_or(time);
        Some(Timestamp::from_microsecond(civil).ok()?.to_zoned(TimeZone::UTC).year())
    };
    let series = || (0..panel.n_series()).filter(|&series| panel.len(series) > 0);
    let first = year(series().map(|series| panel.time(series, 0)).min()?)?;
    let last = series().map(|series| panel.time(series, panel.len(series) - 1)).max()?;
    // Times that cannot be counted on to lie behind the last year there is.
    let ahead = panel.freq().next_in(panel.zone(), last, settings.h as i64).and_then(year);
    let (last, ahead) = (year(last)?, ahead.unwrap_or(9999));
    let known = foretell_holidays::YEARS;
    if known.contains(&first) && known.contains(&ahead) {
        return None;
    }
    let [from, to] = [known.start(), known.end()];
    let span = |first: i16, last: i16| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let years = match known.contains(&first) && known.contains(&last) {
        true => format!("the forecasts go on to {ahead}"),
        false => format!("the data are of {}", span(first, last)),
    };
    let lacks = match last < *from || first > *to {
        true => "no holiday of these years is known, and their holidays are forecast as other days are",
        false => "holidays outside of the calendar's years are not known, and are taken for other days",
    };
    Some(format!(
        "the calendar of country_holidays={country} covers {from} to {to}, and {years}: {lacks}; name the days in holidays, or \
         leave country_holidays out"
    ))
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;
    use serde_json::json;

    use super::*;
    use crate::hyper_parameters::with;

    /// The caveat of a forecast of 12 months after monthly data from `start`.
    fn told(start: &str, months: usize, country: serde_json::Value) -> Option<String> {
        let series = vec![("a".to_owned(), start, (0..months).map(|row| row as f32).collect::<Vec<_>>())];
        let panel = Panel::from_series(Freq::parse("MS").expect("a frequency"), series).expect("a panel");
        let settings = ProphetSettings { h: 12, ..ProphetSettings::default() };
        caveat(&with(&settings, "country_holidays", &country).expect("a country"), &panel)
    }

    #[test]
    fn years_without_a_calendar_are_told() {
        let none = told("1970-01-01", 36, json!("US")).expect("a caveat");
        assert!(none.starts_with("the calendar of country_holidays=US covers 1990 to 2050, and the data are of 1970 to 1972: no holiday"), "{none}");
        let some = told("1989-12-01", 36, json!("DE")).expect("a caveat");
        assert!(some.contains("the data are of 1989 to 1992: holidays outside"), "{some}");
        let ahead = told("2049-01-01", 24, json!("DE")).expect("a caveat");
        assert!(ahead.contains("the forecasts go on to 2051: holidays outside"), "{ahead}");
        let after = told("2060-01-01", 3, json!("DE")).expect("a caveat");
        assert!(after.contains("the data are of 2060: no holiday"), "{after}");
        assert_eq!(told("1990-01-01", 36, json!("US")), None);
        assert_eq!(told("2049-01-01", 12, json!("US")), None);
        assert_eq!(told("1970-01-01", 36, json!(null)), None);
    }
}
