//! The columns of tables that are told by what they hold, and the questions that remain.

use foretell_data::{DataError, ReadOptions, Roles};
use foretell_tables::{ColumnError, MemoryTable, NumberFormat, TableError};

/// These options with the notation that such a table is [written in](ReadOptions::with_notation_of), and the names of the columns that such a table has for ids, times and values, where it is clear which they are; and what
/// its columns hold. A table that cannot be read tells nothing: that is an error of its reading.
pub fn told_columns(mut options: ReadOptions, table: &MemoryTable) -> (ReadOptions, Option<Roles>) {
    let said = [options.time_format.is_some(), options.numbers != NumberFormat::default()];
    options = options.as_written_in(table, said);
    let roles = options.roles_in(table).ok().flatten();
    if let Some(Roles { id, time, target: Some(target), .. }) =
        roles.as_ref().filter(|roles| roles.are_clear())
    {
        options.time_col.clone_from(time);
        options.target_col.clone_from(target);
        options.id_col = id.clone().unwrap_or(options.id_col);
    }
    (options, roles)
}

/// The error of a table that lacks a column, as the question for the one that these roles could not tell. Other errors are returned unchanged.
pub fn ask_for_column(roles: Option<&Roles>, error: DataError) -> DataError {
    let question = match &error {
        DataError::Table(TableError::Column(ColumnError::Missing { table, .. })) => {
            roles.and_then(|roles| roles.question(table))
        }
        _ => None,
    };
    question.unwrap_or(error)
}

/// The columns that may be meant, where it is not clear which, or where one is not there.
pub fn columns_meant(error: &DataError) -> &[String] {
    match error {
        DataError::Table(TableError::Column(ColumnError::Unclear(unclear))) => &unclear.candidates,
        DataError::Table(TableError::Column(ColumnError::Missing { available, .. })) => available,
        DataError::LaidOut { error, .. } => columns_meant(error),
        _ => &[],
    }
}
