//! The three files of a language model's folder.

use std::path::Path;
use std::time::SystemTime;

use crc32fast::Hasher;
use foretell_files::read_regular;

use crate::error::LanguageModelError;

/// The files, in the order in which the checksum takes them.
pub(crate) const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// Sizes and times of the files, by which it is told whether they are still those that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp([Option<(u64, SystemTime)>; 3]);

impl Stamp {
    pub(crate) fn of(folder: &Path) -> Self {
        Self(FILES.map(|file| {
            let metadata = folder.join(file).metadata().ok()?;
            Some((metadata.len(), metadata.modified().ok()?))
        }))
    }
}

/// The bytes of the files.
pub(crate) fn read(folder: &Path) -> Result<[Vec<u8>; 3], LanguageModelError> {
    let [config, tokenizer, weights] = FILES.map(|file| read_regular(&folder.join(file)));
    Ok([config?, tokenizer?, weights?])
}

/// The CRC-32 of the files, one behind the other, in eight hexadecimal digits.
pub(crate) fn checksum(files: &[Vec<u8>; 3]) -> String {
    let mut hasher = Hasher::new();
    for bytes in files {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    format!("{:08x}", hasher.finalize())
}
