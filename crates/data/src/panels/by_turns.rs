//! Panels that are larger than memory: one file, or part of a file, is read after another, by one process or by several in turn, and its
//! numbers go to a file of the panel's own.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::column::Column;
use super::fill::{Filled, Trimmed};
use super::number_store::{NumberStore, StoredColumn};
use super::numbers::Numbers;
use super::options::ReadOptions;
use super::panel::{Data, Panel, Series};
use super::part_head::{read_head, write_head};
use super::peers::{Alone, Peers, gather};
use super::pieces::{Piece, check_digits, join_pieces};
use crate::error::DataError;
use crate::error::files::FilesError;
use foretell_tables::{FilePart, Place, ReadNote, table_files};

/// The least rows of a part of a file: enough that opening the file anew for each costs little, few enough that several processes have
/// some of a file of a few million rows. Tests have small files.
const PART_ROWS: u64 = if cfg!(test) { 4 } else { 1 << 18 };

impl Panel {
    /// Reads files one after another, as [`from_files`](Self::from_files) reads all of them as one table, and keeps the numbers of
    /// their rows in files without names in `dir`, from which the system brings into memory what is used. So a panel may be larger
    /// than memory: the rows of one file, and what a series has once (its id, its static values), have to find room. It is used as
    /// any other; what is computed of all its rows (scaled series, further columns) is in memory. Of a Parquet file some row groups are
    /// read after others, where its rows can be [read apart](ReadOptions::reads_apart) and follow each other.
    ///
    /// A series may be in several files, where its rows in each follow those of the one before without a gap, as with a file for
    /// each month. The frequency, if none is set, is inferred from the first file.
    ///
    /// # Errors
    /// Those of [`from_files`](Self::from_files), of each file; rows of a series in two files that do not follow each other, or that
    /// are filled or need more digits, files that are not alike, a directory that does not take the numbers ([`FilesError`]).
    pub fn from_files_by_turns(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        dir: impl AsRef<Path>,
    ) -> Result<Self, DataError> {
        Self::from_files_together(paths, options, Some(dir.as_ref()), &Alone)
    }

    /// Reads files as [`from_files_by_turns`](Self::from_files_by_turns), together with other processes: all read the first file, or
    /// its first row groups, and each its share of the others, and passes on what it read. The panel is the same on all. Its numbers
    /// are once on each machine, in `dir` or else in memory, however many processes see them there.
    ///
    /// # Errors
    /// Those of [`from_files_by_turns`](Self::from_files_by_turns), the same on all processes if it is the data that are mistaken. A
    /// process that fails alone, as by a full disk, leaves the others waiting: the program ends them.
    pub fn from_files_together(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        dir: Option<&Path>,
        peers: &dyn Peers,
    ) -> Result<Self, DataError> {
        let files = paths.iter().map(table_files).collect::<Result<Vec<_>, _>>()?.concat();
        if options.reads_apart() {
            let parts: Vec<_> = files.iter().flat_map(|file| FilePart::all_of(file, PART_ROWS)).collect();
            let read = Self::from_parts_together(&parts, options, dir, peers);
            match &read {
                Err(DataError::Files(FilesError::Unwritten { .. })) => {
                    return read;
                }
                // What is wrong, or needs all rows of a file at once, all processes meet.
                Err(_) if parts.len() > files.len() => {}
                _ => return read,
            }
        }
        let files: Vec<_> = files.iter().map(|file| FilePart::whole(file)).collect();
        Self::from_parts_together(&files, options, dir, peers)
    }

