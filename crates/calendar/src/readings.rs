//! The formats and languages in which a text would be a time, for messages on a text that is none.

use super::kind::TimeKind;
use super::locale::Locale;
use super::spelling;
use super::time_format::TimeFormat;
use foretell_messages::Setting;

/// Dates as people and programs write them, beside the usual forms.
const DATES: [&str; 52] = [
    "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y", "%d-%m-%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y",
    "%Y-%m-%d", "%Y-%d-%m", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", YEAR_DAY, "%G-%V", SEASONS[0], SEASONS[1],
    "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%A, %B %d, %Y", "%a, %d %b %Y", "%B %d, %Y", "%b %y", "%m/%Y",
    "%m-%Y", "%m.%Y", "0%m.%Y", "0%m/%Y", "%Y.%m", QUARTER, YEAR, "%a %d %b %Y", "%Y年%m月%d日", "%qQ%Y",
    "%Y%qQ", "FY%Y", "FY%yQ%q", "FY%YQ%q", "FY%y Q%q", "FY%Y Q%q", "FY%y-Q%q", "FY%Y-Q%q", "Q%q FY%y",
    "Q%q FY%Y", "FY%y", "FY %Y", WEEK, MONTH_OF_SHORT_YEAR, "%y-%m-%d", "%d-%m-%y", "%Y/0%m",
];

/// A week and its year, where it is no month.
const WEEK: &str = "%V/%G";

/// A month and the last two digits of its year, both of two digits.
const MONTH_OF_SHORT_YEAR: &str = "%m/%y";

/// A year as a number with decimals, which no time of day follows.
const YEAR: &str = "%Y.0";

/// A year and a quarter, which may be one of the first months of it.
const QUARTER: &str = "%Y.%q";

/// A year and a day of it, in three digits: those of two are a week.
const YEAR_DAY: &str = "%Y-%j";

/// A year and the one after it.
const SEASONS: [&str; 2] = ["%Y/%y", "%Y-%y"];

/// Times of day that follow them.
const CLOCKS: [&str; 13] = [
    "", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %I %p", "T%H%M%S", " %H%M", " %H.%M",
    " %H.%M.%S", ":%H:%M:%S", " %H:%M:%S%.f", " %H:%M:%S,%f",
];

/// How a text reads in the formats and languages that fit it, as one clause; nothing for texts of a usual form, and where none fits.
pub fn readings(text: &str) -> Option<String> {
    let text = text.trim();
    if text.parse::<i64>().is_ok() || spelling::read(text).is_ok() {
        return None;
    }
    let formats = formats(text);
    let found = match formats.is_empty() {
        true => languages(text),
        false => formats
            .into_iter()
            .map(|(format, time)| format!("{} reads it as {time}", Setting::TimeFormat.to(format)))
            .collect(),
    };
    (!found.is_empty()).then(|| found.join(", "))
}

/// The same of the languages that know the month of a text, where English does not.
pub fn readings_by_language(text: &str) -> Option<String> {
    let text = text.trim();
    let is_known = text.parse::<i64>().is_ok() || spelling::read(text).is_ok();
    let found = if is_known { Vec::new() } else { languages(text) };
    (!found.is_empty()).then(|| found.join(", "))
}

/// The formats that fit, and what the time is in each: two of them where day and month could be either.
pub fn formats(text: &str) -> Vec<(String, String)> {
    let (start, rest) = text.split_once(" - ").map_or((text, None), |(start, end)| (start.trim(), Some(end)));
    let mut found: Vec<(String, String)> = Vec::new();
    for (date, clock) in DATES.iter().flat_map(|date| CLOCKS.map(|clock| (date, clock))) {
        let is_date = match *date {
            YEAR | QUARTER | "%G-%V" => clock.is_empty(),
            WEEK => clock.is_empty() && is_no_month(start),
            MONTH_OF_SHORT_YEAR => clock.is_empty() && start.len() == 5,
            YEAR_DAY => start.get(5..8).is_some_and(|day| day.bytes().all(|byte| byte.is_ascii_digit())),
            date if SEASONS.contains(&date) => clock.is_empty() && is_season(start),
            _ => true,
        };
        if !is_date {
            continue;
        }
        let of_start = format!("{date}{clock}");
        let Some(time) = read(&of_start, start) else { continue };
        let format = match rest {
            None => of_start,
            // The end may be cut off in a message, and a time of day alone.
            Some(end) if end.len() < start.len() && !end.ends_with("...") => {
                format!("{of_start} - {}", clock.trim())
            }
            Some(_) => format!("{of_start} - {of_start}"),
        };
        // The first of a month in either order is the same day, and the next row another one.
        let exchanged = format.replace("%m", "\0").replace("%d", "%m").replace('\0', "%d");
        let is_new = |(other, at): &(String, String)| {
            *at != time || (*other == exchanged && *other != format) || format == QUARTER
        };
        if TimeFormat::parse(&format).is_ok() && found.iter().all(is_new) {
            found.push((format, time));
        }
    }
    found
}

