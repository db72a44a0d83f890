//! The roles of the columns of a long table whose names do not tell them: which holds the ids, the times, the values, by what its
//! first rows hold.

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};

use rustc_hash::FxBuildHasher;

use super::forecast_table::CUTOFF;
use super::laid_out::year_and_part;
use super::options::ReadOptions;
use super::read::{AVAILABLE_MASK, WEIGHT};
use foretell_calendar::{Clock, TimeKind};
use foretell_tables::{
    DataError, Flaw, MemoryTable, TableReader, UnclearColumn, UnreadableTable, open, table_files,
};

/// Rows that are looked at.
const ROWS: usize = 1000;

/// The most columns of a table that is looked at: what is kept of its cells is no more than 8 MB.
const MOST_COLUMNS: usize = 1000;

/// Names of the column of times, if what the columns hold does not tell it.
const TIMES: [&str; 12] = [
    "ds",
    "date",
    "datum",
    "day",
    "time",
    "timestamp",
    "datetime",
    "month",
    "week",
    "quarter",
    "year",
    "period",
];

/// Names of the column of ids, if several hold texts, or if they are numbers.
const IDS: [&str; 14] = [
    "unique_id",
    "id",
    "series",
    "series_id",
    "item",
    "item_id",
    "product",
    "product_id",
    "sku",
    "store",
    "store_id",
    "article",
    "meter",
    "sensor",
];

/// Names of the column of values, if several hold numbers.
const TARGETS: [&str; 16] = [
    "y",
    "value",
    "values",
    "target",
    "sales",
    "demand",
    "quantity",
    "qty",
    "units",
    "units_sold",
    "volume",
    "count",
    "revenue",
    "load",
    "consumption",
    "visitors",
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

    /// Those of the columns of a long table that are not read.
    pub fn unread_columns(&self, header: &[String]) -> Vec<String> {
        let own = [self.id_col.as_str(), self.time_name(), &self.target_col, AVAILABLE_MASK, WEIGHT, ""];
        let is_unread = |name: &&String| {
            !own.contains(&name.as_str())
                && !self.columns.as_ref().is_none_or(|read| read.contains(name))
                && !self.static_cols.contains(name)
                && self.end_col.as_ref() != Some(name)
        };
        // Two columns are a time and a value, whatever they are called.
        match self.is_long() && header.len() > 2 {
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
        Ok(self.roles_of(open(&first, &self.file, |_| true)?))
    }

    /// The same of a table that is in memory.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn roles_in(&self, table: &MemoryTable) -> Result<Option<Roles>, DataError> {
        Ok(self.roles_of(table.open(&self.file, |_| true)?))
    }

    fn roles_of(&self, mut table: Box<dyn TableReader + '_>) -> Option<Roles> {
        let named = table.columns().filter(|name| !name.is_empty()).count();
        let are_told =
            [&self.id_col, self.time_name(), &self.target_col].iter().all(|name| table.find(name).is_some());
        if !self.is_long() || !(3..=MOST_COLUMNS).contains(&named) || are_told {
            return None;
        }
        table.read_numbers(self.numbers);
        let mut columns = Columns::of(&*table, self);
        for _ in 0..ROWS {
            // What cannot be read is an error later on, with its place.
            if !table.advance().unwrap_or(false) {
                break;
            }
            columns.see(&*table);
        }
        Some(columns.roles(self))
    }
}

impl Roles {
    /// Whether there are times and values, and each time once in a series.
    pub fn are_clear(&self) -> bool {
        self.time.is_some() && self.target.is_some() && !self.repeats
    }

    /// The question that is open of a table called so, as an error; nothing where there is none, or where no times were found.
    pub fn question(&self, table: &str) -> Option<DataError> {
        let Self { id, time, target, numbers, texts, repeats, parts } = self;
        // A year alone is a time of the same name.
        if let Some([year, part]) = parts
            && time.as_ref().is_none_or(|time| time == year || time == part)
        {
            let (table, year, part) = (table.into(), year.clone(), part.clone());
            return Some(UnreadableTable::TimesInParts { table, year, part }.into());
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
            (Some(_), Some(_)) if *repeats && !texts.is_empty() => ask(true, texts, target),
            _ => return None,
        };
        Some(DataError::UnclearColumn(Box::new(question)))
    }
}

