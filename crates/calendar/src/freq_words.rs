//! The words of frequencies, as pandas and polars spell them.

use std::fmt;

use super::error::CalendarError;
use super::freq::Freq;
use super::months::{Edge, Every, MONTHS};
use super::opening_hours::OpeningHours;
use super::retail::Retail;
use super::unit::{FIXED, Unit};
use super::workdays::{MONDAY_TO_FRIDAY, WEEKDAYS, Workdays};
use foretell_messages::ranked;

/// Words of older pandas, and of polars, and their spelling.
const OLD: [(&str, &str); 25] = [
    ("S", "s"),
    ("T", "min"),
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
            // With a number these are words of polars, whose weeks begin on Mondays; pandas had others.
            "w" if digits > 0 => Unit::Week(0),
            "m" if digits > 0 => Unit::parse("min")?,
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
        let candidates = every.into_iter().flat_map(|every| Edge::ALL.map(|edge| (every, edge)));
        let months = candidates.into_iter().find(|(every, edge)| base == months_word(*every, *edge));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn freq(word: &str) -> Freq {
        Freq::parse(word).unwrap()
    }

    #[test]
    fn words_are_read_and_written_as_pandas_does() {
        for (word, written) in [
            ("1", "1"),
            ("24", "24"),
            ("s", "s"),
            ("S", "s"),
            ("min", "min"),
            ("T", "min"),
            ("h", "h"),
            ("H", "h"),
            ("2H", "2h"),
            ("15min", "15min"),
            ("D", "D"),
            ("1D", "D"),
            ("B", "B"),
            ("W", "W-SUN"),
            ("w-wed", "W-WED"),
            ("2W-MON", "2W-MON"),
            ("MS", "MS"),
            ("ME", "ME"),
            ("M", "ME"),
            ("QS", "QS-JAN"),
            ("Q", "QE-DEC"),
            ("QE-NOV", "QE-NOV"),
            ("YS", "YS-JAN"),
            ("A", "YE-DEC"),
            ("Y", "YE-DEC"),
            ("YE-JUN", "YE-JUN"),
            ("ms", "ms"),
            (" 3MS ", "3MS"),
            ("BM", "BME"),
            ("BMS", "BMS"),
            ("BQ-NOV", "BQE-NOV"),
            ("BQS", "BQS-JAN"),
            ("BA", "BYE-DEC"),
            ("BYS-APR", "BYS-APR"),
            ("SM", "SME-15"),
            ("SMS", "SMS-15"),
            ("SME-20", "SME-20"),
            ("L", "ms"),
            ("U", "us"),
            ("BH", "bh"),
            ("bh-09:00-17:00", "bh"),
            ("bh-08:30-12:30,13:00-17:00", "bh-08:30-12:30,13:00-17:00"),
            ("bh/1111110,2024-12-25", "bh/1111110,2024-12-25"),
            ("C", "B"),
            ("2C-Tue Wed Thu", "2C-0111000"),
            ("C-1111100,2024-12-26,2024-12-25,2024-12-28", "C-1111100,2024-12-25,2024-12-26"),
            ("RE-N-jan-sat", "RE-N-JAN-SAT"),
            ("REQ-L-DEC-SUN-4", "REQ-L-DEC-SUN-4"),
            ("RSM-N-JAN-SAT-445", "RSM-N-JAN-SAT-445"),
            ("1mo", "MS"),
            ("1q", "QS-JAN"),
            ("1y", "YS-JAN"),
            ("2w", "2W-MON"),
            ("1d", "D"),
            ("15m", "15min"),
            ("3i", "3"),
        ] {
            assert_eq!(freq(word).to_string(), written, "{word}");
            assert_eq!(freq(written), freq(word));
        }
    }

    #[test]
    fn an_unknown_word_names_the_nearest() {
        for (word, nearest) in
            [("hourly", "`h`"), ("15mins", "`min`"), ("W-SON", "`W-SUN`"), ("BMZ", "`BME`")]
        {
            let error = Freq::parse(word).unwrap_err().to_string();
            assert!(error.contains(&format!("`{word}`")) && error.contains(nearest), "{error}");
        }
        for word in [
            "", "m", "0", "0D", "-1D", "D-MON", "QS-13", "99999999999999999999", "1D12h", "MS-JAN",
            "B-1111100", "C-", "C-0000000", "C-1111100,2024-02-30", "C-1111100,", "W/1", "SMS-1", "SME-28",
            "bh-17:00-09:00", "bh-09:00-09:00", "bh-09:00-09:30", "bh-09:00-25:00", "bh/", "RE-N-JAN",
            "RE-X-JAN-SAT", "REQ-N-JAN-SAT-5", "REM-N-JAN-SAT-4", "RZ-N-JAN-SAT", "RÄ",
        ] {
            assert!(Freq::parse(word).is_err(), "{word}");
        }
    }
}
