//! Points in numbers of a file whose fields semicolons separate, as where commas stand before decimals: they may be marks between thousands.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::read_note::ReadNote;
use foretell_messages::excerpt;

/// The points of all parts of a table.
#[derive(Debug)]
pub(super) struct Points {
    /// Whether one stands before decimals, so that others do, too.
    decimals: AtomicBool,
    /// The first line with one that three digits follow.
    line: AtomicU64,
    cell: Mutex<Option<(usize, String)>>,
}

impl Points {
    pub(super) fn new() -> Self {
        Self { decimals: AtomicBool::new(false), line: AtomicU64::new(u64::MAX), cell: Mutex::default() }
    }

    /// Sees the text of a number.
    pub(super) fn see(&self, column: usize, line: u64, text: &[u8]) {
        if self.decimals.load(Ordering::Relaxed) {
            return;
        }
        let text = text.trim_ascii();
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let Some(point) = digits.iter().position(|byte| *byte == b'.') else { return };
        let (whole, rest) = digits.split_at(point);
        let grouped = (1..=3).contains(&whole.len()) && whole[0] != b'0' && rest.len() == 4;
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

    /// That points may stand between thousands, once all was read.
    pub(super) fn note(&self, file: &Arc<str>, header: &[String]) -> Option<ReadNote> {
        let cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        let (column, cell) = cell.as_ref().filter(|_| !self.decimals.load(Ordering::Relaxed))?;
        Some(ReadNote::Points {
            file: file.clone(),
            column: header.get(*column)?.clone(),
            line: self.line.load(Ordering::Relaxed),
            cell: cell.clone(),
        })
    }
}
