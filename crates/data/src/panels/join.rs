//! Rows of the parts of a table joined in its order.

use super::rows::TableRows;
use foretell_tables::ReadNote;

impl TableRows {
    /// Appends the rows of another part of the same table, as if they had been read after these.
    pub(super) fn append(&mut self, mut other: Self) {
        let codes: Vec<u32> = other.ids.iter().map(|id| self.code(id)).collect();
        // Of the part's own codes, that of its first row is 0.
        let goes_on = self.last.is_some() && self.last == codes.first().copied();
        self.changes += other.changes - usize::from(goes_on);
        self.last = other.last.map(|code| codes[code as usize]).or(self.last);
        self.series.append_mapped(&other.series, |code| codes[code as usize].into());
        self.integer_ids |= other.integer_ids;
        self.times.append(&other.times);
        self.within.append(&other.within);
        self.unrounded.append(&self.y, &other.unrounded, &other.y);
        self.y.append(&mut other.y);
        for (values, others) in [(&mut self.mask, other.mask), (&mut self.weight, other.weight)] {
            if let (Some(values), Some(mut others)) = (values.as_mut(), others) {
                values.append(&mut others);
            }
        }
        for (column, others) in self.columns.iter_mut().zip(other.columns) {
            column.append(others, |row| other.origin.place(row));
        }
        self.origin.append(&other.origin);
        self.note(other.notes);
        self.missing_as = self.missing_as.take().or(other.missing_as);
        self.read_as_zero = self.read_as_zero.take().or(other.read_as_zero);
    }

    /// Adds what was taken for granted, each thing once.
    pub(super) fn note(&mut self, notes: Vec<ReadNote>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}
