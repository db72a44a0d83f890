//! A table of two columns, whatever they are called: one holds times, and the other the target.

use super::options::ReadOptions;
use crate::calendar::clock::Clock;
use crate::calendar::kind::TimeKind;
use crate::error::DataError;
use crate::tables::table::TableReader;

/// The two columns of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) time: usize,
    pub(super) target: usize,
    /// Whether the table stands on its first row, which was looked at.
    pub(super) at_row: bool,
}

impl ReadOptions {
    /// The columns of a table that has two, if nobody named any and none has its usual name: the times are those of the
    /// column that holds dates.
    pub(super) fn unnamed_pair(&self, table: &mut dyn TableReader) -> Result<Option<Pair>, DataError> {
        let usual = Self::default();
        let named =
            self.id_col != usual.id_col || self.time_col.is_some() || self.target_col != usual.target_col;
        let columns: Vec<usize> =
            (0..table.header().len()).filter(|&column| !table.header()[column].is_empty()).collect();
        let known = [&usual.id_col, self.time_name(), &usual.target_col]
            .iter()
            .any(|name| table.find(name).is_some());
        let &[first, second] = &columns[..] else { return Ok(None) };
        if named || known || !table.advance()? {
            return Ok(None);
        }
        let is_time = |column: usize| {
            let (format, zone) = (self.time_format.clone(), self.zone.clone());
            let mut clock = Clock { format, zone, locale: self.locale, ..Clock::default() };
            table.time(column, &mut clock).is_ok() && clock.kind == Some(TimeKind::Timestamp)
        };
        Ok(match [is_time(first), is_time(second)] {
            [true, false] => Some(Pair { time: first, target: second, at_row: true }),
            [false, true] => Some(Pair { time: second, target: first, at_row: true }),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    fn read(text: &str) -> Result<Panel, crate::DataError> {
        Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::default())
    }

    #[test]
    fn two_columns_are_a_time_and_a_value() {
        for text in [
            "Month,Passengers\n1949-01,112\n1949-02,118\n1949-03,132\n",
            "Passengers,Month\n112,1949-01\n118,1949-02\n132,1949-03\n",
        ] {
            let panel = read(text).unwrap();
            assert_eq!((&**panel.id(0), panel.y(0)), ("Passengers", &[112.0, 118.0, 132.0][..]), "{text}");
        }
        for text in [
            "a,b\n1,2\n3,4\n5,6\n",
            "Month,y2,x\n2020-01,1,2\n",
            "y,Month\n1,2020-01\n",
            "a,b\nx,y\n",
            "Month,a\n",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("has no column"), "{text}: {error}");
        }
    }
}
