//! Tables of a few rows with cells of any kind, such as the trials of a search.

use std::io;

#[cfg(feature = "parquet")]
use std::sync::Arc;

#[cfg(feature = "parquet")]
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

use crate::error::TableError;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers, or none.
    Numbers(Vec<Option<f64>>),
    /// Texts, or none.
    Texts(Vec<Option<String>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Integers(cells) => cells.len(),
            Self::Numbers(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
        }
    }

    /// A cell as text, empty where there is none.
    fn text(&self, row: usize) -> String {
        match self {
            Self::Integers(cells) => cells[row].to_string(),
            Self::Numbers(cells) => cells[row].map(|number| number.to_string()).unwrap_or_default(),
            Self::Texts(cells) => cells[row].clone().unwrap_or_default(),
        }
    }

    #[cfg(feature = "parquet")]
    fn array(&self) -> ArrayRef {
        match self {
            Self::Integers(cells) => Arc::new(Int64Array::from(cells.clone())),
            Self::Numbers(cells) => Arc::new(Float64Array::from(cells.clone())),
            Self::Texts(cells) => Arc::new(StringArray::from(cells.clone())),
        }
    }
}

/// A table of named columns of one length; [`FileFormat::write_cells`](crate::FileFormat::write_cells) writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellTable {
    /// The columns by name.
    pub columns: Vec<(String, Cells)>,
}

impl CellTable {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }

    /// Writes it as CSV.
    ///
    /// # Errors
    /// [`TableError::Write`] if `out` refuses.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_csv(&self, out: impl io::Write) -> Result<(), TableError> {
        let refused = |error: csv::Error| TableError::Write(io::Error::other(error));
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|(name, _)| name)).map_err(refused)?;
        for row in 0..self.n_rows() {
            writer.write_record(self.columns.iter().map(|(_, cells)| cells.text(row))).map_err(refused)?;
        }
        writer.flush().map_err(TableError::Write)
    }

    /// The table as an Arrow record batch.
    ///
    /// # Panics
    /// If the columns differ in length.
    #[cfg(feature = "parquet")]
    pub fn record_batch(&self) -> RecordBatch {
        let columns = self.columns.iter().map(|(name, cells)| (name, cells.array(), true));
        RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_with_gaps_and_quotes() {
        let column = |name: &str, cells| (name.to_owned(), cells);
        let table = CellTable {
            columns: vec![
                column("trial", Cells::Integers(vec![0, 1])),
                column("score", Cells::Numbers(vec![Some(0.25), None])),
                column("units", Cells::Texts(vec![Some("[[8,8],[8,8]]".to_owned()), None])),
            ],
        };
        let mut text = Vec::new();
        table.write_csv(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "trial,score,units\n0,0.25,\"[[8,8],[8,8]]\"\n1,,\n");
        assert_eq!(table.n_rows(), 2);
        #[cfg(feature = "parquet")]
        assert_eq!((table.record_batch().num_rows(), table.record_batch().num_columns()), (2, 3));
    }
}
