//! Seasons.

use super::days::DAY;
use super::freq::Freq;
use super::unit::{FIXED, Unit};

/// The season that data of this frequency usually have, in steps: a day of minutes or hours, a week of
/// days, a year of weeks, months or quarters. Of days and hours only those count that are open. 1 where there is no such
/// custom.
pub fn usual_season(freq: Freq) -> usize {
    let steps = match freq.unit {
        Unit::Integer => 1,
        Unit::Fixed(index) => match FIXED[index as usize].0 {
            "s" => 60,
            "min" => 24 * 60,
            "h" => 24,
            "D" => 7,
            _ => 1,
        },
        Unit::Workdays(days) => days.per_week(),
        Unit::Hours(hours) => hours.per_day(),
        Unit::Week(_) => 52,
        Unit::Months { every, .. } => 12 / every as usize,
        Unit::SemiMonths { .. } => 24,
        Unit::Retail(retail) => retail.per_year() as usize,
    };
    (steps / usize::try_from(freq.multiple).unwrap_or(usize::MAX)).max(1)
}

/// The seasons that data of this frequency may have, in steps, the shortest first: the two shortest among minute, hour, day, week and
/// year, of hours a day and a week, of days a week and a year; what the calendar has of weeks, months and quarters. Minutes and hours count
/// from 4 steps on. None where there is no such custom.
pub fn calendar_seasons(freq: Freq) -> Vec<usize> {
    let usual = usual_season(freq);
    let mut seasons = match freq.unit {
        Unit::Fixed(index) => {
            // Microseconds of a year are more than 32 bits hold, which is what a browser counts with.
            let multiple = u64::try_from(freq.multiple).unwrap_or(u64::MAX);
            let step = (FIXED[index as usize].1 as u64).saturating_mul(multiple);
            let steps = |(cycle, least, exact): (u64, usize, bool)| {
                let steps = usize::try_from(cycle / step).ok()?;
                (steps >= least && (cycle % step == 0 || !exact)).then_some(steps)
            };
            let (hour, day) = (3_600_000_000, DAY as u64);
            let cycles = [
                (hour / 60, 4, true),
                (hour, 4, true),
                (day, 2, true),
                (7 * day, 2, true),
                // Years have no whole number of most steps.
                (365 * day, 2, false),
            ];
            cycles.into_iter().filter_map(steps).take(2).collect()
        }
        Unit::Workdays(_) => vec![usual, 52 * usual],
        Unit::Hours(hours) => vec![usual, usual * hours.days.per_week()],
        _ => vec![usual],
    };
    seasons.retain(|season| *season > 1);
    seasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seasons_of_usual_frequencies() {
        let season = |word: &str| usual_season(Freq::parse(word).expect("a frequency"));
        let found = ["15min", "h", "2h", "D", "B", "W-SUN", "MS", "QE", "YS", "1", "3"].map(season);
        assert_eq!(found, [96, 24, 12, 7, 5, 52, 12, 4, 1, 1, 1]);
        let words = [
            "bh", "bh-08:00-12:00", "C-1111110", "SMS", "BME", "BQS", "BYE", "REM-L-JAN-SAT-445",
            "REQ-N-DEC-SUN-4",
        ];
        assert_eq!(words.map(season), [8, 4, 6, 24, 12, 4, 1, 12, 4]);
    }
    #[test]
    fn seasons_of_the_calendar() {
        let seasons = |word: &str| calendar_seasons(Freq::parse(word).expect("a frequency"));
        for (word, expected) in [
            ("s", &[60, 3600][..]),
            ("min", &[60, 1440]),
            ("5min", &[12, 288]),
            ("15min", &[4, 96]),
            ("30min", &[48, 336]),
            ("h", &[24, 168]),
            ("2h", &[12, 84]),
            ("12h", &[2, 14]),
            ("D", &[7, 365]),
            ("2D", &[182]),
            ("7D", &[52]),
            ("B", &[5, 260]),
            ("bh", &[8, 40]),
            ("W-SUN", &[52]),
            ("MS", &[12]),
            ("QE", &[4]),
            ("YS", &[]),
            ("1", &[]),
        ] {
            assert_eq!(seasons(word), expected, "{word}");
        }
    }
}
