//! Panels and tables from Arrow record batches.

use arrow_array::RecordBatch;

use super::covariates::Future;
use super::forecast_table::{ForecastTable, NumbersIn};
use super::options::ReadOptions;
use super::panel::Panel;
use super::read::read;
use crate::error::DataError;
use crate::tables::arrow_table::ArrowTable;

impl Panel {
    /// Takes Arrow record batches with the columns of a file, laid out as [`from_csv`](Self::from_csv)
    /// says. Ids may be texts (plain or as a dictionary) or integers; times timestamps of any unit and
    /// zone, dates, integers or texts; values numbers of any width.
    ///
    /// # Errors
    /// Every mistake names the batch's row and the column, and says what to do.
    pub fn from_record_batches(
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        read(Box::new(ArrowTable::of(batches)?), options, true)
    }

    /// Adds the columns of record batches; else as [`with_static_file`](Self::with_static_file).
    ///
    /// # Errors
    /// The errors of `with_static_file`, and batches of different columns.
    pub fn with_static_batches(
        self,
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut table = options.with_marks(Box::new(ArrowTable::of(batches)?));
        self.with_static_table(&mut *table, options)
    }
}

impl ForecastTable {
    /// Takes the rows of record batches; else as [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// The errors of `from_file`, and batches of different columns.
    pub fn from_record_batches(
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        Self::read(&mut ArrowTable::of(batches)?, options, NumbersIn::AllColumns)
    }

    /// Takes the rows of record batches; else as [`actual_from_file`](Self::actual_from_file).
    ///
    /// # Errors
    /// The errors of `actual_from_file`, and batches of different columns.
    pub fn actual_from_record_batches(
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        Self::read(&mut ArrowTable::of(batches)?, options, NumbersIn::Target)
    }
}

impl Future {
    /// Takes the rows of record batches; else as [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// The errors of `from_file`, and batches of different columns.
    pub fn from_record_batches(
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        Self::read(&mut *options.with_marks(Box::new(ArrowTable::of(batches)?)), options, panel, h)
    }
}
