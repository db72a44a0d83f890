//! Panels and the tables beside them from rows of any origin, as Arrow record batches.

use super::covariates::Future;
use super::forecast_table::{ForecastTable, NumbersIn};
use super::options::ReadOptions;
use super::panel::Panel;
use super::read::read;
use crate::error::DataError;
use foretell_tables::TableReader;

impl Panel {
    /// Takes the rows of a table, laid out as [`from_csv`](Self::from_csv) says. Of Arrow record batches
    /// (`foretell_tables::ArrowTable`) ids may be texts (plain or as a dictionary) or integers; times timestamps of any unit and
    /// zone, dates, integers or texts; values numbers of any width.
    ///
    /// # Errors
    /// Every mistake names the row and the column, and says what to do.
    pub fn from_table<'a>(table: impl TableReader + 'a, options: &ReadOptions) -> Result<Self, DataError> {
        read(Box::new(table), options, true)
    }

    /// Adds the columns of a table; else as [`with_static_file`](Self::with_static_file).
    ///
    /// # Errors
    /// The errors of `with_static_file`.
    pub fn with_static_table<'a>(
        self,
        table: impl TableReader + 'a,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        self.with_statics(Box::new(table), options)
    }
}

impl ForecastTable {
    /// Takes the rows of a table; else as [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// The errors of `from_file`.
    pub fn from_table(mut table: impl TableReader, options: &ReadOptions) -> Result<Self, DataError> {
        Self::read(&mut table, options, NumbersIn::AllColumns)
    }

    /// Takes the rows of a table; else as [`actual_from_file`](Self::actual_from_file).
    ///
    /// # Errors
    /// The errors of `actual_from_file`.
    pub fn actual_from_table(mut table: impl TableReader, options: &ReadOptions) -> Result<Self, DataError> {
        Self::read(&mut table, options, NumbersIn::Target)
    }
}

impl Future {
    /// Takes the rows of a table; else as [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// The errors of `from_file`.
    pub fn from_table<'a>(
        table: impl TableReader + 'a,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        Self::read(&mut *options.with_marks(Box::new(table))?, options, panel, h)
    }
}
