//! The public holidays of countries.
//!
//! They are in a table that is a part of the program. `compare/holiday_table.py` writes it from the PyPI package `holidays`, and
//! says how it is laid out. A country's part is read when it is asked for.

use foretell_data::jiff::ToSpan as _;
use foretell_data::jiff::civil::{Date, date};

const TABLE: &[u8] = include_bytes!("../data/holidays.bin");

/// Days are counted from this one.
const FIRST: Date = date(1990, 1, 1);

/// A holiday of one year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holiday {
    /// The day.
    pub date: Date,
    /// Its name, in English where the source has one, and with `(observed)` where it is a day off in place of another day.
    pub name: &'static str,
}

/// The public holidays of a country from 1990 to 2050, in order of dates; nothing if the country is not known. Countries are
/// named by the two letters of ISO 3166, in any case. Holidays of parts of a country are not among them.
///
/// ```
/// let germany = foretell_features::holidays("DE").expect("a country");
/// let christmas = germany.iter().find(|holiday| holiday.date.to_string() == "2024-12-25");
/// assert_eq!(christmas.expect("a holiday").name, "Christmas Day");
/// ```
pub fn holidays(country: &str) -> Option<Vec<Holiday>> {
    let mut table = Bytes(TABLE);
    let names: Vec<&'static str> = (0..table.number()).map(|_| table.name()).collect();
    let mut section = sections(table).find(|(code, _)| code.eq_ignore_ascii_case(country))?.1;
    let mut found = Vec::new();
    while !section.0.is_empty() {
        let name = names[section.number()];
        let (days, first) = (section.number(), section.number());
        let first = FIRST.saturating_add((first as i64).days());
        let (yearly, days) = (days & 1 == 1, days / 2);
        let mut date = first;
        for year in 0..days {
            if year > 0 {
                date = match yearly {
                    true => first.saturating_add((year as i64).years()),
                    false => date.saturating_add((365 + section.signed()).days()),
                };
            }
            found.push(Holiday { date, name });
        }
    }
    found.sort_by_key(|holiday| holiday.date);
    Some(found)
}

/// The countries that [`holidays`] knows, by their letters, in alphabetic order.
pub fn countries() -> Vec<&'static str> {
    let mut table = Bytes(TABLE);
    for _ in 0..table.number() {
        table.name();
    }
    sections(table).map(|(code, _)| code).collect()
}

/// The letters and the bytes of each country, from their number on.
fn sections(mut table: Bytes) -> impl Iterator<Item = (&'static str, Bytes)> {
    let count = table.number();
    (0..count).map(move |_| {
        let code = text(table.take(2));
        let len = table.number();
        (code, Bytes(table.take(len)))
    })
}

/// What is left to be read of the table.
#[derive(Clone, Copy)]
struct Bytes(&'static [u8]);

impl Bytes {
    fn take(&mut self, count: usize) -> &'static [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    /// A number in LEB128.
    fn number(&mut self) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.take(1)[0];
            number |= usize::from(byte & 127) << shift;
            if byte < 128 {
                return number;
            }
            shift += 7;
        }
    }

    /// A number with its sign in the lowest bit.
    fn signed(&mut self) -> i64 {
        let number = self.number() as i64;
        if number & 1 == 1 { -(number + 1) / 2 } else { number / 2 }
    }

    fn name(&mut self) -> &'static str {
        let len = self.number();
        text(self.take(len))
    }
}

fn text(bytes: &'static [u8]) -> &'static str {
    std::str::from_utf8(bytes).expect("the table is text, which a test reads as a whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table_is_read() {
        let all = countries();
        assert!(all.len() > 200 && all.is_sorted());
        for country in all {
            let found = holidays(country).expect("a country");
            assert!(!found.is_empty(), "{country}");
            let years = 1990..=2050;
            assert!(found.iter().all(|holiday| years.contains(&holiday.date.year())), "{country}");
            assert!(found.iter().all(|holiday| !holiday.name.is_empty()), "{country}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendars() {
        let on = |country: &str, day: &str| -> Vec<&str> {
            let found = holidays(country).expect("a country");
            found
                .iter()
                .filter(|holiday| holiday.date.to_string() == day)
                .map(|holiday| holiday.name)
                .collect()
        };
        assert_eq!(on("de", "2024-04-01"), ["Easter Monday"]);
        assert_eq!(on("US", "2024-11-28"), ["Thanksgiving Day"]);
        assert_eq!(on("US", "2021-07-05"), ["Independence Day (observed)"]);
        assert_eq!(on("GB", "2012-06-05"), ["Diamond Jubilee of Elizabeth II"]);
        assert_eq!(on("TR", "2024-04-10"), ["Eid al-Fitr"]);
        assert_eq!(on("DE", "1991-10-03"), ["German Unity Day"]);
        assert!(on("FR", "2024-07-15").is_empty());
        assert_eq!(holidays("XX"), None);
    }
}
