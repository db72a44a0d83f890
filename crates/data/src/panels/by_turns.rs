//! Panels that are larger than memory: one file after another is read, and its numbers go to a file of the panel's own.

use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_pool::NumberFile;

use super::column::Column;
use super::fill::{Filled, Trimmed};
use super::numbers::Numbers;
use super::options::ReadOptions;
use super::panel::{Data, Panel, Series};
use crate::error::DataError;
use crate::error::file::UnreadableTable;
use crate::error::place::Place;
use crate::tables::table_files::table_files;

impl Panel {
    /// Reads files one after another, as [`from_files`](Self::from_files) reads all of them as one table, and keeps the numbers of
    /// their rows in files without names in `dir`, from which the system brings into memory what is used. So a panel may be larger
    /// than memory: the rows of one file, and what a series has once (its id, its static values), have to find room. It is used as
    /// any other; what is computed of all its rows (scaled series, further columns) is in memory.
    ///
    /// Each series is whole in one file. The frequency, if none is set, is inferred from the first file.
    ///
    /// # Errors
    /// Those of [`from_files`](Self::from_files), of each file; a series in two files, files that are not alike, a directory that does
    /// not take the numbers ([`UnreadableTable`]).
    pub fn from_files_by_turns(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        dir: impl AsRef<Path>,
    ) -> Result<Self, DataError> {
        let files = paths.iter().map(table_files).collect::<Result<Vec<_>, _>>()?.concat();
        let (mut turns, mut options) = (Turns::new(&files, dir.as_ref())?, options.clone());
        for number in 0..files.len() {
            let part = Self::from_files(&files[number..=number], &options)?;
            options.freq = Some(part.freq());
            turns.take(part, number)?;
        }
        turns.finish()
    }
}

/// A column on its way to a file: its numbers there, and what is known of it beside them.
struct WrittenColumn {
    column: Column,
    numbers: NumberFile,
}

/// The files that were read so far.
struct Turns<'p> {
    files: &'p [PathBuf],
    dir: &'p Path,
    /// The first file's, with what was told of the others.
    like: Option<Panel>,
    rows: usize,
    y: NumberFile,
    /// From the first file on that has any; in those before it they are 1.
    marks: [Option<NumberFile>; 2],
    columns: Vec<WrittenColumn>,
    statics: Vec<Column>,
    /// The series, with the numbers of their files.
    series: Vec<(Series, usize)>,
    integer_ids: bool,
    filled: Filled,
    trimmed: Trimmed,
}

impl<'p> Turns<'p> {
    fn new(files: &'p [PathBuf], dir: &'p Path) -> Result<Self, DataError> {
        Ok(Self {
            files,
            dir,
            like: None,
            rows: 0,
            y: number_file(dir)?,
            marks: [None, None],
            columns: Vec::new(),
            statics: Vec::new(),
            series: Vec::new(),
            integer_ids: true,
            filled: Filled::default(),
            trimmed: Trimmed::default(),
        })
    }

