//! The roles of the columns of a long table whose names do not tell them: which holds the ids, the times, the values, by what its
//! first rows hold.

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};

use rustc_hash::FxBuildHasher;

use super::column_signs::{IDS, TIMES, holds_number, is_called_as_ids};
use super::first_rows::FirstRows;
use super::forecast_table::CUTOFF;
use super::laid_out::{is_called_part_of_day, year_and_part};
use super::options::ReadOptions;
use super::read::{AVAILABLE_MASK, WEIGHT};
use crate::error::DataError;
use crate::error::misread::MisreadTable;
use foretell_calendar::{Clock, TimeKind, days::DAY};
use foretell_tables::{
    BlockIds, ColumnError, MemoryTable, TableError, TableReader, UnclearColumn, is_of_id, open, table_files,
};

/// The most columns of a table that is looked at: what is kept of its cells is no more than 8 MB.
pub(super) const MOST_COLUMNS: usize = 1000;

/// Names of the column of values, if several hold numbers.
const TARGETS: [&str; 16] = [
    "y", "value", "values", "target", "sales", "demand", "quantity", "qty", "units", "units_sold", "volume",
    "count", "revenue", "load", "consumption", "visitors",
];

/// What the columns of a long table hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Roles {
    /// The ids of the series; nothing where there is one series, or where it cannot be told.
    pub id: Option<String>,
    /// The times.
    pub time: Option<String>,
    /// The values to forecast.
    pub target: Option<String>,
    /// The other columns that hold numbers,
    pub numbers: Vec<String>,
    /// and those that hold texts.
    pub texts: Vec<String>,
    /// Whether times come again though there are no ids.
    pub repeats: bool,
    /// The columns of the year and of a part of it, where no column holds times.
    pub parts: Option<[String; 2]>,
    /// Where none of the columns tells the series apart: those that do together.
    pub together: Vec<String>,
}

impl ReadOptions {
    /// Whether a table that is read so has a row per series and time.
    pub fn is_long(&self) -> bool {
        !self.wide && self.across.is_none() && self.time_cols.is_empty()
    }

    /// The names of the columns of the data, or of the first of their files.
    ///
    /// # Errors
    /// A file that cannot be read, or has no header.
    pub fn header(&self, path: impl AsRef<Path>) -> Result<Vec<String>, DataError> {
        let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
        Ok(open(&first, &self.file, |_| true)?.header().to_vec())
    }

    /// The same of a table that is in memory.
    ///
    /// # Errors
    /// A table that cannot be read, or has no header.
    pub fn header_in(&self, table: &MemoryTable) -> Result<Vec<String>, DataError> {
        Ok(table.open(&self.file, |_| true)?.header().to_vec())
    }

    /// Those of the columns of a long table that are not read.
    pub fn unread_columns(&self, header: &[String]) -> Vec<String> {
        let own = [self.time_name(), &self.target_col, AVAILABLE_MASK, WEIGHT, ""];
        // Without a name the first column may have been given one.
        let is_index = |name: &String| self.time_name().is_empty() && header.first() == Some(name);
        let is_unread = |name: &&String| {
            !own.contains(&name.as_str())
                && !is_index(name)
                && !is_of_id(&self.id_col, name)
                && !self.columns.as_ref().is_none_or(|read| read.contains(name))
                && !self.static_cols.contains(name)
                && self.end_col.as_ref() != Some(name)
        };
        // Two columns are a time and a value, whatever they are called.
        match self.is_long() && header.iter().filter(|name| !name.is_empty()).count() > 2 {
            true => header.iter().filter(is_unread).cloned().collect(),
            false => Vec::new(),
        }
    }