/// Whether a text begins with a number that is more than that of a month.
fn is_no_month(text: &str) -> bool {
    let number = text.split_once('/').and_then(|(number, _)| number.parse::<u32>().ok());
    number.is_some_and(|number| number > 12)
}

/// Whether a text is a year and the last digits of the one after it, which are no month.
fn is_season(text: &str) -> bool {
    let Some((year, next)) = text.split_once(['/', '-']).filter(|(_, next)| next.len() == 2) else {
        return false;
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (Some(year), Some(next)) = (number(year), number(next)) else { return false };
    next == (year + 1) % 100 && next > 12
}

/// The time in a format, if it is of years that people have.
fn read(format: &str, text: &str) -> Option<String> {
    let written = TimeFormat::parse(format).ok()?.read(text).ok()?;
    let time = TimeKind::Timestamp.display(written.civil);
    let year: i32 = time.get(..4)?.parse().ok()?;
    (1600..2200).contains(&year).then_some(time)
}

/// The languages that know the month, by what they take the time for.
fn languages(text: &str) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for locale in Locale::others() {
        let english = locale.in_english(text, None);
        let Ok(written) = spelling::read(&english) else { continue };
        let (time, code) = (TimeKind::Timestamp.display(written.civil), locale.to_string());
        match found.iter_mut().find(|(other, _)| *other == time) {
            Some((_, codes)) => codes.push(code),
            None => found.push((time, vec![code])),
        }
    }
    let worded = |(time, codes): (String, Vec<String>)| {
        let others = if codes.len() > 1 { format!(" (or {})", codes[1..].join(", ")) } else { String::new() };
        format!("{}{others} reads it as {time}", Setting::Locale.to(&codes[0]))
    };
    found.into_iter().map(worded).collect()
}

#[cfg(test)]
mod tests {
    use super::readings;

