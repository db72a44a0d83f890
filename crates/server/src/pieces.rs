//! Answers as text, a piece at a time: one that is read slowly takes the memory of its table and of a piece.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use foretell::{CsvWriter, Frame, ModelInTable, TimeStyle, Value};
use serde_json::json;

use crate::request::ForecastAnswer;

/// Bytes of a piece, about.
const PIECE: usize = 1 << 16;

/// The text of an answer, which is made as it is asked for.
pub(crate) struct Pieces {
    answer: ForecastAnswer,
    form: Form,
    times: TimeStyle,
    /// Rows that make a piece.
    rows: usize,
}

enum Form {
    Csv(Box<CsvPieces>),
    /// The column that is written, and its next row.
    Json {
        column: usize,
        row: usize,
    },
    Done,
}

/// A writer of CSV, and what it wrote.
struct CsvPieces {
    writer: CsvWriter<Written>,
    written: Written,
    row: usize,
}

/// Bytes that are taken from where a writer puts them.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pieces {
    /// The pieces of an answer as CSV.
    pub(crate) fn csv(answer: ForecastAnswer) -> Self {
        let written = Written::default();
        let writer = CsvWriter::new(written.clone(), answer.frame.time_style());
        Self::new(answer, Form::Csv(Box::new(CsvPieces { writer, written, row: 0 })))
    }

    /// The pieces of an answer as JSON: `{"model": ..., "columns": {"unique_id": [...], ...}, "forecasts": [...], "warnings": [...]}`, and
    /// `understood` and `board` where the answer has them.
    /// Times are texts unless they are integers, ids as they came, values that are no finite numbers `null`.
    pub(crate) fn json(answer: ForecastAnswer) -> Self {
        Self::new(answer, Form::Json { column: 0, row: 0 })
    }

    fn new(answer: ForecastAnswer, form: Form) -> Self {
        let rows = answer.frame.n_rows();
        let row = usize::try_from(text_bytes(&answer.frame)).unwrap_or(usize::MAX) / rows.max(1);
        let times = answer.frame.time_style();
        Self { answer, form, times, rows: (PIECE / row.max(1)).max(1) }
    }

    /// All pieces in one.
    pub(crate) fn whole(self) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        for piece in self {
            whole.append(&mut piece?);
        }
        Ok(whole)
    }
}

