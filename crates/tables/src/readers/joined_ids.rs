//! A table in which several columns make the id of a series: a store and an item.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::adapter::TableAdapter;
use super::joined_head::JoinedHead;
use super::table::{ID, TableReader};
use crate::error::TableError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;

/// What stands between the parts of an id.
const ID_SEPARATOR: char = '/';

/// The columns that make the id together, of a name that lists several; nothing of the name of one.
pub fn id_parts(id_col: &str) -> Vec<&str> {
    match id_col.contains(',') {
        true => id_col.split(',').map(str::trim).collect(),
        false => Vec::new(),
    }
}

/// The parts of an id that this many columns made; nothing where some hold what stands between them.
pub fn cells_of_id(id: &str, parts: usize) -> Option<Vec<&str>> {
    let cells: Vec<&str> = id.split(ID_SEPARATOR).collect();
    (cells.len() == parts).then_some(cells)
}

/// The id that these parts make.
pub fn joined_cells<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.collect::<Vec<_>>().join(&ID_SEPARATOR.to_string())
}

/// How the column of ids is called in tables that are written: as in the data, or `unique_id` where several columns make them.
pub fn id_name(id_col: &str) -> &str {
    if id_parts(id_col).is_empty() { id_col } else { ID }
}

/// Whether a table is to be opened with that column, of ids in this one or several.
pub fn is_of_id(id_col: &str, name: &str) -> bool {
    name == id_col || id_col.contains(',') && (name == ID || id_parts(id_col).contains(&name))
}

/// The id of each row of a table, which these of its columns make together.
///
/// # Errors
/// A column that is missing, a part that is empty, and ids that two rows make of other parts.
pub fn joined_ids<'a>(table: Box<dyn TableReader + 'a>, id_col: &str) -> Result<Vec<Arc<str>>, TableError> {
    let mut table = JoinedIds::over(table, id_col, |_| false)?;
    let (mut ids, mut known) = (Vec::<Arc<str>>::new(), HashSet::<Arc<str>>::new());
    while table.advance()? {
        let id = table.id(0)?;
        match ids.last().filter(|last| ***last == *id).or_else(|| known.get(&*id)) {
            Some(known) => ids.push(known.clone()),
            None => {
                ids.push(Arc::from(&*id));
                known.extend(ids.last().cloned());
            }
        }
    }
    Ok(ids)
}

/// The ids of which a part holds the separator, each with where its parts end.
type Unclear = Arc<Mutex<HashMap<String, Vec<usize>>>>;

/// A table whose first column is the id that several of its columns make, `North/17`.
pub struct JoinedIds<'a> {
    inner: Box<dyn TableReader + 'a>,
    head: Arc<JoinedHead>,
    unclear: Unclear,
}

impl<'a> JoinedIds<'a> {
    /// The table with a column of this name, where the name lists several columns that are to be joined: those that make the id are left
    /// out, unless they are wanted besides. A table that has ids of its own in `unique_id` instead, as forecasts have, keeps these; any
    /// other is as it was.
    ///
    /// # Errors
    /// A table that has some of the columns only.
    pub fn over(
        inner: Box<dyn TableReader + 'a>,
        id_col: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Box<dyn TableReader + 'a>, TableError> {
        const REMEDY: &str = "name the columns that make the id of a series together";
        let names = id_parts(id_col);
        let found = names.iter().filter(|name| inner.find(name).is_some()).count();
        if names.is_empty() || inner.find(id_col).is_some() {
            return Ok(inner);
        }
        let parts = match inner.find(ID) {
            Some(column) if found == 0 => vec![column],
            None if found == 0 => return Ok(inner),
            _ => names.iter().map(|name| inner.column(name, REMEDY)).collect::<Result<Vec<_>, _>>()?,
        };
        let head = JoinedHead::new(&*inner, parts, id_col, wanted)?.into();
        Ok(Box::new(Self { inner, head, unclear: Unclear::default() }))
    }

    fn is_joined(&self, column: usize) -> bool {
        column == 0 && self.head.parts.len() > 1
    }

    /// Two series of one id would be taken for one.
    fn check_unique(&self, id: &str, ends: Vec<usize>) -> Result<(), TableError> {
        let mut unclear = self.unclear.lock().unwrap_or_else(PoisonError::into_inner);
        let known = unclear.entry(id.to_owned()).or_insert_with(|| ends.clone());
        match *known == ends {
            true => Ok(()),
            false => Err(UnreadableTable::UnclearId { at: self.inner.place(), id: id.to_owned() }.into()),
        }
    }
}

impl TableAdapter for JoinedIds<'_> {
    fn inner(&self) -> &dyn TableReader {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn TableReader {
        &mut *self.inner
    }

    fn inner_column(&self, column: usize) -> usize {
        self.head.inner_column(column)
    }

    fn header(&self) -> &[String] {
        &self.head.header
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        let part = self.inner.next_part()?;
        Ok(part.map(|inner| {
            Box::new(JoinedIds { inner, head: self.head.clone(), unclear: self.unclear.clone() }) as _
        }))
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        if !self.is_joined(column) {
            return self.inner.id(self.inner_column(column));
        }
        let (mut id, mut ends, mut holds_separator) = (String::new(), Vec::new(), false);
        for &part in &self.head.parts {
            let part = self.inner.id(part)?;
            if !ends.is_empty() {
                id.push(ID_SEPARATOR);
            }
            holds_separator |= part.contains(ID_SEPARATOR);
            id.push_str(&part);
            ends.push(id.len());
        }
        if holds_separator {
            self.check_unique(&id, ends)?;
        }
        Ok(id.into())
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        if !self.is_joined(column) {
            return self.inner.has_id(self.inner_column(column), id);
        }
        // Where parts hold the separator themselves, the whole id is looked at.
        let parts = &self.head.parts;
        id.matches(ID_SEPARATOR).count() + 1 == parts.len()
            && parts.iter().zip(id.split(ID_SEPARATOR)).all(|(part, id)| self.inner.has_id(*part, id))
    }

    fn integer_ids(&self, column: usize) -> bool {
        !self.is_joined(column) && self.inner.integer_ids(self.inner_column(column))
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        match column {
            0 => TableAdapter::id(self, 0).map_err(|_| Flaw::Missing),
            _ => self.inner.label(self.inner_column(column)),
        }
    }

    fn shown(&self, column: usize) -> String {
        match column {
            0 => TableAdapter::id(self, 0).map_or_else(|_| String::new(), Cow::into_owned),
            _ => self.inner.shown(self.inner_column(column)),
        }
    }
}
