//! Times in the spellings that need no format.

use super::flaw::TimeFlaw;
use super::interval;
use super::iso;
use super::mail;
use super::periods;
use super::written::Written;

/// Reads a time, a period or an interval between two of them.
///
/// # Errors
/// The flaw of the text, if it is in no spelling that is known.
pub(crate) fn read(text: &str) -> Result<Written<'_>, TimeFlaw> {
    single(text).or_else(|flaw| interval::read(text, single).unwrap_or(Err(flaw)))
}

fn single(text: &str) -> Result<Written<'_>, TimeFlaw> {
    iso::read(text).or_else(|flaw| periods::read(text).unwrap_or_else(|| mail::read(text).ok_or(flaw)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::TimeKind;

    fn shown(text: &str) -> Option<String> {
        read(text).ok().map(|written| TimeKind::Timestamp.display(written.civil))
    }

    #[test]
    fn times_of_mails_and_of_http_are_read_with_their_offset() {
        for (text, start, offset) in [
            ("Wed, 31 Jan 2024 13:45:07 +0100", "2024-01-31 13:45:07", 3600),
            ("31 Jan 2024 13:45 -0930", "2024-01-31 13:45:00", -34_200),
            ("Wed, 31 Jan 2024 00:00:00 GMT", "2024-01-31", 0),
        ] {
            let written = read(text).expect(text);
            assert_eq!(TimeKind::Timestamp.display(written.civil), start, "{text}");
            assert_eq!(written.offset, Some(offset), "{text}");
        }
        for text in ["Wed, 31 Jan 2024", "Thu, 31 Jan 2024 13:45:07 +0100", "Wed, 31 Jan 2024 25:00:00 GMT"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn intervals_are_their_starts() {
        for (text, start) in [
            ("2023-01-01 00:00/2023-01-01 01:00", "2023-01-01"),
            ("2023-01-01 05:00 - 2023-01-01 06:00", "2023-01-01 05:00:00"),
            ("2023-01-01 05:00 \u{2013} 2023-01-01 06:00", "2023-01-01 05:00:00"),
            ("2023/01/01 05:00 to 2023/01/01 06:00", "2023-01-01 05:00:00"),
            ("2023-01-01 05:00 - 06:00", "2023-01-01 05:00:00"),
            ("2023-01-01T05:00:00Z/2023-01-01T06:00:00Z", "2023-01-01 05:00:00"),
            ("2023-01-01T05:00:00/PT15M", "2023-01-01 05:00:00"),
            ("2023-01-02/2023-01-08", "2023-01-02"),
            ("2023-01-02/P1W", "2023-01-02"),
            ("2 Jan 2023 - 8 Jan 2023", "2023-01-02"),
            ("2000Q1/2000Q2", "2000-01-01"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(start), "{text}");
        }
        for text in
            ["2023-01-02/", "2023-01-02 - ", "/2023-01-02", "2023-01-02/P", "2023-01-02/PT9999999999999H"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
