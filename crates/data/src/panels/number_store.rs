//! Files that keep the numbers of a panel, one of each column on each machine, however many processes there are on it: on a disk, or
//! in memory.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use foretell_pool::{FileNumbers, NumberFile};

use super::numbers::Numbers;
use super::peers::{Peers, gather};
use crate::error::DataError;
use crate::error::files::FilesError;

/// Numbers that are passed on at a time: 1 MB of them.
const BLOCK: usize = 1 << 18;

/// Where the numbers of a panel are kept: in files of this process, or in those of another one on its machine.
pub(super) struct NumberStore<'a> {
    /// Where they are; in memory, if nowhere.
    dir: Option<&'a Path>,
    pub(super) peers: &'a dyn Peers,
    /// The process whose files this one sees: the first of its machine.
    writer: usize,
}

/// A column on its way to a file, which is this process' own or that of another one.
pub(super) struct StoredColumn {
    file: Option<NumberFile>,
    len: usize,
}

impl<'a> NumberStore<'a> {
    /// One in this directory, which need not be the same on all machines, or in memory.
    pub(super) fn new(dir: Option<&'a Path>, peers: &'a dyn Peers) -> Result<Self, DataError> {
        let mut store = Self { dir, peers, writer: peers.rank() };
        if peers.count() > 1 {
            store.writer = store.find_writer().map_err(store.unwritten())?;
        }
        Ok(store)
    }

    /// The first process whose files this one can open. Each makes one with a mark of its own, by which it is told from a file at the
    /// same place on another machine.
    fn find_writer(&self) -> io::Result<usize> {
        let (rank, mut probe) = (self.peers.rank(), self.file()?);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mark = [rank as u32, process::id(), now.as_secs() as u32, now.subsec_nanos()];
        probe.append(&mark.map(f32::from_bits))?;
        let path = probe.seen_at()?.unwrap_or_default();
        let mut own: Vec<u8> = mark.into_iter().flat_map(u32::to_le_bytes).collect();
        own.extend(path.to_string_lossy().bytes());
        let of_all = gather(self.peers, &own);
        let sees = |of: &Vec<u8>| {
            let (mark, path) = of.split_at(size_of_val(&mark));
            let found = FileNumbers::open(&path_of(path), mark.len() / size_of::<f32>());
            found.is_ok_and(|found| {
                mark.iter().copied().eq(found.iter().flat_map(|n| n.to_bits().to_le_bytes()))
            })
        };
        let choice = of_all[..rank].iter().position(sees).unwrap_or(rank);
        // The probes stay open until all have looked. Who has chosen another one writes no files that others could see.
        let choices = gather(self.peers, &(choice as u64).to_le_bytes());
        Ok(if choices[choice] == (choice as u64).to_le_bytes() { choice } else { rank })
    }

    fn file(&self) -> io::Result<NumberFile> {
        self.dir.map_or_else(NumberFile::in_memory, NumberFile::create_in)
    }

    /// A column without numbers.
    pub(super) fn column(&self) -> Result<StoredColumn, DataError> {
        let writes = self.writer == self.peers.rank();
        let file = writes.then(|| self.file()).transpose().map_err(self.unwritten())?;
        Ok(StoredColumn { file, len: 0 })
    }

    /// Appends `count` numbers, which process `from` passes on to all, or which all have.
    pub(super) fn append(
        &self,
        column: &mut StoredColumn,
        from: Option<usize>,
        count: usize,
        mut numbers: impl Iterator<Item = f32>,
    ) -> Result<(), DataError> {
        let (mut block, mut bytes) = (Vec::new(), Vec::new());
        for start in (0..count).step_by(BLOCK) {
            block.clear();
            block.extend(numbers.by_ref().take(BLOCK.min(count - start)));
            if let Some(from) = from {
                bytes.clear();
                block.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
                self.peers.broadcast(from, &mut bytes);
                block.clear();
                block.extend(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            if let Some(file) = &mut column.file {
                file.append(&block).map_err(self.unwritten())?;
            }
        }
        column.len += count;
        Ok(())
    }

    /// The same numbers in the order of these ranges.
    pub(super) fn in_order(
        &self,
        column: StoredColumn,
        ranges: &[Range<usize>],
    ) -> Result<StoredColumn, DataError> {
        let mut ordered = StoredColumn { len: column.len, ..self.column()? };
        if let (Some(from), Some(to)) = (column.file, &mut ordered.file) {
            let numbers = from.finish().map_err(self.unwritten())?;
            let mut ranges = ranges.iter();
            ranges.try_for_each(|range| to.append(&numbers[range.clone()])).map_err(self.unwritten())?;
        }
        Ok(ordered)
    }

    /// The numbers, all of which are appended.
    pub(super) fn finish(&self, column: StoredColumn) -> Result<Numbers, DataError> {
        let numbers = Arc::new(self.map(column).map_err(self.unwritten())?);
        Ok(if self.dir.is_some() { Numbers::File(numbers) } else { Numbers::Shared(numbers) })
    }

    fn map(&self, column: StoredColumn) -> io::Result<FileNumbers> {
        let StoredColumn { mut file, len } = column;
        if self.peers.count() == 1 {
            return file.expect("a process alone writes its files").finish();
        }
        let path = file.as_mut().map(NumberFile::seen_at).transpose()?.flatten().unwrap_or_default();
        let paths = gather(self.peers, path.to_string_lossy().as_bytes());
        let of_other = match &file {
            Some(_) => None,
            None => Some(FileNumbers::open(&path_of(&paths[self.writer]), len)?),
        };
        // The file stays open until all have opened it.
        gather(self.peers, &[]);
        match file {
            Some(file) => file.finish(),
            None => Ok(of_other.expect("it was opened")),
        }
    }

    fn unwritten(&self) -> impl Fn(io::Error) -> DataError + use<> {
        let dir = self.dir.map_or_else(|| "memory".into(), Path::to_owned);
        move |source| FilesError::Unwritten { dir: dir.clone(), source }.into()
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
