//! Hierarchies from files.

use std::path::Path;

use foretell_data::{IdTable, series_labels};
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

/// The hierarchy of files, read as one table, with a row per series, its id in the column `id_col`, and a column per level, the widest first: see
/// [`Hierarchy::from_levels`]. The series are sorted by id.
///
/// # Errors
/// A file that cannot be read, a column that is missing, or labels that make no hierarchy.
pub fn read_levels(
    paths: &[impl AsRef<Path>],
    id_col: &str,
    levels: &[impl AsRef<str>],
) -> Result<Hierarchy, Error> {
    let labels = levels.iter().map(|level| series_labels(paths, id_col, level.as_ref()));
    let labels = labels.collect::<Result<Vec<_>, _>>()?;
    let mut ids: Vec<&str> = labels.iter().flat_map(|labels| labels.keys().map(|id| &**id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let label = |id: &str| labels.iter().map(|labels| labels.get(id).map_or("", String::as_str)).collect();
    let series: Vec<(&str, Vec<&str>)> = ids.into_iter().map(|id| (id, label(id))).collect();
    let hierarchy = Hierarchy::from_levels(&series);
    match paths {
        [path] => hierarchy.map_err(|source| Error::HierarchyFile { path: path.as_ref().to_owned(), source }),
        // None of several files is to blame alone.
        _ => Ok(hierarchy?),
    }
}
