//! From rows in any order to a panel: grouping, sorting, duplicates, gaps.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::categories::Labels;
use crate::error::DataError;
use crate::fill::{Fill, Filled};
use crate::flaw::{Flaw, Gap, Place};
use crate::freq::Freq;
use crate::panel::{Data, Panel, Series, admitted};
use crate::read::ReadOptions;
use crate::steps::Steps;
use crate::table::Table;
use crate::time::{TimeKind, in_range};
use crate::zone::Zone;

/// What a table of slices is called.
pub(crate) const SLICES: &str = "the panel";

/// Where the rows of a table stand in its source.
///
/// Lines of a file are kept as the few places where they do not simply follow each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    file: Option<Arc<str>>,
    /// Whether it is text, counted in lines.
    lines: bool,
    rows: u64,
    /// Row and line at every jump.
    jumps: Vec<(u64, u64)>,
}

impl Origin {
    /// Rows of the table that has a row there.
    pub(crate) fn like(place: &Place) -> Self {
        Self { file: place.file.clone(), lines: place.line, ..Self::default() }
    }

    /// Notes the line or row of the next row.
    pub(crate) fn push(&mut self, line: u64) {
        let follows = self.jumps.last().is_some_and(|(row, at)| at + (self.rows - row) == line);
        if !follows {
            self.jumps.push((self.rows, line));
        }
        self.rows += 1;
    }

    pub(crate) fn place(&self, row: usize) -> Place {
        let row = row as u64;
        let last = self.jumps.partition_point(|(start, _)| *start <= row);
        let row = match last.checked_sub(1).map(|i| self.jumps[i]) {
            Some((start, line)) if self.file.is_some() => line + (row - start),
            _ => row,
        };
        Place { file: self.file.clone(), line: self.lines, series: None, row }
    }

    pub(crate) fn table(&self) -> Arc<str> {
        self.file.clone().unwrap_or_else(|| SLICES.into())
    }
}

/// A numeric column, or the first cell that makes it unusable: an error only when it is used.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Result<Vec<f32>, BadCell>,
    pub(crate) kind: Kind,
}

/// What the values of a column are.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Numbers,
    /// Codes of labels, which mean nothing before they are the numbers of categories.
    Labels(Labels),
    /// Numbers of categories, which are not scaled.
    Categories,
}

#[derive(Clone, Debug)]
pub(crate) struct BadCell {
    pub(crate) at: Place,
    pub(crate) value: String,
    pub(crate) flaw: Flaw,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Ok(Vec::new()), kind: Kind::Numbers }
    }

    /// An empty column of the table that `options` describe.
    pub(crate) fn to_read(name: &str, options: &ReadOptions) -> Self {
        match options.categories.iter().any(|column| column == name) {
            true => Self::of_labels(name),
            false => Self::new(name),
        }
    }

    /// The same column with the values that `change` makes of those it has.
    pub(crate) fn with_values(&self, change: impl FnOnce(&[f32]) -> Vec<f32>) -> Self {
        let values = self.values.as_deref().map(change).map_err(Clone::clone);
        Self { name: self.name.clone(), values, kind: self.kind.clone() }
    }

    /// What the current row of a table says, in column `i` there.
    pub(crate) fn cell(&mut self, table: &dyn Table, i: usize) -> Result<f32, Flaw> {
        match &mut self.kind {
            Kind::Labels(labels) => {
                labels.typed |= table.typed_texts(i);
                labels.code(&table.label(i)?)
            }
            _ => table.number_or_truth(i),
        }
    }

    /// Appends a cell; the first bad one frees what was read so far.
    pub(crate) fn push(&mut self, cell: Result<f32, Flaw>, found: impl FnOnce() -> (Place, String)) {
        let rows = self.values.as_ref().map_or(0, Vec::len);
        if let Ok(values) = &mut self.values {
            values.push(0.0);
        }
        self.set(rows, cell, found);
    }

    /// Sets a cell that is there; the first bad one frees what was read so far.
    pub(crate) fn set(
        &mut self,
        row: usize,
        cell: Result<f32, Flaw>,
        found: impl FnOnce() -> (Place, String),
    ) {
        let Ok(values) = &mut self.values else { return };
        match cell {
            Ok(value) => values[row] = value,
            Err(flaw) => {
                let (at, value) = found();
                self.values = Err(BadCell { at, value, flaw });
            }
        }
    }

    /// The values as numbers.
    pub(crate) fn usable(&self) -> Result<&[f32], DataError> {
        if let (Ok(_), Kind::Labels(_)) = (&self.values, &self.kind) {
            return Err(DataError::Labels { column: self.name.clone() });
        }
        self.values.as_deref().map_err(|bad| DataError::BadValue {
            at: bad.at.clone(),
            column: self.name.clone(),
            value: bad.value.clone(),
            flaw: if bad.flaw == Flaw::Text { Flaw::Labelled } else { bad.flaw },
        })
    }
}

