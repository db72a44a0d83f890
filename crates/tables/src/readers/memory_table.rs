//! A table that is in memory.

use std::fmt;
use std::sync::Arc;

use super::columns_table::ColumnsTable;
use super::file_options::FileOptions;
use super::format::FileFormat;
use super::shared_bytes::SharedBytes;
use super::table::TableReader;
use super::table_columns::TableColumns;
use crate::error::TableError;
use crate::error::too_large::TooLarge;

/// A table that is in memory, as the body of a request is: no name of it leads to a file system.
#[derive(Clone)]
pub struct MemoryTable {
    name: Arc<str>,
    content: Content,
}

#[derive(Clone)]
enum Content {
    File(&'static FileFormat, SharedBytes),
    Columns(Arc<TableColumns>),
}

impl MemoryTable {
    /// The bytes of a file of that format, called `name` in messages.
    pub fn new(name: &str, format: &'static FileFormat, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), content: Content::File(format, SharedBytes(bytes.into())) }
    }

    /// Columns that came as lists, in a table called `name` in messages, which count its rows from 0.
    pub fn of_columns(name: &str, columns: TableColumns) -> Self {
        Self { name: name.into(), content: Content::Columns(columns.into()) }
    }

    /// Names of its columns.
    ///
    /// # Errors
    /// A file that cannot be read, or has no header.
    pub fn column_names(&self, options: &FileOptions) -> Result<Vec<String>, TableError> {
        Ok(self.open(&options.beside(), |_| true)?.header().to_vec())
    }

    /// Whether it has room in `limit` bytes if it is read into memory as a whole, as streams and files of Arrow's are.
    ///
    /// # Errors
    /// [`TooLarge::Stream`] if it has not.
    pub fn check_size(&self, limit: Option<u64>) -> Result<(), TableError> {
        let (Content::File(format, bytes), Some(limit)) = (&self.content, limit) else { return Ok(()) };
        match format.memory_of_bytes(bytes.as_ref()).filter(|needed| *needed > limit) {
            None => Ok(()),
            needed => Err(TooLarge::Stream { file: self.name.clone(), needed, limit }.into()),
        }
    }

    /// Opens it; of columns that `wanted` refuses no more need be read than their names.
    pub fn open(
        &self,
        options: &FileOptions,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Box<dyn TableReader + '_>, TableError> {
        match &self.content {
            Content::File(format, bytes) => format.take(&self.name, bytes, options, &wanted),
            Content::Columns(columns) => Ok(Box::new(ColumnsTable::new(&self.name, columns.clone())?)),
        }
    }
}

impl fmt::Debug for MemoryTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Content::File(format, bytes) => {
                write!(f, "MemoryTable({}, {format:?}, {} bytes)", self.name, bytes.as_ref().len())
            }
            Content::Columns(columns) => write!(f, "MemoryTable({}, {} rows)", self.name, columns.n_rows()),
        }
    }
}