    /// What the columns of a long table of three or more hold, by the first rows of its first file, where they are not called as these
    /// options say. A role whose column is there by its name is taken for it; others only where there is no doubt. Nothing of a table of all
    /// these names, and of one of more columns than long tables have.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn roles(&self, path: impl AsRef<Path>) -> Result<Option<Roles>, DataError> {
        let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
        let table = BlockIds::over(open(&first, &self.file, |_| true)?, &self.notation.ids_above);
        let rows = FirstRows::of_file(first.first().map(PathBuf::as_path));
        Ok(self.roles_of(self.with_ids(table)?, rows))
    }

    /// The same of a table that is in memory.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn roles_in(&self, table: &MemoryTable) -> Result<Option<Roles>, DataError> {
        let table = BlockIds::over(table.open(&self.file, |_| true)?, &self.notation.ids_above);
        Ok(self.roles_of(self.with_ids(table)?, FirstRows::of_any()))
    }

    fn roles_of(&self, mut table: Box<dyn TableReader + '_>, mut rows: FirstRows) -> Option<Roles> {
        let named = table.columns().filter(|name| !name.is_empty()).count();
        let are_told =
            [&self.id_col, self.time_name(), &self.target_col].iter().all(|name| table.find(name).is_some());
        if !self.is_long() || !(3..=MOST_COLUMNS).contains(&named) || are_told {
            return None;
        }
        table.read_numbers(self.numbers);
        let mut columns = Columns::of(&*table, self);
        while rows.advance(&mut *table) {
            columns.see(&*table);
        }
        Some(columns.roles(self))
    }

    /// The columns that tell repeated rows of a table apart together, by its first rows: with the column of the ids, if there is one.
    pub(super) fn together(&self, mut table: Box<dyn TableReader + '_>) -> Vec<String> {
        table.read_numbers(self.numbers);
        let named = table.columns().filter(|name| !name.is_empty()).count();
        if named > MOST_COLUMNS {
            return Vec::new();
        }
        let mut columns = Columns::of(&*table, self);
        let mut rows = FirstRows::of_any();
        while rows.advance(&mut *table) {
            columns.see(&*table);
        }
        let called = |name: &str| columns.0.iter().find(|column| column.name == name);
        let roles = [called(self.time_name()), called(&self.target_col)];
        match roles[0] {
            Some(time) => columns.together(time, called(&self.id_col), &roles),
            None => Vec::new(),
        }
    }
}

/// Whether a column is named as the traded volume of a share, a column of the same table as its prices.
fn is_volume(column: &Seen) -> bool {
    column.name.eq_ignore_ascii_case("volume")
}

/// Whether it is named as the closing price of a share. A `price` alone may be that of goods.
fn is_price(column: &Seen) -> bool {
    let called = |name: &&str| column.name.eq_ignore_ascii_case(name);
    ["close", "adj close", "adj_close", "adjclose"].iter().any(called)
}

impl Roles {
    /// Whether there are times and values, and each time once in a series.
    pub fn are_clear(&self) -> bool {
        self.time.is_some() && self.target.is_some() && !self.repeats
    }

    /// The question that is open of a table called so, as an error; nothing where there is none, or where no times were found.
    pub fn question(&self, table: &str) -> Option<DataError> {
        let Self { id, time, target, numbers, texts, repeats, parts, together } = self;
        // A year alone is a time of the same name.
        if let Some([year, part]) = parts
            && time.as_ref().is_none_or(|time| time == year || time == part)
        {
            let (table, year, part) = (table.into(), year.clone(), part.clone());
            return Some(MisreadTable::TimesInParts { table, year, part }.into());
        }
        let ask = |is_id: bool, candidates: &[String], other: &Option<String>| UnclearColumn {
            table: table.into(),
            is_id,
            candidates: candidates.to_vec(),
            time: time.clone().unwrap_or_default(),
            other: other.clone(),
            may_be_wide: !is_id && id.is_none() && !repeats,
        };
        let question = match (time, target) {
            (Some(_), None) if !numbers.is_empty() => ask(false, numbers, id),
            (Some(_), Some(_)) if *repeats && !together.is_empty() => {
                ask(true, &[together.join(",")], target)
            }
            (Some(_), Some(_)) if *repeats && !texts.is_empty() => ask(true, texts, target),
            _ => return None,
        };
        Some(DataError::Table(TableError::Column(ColumnError::Unclear(Box::new(question)))))
    }
}

