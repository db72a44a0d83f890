//! Directories of models as zip archives.
//!
//! Reader and writer are ours: the crate `zip` asks a browser's bindings for random numbers, which an archive of models has no use for.

use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use foretell::Fitted;

use crate::refusal::Refusal;

/// The most bytes that the files of an archive may have: a quarter of what a module of WebAssembly can address.
const MOST_BYTES: u64 = 1 << 30;

/// What the entries of a zip archive begin with: a file, its entry in the directory, the end of that.
const FILE: &[u8] = b"PK\x03\x04";
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

/// The models of an archive, or of the bytes of [`Fitted::to_bytes`].
pub(crate) fn read(bytes: &[u8]) -> Result<Fitted, Refusal> {
    if bytes.starts_with(b"foretell model directory") {
        return Ok(Fitted::from_bytes(bytes)?);
    }
    let files = unzip(bytes).map_err(|what| {
        Refusal::archive(format!(
            "these bytes are no zip archive of a model directory: {what}; zip the directory that save wrote"
        ))
    })?;
    Ok(Fitted::from_files(files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])))?)
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?)))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?)).ok()
}

/// The files of an archive by their names, without the folder that they may stand in.
fn unzip(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, &'static str> {
    const CUT: &str = "it is cut off or damaged";
    let end = bytes.windows(4).rposition(|four| four == END).ok_or("its directory is missing")?;
    let (count, mut at) = (short(bytes, end + 10).ok_or(CUT)?, long(bytes, end + 16).ok_or(CUT)?);
    let (mut files, mut room) = (Vec::new(), MOST_BYTES);
    for _ in 0..count {
        let entry = bytes.get(at..).filter(|entry| entry.starts_with(ENTRY)).ok_or(CUT)?;
        let number = |place| long(entry, place).ok_or(CUT);
        let (method, crc, packed) = (short(entry, 10).ok_or(CUT)?, number(16)?, number(20)?);
        let lengths = [28, 30, 32].map(|place| short(entry, place).unwrap_or_default());
        let name = entry.get(46..46 + lengths[0]).ok_or(CUT)?;
        at += 46 + lengths.iter().sum::<usize>();
        let file = bytes.get(number(42)?..).filter(|file| file.starts_with(FILE)).ok_or(CUT)?;
        let begin = 30 + short(file, 26).ok_or(CUT)? + short(file, 28).ok_or(CUT)?;
        let content = file.get(begin..).and_then(|rest| rest.get(..packed)).ok_or(CUT)?;
        if name.ends_with(b"/") {
            continue;
        }
        let mut unpacked = Vec::new();
        let read = match method {
            0 => content.take(room + 1).read_to_end(&mut unpacked),
            8 => DeflateDecoder::new(content).take(room + 1).read_to_end(&mut unpacked),
            _ => return Err("it is packed in another way than by deflate"),
        };
        room = room.checked_sub(read.map_err(|_| CUT)? as u64).ok_or("its files take more than 1 GiB")?;
        let mut sum = Crc::new();
        sum.update(&unpacked);
        if sum.sum() as usize != crc {
            return Err("a checksum is another one");
        }
        let name = String::from_utf8(name.to_vec()).map_err(|_| "a name is not UTF-8")?;
        files.push((name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(), unpacked));
    }
    Ok(files)
}

/// The archive of models, whose files are those of a directory, stored without compression: numbers of networks hardly shrink.
pub(crate) fn write(fitted: &Fitted) -> Result<Vec<u8>, Refusal> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    let files = fitted.to_files()?;
    for (name, bytes) in &files {
        let mut sum = Crc::new();
        sum.update(bytes);
        let at = archive.len() as u32;
        // Version 2.0, names in UTF-8, stored, of 1 January 1980.
        let mut common = Vec::new();
        for short in [20_u16, 0x800, 0, 0, 0x21] {
            common.extend_from_slice(&short.to_le_bytes());
        }
        for long in [sum.sum(), bytes.len() as u32, bytes.len() as u32] {
            common.extend_from_slice(&long.to_le_bytes());
        }
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        archive.extend([FILE, &common[..], &[0; 2], name.as_bytes(), bytes].concat());
        let place = at.to_le_bytes();
        directory.extend([ENTRY, &[20, 0], &common[..], &[0; 12], &place[..], name.as_bytes()].concat());
    }
    let (count, at) = ((files.len() as u16).to_le_bytes(), (archive.len() as u32).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    archive.extend(directory);
    archive.extend([END, &[0; 4], &count[..], &count[..], &size[..], &at[..], &[0; 2]].concat());
    Ok(archive)
}
