//! Columns of a record batch whose cells need no look at their type: of the types that most columns have, none missing.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array as _, ArrayRef, Float64Array, Int64Array, StringViewArray};
use arrow_schema::{DataType, TimeUnit};

use crate::calendar::days::DAY;

/// A column of a batch; nothing of another type or with cells that are missing.
pub(super) enum PlainCells {
    Numbers(Float64Array),
    /// Times as clocks showed them: so many `ticks` to a unit of so many microseconds.
    Times {
        ticks: Int64Array,
        micros: i64,
        per: i64,
    },
    Texts(StringViewArray),
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
            DataType::Int64 => Self::Numbers(array.as_primitive::<Int64Type>().unary(|value| value as f64)),
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
            DataType::Utf8View => Self::Texts(array.as_string_view().clone()),
            _ => Self::Other,
        }
    }

    /// A number, if it is one.
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        match self {
            Self::Numbers(values) => Some(values.value(row)).filter(|value| value.is_finite()),
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

    pub(super) fn text(&self, row: usize) -> Option<&str> {
        match self {
            Self::Texts(values) => Some(values.value(row)),
            _ => None,
        }
    }
}
