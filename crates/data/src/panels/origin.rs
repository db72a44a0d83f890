//! Where the rows of a table stand in its source.

use std::sync::Arc;

use crate::error::place::Place;

/// The name of a table of slices.
pub(crate) const SLICES: &str = "the panel";

/// Where the rows of a table stand in its source.
///
/// Lines of a file are kept as the few places where they do not simply follow each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    file: Option<Arc<str>>,
    /// Whether it is text, counted in lines.
    lines: bool,
    rows: u64,
    /// Row and line at every jump.
    jumps: Vec<(u64, u64)>,
}

impl Origin {
    /// Rows of the table in which this place is.
    pub(crate) fn like(place: &Place) -> Self {
        Self { file: place.file.clone(), lines: place.line, ..Self::default() }
    }

    /// Notes the line or row of the next row.
    pub(crate) fn push(&mut self, line: u64) {
        let follows = self.jumps.last().is_some_and(|(row, at)| at + (self.rows - row) == line);
        if !follows {
            self.jumps.push((self.rows, line));
        }
        self.rows += 1;
    }

    /// Adds the rows of another part of the same table.
    pub(crate) fn append(&mut self, other: &Self) {
        for &(row, line) in &other.jumps {
            let row = self.rows + row;
            let follows = self.jumps.last().is_some_and(|(before, at)| at + (row - before) == line);
            if !follows {
                self.jumps.push((row, line));
            }
        }
        self.rows += other.rows;
    }

    pub(crate) fn place(&self, row: usize) -> Place {
        let row = row as u64;
        let last = self.jumps.partition_point(|(start, _)| *start <= row);
        let row = match last.checked_sub(1).map(|i| self.jumps[i]) {
            Some((start, line)) if self.file.is_some() => line + (row - start),
            _ => row,
        };
        Place { file: self.file.clone(), line: self.lines, series: None, row }
    }

    /// Whether the rows came from slices.
    pub(crate) fn is_slices(&self) -> bool {
        self.file.is_none()
    }

    pub(crate) fn table(&self) -> Arc<str> {
        self.file.clone().unwrap_or_else(|| SLICES.into())
    }
}