/// What was seen of a column.
struct Seen {
    name: String,
    place: usize,
    clock: Clock,
    are_times: bool,
    /// Whether some have a time of day.
    has_clock: bool,
    /// Whether all are times of day.
    are_clocks: bool,
    /// Whether some have what stands between hours and minutes.
    has_colon: bool,
    /// Cells that hold numbers.
    numbers: usize,
    /// The hashes of all cells, but for those without a value: copies might be as large as the table.
    cells: Vec<Option<u64>>,
}

impl Seen {
    /// Whether it holds times of day, or the hours of one by its name.
    fn is_part_of_day(&self) -> bool {
        let known = self.cells.iter().any(Option::is_some);
        known && distinct(&self.cells) > 1 && (self.are_clocks || is_called_part_of_day(&self.name))
    }

    /// Whether it holds numbers, but for a slip or a mark here and there.
    fn are_numbers(&self) -> bool {
        let known = self.cells.iter().flatten().count();
        known > 0 && 5 * self.numbers >= 4 * known
    }
}

/// What was seen of a table.
struct Columns(Vec<Seen>);

impl Columns {
    fn of(table: &dyn TableReader, options: &ReadOptions) -> Self {
        let named = table.header().iter().enumerate().filter(|(_, name)| !name.is_empty());
        let known = named.filter(|(_, name)| ![AVAILABLE_MASK, WEIGHT].contains(&name.as_str()));
        let seen = |(place, name): (usize, &String)| Seen {
            name: name.clone(),
            place,
            clock: options.clock(table),
            are_times: true,
            has_clock: false,
            are_clocks: true,
            has_colon: false,
            numbers: 0,
            cells: Vec::new(),
        };
        Self(known.map(seen).collect())
    }

    fn see(&mut self, table: &dyn TableReader) {
        for column in &mut self.0 {
            let label = table.label(column.place).unwrap_or_default();
            let cell = Some(label.trim()).filter(|cell| !cell.is_empty());
            if cell.is_some() {
                let time =
                    if column.are_times { table.time(column.place, &mut column.clock).ok() } else { None };
                column.are_times = time.is_some();
                column.has_clock |= time.is_some_and(|time| time.rem_euclid(DAY) != 0);
                column.are_clocks = column.are_clocks && cell.is_some_and(is_clock);
                column.has_colon |= cell.is_some_and(|cell| cell.contains(':'));
                column.numbers += usize::from(holds_number(table.number_or_truth(column.place)));
            }
            column.cells.push(cell.map(|cell| FxBuildHasher.hash_one(cell)));
        }
    }