/// What was seen of a column.
struct Seen {
    name: String,
    place: usize,
    clock: Clock,
    are_times: bool,
    /// Cells that hold numbers.
    numbers: usize,
    /// The hashes of all cells, but for those without a value: copies might be as large as the table.
    cells: Vec<Option<u64>>,
}

impl Seen {
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
                column.are_times = column.are_times && table.time(column.place, &mut column.clock).is_ok();
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
                _ => only_called(times.into_iter(), &TIMES),
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
            let id = match texts.len() {
                0 => only_called(others(), &IDS),
                1 => Some(texts[0]),
                _ => only_called(texts.into_iter(), &IDS),
            };
            id.filter(|id| {
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
                Some(named) => Some(named).filter(|named| named.are_numbers()),
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
        let parts = year_and_part(columns.iter().map(|column| &column.name));
        Roles { id: name(id), time: name(time), target: name(target), numbers, texts, repeats, parts }
    }
}

/// Whether a cell of a column of numbers may be so: those that are written in another way than was said are an error of the reading,
/// which says how they are.
fn holds_number(cell: Result<f32, Flaw>) -> bool {
    match cell {
        Ok(_) | Err(Flaw::Missing | Flaw::Dash) => true,
        Err(Flaw::DecimalComma | Flaw::CommaOfThousands | Flaw::Grouped | Flaw::DecimalPoint) => true,
        Err(_) => false,
    }
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
mod tests {
    use std::fs;

    use super::*;

    /// The roles of id, time and target of a text.
    fn roles(text: &str) -> [Option<String>; 3] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("table.csv");
        fs::write(&path, text).expect("written");
        let roles = ReadOptions::default().roles(&path).expect("read");
        let Some(Roles { id, time, target, .. }) = roles else {
            return ["unique_id", "ds", "y"].map(|name| Some(name.to_owned()));
        };
        [id, time, target]
    }

    fn named(names: [&str; 3]) -> [Option<String>; 3] {
        names.map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()))
    }

    #[test]
    fn columns_are_told_by_what_they_hold() {
        for (text, expected) in [
            ("Date,Store,Sales,price\n2024-01-01,A,5,1\n2024-01-01,B,6,2\n", ["Store", "Date", "Sales"]),
            ("kWh,when,meter\n1,2024-01-01 00:00,M1\n2,2024-01-01 01:00,M1\n", ["meter", "when", "kWh"]),
            ("store,date,units\n1,2024-01-01,5\n2,2024-01-01,6\n", ["store", "date", "units"]),
            ("unique_id,ds,y,x\na,1,5,2\n", ["unique_id", "ds", "y"]),
            ("date,sales,price\n2024-01-01,shut,5\n2024-01-02,3,6\n", ["", "date", ""]),
            ("date,sales,price\n2024-01-01,n/a,5\n2024-01-02,3,6\n", ["", "date", "sales"]),
            (
                "date,sales,price\n2024-01-01,shut,5\n2024-01-02,3,6\n2024-01-03,3,6\n2024-01-04,3,6\n2024-01-05,3,6\n",
                ["", "date", "sales"],
            ),
            ("unique_id,ds,price\na,1,5\n", ["unique_id", "ds", ""]),
            ("unique_id,ds,sales\na,1,5\n", ["unique_id", "ds", "sales"]),
            // Decimals that are not as was said, and values that are missing.
            ("Datum;Laden;Umsatz\n31.01.2024;A;1,5\n31.01.2024;B;NA\n", ["Laden", "Datum", "Umsatz"]),
            // One series with a column of texts that say something else.
            ("date,weather,sales\n2024-01-01,sunny,5\n2024-01-02,rain,6\n", ["", "date", "sales"]),
            // Forecasts of cross-validation, whose times come again from another cutoff.
            (
                "Laden,Tag,cutoff,Umsatz,M\nA,2024-01-02,2024-01-01,5,4\nA,2024-01-03,2024-01-01,5,4\n\
                 A,2024-01-03,2024-01-02,5,4\nB,2024-01-03,2024-01-02,5,4\n",
                ["Laden", "Tag", ""],
            ),
            // Which of the numbers, which of the texts?
            ("date,shop,a,b\n2024-01-01,A,5,1\n2024-01-01,B,6,2\n", ["shop", "date", ""]),
            ("date,shop,kind,y\n2024-01-01,A,u,1\n2024-01-01,B,u,2\n", ["", "date", "y"]),
            // A day and another one.
            ("ordered,due,sku,y\n2024-01-01,2024-02-01,A,1\n2024-01-01,2024-02-01,B,2\n", ["", "", "y"]),
        ] {
            assert_eq!(roles(text), named(expected), "{text}");
        }
    }

    #[test]
    fn rows_that_several_share_are_of_no_id() {
        let text = "date,promo,units\n2024-01-01,yes,5\n2024-01-01,yes,6\n2024-01-02,no,6\n";
        assert_eq!(roles(text), named(["", "date", "units"]));
    }

    #[test]
    fn years_and_their_parts_are_times_in_two_columns() {
        let question = |text: &str| {
            let table = MemoryTable::new("t.csv", foretell_tables::FileFormat::of("t.csv"), text.into());
            let roles = ReadOptions::default().roles_in(&table).expect("read").expect("a long table");
            roles.question("t.csv").map(|question| question.to_string()).unwrap_or_default()
        };
        for (year, part) in [("year", "week"), ("Jahr", "KW"), ("Year", "Week_No"), ("année", "mois")] {
            let question =
                question(&format!("{year},{part},sales\n2020,51,5\n2020,52,6\n2021,1,7\n2021,2,8\n"));
            assert!(question.contains(&format!("= {year},{part}`")), "{question}");
        }
        assert!(
            !question("year,store,sales\n2020,1,5\n2020,2,6\n2021,1,7\n2021,2,8\n").contains("seem to make")
        );
        // What the question advises, and what is asked of those who named one of them.
        let rows: String = (1..=53).map(|week| format!("2020,{week},{week}\n")).collect();
        let text = format!("Jahr,KW,y\n{rows}2021,1,54\n2021,2,55\n");
        let read = |options: &ReadOptions| crate::Panel::read_csv(text.as_bytes(), "t.csv", options);
        let parts = ReadOptions { time_cols: vec!["Jahr".into(), "KW".into()], ..ReadOptions::new() };
        let panel = read(&parts).expect("weeks");
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("W-MON", 55));
        let error = read(&ReadOptions::new().time_col("KW")).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`ReadOptions::time_cols = Jahr,KW`"), "{error}");
        let text = text.replace("KW", "period");
        let parts = ReadOptions { time_cols: vec!["Jahr".into(), "period".into()], ..ReadOptions::new() };
        let error = crate::Panel::read_csv(text.as_bytes(), "t.csv", &parts).unwrap_err().to_string();
        assert!(error.contains("13 periods of four weeks"), "{error}");
    }

    #[test]
    fn columns_that_tell_repeated_rows_apart_are_named() {
        let text =
            "store,item,ds,y\nN,1,2024-01-01,5\nN,2,2024-01-01,6\nN,1,2024-01-02,5\nN,2,2024-01-02,6\n";
        let options = ReadOptions { columns: Some(Vec::new()), ..ReadOptions::new() }.id_col("store");
        let error = crate::Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap_err().to_string();
        assert!(error.contains("one of the other columns (`item`)"), "{error}");
        assert!(error.contains("joins it with `store`"), "{error}");
    }
}
