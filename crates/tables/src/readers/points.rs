//! Points in numbers that may be marks between thousands: of a file whose fields semicolons separate, as where commas stand before decimals,
//! and of one whose numbers below a thousand alone are whole.

use std::array;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::file::UnreadableTable;
use foretell_messages::excerpt;

/// The points of all parts of a table.
#[derive(Debug)]
pub(super) struct Points {
    /// Whether semicolons separate the fields.
    semicolons: bool,
    /// Whether one stands before decimals, so that others do, too.
    decimals: AtomicBool,
    /// The first line with one that three digits follow.
    line: AtomicU64,
    cell: Mutex<Option<(usize, String)>>,
    columns: [ColumnPoints; COLUMNS],
}

/// Columns of which it is known whether their numbers without a point go on where those with one begin.
const COLUMNS: usize = 32;

/// The first line of a column with a point that three digits follow, whether a 0 is the last of these anywhere, and the largest of its numbers
/// without one.
#[derive(Debug)]
struct ColumnPoints {
    line: AtomicU64,
    padded: AtomicBool,
    whole: AtomicU32,
}

/// Lines that are looked at for points between thousands where no semicolons separate fields, as these are seldom then.
const LINES: u64 = 1000;

/// The largest whole number of a column whose numbers of a thousand and more have a mark.
const HUNDREDS: std::ops::Range<u32> = 100..1000;

impl Points {
    pub(super) fn new(separator: u8) -> Self {
        Self {
            semicolons: separator == b';',
            decimals: AtomicBool::new(false),
            line: AtomicU64::new(u64::MAX),
            cell: Mutex::default(),
            columns: array::from_fn(|_| ColumnPoints {
                line: AtomicU64::new(u64::MAX),
                padded: AtomicBool::new(false),
                whole: AtomicU32::new(0),
            }),
        }
    }

    /// Sees the text of a number.
    pub(super) fn see(&self, column: usize, line: u64, text: &[u8]) {
        if self.decimals.load(Ordering::Relaxed) {
            return;
        }
        // Behind these lines decimals still prove that points stand before them.
        let is_beyond = !self.semicolons && line > LINES;
        let text = text.trim_ascii();
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let Some(point) = digits.iter().position(|byte| *byte == b'.') else {
            let whole = if is_beyond { None } else { whole_number(digits) };
            if let (Some(points), Some(whole)) = (self.columns.get(column), whole) {
                points.whole.fetch_max(whole, Ordering::Relaxed);
            }
            return;
        };
        let (whole, rest) = digits.split_at(point);
        let grouped = (1..=3).contains(&whole.len()) && whole[0] != b'0' && rest.len() == 4;
        if grouped && is_beyond {
            return;
        }
        if let Some(points) = self.columns.get(column).filter(|_| grouped) {
            points.line.fetch_min(line, Ordering::Relaxed);
            points.padded.fetch_or(rest.ends_with(b"0"), Ordering::Relaxed);
        }
        if !grouped {
            self.decimals.store(true, Ordering::Relaxed);
        } else if line < self.line.load(Ordering::Relaxed)
            && line < self.line.fetch_min(line, Ordering::Relaxed)
        {
            let mut cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
            // Another part may have seen an earlier line since.
            if line == self.line.load(Ordering::Relaxed) {
                *cell = Some((column, excerpt(text)));
            }
        }
    }

    /// Checks that no column counts up to 999 without a point, and has three digits behind a point in all other numbers: then points stand
    /// between thousands, and 1.005 comes after 999. Where no semicolons separate fields, one of these digits is a last 0, too, which whole
    /// numbers do not have in decimals of three digits. Where they do, no number may have three digits behind its point if all that have a
    /// point have three: `1.200` may be 1200.
    ///
    /// # Errors
    /// The first such column, or the first such number.
    pub(super) fn check(&self, file: &Arc<str>, header: &[String]) -> Result<(), UnreadableTable> {
        let is_counting = |points: &&ColumnPoints| {
            points.line.load(Ordering::Relaxed) < u64::MAX
                && HUNDREDS.contains(&points.whole.load(Ordering::Relaxed))
                && (self.semicolons || points.padded.load(Ordering::Relaxed))
        };
        let found = header.iter().zip(&self.columns).find(|(_, points)| is_counting(points));
        if self.decimals.load(Ordering::Relaxed) {
            return Ok(());
        }
        let question = |column: &str, line, seen| UnreadableTable::PointsInQuestion {
            file: file.clone(),
            column: column.to_owned(),
            line,
            seen,
        };
        if let Some((column, points)) = found {
            let (line, whole) = (points.line.load(Ordering::Relaxed), points.whole.load(Ordering::Relaxed));
            return Err(question(
                column,
                line,
                format!("from line {line} on; without one, numbers end at {whole}"),
            ));
        }
        let first = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        match first.as_ref().filter(|_| self.semicolons) {
            None => Ok(()),
            Some((column, cell)) => {
                let line = self.line.load(Ordering::Relaxed);
                let column = header.get(*column).map_or("", String::as_str);
                Err(question(column, line, format!("`{cell}` in line {line}, between semicolons")))
            }
        }
    }
}

/// A number of digits alone; the largest one for what has more than fit.
fn whole_number(digits: &[u8]) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_far_down_a_file_with_commas_end_the_suspicion_of_its_first_lines() {
        let points = Points::new(b',');
        let check = || points.check(&"sales.csv".into(), &["y".to_owned(), "x".to_owned()]);
        points.see(0, 2, b"980");
        points.see(0, 3, b"1.020");
        // What could be suspected of later lines alone is not.
        points.see(1, LINES + 1, b"980");
        points.see(1, LINES + 2, b"1.020");
        let refused = check().unwrap_err();
        let is_first =
            matches!(&refused, UnreadableTable::PointsInQuestion { column, line: 3, .. } if column == "y");
        assert!(is_first, "{refused}");
        points.see(1, LINES + 500, b"2.5");
        check().unwrap();
    }

    #[test]
    fn three_digits_behind_every_point_between_semicolons_are_asked_about() {
        let points = Points::new(b';');
        let check = || points.check(&"sales.csv".into(), &["y".to_owned()]);
        points.see(0, 2, b"1.200");
        points.see(0, 3, b"12.350");
        let refused = check().unwrap_err();
        let is_first = matches!(&refused, UnreadableTable::PointsInQuestion { line: 2, seen, .. } if seen.contains("`1.200`"));
        assert!(is_first, "{refused}");
        points.see(0, 4, b"1.25");
        check().unwrap();
    }
}
