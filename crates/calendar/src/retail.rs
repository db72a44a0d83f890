//! Retail years of whole weeks, their quarters of 13 weeks and months of 4 and 5.

use std::fmt;

use jiff::civil::Date;

use super::days::{date_of, days_to};
use super::months::MONTHS;
use super::workdays::WEEKDAYS;

/// Years that end on a weekday near or before the end of a month, as pandas' FY5253; they have 52 or 53 weeks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Retail {
    part: Part,
    /// The weekday nearest to the end of the month; else the last one in it.
    nearest: bool,
    /// The month, from 1 on, and the weekday, from Monday = 0.
    month: u8,
    weekday: u8,
    /// Whether times are first days; else last days.
    start: bool,
}

/// The unit of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Year,
    /// The quarter, from 1 on, that has the 53rd week.
    Quarter(u8),
    /// Weeks of the months of a quarter; the last month of the year has the 53rd week.
    Month([u8; 3]),
}

impl Retail {
    /// Whether times are first days; else last days.
    pub(super) fn is_start(self) -> bool {
        self.start
    }

    /// Reads `E-N-JAN-SAT` (years), `EQ-N-JAN-SAT-4` (quarters, and which one has the 53rd week) or `EM-N-JAN-SAT-445`
    /// (months); with `S` in place of the first `E` the times are first days.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let mut parts = word.split('-');
        let (edge, part) = parts.next()?.split_at_checked(1)?;
        let nearest = matches!(parts.next()?, "N" | "n");
        let among =
            |names: &[&str], name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let (month, weekday) = (among(&MONTHS, parts.next()?)?, among(&WEEKDAYS, parts.next()?)?);
        let part = match (part, parts.next()) {
            ("", None) => Part::Year,
            ("Q", Some(number @ ("1" | "2" | "3" | "4"))) => Part::Quarter(number.parse().ok()?),
            ("M", Some("445")) => Part::Month([4, 4, 5]),
            ("M", Some("454")) => Part::Month([4, 5, 4]),
            ("M", Some("544")) => Part::Month([5, 4, 4]),
            _ => return None,
        };
        let known =
            matches!(edge, "E" | "S") && matches!(word.split('-').nth(1), Some("N" | "n" | "L" | "l"));
        let retail =
            Self { part, nearest, month: month as u8 + 1, weekday: weekday as u8, start: edge == "S" };
        (known && parts.next().is_none()).then_some(retail)
    }

    /// The calendars whose months follow each other on all of these days, of which there are two at least. Several do where no year among
    /// them has a 53rd week; the nearest weekday and the first months of the year come first.
    pub(crate) fn months_on(days: &[i64]) -> Vec<Self> {
        const PATTERNS: [[u8; 3]; 3] = [[4, 4, 5], [4, 5, 4], [5, 4, 4]];
        let Some(&first) = days.first() else { return Vec::new() };
        let follows = |retail: &Self| {
            let floor = retail.floor(first);
            floor.is_some_and(|floor| (floor..).zip(days).all(|(index, day)| retail.day(index) == Some(*day)))
        };
        let of = |start: bool, nearest: bool, month: u8, weeks: [u8; 3]| {
            // Monday = 0; 1970-01-01 was a Thursday.
            let weekday = (first - i64::from(start) + 3).rem_euclid(7) as u8;
            Self { part: Part::Month(weeks), nearest, month, weekday, start }
        };
        let all = [false, true].into_iter().flat_map(|start| {
            [true, false].into_iter().flat_map(move |nearest| {
                (1..=12).flat_map(move |month| PATTERNS.map(|weeks| (start, nearest, month, weeks)))
            })
        });
        all.map(|(start, nearest, month, weeks)| of(start, nearest, month, weeks)).filter(follows).collect()
    }

    /// Steps of a year.
    pub(crate) fn per_year(self) -> i64 {
        match self.part {
            Part::Year => 1,
            Part::Quarter(_) => 4,
            Part::Month(_) => 12,
        }
    }

    /// The last day of the retail year that ends in or next to that month of `year`, in days since 1970-01-01.
    fn year_end(self, year: i64) -> Option<i64> {
        let last = days_to(Date::new(i16::try_from(year).ok()?, self.month as i8, 1).ok()?.last_of_month());
        let after = (last + 3 - i64::from(self.weekday)).rem_euclid(7);
        Some(if self.nearest && after > 3 { last - after + 7 } else { last - after })
    }

    /// The last day of a step.
    fn end(self, index: i64) -> Option<i64> {
        let (year, part) = (index.div_euclid(self.per_year()), index.rem_euclid(self.per_year()));
        let (before, end) = (self.year_end(year.checked_sub(1)?)?, self.year_end(year)?);
        let long = end - before > 52 * 7;
        let weeks = match self.part {
            Part::Year => return Some(end),
            Part::Quarter(longest) => 13 * (part + 1) + i64::from(long && part + 1 >= i64::from(longest)),
            Part::Month(weeks) => {
                let months = &weeks[..=(part % 3) as usize];
                13 * (part / 3)
                    + months.iter().map(|weeks| i64::from(*weeks)).sum::<i64>()
                    + i64::from(long && part == 11)
            }
        };
        Some(before + 7 * weeks)
    }

    /// The day of a step, in days since 1970-01-01.
    pub(crate) fn day(self, index: i64) -> Option<i64> {
        if self.start { Some(self.end(index.checked_sub(1)?)? + 1) } else { self.end(index) }
    }

    /// Number of the last step whose day is not after `day`.
    pub(crate) fn floor(self, day: i64) -> Option<i64> {
        let year = i64::from(date_of(day)?.year());
        let mut index = (year + 2) * self.per_year();
        while self.day(index)? > day {
            index -= 1;
        }
        Some(index)
    }
}

