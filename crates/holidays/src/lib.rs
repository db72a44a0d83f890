//! Public holidays of 247 countries and territories, 1990 to 2050, in a table of 70 KB.
//!
//! The dates are those of the Python package `holidays` 0.109 (MIT licence), nationwide and public, by their English names;
//! `compare/holiday_tables.py` wrote them. Holidays by the moon are estimates where they are not yet proclaimed, and what laws
//! changed after the package was released is not in it.
//!
//! ```
//! let holidays = foretell_holidays::of_country("DE")?;
//! let unity = holidays.iter().find(|holiday| holiday.name == "German Unity Day").expect("it is one");
//! assert_eq!((unity.dates.len(), unity.dates[0].to_string()), (60, "1991-10-03".to_owned()));
//! let slip = foretell_holidays::of_country("XX").expect_err("no country").to_string();
//! assert!(slip.contains("two letters of ISO 3166"));
//! # Ok::<(), foretell_holidays::UnknownCountry>(())
//! ```
#![forbid(unsafe_code)]

mod table;

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use jiff::civil::Date;

use crate::table::Table;

/// The years whose holidays are known; in others there are none.
pub const YEARS: RangeInclusive<i16> = 1990..=2050;

/// A holiday of a country.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountryHoliday {
    /// Its English name.
    pub name: String,
    /// Its dates from 1990 to 2050, in order.
    pub dates: Vec<Date>,
}

/// A country that is not in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "country {found:?} has no holidays here; give the two letters of ISO 3166, such as US, DE or BR ({count} countries and \
     territories have some)"
)]
#[non_exhaustive]
pub struct UnknownCountry {
    /// The code that is not known.
    pub found: String,
    /// How many there are.
    pub count: usize,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::read);

/// The codes of all countries and territories, sorted.
pub fn countries() -> impl ExactSizeIterator<Item = &'static str> {
    TABLE.countries.keys().map(String::as_str)
}

/// The holidays of a country, by its two letters of ISO 3166, in any case.
///
/// # Errors
/// If there is no such country.
pub fn of_country(code: &str) -> Result<Vec<CountryHoliday>, UnknownCountry> {
    let unknown = || UnknownCountry { found: code.to_owned(), count: TABLE.countries.len() };
    let holidays = TABLE.countries.get(&code.to_ascii_uppercase()).ok_or_else(unknown)?;
    let holiday = |&[name, sequence]: &[usize; 2]| CountryHoliday {
        name: TABLE.names[name].clone(),
        dates: TABLE.sequences[sequence].clone(),
    };
    Ok(holidays.iter().map(holiday).collect())
}

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    /// The dates of a holiday.
    fn dates(country: &str, name: &str) -> Vec<String> {
        let holidays = of_country(country).expect("a country");
        let found = holidays.iter().find(|holiday| holiday.name == name);
        found
            .unwrap_or_else(|| panic!("{name} in {holidays:?}"))
            .dates
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn known_days_are_found() {
        let has = |country: &str, name: &str, day: &str| {
            assert!(dates(country, name).iter().any(|date| date == day), "{country} {name} {day}");
        };
        has("US", "Thanksgiving Day", "2024-11-28");
        has("US", "Independence Day (observed)", "2021-07-05");
        has("us", "Juneteenth National Independence Day", "2021-06-19");
        has("GB", "Christmas Day", "2030-12-25");
        has("FR", "Easter Monday", "2025-04-21");
        has("CN", "Chinese New Year (Spring Festival)", "2024-02-10");
        has("BR", "Good Friday", "2000-04-21");
        assert!(dates("US", "Juneteenth National Independence Day").len() < 31);
    }

    #[test]
    fn new_year_is_known_in_the_first_and_the_last_year() {
        let new_year = dates("US", "New Year's Day");
        assert_eq!(new_year.first(), Some(&format!("{}-01-01", YEARS.start())));
        assert_eq!(new_year.last(), Some(&format!("{}-01-01", YEARS.end())));
    }

    #[test]
    fn every_country_has_days_in_order_within_the_years() {
        assert_eq!(countries().len(), 247);
        for country in countries() {
            for CountryHoliday { name, dates } in of_country(country).expect("it is listed") {
                assert!(!name.is_empty() && !dates.is_empty(), "{country} {name}");
                assert!(dates.windows(2).all(|pair| pair[0] < pair[1]), "{country} {name}");
                assert!(dates.iter().all(|date| YEARS.contains(&date.year())), "{country} {name}");
            }
        }
    }
}
