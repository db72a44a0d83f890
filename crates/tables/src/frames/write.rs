//! Tables of forecasts as CSV, whole or part by part.

use std::fmt::{Debug, Write as _};
use std::io;

use super::frame::{Frame, FrameWriter};
use crate::error::TableError;
use foretell_calendar::TimeStyle;

/// Writes a table of forecasts as CSV, one part after the other.
///
/// The columns are ids, times, cutoffs, values. Numbers have as few digits as read back to the same `f32`, in
/// [wide](Frame::wide) columns to the same `f64`; NaN is an empty cell.
///
/// ```
/// use foretell_calendar::{Freq, TimeStyle};
/// use foretell_tables::{CsvWriter, Frame};
///
/// let part = |id: &str, value: f32| Frame {
///     ids: vec![id.into()],
///     times: vec![7],
///     columns: vec![("NLinear".into(), vec![value])],
///     ..Frame::new(Freq::parse("1").unwrap())
/// };
/// let mut writer = CsvWriter::new(Vec::new(), TimeStyle::Integer);
/// writer.write(&part("a", 0.5))?;
/// writer.write(&part("b", f32::NAN))?;
/// assert_eq!(writer.finish()?, b"unique_id,ds,NLinear\na,7,0.5\nb,7,\n");
/// # Ok::<(), foretell_tables::TableError>(())
/// ```
pub struct CsvWriter<W: io::Write> {
    out: W,
    times: TimeStyle,
    decimal: char,
    has_header: bool,
}

/// Bytes that are handed to the output at a time.
const BLOCK: usize = 1 << 16;

impl<W: io::Write> CsvWriter<W> {
    /// Writes to `out`, all times of the table in one style.
    pub fn new(out: W, times: TimeStyle) -> Self {
        Self::with_decimal(out, times, '.')
    }

    /// Writes to `out` with this mark before decimals. Where it is a comma, a semicolon separates the fields, as
    /// spreadsheets of such countries expect.
    pub fn with_decimal(out: W, times: TimeStyle, decimal: char) -> Self {
        Self { out, times, decimal, has_header: false }
    }

    /// Writes the rows of a part, before the first one the header.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses.
    ///
    /// # Panics
    /// If the columns of the part differ in length.
    pub fn write(&mut self, part: &Frame) -> Result<(), TableError> {
        part.check();
        self.rows(part).map_err(TableError::Write)
    }

    fn rows(&mut self, part: &Frame) -> io::Result<()> {
        let separator = if self.decimal == ',' { ';' } else { ',' };
        let mut text = String::with_capacity(BLOCK + BLOCK / 8);
        if !std::mem::replace(&mut self.has_header, true) {
            let cutoff = part.cutoffs.as_ref().map(|_| "cutoff");
            let names = part.columns.iter().map(|(name, _)| name.as_str());
            let index = [part.id_name(), part.time_col.as_str()];
            for (place, name) in index.into_iter().chain(cutoff).chain(names).enumerate() {
                text.extend((place > 0).then_some(separator));
                push_quoted(&mut text, name, separator);
            }
            text.push('\n');
        }
        let cutoffs = part.cutoffs.as_deref().unwrap_or(&[]);
        let form = |name: &String| (part.wide.get(name).map(Vec::as_slice), part.is_integer(name));
        let forms: Vec<(Option<&[f64]>, bool)> = part.columns.iter().map(|(name, _)| form(name)).collect();
        let (mut id, mut cutoff) = (String::new(), (None, String::new()));
        for row in 0..part.n_rows() {
            if row == 0 || part.ids[row] != part.ids[row - 1] {
                id.clear();
                push_quoted(&mut id, &part.ids[row], separator);
            }
            text.push_str(&id);
            text.push(separator);
            self.times.write(part.zone.as_ref(), part.times[row], &mut text);
            if let Some(&time) = cutoffs.get(row) {
                // The rows of a window have one.
                if cutoff.0 != Some(time) {
                    cutoff.0 = Some(time);
                    cutoff.1.clear();
                    self.times.write(part.zone.as_ref(), time, &mut cutoff.1);
                }
                text.push(separator);
                text.push_str(&cutoff.1);
            }
            for ((name, values), (wide, is_integer)) in part.columns.iter().zip(&forms) {
                text.push(separator);
                if part.labels.contains_key(name) {
                    push_quoted(&mut text, part.label(name, values[row]).unwrap_or_default(), separator);
                    continue;
                }
                let start = text.len();
                match wide {
                    _ if *is_integer => {
                        let _ = write!(text, "{}", values[row] as i64);
                    }
                    _ if values[row].is_nan() => {}
                    Some(wide) => push_number(&mut text, wide[row]),
                    None => push_number(&mut text, values[row]),
                }
                if self.decimal != '.'
                    && let Some(point) = text[start..].find('.')
                {
                    text.replace_range(start + point..=start + point, self.decimal.encode_utf8(&mut [0; 4]));
                }
            }
            text.push('\n');
            if text.len() >= BLOCK {
                self.out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        self.out.write_all(text.as_bytes())
    }

    /// Hands everything to the output, and gives that back.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.out.flush().map_err(TableError::Write)?;
        Ok(self.out)
    }
}

/// Appends the shortest text of a number that reads back, with an exponent where that is shorter.
fn push_number(text: &mut String, number: impl Debug) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{number:?}");
}

/// Appends a field, between quotes where it would be read otherwise without.
fn push_quoted(text: &mut String, field: &str, separator: char) {
    if !field.contains([separator, '"', '\n', '\r']) {
        return text.push_str(field);
    }
    text.push('"');
    text.push_str(&field.replace('"', "\"\""));
    text.push('"');
}

impl<W: io::Write> FrameWriter for CsvWriter<W> {
    fn write(&mut self, part: &Frame) -> Result<(), TableError> {
        self.write(part)
    }

    fn finish(self: Box<Self>) -> Result<(), TableError> {
        (*self).finish().map(drop)
    }
}

impl Frame {
    /// Writes the frame as CSV: see [`CsvWriter`].
    ///
    /// # Errors
    /// [`TableError::Write`] if `out` refuses.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_csv(&self, out: impl io::Write) -> Result<(), TableError> {
        let mut writer = CsvWriter::new(out, self.time_style());
        writer.write(self)?;
        writer.finish().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::Freq;

    #[test]
    fn a_frame_is_written_with_short_numbers_and_dates() {
        let mut frame = Frame::new(Freq::parse("D").unwrap());
        frame.ids = vec!["a".into(), "b, \"c\"".into()];
        frame.times = vec![86_400_000_000, 0];
        frame.cutoffs = Some(vec![0, -86_400_000_000]);
        frame.columns = vec![("y".into(), vec![0.1, f32::NAN]), ("NLinear-lo-90".into(), vec![-1.0, 1e-30])];
        let mut out = Vec::new();
        frame.write_csv(&mut out).unwrap();
        let expected = "unique_id,ds,cutoff,y,NLinear-lo-90\n\
                        a,1970-01-02,1970-01-01,0.1,-1.0\n\
                        \"b, \"\"c\"\"\",1970-01-01,1969-12-31,,1e-30\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        let mut writer = CsvWriter::with_decimal(&mut out, frame.time_style(), ',');
        writer.write(&frame).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("a;1970-01-02;1970-01-01;0,1;-1,0\n"), "{text}");
        assert_eq!(frame.column("y").unwrap()[0], 0.1);
        assert_eq!(frame.column("x"), None);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        struct Full;
        impl io::Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let frame = Frame::new(Freq::parse("1").unwrap());
        assert!(matches!(frame.write_csv(Full), Err(TableError::Write(_))));
    }
}
