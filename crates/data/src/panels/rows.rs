//! The rows of a table as they are read, before they become a panel.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::aggregate::Aggregate;
use super::cells::admitted;
use super::column::Column;
use super::fill::Fill;
use super::origin::Origin;
use super::periods::Periods;
use super::unrounded::Unrounded;
use crate::error::DataError;
use foretell_calendar::Steps;
use foretell_tables::{Flaw, Place, ReadNote, TableError, TableReader, narrow};

/// The columns of a long table as they are read, one entry per row.
///
/// Beside the values, a table whose rows stand in the order of series or of times takes little room.
#[derive(Debug, Default)]
pub(crate) struct TableRows {
    pub(crate) origin: Origin,
    /// Ids in order of appearance, and the position of each.
    pub(crate) ids: Vec<Arc<str>>,
    pub(crate) codes: FxHashMap<Arc<str>, u32>,
    /// The bytes that the texts of the ids take.
    pub(crate) id_bytes: usize,
    /// Whether their column is one of integers.
    pub(crate) integer_ids: bool,
    /// The id of each row, by its position, and how often it is another than that of the row before.
    pub(crate) series: Steps,
    pub(crate) changes: usize,
    pub(crate) last: Option<u32>,
    pub(crate) times: Steps,
    /// The rows, in the order of the table, whose times clocks never showed.
    pub(super) skipped: Vec<usize>,
    /// Where in their periods rows stood that are gathered in some.
    pub(super) within: Steps,
    pub(crate) y: Vec<f32>,
    pub(crate) unrounded: Unrounded,
    pub(crate) mask: Option<Vec<f32>>,
    pub(crate) weight: Option<Vec<f32>>,
    pub(crate) columns: Vec<Column>,
    /// Name of the column of `y`; in a wide table that is the id.
    pub(crate) target: Option<String>,
    /// How NaN and gaps are filled; without it gaps are mistakes, and so is NaN within a series.
    pub(crate) fill: Option<Fill>,
    /// Whether series of missing values alone are left out; without it they are mistakes.
    pub(crate) drop_unknown: bool,
    /// How several rows of a series and time become one; without it they are mistakes.
    pub(crate) aggregate: Option<Aggregate>,
    /// Most rows that there may be, with those that are filled in.
    pub(super) max_rows: Option<usize>,
    /// Threads that fill; 0 for as many as the machine has.
    pub(super) threads: usize,
    /// The periods that rows are gathered in, and whether those at the ends that are not complete are kept.
    pub(super) partial: Option<(Periods, bool)>,
    /// The end of the rows that are asked for, if someone gave one.
    pub(super) until: Option<String>,
    /// Notes on assumptions of the reading.
    pub(super) notes: Vec<ReadNote>,
    /// How the first missing value of `y` was written.
    pub(crate) missing_as: Option<String>,
    /// The first number of `y` that is 0 in single precision alone.
    pub(super) read_as_zero: Option<String>,
    /// Once the table is arranged: the rows of each series,
    pub(crate) runs: Vec<SeriesRun>,
    /// and where each row stood before, if it stood elsewhere.
    pub(crate) order: Option<Vec<u32>>,
}

/// Rows of one id, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesRun {
    pub(crate) code: u32,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl TableRows {
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// The bytes that the rows take, with those that sorting them takes.
    pub(crate) fn bytes(&self) -> usize {
        const SORTED: usize = size_of::<u32>() + size_of::<f32>();
        let columns =
            1 + usize::from(self.mask.is_some()) + usize::from(self.weight.is_some()) + self.columns.len();
        let ids = self.id_bytes + 2 * size_of::<Arc<str>>() * self.ids.len();
        let labels: usize = self.columns.iter().map(Column::label_bytes).sum();
        self.len() * (size_of::<f32>() * columns + SORTED)
            + self.times.bytes()
            + self.series.bytes()
            + ids
            + labels
            + self.unrounded.bytes()
    }

    /// The value of `y` in a cell of a table, NaN where it is missing.
    pub(crate) fn admit(
        &mut self,
        table: &dyn TableReader,
        column: usize,
        masked: bool,
    ) -> Result<f32, DataError> {
        let wide = table.wide_number(column);
        match admitted(wide.and_then(narrow), masked, self.fill) {
            Err(Flaw::Missing) => {
                self.missing_as.get_or_insert_with(|| table.shown(column));
                Ok(f32::NAN)
            }
            value => {
                let value = value.map_err(|flaw| table.bad_value(column, flaw))?;
                if value == 0.0 && self.read_as_zero.is_none() && wide.is_ok_and(|y| y != 0.0) {
                    self.read_as_zero = Some(table.shown(column));
                }
                Ok(value)
            }
        }
    }

    /// Appends a value of `y`, which the table has in that column.
    pub(super) fn push_y(&mut self, y: f32, table: &dyn TableReader, column: usize) {
        if self.unrounded.is_wanted {
            self.unrounded.push(&self.y, table.wide_number(column).unwrap_or(f64::from(y)));
        }
        self.y.push(y);
    }

    /// No rows of the same columns.
    pub(super) fn none(&self) -> Self {
        Self {
            mask: self.mask.as_ref().map(|_| Vec::new()),
            weight: self.weight.as_ref().map(|_| Vec::new()),
            columns: self.columns.iter().map(Column::none).collect(),
            target: self.target.clone(),
            fill: self.fill,
            drop_unknown: self.drop_unknown,
            aggregate: self.aggregate,
            unrounded: Unrounded::wanted(self.unrounded.is_wanted),
            ..Self::default()
        }
    }

    /// The id of the last row.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last.map(|code| &*self.ids[code as usize])
    }

    /// Appends the id of the next row; the position of the series.
    pub(crate) fn push_id(&mut self, id: &str) -> u32 {
        let code = match self.last {
            Some(code) if *self.ids[code as usize] == *id => code,
            _ => self.code(id),
        };
        self.push_code(code);
        code
    }

    /// Appends the position of the next row's series.
    pub(super) fn push_code(&mut self, code: u32) {
        self.changes += usize::from(self.last.replace(code) != Some(code));
        self.series.push(code.into());
    }

    /// The position of a series.
    pub(super) fn code(&mut self, id: &str) -> u32 {
        self.codes.get(id).copied().unwrap_or_else(|| {
            let code = u32::try_from(self.ids.len()).expect("fewer than 2^32 series");
            let id: Arc<str> = id.into();
            self.id_bytes += id.len();
            self.ids.push(id.clone());
            self.codes.insert(id, code);
            code
        })
    }

    /// The id of a run.
    pub(crate) fn id(&self, run: &SeriesRun) -> &Arc<str> {
        &self.ids[run.code as usize]
    }

    /// Where the row that now is the `i`-th came from.
    pub(crate) fn place(&self, i: usize) -> Place {
        self.source(self.order.as_ref().map_or(i, |order| order[i] as usize))
    }

    /// Where the `row`-th row that was read or came as slices is: in a file, or in the slices of its series.
    pub(crate) fn source(&self, row: usize) -> Place {
        if !self.origin.is_slices() {
            return self.origin.place(row);
        }
        let code = self.series.get(row);
        let before = self.series.iter().take(row).filter(|other| *other == code).count();
        Place::of_series(&self.ids[code as usize], before)
    }

    /// The error of a row whose value is missing.
    pub(crate) fn missing(&self, run: &SeriesRun, row: usize, flaw: Flaw) -> DataError {
        let column = self.target.clone().unwrap_or_else(|| self.id(run).to_string());
        let value = self.missing_as.clone().unwrap_or_default();
        TableError::bad_value(self.place(row), column, value, flaw).into()
    }
}
