//! Tables without ids beside several series, whose rows are those of every one.

use super::column_signs::{is_called_as_ids, is_called_id};
use super::options::ReadOptions;
use super::panel::Panel;
use crate::error::DataError;
use foretell_messages::is_slip;
use foretell_tables::{ColumnRemedy, Flaw, TableError, TableReader};

/// The error of a table that is to have ids, and has none.
pub(super) fn no_ids(table: &dyn TableReader, options: &ReadOptions, of_one: Option<&OfOne>) -> DataError {
    const REMEDY: &str = "name it as in the panel's file; rows of every series stand in a table without texts that are the same in all rows, once a time";
    let remedy: ColumnRemedy = match of_one {
        Some(OfOne { column, cell }) => {
            let name = table.columns().nth(*column).unwrap_or_default();
            let remedy = format!(
                "`{name}` is {cell:?} in all rows, as of the ids of one series: call it as the ids in the panel's file, or leave it out where \
                 the rows are those of every series"
            );
            ColumnRemedy::Other(remedy.into())
        }
        None => REMEDY.into(),
    };
    let missing = table.column(&options.id_col, remedy).err();
    missing.unwrap_or_else(|| TableError::Empty { file: table.file().clone() }).into()
}

/// A table without ids, whose rows are those of every series; unless a column that the panel does not have holds one text in all rows, or one
/// number under a name as of ids: those of the only series of a table whose ids are called otherwise.
pub(super) struct OfAll {
    /// Such columns.
    columns: Vec<MayBeId>,
}

/// A column that may hold the id of the only series.
struct MayBeId {
    column: usize,
    /// Whether numbers are ids, too, by its name.
    is_called_so: bool,
    /// What all rows have.
    cell: Option<String>,
}

/// What makes rows those of one series.
pub(super) struct OfOne {
    column: usize,
    cell: String,
}

impl OfAll {
    /// A table beside several series that has no column of ids, nor one that is called as these are.
    pub(super) fn told(
        table: &dyn TableReader,
        options: &ReadOptions,
        panel: &Panel,
        time: usize,
    ) -> Option<Self> {
        let is_of_panel =
            |name: &str| name == options.target_col || panel.column_names().any(|known| known == name);
        let others = table
            .columns()
            .enumerate()
            .filter(|(i, name)| *i != time && !name.is_empty() && !is_of_panel(name));
        let has_ids = table.find(&options.id_col).is_some()
            || others.clone().any(|(_, name)| is_called_id(name) || is_slip(&options.id_col, name));
        let may_be_id = |(column, name): (usize, &str)| MayBeId {
            column,
            is_called_so: is_called_as_ids(name),
            cell: None,
        };
        (panel.n_series() > 1 && !has_ids).then(|| Self { columns: others.map(may_be_id).collect() })
    }

    /// Looks at the cells of a row.
    pub(super) fn look_at(&mut self, table: &dyn TableReader) {
        self.columns.retain_mut(|MayBeId { column, is_called_so, cell }| {
            match (table.number(*column), table.label(*column)) {
                (Err(Flaw::Missing), _) | (_, Err(_)) => false,
                (Ok(_), _) if !*is_called_so => false,
                (_, Ok(label)) => *cell.get_or_insert_with(|| label.to_string()) == label,
            }
        });
    }

    /// What makes its rows seem to be those of one series, if something does.
    pub(super) fn of_one(&self) -> Option<OfOne> {
        self.columns
            .iter()
            .find_map(|MayBeId { column, cell, .. }| Some(OfOne { column: *column, cell: cell.clone()? }))
    }
}
