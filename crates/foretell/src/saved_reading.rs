//! How tables of series are read for models: one rule for every host.

use foretell_calendar::Freq;
use foretell_data::{DataError, End, Panel, ReadOptions};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::fitted::Fitted;
use crate::hierarchies::sums::with_sums;
use crate::usage_error::UsageError;

/// The columns of a table of series that models are to see.
#[derive(Clone, Debug, Default)]
pub struct SeriesColumns {
    /// Their names.
    pub names: ColumnNames,
    /// Whether the name of the time column was said: the times of a wide table are its first column otherwise, whatever it is called.
    pub time_is_named: bool,
    /// The further columns that the models read.
    pub read: Vec<String>,
    /// Those of them, and of the static ones, that hold categories.
    pub categories: Vec<String>,
    /// The frequency, if it is known.
    pub freq: Option<Freq>,
}

impl SeriesColumns {
    /// Those that saved models read, under the names that they had in training.
    pub fn of(fitted: &Fitted) -> Self {
        Self {
            names: fitted.columns().clone(),
            time_is_named: false,
            read: fitted.columns_read(),
            categories: fitted.categories(),
            freq: fitted.freq_of_data(),
        }
    }

    /// How a table with these columns is read, which is else read as `reading` says.
    ///
    /// # Errors
    /// If further columns are to be read of a wide table, each column of which is a series.
    pub fn options(self, reading: ReadOptions) -> Result<ReadOptions, Error> {
        let ColumnNames { id, time, target } = self.names;
        if reading.wide && !self.read.is_empty() {
            return Err(UsageError::WideWithColumns { columns: self.read.join(", ") }.into());
        }
        let time_is_named = self.time_is_named || time != ColumnNames::default().time;
        let mut options = reading.id_col(id).target_col(target);
        options.columns = Some(self.read.into_iter().chain(options.static_cols.iter().cloned()).collect());
        options.categories = self.categories;
        options.time_col = time_is_named.then_some(time);
        options.freq = self.freq;
        Ok(options)
    }

    /// The reading of saved models for a table whose columns have the names that `header` gives: one that has the columns of a long
    /// table is read as such, although that of the training was wide.
    pub fn as_the_table_is(
        &self,
        mut reading: ReadOptions,
        header: impl FnOnce() -> Vec<String>,
    ) -> ReadOptions {
        if reading.wide {
            let (ColumnNames { id, time, target }, header) = (&self.names, header());
            reading.wide = ![id, time, target].iter().all(|column| header.contains(column));
        }
        reading
    }
}

impl Fitted {
    /// The panel that the models forecast, made of the rows of a table that was read with `options`: with the static columns that
    /// `statics` adds, with series that end as was said (`end`), else as in training, and with the sums of the models' hierarchy.
    ///
    /// # Errors
    /// Those of reading, of `statics`, of the ends of series and of the sums.
    pub fn completed(
        &self,
        rows: Result<Panel, DataError>,
        end: Option<End>,
        options: &ReadOptions,
        statics: impl FnOnce(Panel) -> Result<Panel, DataError>,
    ) -> Result<Panel, Error> {
        let rows = rows.map_err(DataError::of_trained)?;
        let (panel, _) = rows.completed(end.or(self.kept_settings().end), options, statics)?;
        self.with_sums(panel)
    }

    /// The panel that the models forecast: with the sums of their hierarchy, if they keep one and the panel lacks them.
    ///
    /// # Errors
    /// A series at the bottom that the panel does not have, or series that end at different times.
    pub fn with_sums(&self, panel: Panel) -> Result<Panel, Error> {
        match self.hierarchy() {
            Some((hierarchy, _)) => with_sums(panel, hierarchy),
            None => Ok(panel),
        }
    }
}
