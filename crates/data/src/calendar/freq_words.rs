//! The words of frequencies, as pandas and polars spell them.

use std::fmt;

use super::error::CalendarError;
use super::freq::Freq;
use super::months::{Edge, Every, MONTHS};
use super::opening_hours::OpeningHours;
use super::retail::Retail;
use super::unit::{FIXED, Unit};
use super::workdays::{MONDAY_TO_FRIDAY, WEEKDAYS, Workdays};
use crate::nearest::ranked;

/// Words of older pandas, and of polars, and their spelling.
const OLD: [(&str, &str); 26] = [
    ("S", "s"),
    ("T", "min"),
    ("m", "min"),
    ("H", "h"),
    ("L", "ms"),
    ("U", "us"),
    ("d", "D"),
    ("b", "B"),
    ("BH", "bh"),
    ("w", "W"),
    ("M", "ME"),
    ("mo", "MS"),
    ("Q", "QE"),
    ("q", "QS"),
    ("A", "YE"),
    ("Y", "YE"),
    ("y", "YS"),
    ("AS", "YS"),
    ("BM", "BME"),
    ("BQ", "BQE"),
    ("BA", "BYE"),
    ("BY", "BYE"),
    ("BAS", "BYS"),
    ("SM", "SME"),
    ("CBH", "bh"),
    ("cbh", "bh"),
];

impl Freq {
    /// Reads a frequency word.
    ///
    /// # Errors
    /// [`CalendarError::UnknownFreq`] names the nearest valid words.
    pub fn parse(word: &str) -> Result<Self, CalendarError> {
        Self::parse_word(word.trim()).ok_or_else(|| {
            let unit = word.trim().trim_start_matches(|c: char| c.is_ascii_digit());
            let words = FIXED.iter().map(|(word, _)| *word);
            let words = words.chain([
                "B", "C", "bh", "W-SUN", "SMS", "SME", "MS", "ME", "QS", "QE", "YS", "YE", "BMS", "BME",
                "BQS", "BQE", "BYS", "BYE",
            ]);
            let nearest = ranked(unit, words, 3);
            let nearest = nearest.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
            CalendarError::UnknownFreq { word: word.to_owned(), nearest }
        })
    }

    fn parse_word(word: &str) -> Option<Self> {
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (multiple, unit) = word.split_at(digits);
        let multiple = if digits == 0 { 1 } else { multiple.parse().ok()? };
        if multiple < 1 || word.is_empty() {
            return None;
        }
        let unit = match unit {
            "" | "i" => Unit::Integer,
            // With a number it is a word of polars, whose weeks begin on Mondays.
            "w" if digits > 0 => Unit::Week(0),
            unit => Unit::parse(unit)?,
        };
        Some(Self { unit, multiple })
    }
}

impl Unit {
    fn parse(word: &str) -> Option<Self> {
        if let Some(retail) = word.strip_prefix('R').and_then(Retail::parse) {
            return Some(Self::Retail(retail));
        }
        let (base, behind) = word.split_at(word.find(['-', '/']).unwrap_or(word.len()));
        let base = OLD.iter().find(|(old, _)| *old == base).map_or(base, |(_, new)| new);
        let anchor = behind.strip_prefix('-');
        match base {
            "bh" => return OpeningHours::parse(behind).map(Self::Hours),
            "C" if behind.is_empty() => return Some(Self::Workdays(&MONDAY_TO_FRIDAY)),
            "C" => return Workdays::parse(anchor?).map(Self::Workdays),
            "B" if behind.is_empty() => return Some(Self::Workdays(&MONDAY_TO_FRIDAY)),
            _ if !behind.is_empty() && anchor.is_none() => return None,
            "W" => return named(anchor, &WEEKDAYS, 6).map(Self::Week),
            "SMS" | "SME" => {
                let (day, end) = (anchor.unwrap_or("15").parse().ok()?, base == "SME");
                let days = if end { 1..=27 } else { 2..=27 };
                return days.contains(&day).then_some(Self::SemiMonths { day, end });
            }
            _ => {}
        }
        let every = [Every::Month, Every::Quarter, Every::Year];
        let found = every.into_iter().flat_map(|every| Edge::ALL.map(|edge| (every, edge)));
        let months = found.into_iter().find(|(every, edge)| base == months_word(*every, *edge));
        match months {
            Some((Every::Month, edge)) if anchor.is_none() => {
                Some(Self::Months { every: Every::Month, month: 1, edge })
            }
            Some((Every::Month, _)) => None,
            Some((every, edge)) => {
                let month = named(anchor, &MONTHS, if edge.is_end() { 11 } else { 0 })? + 1;
                Some(Self::Months { every, month, edge })
            }
            None if anchor.is_some() => None,
            None => FIXED.iter().position(|(word, _)| *word == base).map(|i| Self::Fixed(i as u8)),
        }
    }
}

/// Which of the names an anchor is; without one, the default.
fn named(anchor: Option<&str>, names: &[&str], default: u8) -> Option<u8> {
    let Some(anchor) = anchor else { return Some(default) };
    names.iter().position(|name| name.eq_ignore_ascii_case(anchor)).map(|i| i as u8)
}

fn months_word(every: Every, edge: Edge) -> &'static str {
    match (every, edge) {
        (Every::Month, Edge::Start) => "MS",
        (Every::Month, Edge::End) => "ME",
        (Every::Month, Edge::BusinessStart) => "BMS",
        (Every::Month, Edge::BusinessEnd) => "BME",
        (Every::Quarter, Edge::Start) => "QS",
        (Every::Quarter, Edge::End) => "QE",
        (Every::Quarter, Edge::BusinessStart) => "BQS",
        (Every::Quarter, Edge::BusinessEnd) => "BQE",
        (Every::Year, Edge::Start) => "YS",
        (Every::Year, Edge::End) => "YE",
        (Every::Year, Edge::BusinessStart) => "BYS",
        (Every::Year, Edge::BusinessEnd) => "BYE",
    }
}

impl fmt::Display for Freq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.multiple != 1 || self.unit == Unit::Integer {
            write!(f, "{}", self.multiple)?;
        }
        match self.unit {
            Unit::Integer => Ok(()),
            Unit::Fixed(index) => f.write_str(FIXED[index as usize].0),
            Unit::Workdays(days) if *days == MONDAY_TO_FRIDAY => f.write_str("B"),
            Unit::Workdays(days) => write!(f, "C-{days}"),
            Unit::Hours(hours) => write!(f, "bh{hours}"),
            Unit::Week(weekday) => write!(f, "W-{}", WEEKDAYS[weekday as usize]),
            Unit::Months { every: Every::Month, edge, .. } => f.write_str(months_word(Every::Month, edge)),
            Unit::Months { every, month, edge } => {
                write!(f, "{}-{}", months_word(every, edge), MONTHS[month as usize - 1])
            }
            Unit::SemiMonths { day, end } => write!(f, "SM{}-{day}", if end { "E" } else { "S" }),
            Unit::Retail(retail) => write!(f, "R{retail}"),
        }
    }
}

impl std::str::FromStr for Freq {
    type Err = CalendarError;

    fn from_str(word: &str) -> Result<Self, CalendarError> {
        Self::parse(word)
    }
}

impl TryFrom<String> for Freq {
    type Error = CalendarError;

    fn try_from(word: String) -> Result<Self, CalendarError> {
        Self::parse(&word)
    }
}

impl From<Freq> for String {
    fn from(freq: Freq) -> Self {
        freq.to_string()
    }
}
