//! All of a part of a panel but its numbers, as bytes for other processes.

use std::sync::Arc;

use super::column::{Column, ColumnKind, Labels};
use super::fill::{Filled, Trimmed};
use super::numbers::Numbers;
use super::panel::{Data, Panel, Series};
use foretell_tables::ReadNote;

/// The bytes of a part, or none where a column of it has a bad cell, series were left out of it, or something was noted that was not of the
/// first part, which is `like`: that is told by the one who reads the file.
pub(super) fn write_head(part: &Panel, like: &Panel) -> Option<Vec<u8>> {
    if !part.notes().iter().all(|note| like.notes().iter().any(|of_first| of_first.is_like(note))) {
        return None;
    }
    let Data { mask, weight, columns, integer_ids, filled, trimmed, .. } = &*part.data;
    let mut head = Head(Vec::new());
    for flag in [*integer_ids, mask.is_some(), weight.is_some()] {
        head.number(u64::from(flag));
    }
    for count in [filled.rows, filled.values, trimmed.series, trimmed.rows, trimmed.far, part.n_series()] {
        head.number(count as u64);
    }
    for Series { id, len, first_time, place, level, .. } in &part.series {
        head.text(id);
        let [offset, scale] = <[f64; 2]>::from(*level).map(f64::to_bits);
        for number in [*len as u64, *first_time as u64, *place as u64, offset, scale] {
            head.number(number);
        }
    }
    for column in columns {
        column.values.as_ref().ok()?;
        head.labels(&column.kind);
    }
    for column in &*part.statics {
        let values = column.values.as_ref().ok()?;
        head.number(values.len() as u64);
        values.iter().for_each(|value| head.number(value.to_bits().into()));
        head.labels(&column.kind);
    }
    // Of each note on the first part what this one's is about, or nothing.
    for of_first in like.notes() {
        let same = part.notes().iter().find(|note| of_first.is_like(note));
        head.text(&same.map(ReadNote::source).unwrap_or_default());
    }
    Some(head.0)
}

/// The part of these bytes, without its numbers: one of the table whose first part is `like`.
pub(super) fn read_head(head: &[u8], like: &Panel) -> Panel {
    let mut head = HeadReader(head);
    let [integer_ids, mask, weight] = [(); 3].map(|()| head.number() == 1);
    let empty = |there: bool| there.then(Numbers::default);
    let (mask, weight) = (empty(mask), empty(weight));
    let filled = Filled { rows: head.count(), values: head.count() };
    let trimmed = Trimmed { series: head.count(), rows: head.count(), far: head.count() };
    let mut start = 0;
    let mut series = Vec::new();
    for _ in 0..head.count() {
        let (id, len, first_time, place) = (head.text(), head.count(), head.number() as i64, head.count());
        let level = [(); 2].map(|()| f64::from_bits(head.number())).into();
        series.push(Series { id, start, len, reach: start + len, first_time, place, level });
        start += len;
    }
    let mut columns: Vec<Column> = like.data.columns.iter().map(Column::none).collect();
    columns.iter_mut().for_each(|column| head.labels(&mut column.kind));
    let mut statics: Vec<Column> = like.statics.iter().map(Column::none).collect();
    for column in &mut statics {
        column.values = Ok((0..head.count()).map(|_| f32::from_bits(head.number() as u32)).collect());
        head.labels(&mut column.kind);
    }
    let noted = like.notes().iter().map(|note| (note, head.text()));
    let noted: Vec<(&ReadNote, Arc<str>)> = noted.filter(|(_, source)| !source.is_empty()).collect();
    let notes = noted.into_iter().map(|(note, source)| note.clone().of_source(source)).collect();
    let (table, y) = (like.data.table.clone(), Numbers::default());
    let data = Data { table, y, mask, weight, columns, integer_ids, filled, trimmed, ..*like.data };
    let mut part = Panel::new(like.freq(), like.zone().cloned(), series, data);
    part.statics = Arc::new(statics);
    part.with_notes(notes)
}

struct Head(Vec<u8>);

impl Head {
    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.bytes());
    }

    fn labels(&mut self, kind: &ColumnKind) {
        let ColumnKind::Labels(Labels { texts, typed, .. }) = kind else { return };
        self.number(u64::from(*typed));
        self.number(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }
}

/// What another process of the same program wrote.
struct HeadReader<'a>(&'a [u8]);

impl HeadReader<'_> {
    fn number(&mut self) -> u64 {
        let (number, rest) = self.0.split_first_chunk().expect("a whole head");
        self.0 = rest;
        u64::from_le_bytes(*number)
    }

    fn count(&mut self) -> usize {
        self.number() as usize
    }

    fn text(&mut self) -> Arc<str> {
        let len = self.count();
        let (text, rest) = self.0.split_at(len);
        self.0 = rest;
        String::from_utf8_lossy(text).into()
    }

    /// Fills labels that have none yet, in the order of their codes.
    fn labels(&mut self, kind: &mut ColumnKind) {
        let ColumnKind::Labels(labels) = kind else { return };
        labels.typed = self.number() == 1;
        for _ in 0..self.count() {
            let text = self.text();
            labels.code(&text).expect("a label that was numbered before");
        }
    }
}
