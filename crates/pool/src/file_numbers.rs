//! Numbers in a file, which the system brings into memory where they are read, and takes out again where memory is short.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file without a name, to which numbers are written one after another.
#[derive(Debug)]
pub struct NumberFile {
    file: BufWriter<File>,
    len: usize,
}

impl NumberFile {
    /// An empty one on the disk that holds this directory. Nothing is left behind there, however the process ends.
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn create_in(dir: &Path) -> io::Result<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let (path, file) = loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let path = dir.join(format!(".foretell-{}-{number}.numbers", process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                // A process of this number on another machine that shares the directory has its file there for a moment.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => break (path, file?),
            }
        };
        fs::remove_file(&path)?;
        Ok(Self { file: BufWriter::with_capacity(1 << 20, file), len: 0 })
    }

    /// An empty one in memory, for numbers that several processes of a machine see: they are there once.
    ///
    /// # Errors
    /// If the system makes none.
    pub fn in_memory() -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(1 << 20, memory_file()?), len: 0 })
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// If the disk does not take them.
    pub fn append(&mut self, numbers: &[f32]) -> io::Result<()> {
        self.len += numbers.len();
        numbers.iter().try_for_each(|number| self.file.write_all(&number.to_ne_bytes()))
    }

    /// Writes what is appended so far, and says where other processes of this machine find it as long as this file is open here:
    /// [`FileNumbers::open`]. Nowhere, on systems other than Linux.
    ///
    /// # Errors
    /// If the disk does not take the numbers.
    pub fn seen_at(&mut self) -> io::Result<Option<PathBuf>> {
        self.file.flush()?;
        Ok(seen_at(self.file.get_ref()))
    }

    /// The numbers, all of which are written.
    ///
    /// # Errors
    /// If the disk does not take the last of them, or the system has no room for the addresses of this many.
    pub fn finish(self) -> io::Result<FileNumbers> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(FileNumbers(Mapped::new(&file, self.len)?))
    }
}

/// Numbers in a file that no one can change: on Linux they take no memory that the system could not use otherwise, elsewhere they are
/// in memory.
///
/// Where the disk fails while they are read, the system ends the process (SIGBUS).
pub struct FileNumbers(Mapped);

impl FileNumbers {
    /// The first `len` numbers that another process of this machine and user writes, where it says
    /// ([`NumberFile::seen_at`]): in the memory of the system they are there once.
    ///
    /// # Errors
    /// If that process has no such file, or one of fewer numbers, or is of another user, or if the file has a name, by which anyone
    /// could change it.
    pub fn open(path: &Path, len: usize) -> io::Result<Self> {
        let file = File::open(path)?;
        if has_name(&file)? {
            let message = format!("{} is a file of another kind: it has a name", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self(Mapped::new(&file, len)?))
    }
}

impl Deref for FileNumbers {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        self.0.numbers()
    }
}

impl fmt::Debug for FileNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} numbers in a file", self.len())
    }
}

#[cfg(target_os = "linux")]
mod mapped {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::ptr::{self, NonNull};
    use std::slice;

    /// A file in the address space.
    pub(super) struct Mapped {
        start: NonNull<f32>,
        len: usize,
    }

    // SAFETY: the pages are read alone, by whatever thread.
    unsafe impl Send for Mapped {}
    // SAFETY: as above; nothing changes behind a shared reference.
    unsafe impl Sync for Mapped {}

    impl Mapped {
        /// The first `len` numbers of a file that has no name.
        pub(super) fn new(file: &File, len: usize) -> io::Result<Self> {
            if len == 0 {
                return Ok(Self { start: NonNull::dangling(), len });
            }
            let bytes = len.checked_mul(size_of::<f32>()).ok_or(io::ErrorKind::FileTooLarge)?;
            if file.metadata()?.len() < bytes as u64 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // SAFETY: a new mapping at an address of the system's choice; the descriptor is open, and the file has this many bytes.
            let start = unsafe {
                libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
            };
            match NonNull::new(start.cast()).filter(|_| start != libc::MAP_FAILED) {
                Some(start) => Ok(Self { start, len }),
                None => Err(io::Error::last_os_error()),
            }
        }