    fn roles(&self, options: &ReadOptions) -> Roles {
        let Self(columns) = self;
        let called = |name: &str| columns.iter().find(|column| column.name == name);
        let empty = |column: &&Seen| column.cells.iter().all(Option::is_none);
        // A name that was said is that of another column only by mistake.
        let usual = ReadOptions::default();
        let time_is_said = options.time_col.is_some();
        let id_is_said = options.id_col != usual.id_col;
        let target_is_said = options.target_col != usual.target_col;
        let time = called(options.time_name()).or_else(|| {
            if time_is_said {
                return None;
            }
            let is_time = |column: &&Seen| {
                let are_times = column.are_times && column.clock.kind == Some(TimeKind::Timestamp);
                are_times && column.name != CUTOFF && !empty(column)
            };
            let times: Vec<&Seen> = columns.iter().filter(is_time).collect();
            match times.len() {
                0 => only_called(columns.iter(), &TIMES),
                1 => Some(times[0]),
                _ => only_called(times.iter().copied(), &TIMES).or_else(|| match times[..] {
                    [start, end] if begins_before(start, end) => Some(start),
                    _ => None,
                }),
            }
        });
        // Forecasts of one time from several cutoffs are told apart by these.
        let times = time.map(|time| match called(CUTOFF).filter(|cutoff| cutoff.place != time.place) {
            Some(cutoff) => joined(&time.cells, &cutoff.cells),
            None => time.cells.clone(),
        });
        let is_other = |column: &&Seen, roles: &[Option<&Seen>]| {
            !empty(column)
                && column.name != CUTOFF
                && roles.iter().flatten().all(|role| role.place != column.place)
        };
        let target_called = called(&options.target_col);
        let id = called(&options.id_col).or_else(|| {
            if id_is_said {
                return None;
            }
            let others = || columns.iter().filter(|column| is_other(column, &[time, target_called]));
            let texts: Vec<&Seen> = others().filter(|column| !column.are_numbers()).collect();
            let is_end = |column: &Seen| time.is_some_and(|time| begins_before(time, column));
            let texts: Vec<&Seen> =
                texts.into_iter().filter(|column| !column.is_part_of_day() && !is_end(column)).collect();
            let id = match texts.len() {
                0 => only_called(others(), &IDS),
                1 => Some(texts[0]),
                _ => only_called(texts.into_iter(), &IDS),
            };
            // Years beside their months or periods are no series, nor are these beside their years.
            let is_of_year = |id: &&Seen| {
                let of_year = year_and_part(columns.iter().map(|column| &column.name));
                let is_time = |name: &str| time.is_some_and(|time| time.name == name);
                of_year.is_some_and(|[year, part]| {
                    id.name == year && is_time(&part) || id.name == part && is_time(&year)
                })
            };
            id.filter(|id| !is_of_year(id)).filter(|id| {
                times.as_ref().is_some_and(|times| are_ids(id, times, options.aggregate.is_some()))
            })
        });
        let others = || columns.iter().filter(|column| is_other(column, &[time, id, target_called]));
        let target = target_called.or_else(|| {
            if target_is_said {
                return None;
            }
            let numbers: Vec<&Seen> = others().filter(|column| column.are_numbers()).collect();
            // A table with the usual name of the times lacks its values, unless they are called so.
            let is_usual = !time_is_said && called(options.time_name()).is_some();
            match only_called(others(), &TARGETS) {
                // One that is called so and holds something else is a doubt.
                // So is the volume of a share beside its closing price.
                Some(named) => Some(named)
                    .filter(|named| named.are_numbers() && !(is_volume(named) && others().any(is_price))),
                None => numbers.first().filter(|_| numbers.len() == 1 && !is_usual).copied(),
            }
        });
        let name = |column: Option<&Seen>| column.map(|column| column.name.clone());
        let rest = |numbers: bool| {
            let rest = columns.iter().filter(|column| is_other(column, &[time, id, target]));
            rest.filter(|column| column.are_numbers() == numbers).map(|column| column.name.clone()).collect()
        };
        let repeats = id.is_none() && times.is_some_and(|times| distinct(&times) < times.len());
        let (numbers, texts) = (rest(true), rest(false));
        // Days that come again, for each of their hours.
        let are_days = |time: &Seen| if time.are_times { !time.has_clock } else { !time.has_colon };
        let days = time.filter(|time| repeats && are_days(time));
        let part = days.and_then(|_| {
            let mut parts =
                columns.iter().filter(|column| is_other(column, &[time, target]) && column.is_part_of_day());
            parts.next().filter(|_| parts.next().is_none())
        });
        let parts = year_and_part(columns.iter().map(|column| &column.name))
            .or_else(|| Some([days?.name.clone(), part?.name.clone()]));
        let together = match time.filter(|_| repeats && !id_is_said) {
            Some(time) => self.together(time, None, &[Some(time), target]),
            None => Vec::new(),
        };
        Roles {
            id: name(id),
            time: name(time),
            target: name(target),
            numbers,
            texts,
            repeats,
            parts,
            together,
        }
    }