impl Iterator for Pieces {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = &self.answer.frame;
        match &mut self.form {
            Form::Done => None,
            Form::Csv(csv) => {
                let rows: Vec<usize> = (csv.row..frame.n_rows().min(csv.row + self.rows)).collect();
                if csv.row > 0 && rows.is_empty() {
                    self.form = Form::Done;
                    return None;
                }
                // A table without rows has a header.
                let written = csv.writer.write(&frame.at(&rows)).map(|()| csv.written.take());
                csv.row += rows.len().max(1);
                Some(written.map_err(io::Error::other))
            }
            Form::Json { column, row } => {
                let mut out = Vec::with_capacity(PIECE + PIECE / 4);
                let rows = *row..frame.n_rows().min(*row + self.rows);
                let (all, last) = (JsonColumns { frame, times: self.times }, rows.end == frame.n_rows());
                if *column == 0 && rows.start == 0 {
                    let model = Value::from(self.answer.model.as_str());
                    let _ = write!(out, r#"{{"model":{model},"columns":{{"#);
                }
                let written = all.write(*column, rows.clone(), &mut out);
                if !last {
                    *row = rows.end;
                } else if *column + 1 < all.count() {
                    out.extend_from_slice(b"],");
                    (*column, *row) = (*column + 1, 0);
                } else {
                    let ForecastAnswer { warnings, understood, board, .. } = &self.answer;
                    let (forecasts, warnings) = (forecasts(frame), json!(warnings));
                    let _ = write!(out, r#"]}},"forecasts":{forecasts},"warnings":{warnings}"#);
                    if let Some(understood) = understood {
                        let _ = write!(out, r#","understood":{}"#, json!(understood));
                    }
                    if let Some(board) = board {
                        let _ = write!(out, r#","board":{}"#, board.to_json());
                    }
                    out.push(b'}');
                    self.form = Form::Done;
                }
                Some(written.map(|()| out).map_err(io::Error::other))
            }
        }
    }
}

/// Which columns are the point forecast of each model, and its intervals, the widest first.
fn forecasts(frame: &Frame) -> Value {
    let name = |place: usize| &frame.columns[place].0;
    let interval = |(level, low, high): (f64, usize, usize)| json!({ "level": level, "low": name(low), "high": name(high) });
    let model = |model: &ModelInTable| {
        json!({
            "model": &*model.model,
            "point": model.point().map(name),
            "intervals": model.intervals().into_iter().map(interval).collect::<Vec<Value>>(),
        })
    };
    frame.models_added().iter().filter(|model| model.is_forecast()).map(model).collect()
}

/// The columns of a table as JSON.
struct JsonColumns<'a> {
    frame: &'a Frame,
    times: TimeStyle,
}

impl JsonColumns<'_> {
    /// Ids, times, cutoffs, values.
    fn count(&self) -> usize {
        2 + usize::from(self.frame.cutoffs.is_some()) + self.frame.columns.len()
    }

    /// Writes some cells of a column, before the first one its name.
    fn write(&self, column: usize, rows: Range<usize>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let frame = self.frame;
        let others = self.count() - frame.columns.len();
        let name = match column {
            0 => frame.id_name(),
            1 => &frame.time_col,
            _ if column < others => "cutoff",
            _ => &frame.columns[column - others].0,
        };
        if rows.start == 0 {
            serde_json::to_writer(&mut *out, name)?;
            out.extend_from_slice(b":[");
        }
        match column {
            0 => cells(rows, out, |row, out| self.id(&frame.ids[row], out)),
            1 => cells(rows, out, |row, out| self.time(frame.times[row], out)),
            _ if column < others => {
                let cutoffs = frame.cutoffs.as_deref().unwrap_or_default();
                cells(rows, out, |row, out| self.time(cutoffs[row], out))
            }
            _ => {
                let (name, values) = &frame.columns[column - others];
                // As `f32` and not by way of 64 bits, so that a number has no digits that it has not in CSV.
                match frame.wide.get(name) {
                    Some(wide) => cells(rows, out, |row, out| serde_json::to_writer(out, &wide[row])),
                    None if frame.is_integer(name) => {
                        cells(rows, out, |row, out| serde_json::to_writer(out, &(values[row] as i64)))
                    }
                    None => cells(rows, out, |row, out| serde_json::to_writer(out, &values[row])),
                }
            }
        }
    }

    fn id(&self, id: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match id.parse::<i64>().ok().filter(|_| self.frame.integer_ids) {
            Some(number) => serde_json::to_writer(out, &number),
            None => serde_json::to_writer(out, id),
        }
    }

    fn time(&self, time: i64, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match self.times {
            TimeStyle::Integer => serde_json::to_writer(out, &time),
            style => {
                let mut text = String::new();
                style.write(self.frame.zone.as_ref(), time, &mut text);
                serde_json::to_writer(out, &text)
            }
        }
    }
}

/// Writes cells of a list, with commas between them.
fn cells(
    rows: Range<usize>,
    out: &mut Vec<u8>,
    cell: impl Fn(usize, &mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    for row in rows {
        if row > 0 {
            out.push(b',');
        }
        cell(row, out)?;
    }
    Ok(())
}

/// The most bytes that the text of an id takes, in quotes.
pub(crate) fn id_bytes(id: &str) -> u64 {
    let of = |byte: u8| match byte {
        0..0x20 => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    };
    3 + id.bytes().map(of).sum::<u64>()
}

/// Bytes of a time and of a number in text, with what separates them.
pub(crate) const CELL: u64 = 26;

/// The most bytes that the text of a table takes, but for names.
pub(crate) fn text_bytes(frame: &Frame) -> u64 {
    let of_ids = frame.ids.chunk_by(Arc::ptr_eq).map(|rows| id_bytes(&rows[0]) * rows.len() as u64);
    let cells = 1 + usize::from(frame.cutoffs.is_some()) + frame.columns.len();
    of_ids.sum::<u64>() + frame.n_rows() as u64 * CELL * cells as u64
}

/// The bytes that a table takes in memory.
pub(crate) fn frame_bytes(frame: &Frame) -> u64 {
    let cutoffs = usize::from(frame.cutoffs.is_some());
    (frame.n_rows() * (24 + 8 * cutoffs + 4 * frame.columns.len() + 8 * frame.wide.len())) as u64
}

#[cfg(test)]
mod tests {
    use foretell::Freq;

    use super::*;

    fn answer(rows: usize) -> ForecastAnswer {
        let mut frame = Frame::new(Freq::parse("D").unwrap());
        frame.ids = (0..rows).map(|row| format!("\"{}\u{1}", row / 3).into()).collect();
        frame.times = (0..rows as i64).map(|day| day * 86_400_000_000).collect();
        frame.columns = ["A", "A-lo-80"]
            .map(|name| (name.to_owned(), (0..rows).map(|row| 0.1 + row as f32).collect()))
            .into();
        ForecastAnswer::of_model("m", frame, vec!["w".to_owned()])
    }

    #[test]
    fn pieces_of_any_size_make_the_same_text() {
        for rows in [0, 1, 7, 50] {
            let frame = answer(rows).frame;
            let mut csv = Vec::new();
            frame.write_csv(&mut csv).unwrap();
            let json = Pieces::json(answer(rows)).whole().unwrap();
            let read: Value = serde_json::from_slice(&json).unwrap();
            let times: Vec<&str> =
                read["columns"]["ds"].as_array().unwrap().iter().map(|time| time.as_str().unwrap()).collect();
            assert_eq!((times.len(), &read["warnings"][0], &read["model"]), (rows, &json!("w"), &json!("m")));
            assert!(times.first().is_none_or(|time| *time == "1970-01-01"));
            for at_a_time in [1, 2, 7, 100] {
                let small = |pieces: Pieces| Pieces { rows: at_a_time, ..pieces }.whole().unwrap();
                assert_eq!(small(Pieces::csv(answer(rows))), csv);
                assert_eq!(small(Pieces::json(answer(rows))), json);
            }
            assert!(text_bytes(&frame) as usize + 150 > json.len());
        }
    }

    #[test]
    fn a_piece_of_a_large_table_is_small() {
        let mut pieces = Pieces::csv(answer(20_000));
        assert!(pieces.next().unwrap().unwrap().len() < 2 * PIECE);
        assert!(Pieces::json(answer(20_000)).all(|piece| piece.unwrap().len() < 2 * PIECE));
    }
}
