//! Days with an effect of their own.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use foretell_data::jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A day of a holiday. Days of the same name have the same effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holiday {
    /// The holiday's name.
    pub holiday: String,
    /// The day.
    #[serde(with = "day")]
    pub ds: Date,
    /// The first day with an effect, counted from this one: 0, or less. `None` for 0.
    #[serde(default)]
    pub lower_window: Option<i32>,
    /// The last day with an effect, counted from this one: 0, or more. `None` for 0.
    #[serde(default)]
    pub upper_window: Option<i32>,
    /// The deviation of the normal prior of its coefficients, the same for all days of a name; `None` for
    /// `holidays_prior_scale`.
    #[serde(default)]
    pub prior_scale: Option<f64>,
}

impl Holiday {
    /// The days with an effect, counted from the day itself.
    pub(crate) fn window(&self) -> std::ops::RangeInclusive<i32> {
        self.lower_window.unwrap_or(0)..=self.upper_window.unwrap_or(0)
    }

    /// Far more days around a holiday than it changes.
    const MOST_DAYS: i32 = 366;

    /// Whether its window holds the day itself and is no longer than a year.
    pub(crate) fn is_sound(&self) -> bool {
        let window = self.window();
        (-Self::MOST_DAYS..=0).contains(window.start()) && (0..=Self::MOST_DAYS).contains(window.end())
    }
}

/// A day, of a time of day the day.
mod day {
    use foretell_data::jiff::civil::{Date, DateTime};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(day: &Date, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(day)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<DateTime>() {
            Ok(time) => Ok(time.date()),
            Err(_) => Err(D::Error::custom(format!("{text:?} is no day; write it as 2024-12-25"))),
        }
    }
}

/// Far more than the holidays of a lifetime.
const MOST_BYTES: u64 = 1 << 22;

/// The holidays of a CSV file: `holiday` and `ds`, and `lower_window`, `upper_window` and `prior_scale`
/// where they are needed, as the columns of the data frame that the Python package takes.
///
/// # Errors
/// In words, if the file cannot be read, or a row is no holiday.
pub(crate) fn read(path: &Path) -> Result<Vec<Holiday>, String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| at(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(at(&format!("it has more than {MOST_BYTES} bytes; give a list of holidays")));
    }
    let holidays = parse(&bytes).map_err(|error| at(&error))?;
    match holidays.is_empty() {
        true => Err(at(&"it has no rows below a line with the columns holiday and ds")),
        false => Ok(holidays),
    }
}

/// Cells end at the first of comma, semicolon and tab that the line of the columns' names has.
fn parse(bytes: &[u8]) -> Result<Vec<Holiday>, csv::Error> {
    let names = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiter = [b',', b';', b'\t'].into_iter().find(|mark| names.contains(mark)).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new();
    reader.delimiter(delimiter).trim(csv::Trim::All).from_reader(bytes).deserialize().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_windows() {
        let text =
            "ds,holiday,lower_window,upper_window\n2024-12-25,Christmas, -1 ,1\n2024-05-01 00:00:00,May,,\n";
        let read = parse(text.as_bytes()).expect("two holidays");
        assert_eq!((read.len(), read[0].window(), read[1].window()), (2, -1..=1, 0..=0));
        assert_eq!((read[1].holiday.as_str(), read[1].ds.to_string()), ("May", "2024-05-01".to_owned()));
        let again = text.replace(',', ";");
        assert_eq!(parse(again.as_bytes()).expect("semicolons"), read);
        let slip = parse(b"holiday,ds\nMay,01.05.2024\n").expect_err("no day").to_string();
        assert!(slip.contains("01.05.2024") && slip.contains("line: 2"), "{slip}");
    }
}