    fn from_parts_together(
        files: &[FilePart],
        options: &ReadOptions,
        dir: Option<&Path>,
        peers: &dyn Peers,
    ) -> Result<Self, DataError> {
        let read = |number: usize, options: &ReadOptions| Self::from_part(&files[number], options);
        check_files(files, peers)?;
        let (mut turns, mut options) = (Turns::new(files, NumberStore::new(dir, peers)?)?, options.clone());
        let first = read_by_all(peers, read(0, &options))?;
        options.freq = Some(first.freq());
        turns.begin(&first)?;
        turns.take(first, 0, None)?;
        for round in (1..files.len()).step_by(peers.count()) {
            let mut own =
                Some(round + peers.rank()).filter(|own| *own < files.len()).map(|own| read(own, &options));
            for number in round..files.len().min(round + peers.count()) {
                let from = number - round;
                let read_here = if from == peers.rank() { own.take() } else { None };
                let mut head = read_here.as_ref().map(|part| turns.head(part, number)).unwrap_or_default();
                peers.broadcast(from, &mut head);
                // A mistake, or what only the file can tell, is met by all in the file.
                let by_all = head.is_empty();
                let part = match read_here {
                    Some(part) => part,
                    None if by_all => read(number, &options),
                    None => Ok(read_head(&head, turns.like())),
                };
                let part = if by_all { read_by_all(peers, part) } else { part };
                turns.take(part?, number, Some(from).filter(|_| !by_all))?;
            }
        }
        turns.finish(options.fill.is_some())
    }
}

/// A column on its way to a file: its numbers there, and what is known of it beside them.
struct WrittenColumn {
    column: Column,
    numbers: StoredColumn,
}

/// The files that were read so far.
struct Turns<'p> {
    files: &'p [FilePart],
    store: NumberStore<'p>,
    /// The first file's.
    like: Option<Panel>,
    /// What was noted of all files.
    notes: Vec<ReadNote>,
    rows: usize,
    y: StoredColumn,
    /// From the first file on that has any; in those before it they are 1.
    marks: [Option<StoredColumn>; 2],
    columns: Vec<WrittenColumn>,
    statics: Vec<Column>,
    pieces: Vec<Piece>,
    integer_ids: bool,
    filled: Filled,
    trimmed: Trimmed,
    /// Series that a file has no value of, with their rows there: others may have values of them.
    unknown: Vec<(String, usize)>,
}

impl<'p> Turns<'p> {
    fn new(files: &'p [FilePart], store: NumberStore<'p>) -> Result<Self, DataError> {
        Ok(Self {
            files,
            like: None,
            notes: Vec::new(),
            rows: 0,
            y: store.column()?,
            store,
            marks: [None, None],
            columns: Vec::new(),
            statics: Vec::new(),
            pieces: Vec::new(),
            integer_ids: true,
            filled: Filled::default(),
            trimmed: Trimmed::default(),
            unknown: Vec::new(),
        })
    }

    fn like(&self) -> &Panel {
        self.like.as_ref().expect("the first file was read")
    }

    /// What others have to know of a part that this process read, beside its numbers; nothing where they read it themselves.
    fn head(&self, part: &Result<Panel, DataError>, number: usize) -> Vec<u8> {
        let is_alone = self.store.peers.count() == 1;
        let part = part.as_ref().ok().filter(|_| !is_alone);
        let part = part.filter(|part| check_alike(self.like(), part, &self.files[number]).is_ok());
        part.and_then(|part| write_head(part, self.like())).unwrap_or_default()
    }

