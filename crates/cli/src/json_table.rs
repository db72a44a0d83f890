//! Tables as JSON: an array of objects, a row a line.

use std::io::{self, Write};

use foretell::{Frame, FrameWriter, TableError, TimeStyle};

/// Writes a table as an array of objects by the names of its columns; what is no number is null.
pub(crate) struct JsonTable<W> {
    out: W,
    times: TimeStyle,
    is_begun: bool,
}

impl<W: Write> JsonTable<W> {
    /// Writes to `out`, all times of the table in one style.
    pub(crate) fn new(out: W, times: TimeStyle) -> Self {
        Self { out, times, is_begun: false }
    }

    /// A time as a text, or the number of a step.
    fn time(&self, part: &Frame, time: i64) -> String {
        let mut text = String::new();
        self.times.write(part.zone.as_ref(), time, &mut text);
        if self.times == TimeStyle::Integer { text } else { quoted(&text) }
    }

    fn rows(&mut self, part: &Frame) -> io::Result<()> {
        let [id, time, cutoff] = [part.id_name(), part.time_col.as_str(), "cutoff"].map(quoted);
        let names: Vec<(String, bool)> =
            part.columns.iter().map(|(name, _)| (quoted(name), part.is_integer(name))).collect();
        for row in 0..part.n_rows() {
            let begin = if std::mem::replace(&mut self.is_begun, true) { ",\n" } else { "[\n" };
            let (of, at) = (quoted(&part.ids[row]), self.time(part, part.times[row]));
            write!(self.out, "{begin}{{{id}:{of},{time}:{at}")?;
            if let Some(cutoffs) = &part.cutoffs {
                write!(self.out, ",{cutoff}:{}", self.time(part, cutoffs[row]))?;
            }
            for ((name, is_integer), (column, values)) in names.iter().zip(&part.columns) {
                write!(self.out, ",{name}:")?;
                match part.wide.get(column) {
                    _ if part.labels.contains_key(column) => {
                        serde_json::to_writer(&mut self.out, &part.label(column, values[row]))?;
                    }
                    _ if *is_integer => write!(self.out, "{}", values[row] as i64)?,
                    _ if values[row].is_nan() => self.out.write_all(b"null")?,
                    Some(wide) => serde_json::to_writer(&mut self.out, &wide[row])?,
                    None => serde_json::to_writer(&mut self.out, &values[row])?,
                }
            }
            self.out.write_all(b"}")?;
        }
        Ok(())
    }
}

impl<W: Write> FrameWriter for JsonTable<W> {
    fn write(&mut self, part: &Frame) -> Result<(), TableError> {
        self.rows(part).map_err(TableError::Write)
    }

    fn finish(mut self: Box<Self>) -> Result<(), TableError> {
        let end: &[u8] = if self.is_begun { b"\n]\n" } else { b"[]\n" };
        self.out.write_all(end).and_then(|()| self.out.flush()).map_err(TableError::Write)
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::Freq;

    #[test]
    fn rows_are_objects_and_parts_one_array() {
        let part = |id: &str, value: f32| Frame {
            ids: vec![id.into()],
            times: vec![7],
            columns: vec![("M\"1".into(), vec![value])],
            ..Frame::new(Freq::parse("1").unwrap())
        };
        let mut text = Vec::new();
        let mut table = Box::new(JsonTable::new(&mut text, TimeStyle::Integer));
        table.write(&part("a", 0.1)).unwrap();
        table.write(&part("b", f32::NAN)).unwrap();
        (table as Box<dyn FrameWriter>).finish().unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "[\n{\"unique_id\":\"a\",\"ds\":7,\"M\\\"1\":0.1},\n{\"unique_id\":\"b\",\"ds\":7,\"M\\\"1\":null}\n]\n"
        );
        let mut empty = Vec::new();
        Box::new(JsonTable::new(&mut empty, TimeStyle::Integer)).finish().unwrap();
        assert_eq!(empty, b"[]\n");
    }
}
