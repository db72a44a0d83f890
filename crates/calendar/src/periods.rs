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

const FISCAL_WEEK: TimeFlaw = TimeFlaw::new(
    "is a week of a fiscal year, which begins on another day in each company; write the day on which the week begins",
);

const ROMAN_MONTH: TimeFlaw = TimeFlaw::new(
    "is a month with a Roman number, of which I to IV may be quarters; write 2019-05 for V/2019",
);

/// Words beside the number of a quarter: by its letter, in French, Spanish and Portuguese, in the Nordic countries and in Japan, too.
const QUARTERS: [&str; 11] =
    ["q", "t", "k", "qtr", "quarter", "quartal", "trimestre", "trim", "kvartal", "kwartaal", "四半期"];

/// Whether a word alone means a quarter, as the name of a column: `t` and `k` are others.
pub fn is_quarter_word(word: &str) -> bool {
    QUARTERS.contains(&word) && !["t", "k"].contains(&word)
}

/// Words beside that of a half-year, or a semester, as statistical offices write them: `2000-S1`,
const HALVES: [&str; 8] = ["h", "s", "half", "halbjahr", "semestre", "semester", "halvår", "hy"];

/// and beside that of a week of ISO 8601.
const WEEKS: [&str; 9] = ["w", "week", "wk", "kw", "woche", "semaine", "semana", "vecka", "uke"];

/// Words beside that of a third of a year, which has four months.
const THIRDS: [&str; 5] = ["tertial", "tertiaali", "cuatrimestre", "quadrimestre", "quadrimester"];

/// Letters of weeks behind a year, as statistical offices of the Nordic countries write them: `2000U07`.
const NORDIC_WEEKS: [&str; 2] = ["u", "v"];

/// What makes the first, the second, ... of a number.
const ORDINALS: [&str; 10] = ["er", "e", "ème", "eme", "st", "nd", "rd", "th", "º", "ª"];

/// Numbers of quarters and half-years, as in Poland and Italy,
const ROMAN: [&str; 4] = ["I", "II", "III", "IV"];

/// and those that only months have.
const ROMAN_MONTHS: [&str; 8] = ["V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Words between a period and its year.
const OF: [&str; 2] = ["de", "of"];

/// What a number within a year counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quarter,
    Third,
    Half,
    Month,
    Week,
    /// Periods of no length that is known.
    Numbered,
}

impl Kind {
    /// By the word beside the number.
    fn of(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        match &*word {
            known if QUARTERS.contains(&known) => Some(Self::Quarter),
            known if HALVES.contains(&known) => Some(Self::Half),
            known if WEEKS.contains(&known) => Some(Self::Week),
            known if THIRDS.contains(&known) => Some(Self::Third),
            "m" => Some(Self::Month),
            "p" => Some(Self::Numbered),
            _ => None,
        }
    }

    /// By the word between a year and the number.
    fn behind_year(word: &str) -> Option<Self> {
        let is_nordic = NORDIC_WEEKS.iter().any(|week| word.eq_ignore_ascii_case(week));
        Self::of(word).or_else(|| is_nordic.then_some(Self::Week))
    }

    /// By the word behind the number: the letters S, K and W may be others there, and `kw` is a quarter in Polish.
    fn behind_number(word: &str) -> Option<Self> {
        let is_other = ["s", "k", "w", "kw"].iter().any(|other| word.eq_ignore_ascii_case(other));
        let is_certain = |kind: &Self| matches!(kind, Self::Quarter | Self::Third | Self::Half | Self::Week);
        Self::of(word).filter(is_certain).filter(|_| !is_other || word == "KW")
    }

    /// By the word behind a Roman number: weeks have none, and `kw` is a quarter in Polish.
    fn behind_roman(word: &str) -> Option<Self> {
        let is_polish = ["kw", "kwartał", "kwartal"].contains(&&*word.to_lowercase());
        let known = if is_polish { Some(Self::Quarter) } else { Self::of(word) };
        known.filter(|kind| matches!(kind, Self::Quarter | Self::Third | Self::Half))
    }

