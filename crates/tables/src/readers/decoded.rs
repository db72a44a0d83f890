//! Text of any encoding as UTF-8, told by its first bytes or by the first that is no UTF-8.

use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::file_options::Encoding;

/// Bytes that are decoded at a time.
const PIECE: usize = 1 << 16;

/// Codes that stand for nothing in Windows-1252: text that has them is something else.
const UNDEFINED: [u8; 5] = [0x81, 0x8D, 0x8F, 0x90, 0x9D];

/// Text that is not what someone said that it is; within an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("its text is not {0}; name its encoding")]
pub(crate) struct NotEncodedSo(pub(crate) Encoding);

/// A source as UTF-8. Where no encoding was set and it is neither UTF-8 nor Windows-1252, it is passed on unchanged.
pub(crate) struct Decoded<R> {
    input: R,
    state: State,
    /// Bytes that were read and not yet handed out: the beginning of a character, or bytes to decode.
    rest: Vec<u8>,
    ended: bool,
    /// The encoding that was recognised, if it is not UTF-8.
    recognised: Option<Encoding>,
}

enum State {
    /// So far it is UTF-8; whether it had other characters than those of ASCII.
    Utf8 {
        beyond_ascii: bool,
    },
    /// It is passed on unchanged.
    Raw,
    Other(Box<Conversion>),
}

struct Conversion {
    decoder: Decoder,
    /// Whether someone said so.
    asked: bool,
    decoded: Vec<u8>,
    handed_out: usize,
}

impl Conversion {
    fn begin(encoding: Encoding, asked: bool) -> State {
        let decoder = encoding.0.new_decoder();
        State::Other(Box::new(Self { decoder, asked, decoded: Vec::new(), handed_out: 0 }))
    }
}

impl<R: Read> Decoded<R> {
    pub(crate) fn new(mut input: R, encoding: Option<Encoding>) -> io::Result<Self> {
        let mut rest = Vec::new();
        input.by_ref().take(4).read_to_end(&mut rest)?;
        let unmarked = match rest[..] {
            // Letters of ASCII that take two bytes each.
            [first, 0, second, 0] if first != 0 && second != 0 => Some((UTF_16LE, 0)),
            [0, first, 0, second] if first != 0 && second != 0 => Some((UTF_16BE, 0)),
            _ => None,
        };
        let marked = encoding_rs::Encoding::for_bom(&rest).or(unmarked);
        if let Some((_, bytes)) = marked.filter(|(marked, _)| *marked == UTF_8) {
            rest.drain(..bytes);
        }
        let asked = encoding.filter(|encoding| encoding.0 != UTF_8);
        let marked = marked.map(|(marked, _)| Encoding(marked)).filter(|marked| marked.0 != UTF_8);
        let state = match (asked, marked, encoding) {
            (Some(asked), ..) => Conversion::begin(asked, true),
            (None, Some(marked), None) => Conversion::begin(marked, false),
            (None, _, Some(_)) => State::Raw,
            (None, None, None) => State::Utf8 { beyond_ascii: false },
        };
        let recognised = marked.filter(|_| encoding.is_none());
        Ok(Self { input, state, rest, ended: false, recognised })
    }

    /// The encoding that was recognised so far, if it is not UTF-8.
    pub(crate) fn recognised(&self) -> Option<Encoding> {
        self.recognised
    }

