//! Files opened as tables, by what their names say.

use std::path::Path;

#[cfg(feature = "parquet")]
use super::arrow_table::ArrowTable;
use super::table::TableReader;
use super::text_table::TextTable;
use crate::error::DataError;

/// Opens a file: Parquet where its name ends so, else text. Of a Parquet file no more is read than the
/// columns that `wanted` accepts.
pub(crate) fn open(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Box<dyn TableReader>, DataError> {
    Ok(match is_parquet(path) {
        #[cfg(feature = "parquet")]
        true => Box::new(ArrowTable::open(path, wanted)?),
        #[cfg(not(feature = "parquet"))]
        true => {
            let _ = wanted;
            return Err(DataError::WithoutParquet(path.display().to_string().into()));
        }
        false => Box::new(TextTable::open(path)?),
    })
}

/// Whether a file of that name is Parquet: it ends in `.parquet` or `.pq`.
pub fn is_parquet(path: impl AsRef<Path>) -> bool {
    let extension = path.as_ref().extension().unwrap_or_default();
    ["parquet", "pq"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Names of the columns of a file.
///
/// # Errors
/// A file that cannot be read, or has no header.
pub fn column_names(path: impl AsRef<Path>) -> Result<Vec<String>, DataError> {
    Ok(open(path.as_ref(), |_| true)?.header().to_vec())
}

#[cfg(all(test, not(feature = "parquet")))]
mod tests {
    use super::*;

    #[test]
    fn without_the_feature_a_parquet_file_is_refused_by_its_name() {
        let error = crate::column_names("sales.parquet").unwrap_err();
        assert!(matches!(error, DataError::WithoutParquet(_)), "{error}");
        assert!(error.to_string().contains("sales.parquet"), "{error}");
    }
}
