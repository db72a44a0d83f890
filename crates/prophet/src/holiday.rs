//! Days with an effect of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use foretell_calendar::jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    #[serde(default, deserialize_with = "window::lower")]
    pub lower_window: Option<i32>,
    /// The last day with an effect, counted from this one: 0, or more. `None` for 0.
    #[serde(default, deserialize_with = "window::upper")]
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

    /// What is wrong with it by itself, if anything is.
    fn flaw(&self) -> Option<String> {
        let (window, most) = (self.window(), Self::MOST_DAYS);
        if self.holiday.trim().is_empty() {
            return Some(
                "it has no name; give it one, as days of the same name have the same effect".to_owned(),
            );
        }
        if !(-most..=0).contains(window.start()) {
            return Some(format!(
                "lower_window is {}, and must be between -{most} and 0: the first day with an effect, counted from the holiday",
                window.start()
            ));
        }
        if !(0..=most).contains(window.end()) {
            return Some(format!(
                "upper_window is {}, and must be between 0 and {most}: the last day with an effect, counted from the holiday",
                window.end()
            ));
        }
        let scale = self.prior_scale.filter(|scale| !(scale.is_finite() && *scale > 0.0))?;
        Some(format!("prior_scale is {scale}, and must be a number above 0"))
    }
}

/// A day, of a time of day the day.
mod day {
    use foretell_calendar::{jiff::civil::Date, jiff::civil::DateTime};
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

/// Whole days, also as `-1.0`, which is how pandas writes those of a column with empty cells.
mod window {
    use serde::{Deserialize, Deserializer, de::Error as _};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Days {
        Number(f64),
        Text(String),
    }

    pub(super) fn lower<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
        read("lower_window", deserializer)
    }

    pub(super) fn upper<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
        read("upper_window", deserializer)
    }

    fn read<'de, D: Deserializer<'de>>(name: &str, deserializer: D) -> Result<Option<i32>, D::Error> {
        let found = match Option::<Days>::deserialize(deserializer)? {
            None => return Ok(None),
            Some(Days::Number(days)) if days.fract() == 0.0 && days.abs() <= f64::from(i32::MAX) => {
                return Ok(Some(days as i32));
            }
            // The missing value of pandas.
            Some(Days::Number(days)) if days.is_nan() => return Ok(None),
            Some(Days::Number(days)) => days.to_string(),
            Some(Days::Text(text)) => format!("{text:?}"),
        };
        Err(D::Error::custom(format!("{name} must be a whole number of days, found {found}")))
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
        false => sound(holidays).map_err(|error| at(&error)),
    }
}

/// The holidays of a list of tables, as they stand in JSON.
///
/// # Errors
/// In words, if an entry is no holiday.
pub(crate) fn of_list(list: &[Value]) -> Result<Vec<Holiday>, String> {
    let read = |(i, entry): (usize, &Value)| {
        let place = format!("entry {}", i + 1);
        match Holiday::deserialize(entry) {
            Ok(holiday) => Ok((place, holiday)),
            Err(error) => Err(format!("{place}: {error}")),
        }
    };
    sound(list.iter().enumerate().map(read).collect::<Result<_, _>>()?)
}

/// The holidays of a table with their places in it. Cells end at the first of comma, semicolon and tab that the line of the columns'
/// names has.
fn parse(bytes: &[u8]) -> Result<Vec<(String, Holiday)>, String> {
    let names = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiter = [b',', b';', b'\t'].into_iter().find(|mark| names.contains(mark)).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.delimiter(delimiter).trim(csv::Trim::All).from_reader(bytes);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let read = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| error.to_string())?;
        let place = format!("line {}", record.position().map_or(0, csv::Position::line));
        match record.deserialize(Some(&header)) {
            Ok(holiday) => Ok((place, holiday)),
            Err(error) => match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => Err(format!("{place}: {err}")),
                _ => Err(format!("{place}: {error}")),
            },
        }
    };
    reader.records().map(read).collect()
}

