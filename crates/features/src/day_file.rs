//! Lists of days from files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use foretell_calendar::jiff::civil::Date;

use crate::error::FeatureError;

/// Far more than the holidays of a lifetime.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the dates of a file: one a line, in front of anything else that a comma or semicolon sets apart. The first line may
/// be a header, which has no numbers but years.
///
/// # Errors
/// If it cannot be read, is larger than 1 MiB, has no dates, or has something else in their place.
pub fn read_days(path: &Path) -> Result<Vec<Date>, FeatureError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    read.map_err(|source| FeatureError::Unreadable { path: path.to_owned(), source })?;
    let fault = |reason: String| Err(FeatureError::Days { path: path.to_owned(), reason });
    if text.len() as u64 > MOST_BYTES {
        return fault(format!("it has more than {MOST_BYTES} bytes; give a list of days"));
    }
    let mut dates = Vec::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let cell = line.split([',', ';', '\t']).next().unwrap_or_default().trim().trim_matches('"');
        match cell.parse() {
            Ok(date) => dates.push(date),
            Err(_) if cell.is_empty() || i == 0 && is_header(cell) => {}
            Err(_) => {
                let header = if i == 0 { ", and a header has no numbers but years" } else { "" };
                return fault(format!("line {}: {cell:?} is no day{header}; write it as 2024-12-25", i + 1));
            }
        }
    }
    match dates.is_empty() {
        true => fault("there is no day in it; write one a line, as 2024-12-25".to_owned()),
        false => Ok(dates),
    }
}

/// Whether a text is no day in another form, such as `Dec 25` or `25.12.2024`: all of its numbers have four digits.
fn is_header(cell: &str) -> bool {
    cell.split(|c: char| !c.is_ascii_digit()).all(|number| matches!(number.len(), 0 | 4))
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_are_read_and_slips_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("holidays.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            super::read_days(&path).map(|dates| dates.len()).map_err(|error| error.to_string())
        };
        assert_eq!(read("date,name\n2024-12-25,Christmas\r\n\n\"2024-12-26\",\n"), Ok(2));
        assert_eq!(read("2024-12-25\n2024-12-26"), Ok(2));
        assert!(
            read("date\n2024-12-25\n26.12.2024\n").unwrap_err().contains("line 3: \"26.12.2024\" is no day")
        );
        assert!(read("24.12.2024\n2024-12-25\n").unwrap_err().contains("line 1: \"24.12.2024\" is no day"));
        for header in ["2024 holidays", "ds,holiday_1", "\"Feiertage 2024/2025\"", "\u{feff}date"] {
            assert_eq!(read(&format!("{header}\n2024-12-25\n")), Ok(1), "{header}");
        }
        for (day, cell) in [
            ("Dec 25, 2024", "Dec 25"),
            ("Mon 2024-12-25", "Mon 2024-12-25"),
            ("25 Dec", "25 Dec"),
            ("d25122024", "d25122024"),
        ] {
            let message = read(&format!("{day}\n2024-12-26\n")).unwrap_err();
            let told = "is no day, and a header has no numbers but years; write it as 2024-12-25";
            assert!(message.contains(&format!("line 1: {cell:?} {told}")), "{message}");
        }
        assert!(read("date\n").unwrap_err().contains("there is no day in it"));
        assert!(read(&"x".repeat(1 << 21)).unwrap_err().contains("more than 1048576 bytes"));
    }
}
