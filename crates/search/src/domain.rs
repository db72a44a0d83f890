//! The values that one coordinate of a point may have.

use std::error::Error;
use std::fmt;

use crate::draws::Draws;

/// Steps that numbers can count.
const MOST_STEPS: f64 = (1_u64 << 52) as f64;

/// The values that one coordinate of a point may have, as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Domain {
    /// One of several things that have no order; the value is its number, from 0.
    Choice {
        /// How many there are, at least one.
        count: usize,
    },
    /// Any number between two.
    Uniform {
        /// The least value.
        low: f64,
        /// The greatest value, not below it.
        high: f64,
        /// Whether the logarithm is what is drawn evenly; both ends are above 0 then.
        log: bool,
    },
    /// `low`, `low + step`, ... up to `high`.
    Stepped {
        /// The least value.
        low: f64,
        /// The greatest value, not below it.
        high: f64,
        /// Between neighbours, above 0.
        step: f64,
    },
}

/// A domain without values, or with some that are no numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BadDomain {
    /// What is required of it.
    pub expected: &'static str,
    /// It.
    pub found: Domain,
}

impl fmt::Display for BadDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a domain needs {}, found {:?}", self.expected, self.found)
    }
}

impl Error for BadDomain {}

impl Domain {
    /// Whether it has values, all of them numbers.
    ///
    /// # Errors
    /// If it has not.
    pub fn check(&self) -> Result<(), BadDomain> {
        let require =
            |holds, expected| if holds { Ok(()) } else { Err(BadDomain { expected, found: *self }) };
        let ordered = |low: f64, high: f64| {
            let is_finite = low.is_finite() && high.is_finite() && (high - low).is_finite();
            require(is_finite && low <= high, "finite ends, the lower one not above the other")
        };
        match *self {
            Self::Choice { count } => require(count > 0, "at least one choice"),
            Self::Uniform { low, high, log } => {
                ordered(low, high)?;
                require(!log || low > 0.0, "ends above 0 where logarithms are drawn evenly")
            }
            Self::Stepped { low, high, step } => {
                ordered(low, high)?;
                require(step.is_finite() && step > 0.0, "a finite step above 0")?;
                require((high - low) / step < MOST_STEPS, "fewer steps than 2^52")
            }
        }
    }

    /// How many values it has, if they can be counted.
    pub fn count(&self) -> Option<usize> {
        match *self {
            Self::Choice { count } => Some(count.max(1)),
            Self::Uniform { low, high, .. } => (low == high).then_some(1),
            // A step that fits but for rounding does fit.
            Self::Stepped { low, high, step } => Some(((high - low) / step + 1e-9).floor() as usize + 1),
        }
    }

    /// Any of its values, all alike likely.
    pub(crate) fn draw(&self, draws: &mut Draws) -> f64 {
        self.at(draws.uniform())
    }

    /// The value at a share of its extent, from 0 to 1.
    pub(crate) fn at(&self, unit: f64) -> f64 {
        match (*self, self.count()) {
            (Self::Uniform { low, high, log: true }, _) => {
                (low.ln() + unit * (high.ln() - low.ln())).exp().clamp(low, high)
            }
            (Self::Uniform { low, high, log: false }, _) => (low + unit * (high - low)).clamp(low, high),
            (_, count) => {
                let count = count.unwrap_or(1);
                self.nth(((unit * count as f64) as usize).min(count - 1))
            }
        }
    }

    /// The value of this number among those that can be counted.
    pub(crate) fn nth(&self, number: usize) -> f64 {
        match *self {
            Self::Choice { .. } => number as f64,
            Self::Stepped { low, step, .. } => low + number as f64 * step,
            Self::Uniform { low, .. } => low,
        }
    }

    /// The share of its extent at which a value is: the middle of the part that leads to it.
    pub(crate) fn unit(&self, value: f64) -> f64 {
        let unit = match (*self, self.count()) {
            (Self::Uniform { .. }, Some(_)) => 0.5,
            (Self::Uniform { low, high, log: true }, _) => (value.ln() - low.ln()) / (high.ln() - low.ln()),
            (Self::Uniform { low, high, log: false }, _) => (value - low) / (high - low),
            (Self::Choice { count }, _) => (value + 0.5) / count as f64,
            (Self::Stepped { low, step, .. }, count) => {
                (((value - low) / step).round() + 0.5) / count.unwrap_or(1) as f64
            }
        };
        unit.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAINS: [Domain; 5] = [
        Domain::Choice { count: 4 },
        Domain::Uniform { low: -2.0, high: 3.0, log: false },
        Domain::Uniform { low: 1e-4, high: 1e-1, log: true },
        Domain::Stepped { low: 500.0, high: 1500.0, step: 100.0 },
        Domain::Stepped { low: 0.0, high: 0.3, step: 0.1 },
    ];

    #[test]
    fn values_are_counted() {
        assert_eq!(DOMAINS.map(|domain| domain.count()), [Some(4), None, None, Some(11), Some(4)]);
        assert_eq!(Domain::Uniform { low: 2.0, high: 2.0, log: true }.count(), Some(1));
    }

    #[test]
    fn domains_without_values_are_refused() {
        assert!(DOMAINS.iter().all(|domain| domain.check().is_ok()));
        for (domain, words) in [
            (Domain::Choice { count: 0 }, "at least one choice"),
            (Domain::Uniform { low: -1.0, high: 1.0, log: true }, "above 0"),
            (Domain::Uniform { low: 0.0, high: 1.0, log: true }, "above 0"),
            (Domain::Uniform { low: 2.0, high: 1.0, log: false }, "not above the other"),
            (Domain::Uniform { low: f64::NAN, high: 1.0, log: false }, "finite ends"),
            (Domain::Uniform { low: f64::MIN, high: f64::MAX, log: false }, "finite ends"),
            (Domain::Stepped { low: 0.0, high: 1.0, step: 0.0 }, "a finite step above 0"),
            (Domain::Stepped { low: 0.0, high: 1.0, step: 1e-20 }, "fewer steps"),
        ] {
            let message = domain.check().unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn a_value_is_found_again_at_its_share() {
        for domain in DOMAINS {
            for share in 0..=100 {
                let value = domain.at(f64::from(share) / 100.0);
                let again = domain.at(domain.unit(value));
                assert!((value - again).abs() <= 1e-12 * value.abs().max(1.0), "{domain:?}: {value} {again}");
            }
        }
    }

    #[test]
    fn draws_are_even() {
        for domain in DOMAINS {
            let mut draws = Draws::new([1, 2, 3]);
            let n = 20_000;
            let mean = (0..n).map(|_| domain.unit(domain.draw(&mut draws))).sum::<f64>() / f64::from(n);
            // Four deviations of the mean of this many uniform numbers.
            assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0_f64 / f64::from(n)).sqrt(), "{domain:?}: {mean}");
        }
    }
}
