//! Panels and the tables beside them from files in memory.

use super::covariates::Future;
use super::options::ReadOptions;
use super::panel::Panel;
use super::read::read_wanted;
use crate::error::DataError;
use foretell_tables::MemoryTable;

impl Panel {
    /// Reads a table that is in memory; else as [`from_file`](Self::from_file), to the last bit.
    ///
    /// # Errors
    /// The errors of `from_file`, with the table's name.
    pub fn from_memory(table: &MemoryTable, options: &ReadOptions) -> Result<Self, DataError> {
        table.check_size(options.max_memory)?;
        read_wanted(|wanted| table.open(&options.file, wanted), options, true)
    }

    /// Adds the columns of a table that is in memory; else as [`with_static_file`](Self::with_static_file).
    ///
    /// # Errors
    /// The errors of `with_static_file`, with the table's name.
    pub fn with_static_memory(self, table: &MemoryTable, options: &ReadOptions) -> Result<Self, DataError> {
        table.check_size(options.max_memory)?;
        self.with_statics(table.open(&options.file.beside(), |_| true)?, &options.of_memory_beside(table))
    }
}

impl Future {
    /// Reads a table that is in memory; else as [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// The errors of `from_file`, with the table's name.
    pub fn from_memory(
        table: &MemoryTable,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        table.check_size(options.max_memory)?;
        let options = options.of_memory_beside(table);
        Self::read_beside(table.open(&options.file.beside(), |_| true)?, &options, panel, h)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use foretell_tables::{ColumnError, FileFormat, TableError};

    use super::*;

    const DATA: &str = "unique_id,ds,y,price\na,2024-01-01,1,2\na,2024-01-02,2,3\na,2024-01-03,4,4\n";
    const FUTURE: &str = "unique_id,ds,price\na,2024-01-04,7\n";

    fn table(name: &str, text: &str) -> MemoryTable {
        MemoryTable::new(name, FileFormat::of(name), text.into())
    }

    #[test]
    fn tables_in_memory_are_read_as_files_are() {
        let options = ReadOptions::new();
        let panel = Panel::from_memory(&table("data.csv", DATA), &options).unwrap();
        assert_eq!(panel.y(0), [1.0, 2.0, 4.0]);
        let panel = panel.with_static_memory(&table("static", "unique_id,size\na,5\n"), &options).unwrap();
        assert_eq!(panel.static_value("size", 0).unwrap(), 5.0);
        let future = Future::from_memory(&table("future", FUTURE), &options, &panel, 1).unwrap();
        assert_eq!(future.column("price").unwrap(), [7.0]);
        let error = Panel::from_memory(&table("data", "unique_id,ds\n"), &options).unwrap_err().to_string();
        assert!(error.starts_with("data has no column `y`"), "{error}");
    }

    #[test]
    fn a_path_is_a_name_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data.csv");
        fs::write(&path, DATA).unwrap();
        let name = path.to_str().unwrap();
        let error = Panel::from_memory(&table(name, ""), &ReadOptions::new()).unwrap_err();
        assert!(matches!(error, DataError::Table(TableError::Empty { .. })), "{error}");
    }

    #[test]
    fn listed_columns_are_read_as_text_is() {
        let json = r#"{"unique_id": ["a", "a", "a"], "ds": ["2024-01-01", "2024-01-02", "2024-01-03"],
                       "y": [1, "2", 4.0], "price": [2, 3, null]}"#;
        let columns = |json: &str| MemoryTable::of_columns("data", serde_json::from_str(json).unwrap());
        let options = ReadOptions::new();
        let panel = Panel::from_memory(&columns(json), &options).unwrap();
        let text = Panel::from_memory(&table("data.csv", DATA), &options).unwrap();
        assert_eq!((panel.y(0), panel.freq(), panel.time(0, 2)), (text.y(0), text.freq(), text.time(0, 2)));
        let error = panel.column("price", 0).unwrap_err().to_string();
        assert!(error.starts_with("data, row 2, column `price`"), "{error}");
        let error = Panel::from_memory(&columns(r#"{"unique_id": ["a"], "ds": [1, 2], "y": [1]}"#), &options);
        assert!(matches!(error, Err(DataError::Table(TableError::Length { .. }))), "{error:?}");
        let error = Panel::from_memory(&columns("{}"), &options).unwrap_err();
        assert!(
            matches!(error, DataError::Table(TableError::Column(ColumnError::Missing { .. }))),
            "{error}"
        );
        let integers = columns(r#"{"unique_id": [7, 7, 7], "ds": [1, 2, 3], "y": [0.25, 0.5, 1]}"#);
        let panel = Panel::from_memory(&integers, &options).unwrap();
        assert!(panel.has_integer_ids() && panel.y(0) == [0.25, 0.5, 1.0]);
    }

    #[test]
    fn parquet_and_streams_in_memory_are_read_as_files_are() {
        use foretell_calendar::Freq;
        use foretell_tables::Frame;
        let frame = Frame {
            ids: vec!["a".into(); 3],
            times: vec![1, 2, 3],
            columns: vec![("y".into(), vec![0.5, 1.5, 2.5])],
            ..Frame::new(Freq::parse("1").unwrap())
        };
        for name in ["data.parquet", "data.arrows"] {
            let (format, mut file) = (FileFormat::of(name), Vec::new());
            let mut writer = format.writer(Box::new(&mut file), frame.time_style(), '.').unwrap();
            writer.write(&frame).unwrap();
            writer.finish().unwrap();
            let read = |bytes: Vec<u8>| {
                Panel::from_memory(&MemoryTable::new("data", format, bytes), &ReadOptions::new())
            };
            assert_eq!(read(file.clone()).unwrap().y(0), [0.5, 1.5, 2.5]);
            for cut in [0, 3, 20, file.len() / 2] {
                let error = read(file[..cut].to_vec()).unwrap_err().to_string();
                assert!(error.starts_with("data: "), "{name}, {cut}: {error}");
            }
            // No damage of a byte is more than an error.
            for at in 0..file.len() {
                let mut damaged = file.clone();
                damaged[at] ^= 0x55;
                drop(read(damaged));
            }
        }
    }
}