    /// By the word beside the number where the year has two digits: weeks, whose number may have two as well, are not certain.
    fn of_short_year(word: &str) -> Option<Self> {
        Self::behind_number(word).filter(|kind| *kind != Self::Week)
    }
}

const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
];

/// Reads a period, of which the first day is meant, or a day, with a time of day behind it or not: `2000Q1`, `Q1 2000`, `1Q00`,
/// `1. Quartal 2000`, `1er trimestre 2000`, `2000-H2`, `2021-W01`, `2021-W01-3`, `2000M01`, `Jan 2018`, `Jan-18`,
/// `31 January 2018 13:45`. Nothing if the text is in no form that is certain: `18-Jan` and `Jan 18` are not.
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
    let day = period(&parts, date).map(|(_, day)| day).or_else(|| day_of_named_month(&parts, date))?;
    Some(day.and_then(|day| Ok(Written::civil(days_to(day) * DAY + clock?))))
}

/// Whether a text names a quarter or half-year, and so the sum of three or six months: `Q1 2022`, `2022-H2`, `1. Quartal 2022`.
pub fn is_quarter_or_half(text: &str) -> bool {
    // Most times are of digits and marks alone.
    let may_be = text.contains(|c: char| c.is_alphabetic());
    let mut parts = [Part::End; 5];
    may_be
        && split(text, &mut parts).is_some()
        && period(&parts, text)
            .is_some_and(|(kind, day)| matches!(kind, Kind::Quarter | Kind::Half) && day.is_ok())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    /// A number, and with how many digits.
    Number(i64, usize),
    Word(&'a str),
    End,
}

/// Splits a text into numbers and words, with at most two marks between them, and without the words between a period and its year; nothing
/// if there are too many, or others.
fn split<'a>(text: &'a str, parts: &mut [Part<'a>; 5]) -> Option<()> {
    let (mut rest, mut count) = (text, 0);
    loop {
        let word = rest.len() - rest.trim_start_matches(char::is_alphabetic).len();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let part = match (word, digits) {
            (0, 1..=4) => Part::Number(rest[..digits].parse().ok()?, digits),
            (1.., 0) => Part::Word(&rest[..word]),
            _ => return None,
        };
        if !matches!(part, Part::Word(word) if OF.contains(&word)) {
            // One part less than there is room for, so that the last one is the end.
            if count + 1 == parts.len() {
                return None;
            }
            parts[count] = part;
            count += 1;
        }
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
}

/// What a number within a year counts by its word, and the first day of this quarter, half-year, week or month, or the day of a week.
fn period(parts: &[Part<'_>; 5], text: &str) -> Option<(Kind, Result<Date, TimeFlaw>)> {
    use Part::{End, Number, Word};
    if is_fiscal_week(parts) {
        return Some((Kind::Week, Err(FISCAL_WEEK)));
    }
    let roman =
        |word: &str| ROMAN.iter().zip(1..).find_map(|(roman, number)| (*roman == word).then_some(number));
    let is_ordinal = |word: &str| ORDINALS.contains(&&*word.to_lowercase());
    let (year, kind, number, digits, day) = match *parts {
        [Number(year, 4), Word(word), Number(number, digits), End, _] => {
            (year, Kind::behind_year(word)?, number, digits, None)
        }
        [Word(word), Number(number, digits), Number(year, 4), End, _] if !word.eq_ignore_ascii_case("s") => {
            (year, Kind::of(word)?, number, digits, None)
        }
        [Number(number, digits), Word(word), Number(year, 4), End, _] => {
            (year, Kind::behind_number(word)?, number, digits, None)
        }
        [Number(year, 4), Number(number, digits), Word(word), End, _] => {
            (year, Kind::behind_number(word)?, number, digits, None)
        }
        [Number(number, 1), Word(word), Number(year, 2), End, _]
        | [Word(word), Number(number, 1), Number(year, 2), End, _]
        | [Number(year, 2), Word(word), Number(number, 1), End, _] => {
            (century(year), Kind::of_short_year(word)?, number, 1, None)
        }
        [Word(number), Number(year, 4), End, ..] | [Number(year, 4), Word(number), End, ..]
            if text.contains('/') =>
        {
            if ROMAN_MONTHS.contains(&number) {
                return Some((Kind::Month, Err(ROMAN_MONTH)));
            }
            (year, Kind::Quarter, roman(number)?, 1, None)
        }
        [Word(number), Word(word), Number(year, 4), End, _] => {
            (year, Kind::behind_roman(word)?, roman(number)?, 1, None)
        }
        [Number(number, digits), Word(ordinal), Word(word), Number(year, 4), End]
        | [Number(year, 4), Number(number, digits), Word(ordinal), Word(word), End]
            if is_ordinal(ordinal) =>
        {
            (year, Kind::behind_number(word)?, number, digits, None)
        }
        // In Japan.
        [Number(year, 4), Word("年"), Number(number, digits), Word("月"), End] => {
            (year, Kind::Month, number, digits, None)
        }
        [Number(year, 4), Word("年第"), Number(number, digits), Word("四半期"), End] => {
            (year, Kind::Quarter, number, digits, None)
        }
        [Number(year, 4), Word(word), Number(number, 2), Number(day, 1), End] => {
            (year, Kind::of(word)?, number, 2, Some(day))
        }
        _ => return None,
    };
    let month = |most: i64, months: i64| match (1..=most).contains(&number) {
        true => Date::new(year as i16, ((number - 1) * months + 1) as i8, 1).map_err(|_| CALENDAR),
        false => Err(PERIOD),
    };
    let first = match (kind, digits, day) {
        (Kind::Quarter, 1, None) => month(4, 3),
        (Kind::Third, 1, None) => month(3, 4),
        (Kind::Half, 1, None) => month(2, 6),
        (Kind::Month, 1..=2, None) => month(12, 1),
        (Kind::Week, 1..=2, day) => week(year, number, day.unwrap_or(1)),
        (Kind::Numbered, 1..=2, None) => Err(NUMBERED),
        (Kind::Week, 3, None) => week(year, number / 10, number % 10),
        _ => return None,
    };
    Some((kind, first))
}

/// Whether a week is one of a fiscal year: `FY24-W03`, `FY2024 W03`, `W03 FY24`, `FW12 2024`.
fn is_fiscal_week(parts: &[Part<'_>; 5]) -> bool {
    use Part::{End, Number, Word};
    match *parts {
        [Word(first), Number(..), Word(second), Number(..), End] => {
            let is = |year: &str, week| year.eq_ignore_ascii_case("fy") && Kind::of(week) == Some(Kind::Week);
            is(first, second) || is(second, first)
        }
        [Word(week), Number(_, 1..=2), Number(..), End, _] | [Number(..), Word(week), Number(..), End, _] => {
            week.eq_ignore_ascii_case("fw")
        }
        _ => false,
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
        [Word(name), Number(year, 2), End, ..] if text.contains(['-', '/', '\'', '\u{2019}']) => {
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

/// The year that two digits stand for where no format says it: 1940 to 2039. Series begin in the forties, and forecasts go on
/// beyond the 2029 that ends those of spreadsheets; a format's `%y` is that of strptime.
pub fn century(year: i64) -> i64 {
    if year < 40 { 2000 + year } else { 1900 + year }
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
        for text in [
            "KW 1 2021", "KW01/2021", "KW 1/2021", "KW1/2021", "Week 1, 2021", "2021-wk01", "W1 2021",
            "1. KW 2021", "2021 KW 1", "1. Woche 2021", "semaine 1 2021", "2021U01", "2021V01",
        ] {
            assert_eq!(shown(text), Some(Ok("2021-01-04".to_owned())), "{text}");
        }
        for text in ["2015-P01", "2015P13", "P1 2015"] {
            assert_eq!(shown(text), Some(Err(NUMBERED)), "{text}");
        }
        for text in ["FY24-W03", "FY2024 W03", "W03 FY24", "FW12 2024", "2024FW12"] {
            assert_eq!(shown(text), Some(Err(FISCAL_WEEK)), "{text}");
        }
    }

    #[test]
    fn periods_are_their_first_days() {
        for (day, texts) in [
            (
                "2000-04-01",
                &[
                    "2000Q2", "2000-Q2", "2000 Q2", "2000:Q2", "2000q2", "Q2 2000", "Q2-2000", "Q2/2000",
                    "2Q2000", "2Q 2000", "2. Quartal 2000", "Quartal 2 2000", "Quartal 2/2000",
                    "2. Quartal, 2000", "2000 2. Quartal", "2e trimestre 2000", "2ème trimestre 2000",
                    "2nd quarter 2000", "2nd quarter of 2000", "2º trimestre de 2000", "2 trim. 2000",
                    "2000-T2", "2000T2", "T2 2000", "2T2000", "2000K2", "2. kvartal 2000", "2Q00", "2T00",
                    "Q2 00", "Q2-00", "Q2/00", "Q2'00", "00Q2", "2000年第2四半期", "II/2000", "2000/II",
                    "II kw. 2000", "II kwartał 2000", "II trimestre 2000",
                ][..],
            ),
            (
                "2000-07-01",
                &[
                    "2000H2", "2000-H2", "H2 2000", "2H2000", "2000-S2", "2000M07", "2000-M7",
                    "2. Halbjahr 2000", "2H00", "II semestre 2000", "2º semestre de 2000", "2000年7月",
                ],
            ),
            ("1999-10-01", &["4Q99", "Q4 99"]),
            ("2035-01-01", &["1Q35", "Jan-35"]),
            ("1950-01-01", &["1Q50", "Jan-50"]),
            ("2000-05-01", &["Tertial 2 2000", "2. tertial 2000", "2000 tertial 2", "II quadrimestre 2000"]),
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
                    "Jan-18", "jan/18", "Jan '18", "Jan\u{2019}18",
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
            "", "2000", "2000 1", "Q1", "1Q", "18-Jan", "Jan 18", "Jan", "Jan 31 18", "18 Jan 31", "S1 2000",
            "1S2000", "1K2000", "1 kw. 2000", "I 2000", "1W00", "W1 00", "U01 2000", "FY2000Q1", "2000Q1F",
            "2000Q01", "2000Q1 ", "2000--- Q1", "1er Quartal", "1x Quartal 2000", "Januar 2018",
            "2000年1月31日", "Ja 2018", "2018-Jan-", "31 Jan 2018 noon", "2021-W1-3", "20000Q1",
            "2000Q1 Q2 Q3 Q4",
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
        assert_eq!(["V/2000", "2000/XII"].map(shown), [Some(Err(ROMAN_MONTH)), Some(Err(ROMAN_MONTH))]);
        for text in
            ["2000Q5", "2000-Q0", "2021-W53", "2021-W01-8", "2000H3", "2000M13", "5. Quartal 2000", "5Q00"]
        {
            assert_eq!(shown(text), Some(Err(PERIOD)), "{text}");
        }
        assert_eq!(shown("30 Feb 2018"), Some(Err(CALENDAR)));
    }

    #[test]
    fn quarters_and_half_years_are_sums_of_months() {
        for text in ["Q1 2022", "2022-H2", "1. Quartal 2022", "1Q22", "2022-T1"] {
            assert!(is_quarter_or_half(text), "{text}");
        }
        for text in ["2022-01", "Jan 2022", "2022M01", "2022-W01", "Q5 2022", "2022-01-01T10:00", "Total"] {
            assert!(!is_quarter_or_half(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,20}|[0-9QWHSMJan' :.-]{0,14}") {
            let _ = read(&text);
        }
    }
}
