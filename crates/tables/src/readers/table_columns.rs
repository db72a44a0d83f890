//! Columns that came as lists of texts, numbers, truth values and nothing, as JSON has them.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Columns by name, deserialised from a map of lists: `{"unique_id": ["a", "a"], "ds": [1, 2], "y": [0.5, null]}`.
///
/// Cells are texts, numbers, truth values, or nothing (`null`).
#[derive(Clone, Debug, Default)]
pub struct TableColumns(pub(crate) Vec<ListedColumn>);

/// A column: its cells as texts, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListedColumn {
    pub(crate) name: String,
    cells: String,
    /// Where each cell ends, and whether it came as a text.
    ends: Vec<(usize, bool)>,
}

impl TableColumns {
    /// Rows of the longest column.
    pub fn n_rows(&self) -> usize {
        self.0.iter().map(ListedColumn::len).max().unwrap_or(0)
    }
}

/// Reads a row, an object of cells by the names of their columns: columns that it lacks have nothing there, and those that are new
/// have nothing before.
pub(crate) struct Row<'a>(pub(crate) &'a mut TableColumns);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: an object of cells by the names of their columns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let TableColumns(columns) = self.0;
        let rows = columns.first().map_or(0, ListedColumn::len);
        // Rows have their columns in one order, as a rule.
        let mut next = 0;
        while let Some(name) = map.next_key::<String>()? {
            let is_next = columns.get(next).is_some_and(|column| column.name == name);
            let found =
                if is_next { Some(next) } else { columns.iter().position(|column| column.name == name) };
            let place = found.unwrap_or_else(|| {
                columns.push(ListedColumn { name, cells: String::new(), ends: vec![(0, false); rows] });
                columns.len() - 1
            });
            if columns[place].len() > rows {
                return Err(A::Error::custom(format!("the row has two cells of `{}`", columns[place].name)));
            }
            map.next_value_seed(Cell(&mut columns[place]))?;
            next = place + 1;
        }
        for column in columns.iter_mut().filter(|column| column.len() == rows) {
            let end = column.cells.len();
            column.ends.push((end, false));
        }
        Ok(())
    }
}

/// Reads a list of rows.
pub(crate) struct RowList<'a>(pub(crate) &'a mut TableColumns);

impl<'de> DeserializeSeed<'de> for RowList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowList<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Row(self.0))?.is_some() {}
        Ok(())
    }
}

impl ListedColumn {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A cell as a text; an empty one is nothing.
    pub(crate) fn cell(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.cells[start..self.ends[row].0]
    }

    /// Whether a cell came as a text.
    pub(crate) fn is_text(&self, row: usize) -> bool {
        self.ends[row].1
    }

    /// Whether all cells that are there came as texts.
    pub(crate) fn is_of_texts(&self) -> bool {
        (0..self.len()).all(|row| self.is_text(row) || self.cell(row).is_empty())
    }

    /// Whether all cells came as whole numbers.
    pub(crate) fn is_of_integers(&self) -> bool {
        let digits = |row| self.cell(row).bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        (0..self.len()).all(|row| !self.is_text(row) && !self.cell(row).is_empty() && digits(row))
    }
}

impl<'de> Deserialize<'de> for TableColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Columns)
    }
}

/// Reads the map.
struct Columns;

impl<'de> Visitor<'de> for Columns {
    type Value = TableColumns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("columns by name, each a list of cells")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TableColumns, A::Error> {
        let mut columns = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let mut column = ListedColumn { name, ..ListedColumn::default() };
            map.next_value_seed(Cells(&mut column))?;
            columns.push(column);
        }
        Ok(TableColumns(columns))
    }
}

/// Appends a list of cells to a column.
struct Cells<'a>(&'a mut ListedColumn);

impl<'de> DeserializeSeed<'de> for Cells<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Cell(self.0))?.is_some() {}
        Ok(())
    }
}

/// Appends a cell to a column.
struct Cell<'a>(&'a mut ListedColumn);

impl Cell<'_> {
    fn push(self, text: fmt::Arguments<'_>, is_text: bool) {
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.0.cells, text);
        self.0.ends.push((self.0.cells.len(), is_text));
    }
}

impl<'de> DeserializeSeed<'de> for Cell<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Cell<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cell: a text, a number, a truth value or null")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.cells.push_str(text);
        self.0.ends.push((self.0.cells.len(), true));
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.push(format_args!("{value}"), false);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.push(format_args!("{value}"), false);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        // The shortest digits that read back to the same number, with an exponent where that is shorter.
        self.push(format_args!("{value:?}"), false);
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.push(format_args!("{value}"), false);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.push(format_args!(""), false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_kept_as_they_came() {
        let text =
            r#"{"id": ["a", "\u00e4 b", ""], "n": [1, -2, 3], "x": [0.1, 1e30, null], "t": [true, "1", 2]}"#;
        let TableColumns(columns) = serde_json::from_str(text).unwrap();
        let cells = |i: usize| (0..3).map(|row| columns[i].cell(row)).collect::<Vec<_>>();
        assert_eq!(cells(0), ["a", "ä b", ""]);
        assert_eq!(cells(1), ["1", "-2", "3"]);
        assert_eq!(cells(2), ["0.1", "1e30", ""]);
        assert_eq!(cells(3), ["true", "1", "2"]);
        assert_eq!([0, 1, 2, 3].map(|i| columns[i].is_of_texts()), [true, false, false, false]);
        assert_eq!([0, 1, 2, 3].map(|i| columns[i].is_of_integers()), [false, true, false, false]);
    }

    #[test]
    fn what_is_no_column_is_refused() {
        for text in ["[]", r#"{"a": 1}"#, r#"{"a": [[1]]}"#, r#"{"a": [{}]}"#, r#"{"a": "text"}"#] {
            serde_json::from_str::<TableColumns>(text).unwrap_err();
        }
    }
}
