//! Text that is compressed by gzip or Zstandard, or is the only file of a zip archive: told by its first bytes, whatever the file is
//! called, and unpacked as it is read.
//!
//! A few bytes can stand for any amount of text, so the size of the output is held against that of the input. Zstandard's own
//! window takes up to 128 MB, its decoder's default limit.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use super::zip_text::{NoZipText, ZIP, ZipText};

/// Text may be unpacked to this many times its packed size,
const FACTOR: u64 = 100;

/// and to so much in any case.
const ALWAYS: u64 = 16 << 20;

const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTANDARD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Why compressed text cannot be read; within an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damage {
    #[error("its {0} data are damaged or cut short ({1}); write the file again")]
    Broken(&'static str, String),
    #[error(
        "its {0} data unpack to over {times} times their size, which is not credible; unpack the file first if it is",
        times = FACTOR
    )]
    Bomb(&'static str),
    #[error("{0}")]
    Zip(String),
    #[cfg(not(feature = "parquet"))]
    #[error(
        "it is compressed by Zstandard, and this foretell was built without; unpack it first, or build it with the feature `parquet`"
    )]
    NotBuilt,
}

impl Damage {
    /// The damage that an error is about, if it is about one.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// The first bytes of a source, and the others.
type Whole<R> = BufReader<Chain<Cursor<Vec<u8>>, Uninterrupted<R>>>;

/// A source that reads again where a signal interrupts it: the one who decodes may hold bytes that another call would lose.
pub(crate) struct Uninterrupted<R>(R);

impl<R: Read> Read for Uninterrupted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// The text of a source, be it compressed or not.
pub(crate) enum Text<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<Unpacked<MultiGzDecoder<Counted<Whole<R>>>>>),
    Zip(Box<Unpacked<ZipText<Counted<Whole<R>>>>>),
    #[cfg(feature = "parquet")]
    Zstandard(Unpacked<zstd::Decoder<'static, Counted<Whole<R>>>>),
}

impl<R: Read> Text<R> {
    pub(crate) fn of(input: R) -> io::Result<Self> {
        let mut input = Uninterrupted(input);
        let mut head = Vec::new();
        input.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut head)?;
        let (gzip, zstandard) = (head.starts_with(&GZIP), head.starts_with(&ZSTANDARD));
        if head == ZIP {
            let input = Counted {
                input: BufReader::with_capacity(1 << 16, Cursor::new(Vec::new()).chain(input)),
                bytes: 0,
            };
            let text = ZipText::new(input).map_err(|error| damaged("zip", error))?;
            return Ok(Self::Zip(Box::new(Unpacked::new("zip", text))));
        }
        let input = BufReader::with_capacity(1 << 16, Cursor::new(head).chain(input));
        if !gzip && !zstandard {
            return Ok(Self::Plain(input));
        }
        let input = Counted { input, bytes: 0 };
        Ok(match gzip {
            true => Self::Gzip(Box::new(Unpacked::new("gzip", MultiGzDecoder::new(input)))),
            #[cfg(feature = "parquet")]
            false => Self::Zstandard(Unpacked::new("zstd", zstd::Decoder::with_buffer(input)?)),
            #[cfg(not(feature = "parquet"))]
            false => return Err(io::Error::new(io::ErrorKind::Unsupported, Damage::NotBuilt)),
        })
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(out),
            Self::Gzip(unpacked) => unpacked.read(out, |decoder| decoder.get_ref().bytes),
            Self::Zip(unpacked) => unpacked.read(out, |decoder| decoder.get_ref().bytes),
            #[cfg(feature = "parquet")]
            Self::Zstandard(unpacked) => unpacked.read(out, |decoder| decoder.get_ref().bytes),
        }
    }
}

/// The output of a decoder, for as long as its size is in proportion.
pub(crate) struct Unpacked<D> {
    format: &'static str,
    decoder: D,
    bytes: u64,
}

impl<D: Read> Unpacked<D> {
    fn new(format: &'static str, decoder: D) -> Self {
        Self { format, decoder, bytes: 0 }
    }

    fn read(&mut self, out: &mut [u8], packed: impl Fn(&D) -> u64) -> io::Result<usize> {
        let read = self.decoder.read(out).map_err(|error| damaged(self.format, error))?;
        self.bytes += read as u64;
        match self.bytes > ALWAYS.max(packed(&self.decoder).saturating_mul(FACTOR)) {
            true => Err(io::Error::new(io::ErrorKind::InvalidData, Damage::Bomb(self.format))),
            false => Ok(read),
        }
    }
}

/// The error of a decoder as one of the data, if it is.
fn damaged(format: &'static str, error: io::Error) -> io::Error {
    let zip = error.get_ref().and_then(|cause| cause.downcast_ref::<NoZipText>());
    let damage = match (zip, error.kind()) {
        (Some(why), _) => Damage::Zip(why.to_string()),
        (
            None,
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::Other,
        ) => Damage::Broken(format, error.to_string()),
        (None, _) => return error,
    };
    io::Error::new(io::ErrorKind::InvalidData, damage)
}

/// A source, and how much of it was taken.
pub(crate) struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.input.consume(bytes);
    }
}

/// The text of the beginning of a file, which may be compressed: at most `most` bytes of it, and of one that is cut off those before its end.
pub fn unpacked_beginning(head: &[u8], most: u64) -> Vec<u8> {
    let mut text = Vec::new();
    // What cannot be unpacked is an error of its reader.
    _ = Text::of(head).and_then(|unpacked| unpacked.take(most).read_to_end(&mut text));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_bomb_is_refused_before_it_is_unpacked() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..600).for_each(|_| gzip.write_all(&[b'0'; 1 << 20]).unwrap());
        let packed = gzip.finish().unwrap();
        let mut text = Text::of(&packed[..]).unwrap();
        let (mut out, mut bytes) = ([0; 1 << 16], 0);
        let error = loop {
            match text.read(&mut out) {
                Ok(0) => panic!("all {bytes} bytes were unpacked"),
                Ok(read) => bytes += read,
                Err(error) => break error,
            }
        };
        assert!(bytes <= 20 << 20, "{bytes}");
        assert!(matches!(Damage::of(&error), Some(Damage::Bomb(_))), "{error}");
    }

    #[test]
    fn a_beginning_that_is_cut_off_is_unpacked_up_to_its_end() {
        let text: String = (0..60_000_u64).map(|i| format!("{i},{}\n", i * i % 7919)).collect();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let beginning = unpacked_beginning(&packed[..packed.len() / 2], 1 << 30);
        assert!(
            beginning.len() > text.len() / 4 && text.as_bytes().starts_with(&beginning),
            "{}",
            beginning.len()
        );
        assert_eq!(unpacked_beginning(&packed, 1000), &text.as_bytes()[..1000]);
        assert_eq!(unpacked_beginning(text.as_bytes(), 1000), &text.as_bytes()[..1000]);
        assert!(unpacked_beginning(b"\x1f\x8b damaged", 1000).is_empty());
    }
}
