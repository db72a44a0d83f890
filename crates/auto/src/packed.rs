//! Bytes as numbers, which directories keep.

/// Bytes in a number: six fit into the whole numbers that a double has.
const BYTES: usize = 6;

/// The bytes as whole numbers, their count first.
pub(crate) fn to_numbers(bytes: &[u8]) -> Vec<f64> {
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, &byte| (number << 8) | u64::from(byte)) as f64;
    std::iter::once(bytes.len() as f64).chain(bytes.chunks(BYTES).map(number)).collect()
}

/// What [`to_numbers`] wrote; nothing if it is something else.
pub(crate) fn to_bytes(numbers: &[f64]) -> Option<Vec<u8>> {
    let (&count, numbers) = numbers.split_first()?;
    let is_whole =
        |number: f64| number >= 0.0 && number < (1_u64 << (8 * BYTES)) as f64 && number.fract() == 0.0;
    if !is_whole(count) || (count as usize).div_ceil(BYTES) != numbers.len() {
        return None;
    }
    let mut bytes = Vec::with_capacity(numbers.len() * BYTES);
    for &number in numbers {
        if !is_whole(number) {
            return None;
        }
        bytes.extend_from_slice(&(number as u64).to_le_bytes()[..BYTES]);
    }
    bytes.truncate(count as usize);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        for count in [0, 1, 5, 6, 7, 600] {
            let bytes: Vec<u8> = (0..count).map(|i| (i * 37 % 256) as u8 | 0x80).collect();
            assert_eq!(to_bytes(&to_numbers(&bytes)), Some(bytes));
        }
        for wrong in [&[][..], &[3.0], &[1.0, 0.5], &[1.0, -1.0], &[1.0, 1e300], &[f64::NAN]] {
            assert_eq!(to_bytes(wrong), None, "{wrong:?}");
        }
    }
}
