//! Bytes, texts and decimals among the cells of Arrow's arrays.

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_schema::DataType;

/// Whether arrays of that type hold texts. Some writers do not say that their bytes are any.
pub(super) fn is_text(kind: &DataType) -> bool {
    kind.is_string() || kind.is_binary()
}

/// Bytes as two digits each.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a cell; nothing of another type.
pub(super) fn bytes_at(array: &dyn Array, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(row),
        _ => return None,
    })
}

/// A decimal as it is written, with as many digits behind the point as its type says.
pub(super) fn decimal_at(array: &dyn Array, row: usize) -> Option<String> {
    Some(match array.data_type() {
        DataType::Decimal32(..) => array.as_primitive::<Decimal32Type>().value_as_string(row),
        DataType::Decimal64(..) => array.as_primitive::<Decimal64Type>().value_as_string(row),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Decimal256(..) => array.as_primitive::<Decimal256Type>().value_as_string(row),
        _ => return None,
    })
}
