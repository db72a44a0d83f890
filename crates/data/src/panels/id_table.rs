//! Tables of numbers with a row per series: summing matrices.

use std::path::Path;
use std::sync::Arc;

use crate::error::DataError;
use foretell_tables::{ColumnRoles, FileOptions, JoinedIds, open};

/// A table with a row per series, whose other columns are all numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct IdTable {
    /// The file, for messages.
    pub file: Arc<str>,
    /// The series of each row.
    pub ids: Vec<String>,
    /// The names of the columns of numbers.
    pub columns: Vec<String>,
    /// `[rows, columns]`.
    pub values: Vec<f64>,
}

impl IdTable {
    /// Reads a file whose ids are in the column `id_col`.
    ///
    /// # Errors
    /// A column that is missing, a cell that is no number.
    pub fn from_file(path: impl AsRef<Path>, id_col: &str) -> Result<Self, DataError> {
        let table = open(&[path], &FileOptions::default(), |_| true)?;
        let mut table = JoinedIds::over(table, id_col, |_| false)?;
        let id = table.column(id_col, ColumnRoles::IDS)?;
        let numbers = |(i, name): &(usize, &str)| *i != id && !name.is_empty();
        let (places, columns): (Vec<usize>, Vec<String>) =
            table.columns().enumerate().filter(numbers).map(|(i, name)| (i, name.to_owned())).unzip();
        let (mut ids, mut values) = (Vec::new(), Vec::new());
        while table.advance()? {
            let table = &*table;
            ids.push(table.id(id)?.into_owned());
            for &place in &places {
                values.push(table.wide_number(place).map_err(|flaw| table.bad_value(place, flaw))?);
            }
        }
        Ok(Self { file: table.file().clone(), ids, columns, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_beside_ids() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s.csv");
        std::fs::write(&path, "unique_id,a,b\nall,1,1\na,1,0\nb,0,1\n").unwrap();
        let table = IdTable::from_file(&path, "unique_id").unwrap();
        assert_eq!(
            (table.ids, table.columns),
            (vec!["all".into(), "a".into(), "b".into()], vec!["a".into(), "b".into()])
        );
        assert_eq!(table.values, [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
        std::fs::write(&path, "unique_id,a\nall,x\n").unwrap();
        let error = IdTable::from_file(&path, "unique_id").unwrap_err().to_string();
        assert!(error.contains("column `a`") && error.contains("line 2"), "{error}");
    }
}
