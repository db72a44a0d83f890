//! Columns of a record batch whose cells need no look at their type: of the types that most columns have, none missing.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array as _, ArrayRef, Float64Array, Int32Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};

use foretell_calendar::days::DAY;

/// A column of a batch; nothing of another type or with cells that are missing.
pub(super) enum PlainCells {
    Numbers(Float64Array),
    Integers(Int64Array),
    /// Times as clocks showed them: this many `ticks` to a unit of this many microseconds.
    Times {
        ticks: Int64Array,
        micros: i64,
        per: i64,
    },
    Texts(StringArray),
    LargeTexts(LargeStringArray),
    TextViews(StringViewArray),
    /// The place of each row's text.
    Entries(Int32Array, StringArray),
    Other,
}

impl PlainCells {
    pub(super) fn of(array: &ArrayRef) -> Self {
        if array.null_count() > 0 {
            return Self::Other;
        }
        let times = |ticks, micros, per| Self::Times { ticks, micros, per };
        match array.data_type() {
            DataType::Float64 => Self::Numbers(array.as_primitive::<Float64Type>().clone()),
            DataType::Float32 => Self::Numbers(array.as_primitive::<Float32Type>().unary(f64::from)),
            DataType::Int32 => Self::Numbers(array.as_primitive::<Int32Type>().unary(f64::from)),
            DataType::Int64 => Self::Integers(array.as_primitive::<Int64Type>().clone()),
            DataType::Date32 => times(array.as_primitive::<Date32Type>().unary(i64::from), DAY, 1),
            DataType::Timestamp(unit, None) => match unit {
                TimeUnit::Second => {
                    times(array.as_primitive::<TimestampSecondType>().reinterpret_cast(), 1_000_000, 1)
                }
                TimeUnit::Millisecond => {
                    times(array.as_primitive::<TimestampMillisecondType>().reinterpret_cast(), 1000, 1)
                }
                TimeUnit::Microsecond => {
                    times(array.as_primitive::<TimestampMicrosecondType>().reinterpret_cast(), 1, 1)
                }
                TimeUnit::Nanosecond => {
                    times(array.as_primitive::<TimestampNanosecondType>().reinterpret_cast(), 1, 1000)
                }
            },
            DataType::Utf8 => Self::Texts(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Self::LargeTexts(array.as_string::<i64>().clone()),
            DataType::Utf8View => Self::TextViews(array.as_string_view().clone()),
            DataType::Dictionary(..) => Self::of_dictionary(array).unwrap_or(Self::Other),
            _ => Self::Other,
        }
    }

    /// Texts as pandas' and pyarrow's dictionaries have them.
    fn of_dictionary(array: &ArrayRef) -> Option<Self> {
        let dictionary = array.as_dictionary_opt::<Int32Type>()?;
        let texts = dictionary.values().as_string_opt::<i32>()?;
        (texts.null_count() == 0).then(|| Self::Entries(dictionary.keys().clone(), texts.clone()))
    }

    /// A number, if it is one.
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        match self {
            Self::Numbers(values) => Some(values.value(row)).filter(|value| value.is_finite()),
            Self::Integers(values) => Some(values.value(row) as f64),
            _ => None,
        }
    }

    /// The time that clocks showed, in microseconds since 1970-01-01 00:00, if that is exact.
    pub(super) fn civil_time(&self, row: usize) -> Option<i64> {
        match self {
            Self::Times { ticks, micros, per } => {
                let ticks = ticks.value(row);
                (*per == 1 || ticks % per == 0).then_some(ticks / per)?.checked_mul(*micros)
            }
            _ => None,
        }
    }

    /// Whether a cell holds this text, or an integer that is written so; nothing of another type.
    pub(super) fn is(&self, row: usize, text: &str) -> Option<bool> {
        Some(match self {
            Self::Texts(values) => values.value(row) == text,
            Self::LargeTexts(values) => values.value(row) == text,
            Self::TextViews(values) => values.value(row) == text,
            Self::Entries(keys, texts) => {
                let key = usize::try_from(keys.value(row)).ok().filter(|&key| key < texts.len())?;
                texts.value(key) == text
            }
            Self::Integers(values) => is_written(values.value(row), text),
            _ => return None,
        })
    }
}

/// Whether an integer is written so.
fn is_written(number: i64, text: &str) -> bool {
    let digits = if number < 0 { text.strip_prefix('-') } else { Some(text) };
    let Some(digits) = digits.filter(|digits| !digits.is_empty()) else { return false };
    let mut left = number.unsigned_abs();
    let same = digits.bytes().rev().all(|digit| {
        let last = b'0' + (left % 10) as u8;
        left /= 10;
        digit == last
    });
    same && left == 0 && (digits.len() == 1 || !digits.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_compared_as_they_are_written() {
        for number in [0, 7, -7, 10, 1_000_000, i64::MAX, i64::MIN] {
            assert!(is_written(number, &number.to_string()), "{number}");
            for other in ["", "-", "00", "07", "+7", "-0", "70", "1", "a"] {
                assert_eq!(is_written(number, other), number.to_string() == other, "{number}, {other}");
            }
        }
    }
}
