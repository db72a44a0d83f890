//! The columns of a table whose first one is made of several others.

use super::table::{TableReader, check_header};
use crate::error::TableError;

/// Where the columns of a table are that has one more, before the others, made of several of them.
pub(super) struct JoinedHead {
    pub(super) header: Vec<String>,
    /// The columns that make the first.
    pub(super) parts: Vec<usize>,
    /// Those behind it.
    places: Vec<usize>,
}

impl JoinedHead {
    /// A column of this name is made of these, which are left out besides, unless they are wanted: then they stand at the end.
    pub(super) fn new(
        inner: &dyn TableReader,
        parts: Vec<usize>,
        name: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, TableError> {
        let columns = || 0..inner.header().len();
        let kept = columns().filter(|column| parts.contains(column) && wanted(&inner.header()[*column]));
        let places: Vec<usize> = columns().filter(|column| !parts.contains(column)).chain(kept).collect();
        let others = places.iter().map(|&column| inner.header()[column].clone());
        let header: Vec<String> = [name.to_owned()].into_iter().chain(others).collect();
        check_header(inner.file(), &header)?;
        Ok(Self { header, parts, places })
    }

    /// The column of the inner table whose cells stand in that column: in the joined one, which only messages ask for, those of the
    /// first that makes it.
    pub(super) fn inner_column(&self, column: usize) -> usize {
        column.checked_sub(1).map_or(self.parts[0], |column| self.places[column])
    }
}
