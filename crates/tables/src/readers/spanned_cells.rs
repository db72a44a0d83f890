//! Merged cells of OpenDocument's sheets: the first of them says how many rows and columns it spans.

use std::collections::HashMap;

use calamine::Dimensions;
use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;

/// The merged cells of each sheet, as its tags are read.
#[derive(Default)]
pub(super) struct SpannedCells {
    sheets: HashMap<String, Vec<Dimensions>>,
    sheet: Vec<Dimensions>,
    name: String,
    count: u64,
    /// Row and column of the next cell, from 0, and how often its row is repeated.
    row: u32,
    column: u32,
    repeated: u32,
}

impl SpannedCells {
    /// Bytes of memory that they take.
    pub(super) fn bytes(&self) -> u64 {
        self.count.saturating_mul(size_of::<Dimensions>() as u64)
    }

    /// Those of a sheet.
    pub(super) fn take(&mut self, sheet: &str) -> Vec<Dimensions> {
        self.sheets.remove(sheet).unwrap_or_default()
    }

    pub(super) fn begin(&mut self, tag: &BytesStart<'_>) {
        let number = |name: &str| number_of(tag, name).max(1) as u32;
        match tag.name().as_ref() {
            "table:table" => {
                let name =
                    tag.attributes().flatten().find(|attribute| attribute.key.as_ref() == "table:name");
                let name = name.and_then(|name| Some(unescape(&name.value).ok()?.into_owned()));
                *self = Self {
                    sheets: std::mem::take(&mut self.sheets),
                    count: self.count,
                    name: name.unwrap_or_default(),
                    ..Self::default()
                };
            }
            "table:table-row" => {
                (self.column, self.repeated) = (0, number("table:number-rows-repeated"));
            }
            "table:table-cell" | "table:covered-table-cell" => {
                let [rows, columns] =
                    ["table:number-rows-spanned", "table:number-columns-spanned"].map(number);
                if rows > 1 || columns > 1 {
                    let start = (self.row, self.column);
                    let end = (start.0.saturating_add(rows - 1), start.1.saturating_add(columns - 1));
                    self.sheet.push(Dimensions { start, end });
                    self.count += 1;
                }
                self.column = self.column.saturating_add(number("table:number-columns-repeated"));
            }
            _ => {}
        }
    }

    pub(super) fn end(&mut self, tag: &str) {
        match tag {
            "table:table-row" => self.row = self.row.saturating_add(self.repeated),
            "table:table" if !self.sheet.is_empty() => {
                let sheet = std::mem::take(&mut self.sheet);
                self.sheets.insert(std::mem::take(&mut self.name), sheet);
            }
            _ => {}
        }
    }
}

/// How often a row or a cell stands there, or how many it spans, at most as many as a sheet has room for.
pub(super) fn number_of(tag: &BytesStart<'_>, name: &str) -> u64 {
    const ROWS: u64 = 1 << 20;
    let found = tag.attributes().flatten().find(|attribute| attribute.key.as_ref() == name);
    let number = found.and_then(|found| found.value.trim().parse::<u64>().ok());
    number.unwrap_or(1).min(ROWS)
}
