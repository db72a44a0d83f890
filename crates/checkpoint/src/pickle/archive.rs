//! The zip archive that `torch.save` writes: the pickle, and beside it the numbers of each storage.

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;

/// An open archive, and the storages that were read of it.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    size: usize,
    /// The folder that all files of the archive are in.
    folder: String,
    storages: HashMap<String, Vec<u8>>,
    /// Bytes that may still be read: files of an archive may claim the same bytes.
    left: usize,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| format!("no whole zip archive: {e}"))?;
        let folder = |name: &str| name.strip_suffix("data.pkl").map(str::to_owned);
        let folder = zip.file_names().find_map(|name| folder(&name.ok()?));
        let folder = folder.ok_or("the zip archive has no data.pkl, as those of torch.save have")?;
        let left = bytes.len().saturating_mul(2);
        let mut archive = Self { zip, size: bytes.len(), folder, storages: HashMap::new(), left };
        // Only newer versions say it.
        let order = archive.file("byteorder").unwrap_or_else(|_| b"little".to_vec());
        if order != b"little" {
            return Err(format!("its numbers are {}-endian", String::from_utf8_lossy(&order)));
        }
        Ok(archive)
    }

    /// The pickle.
    pub(super) fn program(&mut self) -> Result<Vec<u8>, String> {
        self.file("data.pkl")
    }

    /// The bytes of the storage with this key.
    pub(super) fn storage(&mut self, key: &str) -> Result<&[u8], String> {
        if !self.storages.contains_key(key) {
            let bytes = self.file(&format!("data/{key}"))?;
            self.storages.insert(key.to_owned(), bytes);
        }
        Ok(&self.storages[key])
    }

    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let name = format!("{}{name}", self.folder);
        let file = self.zip.by_name(&name).map_err(|e| format!("{name} in the zip archive: {e}"))?;
        let size = usize::try_from(file.size()).unwrap_or(usize::MAX);
        if size > self.size || size > self.left {
            return Err(format!("{name} in the zip archive claims {size} bytes, more than there are"));
        }
        self.left -= size;
        let mut bytes = Vec::with_capacity(size);
        // One byte more than it claims would be one too many; the checksum is compared at its end.
        let mut limited = file.take(size as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(|e| format!("{name} in the zip archive: {e}"))?;
        match bytes.len() == size {
            true => Ok(bytes),
            false => Err(format!("{name} in the zip archive has another size than it claims")),
        }
    }
}