/// The columns of a long table as they are read, one entry per row.
///
/// Beside the values, a table whose rows stand in the order of series or of times takes little room.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) origin: Origin,
    /// Ids in order of appearance, and the position of each.
    pub(crate) ids: Vec<Arc<str>>,
    pub(crate) codes: FxHashMap<Arc<str>, u32>,
    /// Whether their column is one of integers.
    pub(crate) integer_ids: bool,
    /// The id of each row, by its position, and how often it is another than that of the row before.
    pub(crate) series: Steps,
    pub(crate) changes: usize,
    pub(crate) last: Option<u32>,
    pub(crate) times: Steps,
    pub(crate) y: Vec<f32>,
    pub(crate) mask: Option<Vec<f32>>,
    pub(crate) weight: Option<Vec<f32>>,
    pub(crate) columns: Vec<Column>,
    /// Name of the column of `y`; in a wide table that is the id.
    pub(crate) target: Option<String>,
    /// How NaN and gaps are filled; without it gaps are mistakes, and so is NaN within a series.
    pub(crate) fill: Option<Fill>,
    /// How the first missing value of `y` was written.
    pub(crate) missing_as: Option<String>,
    /// Once the table is arranged: the rows of each series,
    pub(crate) runs: Vec<Run>,
    /// and where each row stood before, if it stood elsewhere.
    pub(crate) order: Option<Vec<u32>>,
}