    /// The columns of which each row has other cells at each time together, where fewer of them do not: the id if there is one, and such as
    /// may be ids, beside those with another role. Of several choices that of the fewest series.
    fn together(&self, time: &Seen, id: Option<&Seen>, roles: &[Option<&Seen>]) -> Vec<String> {
        let rows = time.cells.len();
        let may_be_id = |column: &&Seen| {
            roles.iter().chain([&id]).flatten().all(|role| role.place != column.place)
                && column.cells.iter().all(Option::is_some)
                && distinct(&column.cells) > 1
                && (!column.are_numbers() || is_called_as_ids(&column.name))
        };
        let others: Vec<&Seen> = self.0.iter().filter(may_be_id).take(MOST_PARTS).collect();
        let series = |parts: &[&Seen]| -> Option<usize> {
            let cells = |row: usize| parts.iter().map(move |part| part.cells[row]).collect::<Vec<_>>();
            let series: Vec<_> = (0..rows).map(cells).collect();
            let count = series.iter().collect::<HashSet<_>>().len();
            let pairs = series.iter().zip(&time.cells).collect::<HashSet<_>>().len();
            (pairs == rows && count < rows).then_some(count)
        };
        for size in 1..=3 - usize::from(id.is_some()) {
            let of_size = (0..1_usize << others.len()).filter(|set| set.count_ones() as usize == size);
            let chosen = of_size.map(|set| {
                let chosen = others.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                id.into_iter().chain(chosen.map(|(_, part)| *part)).collect::<Vec<_>>()
            });
            let found =
                chosen.filter_map(|parts| Some((series(&parts)?, parts))).min_by_key(|(count, _)| *count);
            if let Some((_, parts)) = found {
                // One that does alone is no list.
                let names = parts.iter().map(|part| part.name.clone());
                return names.filter(|_| parts.len() > 1).collect();
            }
        }
        Vec::new()
    }
}

/// Whether a column holds the beginnings of intervals that follow each other, and the other one their ends.
fn begins_before(start: &Seen, end: &Seen) -> bool {
    let first = start.cells.first();
    let next = start.cells.iter().find(|cell| Some(*cell) != first);
    next.is_some_and(|next| next.is_some() && end.cells.first() == Some(next)) && end.place > start.place
}

/// The most columns of which all choices are tried.
const MOST_PARTS: usize = 8;

/// Whether a cell is a time of day, `07:30` or `7:30 PM`.
fn is_clock(cell: &str) -> bool {
    let (hour, rest) = cell.split_once(':').unwrap_or_default();
    let is_number =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let minutes = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ' || c == '.');
    is_number(hour) && minutes.split(':').all(is_number)
}

/// One cell for each two.
fn joined(one: &[Option<u64>], other: &[Option<u64>]) -> Vec<Option<u64>> {
    one.iter().zip(other).map(|pair| Some(FxBuildHasher.hash_one(pair))).collect()
}

fn distinct(cells: &[Option<u64>]) -> usize {
    cells.iter().collect::<HashSet<_>>().len()
}

/// The only column with one of these names, in any case.
fn only_called<'a>(columns: impl Iterator<Item = &'a Seen>, names: &[&str]) -> Option<&'a Seen> {
    let mut called = columns.filter(|column| names.contains(&column.name.to_lowercase().as_str()));
    called.next().filter(|_| called.next().is_none())
}

/// Whether a column may hold ids: it is one text while times do not come again, and each of its texts has each time once, unless several
/// rows are to become one.
fn are_ids(id: &Seen, times: &[Option<u64>], aggregates: bool) -> bool {
    let count = id.cells.len();
    let pairs = id.cells.iter().zip(times).collect::<HashSet<_>>().len();
    id.cells.iter().all(Option::is_some)
        && (distinct(&id.cells) == 1 || distinct(times) < count)
        && (pairs == count || aggregates)
}

#[cfg(test)]
#[path = "roles_tests.rs"]
mod tests;
