//! The days that a row stands for, of frequencies whose steps are longer than a day: those of its week, month, ...

use std::ops::Range;

use super::days::{DAY, date_of, days_to};
use super::freq::Freq;
use super::months::Edge;
use super::unit::Unit;

impl Freq {
    /// Whether its steps are longer than a day, so that a row stands for several days.
    pub fn is_coarser_than_days(self) -> bool {
        match self.unit {
            Unit::Integer | Unit::Hours(_) => false,
            Unit::Fixed(_) => self.fixed().is_some_and(|step| step > DAY && step % DAY == 0),
            Unit::Workdays(_) => self.multiple > 1,
            Unit::Week(_) | Unit::Months { .. } | Unit::SemiMonths { .. } | Unit::Retail(_) => true,
        }
    }

    /// Whether a row has the name of the last of its days, as in pandas: of weeks and of the ends of months, quarters and years; else that
    /// of the first.
    pub fn names_last_days(self) -> bool {
        match self.unit {
            Unit::Week(_) => true,
            Unit::Months { edge, .. } => edge.is_end(),
            Unit::SemiMonths { end, .. } => end,
            Unit::Retail(retail) => !retail.is_start(),
            Unit::Integer | Unit::Fixed(_) | Unit::Workdays(_) | Unit::Hours(_) => false,
        }
    }

    /// Whether rows could as well have the name of the other end of their days, as weeks that begin on the day of their row: those of the
    /// calendar's months could not.
    pub fn leaves_ends_open(self) -> bool {
        self.is_coarser_than_days() && matches!(self.unit, Unit::Week(_) | Unit::Fixed(_) | Unit::Workdays(_))
    }

    /// The days, since 1970-01-01, that the row of a day stands for: itself and those after the row before, where `is_last` is the last of
    /// them; else itself and those before the next row. The day alone where steps are no longer.
    pub fn days_of_row(self, day: i64, is_last: bool) -> Range<i64> {
        let alone = day..day.saturating_add(1);
        let row = |n: i64| Some(self.next(day.checked_mul(DAY)?, n)?.div_euclid(DAY));
        let days = || match is_last {
            true => Some(self.whole(row(-1)?)? + 1..self.whole(day)? + 1),
            false => Some(self.whole(day)?..self.whole(row(1)?)?),
        };
        self.is_coarser_than_days().then(days).flatten().unwrap_or(alone)
    }

    /// The first or last day of the month of a business day that stands for it.
    fn whole(self, day: i64) -> Option<i64> {
        let Unit::Months { edge, .. } = self.unit else { return Some(day) };
        match edge {
            Edge::Start | Edge::End => Some(day),
            Edge::BusinessStart => Some(days_to(date_of(day)?.first_of_month())),
            Edge::BusinessEnd => Some(days_to(date_of(day)?.last_of_month())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeKind;

    fn days(freq: &str, row: &str) -> [String; 2] {
        let freq = Freq::parse(freq).unwrap();
        let day = TimeKind::Timestamp.parse(row).unwrap().div_euclid(DAY);
        let days = freq.days_of_row(day, freq.names_last_days());
        [days.start, days.end - 1].map(|day| TimeKind::Timestamp.display(day * DAY))
    }

    #[test]
    fn rows_stand_for_the_days_of_their_period() {
        for (freq, row, expected) in [
            ("D", "2024-12-25", ["2024-12-25", "2024-12-25"]),
            ("h", "2024-12-25 13:00", ["2024-12-25", "2024-12-25"]),
            ("B", "2024-12-27", ["2024-12-27", "2024-12-27"]),
            ("W-SUN", "2024-12-29", ["2024-12-23", "2024-12-29"]),
            ("2W-SUN", "2024-12-29", ["2024-12-16", "2024-12-29"]),
            ("7D", "2024-12-23", ["2024-12-23", "2024-12-29"]),
            ("5B", "2024-12-23", ["2024-12-23", "2024-12-29"]),
            ("MS", "2024-12-01", ["2024-12-01", "2024-12-31"]),
            ("ME", "2024-02-29", ["2024-02-01", "2024-02-29"]),
            ("BMS", "2023-01-02", ["2023-01-01", "2023-01-31"]),
            ("BME", "2022-12-30", ["2022-12-01", "2022-12-31"]),
            ("SMS-15", "2024-12-15", ["2024-12-15", "2024-12-31"]),
            ("SME-15", "2024-12-15", ["2024-12-01", "2024-12-15"]),
            ("QS-JAN", "2024-10-01", ["2024-10-01", "2024-12-31"]),
            ("QE-DEC", "2024-12-31", ["2024-10-01", "2024-12-31"]),
            ("YE-DEC", "2024-12-31", ["2024-01-01", "2024-12-31"]),
            ("REQ-L-DEC-SUN-4", "2022-12-25", ["2022-09-26", "2022-12-25"]),
        ] {
            assert_eq!(days(freq, row), expected, "{freq}");
        }
        let week = Freq::parse("W-MON").unwrap();
        let monday = TimeKind::Timestamp.parse("2024-12-23").unwrap() / DAY;
        assert_eq!(week.days_of_row(monday, false), monday..monday + 7, "weeks that begin with it");
        assert!(week.leaves_ends_open() && !Freq::parse("MS").unwrap().leaves_ends_open());
    }
}
