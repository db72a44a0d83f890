//! Tables of other layouts read as long ones, and how a table that was read as another seems to be laid out.

use super::options::ReadOptions;
use crate::error::DataError;
use crate::setting::Setting;
use crate::tables::across::{LongNames, MeltedTable, times_of};
use crate::tables::day_clock::steps_of_day;
use crate::tables::joined_times::JoinedTimes;
use crate::tables::read_note::ReadNote;
use crate::tables::table::TableReader;

/// A wide table of fewer columns across is one of series.
const FEW: usize = 6;

impl ReadOptions {
    /// The data as a table of one column of times and, in the long layout, one of values.
    pub(super) fn laid_out<'a>(
        &self,
        table: Box<dyn TableReader + 'a>,
    ) -> Result<Box<dyn TableReader + 'a>, DataError> {
        let table = self.with_time(table)?;
        let Some(across) = self.across.filter(|_| !self.wide) else { return Ok(table) };
        let names = LongNames {
            id: &self.id_col,
            time: self.time_name(),
            value: &self.target_col,
            format: self.time_format.as_ref(),
        };
        Ok(Box::new(MeltedTable::new(table, across, &names)?))
    }

    /// The table with one column of times.
    pub(super) fn with_time<'a>(
        &self,
        table: Box<dyn TableReader + 'a>,
    ) -> Result<Box<dyn TableReader + 'a>, DataError> {
        if self.time_cols.is_empty() {
            return Ok(table);
        }
        let format = self.time_format.clone();
        Ok(Box::new(JoinedTimes::new(table, &self.time_cols, self.time_name(), format, self.hours)?))
    }

    /// The names of columns that the layout needs of a file, beside those that are kept.
    pub(super) fn reads_all_columns(&self) -> bool {
        self.wide || self.across.is_some() || !self.time_cols.is_empty()
    }
}

/// The error, with how the table seems to be laid out where that explains it.
pub(super) fn explained(error: DataError, table: &dyn TableReader, options: &ReadOptions) -> DataError {
    if options.across.is_some() || !options.time_cols.is_empty() {
        return error;
    }
    let header = table.header();
    let hint = match &error {
        DataError::MissingColumn { .. } | DataError::BadTime { .. } | DataError::BadValue { .. } => {
            hours(header)
                .map(|(first, last)| {
                    format!(
                        "the columns {first} to {last} look like the hours of a day ({})",
                        Setting::HoursAcross
                    )
                })
                .or_else(|| times(header, options))
        }
        DataError::DuplicateRow { .. } | DataError::DuplicateTime { .. } => time_parts(header, options),
        _ => None,
    };
    match hint {
        Some(hint) => DataError::LaidOut { error: Box::new(error), hint },
        None => error,
    }
}

fn hours(header: &[String]) -> Option<(&str, &str)> {
    let steps = steps_of_day(header.iter().map(String::as_str))?;
    Some((&header[steps.first()?.0], &header[steps.last()?.0]))
}

fn times(header: &[String], options: &ReadOptions) -> Option<String> {
    let times = times_of(header, 0, options.time_format.as_ref()).filter(|times| times.len() >= FEW)?;
    let (first, last) = (&header[times.first()?.0], &header[times.last()?.0]);
    Some(format!(
        "the columns {first} to {last} look like the times of a series in each row ({})",
        Setting::TimesAcross
    ))
}

/// A column of hours beside that of the times.
fn time_parts(header: &[String], options: &ReadOptions) -> Option<String> {
    const PARTS: [&str; 10] = [
        "hour",
        "hourending",
        "hourbeginning",
        "hr",
        "he",
        "time",
        "timeofday",
        "month",
        "minute",
        "hourend",
    ];
    let part = header.iter().find(|name| {
        let plain = name.to_lowercase().replace(['_', ' ', '-'], "");
        PARTS.contains(&plain.as_str()) && *name != options.time_name()
    })?;
    let columns = Setting::TimeColumns.to(format!("{},{part}", options.time_name()));
    Some(format!("if `{}` and `{part}` make the time together, say so ({columns})", options.time_name()))
}

/// The note on a wide table whose series are the hours of a day.
pub(super) fn note_of_hours(table: &dyn TableReader) -> Option<ReadNote> {
    let (first, last) = hours(table.header())?;
    Some(ReadNote::HoursAcross { file: table.file().clone(), first: first.to_owned(), last: last.to_owned() })
}
