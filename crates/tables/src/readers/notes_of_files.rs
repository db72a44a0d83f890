//! What was noted of several files, each thing once.

use std::mem::discriminant;
use std::sync::Arc;

use super::read_note::ReadNote;

impl ReadNote {
    /// The file or table that it is about.
    pub fn source(&self) -> Arc<str> {
        self.clone().source_mut().clone()
    }

    /// The same of another file or table.
    pub fn of_source(mut self, source: Arc<str>) -> Self {
        *self.source_mut() = source;
        self
    }

    /// Whether it says the same of its file as another one of another.
    pub fn is_like(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other) && self.clone().of_source(other.source()) == *other
    }

    /// Notes in their order, each once: one that says the same of further files says of how many.
    pub fn merged(notes: Vec<Self>) -> Vec<Self> {
        let mut merged: Vec<(Self, Arc<str>, usize)> = Vec::new();
        for note in notes {
            let source = note.source();
            match merged.iter_mut().find(|(first, ..)| first.is_like(&note)) {
                // The notes of a file follow each other, as its parts do.
                Some((_, last, more)) => {
                    *more += usize::from(*last != source);
                    *last = source;
                }
                None => merged.push((note, source, 0)),
            }
        }
        let told = |(note, _, more): (Self, Arc<str>, usize)| match more {
            0 => note,
            more => {
                let source = format!("{} and {more} more files", note.source()).into();
                note.of_source(source)
            }
        };
        merged.into_iter().map(told).collect()
    }

    fn source_mut(&mut self) -> &mut Arc<str> {
        match self {
            Self::Encoded { file, .. }
            | Self::Titles { file, .. }
            | Self::Footers { file, .. }
            | Self::UnitsRow { file, .. }
            | Self::NamesInGroups { file, .. }
            | Self::Merged { file, .. }
            | Self::Sheet { file, .. }
            | Self::HoursEnding { file }
            | Self::PartsAcross { file, .. }
            | Self::YearsAcross { file, .. }
            | Self::SumsAcross { file, .. }
            | Self::Percent { file }
            | Self::ZerosOfAccounts { file, .. }
            | Self::RepeatedHeaders { file, .. }
            | Self::Flagged { file, .. } => file,
            Self::Written { table, .. }
            | Self::IdsAbove { table, .. }
            | Self::Months { table, .. }
            | Self::Mark { table, .. }
            | Self::PartialPeriods { table, .. }
            | Self::PossiblyPartial { table, .. }
            | Self::SumsUnknown { table, .. }
            | Self::NeverZero { table, .. }
            | Self::AlikeIds { table, .. }
            | Self::TotalOfOthers { table, .. }
            | Self::OfAllSeries { table }
            | Self::NothingKnown { table, .. }
            | Self::ReadAsZero { table, .. } => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_of_several_files_is_told_once() {
        let titles =
            |file: &str, lines: u64| ReadNote::Titles { file: file.into(), lines, header: lines + 1 };
        let notes = vec![
            titles("a", 1),
            ReadNote::Percent { file: "a".into() },
            titles("b", 1),
            titles("b", 1),
            titles("c", 2),
            ReadNote::HoursEnding { file: "c".into() },
            titles("d", 1),
        ];
        let expected = [
            titles("a and 2 more files", 1),
            ReadNote::Percent { file: "a".into() },
            titles("c", 2),
            ReadNote::HoursEnding { file: "c".into() },
        ];
        assert_eq!(ReadNote::merged(notes), expected);
    }
}
