//! A table of two columns, whatever they are called: one holds times, and the other the target.

use super::column_signs::{holds_number, is_called_time};
use super::options::ReadOptions;
use crate::error::DataError;
use foretell_calendar::{Clock, TimeKind, readings::formats};
use foretell_tables::TableReader;

/// The two columns of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) time: usize,
    pub(super) target: usize,
    /// Whether the table stands on its first row, which was looked at.
    pub(super) at_row: bool,
}

impl ReadOptions {
    /// The columns of a table that has two, none of them ids: the times are in the one that is named, or beside the target that
    /// is named; else in the one that holds dates, or else no number.
    pub(super) fn unnamed_pair(&self, table: &mut dyn TableReader) -> Result<Option<Pair>, DataError> {
        let columns: Vec<usize> =
            (0..table.header().len()).filter(|&column| !table.header()[column].is_empty()).collect();
        let &[first, second] = &columns[..] else { return Ok(None) };
        if self.id_col != Self::default().id_col || table.find(&self.id_col).is_some() {
            return Ok(None);
        }
        let pair = |time: usize, at_row: bool| {
            let target = if time == first { second } else { first };
            Some(Pair { time, target, at_row })
        };
        match [table.find(self.time_name()), table.find(&self.target_col)] {
            [Some(time), None] => return Ok(pair(time, false)),
            [None, Some(target)] if self.time_col.is_none() => {
                return Ok(pair(if target == first { second } else { first }, false));
            }
            [None, None] if self.time_col.is_none() && self.target_col == Self::default().target_col => {}
            _ => return Ok(None),
        }
        if !table.advance()? {
            return Ok(None);
        }
        let is_time = |column: usize| {
            let (format, zone) = (self.time_format.clone(), self.zone.clone());
            let mut clock = Clock::new(format, zone, self.locale);
            table.time(column, &mut clock).is_ok() && clock.kind == Some(TimeKind::Timestamp)
        };
        // A date that is written in a way that someone must name, a name, and what is no number.
        let may_be_time = |column: usize| !formats(&table.shown(column)).is_empty();
        let is_called = |column: usize| is_called_time(&table.header()[column]);
        let is_text = |column: usize| !holds_number(table.number_or_truth(column));
        let only = |is: &dyn Fn(usize) -> bool| match [first, second].map(is) {
            [true, false] => Some(first),
            [false, true] => Some(second),
            _ => None,
        };
        let time = only(&is_time).or_else(|| only(&may_be_time)).or_else(|| only(&is_called));
        Ok(time.or_else(|| only(&is_text)).and_then(|time| pair(time, true)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    fn read(text: &str) -> Result<Panel, crate::error::DataError> {
        Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::default())
    }

    #[test]
    fn two_columns_are_a_time_and_a_value() {
        for text in [
            "Month,Passengers\n1949-01,112\n1949-02,118\n1949-03,132\n",
            "Passengers,Month\n112,1949-01\n118,1949-02\n132,1949-03\n",
            "ds,Passengers\n1,112\n2,118\n3,132\n",
        ] {
            let panel = read(text).unwrap();
            assert_eq!((&**panel.id(0), panel.y(0)), ("Passengers", &[112.0, 118.0, 132.0][..]), "{text}");
        }
        let panel = read("y,Step\n112,1\n118,2\n132,3\n").unwrap();
        assert_eq!((&**panel.id(0), panel.y(0)), ("y", &[112.0, 118.0, 132.0][..]));
        // Dates that may be read in two ways.
        let error = read("day,sales\n01.02.2024,1\n02.02.2024,3\n").unwrap_err().to_string();
        assert!(error.contains("column `day`: \"01.02.2024\" is not a time"), "{error}");
        for (text, expected) in [
            (
                "Datum;Umsatz\n13.01.2024;1.000,50\n14.01.2024;1.010,50\n",
                "column `Umsatz`: \"1.000,50\" has marks between its thousands",
            ),
            (
                "Sales,Date\n\"1,000\",1/13/2024\n\"1,010\",1/14/2024\n",
                "column `Sales`: \"1,000\" has a comma with three digits",
            ),
            (
                "Year,Pop\n2020,100\n2021,101\n2022,102\n",
                "column `Year`: all times are integers that look like dates",
            ),
            (
                "ts,v\n1672531200000,1\n1672534800000,2\n1672538400000,3\n",
                "column `ts`: all times are integers",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for text in ["a,b\n1,2\n3,4\n5,6\n", "Month,y2,x\n2020-01,1,2\n", "a,b\nx,y\n", "Month,a\n"] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("has no column"), "{text}: {error}");
        }
    }
}
