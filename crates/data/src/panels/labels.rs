//! Labels of series that stand in a column of files.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use foretell_tables::{ColumnRoles, DataError, FileOptions, JoinedIds, is_of_id, open};

/// The label of each series in a column of files, read as one table: of the static table, or of any in which each series has one.
///
/// # Errors
/// A column that is missing, or a series with two labels.
pub fn series_labels(
    paths: &[impl AsRef<Path>],
    id_col: &str,
    column: &str,
) -> Result<FxHashMap<Arc<str>, String>, DataError> {
    let wanted = |name: &str| is_of_id(id_col, name) || name == column;
    let table = open(paths, &FileOptions::default(), wanted)?;
    let mut table = JoinedIds::over(table, id_col, |name| name == column)?;
    let id = table.column(id_col, ColumnRoles::IDS)?;
    let place = table.column(column, "give one of these columns")?;
    let mut labels = FxHashMap::<Arc<str>, String>::default();
    while table.advance()? {
        let table = &*table;
        let label = table.label(place).map_err(|flaw| table.bad_value(place, flaw))?;
        match labels.get(&*table.id(id)?) {
            Some(known) if *known != label => {
                return Err(DataError::DuplicateStatic { at: table.place(), id: table.id(id)?.into_owned() });
            }
            Some(_) => {}
            None => _ = labels.insert(Arc::from(&*table.id(id)?), label.into_owned()),
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_one_label() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        std::fs::write(&path, "unique_id,ds,region\na,2024-01-02,north\na,2024-01-03,north\n").unwrap();
        assert_eq!(series_labels(&[&path], "unique_id", "region").unwrap()["a"], "north");
        assert!(matches!(series_labels(&[&path], "unique_id", "ds"), Err(DataError::DuplicateStatic { .. })));
    }
}