    /// Takes the rows of the file of this number, whose numbers the process `from` passes on, or all have.
    fn take(&mut self, part: Panel, number: usize, from: Option<usize>) -> Result<(), DataError> {
        check_alike(self.like(), &part, &self.files[number])?;
        let (rows, before) = (part.n_rows(), self.rows);
        let store = &self.store;
        let is_here = from.is_none_or(|from| from == store.peers.rank());
        let read: &[Series] = if is_here { &part.series } else { &[] };
        let write = |to: &mut StoredColumn, numbers: &[f32]| {
            let numbers = read.iter().flat_map(|series| numbers[series.rows()].iter().copied());
            store.append(to, from, rows, numbers)
        };
        let ones =
            |to: &mut StoredColumn, count: usize| store.append(to, None, count, std::iter::repeat(1.0));
        let Data { table, y, mask, weight, columns, filled, trimmed, integer_ids, .. } = &*part.data;
        self.integer_ids &= integer_ids;
        write(&mut self.y, y)?;
        for (own, marks) in self.marks.iter_mut().zip([mask, weight]) {
            if own.is_none() && marks.is_some() {
                ones(own.insert(store.column()?), before)?;
            }
            match (own, marks) {
                (Some(own), Some(marks)) => write(own, marks)?,
                (Some(own), None) => ones(own, rows)?,
                (None, _) => {}
            }
        }
        let place = |row: usize| Place { file: Some(table.clone()), ..Place::row(row) };
        for (own, column) in self.columns.iter_mut().zip(columns) {
            own.column.append(column.clone(), place);
            if let Ok(numbers) = &mut own.column.values {
                write(&mut own.numbers, &mem::take(numbers))?;
            }
        }
        let places = self.pieces.len();
        for (own, column) in self.statics.iter_mut().zip(&*part.statics) {
            own.append(column.clone(), place);
        }
        for series in &part.series {
            let (start, reach, place) = (self.rows, self.rows + series.len, places + series.place);
            self.pieces.push((Series { start, reach, place, ..series.clone() }, number));
            self.rows = reach;
        }
        self.filled.rows += filled.rows;
        self.filled.values += filled.values;
        self.trimmed.series += trimmed.series;
        self.trimmed.rows += trimmed.rows;
        self.trimmed.far += trimmed.far;
        self.unknown.extend(part.notes().iter().flat_map(unknown_in).cloned());
        self.notes.extend(part.notes().iter().filter(|note| unknown_in(note).is_empty()).cloned());
        Ok(())
    }

    /// Makes a file for each column of the first part.
    fn begin(&mut self, first: &Panel) -> Result<(), DataError> {
        for column in &first.data.columns {
            self.columns.push(WrittenColumn { column: column.none(), numbers: self.store.column()? });
        }
        self.statics = first.statics.iter().map(Column::none).collect();
        let columns = first.data.columns.iter().map(Column::none).collect();
        let (y, table) = (Numbers::default(), first.data.table.clone());
        let notes = first.notes().iter().filter(|note| unknown_in(note).is_empty()).cloned().collect();
        let data = Data { table, y, mask: None, weight: None, columns, ..*first.data };
        let mut like = Panel::new(first.freq(), first.zone().cloned(), Vec::new(), data).with_notes(notes);
        like.statics = Arc::new(self.statics.clone());
        self.like = Some(like);
        Ok(())
    }

