//! The first rows of a table, which are looked at before all of it is read.

use std::path::Path;

use foretell_tables::{TableReader, is_pipe};

/// Rows that are looked at.
const ROWS: usize = 1000;

/// Bytes of a pipe's rows that are looked at: it gives its text once, and no more than some MiB of it are kept.
const BYTES: usize = 1 << 20;

/// How much is still looked at.
pub(super) struct FirstRows {
    rows: usize,
    /// Bytes, where these are limited.
    bytes: Option<usize>,
}

impl FirstRows {
    pub(super) fn of_any() -> Self {
        Self { rows: ROWS, bytes: None }
    }

    /// Those of a file, which may be a pipe.
    pub(super) fn of_file(path: Option<&Path>) -> Self {
        Self { bytes: path.filter(|path| is_pipe(path)).map(|_| BYTES), ..Self::of_any() }
    }

    /// Moves to the next row that is looked at; false behind the last. What cannot be read is an error later on, with its place.
    pub(super) fn advance(&mut self, table: &mut dyn TableReader) -> bool {
        if self.rows == 0 || self.bytes == Some(0) || !table.advance().unwrap_or(false) {
            return false;
        }
        self.rows -= 1;
        if let Some(bytes) = &mut self.bytes {
            let lengths =
                (0..table.header().len()).map(|column| table.label(column).map_or(0, |text| text.len()));
            *bytes = bytes.saturating_sub(lengths.map(|length| length + 1).sum());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use foretell_tables::{FileFormat, MemoryTable};

    use super::*;

    #[test]
    fn so_many_rows_are_looked_at_and_of_a_pipe_so_many_bytes() {
        let row = format!("1,{}\n", "x".repeat(1 << 12));
        let table = MemoryTable::new(
            "rows",
            FileFormat::of("rows.csv"),
            format!("a,b\n{}", row.repeat(ROWS + 8)).into(),
        );
        for (mut first, rows) in
            [(FirstRows::of_any(), ROWS), (FirstRows { rows: ROWS, bytes: Some(BYTES) }, 256)]
        {
            let mut read = table.open(&Default::default(), |_| true).unwrap();
            let mut seen = 0;
            while first.advance(&mut *read) {
                seen += 1;
            }
            assert_eq!(seen, rows);
        }
    }
}