    /// Reads what follows `rest` behind it into `out`; the number of all bytes there.
    fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let held = self.rest.len().min(out.len());
        out[..held].copy_from_slice(&self.rest[..held]);
        self.rest.drain(..held);
        if held == out.len() || self.ended {
            return Ok(held);
        }
        let read = self.input.read(&mut out[held..])?;
        self.ended = read == 0;
        Ok(held + read)
    }

    /// Hands out the UTF-8 at the start of `out[..len]`, and settles the encoding of the rest. `None` means: look again.
    fn checked(&mut self, out: &[u8], beyond_ascii: bool) -> Option<usize> {
        let (valid, cut) = match str::from_utf8(out) {
            Ok(text) => (text.len(), false),
            Err(error) => (error.valid_up_to(), error.error_len().is_none() && !self.ended),
        };
        let beyond_ascii = beyond_ascii || !out[..valid].is_ascii();
        self.state = State::Utf8 { beyond_ascii };
        if valid < out.len() {
            self.rest.splice(..0, out[valid..].iter().copied());
            if !cut {
                self.state = match beyond_ascii {
                    // It was UTF-8 before, so this is damage.
                    true => State::Raw,
                    false => {
                        let encoding = Encoding(WINDOWS_1252);
                        self.recognised = Some(encoding);
                        Conversion::begin(encoding, false)
                    }
                };
            }
        }
        (valid > 0 || out.is_empty()).then_some(valid)
    }

    /// Decodes the next piece, if all that was decoded is handed out.
    fn decode(&mut self) -> io::Result<()> {
        let State::Other(conversion) = &self.state else { return Ok(()) };
        if conversion.handed_out < conversion.decoded.len() || self.ended && self.rest.is_empty() {
            return Ok(());
        }
        let mut piece = vec![0; PIECE];
        let len = self.fill(&mut piece)?;
        let piece = &piece[..len];
        let State::Other(conversion) = &mut self.state else { return Ok(()) };
        conversion.decoded.clear();
        conversion.handed_out = 0;
        let undefined = self.recognised.is_some_and(|recognised| recognised.0 == WINDOWS_1252)
            && piece.iter().any(|byte| UNDEFINED.contains(byte));
        if undefined && !conversion.asked {
            self.recognised = None;
            self.state = State::Raw;
            self.rest.splice(..0, piece.iter().copied());
            return Ok(());
        }
        let most = conversion.decoder.max_utf8_buffer_length(len).unwrap_or(4 * PIECE + 16);
        conversion.decoded.resize(most, 0);
        let (result, _, written, wrong) =
            conversion.decoder.decode_to_utf8(piece, &mut conversion.decoded, self.ended);
        debug_assert_eq!(result, CoderResult::InputEmpty, "the buffer is as long as any text of this length");
        conversion.decoded.truncate(written);
        if wrong {
            let encoding = Encoding(conversion.decoder.encoding());
            return Err(io::Error::new(io::ErrorKind::InvalidData, NotEncodedSo(encoding)));
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.state {
                State::Raw => return self.fill(out),
                State::Utf8 { .. } if out.len() < 4 => {
                    // No character fits for certain; only what is read a few bytes at a time comes here.
                    let mut piece = [0; 4];
                    let read = self.read(&mut piece)?;
                    let len = read.min(out.len());
                    out[..len].copy_from_slice(&piece[..len]);
                    self.rest.splice(..0, piece[len..read].iter().copied());
                    return Ok(len);
                }
                State::Utf8 { beyond_ascii } => {
                    let beyond_ascii = *beyond_ascii;
                    let len = self.fill(out)?;
                    if let Some(len) = self.checked(&out[..len], beyond_ascii) {
                        return Ok(len);
                    }
                }
                State::Other(conversion) if conversion.handed_out < conversion.decoded.len() => {
                    let from = &conversion.decoded[conversion.handed_out..];
                    let len = from.len().min(out.len());
                    out[..len].copy_from_slice(&from[..len]);
                    conversion.handed_out += len;
                    return Ok(len);
                }
                State::Other(_) if self.ended && self.rest.is_empty() => return Ok(0),
                State::Other(_) => self.decode()?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives this many bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(self.0.len()).min(out.len());
            out[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    fn decoded(bytes: &[u8], encoding: Option<&str>) -> (io::Result<Vec<u8>>, Option<String>) {
        let encoding = || encoding.map(|label| label.parse().unwrap());
        let read = |step: usize, piece: usize| {
            let mut input = Decoded::new(Slow(bytes, step), encoding()).unwrap();
            let (mut text, mut buffer) = (Vec::new(), vec![0; piece]);
            loop {
                match input.read(&mut buffer) {
                    Ok(0) => break (Ok(text), input.recognised().map(|recognised| recognised.to_string())),
                    Ok(len) => text.extend_from_slice(&buffer[..len]),
                    Err(error) => break (Err(error), None),
                }
            }
        };
        let whole = read(usize::MAX, 1 << 16);
        for (step, piece) in [(1, 1), (1, 3), (2, 4), (3, 5), (7, 64)] {
            let other = read(step, piece);
            assert_eq!(other.0.as_ref().ok(), whole.0.as_ref().ok(), "{step} bytes, {piece} asked for");
            assert_eq!(other.1, whole.1);
        }
        whole
    }

    #[test]
    fn encodings_are_told_by_their_bytes() {
        let latin = "windows-1252";
        for (bytes, text, recognised) in [
            ("a,München\n1,2".as_bytes(), "a,München\n1,2", None),
            ("\u{feff}a,ü".as_bytes(), "a,ü", None),
            (b"a,M\xfcnchen\n1,2", "a,München\n1,2", Some(latin)),
            (b"5 \x80\n\xe9", "5 €\né", Some(latin)),
            (b"\xff\xfea\0,\0\xfc\0", "a,ü", Some("utf-16le")),
            (b"\xfe\xff\0a\0,\x20\xac", "a,€", Some("utf-16be")),
            (b"a\0,\0\xfc\0", "a,ü", Some("utf-16le")),
            (b"\0a\0,\x20\xac", "a,€", Some("utf-16be")),
            (b"", "", None),
        ] {
            let (read, told) = decoded(bytes, None);
            assert_eq!((read.unwrap(), told.as_deref()), (text.as_bytes().to_vec(), recognised), "{text}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_passed_on_as_it_is() {
        // UTF-8 with damage, and a code that Windows-1252 has not.
        for bytes in [&b"M\xc3\xbcnchen\n\xfc"[..], b"caf\xe9 \x81", b"\xc3\xbc\xe2\x82"] {
            assert_eq!(decoded(bytes, None).0.unwrap(), bytes);
        }
    }

    #[test]
    fn what_was_said_holds() {
        let (read, told) = decoded(b"\xb1", Some("iso-8859-2"));
        assert_eq!((read.unwrap(), told), ("ą".as_bytes().to_vec(), None));
        assert_eq!(decoded("ü".as_bytes(), Some("latin1")).0.unwrap(), "Ã¼".as_bytes());
        assert_eq!(decoded(b"\xfc", Some("utf-8")).0.unwrap(), b"\xfc");
        let error = decoded(b"a\0\0", Some("utf-16le")).0.unwrap_err().to_string();
        assert_eq!(error, "its text is not utf-16le; name its encoding");
        assert_eq!(decoded(b"\x83\x41", Some("shift_jis")).0.unwrap(), "ア".as_bytes());
    }
}