/// As it is read.
impl fmt::Display for Retail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edge = if self.start { "S" } else { "E" };
        let variation = if self.nearest { "N" } else { "L" };
        let (month, weekday) = (MONTHS[self.month as usize - 1], WEEKDAYS[self.weekday as usize]);
        match self.part {
            Part::Year => write!(f, "{edge}-{variation}-{month}-{weekday}"),
            Part::Quarter(longest) => write!(f, "{edge}Q-{variation}-{month}-{weekday}-{longest}"),
            Part::Month([a, b, c]) => write!(f, "{edge}M-{variation}-{month}-{weekday}-{a}{b}{c}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendars_are_known_by_their_months() {
        for name in ["EM-N-JAN-SAT-445", "EM-L-DEC-SUN-454", "SM-N-JAN-SAT-544", "EM-N-SEP-FRI-445"] {
            let retail = Retail::parse(name).expect(name);
            // From the spring of 2021 on, a year of 52 weeks and six with one of 53.
            let days = |rows: i64| -> Vec<i64> {
                let first = 12 * 2021 + 3;
                (first..first + rows).map(|index| retail.day(index).expect("a day")).collect()
            };
            let (few, many) = (Retail::months_on(&days(12)), Retail::months_on(&days(75)));
            assert!(few.contains(&retail) && many.contains(&retail), "{name}: {few:?}");
            assert!(
                many.len() < few.len(),
                "{name}: a 53rd week tells them apart, {} {}",
                few.len(),
                many.len()
            );
            let next = retail.day(12 * 2021 + 3 + 75);
            let all_agree = many.iter().all(|other| {
                let first = other.floor(days(1)[0]).expect("a step");
                other.day(first + 75) == next
            });
            assert!(all_agree, "{name}");
        }
        // A month of four weeks too many.
        assert_eq!(Retail::months_on(&[0, 28, 56, 84, 112]), []);
        assert_eq!(Retail::months_on(&[]), []);
    }
}
