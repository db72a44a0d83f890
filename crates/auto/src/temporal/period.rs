//! Periods that steps add up to.

use std::fmt;

use foretell::Freq;

use super::error::TemporalError;

/// Periods tried, so that those of different lengths, as months of days, are found.
const TRIED: i64 = 24;

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

    /// Its steps of this frequency.
    pub(super) fn steps(&self, freq: Freq) -> Result<usize, TemporalError> {
        let (text, period) = match self {
            Self::Steps(steps) => return Ok(*steps),
            Self::Freq(text, period) => (text, *period),
        };
        let fault = |reason: String| TemporalError::Period { period: text.clone(), reason };
        if freq.kind() != period.kind() {
            return Err(fault(format!("steps of {freq} are no times of a calendar")));
        }
        let counts: Vec<usize> = (1..=TRIED).filter_map(|n| steps_between(freq, period, n)).collect();
        match (counts.iter().min(), counts.iter().max()) {
            (Some(&least), Some(&most)) if least == most && counts.len() == TRIED as usize && least >= 2 => {
                Ok(least)
            }
            (Some(&least), Some(&most)) if least < most => {
                Err(fault(format!("it has {least} to {most} steps of {freq}")))
            }
            _ => Err(fault(format!("it is no whole number of steps of {freq}"))),
        }
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
        for wrong in ["1", "0", "-3", "", "hours of a day"] {
            assert_eq!(Period::parse(wrong), None, "{wrong}");
        }
    }
}
