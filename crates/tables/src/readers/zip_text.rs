//! Text in a zip archive of one file, unpacked as it is read: the local header stands before the data, and what follows them tells whether
//! there are other files. After PKWARE's APPNOTE.TXT, 4.3.

use std::io::{self, BufRead, Read, Take};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

pub(super) const ZIP: [u8; 4] = *b"PK\x03\x04";

/// What begins the list of files behind all data.
const DIRECTORY: [u8; 4] = *b"PK\x01\x02";

/// Bytes of a local header behind its mark, before the name.
const HEADER: usize = 26;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Why the text of an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoZipText {
    #[error("it is a zip archive of several files ({0}, {1}, ...); unpack it, and name one of them")]
    Several(String, String),
    #[error("its file {0} is encrypted, or packed in a way that is not read here; unpack it first")]
    Method(String),
    #[error(
        "it is a workbook by what is in it; let its name end in .xlsx, or in .ods if it is one of OpenDocument"
    )]
    Workbook,
    #[error("it is a zip archive without a file")]
    Empty,
    #[error("the checksum of its file {0} is another; it is damaged: write or load it again")]
    Checksum(String),
}

fn refused(why: NoZipText) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// A local header: the name of the file, and how it is packed.
struct Entry {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
}

impl Entry {
    /// Reads what follows the mark.
    fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut header = [0; HEADER];
        input.read_exact(&mut header)?;
        let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let mut name = vec![0; short(22).into()];
        input.read_exact(&mut name)?;
        io::copy(&mut input.take(short(24).into()), &mut io::sink())?;
        let name = String::from_utf8_lossy(&name).into_owned();
        Ok(Self { name, flags: short(2), method: short(4), crc: long(10), packed: long(14) })
    }

    /// Whether sizes and checksum stand behind the data instead.
    fn is_streamed(&self) -> bool {
        self.flags & 8 != 0
    }

    fn is_of_workbook(&self) -> bool {
        ["[Content_Types].xml", "_rels/", "docProps/", "xl/", "mimetype"]
            .iter()
            .any(|name| self.name.starts_with(name))
    }

    /// Whether it is no file of a user's: a folder, or what macOS keeps of one.
    fn is_beside(&self) -> bool {
        self.name.ends_with('/') || self.name.starts_with("__MACOSX/")
    }
}

enum Data<R> {
    Stored(Take<R>),
    Deflated(DeflateDecoder<R>),
}

/// The text of the only file of an archive.
pub(crate) struct ZipText<R> {
    data: Data<R>,
    entry: Entry,
    crc: Crc,
    is_over: bool,
}

impl<R: BufRead> ZipText<R> {
    /// Begins to read an archive, behind its first mark.
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        let entry = loop {
            let entry = Entry::read(&mut input)?;
            if !entry.is_beside() {
                break entry;
            }
            io::copy(&mut input.by_ref().take(entry.packed.into()), &mut io::sink())?;
            let mut mark = [0; 4];
            input.read_exact(&mut mark)?;
            if entry.is_streamed() || mark != ZIP {
                return Err(refused(NoZipText::Empty));
            }
        };
        if entry.is_of_workbook() {
            return Err(refused(NoZipText::Workbook));
        }
        let is_encrypted = entry.flags & 1 != 0;
        let data = match entry.method {
            DEFLATED if !is_encrypted => Data::Deflated(DeflateDecoder::new(input)),
            STORED if !is_encrypted && !entry.is_streamed() && entry.packed != u32::MAX => {
                Data::Stored(input.take(entry.packed.into()))
            }
            _ => return Err(refused(NoZipText::Method(entry.name))),
        };
        Ok(Self { data, entry, crc: Crc::new(), is_over: false })
    }

    /// The source.
    pub(super) fn get_ref(&self) -> &R {
        match &self.data {
            Data::Stored(input) => input.get_ref(),
            Data::Deflated(decoder) => decoder.get_ref(),
        }
    }

    /// Looks at what follows the data: their checksum, other files, or the list of all files.
    fn end(&mut self) -> io::Result<()> {
        let streamed = self.entry.is_streamed();
        let (sum, name) = (self.crc.sum(), self.entry.name.clone());
        let input = match &mut self.data {
            Data::Stored(input) => input.get_mut(),
            Data::Deflated(decoder) => decoder.get_mut(),
        };
        let mut mark = [0; 4];
        input.read_exact(&mut mark)?;
        let mut crc = self.entry.crc;
        if streamed {
            // A mark of its own may stand before it.
            if mark == *b"PK\x07\x08" {
                input.read_exact(&mut mark)?;
            }
            crc = u32::from_le_bytes(mark);
            // Two sizes of 4 bytes, or of 8 in large archives.
            input.read_exact(&mut [0; 8])?;
            input.read_exact(&mut mark)?;
            if mark != ZIP && mark != DIRECTORY {
                input.read_exact(&mut [0; 4])?;
                input.read_exact(&mut mark)?;
            }
        }
        if crc != sum {
            return Err(refused(NoZipText::Checksum(name)));
        }
        while mark == ZIP {
            let other = Entry::read(input)?;
            if !other.is_beside() {
                return Err(refused(NoZipText::Several(name, other.name)));
            }
            // Where what macOS keeps ends is not known before it is unpacked; it stands last.
            if other.is_streamed() {
                break;
            }
            io::copy(&mut input.by_ref().take(other.packed.into()), &mut io::sink())?;
            input.read_exact(&mut mark)?;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZipText<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.is_over || out.is_empty() {
            return Ok(0);
        }
        let read = match &mut self.data {
            Data::Stored(input) => input.read(out)?,
            Data::Deflated(decoder) => decoder.read(out)?,
        };
        self.crc.update(&out[..read]);
        if read == 0 {
            self.is_over = true;
            self.end()?;
        }
        Ok(read)
    }
}
