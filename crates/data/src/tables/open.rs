//! Files opened as tables, by what their names say.

use std::path::Path;

use super::file_options::FileOptions;
use super::format::FileFormat;
use super::table::TableReader;
use crate::error::DataError;

/// Opens a file of the format that its name tells. Of columns that `wanted` refuses no more need be read than their names.
pub(crate) fn open(
    path: &Path,
    options: &FileOptions,
    wanted: impl Fn(&str) -> bool,
) -> Result<Box<dyn TableReader>, DataError> {
    FileFormat::of(path).open(path, options, &wanted)
}

/// Names of the columns of a file beside the data: how many lines stand before its header is told by itself.
///
/// # Errors
/// A file that cannot be read, or has no header.
pub fn column_names(path: impl AsRef<Path>, options: &FileOptions) -> Result<Vec<String>, DataError> {
    Ok(open(path.as_ref(), &options.beside(), |_| true)?.header().to_vec())
}
