//! Labels of series that stand in a column of files.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::keyed_series::SomeParts;
use crate::error::DataError;
use crate::error::series::SeriesError;
use foretell_tables::{
    ColumnRoles, FileOptions, JoinedIds, TableError, TableReader, is_of_id, joined_ids, open,
};

/// Files that are read as one table, in which series have labels: a static table, or the data themselves.
#[derive(Clone, Copy, Debug)]
pub struct LabelFiles<'a> {
    /// The files.
    pub paths: &'a [PathBuf],
    /// How they are read,
    pub options: &'a FileOptions,
    /// and their column of ids, or several that make them together.
    pub id_col: &'a str,
}

/// The label of each series in a column: of a table by ids, or by some of the columns that make these together.
#[derive(Clone, Debug)]
pub struct SeriesLabels {
    /// Which of the tables they are of; nothing of the ids alone.
    table: Option<usize>,
    /// Nothing of whole ids.
    parts: Option<SomeParts>,
    /// The labels by these; nothing where the label is a part itself.
    labels: Option<FxHashMap<Arc<str>, String>>,
}

impl LabelFiles<'_> {
    fn open(&self, column: &str) -> Result<Box<dyn TableReader>, TableError> {
        let (id_col, column) = (self.id_col.to_owned(), column.to_owned());
        open(self.paths, self.options, move |name| is_of_id(&id_col, name) || name == column)
    }

    /// The different ids of their series, sorted.
    ///
    /// # Errors
    /// A file that cannot be read, or a column that is missing.
    pub fn ids(&self) -> Result<Vec<Arc<str>>, DataError> {
        let mut ids = joined_ids(self.open(self.id_col)?, self.id_col)?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

impl SeriesLabels {
    /// The labels of the first of these tables that has the column; else the part that is called so of ids that `id_col` makes of several;
    /// nothing where there is no table.
    ///
    /// # Errors
    /// A file that cannot be read, a column that none has, or a series with two labels.
    pub fn read(files: &[LabelFiles<'_>], id_col: &str, column: &str) -> Result<Option<Self>, DataError> {
        for (number, file) in files.iter().enumerate() {
            let table = file.open(column)?;
            if table.find(column).is_some() {
                return Self::of_table((number, table), file.id_col, column).map(Some);
            }
        }
        if let Some(part) = SomeParts::named(id_col, column) {
            return Ok(Some(Self { table: None, parts: Some(part), labels: None }));
        }
        match files.first() {
            Some(file) => Self::of_table((0, file.open(column)?), file.id_col, column).map(Some),
            None => Ok(None),
        }
    }

    fn of_table(
        (number, table): (usize, Box<dyn TableReader>),
        id_col: &str,
        column: &str,
    ) -> Result<Self, DataError> {
        let (parts, id_col) = match SomeParts::of_table(&*table, id_col) {
            Some((parts, id_col)) => (Some(parts), Cow::Owned(id_col)),
            None => (None, Cow::Borrowed(id_col)),
        };
        let mut table = JoinedIds::over(table, &id_col, |name| name == column)?;
        let id = table.column(&id_col, ColumnRoles::IDS)?;
        let place = table.column(column, "give one of these columns")?;
        let mut labels = FxHashMap::<Arc<str>, String>::default();
        while table.advance()? {
            let table = &*table;
            let label = table.label(place).map_err(|flaw| table.bad_value(place, flaw))?;
            match labels.get(&*table.id(id)?) {
                Some(known) if *known != label => {
                    return Err(SeriesError::DuplicateStatic {
                        at: table.place(),
                        id: table.id(id)?.into_owned(),
                    }
                    .into());
                }
                Some(_) => {}
                None => _ = labels.insert(Arc::from(&*table.id(id)?), label.into_owned()),
            }
        }
        Ok(Self { table: Some(number), parts, labels: Some(labels) })
    }

    /// The label of a series.
    pub fn of(&self, id: &str) -> Option<Cow<'_, str>> {
        let key = match &self.parts {
            Some(parts) => Cow::Owned(parts.key(id)?),
            None => Cow::Borrowed(id),
        };
        match &self.labels {
            Some(labels) => labels.get(&*key).map(|label| Cow::Borrowed(&**label)),
            None => Some(key.into_owned().into()),
        }
    }

    /// Which of the tables they are of; nothing of parts of the ids alone.
    pub fn table(&self) -> Option<usize> {
        self.table
    }

    /// Which of the tables they are of, and the ids that it has; nothing where it has parts of ids alone.
    pub fn ids(&self) -> Option<(usize, impl Iterator<Item = &Arc<str>>)> {
        let labels = self.labels.as_ref().filter(|_| self.parts.is_none())?;
        Some((self.table?, labels.keys()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_one_label() {
        let home = tempfile::tempdir().unwrap();
        let paths = [home.path().join("f.csv")];
        std::fs::write(&paths[0], "unique_id,ds,region\na,2024-01-02,north\na,2024-01-03,north\n").unwrap();
        let files = [LabelFiles { paths: &paths, options: &FileOptions::default(), id_col: "unique_id" }];
        let read = |column| SeriesLabels::read(&files, "unique_id", column);
        assert_eq!(read("region").unwrap().unwrap().of("a").unwrap(), "north");
        assert!(matches!(read("ds"), Err(DataError::Series(SeriesError::DuplicateStatic { .. }))));
        assert!(SeriesLabels::read(&[], "unique_id", "region").unwrap().is_none());
    }

    #[test]
    fn a_table_has_labels_by_some_of_the_columns_that_make_ids() {
        let home = tempfile::tempdir().unwrap();
        let [stores, data] = ["stores.csv", "data.csv"].map(|name| [home.path().join(name)]);
        std::fs::write(&stores[0], "store,region\nN,1\nS,2\n").unwrap();
        std::fs::write(&data[0], "ds,store,item,y,kind\n1,N,a/b,5,x\n1,S,c,6,x\n2,S,c,6,x\n").unwrap();
        let options = FileOptions::default();
        let [stores, data] =
            [&stores, &data].map(|paths| LabelFiles { paths, options: &options, id_col: "store,item" });
        let read = |column, files: &[LabelFiles<'_>]| {
            SeriesLabels::read(files, "store,item", column).unwrap().unwrap()
        };
        let regions = read("region", &[stores]);
        assert_eq!([regions.of("S/c").unwrap(), regions.of("N/c").unwrap()], ["2", "1"]);
        assert!(regions.of("W/c").is_none() && regions.of("S").is_none() && regions.ids().is_none());
        // A part itself, by the id, or, where this does not tell its parts, by the table.
        assert_eq!(read("item", &[]).of("S/c").unwrap(), "c");
        assert!(read("item", &[]).of("N/a/b").is_none());
        assert_eq!(read("item", &[stores, data]).of("N/a/b").unwrap(), "a/b");
        assert_eq!(read("kind", &[stores, data]).of("N/a/b").unwrap(), "x");
        let ids: Vec<_> = data.ids().unwrap().iter().map(|id| id.to_string()).collect();
        assert_eq!(ids, ["N/a/b", "S/c"]);
    }
}
