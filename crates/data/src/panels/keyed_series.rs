//! The series that a row of a table beside the data is of: one, or, where the table has but some of the columns that make ids together, all
//! that agree in these.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::options::ReadOptions;
use foretell_tables::{ID, TableReader, cells_of_id, id_parts, joined_cells};

/// The series by the ids of a table.
#[derive(Default)]
pub(super) struct KeyedSeries {
    /// Nothing where the table has whole ids.
    parts: Option<Parts>,
}

/// Some parts of ids.
struct Parts {
    /// Which of the parts the table has,
    has: Vec<usize>,
    /// of how many,
    of: usize,
    /// and the series by these.
    series: FxHashMap<String, Vec<usize>>,
}

impl KeyedSeries {
    /// That of a table beside series of these ids, and the options that name its column of ids. A table by some parts is none where an id
    /// does not tell its parts.
    pub(super) fn of<'a>(
        ids: impl Iterator<Item = &'a Arc<str>>,
        table: &dyn TableReader,
        options: &'a ReadOptions,
    ) -> (Self, Cow<'a, ReadOptions>) {
        let names = id_parts(&options.id_col);
        let has: Vec<usize> = (0..names.len()).filter(|&part| table.find(names[part]).is_some()).collect();
        let has_ids = table.find(ID).or(table.find(&options.id_col)).is_some();
        if has_ids || has.is_empty() || has.len() == names.len() {
            return (Self::default(), Cow::Borrowed(options));
        }
        let mut series = FxHashMap::<String, Vec<usize>>::default();
        for (number, id) in ids.enumerate() {
            match key(id, names.len(), &has) {
                Some(key) => series.entry(key).or_default().push(number),
                None => return (Self::default(), Cow::Borrowed(options)),
            }
        }
        let id_col = has.iter().map(|&part| names[part]).collect::<Vec<_>>().join(",");
        let options = ReadOptions { id_col, ..options.clone() };
        (Self { parts: Some(Parts { has, of: names.len(), series }) }, Cow::Owned(options))
    }

    /// The series of an id of the table, of which `find` finds the one that is called so.
    pub(super) fn of_id(&self, id: &str, find: impl FnOnce(&str) -> Option<usize>) -> Cow<'_, [usize]> {
        match &self.parts {
            Some(parts) => parts.series.get(id).map_or(&[][..], |series| &series[..]).into(),
            None => find(id).into_iter().collect::<Vec<_>>().into(),
        }
    }

    /// What the table would have as the id of a series.
    pub(super) fn key<'a>(&self, id: &'a str) -> Cow<'a, str> {
        let key = self.parts.as_ref().and_then(|parts| key(id, parts.of, &parts.has));
        key.map_or(id.into(), Cow::Owned)
    }
}

/// Some parts of an id that has this many.
fn key(id: &str, of: usize, parts: &[usize]) -> Option<String> {
    let cells = cells_of_id(id, of)?;
    Some(joined_cells(parts.iter().map(|&part| cells[part])))
}
