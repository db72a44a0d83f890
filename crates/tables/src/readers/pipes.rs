//! Pipes that are named as files, as a shell's `<(...)` is: they give their text once. Its beginning is kept, so that it can be looked at
//! before all of it is read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::compressed::unpacked_beginning;
use super::other_kinds::is_json;

/// Bytes that are kept of a text: the rows that are looked at.
const KEPT: usize = 1 << 22;

/// JSON, which is read into memory as a whole, is kept so up to this size: there is no limit of memory to count it against here.
const KEPT_JSON: usize = 1 << 28;

type Pipes = HashMap<PathBuf, Arc<Mutex<Pipe>>>;

static PIPES: OnceLock<Mutex<Pipes>> = OnceLock::new();

/// From here on the beginnings of pipes are kept until the process ends: for programs that read each of them once, as a command does, and
/// look at it before.
pub fn keep_beginnings_of_pipes() {
    PIPES.get_or_init(Mutex::default);
}

/// Whether a path is one of a source that gives its text once.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The text of a file.
pub enum FileText {
    /// A file, or a pipe that is read once.
    File(File),
    /// A pipe whose beginning is kept.
    Pipe(PipeText),
}

impl FileText {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let Some(pipes) = PIPES.get().filter(|_| is_pipe(path)) else {
            return File::open(path).map(Self::File);
        };
        let pipe = locked(pipes).entry(path.to_owned()).or_default().clone();
        // A named pipe is opened when its writer comes: others are read meanwhile.
        locked(&pipe).open(|| Ok(Box::new(File::open(path)?)))?;
        Ok(Self::Pipe(PipeText { pipe, at: 0 }))
    }
}

impl Read for FileText {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(out),
            Self::Pipe(pipe) => pipe.read(out),
        }
    }
}

type Source = Box<dyn Read + Send>;

/// A source once it is open, its beginning, and how much of it was taken.
#[derive(Default)]
struct Pipe {
    source: Option<Source>,
    kept: Vec<u8>,
    taken: u64,
}

impl Pipe {
    fn open(&mut self, open: impl FnOnce() -> io::Result<Source>) -> io::Result<()> {
        if self.source.is_none() {
            self.source = Some(open()?);
        }
        Ok(())
    }

    /// Whether what is read next is kept as well.
    fn keeps(&self) -> bool {
        let kept = self.kept.len();
        kept as u64 == self.taken && (kept < KEPT || kept < KEPT_JSON && begins_as_json(&self.kept))
    }

    /// What follows `at`: kept bytes, else those that no one has taken yet.
    fn read(&mut self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let held = usize::try_from(at).ok().and_then(|at| self.kept.get(at..));
        if let Some(held) = held.filter(|held| !held.is_empty()) {
            let read = held.len().min(out.len());
            out[..read].copy_from_slice(&held[..read]);
            return Ok(read);
        }
        if at != self.taken {
            return Err(io::Error::other(
                "it is a pipe, and more of it was read already than is kept; write it to a file first",
            ));
        }
        let Some(source) = &mut self.source else { return Ok(0) };
        let read = source.read(out)?;
        if self.keeps() {
            self.kept.extend_from_slice(&out[..read]);
        }
        self.taken += read as u64;
        Ok(read)
    }
}

/// Whether a text begins as JSON does, also where it is compressed.
fn begins_as_json(kept: &[u8]) -> bool {
    is_json(&unpacked_beginning(kept, 1 << 10))
}

/// The text of a pipe from its beginning on.
pub struct PipeText {
    pipe: Arc<Mutex<Pipe>>,
    at: u64,
}

impl Read for PipeText {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = locked(&self.pipe).read(self.at, out)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(pipe: &Arc<Mutex<Pipe>>, most: usize) -> io::Result<Vec<u8>> {
        let (mut text, mut part) = (Vec::new(), vec![0; 1 << 16]);
        let mut reader = PipeText { pipe: pipe.clone(), at: 0 };
        while text.len() < most {
            match reader.read(&mut part)? {
                0 => break,
                read => text.extend_from_slice(&part[..read]),
            }
        }
        Ok(text)
    }

    fn pipe(text: Vec<u8>) -> Arc<Mutex<Pipe>> {
        Arc::new(Mutex::new(Pipe { source: Some(Box::new(io::Cursor::new(text))), ..Pipe::default() }))
    }

    #[test]
    fn the_beginning_is_read_as_often_as_wanted_and_all_of_it_once() {
        let short = pipe(b"ds,y\n1,2\n".to_vec());
        for _ in 0..3 {
            assert_eq!(text_of(&short, usize::MAX).unwrap(), b"ds,y\n1,2\n");
        }
        let text: Vec<u8> = (0..KEPT + (1 << 20)).map(|i| b'a' + (i % 23) as u8).collect();
        let long = pipe(text.clone());
        for _ in 0..2 {
            assert_eq!(text_of(&long, 1 << 18).unwrap()[..], text[..1 << 18]);
        }
        assert_eq!(text_of(&long, usize::MAX).unwrap(), text);
        let again = text_of(&long, usize::MAX).unwrap_err().to_string();
        assert!(again.contains("write it to a file first"), "{again}");
        assert_eq!(text_of(&long, 1 << 18).unwrap()[..], text[..1 << 18], "what is kept is there still");
        let json = [b"[{\"y\": 1}".to_vec(), b", {\"y\": 1}".repeat(KEPT / 8), b"]".to_vec()].concat();
        let kept = pipe(json.clone());
        for _ in 0..2 {
            assert_eq!(text_of(&kept, usize::MAX).unwrap(), json);
        }
        // Stored, so that it has as many bytes when it is packed.
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        io::Write::write_all(&mut packed, &json).unwrap();
        let (packed, of_csv) = (packed.finish().unwrap(), text);
        let kept = pipe(packed.clone());
        for _ in 0..2 {
            assert_eq!(text_of(&kept, usize::MAX).unwrap(), packed);
        }
        assert!(begins_as_json(&packed) && !begins_as_json(&of_csv) && !begins_as_json(b"\x1f\x8b damaged"));
    }
}
