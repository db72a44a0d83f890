//! How much work a forecast may be.

use std::str::FromStr;
use std::time::Duration;

use foretell::own_estimator::Moment;

use crate::error::AutoError;

/// How much work a forecast may be. Of [`Budget::Quick`] and [`Budget::Steps`] the result depends on the data alone; of a time it
/// depends on the machine, and the board says what was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Budget {
    /// Seconds: models that need no training, those that take long on a large panel left out.
    #[default]
    Quick,
    /// All models that suit the panel, and networks that are trained for this number of steps.
    Steps(u64),
    /// As much as this time allows.
    Time(Duration),
}

impl Budget {
    /// Whether networks are among the candidates.
    pub(crate) fn trains(self) -> bool {
        self != Self::Quick
    }
}

/// Reads `0`, `30s`, `2m`, `1h` or `600steps`.
impl FromStr for Budget {
    type Err = AutoError;

    fn from_str(text: &str) -> Result<Self, AutoError> {
        let wrong = || AutoError::Budget { found: text.to_owned() };
        if let Some(steps) = text.strip_suffix("steps") {
            return steps.trim().parse().ok().filter(|steps| *steps > 0).map(Self::Steps).ok_or_else(wrong);
        }
        let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
        let seconds = units.into_iter().find_map(|(unit, seconds)| {
            let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            Some(number * seconds)
        });
        match seconds {
            Some(0.0) => Ok(Self::Quick),
            Some(seconds) if seconds > 0.0 && seconds < 1e7 => {
                Ok(Self::Time(Duration::from_secs_f64(seconds)))
            }
            _ => Err(wrong()),
        }
    }
}

/// What [`Budget::from_str`] reads.
impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Quick => write!(f, "0"),
            Self::Steps(steps) => write!(f, "{steps}steps"),
            Self::Time(time) => write!(f, "{}s", time.as_secs_f64()),
        }
    }
}

/// The time that is left of a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Moment,
    time: Option<Duration>,
}

impl Clock {
    pub(crate) fn start(budget: Budget) -> Self {
        let time = match budget {
            Budget::Time(time) => Some(time),
            Budget::Quick | Budget::Steps(_) => None,
        };
        Self { start: Moment::now(), time }
    }

    /// Seconds that are left; nothing where there is no limit.
    pub(crate) fn left(&self) -> Option<f64> {
        self.time.map(|time| time.as_secs_f64() - self.start.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_they_are_written() {
        for (text, budget) in [
            ("0", Budget::Quick),
            ("0s", Budget::Quick),
            ("30s", Budget::Time(Duration::from_secs(30))),
            ("45", Budget::Time(Duration::from_secs(45))),
            ("1.5m", Budget::Time(Duration::from_secs(90))),
            ("2h", Budget::Time(Duration::from_secs(7200))),
            ("600steps", Budget::Steps(600)),
        ] {
            assert_eq!(text.parse::<Budget>().unwrap(), budget, "{text}");
            assert_eq!(budget.to_string().parse::<Budget>().unwrap(), budget, "{text}");
        }
        for text in ["", "-1s", "soon", "0steps", "1e9s", "NaN"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }
}
