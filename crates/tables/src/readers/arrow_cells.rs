//! Cells of Arrow arrays of any type as ids, times, numbers and labels.

use std::borrow::Cow;

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};
use foretell_calendar::days::{DAY, FINE, RANGE};
use foretell_calendar::zone::in_range;
use foretell_calendar::{Clock, TimeFlaw, TimeKind};

use super::arrow_bytes::{bytes_at, decimal_at, hexadecimal, is_text};
use crate::error::flaw::Flaw;

// What may be wrong with a time; completes a sentence.
const MISSING: TimeFlaw = TimeFlaw::new("is missing; every row needs its time");
const TYPE: TimeFlaw =
    TimeFlaw::new("is of a type that holds no times; use timestamps, dates, integers or text");

/// An integer of any width; nothing for null, for other types, and for what is beyond 64 bits.
pub(super) fn integer_at(array: &dyn Array, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).try_into().ok()?,
        _ => return None,
    })
}

/// A number with decimals as text, whole ones without any.
fn decimals_at(array: &dyn Array, row: usize) -> Option<String> {
    Some(match array.data_type() {
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        _ => return None,
    })
}

/// The value of a dictionary that a row points at; nothing for null.
pub(super) fn entry(array: &dyn Array, row: usize) -> Option<(&dyn Array, usize)> {
    let dictionary = array.as_any_dictionary_opt()?;
    let key = usize::try_from(integer_at(dictionary.keys(), row)?).ok()?;
    (key < dictionary.values().len()).then(|| (&**dictionary.values(), key))
}

/// The id of a series: a text, or a number, truth value, time or bytes as one.
pub(super) fn id_at(array: &dyn Array, row: usize) -> Option<Cow<'_, str>> {
    if array.is_null(row) {
        return None;
    }
    let float = |value: f64, text: String| (!value.is_nan()).then(|| Cow::from(text));
    match array.data_type() {
        DataType::Dictionary(..) => entry(array, row).and_then(|(values, key)| id_at(values, key)),
        DataType::Float32 => {
            // By way of 64 bits 0.1 would be 0.10000000149011612.
            let value = array.as_primitive::<Float32Type>().value(row);
            float(value.into(), (value + 0.0).to_string())
        }
        DataType::Float16 | DataType::Float64 => {
            float_at(array, row).and_then(|value| float(value, (value + 0.0).to_string()))
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => {
            let mut clock = Clock::default();
            let time = time_at(array, row, &mut clock).ok()?;
            let in_calendar = in_range(TimeKind::Timestamp, clock.zone.as_ref(), time);
            in_calendar.then(|| TimeKind::Timestamp.display_in(clock.zone.as_ref(), time).into())
        }
        kind if kind.is_binary() => {
            // Numbers of this many bytes each are texts only by chance.
            let text = match kind {
                DataType::FixedSizeBinary(_) => None,
                _ => text_at(array, row),
            };
            text.or_else(|| bytes_at(array, row).map(|bytes| hexadecimal(bytes).into()))
        }
        _ => decimal_at(array, row).map(Cow::from).or_else(|| label_at(array, row).ok()),
    }
}

/// A text, or an integer as one.
pub(super) fn text_at(array: &dyn Array, row: usize) -> Option<Cow<'_, str>> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Some(array.as_string_view().value(row).into()),
        DataType::Dictionary(..) => entry(array, row).and_then(|(values, key)| text_at(values, key)),
        kind if kind.is_binary() => str::from_utf8(bytes_at(array, row)?).ok().map(Cow::from),
        _ => integer_at(array, row).map(|number| number.to_string().into()),
    }
}

/// A number with decimals, of what is not null; nothing for other types.
pub(super) fn float_at(array: &dyn Array, row: usize) -> Option<f64> {
    Some(match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(row).to_f64(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row),
        DataType::Decimal128(_, scale) => {
            array.as_primitive::<Decimal128Type>().value(row) as f64 / 10_f64.powi((*scale).into())
        }
        _ => return decimal_at(array, row)?.parse().ok(),
    })
}

/// A text, or a number or truth value as one.
pub(super) fn label_at(array: &dyn Array, row: usize) -> Result<Cow<'_, str>, Flaw> {
    if array.is_null(row) {
        return Err(Flaw::Missing);
    }
    if let Some(text) = text_at(array, row) {
        return Ok(text);
    }
    match float_at(array, row) {
        Some(value) if value.is_nan() => return Err(Flaw::Missing),
        Some(value) if value.is_infinite() => return Err(Flaw::Infinite),
        Some(value) => return Ok(value.to_string().into()),
        None => {}
    }
    Ok(match array.data_type() {
        DataType::Boolean => {
            if array.as_boolean().value(row) {
                "True".into()
            } else {
                "False".into()
            }
        }
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string().into(),
        DataType::Dictionary(..) => {
            let (values, key) = entry(array, row).ok_or(Flaw::Missing)?;
            return label_at(values, key);
        }
        _ => return Err(Flaw::Label),
    })
}

/// A number of any type; `read` reads texts.
pub(super) fn number_at(
    array: &dyn Array,
    row: usize,
    read: &dyn Fn(&[u8]) -> Result<f64, Flaw>,
) -> Result<f64, Flaw> {
    if array.is_null(row) {
        return Err(Flaw::Missing);
    }
    let value = match array.data_type() {
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row) as f64,
        DataType::Dictionary(..) => {
            let (values, key) = entry(array, row).ok_or(Flaw::Missing)?;
            return number_at(values, key, read);
        }
        DataType::Null => return Err(Flaw::Missing),
        _ if is_text(array.data_type()) => {
            return text_at(array, row).map_or(Err(Flaw::Text), |text| read(text.as_bytes()));
        }
        _ => match float_at(array, row) {
            Some(value) => value,
            None => integer_at(array, row).ok_or(Flaw::Type)? as f64,
        },
    };
    match value {
        value if value.is_nan() => Err(Flaw::Missing),
        value if value.is_infinite() => Err(Flaw::Infinite),
        value => Ok(value),
    }
}

/// A time: a timestamp of any unit and zone, a date, an integer or a text.
pub(super) fn time_at(array: &dyn Array, row: usize, clock: &mut Clock) -> Result<i64, TimeFlaw> {
    if array.is_null(row) {
        return Err(MISSING);
    }
    let (ticks, unit) = match array.data_type() {
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1_000_000),
            TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1000),
            TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().value(row), 1),
            TimeUnit::Nanosecond => {
                let nanos = array.as_primitive::<TimestampNanosecondType>().value(row);
                (if nanos % 1000 == 0 { nanos / 1000 } else { return Err(FINE) }, 1)
            }
        },
        DataType::Date32 => (array.as_primitive::<Date32Type>().value(row).into(), DAY),
        DataType::Date64 => (array.as_primitive::<Date64Type>().value(row), 1000),
        DataType::Dictionary(..) => {
            let (values, key) = entry(array, row).ok_or(MISSING)?;
            return time_at(values, key, clock);
        }
        _ if is_text(array.data_type()) => {
            return clock.read(text_at(array, row).ok_or(TYPE)?.trim());
        }
        _ => {
            return match integer_at(array, row) {
                Some(step) => clock.step(step),
                None => clock.read(&decimals_at(array, row).ok_or(TYPE)?),
            };
        }
    };
    let zone = match array.data_type() {
        DataType::Timestamp(_, zone) => zone.as_deref(),
        _ => None,
    };
    let time = ticks.checked_mul(unit).ok_or(RANGE)?;
    clock.typed(zone, time)
}