/// The holidays without their places, if each is sound and the days of a name have one prior.
fn sound(rows: Vec<(String, Holiday)>) -> Result<Vec<Holiday>, String> {
    let mut first: HashMap<&str, (&str, Option<f64>)> = HashMap::new();
    let written =
        |scale: Option<f64>| scale.map_or_else(|| "not given".to_owned(), |scale| scale.to_string());
    for (place, day) in &rows {
        let at = |flaw: String| Err(format!("{place}, holiday {:?} on {}: {flaw}", day.holiday, day.ds));
        if let Some(flaw) = day.flaw() {
            return at(flaw);
        }
        let &mut (earlier, scale) = first.entry(&day.holiday).or_insert((place, day.prior_scale));
        if scale != day.prior_scale {
            return at(format!(
                "prior_scale is {}, and in {earlier}, of the same holiday, {}; give all days of a holiday the same, or days with an \
                 effect of their own another name",
                written(day.prior_scale),
                written(scale)
            ));
        }
    }
    Ok(rows.into_iter().map(|(_, holiday)| holiday).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Vec<Holiday>, String> {
        sound(parse(text.as_bytes())?)
    }

    #[test]
    fn rows_are_read_with_and_without_windows() {
        let text =
            "ds,holiday,lower_window,upper_window\n2024-12-25,Christmas, -1 ,1\n2024-05-01 00:00:00,May,,\n";
        let days = read(text).expect("two holidays");
        assert_eq!((days.len(), days[0].window(), days[1].window()), (2, -1..=1, 0..=0));
        assert_eq!((days[1].holiday.as_str(), days[1].ds.to_string()), ("May", "2024-05-01".to_owned()));
        assert_eq!(read(&text.replace(',', ";")).expect("semicolons"), days);
        let of_pandas = text.replace(" -1 ,1", "-1.0,1.0").replace("May,,", "May,NaN,");
        assert_eq!(read(&of_pandas).expect("whole numbers"), days);
        let list = json!([
            {"holiday": "Christmas", "ds": "2024-12-25", "lower_window": -1.0, "upper_window": 1},
            {"holiday": "May", "ds": "2024-05-01", "lower_window": null},
        ]);
        assert_eq!(of_list(list.as_array().expect("a list")).expect("two holidays")[0], days[0]);
    }

    #[test]
    fn a_row_that_is_no_holiday_is_named_with_the_reason() {
        for (row, parts) in [
            ("cup,14.06.2024,,,", &["line 3: ", "14.06.2024"][..]),
            (
                "cup,2024-06-14,1,,",
                &["line 3, holiday \"cup\" on 2024-06-14: lower_window is 1,", "-366 and 0"],
            ),
            ("cup,2024-06-14,-400,,", &["line 3", "lower_window is -400,"]),
            ("cup,2024-06-14,,-1,", &["line 3", "upper_window is -1,", "0 and 366"]),
            ("cup,2024-06-14,,1.5,", &["line 3: upper_window must be a whole number of days, found 1.5"]),
            ("cup,2024-06-14,one,,", &["line 3: lower_window must be a whole number of days, found \"one\""]),
            (",2024-06-14,,,", &["line 3, holiday \"\" on 2024-06-14: it has no name"]),
            ("cup,2024-06-14,,,0", &["line 3", "prior_scale is 0, and must be a number above 0"]),
            (
                "May,2025-05-01,,,3",
                &["line 3, holiday \"May\" on 2025-05-01: prior_scale is 3, and in line 2,", "5;"],
            ),
            ("May,2025-05-01,,,", &["line 3", "prior_scale is not given, and in line 2"]),
        ] {
            let text =
                format!("holiday,ds,lower_window,upper_window,prior_scale\nMay,2024-05-01,,,5\n{row}\n");
            let slip = read(&text).expect_err(row);
            assert!(parts.iter().all(|part| slip.contains(part)), "{row}: {slip}");
        }
        let slip = read("name,ds\nMay,2024-05-01\n").expect_err("no column holiday");
        assert!(slip.contains("line 2") && slip.contains("`name`"), "{slip}");
        for (entry, part) in [
            (
                json!({"holiday": "cup", "ds": "2024-06-14", "upper_window": 0.5}),
                "entry 2: upper_window must be",
            ),
            (json!({"holiday": "cup"}), "entry 2: missing field `ds`"),
            (
                json!({"holiday": " ", "ds": "2024-06-14"}),
                "entry 2, holiday \" \" on 2024-06-14: it has no name",
            ),
        ] {
            let list = [json!({"holiday": "May", "ds": "2024-05-01"}), entry];
            let slip = of_list(&list).expect_err(part);
            assert!(slip.contains(part), "{slip}");
        }
    }
}
