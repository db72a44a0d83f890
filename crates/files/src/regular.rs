//! Regular files, read whole.
//!
//! Pipes and devices have no end that can be told beforehand, and reading them may wait for ever; so they are refused where a
//! file is expected.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::error::{FileError, Result};

/// Opens a regular file to read it, links followed. A pipe is not waited for.
///
/// # Errors
/// [`FileError::NotRegular`] if it is a pipe, a device, a socket or a directory; [`FileError::Io`] if it cannot be opened.
pub fn open_regular(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    let failed = || FileError::io("read", path);
    let metadata = path.metadata().map_err(failed())?;
    // Looked at before it is opened, which alone makes some devices act, and after, since it may be another one by then.
    let opened = if metadata.is_file() { Some(options.open(path).map_err(failed())?) } else { None };
    match opened {
        Some(file) if file.metadata().map_err(failed())?.is_file() => Ok(file),
        _ => Err(FileError::NotRegular { path: path.to_path_buf() }),
    }
}

/// The content of a regular file.
///
/// # Errors
/// The errors of [`open_regular`]; [`FileError::Io`] if it cannot be read, or memory has no room for it.
pub fn read_regular(path: &Path) -> Result<Vec<u8>> {
    read_open(&open_regular(path)?).map_err(FileError::io("read", path))
}

/// Opens a regular file that memory has room for, to read parts of it, and the bytes that it has.
///
/// # Errors
/// The errors of [`open_regular`]; [`FileError::Io`] if memory has no room for it.
pub fn open_fitting(path: &Path) -> Result<(File, u64)> {
    let file = open_regular(path)?;
    let size = fitting_size(&file).map_err(FileError::io("read", path))?;
    Ok((file, size as u64))
}

/// The rest of an open regular file, as long as it is now: one that grows meanwhile is not followed.
pub(crate) fn read_open(file: &File) -> io::Result<Vec<u8>> {
    let size = fitting_size(file)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| no_room(size as u64))?;
    file.take(size as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of an open file. A sparse file of a terabyte takes no room on the disk, but all of memory. The machine's is asked before any is
/// taken, as a program may have an allocator that ends it where memory is refused.
fn fitting_size(file: &File) -> io::Result<usize> {
    let size = file.metadata()?.len();
    usize::try_from(size).ok().filter(|_| size <= memory()).ok_or_else(|| no_room(size))
}

fn no_room(size: u64) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("it has {size} bytes, more than memory has room for"))
}

/// The bytes of the machine's memory, as far as they are known.
fn memory() -> u64 {
    #[cfg(target_os = "linux")]
    let bytes = {
        let info = rustix::system::sysinfo();
        (info.totalram as u64 + info.totalswap as u64).saturating_mul(info.mem_unit.into())
    };
    #[cfg(not(target_os = "linux"))]
    let bytes = u64::MAX;
    bytes
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_read_whole_and_other_things_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f");
        assert!(matches!(read_regular(&path), Err(FileError::Io { .. })));
        fs::write(&path, "text").unwrap();
        assert_eq!(read_regular(&path).unwrap(), b"text");
        assert!(matches!(read_regular(home.path()), Err(FileError::NotRegular { .. })));
        #[cfg(unix)]
        for (name, target) in [("link", "f"), ("device", "/dev/zero")] {
            let link = home.path().join(name);
            std::os::unix::fs::symlink(target, &link).unwrap();
            let read = read_regular(&link);
            assert_eq!(read.is_ok(), name == "link", "{read:?}");
            assert_eq!(matches!(read, Err(FileError::NotRegular { .. })), name == "device");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn neither_a_pipe_nor_a_file_beyond_memory_is_read() {
        let home = tempfile::tempdir().unwrap();
        let [pipe, sparse] = ["pipe", "sparse"].map(|name| home.path().join(name));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(matches!(read_regular(&pipe), Err(FileError::NotRegular { .. })));
        // More than an address can name, where the file system allows it.
        if File::create(&sparse).unwrap().set_len(1 << 50).is_err() {
            File::create(&sparse).unwrap().set_len(1 << 43).unwrap();
        }
        let error = read_regular(&sparse).unwrap_err().to_string();
        assert!(error.contains("more than memory has room for"), "{error}");
    }
}
