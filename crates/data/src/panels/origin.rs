//! Where the rows of a table stand in its source.

use std::sync::Arc;

use foretell_tables::{Place, TableReader};

/// The name of a table of slices.
pub(crate) const SLICES: &str = "the panel";

/// Where a row stands: in which file of the table, and on which line or row of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    file: u32,
    line: u64,
}

/// Where the rows of a table stand in its source.
///
/// Lines of a file are kept as the few places where they do not simply follow each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The files, and whether they are text, counted in lines. None of slices.
    files: Vec<(Arc<str>, bool)>,
    rows: u64,
    /// The row at every jump, and where it stands.
    jumps: Vec<(u64, At)>,
}

impl Origin {
    /// Rows of the table in which this place is.
    pub(crate) fn like(place: &Place) -> Self {
        let files = place.file.iter().map(|file| (file.clone(), place.line)).collect();
        Self { files, ..Self::default() }
    }

    /// Where the row is on which a table stands.
    pub(crate) fn at(&mut self, table: &dyn TableReader) -> At {
        let file = self.file(table.file(), || table.place().line);
        At { file, line: table.row() }
    }

    /// The number of a file, which is the last one or follows it.
    fn file(&mut self, file: &Arc<str>, lines: impl FnOnce() -> bool) -> u32 {
        if !self.files.last().is_some_and(|(last, _)| Arc::ptr_eq(last, file)) {
            self.files.push((file.clone(), lines()));
        }
        self.files.len() as u32 - 1
    }

    /// Notes where the next row stands.
    pub(crate) fn push(&mut self, at: At) {
        self.push_rows(at, 1);
    }

    /// Notes where the next rows stand, one after the other.
    fn push_rows(&mut self, at: At, rows: u64) {
        let expected = |(row, start): &(u64, At)| At { line: start.line + (self.rows - row), ..*start };
        if self.jumps.last().map(expected) != Some(at) {
            self.jumps.push((self.rows, at));
        }
        self.rows += rows;
    }

    /// Adds the rows of another part of the same table.
    pub(crate) fn append(&mut self, other: &Self) {
        let ends = other.jumps.iter().skip(1).map(|(row, _)| *row).chain([other.rows]);
        for (&(row, at), end) in other.jumps.iter().zip(ends) {
            let (file, lines) = &other.files[at.file as usize];
            let file = self.file(file, || *lines);
            self.push_rows(At { file, ..at }, end - row);
        }
    }

    pub(crate) fn place(&self, row: usize) -> Place {
        let row = row as u64;
        let last = self.jumps.partition_point(|(start, _)| *start <= row);
        match last.checked_sub(1).map(|i| self.jumps[i]) {
            Some((start, At { file, line })) => {
                let (file, lines) = self.files[file as usize].clone();
                Place { file: Some(file), line: lines, series: None, row: line + (row - start) }
            }
            None => Place { file: None, line: false, series: None, row },
        }
    }

    /// Whether the rows came from slices.
    pub(crate) fn is_slices(&self) -> bool {
        self.files.is_empty()
    }

    /// The table, for messages.
    pub(crate) fn table(&self) -> Arc<str> {
        match &self.files[..] {
            [] => SLICES.into(),
            [(file, _)] => file.clone(),
            [(first, _), others @ ..] => format!("{first} and {} more files", others.len()).into(),
        }
    }
}
