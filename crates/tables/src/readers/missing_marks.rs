//! A table in which some texts stand for missing values or for 0, and numbers may have flags behind them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::adapter::TableAdapter;
use super::number_flags::{check_flags, is_factor, without_flags};
use super::number_format::{NumberFormat, narrow};
use super::read_note::ReadNote;
use super::table::TableReader;
use crate::error::TableError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::{Flags, Flaw};

/// The lines and texts of two cells of a column.
type FirstCells = [Option<(u64, String)>; 2];

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
    factors: Mutex<BTreeMap<usize, FirstCells>>,
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
            factors: Mutex::default(),
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
    fn see_factor(&self, column: usize, is_flagged: bool, cell: impl FnOnce() -> (u64, String)) {
        if self.has_factors {
            let mut factors = self.factors.lock().unwrap_or_else(PoisonError::into_inner);
            let seen = &mut factors.entry(column).or_default()[usize::from(is_flagged)];
            let (line, text) = cell();
            if seen.as_ref().is_none_or(|(known, _)| *known > line) {
                *seen = Some((line, text));
            }
        }
    }

    /// Whether the numbers of each column are all before a factor or none: a number without one is of another unit.
    fn check_factors(&self, file: &Arc<str>, header: &[String]) -> Result<(), TableError> {
        let factors = self.factors.lock().unwrap_or_else(PoisonError::into_inner);
        for (column, cells) in &*factors {
            if let ([Some(plain), Some(flagged)], Some(name)) = (cells, header.get(*column)) {
                let mut cells = Box::new([plain.clone(), flagged.clone()]);
                cells.sort();
                let (file, column) = (file.clone(), name.clone());
                return Err(UnreadableTable::MixedUnits { file, column, cells }.into());
            }
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
                self.marks.see_factor(column, true, || (self.inner.place().row, text.to_owned()));
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
            self.marks.see_factor(column, false, || (self.inner.place().row, self.inner.shown(column)));
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
