//! Files opened as tables, by what their names say.

use std::path::{Path, PathBuf};

use super::file_options::FileOptions;
use super::format::FileFormat;
use super::several::open_several;
use super::table::TableReader;
use super::table_files::table_files;
use crate::error::DataError;

/// Opens files, folders and patterns as one table, each file in the format that its name tells. Of columns that `wanted` refuses
/// no more need be read than their names.
pub(crate) fn open<'a>(
    paths: &[impl AsRef<Path>],
    options: &FileOptions,
    wanted: impl Fn(&str) -> bool + Send + 'a,
) -> Result<Box<dyn TableReader + 'a>, DataError> {
    let files = paths.iter().map(table_files).collect::<Result<Vec<_>, _>>()?.concat();
    let options = options.clone();
    open_several(files, Box::new(move |file: &Path| FileFormat::of(file).open(file, &options, &wanted)))
}

/// Names of the columns of a file beside the data, or of the first of several: how many lines stand before its header is
/// told by itself.
///
/// # Errors
/// A file that cannot be read, or has no header.
pub fn column_names(path: impl AsRef<Path>, options: &FileOptions) -> Result<Vec<String>, DataError> {
    let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
    Ok(open(&first, &options.beside(), |_| true)?.header().to_vec())
}