    /// Takes the rows of the file of this number.
    fn take(&mut self, part: Panel, number: usize) -> Result<(), DataError> {
        match &self.like {
            Some(like) => check_alike(like, &part, &self.files[number])?,
            None => self.begin(&part)?,
        }
        let (dir, rows, before) = (self.dir, part.n_rows(), self.rows);
        let write = |file: &mut NumberFile, numbers: &[f32]| {
            let mut series = part.series.iter();
            series.try_for_each(|series| file.append(&numbers[series.rows()])).map_err(unwritten(dir))
        };
        let Data { table, y, mask, weight, columns, filled, trimmed, integer_ids, .. } = &*part.data;
        self.integer_ids &= integer_ids;
        write(&mut self.y, y)?;
        for (own, marks) in self.marks.iter_mut().zip([mask, weight]) {
            if own.is_none() && marks.is_some() {
                append_ones(own.insert(number_file(dir)?), before).map_err(unwritten(dir))?;
            }
            match (own, marks) {
                (Some(file), Some(marks)) => write(file, marks)?,
                (Some(file), None) => append_ones(file, rows).map_err(unwritten(dir))?,
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
        let places = self.series.len();
        for (own, column) in self.statics.iter_mut().zip(&*part.statics) {
            own.append(column.clone(), place);
        }
        for series in &part.series {
            let (start, reach, place) = (self.rows, self.rows + series.len, places + series.place);
            self.series.push((Series { start, reach, place, ..series.clone() }, number));
            self.rows = reach;
        }
        self.filled.rows += filled.rows;
        self.filled.values += filled.values;
        self.trimmed.series += trimmed.series;
        self.trimmed.rows += trimmed.rows;
        Ok(())
    }

    /// Makes a file for each column of the first part.
    fn begin(&mut self, first: &Panel) -> Result<(), DataError> {
        for column in &first.data.columns {
            self.columns.push(WrittenColumn { column: column.none(), numbers: number_file(self.dir)? });
        }
        self.statics = first.statics.iter().map(Column::none).collect();
        let columns = first.data.columns.iter().map(Column::none).collect();
        let (y, table, notes) = (Numbers::default(), first.data.table.clone(), first.notes().to_vec());
        let data = Data { table, y, mask: None, weight: None, columns, ..*first.data };
        let mut like = Panel::new(first.freq(), first.zone().cloned(), Vec::new(), data).with_notes(notes);
        like.statics = Arc::new(self.statics.clone());
        self.like = Some(like);
        Ok(())
    }

    fn finish(mut self) -> Result<Panel, DataError> {
        self.series.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
        let twice = self.series.windows(2).find(|two| two[0].0.id == two[1].0.id);
        if let Some([(series, first), (_, second)]) = twice {
            let [first, second] = [first, second].map(|file| self.files[*file].display().to_string());
            return Err(UnreadableTable::SeriesTwice { id: series.id.to_string(), first, second }.into());
        }
        let like = self.like.expect("there is a file, or its name would be an error");
        let dir = self.dir;
        let numbers = |file: NumberFile| file.finish().map(Into::into).map_err(unwritten(dir));
        let column = |WrittenColumn { mut column, numbers: file }: WrittenColumn| {
            if column.values.is_ok() {
                column.values = Ok(numbers(file)?);
            }
            Ok::<_, DataError>(column)
        };
        let table = match self.files {
            [file] => file.display().to_string(),
            [first, others @ ..] => format!("{} and {} more files", first.display(), others.len()),
            [] => String::new(),
        };
        let [mask, weight] = self.marks;
        let data = Data {
            table: table.into(),
            y: numbers(self.y)?,
            mask: mask.map(numbers).transpose()?,
            weight: weight.map(numbers).transpose()?,
            columns: self.columns.into_iter().map(column).collect::<Result<_, _>>()?,
            integer_ids: self.integer_ids,
            filled: self.filled,
            trimmed: self.trimmed,
            ..*like.data
        };
        let series = self.series.into_iter().map(|(series, _)| series).collect();
        let mut panel = Panel::new(like.freq(), like.zone().cloned(), series, data);
        panel.statics = Arc::new(self.statics);
        Ok(panel.with_notes(like.notes().to_vec()))
    }
}

/// Whether a file has the zone and the columns of the first.
fn check_alike(first: &Panel, part: &Panel, file: &Path) -> Result<(), DataError> {
    let columns =
        |panel: &Panel| panel.column_names().chain(panel.static_names()).collect::<Vec<_>>().join(", ");
    let zone = |panel: &Panel| panel.zone().map_or_else(|| "none".to_owned(), ToString::to_string);
    for (what, expected, found) in
        [("columns are", columns(first), columns(part)), ("zone is", zone(first), zone(part))]
    {
        if expected != found {
            return Err(
                UnreadableTable::Unlike { file: file.display().to_string(), what, expected, found }.into()
            );
        }
    }
    Ok(())
}

fn number_file(dir: &Path) -> Result<NumberFile, DataError> {
    NumberFile::create_in(dir).map_err(unwritten(dir))
}

fn unwritten(dir: &Path) -> impl Fn(io::Error) -> DataError + '_ {
    |source| UnreadableTable::Unwritten { dir: dir.to_owned(), source }.into()
}

fn append_ones(file: &mut NumberFile, count: usize) -> io::Result<()> {
    (0..count).try_for_each(|_| file.append(&[1.0]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A file of each text, after the header.
    fn files(texts: &[&str]) -> (TempDir, Vec<PathBuf>) {
        let dir = TempDir::new().unwrap();
        let path = |(number, text): (usize, &&str)| {
            let path = dir.path().join(format!("part-{number}.csv"));
            fs::write(&path, format!("unique_id,ds,y,kind,x,available_mask,size\n{text}")).unwrap();
            path
        };
        let paths = texts.iter().enumerate().map(path).collect();
        (dir, paths)
    }

    fn options() -> ReadOptions {
        let [categories, static_cols] = [vec!["kind".into()], vec!["size".into()]];
        ReadOptions { categories, static_cols, ..ReadOptions::default() }
    }

    const PARTS: [&str; 3] = [
        "m,1,1,new,0.5,1,3\nm,2,2,old,0.25,1,3\nc,5,3,old,0.125,1,4\nc,6,4,new,7,0,4\nc,4,9,new,7,1,4\n",
        "z,1,5,used,1,1,5\nz,2,6,new,2,1,5\n",
        "a,3,7,used,3,1,6\na,4,8,old,4,0,6\n",
    ];

    #[test]
    fn files_by_turns_are_the_panel_of_one_table() {
        let (dir, paths) = files(&PARTS);
        let whole = Panel::from_files(&paths, &options()).unwrap();
        let turns = Panel::from_files_by_turns(&[dir.path()], &options(), dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "files without names");
        assert_eq!(turns.ids().collect::<Vec<_>>(), whole.ids().collect::<Vec<_>>());
        assert_eq!((turns.freq(), turns.n_rows()), (whole.freq(), whole.n_rows()));
        assert!(turns.bytes() < whole.bytes() && turns.copied_bytes() == whole.copied_bytes());
        let vocabulary = [("kind".to_owned(), whole.categories_of("kind").unwrap())].into_iter().collect();
        let [whole, turns] = [whole, turns].map(|panel| panel.encode_categories(&vocabulary).unwrap());
        for series in 0..whole.n_series() {
            assert_eq!(turns.y(series), whole.y(series));
            assert_eq!(turns.available_mask(series), whole.available_mask(series));
            assert_eq!(turns.times(series).collect::<Vec<_>>(), whole.times(series).collect::<Vec<_>>());
            for column in ["kind", "x"] {
                assert_eq!(turns.column(column, series).unwrap(), whole.column(column, series).unwrap());
            }
            let size = |panel: &Panel| panel.static_value("size", series).unwrap();
            assert_eq!(size(&turns), size(&whole));
        }
    }

    #[test]
    fn what_is_no_part_of_the_panel_is_refused() {
        let (dir, paths) = files(&[PARTS[0], PARTS[1], "m,3,1,new,0.5,1,3\nm,4,1,new,0.5,1,3\n"]);
        let error = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("`m` has rows in ") && error.contains("part-0") && error.contains("part-2"),
            "{error}"
        );
        fs::write(&paths[1], "unique_id,ds,y,kind,size\nz,1,5,used,5\nz,2,6,new,5\n").unwrap();
        let error = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("part-1.csv: its columns are kind, size, and of the first file kind, x, size"),
            "{error}"
        );
        let nowhere = dir.path().join("nowhere");
        let error = Panel::from_files_by_turns(&paths, &options(), &nowhere).unwrap_err().to_string();
        assert!(error.contains("cannot keep numbers in ") && error.contains("nowhere"), "{error}");
    }

    #[test]
    fn rows_that_come_later_bring_a_series_into_memory() {
        let (dir, paths) = files(&PARTS);
        let panel = Panel::from_files_by_turns(&paths, &options(), dir.path()).unwrap();
        let vocabulary = [("kind".to_owned(), panel.categories_of("kind").unwrap())].into_iter().collect();
        let mut panel = panel.encode_categories(&vocabulary).unwrap();
        panel.append("z", &[10.0], &[("kind", &[1.0]), ("x", &[3.0])]).unwrap();
        assert_eq!(panel.y(3), [5.0, 6.0, 10.0]);
    }
}
