//! Hierarchies from files.

use std::path::Path;
use std::sync::Arc;

use foretell_data::{IdTable, LabelFiles, SeriesLabels};
use foretell_hierarchy::Hierarchy;

use crate::error::Error;

/// The hierarchy of a file with a summing matrix, as hierarchicalforecast has it: a row per series with its id in the column
/// `id_col`, a column per series at the bottom, 1 where the row's series sums up the column's.
///
/// # Errors
/// A file that cannot be read, or a matrix that is none: see [`Hierarchy::from_summing_matrix`].
pub fn read_hierarchy(path: impl AsRef<Path>, id_col: &str) -> Result<Hierarchy, Error> {
    let path = path.as_ref();
    let table = IdTable::from_file(path, id_col)?;
    let hierarchy = Hierarchy::from_summing_matrix(&table.ids, &table.columns, &table.values);
    hierarchy.map_err(|source| Error::HierarchyFile { path: path.to_owned(), source })
}

/// The hierarchy of labels of series, a column per level, the widest first: see [`Hierarchy::from_levels`]. Each column is read of the first
/// of `files` that has it, or is a part of ids that several columns make ([`SeriesLabels::read`]). The series, sorted by id, are those
/// of the one table by ids that has all labels, else those that `ids` says; nothing where there are no files.
///
/// # Errors
/// A file that cannot be read, a column that is missing, or labels that make no hierarchy.
pub fn read_levels<E: From<Error>>(
    files: &[LabelFiles<'_>],
    id_col: &str,
    levels: &[impl AsRef<str>],
    ids: impl FnOnce(&[SeriesLabels]) -> Result<Vec<Arc<str>>, E>,
) -> Result<Option<Hierarchy>, E> {
    let labels = levels.iter().map(|level| SeriesLabels::read(files, id_col, level.as_ref()));
    let labels = labels.collect::<Result<Option<Vec<_>>, _>>().map_err(Error::from)?;
    let Some(labels) = labels else { return Ok(None) };
    let of_tables: Vec<_> = labels.iter().filter_map(SeriesLabels::ids).collect();
    let is_one = of_tables.iter().all(|(table, _)| *table == of_tables[0].0);
    let mut ids = match is_one && of_tables.len() == labels.len() {
        true => of_tables.into_iter().flat_map(|(_, ids)| ids).cloned().collect(),
        false => ids(&labels)?,
    };
    ids.sort_unstable();
    ids.dedup();
    let label = |id: &str| {
        let of_level = |labels: &SeriesLabels| labels.of(id).unwrap_or_default().into_owned();
        labels.iter().map(of_level).collect()
    };
    let series: Vec<(Arc<str>, Vec<String>)> = ids.into_iter().map(|id| (id.clone(), label(&id))).collect();
    let hierarchy = Hierarchy::from_levels(&series);
    // Only a file that has all labels is to blame alone.
    let table = labels.first().and_then(SeriesLabels::table);
    let of_one = table.filter(|_| labels.iter().all(|labels| labels.table() == table));
    let hierarchy = hierarchy.map_err(|source| match of_one.map(|number| files[number].paths) {
        Some([path]) => Error::HierarchyFile { path: path.clone(), source },
        _ => source.into(),
    })?;
    Ok(Some(hierarchy))
}
