//! From rows in any order to a panel: grouping, sorting, duplicates, gaps.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{DataError, Flaw, Gap, Place};
use crate::fill::{Fill, Filled};
use crate::freq::Freq;
use crate::panel::{Data, Panel, Series};
use crate::steps::Times;
use crate::time::{TimeKind, in_range};
use crate::zone::Zone;

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
        Place { file: self.file.clone(), line: self.lines, row }
    }

    pub(crate) fn table(&self) -> Arc<str> {
        self.file.clone().unwrap_or_else(|| "the panel".into())
    }
}

/// A numeric column, or the first cell that makes it unusable: an error only when it is used.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Result<Vec<f32>, BadCell>,
}

#[derive(Clone, Debug)]
pub(crate) struct BadCell {
    pub(crate) at: Place,
    pub(crate) value: String,
    pub(crate) flaw: Flaw,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Ok(Vec::new()) }
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

    pub(crate) fn usable(&self) -> Result<&[f32], DataError> {
        self.values.as_deref().map_err(|bad| DataError::BadValue {
            at: bad.at.clone(),
            column: self.name.clone(),
            value: bad.value.clone(),
            flaw: bad.flaw,
        })
    }
}

/// The columns of a long table as they are read, one entry per row.
///
/// Beside the values, a table whose rows stand in order takes little room: ids and times are held
/// as runs.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) origin: Origin,
    /// Ids in order of appearance, and the position of each.
    pub(crate) ids: Vec<Arc<str>>,
    pub(crate) codes: FxHashMap<Arc<str>, u32>,
    pub(crate) runs: Vec<Run>,
    pub(crate) times: Times,
    pub(crate) y: Vec<f32>,
    pub(crate) mask: Option<Vec<f32>>,
    pub(crate) weight: Option<Vec<f32>>,
    pub(crate) columns: Vec<Column>,
    /// Name of the column of `y`; in a wide table that is the id.
    pub(crate) target: Option<String>,
    /// How NaN and gaps are filled; without it there is no NaN, and gaps are mistakes.
    pub(crate) fill: Option<Fill>,
}

