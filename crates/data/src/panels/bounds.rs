//! The bounds of reading: how many rows, how much memory, and whether anyone waits for them.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::options::ReadOptions;
use super::rows::TableRows;
use crate::error::DataError;
use foretell_tables::{TooLarge, check_wanted};

/// Rows from one look at the bounds to the next,
pub(super) const LOOK: usize = 1 << 13;

/// and bytes of ids, which may be of any length.
pub(super) const LOOK_AT_IDS: usize = 1 << 20;

impl ReadOptions {
    /// Whether reading may continue after this many rows, which take `bytes`.
    pub(super) fn check_bounds(&self, table: &Arc<str>, rows: usize, bytes: usize) -> Result<(), DataError> {
        check_wanted()?;
        self.check_rows(table, rows)?;
        match self.max_memory.filter(|&limit| bytes as u64 > limit) {
            Some(limit) => {
                let (table, needed) = (table.clone(), bytes as u64);
                Err(TooLarge::Memory { table, rows, needed, limit }.into())
            }
            None => Ok(()),
        }
    }

    /// Whether a table may have this many rows.
    pub(super) fn check_rows(&self, table: &Arc<str>, rows: usize) -> Result<(), DataError> {
        match self.max_rows.filter(|&most| rows > most) {
            Some(most) => Err(TooLarge::Rows { table: table.clone(), most, found: rows }.into()),
            None => Ok(()),
        }
    }
}

/// The bounds of a table that is read, in parts perhaps, and what was read of it on all threads.
pub(super) struct Bounds<'a> {
    options: &'a ReadOptions,
    table: Arc<str>,
    rows: AtomicUsize,
    bytes: AtomicUsize,
}

/// The rows that one thread holds of them.
pub(super) struct Share<'a> {
    bounds: &'a Bounds<'a>,
    rows: usize,
    bytes: usize,
    /// The bytes of ids at the last look.
    id_bytes: usize,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(options: &'a ReadOptions, table: &Arc<str>) -> Self {
        Self { options, table: table.clone(), rows: AtomicUsize::new(0), bytes: AtomicUsize::new(0) }
    }

    /// A share without rows yet, which are no longer counted once it is dropped.
    pub(super) fn share(&'a self) -> Share<'a> {
        Share { bounds: self, rows: 0, bytes: 0, id_bytes: 0 }
    }
}

impl Share<'_> {
    /// Looks at the bounds from time to time; `rows` are those of this share so far.
    pub(super) fn look(&mut self, rows: &TableRows) -> Result<(), DataError> {
        let is_due = rows.len() - self.rows >= LOOK || rows.id_bytes - self.id_bytes >= LOOK_AT_IDS;
        if is_due { self.look_now(rows) } else { Ok(()) }
    }

    pub(super) fn look_now(&mut self, rows: &TableRows) -> Result<(), DataError> {
        self.id_bytes = rows.id_bytes;
        let (all_rows, all_bytes) = self.count(rows.len(), rows.bytes());
        self.bounds.options.check_bounds(&self.bounds.table, all_rows, all_bytes)
    }

    /// Makes the share this large; the rows and bytes of all.
    fn count(&mut self, rows: usize, bytes: usize) -> (usize, usize) {
        let change = |all: &AtomicUsize, own: &mut usize, now: usize| {
            let more = now.wrapping_sub(mem::replace(own, now));
            all.fetch_add(more, Ordering::Relaxed).wrapping_add(more)
        };
        let Bounds { rows: all_rows, bytes: all_bytes, .. } = self.bounds;
        (change(all_rows, &mut self.rows, rows), change(all_bytes, &mut self.bytes, bytes))
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.count(0, 0);
    }
}
