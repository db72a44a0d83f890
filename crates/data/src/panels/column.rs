//! A further column of a table: numbers, labels, or the numbers of categories.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::numbers::Numbers;
use super::options::ReadOptions;
use crate::error::DataError;
use foretell_messages::excerpt;
use foretell_tables::{ColumnError, Flaw, Place, TableError, TableReader};

/// Labels that 32-bit floats can number.
const MAX_LABELS: u32 = 1 << 24;

/// A numeric column, or the first cell that makes it unusable: an error only when it is used.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Result<Numbers, BadCell>,
    pub(crate) kind: ColumnKind,
}

/// The kind of a column's values.
#[derive(Clone, Debug)]
pub(crate) enum ColumnKind {
    Numbers,
    /// Codes of labels, which mean nothing before they are the numbers of categories.
    Labels(Labels),
    /// Numbers of categories, which are not scaled.
    Categories,
}

#[derive(Clone, Debug)]
pub(crate) struct BadCell {
    pub(crate) at: Place,
    pub(crate) value: String,
    pub(crate) flaw: Flaw,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Ok(Numbers::default()), kind: ColumnKind::Numbers }
    }

    /// An empty column of the table that `options` describe.
    pub(crate) fn to_read(name: &str, options: &ReadOptions) -> Self {
        if options.end_col.as_deref() == Some(name) {
            let labels = Labels { may_miss: true, ..Labels::default() };
            return Self { kind: ColumnKind::Labels(labels), ..Self::new(name) };
        }
        match options.categories.iter().any(|column| column == name) {
            true => Self::of_labels(name),
            false => Self::new(name),
        }
    }

    /// An empty column of labels.
    pub(crate) fn of_labels(name: impl Into<String>) -> Self {
        Self { kind: ColumnKind::Labels(Labels::default()), ..Self::new(name) }
    }

    /// The same column without rows.
    pub(super) fn none(&self) -> Self {
        match self.kind {
            ColumnKind::Labels(_) => Self::of_labels(&self.name),
            _ => Self::new(&self.name),
        }
    }

    /// Appends the rows of another part of the same table; `place` says where they stand.
    pub(super) fn append(&mut self, other: Self, place: impl Fn(usize) -> Place) {
        let Ok(values) = &mut self.values else { return };
        if let (ColumnKind::Labels(own), ColumnKind::Labels(others)) = (&mut self.kind, &other.kind) {
            own.typed |= others.typed;
        }
        let mut read = match other.values {
            Ok(read) => read,
            Err(bad) => return self.values = Err(bad),
        };
        if let (ColumnKind::Labels(own), ColumnKind::Labels(others)) = (&mut self.kind, &other.kind) {
            let codes: Result<Vec<f32>, _> =
                others.texts.iter().map(|label| own.code(label).map_err(|flaw| (label, flaw))).collect();
            match codes {
                // Code 0 and NaN are no labels.
                Ok(codes) => read.iter_mut().filter(|code| **code >= 1.0).for_each(|code| {
                    *code = codes[*code as usize - 1];
                }),
                Err((label, flaw)) => {
                    let code = others.codes[label] as f32;
                    let row = read.iter().position(|read| *read == code).unwrap_or(0);
                    let bad = BadCell { at: place(row), value: excerpt(label.as_bytes()), flaw };
                    return self.values = Err(bad);
                }
            }
        }
        values.vec().append(read.vec());
    }

    /// The bytes that its labels take.
    pub(super) fn label_bytes(&self) -> usize {
        if let ColumnKind::Labels(labels) = &self.kind { labels.bytes } else { 0 }
    }

    /// The code of a label.
    pub(crate) fn label(&mut self, label: &str) -> Result<f32, Flaw> {
        match &mut self.kind {
            ColumnKind::Labels(labels) => labels.code(label),
            kind => unreachable!("a label in a column of {kind:?}"),
        }
    }

    /// The column with `change` applied to its values.
    pub(crate) fn with_values(&self, change: impl FnOnce(&[f32]) -> Vec<f32>) -> Self {
        let values = self.values.as_deref().map(|values| change(values).into()).map_err(Clone::clone);
        Self { name: self.name.clone(), values, kind: self.kind.clone() }
    }

    /// The value of the current row of a table, in the table's column `i`.
    pub(crate) fn cell(&mut self, table: &dyn TableReader, i: usize) -> Result<f32, Flaw> {
        match &mut self.kind {
            ColumnKind::Labels(labels) => {
                labels.typed |= table.typed_texts(i);
                match table.label(i) {
                    Err(Flaw::Missing) if labels.may_miss => Ok(0.0),
                    label => labels.code(&label?),
                }
            }
            _ => table.number_or_truth(i),
        }
    }

    /// Appends a cell; the first bad one frees the values so far.
    pub(crate) fn push(&mut self, cell: Result<f32, Flaw>, place_and_text: impl FnOnce() -> (Place, String)) {
        let rows = self.values.as_ref().map_or(0, |values| values.len());
        if let Ok(values) = &mut self.values {
            values.vec().push(0.0);
        }
        self.set(rows, cell, place_and_text);
    }

    /// Sets a cell that is there; the first bad one frees the values so far.
    pub(crate) fn set(
        &mut self,
        row: usize,
        cell: Result<f32, Flaw>,
        place_and_text: impl FnOnce() -> (Place, String),
    ) {
        let Ok(values) = &mut self.values else { return };
        match cell {
            Ok(value) => values[row] = value,
            Err(flaw) => {
                let (at, value) = place_and_text();
                self.values = Err(BadCell { at, value, flaw });
            }
        }
    }

    /// Makes this the bad cell in place of those that are missing before it: the first one that is known tells what the column holds.
    pub(super) fn tell_rather(&mut self, flaw: Flaw, place_and_text: impl FnOnce() -> (Place, String)) {
        if self.values.is_err() {
            let (at, value) = place_and_text();
            self.values = Err(BadCell { at, value, flaw });
        }
    }

    /// The values as numbers.
    pub(crate) fn usable(&self) -> Result<&[f32], DataError> {
        if let (Ok(_), ColumnKind::Labels(_)) = (&self.values, &self.kind) {
            return Err(ColumnError::Labels { column: self.name.clone() }.into());
        }
        self.values.as_deref().map_err(|bad| {
            TableError::bad_value(
                bad.at.clone(),
                self.name.clone(),
                bad.value.clone(),
                if [Flaw::Text, Flaw::Accompanied].contains(&bad.flaw) { Flaw::Labelled } else { bad.flaw },
            )
            .into()
        })
    }
}

/// The labels of a column in the order in which they were first met; the code of a label is its place, from 1.
/// Code 0 is no label: of rows that are not known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    pub(crate) texts: Vec<Arc<str>>,
    codes: FxHashMap<Arc<str>, u32>,
    /// The bytes that they take.
    bytes: usize,
    /// Whether they are texts by the column's type, even if all look like numbers.
    pub(crate) typed: bool,
    /// Whether rows may have none.
    may_miss: bool,
}

impl Labels {
    /// The code of a label.
    pub(crate) fn code(&mut self, label: &str) -> Result<f32, Flaw> {
        if let Some(code) = self.codes.get(label) {
            return Ok(*code as f32);
        }
        let code = self.texts.len() as u32 + 1;
        if label.is_empty() {
            return if self.may_miss { Ok(0.0) } else { Err(Flaw::Missing) };
        }
        if code > MAX_LABELS {
            return Err(Flaw::TooManyLabels);
        }
        let label: Arc<str> = label.into();
        self.bytes += label.len() + 2 * size_of::<Arc<str>>();
        self.texts.push(label.clone());
        self.codes.insert(label, code);
        Ok(code as f32)
    }
}
