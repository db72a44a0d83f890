//! The files of a directory in one piece of memory.
//!
//! `MAGIC`, the number of files (`u32`), of each its name and its content, each behind its length (`u64`), and the CRC-32 of all that
//! before it; numbers are little-endian. So a bit that was flipped on the way is found before anything is read.

use std::collections::BTreeMap;

const MAGIC: &[u8] = b"foretell model directory 1\n";

/// The length of the checksum.
const CHECKSUM: usize = 4;

/// Packs files, each with its name.
pub(crate) fn pack(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let content: usize = files.iter().map(|(name, bytes)| 16 + name.len() + bytes.len()).sum();
    let mut packed = Vec::with_capacity(MAGIC.len() + 4 + content + CHECKSUM);
    packed.extend_from_slice(MAGIC);
    packed.extend_from_slice(&(files.len() as u32).to_le_bytes());
    for (name, bytes) in files {
        for part in [name.as_bytes(), bytes] {
            packed.extend_from_slice(&(part.len() as u64).to_le_bytes());
            packed.extend_from_slice(part);
        }
    }
    let checksum = crc32fast::hash(&packed);
    packed.extend_from_slice(&checksum.to_le_bytes());
    packed
}

/// The files of what [`pack`] packed.
///
/// # Errors
/// In words, if it is something else, or was changed since.
pub(crate) fn unpack(packed: &[u8]) -> Result<BTreeMap<String, &[u8]>, &'static str> {
    const NOT_OURS: &str = "they are not what foretell packed";
    let (content, checksum) = packed.split_last_chunk::<CHECKSUM>().ok_or(NOT_OURS)?;
    let mut rest = content.strip_prefix(MAGIC).ok_or(NOT_OURS)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return Err(
            "their checksum is another one, so they were cut off or changed; take them from their source again",
        );
    }
    let (count, files) = rest.split_first_chunk().ok_or(NOT_OURS)?;
    rest = files;
    let mut part = || {
        let (len, behind) = rest.split_first_chunk()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (part, behind) = behind.split_at_checked(len)?;
        rest = behind;
        Some(part)
    };
    let file = |_| Some((String::from_utf8(part()?.to_vec()).ok()?, part()?));
    let files: Option<_> = (0..u32::from_le_bytes(*count)).map(file).collect();
    files.ok_or(NOT_OURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<(String, Vec<u8>)> {
        vec![("a.json".to_owned(), b"{}".to_vec()), ("b".to_owned(), vec![]), ("c".to_owned(), vec![7; 300])]
    }

    #[test]
    fn files_come_back_as_they_were() {
        let packed = pack(&files());
        let unpacked = unpack(&packed).expect("it was packed");
        assert_eq!(unpacked.len(), 3);
        assert!(files().iter().all(|(name, bytes)| unpacked[name] == &bytes[..]));
        assert!(unpack(&pack(&[])).expect("nothing").is_empty());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let packed = pack(&files());
        for bit in 0..packed.len() * 8 {
            let mut flipped = packed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(unpack(&flipped).is_err(), "bit {bit}");
        }
        assert!((0..packed.len()).all(|len| unpack(&packed[..len]).is_err()));
        // A checksum that is right does not make lengths right.
        let mut long = [MAGIC, &1_u32.to_le_bytes(), &u64::MAX.to_le_bytes()].concat();
        long.extend_from_slice(&crc32fast::hash(&long).to_le_bytes());
        assert!(unpack(&long).is_err());
    }
}
