//! Periods by their names: quarters, half-years, weeks, months; and days of months that are spelt out in English.

use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use super::cursor::Cursor;
use super::days::{CALENDAR, DAY, days_to};
use super::flaw::{Advice, TimeFlaw};
use super::written::Written;
use foretell_messages::Setting;

const PERIOD: TimeFlaw =
    TimeFlaw::new("names no quarter, half-year, week or month of that year; correct its number");

const NUMBERED: TimeFlaw = TimeFlaw::advising(
    "is a numbered period of a year; where that is a month, write it as 2024-01, or read it, as in",
    &Advice::new(Setting::TimeFormat, "%Y-P%m")
        .or(", and where a year has 13 of four weeks, number the rows with integers as times, and name the season (13)"),
);

/// Words before the number of a week of ISO 8601, beside the letter.
const WEEKS: [&str; 3] = ["week", "wk", "kw"];

const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
];

/// Reads a period, of which the first day is meant, or a day, with a time of day behind it or not: `2000Q1`, `Q1 2000`,
/// `2000-H2`, `2021-W01`, `2021-W01-3`, `2000M01`, `Jan 2018`, `Jan-18`, `31 January 2018 13:45`. Nothing if the text is
/// in no form that is certain: `18-Jan` and `Jan 18` are not.
pub(crate) fn read(text: &str) -> Option<Result<Written<'static>, TimeFlaw>> {
    let (date, clock) = match text.rsplit_once(' ').filter(|(_, clock)| clock.contains(':')) {
        Some((date, clock)) => {
            let mut cursor = Cursor(clock.as_bytes());
            let clock = cursor.clock();
            if !cursor.0.is_empty() {
                return None;
            }
            (date, clock)
        }
        None => (text, Ok(0)),
    };
    let mut parts = [Part::End; 5];
    split(date, &mut parts)?;
    let day = period(&parts).or_else(|| day_of_named_month(&parts, date))?;
    Some(day.and_then(|day| Ok(Written::civil(days_to(day) * DAY + clock?))))
}

/// Whether a text names a quarter or half-year by its letter, and so the sum of three or six months: `Q1 2022`, `2022-H2`.
pub fn is_quarter_or_half(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic);
    let mut parts = [Part::End; 5];
    letters.count() == 1
        && text.contains(['Q', 'q', 'H', 'h', 'S', 's'])
        && split(text, &mut parts).is_some()
        && period(&parts).is_some_and(|day| day.is_ok())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    /// A number, and with how many digits.
    Number(i64, usize),
    Word(&'a str),
    End,
}

/// Splits a text into numbers and words, with at most two marks between them; nothing if there are too many, or others.
fn split<'a>(text: &'a str, parts: &mut [Part<'a>; 5]) -> Option<()> {
    let mut rest = text;
    // One part less than there is room for, so that the last one is the end.
    for part in &mut parts[..4] {
        let word = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        *part = match (word, digits) {
            (0, 1..=4) => Part::Number(rest[..digits].parse().ok()?, digits),
            (1.., 0) => Part::Word(&rest[..word]),
            _ => return None,
        };
        rest = &rest[word + digits..];
        if rest.is_empty() {
            return Some(());
        }
        let after = rest.trim_start_matches([' ', '-', '/', '.', ',', ':', '\'', '\u{2019}']);
        if after.is_empty() || rest.chars().count() - after.chars().count() > 2 {
            return None;
        }
        rest = after;
    }
    None
}

