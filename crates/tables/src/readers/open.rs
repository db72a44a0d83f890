//! Files opened as tables, by what their names say.

use std::path::{Path, PathBuf};

use super::file_options::FileOptions;
use super::format::FileFormat;
use super::several::open_several;
use super::table::TableReader;
use super::table_files::table_files;
use crate::error::TableError;
use crate::error::too_large::TooLarge;

/// Opens files, folders and patterns as one table, each file in the format that its name tells. Of columns that `wanted` refuses
/// no more need be read than their names.
pub fn open<'a>(
    paths: &[impl AsRef<Path>],
    options: &FileOptions,
    wanted: impl Fn(&str) -> bool + Send + 'a,
) -> Result<Box<dyn TableReader + 'a>, TableError> {
    let files = paths.iter().map(table_files).collect::<Result<Vec<_>, _>>()?.concat();
    let options = options.clone();
    open_several(files, Box::new(move |file: &Path| FileFormat::of(file).open(file, &options, &wanted)))
}

/// Whether those of the files that are read into memory as a whole have room in `limit` bytes: streams and files of Arrow's, whose batches may
/// be of any size.
///
/// # Errors
/// [`TooLarge::Stream`] if one has not.
pub fn check_sizes(paths: &[impl AsRef<Path>], limit: Option<u64>) -> Result<(), TableError> {
    let Some(limit) = limit else { return Ok(()) };
    for path in paths.iter().map(table_files).collect::<Result<Vec<_>, _>>()?.concat() {
        if let Some(needed) = FileFormat::of(&path).memory(&path).filter(|needed| *needed > limit) {
            let file = path.display().to_string().into();
            return Err(TooLarge::Stream { file, needed: Some(needed), limit }.into());
        }
    }
    Ok(())
}

/// Names of the columns of a file beside the data, or of the first of several: how many lines stand before its header is
/// told by itself.
///
/// # Errors
/// A file that cannot be read, or has no header.
pub fn column_names(path: impl AsRef<Path>, options: &FileOptions) -> Result<Vec<String>, TableError> {
    let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
    Ok(open(&first, &options.beside(), |_| true)?.header().to_vec())
}
