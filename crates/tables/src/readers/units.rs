//! The units that the numbers of a table's columns bear: those of a column must be one.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::adorned::{Adorned, is_zero_of_accounts};
use super::read_note::ReadNote;
use crate::error::TableError;
use crate::error::file::UnreadableTable;
use foretell_messages::excerpt;

/// Whether a plain number was seen.
type IsPlain = std::cell::Cell<bool>;

/// What a number bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Nothing, and it is not 0, which is the same in all units.
    Plain,
    Percent,
    /// A currency, by the first of its names.
    Currency(&'static str),
}

impl Unit {
    /// Whether both may stand in one column: where one cell bears a currency, others without any may mean the same.
    fn goes_with(self, other: Self) -> bool {
        let pair = [self, other];
        self == other || pair.contains(&Self::Plain) && !pair.contains(&Self::Percent)
    }
}

/// The first cell of a column that bears a unit.
#[derive(Clone, Debug)]
struct Cell {
    unit: Unit,
    line: u64,
    text: String,
}

/// The first cells of each unit, by column, and a cell that is a currency and a dash.
#[derive(Debug, Default)]
struct Seen {
    cells: Vec<Vec<Cell>>,
    dash: Option<(u64, String)>,
}

impl Seen {
    fn of_column(&mut self, column: usize) -> &mut Vec<Cell> {
        if self.cells.len() <= column {
            self.cells.resize_with(column + 1, Vec::new);
        }
        &mut self.cells[column]
    }

    fn see_dash(&mut self, dash: (u64, String)) {
        if self.dash.as_ref().is_none_or(|(line, _)| *line > dash.0) {
            self.dash = Some(dash);
        }
    }
}

/// The units of the numbers of a table, seen as they are read; parts of the table tell those that they see with their end.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// Whether a column has a plain number, as most have: all further ones are passed over.
    is_plain: Vec<IsPlain>,
    seen: RefCell<Seen>,
    of_all: Arc<Mutex<Seen>>,
    is_part: bool,
}

impl Units {
    /// Those of a table with `count` columns.
    pub(super) fn of_columns(count: usize) -> Self {
        let is_plain = vec![IsPlain::new(false); count];
        Self { is_plain, seen: RefCell::default(), of_all: Arc::default(), is_part: false }
    }

    /// Those of a part of the table.
    pub(super) fn of_part(&self) -> Self {
        let mut part = Self::of_columns(self.is_plain.len());
        (part.of_all, part.is_part) = (self.of_all.clone(), true);
        part
    }

    /// Sees a number without anything around it.
    pub(super) fn see_plain(&self, column: usize, number: f64, cell: impl FnOnce() -> (u64, String)) {
        if number != 0.0 && self.is_plain.get(column).is_some_and(|seen| !seen.replace(true)) {
            self.see(column, Unit::Plain, cell);
        }
    }

    /// Sees the text of a number that may have a unit.
    pub(super) fn see_text(
        &self,
        column: usize,
        text: &[u8],
        number: f64,
        cell: impl FnOnce() -> (u64, String),
    ) {
        let ends = |text: &[u8]| Some([*text.first()?, *text.last()?]);
        let is_bare = |byte: u8| byte.is_ascii_digit() || b".-+".contains(&byte);
        if ends(text.trim_ascii()).is_some_and(|ends| ends.into_iter().all(is_bare)) {
            return self.see_plain(column, number, cell);
        }
        let text = str::from_utf8(text).unwrap_or_default().trim();
        match Adorned::of(text).map(|adorned| (adorned.percent, adorned.currency)) {
            Some((true, _)) => self.see(column, Unit::Percent, cell),
            Some((_, Some(currency))) => self.see(column, Unit::Currency(currency), cell),
            None if number == 0.0 && is_zero_of_accounts(text) => self.seen.borrow_mut().see_dash(cell()),
            _ => self.see_plain(column, number, cell),
        }
    }

    fn see(&self, column: usize, unit: Unit, cell: impl FnOnce() -> (u64, String)) {
        let mut seen = self.seen.borrow_mut();
        let cells = seen.of_column(column);
        if cells.iter().all(|known| known.unit != unit) {
            let (line, text) = cell();
            cells.push(Cell { unit, line, text });
        }
    }

    fn of_all(&self) -> MutexGuard<'_, Seen> {
        self.of_all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what was seen to all parts.
    fn tell(&self) {
        let (mut all, seen) = (self.of_all(), self.seen.take());
        for (column, cells) in seen.cells.into_iter().enumerate() {
            for cell in cells {
                let known = all.of_column(column);
                match known.iter_mut().find(|known| known.unit == cell.unit) {
                    Some(known) if known.line <= cell.line => {}
                    Some(known) => *known = cell,
                    None => known.push(cell),
                }
            }
        }
        if let Some(dash) = seen.dash {
            all.see_dash(dash);
        }
    }

    /// What was assumed of the units, once all parts were read; a part, which has not seen all, says nothing.
    pub(super) fn notes(&self, file: &Arc<str>) -> Vec<ReadNote> {
        self.tell();
        if self.is_part {
            return Vec::new();
        }
        let all = self.of_all();
        let percent = all.cells.iter().flatten().any(|cell| cell.unit == Unit::Percent);
        let percent = percent.then(|| ReadNote::Percent { file: file.clone() });
        let zeros = all.dash.as_ref().map(|(line, cell)| ReadNote::ZerosOfAccounts {
            file: file.clone(),
            line: *line,
            cell: excerpt(cell.as_bytes()),
        });
        percent.into_iter().chain(zeros).collect()
    }

    /// Whether the numbers of each column are of one unit, once all parts were read.
    ///
    /// # Errors
    /// [`UnreadableTable::MixedUnits`] with the first cells that differ.
    pub(super) fn check(&self, file: &Arc<str>, header: &[String]) -> Result<(), TableError> {
        self.tell();
        for (cells, column) in self.of_all().cells.iter_mut().zip(header) {
            cells.sort_by_key(|cell| cell.line);
            let differs = |(place, cell): (usize, &Cell)| {
                let first = cells[..place].iter().find(|first| !first.unit.goes_with(cell.unit))?;
                Some([first, cell].map(|cell| (cell.line, excerpt(cell.text.as_bytes()))))
            };
            if let Some([first, second]) = cells.iter().enumerate().find_map(differs) {
                let (file, column) = (file.clone(), column.clone());
                let cells = Box::new([first, second]);
                return Err(UnreadableTable::MixedUnits { file, column, cells }.into());
            }
        }
        Ok(())
    }
}

impl Drop for Units {
    fn drop(&mut self) {
        self.tell();
    }
}