/// The first day of a quarter, half-year, week or month that is named by a letter and a number, or a day of a week.
fn period(parts: &[Part<'_>; 5]) -> Option<Result<Date, TimeFlaw>> {
    use Part::{End, Number, Word};
    let (year, letter, number, digits, day) = match *parts {
        [Number(year, 4), Word(letter), Number(number, digits), End, _] => {
            (year, letter, number, digits, None)
        }
        [Word(letter), Number(number, digits), Number(year, 4), End, _]
            if !letter.eq_ignore_ascii_case("s") =>
        {
            (year, letter, number, digits, None)
        }
        [Number(number, digits), Word(letter @ ("Q" | "q" | "H" | "h")), Number(year, 4), End, _] => {
            (year, letter, number, digits, None)
        }
        [Number(year, 4), Word(letter), Number(number, 2), Number(day, 1), End] => {
            (year, letter, number, 2, Some(day))
        }
        _ => return None,
    };
    let month = |most: i64, months: i64| match (1..=most).contains(&number) {
        true => Date::new(year as i16, ((number - 1) * months + 1) as i8, 1).map_err(|_| CALENDAR),
        false => Err(PERIOD),
    };
    let letter = if WEEKS.iter().any(|week| letter.eq_ignore_ascii_case(week)) { "W" } else { letter };
    match (letter.as_bytes(), digits, day) {
        ([b'Q' | b'q'], 1, None) => Some(month(4, 3)),
        // Statistical offices write semesters as `2000-S1`.
        ([b'H' | b'h' | b'S' | b's'], 1, None) => Some(month(2, 6)),
        ([b'M' | b'm'], 1..=2, None) => Some(month(12, 1)),
        ([b'W' | b'w'], 1..=2, day) => Some(week(year, number, day.unwrap_or(1))),
        ([b'P' | b'p'], 1..=2, None) => Some(Err(NUMBERED)),
        ([b'W' | b'w'], 3, None) => Some(week(year, number / 10, number % 10)),
        _ => None,
    }
}

/// That day, from Monday = 1, of a week of ISO 8601.
fn week(year: i64, week: i64, day: i64) -> Result<Date, TimeFlaw> {
    let weekday = Weekday::from_monday_one_offset(day as i8).map_err(|_| PERIOD)?;
    let date = ISOWeekDate::new(year as i16, week as i8, weekday).map_err(|_| PERIOD)?;
    Ok(date.date())
}

/// A day whose month has its English name, or the first day of such a month.
fn day_of_named_month(parts: &[Part<'_>; 5], text: &str) -> Option<Result<Date, TimeFlaw>> {
    use Part::{End, Number, Word};
    let (year, name, day) = match *parts {
        [Word(name), Number(year, 4), End, ..] | [Number(year, 4), Word(name), End, ..] => (year, name, 1),
        [Number(day, 1..=2), Word(name), Number(year, 4), End, _]
        | [Word(name), Number(day, 1..=2), Number(year, 4), End, _]
        | [Number(year, 4), Word(name), Number(day, 1..=2), End, _] => (year, name, day),
        // As spreadsheets write them; with a blank, the 18th of a January may be meant.
        [Word(name), Number(year, 2), End, ..] if text.contains(['-', '\'', '\u{2019}']) => {
            (century(year), name, 1)
        }
        [Number(day, 1..=2), Word(name), Number(year, 2), End, _] if text.contains(['-', '/']) => {
            (century(year), name, day)
        }
        _ => return None,
    };
    let name = name.to_ascii_lowercase();
    let named = |month: &&str| {
        **month == *name || month[..3] == *name || (name == "sept" && month.starts_with("sept"))
    };
    let month = MONTHS.iter().position(named)? + 1;
    Some(Date::new(year as i16, month as i8, day as i8).map_err(|_| CALENDAR))
}

/// The year that spreadsheets take two digits for: 1930 to 2029.
fn century(year: i64) -> i64 {
    if year < 30 { 2000 + year } else { 1900 + year }
}

/// The first day of a year, a month or a day that is written without a time of day, and the first one after it.
pub fn whole_period(text: &str) -> Option<[Date; 2]> {
    let (first, length) = match text.len() {
        4 => (format!("{text}-01-01"), 1.year()),
        7 => (format!("{text}-01"), 1.month()),
        10 => (text.to_owned(), 1.day()),
        _ => return None,
    };
    let first: Date = first.parse().ok()?;
    Some([first, first.checked_add(length).ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::TimeKind;
    use proptest::prelude::*;

    fn shown(text: &str) -> Option<Result<String, TimeFlaw>> {
        Some(read(text)?.map(|written| TimeKind::Timestamp.display(written.civil)))
    }

    #[test]
    fn weeks_by_words_are_read_and_numbered_periods_are_asked_about() {
        for text in ["KW 1 2021", "KW01/2021", "Week 1, 2021", "2021-wk01", "W1 2021"] {
            assert_eq!(shown(text), Some(Ok("2021-01-04".to_owned())), "{text}");
        }
        for text in ["2015-P01", "2015P13", "P1 2015"] {
            assert_eq!(shown(text), Some(Err(NUMBERED)), "{text}");
        }
    }

    #[test]
    fn periods_are_their_first_days() {
        for (day, texts) in [
            (
                "2000-04-01",
                &[
                    "2000Q2", "2000-Q2", "2000 Q2", "2000:Q2", "2000q2", "Q2 2000", "Q2-2000", "Q2/2000",
                    "2Q2000", "2Q 2000",
                ][..],
            ),
            ("2000-07-01", &["2000H2", "2000-H2", "H2 2000", "2H2000", "2000-S2", "2000M07", "2000-M7"]),
            (
                "2021-01-04",
                &[
                    "2021-W01", "2021W01", "2021-w1", "2021 W01", "W01 2021", "W1-2021", "2021-W01-1",
                    "2021W011",
                ],
            ),
            ("2021-01-06", &["2021-W01-3", "2021W013"]),
            ("2021-01-03", &["2020-W53-7"]),
            (
                "2018-01-01",
                &[
                    "Jan 2018", "Jan-2018", "JAN2018", "Jan. 2018", "January, 2018", "2018 jan", "2018-Jan",
                    "Jan-18", "Jan '18", "Jan\u{2019}18",
                ],
            ),
            ("1949-09-01", &["Sep-49", "Sept 1949", "September 1949"]),
            (
                "2018-01-31",
                &[
                    "31 Jan 2018", "31-Jan-2018", "31-JAN-18", "Jan 31, 2018", "January 31 2018",
                    "2018-Jan-31", "31. January 2018",
                ],
            ),
            ("2018-01-31 13:45:00", &["31 Jan 2018 13:45", "Jan 31, 2018 13:45:00"]),
            ("2018-02-01", &["31-Jan-2018 24:00"]),
        ] {
            for text in texts {
                assert_eq!(shown(text), Some(Ok(day.to_owned())), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_certain_is_left_alone() {
        for text in [
            "", "2000", "2000 1", "Q1", "Q1 00", "1Q00", "18-Jan", "Jan 18", "Jan", "Jan 31 18", "18 Jan 31",
            "S1 2000", "FY2000Q1", "2000Q1F", "2000Q01", "2000Q1 ", "2000--- Q1", "T1 2000", "Januar 2018",
            "Ja 2018", "2018-Jan-", "31 Jan 2018 noon", "2021-W1-3", "20000Q1", "2000Q1 Q2 Q3 Q4",
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
        for text in ["2000Q5", "2000-Q0", "2021-W53", "2021-W01-8", "2000H3", "2000M13"] {
            assert_eq!(shown(text), Some(Err(PERIOD)), "{text}");
        }
        assert_eq!(shown("30 Feb 2018"), Some(Err(CALENDAR)));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,20}|[0-9QWHSMJan' :.-]{0,14}") {
            let _ = read(&text);
        }
    }
}