    /// The panel; `filled` is whether missing rows and values were filled in each file.
    fn finish(mut self, filled: bool) -> Result<Panel, DataError> {
        let like = self.like.take().expect("the first file was read");
        let series = join_pieces(&mut self.pieces, self.files, &like, &self.statics, filled)?;
        let has_pieces = series.len() < self.pieces.len();
        // A series of several files is brought together; else the rows stay where they are.
        let order: Vec<_> = self.pieces.iter().map(|(piece, _)| piece.rows()).collect();
        let series = match has_pieces {
            true => series,
            false => self.pieces.iter().map(|(piece, _)| piece.clone()).collect(),
        };
        let store = &self.store;
        let numbers = |column: StoredColumn| match has_pieces {
            true => store.finish(store.in_order(column, &order)?),
            false => store.finish(column),
        };
        let column = |WrittenColumn { mut column, numbers: stored }: WrittenColumn| {
            if column.values.is_ok() {
                column.values = Ok(numbers(stored)?);
            }
            Ok::<_, DataError>(column)
        };
        let mut paths: Vec<_> = self.files.iter().map(|file| file.path.display()).collect();
        paths.dedup_by_key(|path| path.to_string());
        let table = match &paths[..] {
            [file] => file.to_string(),
            [first, others @ ..] => format!("{first} and {} more files", others.len()),
            [] => String::new(),
        };
        let (table, mut notes): (Arc<str>, _) = (table.into(), ReadNote::merged(self.notes));
        let known: FxHashSet<&str> = series.iter().map(|series| &*series.id).collect();
        let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
        for (id, rows) in self.unknown {
            // One that other files have values of begins later or ends earlier.
            if known.contains(&*id) {
                self.trimmed.series += 1;
                self.trimmed.rows += rows;
            } else {
                *unknown.entry(id).or_default() += rows;
            }
        }
        if !unknown.is_empty() {
            notes
                .push(ReadNote::NothingKnown { table: table.clone(), series: unknown.into_iter().collect() });
        }
        let [mask, weight] = self.marks;
        let data = Data {
            table,
            y: numbers(self.y)?,
            mask: mask.map(numbers).transpose()?,
            weight: weight.map(numbers).transpose()?,
            columns: self.columns.into_iter().map(column).collect::<Result<_, _>>()?,
            integer_ids: self.integer_ids,
            filled: self.filled,
            trimmed: self.trimmed,
            ..*like.data
        };
        let mut panel = Panel::new(like.freq(), like.zone().cloned(), series, data);
        panel.statics = Arc::new(self.statics);
        check_digits(&panel, &self.pieces, self.files)?;
        Ok(panel.with_notes(notes))
    }
}

/// The series that a note says to be left out, as no value of them is known.
fn unknown_in(note: &ReadNote) -> &[(String, usize)] {
    match note {
        ReadNote::NothingKnown { series, .. } => series,
        _ => &[],
    }
}

/// What this process found in a file that all read, unless another one cannot read it: then all go on together, or none.
fn read_by_all(peers: &dyn Peers, read: Result<Panel, DataError>) -> Result<Panel, DataError> {
    let own = read.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let of_all = gather(peers, own.as_bytes());
    let mistaken = of_all.iter().position(|reason| !reason.is_empty());
    let read = read?;
    match mistaken {
        None => Ok(read),
        Some(process) => {
            let reason = String::from_utf8_lossy(&of_all[process]).into_owned();
            Err(FilesError::OfProcess { process, reason }.into())
        }
    }
}

/// Whether all processes read the same files.
fn check_files(files: &[FilePart], peers: &dyn Peers) -> Result<(), DataError> {
    let own: Vec<String> = files.iter().map(ToString::to_string).collect();
    let of_all = gather(peers, own.join("\n").as_bytes());
    let Some(process) = of_all.iter().position(|files| *files != of_all[0]) else { return Ok(()) };
    let [first, other] = [0, process].map(|process| String::from_utf8_lossy(&of_all[process]));
    let (mut expected, mut found) = (first.lines(), other.lines());
    let none = || "none".to_owned();
    let (expected, found) = std::iter::from_fn(|| Some((expected.next(), found.next())))
        .find(|(expected, found)| expected != found)
        .map(|two| (two.0.map_or_else(none, Into::into), two.1.map_or_else(none, Into::into)))
        .expect("the lists differ");
    Err(FilesError::OtherFiles { process, expected, found }.into())
}

/// Whether a file has the zone and the columns of the first.
fn check_alike(first: &Panel, part: &Panel, file: &FilePart) -> Result<(), DataError> {
    let columns =
        |panel: &Panel| panel.column_names().chain(panel.static_names()).collect::<Vec<_>>().join(", ");
    let zone = |panel: &Panel| panel.zone().map_or_else(|| "none".to_owned(), ToString::to_string);
    for (what, expected, found) in
        [("columns are", columns(first), columns(part)), ("zone is", zone(first), zone(part))]
    {
        if expected != found {
            return Err(FilesError::Unlike { file: file.to_string(), what, expected, found }.into());
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "by_turns_tests.rs"]
mod tests;
