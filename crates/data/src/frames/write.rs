//! Tables of forecasts as CSV, whole or part by part.

use std::fmt::Write as _;
use std::io;

use super::frame::{Frame, FrameWriter};
use crate::calendar::style::TimeStyle;
use crate::error::DataError;

/// Writes a table of forecasts as CSV, one part after the other.
///
/// The columns are ids, times, cutoffs, values. Numbers have as few digits as read back to the same `f32`, in
/// [wide](Frame::wide) columns to the same `f64`; NaN is an empty cell.
///
/// ```
/// use foretell_data::{CsvWriter, Frame, Freq, TimeStyle};
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
/// # Ok::<(), foretell_data::DataError>(())
/// ```
pub struct CsvWriter<W: io::Write> {
    out: csv::Writer<W>,
    times: TimeStyle,
    decimal: char,
    has_header: bool,
}

impl<W: io::Write> CsvWriter<W> {
    /// Writes to `out`, all times of the table in one style.
    pub fn new(out: W, times: TimeStyle) -> Self {
        Self::with_decimal(out, times, '.')
    }

    /// Writes to `out` with this mark before decimals. Where it is a comma, a semicolon separates the fields, as
    /// spreadsheets of such countries expect.
    pub fn with_decimal(out: W, times: TimeStyle, decimal: char) -> Self {
        let delimiter = if decimal == ',' { b';' } else { b',' };
        let out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        Self { out, times, decimal, has_header: false }
    }

    /// Writes the rows of a part, before the first one the header.
    ///
    /// # Errors
    /// [`DataError::Write`] if the output refuses.
    ///
    /// # Panics
    /// If the columns of the part differ in length.
    pub fn write(&mut self, part: &Frame) -> Result<(), DataError> {
        part.check();
        self.rows(part).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => DataError::Write(error),
            other => DataError::Write(io::Error::other(format!("{other:?}"))),
        })
    }

    fn rows(&mut self, part: &Frame) -> csv::Result<()> {
        let out = &mut self.out;
        if !std::mem::replace(&mut self.has_header, true) {
            let cutoff = part.cutoffs.as_ref().map(|_| "cutoff");
            let names = part.columns.iter().map(|(name, _)| name.as_str());
            let index = [part.id_col.as_str(), part.time_col.as_str()];
            out.write_record(index.into_iter().chain(cutoff).chain(names))?;
        }
        let cutoffs = part.cutoffs.as_deref().unwrap_or(&[]);
        let wide: Vec<Option<&Vec<f64>>> = part.columns.iter().map(|(name, _)| part.wide.get(name)).collect();
        let mut cell = String::new();
        for row in 0..part.n_rows() {
            out.write_field(&*part.ids[row])?;
            for time in [Some(part.times[row]), cutoffs.get(row).copied()].into_iter().flatten() {
                cell.clear();
                self.times.write(part.zone.as_ref(), time, &mut cell);
                out.write_field(&cell)?;
            }
            for ((name, values), wide) in part.columns.iter().zip(&wide) {
                cell.clear();
                if part.is_integer(name) {
                    let _ = write!(cell, "{}", values[row] as i64);
                } else if !values[row].is_nan() {
                    // Debug is the shortest text that reads back, with an exponent where that is
                    // shorter. Writing to a string cannot fail.
                    let _ = match wide {
                        Some(wide) => write!(cell, "{:?}", wide[row]),
                        None => write!(cell, "{:?}", values[row]),
                    };
                    if let (false, Some(point)) = (self.decimal == '.', cell.find('.')) {
                        cell.replace_range(point..=point, self.decimal.encode_utf8(&mut [0; 4]));
                    }
                }
                out.write_field(&cell)?;
            }
            out.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    /// Hands everything to the output, and gives that back.
    ///
    /// # Errors
    /// [`DataError::Write`] if the output refuses.
    pub fn finish(self) -> Result<W, DataError> {
        self.out.into_inner().map_err(|error| DataError::Write(error.into_error()))
    }
}

impl<W: io::Write> FrameWriter for CsvWriter<W> {
    fn write(&mut self, part: &Frame) -> Result<(), DataError> {
        self.write(part)
    }

    fn finish(self: Box<Self>) -> Result<(), DataError> {
        (*self).finish().map(drop)
    }
}

impl Frame {
    /// Writes the frame as CSV: see [`CsvWriter`].
    ///
    /// # Errors
    /// [`DataError::Write`] if `out` refuses.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_csv(&self, out: impl io::Write) -> Result<(), DataError> {
        let mut writer = CsvWriter::new(out, self.time_style());
        writer.write(self)?;
        writer.finish().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::freq::Freq;

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
        assert!(matches!(frame.write_csv(Full), Err(DataError::Write(_))));
    }
}
