//! Periods that steps add up to.

use std::fmt;

use foretell::{Freq, Zone};

use super::error::TemporalError;

/// Periods tried, so that those of different lengths, as months of days, are found.
const TRIED: i64 = 24;

/// Microseconds.
pub(super) const DAY: i64 = 86_400_000_000;

/// The longest period, in steps.
const MOST: usize = 1_000_000;

/// A period that steps add up to: a number of steps, or a frequency.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Period {
    Steps(usize),
    Freq(String, Freq),
}

impl Period {
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.trim().parse::<usize>() {
            Ok(steps) => (2..=MOST).contains(&steps).then_some(Self::Steps(steps)),
            Err(_) => Some(Self::Freq(text.trim().to_owned(), Freq::parse(text.trim()).ok()?)),
        }
    }

    /// Its steps of this frequency, as many in each.
    pub(super) fn steps(&self, freq: Freq) -> Result<usize, TemporalError> {
        let [least, most] = self.least_and_most(freq)?;
        match least == most {
            true => Ok(least),
            false => Err(TemporalError::Varying { period: self.to_string(), least, most, freq }),
        }
    }

    /// How steps of this frequency make it up, be they as many in each or as many as the calendar has.
    pub(super) fn parts(&self, freq: Freq, zone: Option<&Zone>) -> Result<Parts, TemporalError> {
        let calendar = match self {
            Self::Steps(_) => None,
            Self::Freq(_, period) => CalendarPeriod::of(*period),
        };
        // Where clocks are changed a day has other hours than 24.
        match (self.least_and_most(freq)?, calendar) {
            ([least, most], None) if least < most => Err(self.fault(format!(
                "it has {least} to {most} steps of {freq}, and neither begins nor ends with each month, quarter or year"
            ))),
            ([least, most], Some(calendar)) if least < most || zone.is_some() => Ok(Parts::Calendar(calendar)),
            ([steps, _], _) => Ok(Parts::Steps(steps)),
        }
    }

    /// The least and the most steps of this frequency that it has.
    fn least_and_most(&self, freq: Freq) -> Result<[usize; 2], TemporalError> {
        let period = match self {
            Self::Steps(steps) => return Ok([*steps; 2]),
            Self::Freq(_, period) => *period,
        };
        if freq.kind() != period.kind() {
            return Err(self.fault(format!("steps of {freq} are no times of a calendar")));
        }
        let counts: Vec<usize> = (1..=TRIED).filter_map(|n| steps_between(freq, period, n)).collect();
        match (counts.iter().min(), counts.iter().max()) {
            (Some(&least), Some(&most)) if counts.len() == TRIED as usize && least >= 2 => Ok([least, most]),
            _ => Err(self.fault(format!("it is no whole number of steps of {freq}"))),
        }
    }

    fn fault(&self, reason: String) -> TemporalError {
        TemporalError::Period { period: self.to_string(), reason }
    }
}

/// How steps make up a period.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parts {
    /// As many in each, from the first of a forecast on.
    Steps(usize),
    /// Those of a calendar's day, month, quarter or year.
    Calendar(CalendarPeriod),
}

/// A frequency of days, or one that has a day at the beginning or at the end of months: the times on civil clocks from one to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct CalendarPeriod {
    freq: Freq,
    /// From the day of the frequency to the first of its period.
    shift: i64,
}

impl CalendarPeriod {
    fn of(freq: Freq) -> Option<Self> {
        let [day, month] = ["D", "MS"].map(|word| Freq::parse(word).ok());
        let is_first = |time: i64| month.and_then(|month| month.next(time - DAY, 1)) == Some(time);
        let days: Vec<i64> = (1..=TRIED).map(|n| freq.next(0, n)).collect::<Option<_>>()?;
        let shift = match () {
            () if Some(freq) == day || days.iter().all(|&time| is_first(time)) => 0,
            () if days.iter().all(|&time| is_first(time + DAY)) => DAY,
            () => return None,
        };
        let found = Self { freq, shift };
        // Several at a time would begin anywhere.
        let ends = |&time: &i64| found.end(time).is_some_and(|end| found.end(end - DAY) == Some(end));
        days.iter().all(ends).then_some(found)
    }

    /// Where the period of a time ends and the next one begins.
    pub(super) fn end(self, time: i64) -> Option<i64> {
        let day = time.div_euclid(DAY) * DAY;
        self.freq.next(day - self.shift, 1)?.checked_add(self.shift)
    }
}

/// The steps from the period's `n`th beginning to the next one; nothing if no step ends there.
fn steps_between(freq: Freq, period: Freq, n: i64) -> Option<usize> {
    let first = period.next(0, n)?;
    let next = period.next(first, 1)?;
    // The period is bisected: times rise with steps.
    let (mut low, mut high) = (0_i64, MOST as i64);
    while low < high {
        let middle = (low + high) / 2;
        match freq.next(first, middle).is_none_or(|time| time >= next) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    (freq.next(first, low)? == next).then_some(low as usize)
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(steps) => write!(f, "{steps}"),
            Self::Freq(text, _) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell::TimeKind;

    use super::*;

    #[test]
    fn periods_are_counted_in_steps() {
        let steps = |period: &str, freq: &str| {
            Period::parse(period)
                .unwrap()
                .steps(Freq::parse(freq).unwrap())
                .map_err(|error| error.to_string())
        };
        for (period, freq, expected) in [
            ("24", "h", 24),
            ("24h", "h", 24),
            ("D", "h", 24),
            ("W", "D", 7),
            ("7D", "h", 168),
            ("h", "15min", 4),
            ("QS", "MS", 3),
            ("YS", "MS", 12),
            ("YE", "QE", 4),
        ] {
            assert_eq!(steps(period, freq), Ok(expected), "{period} of {freq}");
        }
        let refused = |period: &str, freq: &str| steps(period, freq).unwrap_err();
        assert!(refused("MS", "D").contains("it has 28 to 31 steps of D"), "{}", refused("MS", "D"));
        assert!(refused("h", "D").contains("no whole number"), "{}", refused("h", "D"));
        assert!(refused("D", "1").contains("no times of a calendar"), "{}", refused("D", "1"));
        assert!(refused("MS", "W").contains("no whole number"), "{}", refused("MS", "W"));
        for wrong in ["1", "0", "-3", "", "hours of a day"] {
            assert_eq!(Period::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn months_have_the_days_of_the_calendar() {
        let parts =
            |period: &str, freq: &str| Period::parse(period).unwrap().parts(Freq::parse(freq).unwrap(), None);
        let time = |text: &str| TimeKind::Timestamp.parse(text).unwrap();
        for (period, freq, expected) in [
            ("MS", "D", ["2024-02-01", "2024-02-01", "2024-03-01"]),
            ("ME", "h", ["2024-02-01", "2024-02-01", "2024-03-01"]),
            ("QE", "D", ["2024-04-01"; 3]),
            ("YS", "D", ["2025-01-01"; 3]),
        ] {
            let Ok(Parts::Calendar(calendar)) = parts(period, freq) else {
                panic!("{period} of {freq}");
            };
            for (day, expected) in ["2024-01-01", "2024-01-31", "2024-02-01"].into_iter().zip(expected) {
                assert_eq!(calendar.end(time(day)), Some(time(expected)), "{period} of {freq}: {day}");
            }
        }
        assert!(matches!(parts("24h", "h"), Ok(Parts::Steps(24))));
        assert!(matches!(parts("YS", "MS"), Ok(Parts::Steps(12))));
        for several in ["2MS", "BMS"] {
            let error = parts(several, "D").map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("neither begins nor ends with each month"), "{error}");
        }
    }
}
