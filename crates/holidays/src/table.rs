//! The table as `compare/holiday_tables.py` wrote it: text, deflated.
//!
//! Lines of names; a blank line; lines of sequences of dates, which countries share; a blank line; of each country a line of its
//! code, then lines of a name and a sequence by their numbers. A date is the years since the one before (1990 at first), where
//! that is not 1, and the change of `32 * month + day`, with its sign, where it is not 0: Christmas is `+409,,,,`.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::DeflateDecoder;
use jiff::civil::Date;

const DEFLATED: &[u8] = include_bytes!("../tables/holidays.deflate");

/// The year from which years are counted.
const FIRST_YEAR: i16 = 1989;

/// Holidays of all countries.
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) sequences: Vec<Vec<Date>>,
    /// A name and a sequence of each holiday, by the country's code.
    pub(crate) countries: BTreeMap<String, Vec<[usize; 2]>>,
}

impl Table {
    /// Reads what the crate carries, which its tests have read.
    pub(crate) fn read() -> Self {
        let mut text = String::new();
        DeflateDecoder::new(DEFLATED).read_to_string(&mut text).expect("the table was deflated from text");
        let mut parts = text.split("\n\n");
        let mut part = || parts.next().expect("the table has three parts").lines();
        let (names, sequences, lines) = (part(), part(), part());
        let mut countries: BTreeMap<String, Vec<[usize; 2]>> = BTreeMap::new();
        let mut code = "";
        for line in lines {
            match line.split_once(' ') {
                None => code = line,
                Some((name, sequence)) => {
                    let number = |text: &str| text.parse().expect("numbers of lines");
                    countries.entry(code.to_owned()).or_default().push([number(name), number(sequence)]);
                }
            }
        }
        Self {
            names: names.map(str::to_owned).collect(),
            sequences: sequences.map(dates).collect(),
            countries,
        }
    }
}

/// The dates of a sequence.
fn dates(line: &str) -> Vec<Date> {
    let (mut year, mut day) = (FIRST_YEAR, 0);
    let next = |date: &str| {
        let (years, change) = date.split_at(date.find(['+', '-']).unwrap_or(date.len()));
        let number = |text: &str, otherwise: i16| {
            if text.is_empty() { otherwise } else { text.parse().expect("a number") }
        };
        year += number(years, 1);
        day += number(change, 0);
        Date::new(year, (day / 32) as i8, (day % 32) as i8).expect("a date")
    };
    line.split(',').map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_repeats_and_moves() {
        let shown = |line: &str| dates(line).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown("+409,,"), ["1990-12-25", "1991-12-25", "1992-12-25"]);
        assert_eq!(shown("11+35,0+1,-2"), ["2000-01-03", "2000-01-04", "2001-01-02"]);
    }
}