        pub(super) fn numbers(&self) -> &[f32] {
            // SAFETY: the mapping has `len` numbers, is aligned to a page and lives as long as `self`. The file had no name when it was
            // mapped, so only a process that has it open reaches it: the one that wrote it, which has written all of these and closes
            // it, and others of this program, which open it to read. None writes to it or makes it shorter. Any bits are a number.
            unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }

    impl Drop for Mapped {
        fn drop(&mut self) {
            if self.len > 0 {
                // SAFETY: the whole of the mapping that `new` made, to which no reference is left.
                unsafe { libc::munmap(self.start.as_ptr().cast(), self.len * size_of::<f32>()) };
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod mapped {
    use std::fs::File;
    use std::io::{self, Read as _, Seek as _};

    /// The numbers of a file.
    pub(super) struct Mapped(Vec<f32>);

    impl Mapped {
        pub(super) fn new(mut file: &File, len: usize) -> io::Result<Self> {
            file.rewind()?;
            let mut bytes = Vec::new();
            file.take(4 * len as u64).read_to_end(&mut bytes)?;
            let numbers: Vec<f32> =
                bytes.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
            if numbers.len() == len { Ok(Self(numbers)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        }

        pub(super) fn numbers(&self) -> &[f32] {
            &self.0
        }
    }
}

use mapped::Mapped;

#[cfg(target_os = "linux")]
fn seen_at(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;

    Some(format!("/proc/{}/fd/{}", process::id(), file.as_raw_fd()).into())
}

#[cfg(target_os = "linux")]
fn has_name(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    Ok(file.metadata()?.nlink() > 0)
}

#[cfg(target_os = "linux")]
fn memory_file() -> io::Result<File> {
    use std::os::fd::FromRawFd as _;

    // SAFETY: the name ends with 0.
    let descriptor = unsafe { libc::memfd_create(c"foretell-numbers".as_ptr(), libc::MFD_CLOEXEC) };
    match descriptor {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it was opened for this file alone.
        _ => Ok(unsafe { File::from_raw_fd(descriptor) }),
    }
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> io::Result<File> {
    Ok(NumberFile::create_in(&std::env::temp_dir())?.file.into_inner()?)
}

/// The numbers are copied, so that no other process can change them.
#[cfg(not(target_os = "linux"))]
fn has_name(_: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(not(target_os = "linux"))]
fn seen_at(_: &File) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_is_left() {
        let dir = std::env::temp_dir().join(format!("foretell-numbers-{}", process::id()));
        fs::create_dir(&dir).unwrap();
        let (mut numbers, mut expected) = (NumberFile::create_in(&dir).unwrap(), Vec::new());
        let empty = NumberFile::create_in(&dir).unwrap().finish().unwrap();
        for len in [0, 1, 7, 1000, 300_000] {
            let part: Vec<f32> = (0..len).map(|i| (i as f32).sqrt() - len as f32).collect();
            numbers.append(&part).unwrap();
            expected.extend(part);
        }
        let numbers = numbers.finish().unwrap();
        assert!(*numbers == expected[..] && empty.is_empty());
        let shared = &numbers;
        std::thread::scope(|scope| {
            scope.spawn(move || assert_eq!(shared[300_000], expected[300_000]));
        });
        fs::remove_dir(&dir).expect("an empty directory");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_one_writes_others_see() {
        for numbers in [NumberFile::create_in(&std::env::temp_dir()), NumberFile::in_memory()] {
            let mut numbers = numbers.unwrap();
            numbers.append(&[1.0, 2.0, 3.0]).unwrap();
            let path = numbers.seen_at().unwrap().unwrap();
            let seen = FileNumbers::open(&path, 3).unwrap();
            let too_many = FileNumbers::open(&path, 4).unwrap_err();
            assert_eq!(too_many.kind(), io::ErrorKind::UnexpectedEof);
            drop(numbers.finish().unwrap());
            assert_eq!(*seen, [1.0, 2.0, 3.0], "they are there as long as anyone sees them");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let error = NumberFile::create_in(Path::new("/no/such/directory")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_with_a_name_is_not_shared() {
        let path = std::env::temp_dir().join(format!("foretell-named-{}", process::id()));
        fs::write(&path, [0; 16]).unwrap();
        let error = FileNumbers::open(&path, 4).unwrap_err();
        fs::remove_file(&path).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
