//! Times that are written in a format of their own.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::CalendarError;
use super::flaw::TimeFlaw;
use super::pattern::Pattern;
use super::serial::Serial;
use super::written::Written;

pub(crate) const STEP: TimeFlaw =
    TimeFlaw::new("is not an integer, which the format of the times says it is; give another format");

/// How the times of a table are written, where the usual spellings do not say it.
///
/// ```
/// use foretell_calendar::{TimeFormat, TimeKind};
///
/// let time = TimeFormat::parse("%Y%m%d")?.civil("20240131").expect("a day");
/// assert_eq!(TimeKind::Timestamp.display(time), "2024-01-31");
/// # Ok::<(), foretell_calendar::CalendarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeFormat(How);

#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    Integer,
    Serial(Serial),
    Pattern(Pattern),
}

impl TryFrom<String> for TimeFormat {
    type Error = CalendarError;

    fn try_from(word: String) -> Result<Self, CalendarError> {
        Self::parse(&word)
    }
}

impl From<TimeFormat> for String {
    fn from(format: TimeFormat) -> Self {
        format.to_string()
    }
}

impl TimeFormat {
    /// Times that are integers are the numbers of steps, whatever they look like.
    pub const INTEGER: Self = Self(How::Integer);

    /// Reads `integer`; `excel`, `excel-1904` (the days of spreadsheets), `epoch`, `epoch-ms`, `epoch-us`, `epoch-ns`
    /// (seconds and parts of them since 1970-01-01 00:00 UTC); `year/12`, `year/4` (years with months or quarters as parts: 1949.083, 1949.25); or a pattern of strptime: `%Y%m%d`, `%d.%m.%Y %H:%M`, `%m/%d/%Y`, `%b %Y`, `%G-W%V`, `%YQ%q`, ...
    ///
    /// A pattern needs a year. Where it has no month, day, weekday or time of day, the first is meant. A pattern that
    /// stands twice, as in `%d.%m.%Y %H:%M - %d.%m.%Y %H:%M`, reads intervals: the times are their starts.
    ///
    /// # Errors
    /// [`CalendarError::UnknownTimeFormat`].
    pub fn parse(word: &str) -> Result<Self, CalendarError> {
        if word == "integer" {
            return Ok(Self::INTEGER);
        }
        if let Some(serial) = Serial::ALL.into_iter().find(|serial| serial.word() == word) {
            return Ok(Self(How::Serial(serial)));
        }
        let refuse = |reason| CalendarError::UnknownTimeFormat { word: word.to_owned(), reason };
        Pattern::parse(word).map(|pattern| Self(How::Pattern(pattern))).map_err(refuse)
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.0 == How::Integer
    }

    /// What the clock shows in a text that is written so, in microseconds since 1970; nothing for another text.
    pub fn civil(&self, text: &str) -> Option<i64> {
        Some(self.read(text).ok()?.civil)
    }

    /// Reads a time; the error is the flaw of the text.
    pub(crate) fn read(&self, text: &str) -> Result<Written<'static>, TimeFlaw> {
        match &self.0 {
            How::Integer => Err(STEP),
            How::Serial(serial) => serial.read(text),
            How::Pattern(pattern) if self.lacks_zero(text) => pattern.read(&format!("0{text}")),
            How::Pattern(pattern) => pattern.read(text),
        }
    }

    /// Whether a text is a date of eight digits that lost the zero before the others, as integers do.
    fn lacks_zero(&self, text: &str) -> bool {
        let How::Pattern(pattern) = &self.0 else { return false };
        let seven = text.len() == 7 && text.bytes().all(|byte| byte.is_ascii_digit());
        seven && ["%d%m%Y", "%m%d%Y"].contains(&pattern.word.as_str())
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            How::Integer => "integer",
            How::Serial(serial) => serial.word(),
            How::Pattern(pattern) => &pattern.word,
        })
    }
}

impl std::str::FromStr for TimeFormat {
    type Err = CalendarError;

    fn from_str(word: &str) -> Result<Self, CalendarError> {
        Self::parse(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::days::{CALENDAR, FRACTION};
    use crate::kind::TimeKind;
    use proptest::prelude::*;

    fn shown(format: &str, text: &str) -> Result<String, TimeFlaw> {
        let written = TimeFormat::parse(format).unwrap().read(text)?;
        Ok(TimeKind::Timestamp.display(written.civil))
    }

    #[test]
    fn patterns_are_read_and_what_they_leave_open_is_the_first() {
        for (format, text, time) in [
            ("%Y%m%d", "20240131", "2024-01-31"),
            ("%d.%m.%Y", "31.01.2024", "2024-01-31"),
            ("%m/%d/%Y", "1/31/2024", "2024-01-31"),
            ("%d.%m.%y %H:%M", "31.01.24 13:45", "2024-01-31 13:45:00"),
            ("%m/%d/%Y %I:%M:%S %p", "01/31/2024 01:45:07 PM", "2024-01-31 13:45:07"),
            ("%Y%m%dT%H%M%S%.f", "20240131T134507.25", "2024-01-31 13:45:07.250000"),
            ("%b %Y", "Feb 2024", "2024-02-01"),
            ("%B %Y", "february 2024", "2024-02-01"),
            ("%Y%m", "202402", "2024-02-01"),
            ("%Y", "2024", "2024-01-01"),
            ("%Y-%j", "2024-060", "2024-02-29"),
            ("%G-W%V", "2024-W05", "2024-01-29"),
            ("%s", "86400", "1970-01-02"),
            ("epoch-ms", "86400000", "1970-01-02"),
            ("excel", "44927.5", "2023-01-01 12:00:00"),
        ] {
            assert_eq!(shown(format, text), Ok(time.to_owned()), "{format}: {text}");
        }
        let written = TimeFormat::parse("%d.%m.%Y %H:%M %z").unwrap().read("31.01.2024 13:45 +0200").unwrap();
        assert_eq!(written.offset, Some(7200));
        assert_eq!(shown("%Y%m%d", "20240230"), Err(CALENDAR));
        assert!(
            shown("%Y%m%d", "2024-02-28")
                .unwrap_err()
                .to_string()
                .contains("as the format of the times says")
        );
        assert_eq!(shown("%Y-%m-%dT%H:%M:%S%.f", "2024-02-28T00:00:00.0000001"), Err(FRACTION));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (word, reason) in [
            ("", "it has no year"),
            ("YYYYMMDD", "it has no year"),
            ("%d %b", "it has no year"),
            ("%Y-%", "unknown time format `%Y-%`"),
            ("%Y %Z", "unknown time format"),
            ("%Y-W%V", "it does not say which day is meant"),
        ] {
            let error = TimeFormat::parse(word).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("`integer`"), "{word}: {error}");
        }
        assert_eq!(TimeFormat::parse("integer").unwrap(), TimeFormat::INTEGER);
        for word in [
            "integer", "excel", "excel-1904", "epoch", "epoch-ms", "epoch-us", "epoch-ns", "year/12",
            "year/4", "%d.%m.%Y",
        ] {
            assert_eq!(TimeFormat::parse(word).unwrap().to_string(), word);
        }
    }

    proptest! {
        #[test]
        fn no_text_and_no_pattern_panics(pattern in "(%[-_0^#]?[a-zA-Z:.]{1,2}|[ a-z.:/-]){0,6}", text in "\\PC{0,20}|[0-9.:/ -]{0,20}") {
            if let Ok(format) = TimeFormat::parse(&pattern) {
                let _ = format.read(&text);
            }
        }
    }
}