    #[test]
    fn months_of_other_languages_are_told() {
        let found = super::readings_by_language;
        assert!(found("Mär 2023").unwrap().starts_with("`ReadOptions::locale = de` reads it as 2023-03-01"));
        for other in ["Jan 2023", "Total", "Gesamt 2023", "FY2023", "2023", "Mars", "dept 3"] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn formats_that_fit_are_named_with_what_they_read() {
        for (text, expected) in [
            ("31.01.2024", "= %d.%m.%Y` reads it as 2024-01-31"),
            ("31.01.24 13:45", "= %d.%m.%y %H:%M` reads it as 2024-01-31 13:45:00"),
            ("31.01.2024 13.45.07", "= %d.%m.%Y %H.%M.%S` reads it as 2024-01-31 13:45:07"),
            ("2024-01-31 13.45", "= %Y-%m-%d %H.%M` reads it as 2024-01-31 13:45:00"),
            ("13/2019", "= %V/%G` reads it as 2019-03-25"),
            ("02/24", "= %m/%y` reads it as 2024-02-01"),
            ("24-01-31", "= %y-%m-%d` reads it as 2024-01-31"),
            ("31-01-24", "= %d-%m-%y` reads it as 2024-01-31"),
            ("2019/002", "= %Y/0%m` reads it as 2019-02-01"),
            ("2024-01-31 01:45 pm", "= %Y-%m-%d %I:%M %p` reads it as 2024-01-31 13:45:00"),
            ("1/31/2024 1:45:07 PM", "= %m/%d/%Y %I:%M:%S %p` reads it as 2024-01-31 13:45:07"),
            ("20240131T134507", "= %Y%m%dT%H%M%S` reads it as 2024-01-31 13:45:07"),
            ("01.2024", "= %m.%Y` reads it as 2024-01-01"),
            ("2024-060", "= %Y-%j` reads it as 2024-02-29"),
            (
                "2015.1",
                "= %Y.%m` reads it as 2015-01-01, `ReadOptions::time_format = %Y.%q` reads it as 2015-01-01",
            ),
            ("2015.2", "= %Y.%q` reads it as 2015-04-01"),
            ("2019-13", "= %G-%V` reads it as 2019-03-25"),
            ("2019-100", "= %Y-%j` reads it as 2019-04-10"),
            ("2012/13", "= %Y/%y` reads it as 2012-01-01"),
            ("2012-13", "= %Y-%y` reads it as 2012-01-01"),
            ("1960.0", "= %Y.0` reads it as 1960-01-01"),
            ("Jan 24", "= %b %y` reads it as 2024-01-01"),
            ("Wed 31 Jan 2024", "= %a %d %b %Y` reads it as 2024-01-31"),
            ("2024年1月31日", "= %Y年%m月%d日` reads it as 2024-01-31"),
            ("001.2021", "= 0%m.%Y` reads it as 2021-01-01"),
            ("20242Q", "= %Y%qQ` reads it as 2024-04-01"),
            ("FY2024", "= FY%Y` reads it as 2024-01-01"),
            ("FY24Q2", "= FY%yQ%q` reads it as 2024-04-01"),
            ("FY24 Q2", "= FY%y Q%q` reads it as 2024-04-01"),
            ("FY2024-Q2", "= FY%Y-Q%q` reads it as 2024-04-01"),
            ("Q2 FY24", "= Q%q FY%y` reads it as 2024-04-01"),
            ("FY24", "= FY%y` reads it as 2024-01-01"),
            (
                "31.01.2024 23:00 - 01.02.2024 00:00",
                "= %d.%m.%Y %H:%M - %d.%m.%Y %H:%M` reads it as 2024-01-31 23:00:00",
            ),
            ("31.01.2024 23:00 - 24:00", "= %d.%m.%Y %H:%M - %H:%M` reads it as 2024-01-31 23:00:00"),
            // Cut short in a message.
            ("31/01/2024 23:00:00 - 01/02/2024 00:00...", "= %d/%m/%Y %H:%M:%S - %d/%m/%Y %H:%M:%S`"),
            ("janv. 2024", "= fr` reads it as 2024-01-01"),
            ("Mai 2024", "= de` (or fr, pt, nb) reads it as 2024-05-01"),
        ] {
            let found = readings(text).unwrap_or_default();
            assert!(found.contains(expected), "{text}: {found}");
        }
        // A month, as long as it may be one.
        assert!(!readings("12/2019").unwrap().contains("%V"));
        let weeks = readings("2019-13").unwrap();
        assert!(!weeks.contains("%j") && !weeks.contains("%y"), "{weeks}");
    }

    #[test]
    fn days_that_could_be_months_are_read_both_ways() {
        let found = readings("01/02/2024").unwrap();
        assert!(found.contains("%m/%d/%Y` reads it as 2024-01-02, `"), "{found}");
        assert!(found.ends_with("%d/%m/%Y` reads it as 2024-02-01"), "{found}");
        // Which of both is meant only other rows show.
        let found = readings("02/02/2024").unwrap();
        assert!(found.contains("%m/%d/%Y` reads it") && found.contains("%d/%m/%Y` reads it"), "{found}");
    }

    #[test]
    fn usual_forms_and_other_texts_have_none() {
        for text in [
            "2024-01-31", "2020.0000", "2020.0833", "20240131", "2024-02-30", "yesterday", "", "1.5",
            "99.99.9999", "-", "0000-00-00",
        ] {
            assert_eq!(readings(text), None, "{text}");
        }
    }
}
