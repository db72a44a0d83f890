//! A table whose ids stand in the first row of each series alone, as reports and merged cells have them.

use std::borrow::Cow;

use super::adapter::TableAdapter;
use super::table::TableReader;
use crate::error::TableError;
use crate::error::flaw::Flaw;

/// A table in some of whose columns an empty cell stands for the one above.
pub struct BlockIds<'a> {
    inner: Box<dyn TableReader + 'a>,
    /// By column, the last text; nothing of columns that are not filled in.
    last: Vec<Option<String>>,
}

impl<'a> BlockIds<'a> {
    /// The table with these columns filled in; unchanged if it has none of them.
    pub fn over(inner: Box<dyn TableReader + 'a>, columns: &[String]) -> Box<dyn TableReader + 'a> {
        let is_filled = |name: &String| columns.contains(name);
        if !inner.header().iter().any(is_filled) {
            return inner;
        }
        let last = inner.header().iter().map(|name| is_filled(name).then(String::new)).collect();
        Box::new(Self { inner, last })
    }

    /// The text above, where a cell of such a column is empty.
    fn above(&self, column: usize) -> Option<&str> {
        self.last[column].as_deref().filter(|last| !last.is_empty())
    }
}

impl TableAdapter for BlockIds<'_> {
    fn inner(&self) -> &dyn TableReader {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn TableReader {
        &mut *self.inner
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        let is_there = self.inner.advance()?;
        for (column, last) in self.last.iter_mut().enumerate().filter(|_| is_there) {
            let Some(last) = last else { continue };
            match self.inner.label(column) {
                Ok(text) if !text.trim().is_empty() => *last = text.trim().to_owned(),
                // What stands for a missing label, such as `NA`, is an id.
                _ if !self.inner.shown(column).trim().is_empty() => {
                    *last = self.inner.id(column).map_or_else(|_| String::new(), |id| id.trim().to_owned());
                }
                _ => {}
            }
        }
        Ok(is_there)
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        self.above(column).map_or_else(|| self.inner.id(column), |id| Ok(id.into()))
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        self.above(column).map_or_else(|| self.inner.has_id(column, id), |above| above == id)
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        self.above(column).map_or_else(|| self.inner.label(column), |text| Ok(text.into()))
    }

    fn shown(&self, column: usize) -> String {
        self.above(column).map_or_else(|| self.inner.shown(column), str::to_owned)
    }
}
