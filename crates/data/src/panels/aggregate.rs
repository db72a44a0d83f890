//! How several rows of one series and time become one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::float::Float;
use crate::error::DataError;
use foretell_tables::TableError;

/// How several rows of one series and time become one; by default they are a mistake.
///
/// It is said of the values that are forecast. Further columns follow it, but where values are added or counted they become
/// their mean (two sales at a price of 3 are not sold at 6), and categories their last. Missing values, and rows whose
/// `available_mask` is 0, do not count where there are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Aggregate {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The last one in the order of the table.
    Last,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The first one in the order of the table.
    First,
    /// How many there are, whatever they are.
    Count,
}

impl Aggregate {
    /// All ways.
    pub const ALL: [Self; 7] =
        [Self::Sum, Self::Mean, Self::Last, Self::Max, Self::Min, Self::First, Self::Count];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Last => "last",
            Self::Max => "max",
            Self::Min => "min",
            Self::First => "first",
            Self::Count => "count",
        }
    }

    /// One value in place of those that are known; NaN where none is.
    pub(super) fn of<T: Float>(self, values: impl Iterator<Item = T>) -> T {
        let mut values = values.filter(|value| !value.is_nan()).peekable();
        if self == Self::Count {
            return T::of(values.count() as f64);
        }
        let Some(&first) = values.peek() else { return T::of(f64::NAN) };
        match self {
            Self::Sum => T::of(values.map(Into::into).sum::<f64>()),
            Self::Mean => {
                let (sum, count) =
                    values.fold((0.0, 0.0), |(sum, count), value| (sum + value.into(), count + 1.0));
                T::of(sum / count)
            }
            Self::Last => values.last().unwrap_or(first),
            Self::Max => values.fold(first, T::larger),
            Self::Min => values.fold(first, T::smaller),
            Self::First | Self::Count => first,
        }
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Aggregate {
    type Err = DataError;

    fn from_str(word: &str) -> Result<Self, DataError> {
        Self::ALL.into_iter().find(|how| how.name() == word).ok_or_else(|| {
            TableError::setting("aggregate", word, "sum, mean, last, max, min, first or count").into()
        })
    }
}
