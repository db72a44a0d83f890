//! A table in which some texts stand for missing values or for 0, and numbers may have flags behind them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::adapter::TableAdapter;
use super::number_flags::{check_flags, is_factor, without_flags};
use super::number_format::{NumberFormat, narrow};
use super::read_note::ReadNote;
use super::table::TableReader;
use crate::error::TableError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::{Flags, Flaw};
use crate::error::place::Place;

/// The first cell of a kind, of all parts of a table. Its line stands apart, so that those behind it cost no lock and no text.
#[derive(Debug)]
struct FirstCell {
    line: AtomicU64,
    cell: Mutex<Option<(Place, String)>>,
}

impl FirstCell {
    fn unseen() -> Self {
        Self { line: AtomicU64::new(u64::MAX), cell: Mutex::default() }
    }

    fn see(&self, line: u64, cell: impl FnOnce() -> (Place, String)) {
        // The same line may be one of another file.
        if line > self.line.load(Ordering::Relaxed) {
            return;
        }
        self.line.fetch_min(line, Ordering::Relaxed);
        let (mut known, (place, text)) = (self.known(), cell());
        let rank = |place: &Place| (place.row, place.file.clone());
        if known.as_ref().is_none_or(|(first, _)| rank(first) > rank(&place)) {
            *known = Some((place, text));
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<(Place, String)>> {
        self.cell.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values that stand for missing ones: as texts in any case, those that are numbers also in any other spelling; texts that stand for 0;
/// flags that are left away, and how many were.
#[derive(Debug)]
pub struct Marks {
    missing: Vec<String>,
    numbers: Vec<f64>,
    zeros: Vec<String>,
    flags: Vec<String>,
    flagged: AtomicUsize,
    /// Whether flags are factors, and the first cells of each column without any and with one.
    has_factors: bool,
    factors: OnceLock<Vec<[FirstCell; 2]>>,
}

impl Marks {
    /// Nothing where there are none.
    ///
    /// # Errors
    /// Flags that are factors of several sizes.
    pub fn new(missing: &[String], zeros: &[String], flags: &[String]) -> Result<Option<Self>, TableError> {
        check_flags(flags)?;
        let lower = |texts: &[String]| texts.iter().map(|text| text.trim().to_lowercase()).collect();
        let missing: Vec<String> = lower(missing);
        let bare = |flag: &String| flag.trim().trim_matches(['(', ')', '[', ']']).to_owned();
        let flags: Vec<String> = flags.iter().map(bare).filter(|flag| !flag.is_empty()).collect();
        let numbers = missing.iter().filter_map(|text| text.parse().ok()).collect();
        let marks = Self {
            numbers,
            missing,
            zeros: lower(zeros),
            has_factors: flags.iter().any(|flag| is_factor(flag)),
            flags,
            flagged: AtomicUsize::new(0),
            factors: OnceLock::new(),
        };
        let any = !(marks.missing.is_empty() && marks.zeros.is_empty() && marks.flags.is_empty());
        Ok(any.then_some(marks))
    }

    fn is_missing(&self, text: &str) -> bool {
        self.missing.contains(&text.trim().to_lowercase())
    }

    /// Whether the number is one of them in the precision of values, in which messages tell of them.
    fn is_missing_number(&self, value: f64) -> bool {
        self.numbers.iter().any(|number| narrow(*number) == narrow(value))
    }

    fn is_zero(&self, text: &str) -> bool {
        self.zeros.contains(&text.trim().to_lowercase())
    }

    /// Sees the first cells of a column with and without a flag, where flags are factors.
    fn see_factor(
        &self,
        table: &dyn TableReader,
        column: usize,
        is_flagged: bool,
        text: impl FnOnce() -> String,
    ) {
        if !self.has_factors {
            return;
        }
        let unseen = |_: &String| [FirstCell::unseen(), FirstCell::unseen()];
        let factors = self.factors.get_or_init(|| table.header().iter().map(unseen).collect());
        if let Some(cells) = factors.get(column) {
            cells[usize::from(is_flagged)].see(table.row(), || (table.place(), text()));
        }
    }

    /// Whether the numbers of each column are all before a factor or none: a number without one is of another unit.
    fn check_factors(&self, file: &Arc<str>, header: &[String]) -> Result<(), TableError> {
        for (cells, column) in self.factors.get().into_iter().flatten().zip(header) {
            let [Some(plain), Some(flagged)] = cells.each_ref().map(|cell| cell.known().clone()) else {
                continue;
            };
            let mut cells = [plain, flagged].map(|(place, text)| (place.file, place.row, text));
            cells.sort();
            let [first, second] = cells;
            let file: Arc<str> = match (first.0, second.0) {
                (Some(first), Some(second)) if first != second => format!("{first} and {second}").into(),
                (Some(of_both), _) => of_both,
                _ => file.clone(),
            };
            let (column, cells) = (column.clone(), Box::new([(first.1, first.2), (second.1, second.2)]));
            return Err(UnreadableTable::MixedUnits { file, column, cells }.into());
        }
        Ok(())
    }

    /// The flags that were said, and those that were found besides.
    fn with_flags(&self, found: Flags) -> Flags {
        let said = self.flags.iter().map(String::as_str);
        let new = found.text().split(',').filter(|flag| self.flags.iter().all(|said| said != flag));
        let all: Vec<&str> = said.chain(new).collect();
        Flags::of(&all.join(",")).unwrap_or(found)
    }
}

/// The table with these marks.
pub struct MarkedTable<'a> {
    inner: Box<dyn TableReader + 'a>,
    marks: Arc<Marks>,
    format: NumberFormat,
    /// The row of the last flags, and the columns that have some in it: a cell may be asked for twice.
    flagged: RefCell<(u64, Vec<usize>)>,
}

impl<'a> MarkedTable<'a> {
    /// The table with these marks, whose numbers are written so.
    pub fn new(inner: Box<dyn TableReader + 'a>, marks: Arc<Marks>, format: NumberFormat) -> Self {
        Self { inner, marks, format, flagged: RefCell::default() }
    }

    /// The number of a text without its flags, or what is wrong with it; nothing if it has others or none.
    fn without_flags(&self, column: usize, text: &str) -> Option<Result<f64, Flaw>> {
        let read = self.format.wide_number(without_flags(text, &self.marks.flags)?.as_bytes());
        if matches!(read, Ok(_) | Err(Flaw::Missing)) {
            let (row, columns) = &mut *self.flagged.borrow_mut();
            if *row != self.inner.row() {
                (*row, *columns) = (self.inner.row(), Vec::new());
            }
            if !columns.contains(&column) {
                columns.push(column);
                self.marks.flagged.fetch_add(1, Ordering::Relaxed);
                self.marks.see_factor(&*self.inner, column, true, || text.to_owned());
            }
        }
        Some(read)
    }

    /// What is read, or what the marks say of it.
    fn known<T: Copy + Into<f64>>(
        &self,
        column: usize,
        read: Result<T, Flaw>,
        narrowed: impl Fn(f64) -> Result<T, Flaw>,
    ) -> Result<T, Flaw> {
        let value = read.ok().map(Into::into);
        if value.is_some_and(|value| self.marks.is_missing_number(value)) {
            return Err(Flaw::Missing);
        }
        // A 0 may be the reading of a text.
        if value.is_some_and(|value| value != 0.0) {
            self.marks.see_factor(&*self.inner, column, false, || self.inner.shown(column));
            return read;
        }
        let Ok(text) = self.inner.label(column) else { return read };
        if self.marks.is_missing(&text) {
            return Err(Flaw::Missing);
        }
        match read {
            Err(_) if self.marks.is_zero(&text) => narrowed(0.0),
            Err(flaw) => match (self.without_flags(column, &text), flaw) {
                (Some(number), _) => number.and_then(narrowed),
                (None, Flaw::Flagged(found)) => Err(Flaw::Flagged(self.marks.with_flags(found))),
                (None, flaw) => Err(flaw),
            },
            read => read,
        }
    }
}

impl TableAdapter for MarkedTable<'_> {
    fn inner(&self) -> &dyn TableReader {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn TableReader {
        &mut *self.inner
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.format = format;
        self.inner.read_numbers(format);
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        let part = self.inner.next_part()?;
        Ok(part.map(|inner| Box::new(MarkedTable::new(inner, self.marks.clone(), self.format)) as _))
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        self.known(column, self.inner.wide_number(column), Ok)
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        self.known(column, self.inner.number_or_truth(column), narrow)
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        let label = self.inner.label(column)?;
        if self.marks.is_missing(&label) { Err(Flaw::Missing) } else { Ok(label) }
    }

    fn check_units(&self) -> Result<(), TableError> {
        self.inner.check_units()?;
        self.marks.check_factors(self.inner.file(), self.inner.header())
    }

    fn notes(&self) -> Vec<ReadNote> {
        let cells = self.marks.flagged.load(Ordering::Relaxed);
        let flagged = (cells > 0).then(|| ReadNote::Flagged { file: self.inner.file().clone(), cells });
        self.inner.notes().into_iter().chain(flagged).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cell_is_kept_and_no_text_is_made_of_later_ones() {
        let first = FirstCell::unseen();
        let see = |file: &str, line: u64| {
            let place = Place { file: Some(file.into()), line: true, series: None, row: line };
            first.see(line, || (place, format!("{file} {line}")));
        };
        see("b.csv", 5);
        first.see(6, || panic!("a text was made of a later line"));
        let known = || first.known().clone().map(|(_, text)| text);
        assert_eq!(known().as_deref(), Some("b.csv 5"));
        see("a.csv", 5);
        assert_eq!(known().as_deref(), Some("a.csv 5"), "of two files that of the first name");
        see("c.csv", 2);
        assert_eq!(known().as_deref(), Some("c.csv 2"));
    }

    #[test]
    fn cells_of_two_units_are_told_with_the_files_they_are_in() {
        let marks = Marks::new(&[], &[], &["K".to_owned()]).unwrap().unwrap();
        let unseen = vec![[FirstCell::unseen(), FirstCell::unseen()]];
        marks.factors.set(unseen).unwrap();
        let [plain, flagged] = &marks.factors.get().unwrap()[0];
        let place = |file: &str, row: u64| Place { file: Some(file.into()), line: true, series: None, row };
        let check = || marks.check_factors(&"last.csv".into(), &["y".to_owned()]);
        plain.see(4, || (place("a.csv", 4), "950".to_owned()));
        check().unwrap();
        flagged.see(2, || (place("b.csv", 2), "1.2K".to_owned()));
        let error = check().unwrap_err().to_string();
        assert!(
            error.starts_with("a.csv and b.csv: column `y` has `950` in line 4 and `1.2K` in line 2"),
            "{error}"
        );
        flagged.see(1, || (place("a.csv", 1), "1.1K".to_owned()));
        let error = check().unwrap_err().to_string();
        assert!(error.starts_with("a.csv: column `y` has `1.1K` in line 1 and `950` in line 4"), "{error}");
    }
}