/// Rows of one id, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) code: u32,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// The bytes that the rows take, with those that sorting them takes.
    pub(crate) fn bytes(&self) -> usize {
        const SORTED: usize = size_of::<u32>() + size_of::<f32>();
        let columns =
            1 + usize::from(self.mask.is_some()) + usize::from(self.weight.is_some()) + self.columns.len();
        let ids: usize = self.ids.iter().map(|id| id.len() + 2 * size_of::<Arc<str>>()).sum();
        self.len() * (size_of::<f32>() * columns + SORTED) + self.times.bytes() + self.series.bytes() + ids
    }

    /// The value of `y` in a cell of a table, NaN where it is missing.
    pub(crate) fn admit(&mut self, table: &dyn Table, column: usize, masked: bool) -> Result<f32, DataError> {
        match admitted(table.number(column), masked, self.fill) {
            Err(Flaw::Missing) => {
                self.missing_as.get_or_insert_with(|| table.shown(column));
                Ok(f32::NAN)
            }
            value => value.map_err(|flaw| table.bad_value(column, flaw)),
        }
    }

    /// Appends the id of the next row; the position of the series.
    pub(crate) fn push_id(&mut self, id: &str) -> u32 {
        let code = match self.last {
            Some(code) if *self.ids[code as usize] == *id => Some(code),
            _ => self.codes.get(id).copied(),
        };
        let code = code.unwrap_or_else(|| {
            let code = u32::try_from(self.ids.len()).expect("fewer than 2^32 series");
            let id: Arc<str> = id.into();
            self.ids.push(id.clone());
            self.codes.insert(id, code);
            code
        });
        self.changes += usize::from(self.last.replace(code) != Some(code));
        self.series.push(code.into());
        code
    }

    /// The id of a run.
    pub(crate) fn id(&self, run: &Run) -> &Arc<str> {
        &self.ids[run.code as usize]
    }

    /// Sorts by (id, time), checks duplicates, settles the frequency, and checks or fills gaps.
    pub(crate) fn finish(
        mut self,
        kind: TimeKind,
        zone: Option<Zone>,
        freq: Option<Freq>,
    ) -> Result<Panel, DataError> {
        let zone = zone.filter(|_| kind == TimeKind::Timestamp);
        if self.len() == 0 {
            return Err(DataError::NoRows { table: self.origin.table() });
        }
        self.arrange()?;
        let trimmed = self.trim()?;
        self.runs.sort_by(|a, b| self.ids[a.code as usize].cmp(&self.ids[b.code as usize]));
        let settled = self.settle(kind, zone.as_ref(), freq)?;
        let filled = match self.fill {
            Some(fill) => self.fill_gaps(fill, zone.as_ref(), settled)?,
            None => Filled::default(),
        };
        let mut times = Vec::new();
        for run in &self.runs {
            let place = |i: usize| self.place(run.start + i);
            self.times.copy(run.start, run.len, &mut times);
            check_steps(settled, zone.as_ref(), freq.is_none(), self.id(run), &times, place)?;
        }
        let series = self.runs.iter().enumerate().map(|(i, run)| Series {
            id: self.id(run).clone(),
            start: run.start,
            len: run.len,
            first_time: self.times.get(run.start),
            place: i,
        });
        let series = series.collect();
        let mut data = Data {
            table: self.origin.table(),
            y: self.y,
            mask: self.mask,
            weight: self.weight,
            columns: self.columns,
            freq_inferred: freq.is_none(),
            integer_ids: self.integer_ids,
            filled,
            trimmed,
        };
        data.shrink();
        Ok(Panel::new(settled, zone, series, data))
    }

    /// Where the row that now is the `i`-th came from.
    pub(crate) fn place(&self, i: usize) -> Place {
        self.source(self.order.as_ref().map_or(i, |order| order[i] as usize))
    }

    /// Where the `row`-th row that was read or given stands: in a file, or in the slices of its series.
    pub(crate) fn source(&self, row: usize) -> Place {
        if self.origin.file.is_some() {
            return self.origin.place(row);
        }
        let code = self.series.get(row);
        let before = self.series.iter().take(row).filter(|other| *other == code).count();
        Place::of_series(&self.ids[code as usize], before)
    }

    /// The frequency that is given, or the one that the longest series seems to have.
    fn settle(&self, kind: TimeKind, zone: Option<&Zone>, freq: Option<Freq>) -> Result<Freq, DataError> {
        let mut times = Vec::new();
        for run in &self.runs {
            self.times.copy(run.start, run.len, &mut times);
            check_order(kind, zone, self.id(run), &times, |i| self.place(run.start + i))?;
        }
        let longest = self.runs.iter().rev().max_by_key(|run| run.len).expect("there are rows");
        self.times.copy(longest.start, longest.len, &mut times);
        match freq.or_else(|| Freq::guess(kind, zone, &times)) {
            Some(freq) if freq.kind() == kind => Ok(freq),
            Some(freq) => Err(DataError::FreqKind { kind, freq }),
            None => Err(DataError::NoFreq { id: self.id(longest).to_string(), rows: longest.len }),
        }
    }

    /// Groups the rows by series with ascending times, if they are not so already.
    fn arrange(&mut self) -> Result<(), DataError> {
        let (rows, mut times) = (self.len(), Vec::new());
        if self.changes == self.ids.len() {
            for (row, code) in self.series.iter().enumerate() {
                let code = code as u32;
                match self.runs.last_mut() {
                    Some(run) if run.code == code => run.len += 1,
                    _ => self.runs.push(Run { code, start: row, len: 1 }),
                }
            }
            let ascending = self.runs.iter().all(|run| {
                self.times.copy(run.start, run.len, &mut times);
                times.is_sorted()
            });
            if ascending {
                return Ok(());
            }
            self.runs.clear();
        }
        if u32::try_from(rows).is_err() {
            let expected = format!("at most {}, or sorted by id and time", u32::MAX);
            return Err(DataError::setting("the number of rows", rows, expected));
        }
        self.sort();
        Ok(())
    }

    /// Brings all columns into the order of (series, time), stably: first by counting the rows of each
    /// series, then by time where a series' times do not ascend.
    fn sort(&mut self) {
        let mut ends = vec![0; self.ids.len()];
        self.series.iter().for_each(|code| ends[code as usize] += 1);
        let mut start = 0;
        for (code, end) in ends.iter_mut().enumerate() {
            self.runs.push(Run { code: code as u32, start, len: *end });
            start += std::mem::replace(end, start);
        }
        let mut order = vec![0_u32; start];
        for (row, code) in self.series.iter().enumerate() {
            let end = &mut ends[code as usize];
            order[*end] = row as u32;
            *end += 1;
        }
        if self.origin.file.is_some() {
            self.series = Steps::default();
        }
        let mut sorted = Steps::default();
        let mut keys: Vec<(i64, u32)> = Vec::new();
        for run in &self.runs {
            let rows = &mut order[run.start..run.start + run.len];
            keys.clear();
            keys.extend(rows.iter().map(|&row| (self.times.get(row as usize), row)));
            if !keys.is_sorted_by_key(|(time, _)| time) {
                keys.sort_unstable();
                rows.iter_mut().zip(&keys).for_each(|(row, key)| *row = key.1);
            }
            keys.iter().for_each(|(time, _)| sorted.push(*time));
        }
        self.times = sorted;
        gather(&mut self.y, &order);
        let extras = self.columns.iter_mut().filter_map(|column| column.values.as_mut().ok());
        for values in self.mask.iter_mut().chain(&mut self.weight).chain(extras) {
            gather(values, &order);
        }
        self.order = Some(order);
    }
}

