//! A safetensors file of which each tensor is read when it is asked for, so that memory holds what is used of it alone.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretell_files::open_fitting;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::{CheckpointError, Result};
use crate::tensor::{TensorData, TensorValues};

/// The longest header that is read, as by the reference reader.
const LONGEST_HEADER: u64 = 100_000_000;

/// Bytes that are passed over at a time.
const PIECE: usize = 1 << 18;

/// The bytes of the header of an open safetensors file, behind which the file then stands; nothing if it cannot be one.
pub(crate) fn header_bytes(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let size = file.metadata()?.len();
    let mut length = [0; 8];
    if size < 8 {
        return Ok(None);
    }
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > (size - 8).min(LONGEST_HEADER) {
        return Ok(None);
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header)?;
    Ok(Some(header))
}

/// The tensors of a `.safetensors` file that stay there until they are taken. The header is checked: each tensor has the bytes that its
/// shape says, one behind the other up to the end of the file. A checksum of foretell's is not compared, as nothing is read whole.
#[derive(Debug)]
pub struct OpenTensors {
    path: PathBuf,
    file: File,
    /// Its bytes and its time when it was opened.
    size: u64,
    modified: Option<SystemTime>,
    /// Where the data begin.
    data: u64,
    tensors: HashMap<String, TensorInfo>,
}

impl OpenTensors {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// The file cannot be read, has more bytes than memory, or a header that is damaged or not of these bytes.
    pub fn open(path: &Path) -> Result<Self> {
        let corrupt = |reason: String| CheckpointError::Corrupt { path: path.to_path_buf(), reason };
        let (mut file, size) = open_fitting(path)?;
        let modified = modified(&file);
        let header = header_bytes(&mut file).map_err(|error| CheckpointError::io("read", path, error))?;
        let header = header.ok_or_else(|| corrupt("its header does not end within the file".to_owned()))?;
        let metadata: Metadata =
            serde_json::from_slice(&header).map_err(|error| corrupt(error.to_string()))?;
        let tensors: HashMap<String, TensorInfo> =
            metadata.tensors().into_iter().map(|(name, info)| (name, info.clone())).collect();
        let data = 8 + header.len() as u64;
        let end = tensors.values().map(|info| info.data_offsets.1 as u64).max().unwrap_or(0);
        let end = data.saturating_add(end);
        match end == size {
            true => Ok(Self { path: path.to_path_buf(), file, size, modified, data, tensors }),
            false => Err(corrupt(format!("it has {size} bytes, its header is of one of {end}"))),
        }
    }

    /// The names of the tensors that were not taken, and how many numbers each has.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info.shape.iter().product()))
    }

    /// The dtype of a tensor, in the spelling of safetensors, and its shape.
    pub fn kind(&self, name: &str) -> Option<(String, &[usize])> {
        self.tensors.get(name).map(|info| (info.dtype.to_string(), &info.shape[..]))
    }

    /// Reads a tensor; nothing if it is not there or was taken before.
    ///
    /// # Errors
    /// The file cannot be read, memory has no room, or the tensor is of an unknown dtype.
    pub fn take(&mut self, name: &str) -> Result<Option<TensorData>> {
        let Some(TensorInfo { dtype, shape, data_offsets: (start, end) }) = self.tensors.remove(name) else {
            return Ok(None);
        };
        let (mut bytes, size) = (Vec::new(), end - start);
        let mut read = || -> io::Result<()> {
            bytes.try_reserve_exact(size).map_err(io::Error::other)?;
            self.file.seek(SeekFrom::Start(self.data + start as u64))?;
            match (&mut self.file).take(size as u64).read_to_end(&mut bytes)? {
                read if read == size => Ok(()),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        read().map_err(|error| CheckpointError::io("read", &self.path, error))?;
        match TensorValues::from_bytes(dtype, &bytes) {
            Some(values) => Ok(Some(TensorData::new(shape, values))),
            None => Err(CheckpointError::Dtype {
                path: self.path.clone(),
                tensor: name.to_owned(),
                dtype: dtype.to_string(),
            }),
        }
    }

    /// Shows all bytes of the file, piece by piece: for a checksum.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn each_piece(&mut self, mut see: impl FnMut(&[u8])) -> Result<()> {
        let mut read = || -> io::Result<()> {
            self.file.seek(SeekFrom::Start(0))?;
            let mut piece = vec![0; PIECE];
            loop {
                match self.file.read(&mut piece)? {
                    0 => return Ok(()),
                    n => see(&piece[..n]),
                }
            }
        };
        read().map_err(|error| CheckpointError::io("read", &self.path, error))
    }

    /// The bytes that the file had when it was opened.
    pub fn file_size(&self) -> u64 {
        self.size
    }

    /// Checks that the file has the size and the time of when it was opened, so that all that was read of it is of one file.
    ///
    /// # Errors
    /// It was written meanwhile, or cannot be looked at.
    pub fn check_unchanged(&self) -> Result<()> {
        let unread = |error| CheckpointError::io("read", &self.path, error);
        let size = self.file.metadata().map_err(unread)?.len();
        match (size, modified(&self.file)) == (self.size, self.modified) {
            true => Ok(()),
            false => {
                Err(unread(io::Error::other("it was written meanwhile; read it again when that is done")))
            }
        }
    }
}

/// When a file was written last, where the system tells.
fn modified(file: &File) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use crate::TensorFile;

    #[test]
    fn tensors_that_are_taken_are_those_of_the_whole_file() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plain/my_model_0.safetensors");
        let whole = TensorFile::read(&path).unwrap();
        let mut open = OpenTensors::open(&path).unwrap();
        let mut bytes: Vec<u8> = Vec::new();
        open.each_piece(|piece| bytes.extend(piece)).unwrap();
        assert_eq!(bytes, fs::read(&path).unwrap());
        assert_eq!(open.file_size(), bytes.len() as u64);
        assert_eq!(open.sizes().count(), whole.tensors.len());
        for (name, tensor) in whole.tensors {
            assert_eq!(open.kind(&name), Some((tensor.dtype(), tensor.shape())));
            assert_eq!(open.take(&name).unwrap(), Some(tensor), "{name}");
            assert_eq!(open.take(&name).unwrap(), None, "{name} a second time");
        }
    }

    #[test]
    fn what_is_not_taken_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model.safetensors");
        // A gigabyte of nothing, which takes no room on the disk.
        let large = 1_u64 << 30;
        let header = format!(
            r#"{{"a":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}},"b":{{"dtype":"U8","shape":[{large}],"data_offsets":[4,{}]}}}}"#,
            large + 4
        );
        let mut file = File::create(&path).unwrap();
        file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
        file.write_all(header.as_bytes()).unwrap();
        file.write_all(&2.5_f32.to_le_bytes()).unwrap();
        file.set_len(8 + header.len() as u64 + 4 + large).unwrap();
        let mut open = OpenTensors::open(&path).unwrap();
        assert_eq!(open.take("a").unwrap(), Some(TensorData::f32([1], vec![2.5])));
        open.check_unchanged().unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        let changed = open.check_unchanged().unwrap_err().to_string();
        assert!(changed.contains("model.safetensors") && changed.contains("written meanwhile"), "{changed}");
        // A byte more or less than the header says.
        for size in [4 + large - 1, 4 + large + 1] {
            file.set_len(8 + header.len() as u64 + size).unwrap();
            let error = OpenTensors::open(&path).unwrap_err();
            assert!(matches!(error, CheckpointError::Corrupt { .. }), "{error}");
        }
    }
}
