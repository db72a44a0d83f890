//! The secret that clients show.

use std::fmt;
use std::hint::black_box;

/// A bearer token. It is compared in a time that does not depend on how much of it is right, and never shown.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token of at least 16 characters, all of them visible ASCII.
    ///
    /// # Errors
    /// A shorter one, or one that cannot stand in a header.
    pub fn new(secret: &str) -> Result<Self, String> {
        match secret.len() >= 16 && secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Self(secret.to_owned())),
            false => {
                Err("a token has at least 16 characters, letters, digits and marks without blanks".to_owned())
            }
        }
    }

    /// Whether the value of an `Authorization` header shows it.
    pub(crate) fn is_shown_by(&self, header: &[u8]) -> bool {
        let (scheme, shown) = header.split_at_checked(b"Bearer ".len()).unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"Bearer ") && is_equal(self.0.as_bytes(), shown)
    }
}

/// Compares every byte of the secret, whatever the others are.
fn is_equal(secret: &[u8], shown: &[u8]) -> bool {
    let mut different = usize::from(secret.len() != shown.len());
    for (i, byte) in secret.iter().enumerate() {
        let other = shown.get(i).copied().unwrap_or_default();
        different |= usize::from(black_box(byte ^ other));
    }
    different == 0
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_right() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(
            token.is_shown_by(b"Bearer 0123456789abcdef") && token.is_shown_by(b"bearer 0123456789abcdef")
        );
        for wrong in
            ["", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdeff", "Basic 0123456789abcdef"]
        {
            assert!(!token.is_shown_by(wrong.as_bytes()), "{wrong}");
        }
        assert!(Token::new("short").is_err() && Token::new("0123456789 abcdef").is_err());
        assert_eq!(format!("{token:?}"), "Token");
    }
}
