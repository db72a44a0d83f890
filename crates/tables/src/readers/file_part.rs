//! Parts of files that are read one after another: whole files, and row groups of Parquet files.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use super::arrow_table::ArrowTable;
use super::file_options::FileOptions;
use super::format::FileFormat;
#[cfg(feature = "parquet")]
use super::row_groups::RowGroups;
use super::several::open_several;
use super::table::TableReader;
use crate::error::TableError;

/// A file, or some row groups of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The file.
    pub path: PathBuf,
    /// Nothing for a file as a whole.
    groups: Option<Range<usize>>,
}

impl FilePart {
    /// A file as one part.
    pub fn whole(path: &Path) -> Self {
        Self { path: path.to_owned(), groups: None }
    }

    /// The parts of a file, in the order of its rows: several, if it is a Parquet file whose row groups have more than `least` rows
    /// together.
    pub fn all_of(path: &Path, least: u64) -> Vec<Self> {
        #[cfg(not(feature = "parquet"))]
        let _ = least;
        #[cfg(feature = "parquet")]
        if FileFormat::of(path).name == "Parquet" {
            let ranges = ranges(&rows_of_groups(path), least);
            if ranges.len() > 1 {
                let part = |groups| Self { path: path.to_owned(), groups: Some(groups) };
                return ranges.into_iter().map(part).collect();
            }
        }
        vec![Self::whole(path)]
    }

    /// Opens it as a table, with the columns that its folders give.
    pub fn open<'a>(
        &self,
        options: &FileOptions,
        wanted: impl Fn(&str) -> bool + Send + 'a,
    ) -> Result<Box<dyn TableReader + 'a>, TableError> {
        let (options, groups) = (options.clone(), self.groups.clone());
        open_several(
            vec![self.path.clone()],
            Box::new(move |file: &Path| match &groups {
                #[cfg(feature = "parquet")]
                Some(groups) => Ok(Box::new(ArrowTable::open_groups(file, groups.clone(), &wanted)?)),
                _ => FileFormat::of(file).open(file, &options, &wanted),
            }),
        )
    }
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.groups {
            None => Ok(()),
            Some(groups) => write!(f, " (row groups {} to {})", groups.start + 1, groups.end),
        }
    }
}

/// The rows of each row group of a Parquet file; none if it cannot be read.
#[cfg(feature = "parquet")]
fn rows_of_groups(path: &Path) -> Vec<u64> {
    RowGroups::open(path, |_| false).map_or_else(|_| Vec::new(), |(file, _)| file.rows())
}

/// Row groups that follow each other, each time together of `least` rows or more.
#[cfg(feature = "parquet")]
fn ranges(rows: &[u64], least: u64) -> Vec<Range<usize>> {
    let (mut ranges, mut first, mut held) = (Vec::<Range<usize>>::new(), 0, 0);
    for (group, rows) in rows.iter().enumerate() {
        held += rows;
        if held >= least {
            ranges.push(first..group + 1);
            (first, held) = (group + 1, 0);
        }
    }
    // What is left is too small for a part.
    if let Some(last) = ranges.last_mut() {
        last.end = rows.len();
    }
    ranges
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn row_groups_are_gathered_to_parts() {
        assert!(ranges(&[], 4).is_empty() && ranges(&[1, 2], 4).is_empty());
        assert_eq!(ranges(&[9, 4, 4], 4), [0..1, 1..2, 2..3]);
        assert_eq!(ranges(&[1, 1, 3, 0, 4, 3], 4), [0..3, 3..6], "the last group alone is too small");
    }
}
