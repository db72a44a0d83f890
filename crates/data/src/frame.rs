//! Forecasts as a table, and as CSV.

use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;

use crate::error::DataError;
use crate::freq::Freq;
use crate::time::TimeStyle;
use crate::zone::Zone;

/// A long table of forecasts: one row per series and time (and cutoff).
///
/// Serialised with its fields under their names, NaN as nothing (`null` in JSON).
#[derive(Clone, PartialEq)]
pub struct Frame {
    /// Name of the id column.
    pub id_col: String,
    /// Name of the time column.
    pub time_col: String,
    /// The step between the times of a series; settles how times are written.
    pub freq: Freq,
    /// The zone of the times; nothing for integers and civil times.
    pub zone: Option<Zone>,
    /// Whether ids are integers where a form has types.
    pub integer_ids: bool,
    /// Series of each row.
    pub ids: Vec<Arc<str>>,
    /// Time of each row: an integer, or microseconds since 1970-01-01 00:00, on a civil clock or of UTC where there is a
    /// zone.
    pub times: Vec<i64>,
    /// Time of the last known row of each row's window, in cross-validation.
    pub cutoffs: Option<Vec<i64>>,
    /// Columns by name, one value per row.
    pub columns: Vec<(String, Vec<f32>)>,
}

impl Frame {
    /// A frame without rows and columns.
    pub fn new(freq: Freq) -> Self {
        Self {
            id_col: "unique_id".into(),
            time_col: "ds".into(),
            freq,
            zone: None,
            integer_ids: false,
            ids: Vec::new(),
            times: Vec::new(),
            cutoffs: None,
            columns: Vec::new(),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.ids.len()
    }

    /// Values of a column.
    pub fn column(&self, name: &str) -> Option<&[f32]> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, values)| values.as_slice())
    }

    /// Writes the frame as CSV: ids, times, cutoffs, columns. Numbers have as few digits as read
    /// back to the same `f32`; NaN is an empty cell.
    ///
    /// # Errors
    /// [`DataError::Write`] if `out` refuses.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_csv(&self, out: impl io::Write) -> Result<(), DataError> {
        self.check();
        self.write(csv::Writer::from_writer(out)).map_err(|error| DataError::Write(io::Error::other(error)))
    }

    pub(crate) fn check(&self) {
        let rows = self.n_rows();
        assert_eq!(self.times.len(), rows, "times and ids of a frame");
        assert!(self.cutoffs.as_ref().is_none_or(|c| c.len() == rows), "cutoffs of {rows} rows");
        for (name, values) in &self.columns {
            assert_eq!(values.len(), rows, "column `{name}` and ids of a frame");
        }
    }

    fn write(&self, mut out: csv::Writer<impl io::Write>) -> csv::Result<()> {
        let cutoff = self.cutoffs.as_ref().map(|_| "cutoff");
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        let index = [self.id_col.as_str(), self.time_col.as_str()];
        out.write_record(index.into_iter().chain(cutoff).chain(names))?;
        let cutoffs = self.cutoffs.as_deref().unwrap_or(&[]);
        let style = TimeStyle::of(self.freq, self.zone.as_ref(), self.times.iter().chain(cutoffs).copied());
        let mut cell = String::new();
        for row in 0..self.n_rows() {
            out.write_field(&*self.ids[row])?;
            for time in [Some(self.times[row]), cutoffs.get(row).copied()].into_iter().flatten() {
                cell.clear();
                style.write(self.zone.as_ref(), time, &mut cell);
                out.write_field(&cell)?;
            }
            for (_, values) in &self.columns {
                cell.clear();
                if !values[row].is_nan() {
                    // Debug is the shortest text that reads back, with an exponent where that is
                    // shorter. Writing to a string cannot fail.
                    let _ = write!(cell, "{:?}", values[row]);
                }
                out.write_field(&cell)?;
            }
            out.write_record(None::<&[u8]>)?;
        }
        out.flush()?;
        Ok(())
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let freq = self.freq.to_string();
        f.debug_struct("Frame")
            .field("rows", &self.n_rows())
            .field("columns", &columns)
            .field("freq", &freq)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
