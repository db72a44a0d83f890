//! Dates and hours of times.

/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// A time on a civil clock, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CivilTime {
    /// Days since 1970-01-01.
    pub(crate) date: i64,
    pub(crate) year: i32,
    /// From 1 on, as all that follow but the hour.
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) day_of_year: u16,
    pub(crate) hour: u8,
}

impl CivilTime {
    /// The time at midnight of a day, counted from 1970-01-01.
    ///
    /// March begins the years that are counted here, so that a leap day is the last of its year
    /// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
    fn of_date(date: i64) -> Self {
        let shifted = date + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * from_march + 2) / 153;
        let day = from_march - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        // 31 + 28 days, and 29 February, stand before 1 March.
        let day_of_year =
            if month > 2 { from_march + 60 + i64::from(is_leap(year)) } else { from_march - 305 };
        Self {
            date,
            year: year as i32,
            month: month as u8,
            day: day as u8,
            day_of_year: day_of_year as u16,
            hour: 0,
        }
    }

    /// Monday is 0.
    pub(crate) fn weekday(&self) -> i64 {
        (self.date + 3).rem_euclid(7)
    }

    /// The week of ISO 8601: that of a year's first Thursday is the first.
    pub(crate) fn week(&self) -> u16 {
        let thursday = Self::of_date(self.date - self.weekday() + 3);
        (thursday.day_of_year - 1) / 7 + 1
    }

    pub(crate) fn quarter(&self) -> u8 {
        (self.month - 1) / 3 + 1
    }

    /// Whether the next day is of another month.
    pub(crate) fn ends_month(&self) -> bool {
        let days = match self.month {
            2 => 28 + u8::from(is_leap(self.year.into())),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        self.day == days
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Takes times apart, microseconds since 1970-01-01 on a civil clock. Rows of the same day share the work for its date.
pub(crate) fn civil_times(times: &[i64], out: &mut Vec<CivilTime>) {
    let mut last = CivilTime::of_date(0);
    out.extend(times.iter().map(|&time| {
        let date = time.div_euclid(DAY);
        if date != last.date {
            last = CivilTime::of_date(date);
        }
        CivilTime { hour: (time.rem_euclid(DAY) / (DAY / 24)) as u8, ..last }
    }));
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{jiff::ToSpan as _, jiff::civil::Date, jiff::civil::date};

    use super::*;

    #[test]
    fn dates_are_those_of_jiff() {
        let epoch = date(1970, 1, 1);
        let (mut day, mut number) = (date(1899, 12, 30), -25_569);
        while day < date(2101, 1, 2) {
            let found = CivilTime::of_date(number);
            assert_eq!((day - epoch).get_days(), number as i32, "{day}");
            assert_eq!(date(found.year as i16, found.month as i8, found.day as i8), day);
            assert_eq!(i64::from(found.day_of_year), i64::from(day.day_of_year()), "{day}");
            assert_eq!(found.weekday(), i64::from(day.weekday().to_monday_zero_offset()), "{day}");
            assert_eq!(found.week(), day.iso_week_date().week() as u16, "{day}");
            assert_eq!(found.ends_month(), day == day.last_of_month(), "{day}");
            (day, number) = (day.checked_add(1.day()).expect("a day"), number + 1);
        }
        assert_eq!(CivilTime::of_date(-4_371_587).year, i32::from(Date::MIN.year()));
    }

    #[test]
    fn hours_are_of_the_day() {
        let mut found = Vec::new();
        civil_times(&[-1, 0, 23 * DAY / 24, DAY], &mut found);
        let hours: Vec<(i64, u8)> = found.iter().map(|time| (time.date, time.hour)).collect();
        assert_eq!(hours, [(-1, 23), (0, 0), (0, 23), (1, 0)]);
    }
}
