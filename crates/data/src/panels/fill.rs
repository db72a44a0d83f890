//! Missing rows and values, filled in on request.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::float::Float;
use foretell_messages::nearest;
use foretell_tables::{Flaw, SettingError};

/// How missing rows and values are filled; nothing is filled unasked.
///
/// A missing row is between two rows of its series; a missing value is an empty cell or NaN, of `y` between two
/// values of its series, or of a further column. Where there is an `available_mask`, it is 0 in rows that are added;
/// their `sample_weight` is that of the row before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Fill {
    /// The value before it in its series, of which there must be one.
    Forward,
    /// 0; in a further column of numbers that is never 0 in the series, as a price, the value before it.
    Zero,
    /// On the line between the values around it, step by step; in further columns, before the first value of a
    /// series and after the last one, that value. Of categories, the one before it.
    Interpolate,
}

/// The rows and cells that [`Fill`] filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Rows added between others.
    pub rows: usize,
    /// Cells filled in rows of the table.
    pub values: usize,
}

/// Rows that were left out because their series has not begun yet or has ended: those without a value before the first
/// known one and after the last. A row whose `available_mask` is 0 belongs to its series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// Series that lost rows.
    pub series: usize,
    /// Rows of all series together.
    pub rows: usize,
    /// Further rows, of far times that [`without_far_times_after`](crate::ReadOptions::without_far_times_after) left out.
    pub far: usize,
}

impl Fill {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Zero, Self::Interpolate];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Zero => "zero",
            Self::Interpolate => "interpolate",
        }
    }

    /// Replaces the NaN among the values of one series. Between values that are no numbers (`lines` is false)
    /// there is no line, and the value before stays.
    ///
    /// # Errors
    /// The row of a value that cannot be filled, and why.
    pub(crate) fn values<T: Float>(self, values: &mut [T], lines: bool) -> Result<(), (usize, Flaw)> {
        let Some(first) = values.iter().position(|value| value.is_nan()) else { return Ok(()) };
        if self == Self::Zero {
            values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = T::of(0.0));
            return Ok(());
        }
        let mut known = first.saturating_sub(1);
        if first == 0 {
            known = values.iter().position(|value| !value.is_nan()).ok_or((0, Flaw::NothingKnown))?;
            if self == Self::Forward {
                return Err((0, Flaw::NothingBefore));
            }
            let value = values[known];
            values[..known].fill(value);
        }
        // From one known value to the next.
        while known + 1 < values.len() {
            let next = values[known + 1..].iter().position(|value| !value.is_nan());
            let end = next.map_or(values.len(), |next| known + 1 + next);
            let from: f64 = values[known].into();
            let to = values
                .get(end)
                .filter(|_| lines && self == Self::Interpolate)
                .map_or(from, |to| (*to).into());
            let steps = (end - known) as f64;
            for (step, value) in values[known + 1..end].iter_mut().enumerate() {
                *value = T::of(from + (to - from) * (step + 1) as f64 / steps);
            }
            known = end;
        }
        Ok(())
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Fill {
    type Err = SettingError;

    fn from_str(word: &str) -> Result<Self, SettingError> {
        Self::ALL.into_iter().find(|fill| fill.name() == word).ok_or_else(|| SettingError::UnknownFill {
            word: word.to_owned(),
            nearest: nearest(word, Self::ALL.map(Self::name)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: f32 = f32::NAN;

    #[test]
    fn values_are_filled_each_in_its_way() {
        for (fill, gappy, expected) in [
            (Fill::Forward, [1.0, X, X, 4.0, X], [1.0, 1.0, 1.0, 4.0, 4.0]),
            (Fill::Zero, [X, X, 1.0, 4.0, X], [0.0, 0.0, 1.0, 4.0, 0.0]),
            (Fill::Interpolate, [1.0, X, X, 4.0, X], [1.0, 2.0, 3.0, 4.0, 4.0]),
            (Fill::Interpolate, [X, X, 3.0, X, 2.0], [3.0, 3.0, 3.0, 2.5, 2.0]),
            (Fill::Interpolate, [-3e38, X, X, X, 3e38], [-3e38, -1.5e38, 0.0, 1.5e38, 3e38]),
            (Fill::Forward, [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]),
        ] {
            let mut values = gappy;
            fill.values(&mut values, true).unwrap();
            assert_eq!(values, expected, "{fill}: {gappy:?}");
        }
    }

    #[test]
    fn what_nothing_is_known_of_stays_a_mistake() {
        assert_eq!(Fill::Forward.values(&mut [X, 1.0], true), Err((0, Flaw::NothingBefore)));
        assert_eq!(Fill::Forward.values(&mut [X, X], true), Err((0, Flaw::NothingKnown)));
        assert_eq!(Fill::Interpolate.values(&mut [X], true), Err((0, Flaw::NothingKnown)));
        assert_eq!(Fill::Interpolate.values::<f32>(&mut [], true), Ok(()));
    }

    #[test]
    fn names_are_read_and_slips_are_named() {
        for fill in Fill::ALL {
            assert_eq!(fill.name().parse::<Fill>().unwrap(), fill);
        }
        let error = "foreward".parse::<Fill>().unwrap_err().to_string();
        assert!(error.contains("did you mean `forward`?"), "{error}");
    }
}