fn gather(values: &mut Vec<f32>, order: &[u32]) {
    *values = order.iter().map(|&row| values[row as usize]).collect();
}

/// Sorted times must be distinct and lie within the calendar.
fn check_order(
    kind: TimeKind,
    zone: Option<&Zone>,
    id: &str,
    times: &[i64],
    place: impl Fn(usize) -> Place,
) -> Result<(), DataError> {
    if !(in_range(kind, zone, times[0]) && in_range(kind, zone, times[times.len() - 1])) {
        return Err(DataError::TimeRange { id: id.to_owned() });
    }
    match times.windows(2).position(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(i) => Err(DataError::DuplicateRow {
            at: place(i + 1),
            earlier: place(i).into(),
            id: id.to_owned(),
            time: kind.display_in(zone, times[i]),
        }),
    }
}

/// Each time must be as many steps after the first as there are rows between them.
fn check_steps(
    freq: Freq,
    zone: Option<&Zone>,
    inferred: bool,
    id: &str,
    times: &[i64],
    place: impl Fn(usize) -> Place,
) -> Result<(), DataError> {
    let Some(i) = freq.first_break(zone, times) else { return Ok(()) };
    let kind = freq.kind();
    let expected = freq.next_in(zone, times[0], i as i64);
    let shown = |time| kind.display_in(zone, time);
    Err(DataError::Gap(Box::new(Gap {
        at: place(i),
        id: id.to_owned(),
        after: shown(times[i - 1]),
        expected: expected.map_or_else(|| "no time".to_owned(), shown),
        found: shown(times[i]),
        freq,
        inferred,
        fits: Freq::infer(kind, zone, times),
    })))
}
