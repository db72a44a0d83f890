//! Seasons.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seasons_of_usual_frequencies() {
        let season = |word: &str| usual_season(Freq::parse(word).expect("a frequency"));
        let found = ["15min", "h", "2h", "D", "B", "W-SUN", "MS", "QE", "YS", "1", "3"].map(season);
        assert_eq!(found, [96, 24, 12, 7, 5, 52, 12, 4, 1, 1, 1]);
        let words = [
            "bh",
            "bh-08:00-12:00",
            "C-1111110",
            "SMS",
            "BME",
            "BQS",
            "BYE",
            "REM-L-JAN-SAT-445",
            "REQ-N-DEC-SUN-4",
        ];
        assert_eq!(words.map(season), [8, 4, 6, 24, 12, 4, 1, 12, 4]);
    }
}
