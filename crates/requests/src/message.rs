//! Requests and answers as bytes: the length of a JSON text (`u32`, little-endian), the text, and what bytes there are beside it.

/// The JSON of a message, and the bytes beside it.
///
/// # Errors
/// In words, if there is less than the length says.
///
/// ```
/// use foretell_requests::{join, split};
///
/// let message = join(br#"{"op":"about"}"#, b"bytes");
/// assert_eq!(split(&message), Ok((&br#"{"op":"about"}"#[..], &b"bytes"[..])));
/// assert!(split(&message[..7]).is_err());
/// ```
pub fn split(message: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    const SHORT: &str = "a message is cut off: it begins with the length of its JSON, 4 bytes";
    let (length, rest) = message.split_first_chunk::<4>().ok_or(SHORT)?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(SHORT)
}

/// The message of a JSON and of bytes beside it.
///
/// # Panics
/// If the JSON has more than 4 GiB.
pub fn join(json: &[u8], bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len()).expect("less than 4 GiB of JSON");
    let mut message = Vec::with_capacity(4 + json.len() + bytes.len());
    message.extend_from_slice(&length.to_le_bytes());
    message.extend_from_slice(json);
    message.extend_from_slice(bytes);
    message
}