/// Rows of one id, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    code: u32,
    start: usize,
    len: usize,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Appends the id of the next row.
    pub(crate) fn push_id(&mut self, id: &str) {
        let code = match self.runs.last_mut() {
            Some(run) if *self.ids[run.code as usize] == *id => {
                run.len += 1;
                return;
            }
            _ => self.codes.get(id).copied(),
        };
        let code = code.unwrap_or_else(|| {
            let code = u32::try_from(self.ids.len()).expect("fewer than 2^32 series");
            let id: Arc<str> = id.into();
            self.ids.push(id.clone());
            self.codes.insert(id, code);
            code
        });
        let start = self.runs.last().map_or(0, |run| run.start + run.len);
        self.runs.push(Run { code, start, len: 1 });
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
        let mut order = (!self.is_grouped()).then(|| self.sort());
        self.runs.sort_by(|a, b| self.ids[a.code as usize].cmp(&self.ids[b.code as usize]));
        let settled = self.settle(kind, zone.as_ref(), freq, &order)?;
        let filled = match self.fill {
            Some(fill) => self.fill(fill, zone.as_ref(), settled, &mut order)?,
            None => Filled::default(),
        };
        let id = |run: &Run| &self.ids[run.code as usize];
        let mut times = Vec::new();
        for run in &self.runs {
            let place = |i: usize| self.place(run.start + i, &order);
            self.times.copy(run.start, run.len, &mut times);
            check_steps(settled, zone.as_ref(), freq.is_none(), id(run), &times, place)?;
        }
        let series = self.runs.iter().enumerate().map(|(i, run)| Series {
            id: id(run).clone(),
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
            filled,
        };
        data.shrink();
        Ok(Panel::new(settled, zone, series, data))
    }

    /// Where the row that now is the `i`-th came from.
    fn place(&self, i: usize, order: &Option<Vec<usize>>) -> Place {
        self.origin.place(order.as_ref().map_or(i, |order| order[i]))
    }

    /// The frequency that is given, or the one that the longest series seems to have.
    fn settle(
        &self,
        kind: TimeKind,
        zone: Option<&Zone>,
        freq: Option<Freq>,
        order: &Option<Vec<usize>>,
    ) -> Result<Freq, DataError> {
        let id = |run: &Run| &self.ids[run.code as usize];
        let mut times = Vec::new();
        for run in &self.runs {
            self.times.copy(run.start, run.len, &mut times);
            check_order(kind, zone, id(run), &times, |i| self.place(run.start + i, order))?;
        }
        let longest = self.runs.iter().rev().max_by_key(|run| run.len).expect("there are rows");
        self.times.copy(longest.start, longest.len, &mut times);
        match freq.or_else(|| Freq::guess(kind, zone, &times)) {
            Some(freq) if freq.kind() == kind => Ok(freq),
            Some(freq) => Err(DataError::FreqKind { kind, freq }),
            None => Err(DataError::NoFreq { id: id(longest).to_string(), rows: longest.len }),
        }
    }

    /// Adds the rows that are missing by the frequency, then fills what is NaN.
    fn fill(
        &mut self,
        fill: Fill,
        zone: Option<&Zone>,
        freq: Freq,
        order: &mut Option<Vec<usize>>,
    ) -> Result<Filled, DataError> {
        let missing = |values: &[f32]| values.iter().filter(|value| value.is_nan()).count();
        let usable = self.columns.iter().filter_map(|column| column.values.as_ref().ok());
        let values = missing(&self.y) + usable.map(|values| missing(values)).sum::<usize>();
        let rows = self.add_rows(zone, freq, order)?;
        for at in 0..self.runs.len() {
            let run = self.runs[at];
            let range = run.start..run.start + run.len;
            let place = |row: usize| {
                self.origin.place(order.as_ref().map_or(run.start + row, |order| order[run.start + row]))
            };
            if let Err((row, flaw)) = fill.values(&mut self.y[range.clone()]) {
                let column = self.target.clone().unwrap_or_else(|| self.ids[run.code as usize].to_string());
                return Err(DataError::BadValue { at: place(row), column, value: String::new(), flaw });
            }
            for column in &mut self.columns {
                let Ok(values) = &mut column.values else { continue };
                if let Err((row, flaw)) = fill.values(&mut values[range.clone()]) {
                    column.values = Err(BadCell { at: place(row), value: String::new(), flaw });
                }
            }
        }
        Ok(Filled { rows, values })
    }

    /// Adds the rows that are missing between those of each series; their values are NaN, and they
    /// count as standing where the row before them stands.
    fn add_rows(
        &mut self,
        zone: Option<&Zone>,
        freq: Freq,
        order: &mut Option<Vec<usize>>,
    ) -> Result<usize, DataError> {
        // Two far times and a fine frequency must not fill the memory.
        let limit = 100 * self.len() + 100_000;
        let mut times = Vec::new();
        let regular = self.runs.iter().all(|run| {
            self.times.copy(run.start, run.len, &mut times);
            freq.first_break(zone, &times).is_none()
        });
        if regular {
            return Ok(0);
        }
        // The row that each row of the new table is or follows, and whether it is that row.
        let mut sources: Vec<(usize, bool)> = Vec::new();
        let mut added = 0;
        let (mut runs, mut stretches) = (Vec::with_capacity(self.runs.len()), Times::default());
        for run in &self.runs {
            let start = sources.len();
            self.times.copy(run.start, run.len, &mut times);
            let mut step = 0;
            for (i, &time) in times.iter().enumerate() {
                while let Some(gap) = freq.next_in(zone, times[0], step).filter(|next| *next < time) {
                    if added == limit {
                        let id = self.ids[run.code as usize].to_string();
                        return Err(DataError::FillTooLarge { id, freq, rows: self.len(), limit });
                    }
                    added += 1;
                    sources.push((run.start + i - 1, false));
                    stretches.push(gap);
                    step += 1;
                }
                step += 1;
                sources.push((run.start + i, true));
                stretches.push(time);
            }
            runs.push(Run { code: run.code, start, len: sources.len() - start });
        }
        let spread = |values: &mut Vec<f32>, absent: Option<f32>| {
            let cell = |&(row, there): &(usize, bool)| match absent {
                Some(absent) if !there => absent,
                _ => values[row],
            };
            *values = sources.iter().map(cell).collect();
        };
        spread(&mut self.y, Some(f32::NAN));
        self.columns
            .iter_mut()
            .filter_map(|column| column.values.as_mut().ok())
            .for_each(|values| spread(values, Some(f32::NAN)));
        self.mask.iter_mut().for_each(|mask| spread(mask, Some(0.0)));
        self.weight.iter_mut().for_each(|weight| spread(weight, None));
        let old = |row: usize| order.as_ref().map_or(row, |order| order[row]);
        *order = Some(sources.iter().map(|(row, _)| old(*row)).collect());
        (self.runs, self.times) = (runs, stretches);
        Ok(added)
    }

    /// Whether the rows of each series stand together with ascending times, in whatever order the
    /// series are.
    fn is_grouped(&self) -> bool {
        let mut times = Vec::new();
        self.runs.len() == self.ids.len()
            && self.runs.iter().all(|run| {
                self.times.copy(run.start, run.len, &mut times);
                times.is_sorted()
            })
    }

    /// Brings all columns into the order of (series, time), stably; returns where rows came from.
    fn sort(&mut self) -> Vec<usize> {
        let mut keys: Vec<(u32, i64)> = Vec::with_capacity(self.len());
        let mut times = Vec::new();
        for run in &self.runs {
            self.times.copy(run.start, run.len, &mut times);
            keys.extend(times.iter().map(|time| (run.code, *time)));
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&i| keys[i]);
        self.runs.clear();
        self.times = Times::default();
        for (start, &i) in order.iter().enumerate() {
            let (code, time) = keys[i];
            self.times.push(time);
            match self.runs.last_mut() {
                Some(run) if run.code == code => run.len += 1,
                _ => self.runs.push(Run { code, start, len: 1 }),
            }
        }
        drop(keys);
        gather(&mut self.y, &order);
        let extras = self.columns.iter_mut().filter_map(|column| column.values.as_mut().ok());
        for values in self.mask.iter_mut().chain(&mut self.weight).chain(extras) {
            gather(values, &order);
        }
        order
    }
}

fn gather<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
    *values = order.iter().map(|&i| values[i]).collect();
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
            earlier: place(i),
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
