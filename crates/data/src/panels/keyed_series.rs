//! The series that a row of a table beside the data is of: one; where the table has but some of the columns that make ids together, those
//! that agree in these; where it has no ids, all.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::options::ReadOptions;
use foretell_tables::{ID, TableReader, cells_of_id, id_parts, joined_cells};

/// The series by the ids of a table.
#[derive(Default)]
pub(super) enum KeyedSeries {
    /// The table has whole ids.
    #[default]
    Whole,
    /// It has some parts of them.
    Parts(Parts),
    /// It has none.
    All(Vec<usize>),
}

/// Some parts of ids, and the series by these.
pub(super) struct Parts {
    parts: SomeParts,
    series: FxHashMap<String, Vec<usize>>,
}

/// Some of the parts of ids.
#[derive(Clone, Debug)]
pub(super) struct SomeParts {
    /// Which of the parts,
    has: Vec<usize>,
    /// and of how many.
    of: usize,
}

impl SomeParts {
    /// Those that a table has, and the name of its column of ids then; nothing where it has whole ids, or no part.
    pub(super) fn of_table(table: &dyn TableReader, id_col: &str) -> Option<(Self, String)> {
        let names = id_parts(id_col);
        let has: Vec<usize> = (0..names.len()).filter(|&part| table.find(names[part]).is_some()).collect();
        let has_ids = table.find(ID).or(table.find(id_col)).is_some();
        let has_some = !has_ids && !has.is_empty() && has.len() < names.len();
        let id_col = has.iter().map(|&part| names[part]).collect::<Vec<_>>().join(",");
        has_some.then_some((Self { has, of: names.len() }, id_col))
    }

    /// The part that is called so.
    pub(super) fn named(id_col: &str, name: &str) -> Option<Self> {
        let names = id_parts(id_col);
        let part = names.iter().position(|part| *part == name)?;
        Some(Self { has: vec![part], of: names.len() })
    }

    /// These parts of an id, joined; nothing where it does not tell its parts.
    pub(super) fn key(&self, id: &str) -> Option<String> {
        let cells = cells_of_id(id, self.of)?;
        Some(joined_cells(self.has.iter().map(|&part| cells[part])))
    }
}

impl KeyedSeries {
    /// That of a table beside series of these ids, and the options that name its column of ids. A table by some parts is none where an id
    /// does not tell its parts.
    pub(super) fn of<'a>(
        ids: impl Iterator<Item = &'a Arc<str>>,
        table: &dyn TableReader,
        options: &'a ReadOptions,
    ) -> (Self, Cow<'a, ReadOptions>) {
        let Some((parts, id_col)) = SomeParts::of_table(table, &options.id_col) else {
            return (Self::default(), Cow::Borrowed(options));
        };
        let mut series = FxHashMap::<String, Vec<usize>>::default();
        for (number, id) in ids.enumerate() {
            match parts.key(id) {
                Some(key) => series.entry(key).or_default().push(number),
                None => return (Self::default(), Cow::Borrowed(options)),
            }
        }
        let options = ReadOptions { id_col, ..options.clone() };
        (Self::Parts(Parts { parts, series }), Cow::Owned(options))
    }

    /// The series of an id of the table, of which `find` finds the one that is called so.
    pub(super) fn of_id(&self, id: &str, find: impl FnOnce(&str) -> Option<usize>) -> Cow<'_, [usize]> {
        match self {
            Self::Parts(parts) => parts.series.get(id).map_or(&[][..], |series| &series[..]).into(),
            Self::Whole => find(id).into_iter().collect::<Vec<_>>().into(),
            Self::All(series) => Cow::Borrowed(series),
        }
    }

    /// What the table would have as the id of a series.
    pub(super) fn key<'a>(&self, id: &'a str) -> Cow<'a, str> {
        let key = match self {
            Self::Parts(known) => known.parts.key(id),
            Self::Whole | Self::All(_) => None,
        };
        key.map_or(id.into(), Cow::Owned)
    }
}
