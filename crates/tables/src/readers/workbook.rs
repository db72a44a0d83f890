//! Sheets of Excel's and OpenDocument's workbooks as tables.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use calamine::{Data, DataRef, Dimensions, ExcelDateTime, Ods, Reader, Xlsx};

use super::below_header::{BelowHeader, FOLLOWING, INDEX, Row, are_groups, has_unnamed_times};
use super::catch_panic::caught;
use super::file_options::FileOptions;
use super::header_search::{Shape, header_of};
use super::merged_cells::{PlacedCell, fill_merged, text_bytes};
use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use super::sheets::Sheets;
use super::table::{TableReader, check_header};
use super::units::Units;
use super::workbook_sizes::{CELL, Contents, TOO_MUCH, check_contents};
use crate::error::TableError;
use crate::error::cell::CellError;
use crate::error::construct::check_wanted;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use crate::error::too_large::TooLarge;
use foretell_calendar::{Clock, TimeFlaw, TimeKind};
use foretell_messages::excerpt;

const NO_TIME: TimeFlaw = TimeFlaw::new("is no time; write a date, or a text as in other files");

/// Rows in which the header is looked for.
const LOOK: usize = 64;

/// Cells from one look at whether anyone waits for them to the next.
const CELLS: usize = 1 << 13;

/// Columns that a sheet may have, as in the programs that write them.
const MOST_COLUMNS: u32 = 1 << 14;

/// What was read of a sheet.
struct SheetCells {
    cells: Vec<PlacedCell>,
    merged: Vec<Dimensions>,
    sheet: Chosen,
    /// Bytes of memory that there still are for cells.
    room: u64,
}

/// The cells of a sheet that are not empty, row by row.
pub(crate) struct SheetTable {
    file: Arc<str>,
    header: Vec<String>,
    /// The column of the sheet that is the first of the table.
    left: u32,
    /// Row and column of each cell, from 0.
    cells: Vec<((u32, u32), Data)>,
    /// Where the cells of the current row begin, and those of the next.
    at: usize,
    next: usize,
    numbers: NumberFormat,
    options: FileOptions,
    sheets: Option<Sheets>,
    notes: Vec<ReadNote>,
    units: Units,
}

impl SheetTable {
    /// Opens a workbook of Excel's.
    pub(crate) fn open_xlsx(path: &Path, options: &FileOptions) -> Result<Self, TableError> {
        let (file, book) = opened(path)?;
        Self::of_xlsx(file, book, options)
    }

    /// The same of OpenDocument.
    pub(crate) fn open_ods(path: &Path, options: &FileOptions) -> Result<Self, TableError> {
        let (file, book) = opened(path)?;
        Self::of_ods(file, book, options)
    }

    /// Reads a workbook of Excel's that is in memory, called `file` in messages.
    pub(crate) fn take_xlsx(
        file: &Arc<str>,
        bytes: &[u8],
        options: &FileOptions,
    ) -> Result<Self, TableError> {
        Self::of_xlsx(file.clone(), Cursor::new(bytes), options)
    }

    /// The same of OpenDocument.
    pub(crate) fn take_ods(file: &Arc<str>, bytes: &[u8], options: &FileOptions) -> Result<Self, TableError> {
        Self::of_ods(file.clone(), Cursor::new(bytes), options)
    }

    fn of_xlsx(file: Arc<str>, book: impl Read + Seek, options: &FileOptions) -> Result<Self, TableError> {
        Self::checked(file, book, options, |file, book, Contents { limit, .. }| {
            let fault = |error: calamine::XlsxError| faulty(file, error.to_string());
            let mut book: Xlsx<_> = Xlsx::new(book).map_err(fault)?;
            let sheet = chosen(file, &book.sheet_names(), options)?;
            let (mut cells, mut bytes) = (Vec::new(), 0);
            let mut reader = book.worksheet_cells_reader(&sheet.name).map_err(fault)?;
            while let Some(cell) = reader.next_cell().map_err(fault)? {
                if cells.len().is_multiple_of(CELLS) {
                    check_wanted()?;
                }
                // Many cells may share a long text.
                bytes += CELL
                    + match cell.get_value() {
                        DataRef::Empty => continue,
                        DataRef::SharedString(text) => text.len() as u64,
                        DataRef::String(text) => text.len() as u64,
                        _ => 0,
                    };
                if bytes > limit {
                    return Err(faulty(file, TOO_MUCH.to_owned()));
                }
                cells.push((cell.get_position(), cell.get_value().clone().into()));
            }
            drop(reader);
            let merged = book.merge_cells_by_sheet_name(&sheet.name).map_err(fault)?;
            Ok(SheetCells { cells, merged, sheet, room: limit - bytes })
        })
    }

    fn of_ods(file: Arc<str>, book: impl Read + Seek, options: &FileOptions) -> Result<Self, TableError> {
        Self::checked(file, book, options, |file, book, Contents { limit, mut spanned }| {
            let fault = |error: calamine::OdsError| faulty(file, error.to_string());
            let mut book: Ods<_> = Ods::new(book).map_err(fault)?;
            let sheet = chosen(file, &book.sheet_names(), options)?;
            let range = book.worksheet_range(&sheet.name).map_err(fault)?;
            let (top, left) = range.start().unwrap_or((0, 0));
            let place = |row: usize, column: usize| (top + row as u32, left + column as u32);
            let cells = range.used_cells().map(|(row, column, data)| (place(row, column), data.clone()));
            let cells: Vec<PlacedCell> = cells.collect();
            let bytes: u64 = cells.iter().map(|(_, data)| CELL + text_bytes(data)).sum();
            let merged = spanned.take(&sheet.name);
            Ok(SheetCells { cells, merged, sheet, room: limit.saturating_sub(bytes + spanned.bytes()) })
        })
    }

    /// Reads the cells of a workbook that does not unpack to too much, in no more than this many bytes.
    fn checked<B: Read + Seek>(
        file: Arc<str>,
        mut book: B,
        options: &FileOptions,
        read: impl FnOnce(&Arc<str>, B, Contents) -> Result<SheetCells, TableError>,
    ) -> Result<Self, TableError> {
        let contents =
            check_contents(&mut book, options.most_unpacked).map_err(|reason| faulty(&file, reason))?;
        let panicked = || faulty(&file, "it is damaged".to_owned());
        let read = caught(|| read(&file, book, contents)).ok_or_else(panicked)??;
        let sheets = read.sheet.sheets();
        let table = Self::new(file, read, options);
        table.map_err(|error| match sheets {
            Some(sheets) => TableError::LaidOut { error: Box::new(error), hint: sheets.hint() },
            None => error,
        })
    }

    fn new(file: Arc<str>, read: SheetCells, options: &FileOptions) -> Result<Self, TableError> {
        let SheetCells { mut cells, merged, sheet, room } = read;
        cells.retain(|(_, data)| !matches!(data, Data::String(text) if text.trim().is_empty()));
        cells.sort_by_key(|(place, _)| *place);
        let skipped = u32::try_from(options.skip_rows.unwrap_or(0)).unwrap_or(u32::MAX);
        let first = cells.partition_point(|((row, _), _)| *row < skipped);
        let header = match options.skip_rows {
            Some(_) => first,
            None => header_cell(&cells),
        };
        let row = match cells.get(header) {
            Some(((row, _), _)) => *row,
            None if !cells.is_empty() => {
                let lines = cells.last().map_or(0, |((row, _), _)| *row as usize + 1);
                return Err(UnreadableTable::FewerLines { file, lines, skipped: skipped as usize }.into());
            }
            None => return Err(TableError::Empty { file }),
        };
        let rows = cells.chunk_by(|one, other| one.0.0 == other.0.0);
        let titles = rows.take_while(|cells| cells[0].0.0 < row).count() as u64;
        let titles = (titles > 0 && options.skip_rows.is_none()).then(|| ReadNote::Titles {
            file: file.clone(),
            lines: u64::from(row),
            header: u64::from(row) + 1,
        });
        let left = cells[header..].iter().map(|((_, column), _)| *column).min().unwrap_or(0);
        let end = header + cells[header..].iter().take_while(|((other, _), _)| *other == row).count();
        let width = cells[header..]
            .iter()
            .map(|((_, column), _)| (*column - left).saturating_add(1))
            .max()
            .unwrap_or(0);
        if width > MOST_COLUMNS {
            return Err(TooLarge::Columns { file, most: MOST_COLUMNS as usize }.into());
        }
        let mut names = vec![String::new(); width as usize];
        for ((_, column), data) in &cells[header..end] {
            names[(column - left) as usize] = text_of(data).trim().to_owned();
        }
        let rows = cells[end..].chunk_by(|one, other| one.0.0 == other.0.0).take(FOLLOWING);
        let following: Vec<(u64, Row)> =
            rows.map(|cells| (u64::from(cells[0].0.0) + 1, row_of(cells, left))).collect();
        let header_row = row_of(&cells[header..end], left);
        let below = BelowHeader::of(&header_row, &following);
        if has_unnamed_times(&header_row, &following, below.as_ref()) {
            names[0] = INDEX.to_owned();
        }
        for (column, name) in below.iter().filter_map(BelowHeader::names).flatten() {
            names[*column].clone_from(name);
        }
        check_header(&file, &names)?;
        let last = below.as_ref().and_then(|below| below.rows.last().copied()).unwrap_or(0);
        let rows_at = end + cells[end..].partition_point(|((row, _), _)| u64::from(*row) < last);
        let below = below.and_then(|below| below.note(&file));
        let first_row = cells.get(rows_at).map_or(u32::MAX, |((row, _), _)| *row);
        let filled = fill_merged(&mut cells, &merged, (first_row, left), room)
            .ok_or_else(|| faulty(&file, TOO_MUCH.to_owned()))?;
        let filled = filled
            .into_iter()
            .filter_map(|column| names.get((column - left) as usize).cloned())
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>();
        let merged = (!filled.is_empty()).then(|| ReadNote::Merged { file: file.clone(), columns: filled });
        Ok(Self {
            file,
            units: Units::of_columns(names.len()),
            header: names,
            left,
            cells,
            at: rows_at,
            next: rows_at,
            numbers: NumberFormat::default(),
            options: options.clone(),
            sheets: sheet.sheets(),
            notes: sheet.note.into_iter().chain(titles).chain(below).chain(merged).collect(),
        })
    }

    fn cell(&self, column: usize) -> &Data {
        let row = &self.cells[self.at..self.next];
        let wanted = column as u32 + self.left;
        let place = row.binary_search_by_key(&wanted, |((_, column), _)| *column);
        place.map_or(&Data::Empty, |place| &row[place].1)
    }
}

/// A sheet, the others of its workbook, and the note on its choice.
struct Chosen {
    name: String,
    others: Vec<String>,
    note: Option<ReadNote>,
}

impl Chosen {
    /// The sheets, where there are several.
    fn sheets(&self) -> Option<Sheets> {
        let Self { name, others, .. } = self;
        (!others.is_empty()).then(|| Sheets { read: name.clone(), others: others.clone() })
    }
}

fn chosen(file: &Arc<str>, sheets: &[String], options: &FileOptions) -> Result<Chosen, TableError> {
    let others = |name: &String| sheets.iter().filter(|other| *other != name).cloned().collect::<Vec<_>>();
    match &options.sheet {
        Some(name) if sheets.contains(name) => {
            Ok(Chosen { name: name.clone(), others: others(name), note: None })
        }
        Some(name) => {
            let (file, sheet, sheets) = (file.clone(), name.clone(), sheets.to_vec());
            Err(UnreadableTable::NoSheet { file, sheet, sheets }.into())
        }
        None => {
            let name = sheets.first().ok_or_else(|| TableError::Empty { file: file.clone() })?.clone();
            let note = (sheets.len() > 1).then(|| ReadNote::Sheet {
                file: file.clone(),
                read: name.clone(),
                others: others(&name),
            });
            Ok(Chosen { others: others(&name), name, note })
        }
    }
}

/// The name of a file in messages, and the file.
fn opened(path: &Path) -> Result<(Arc<str>, BufReader<File>), TableError> {
    let file: Arc<str> = path.display().to_string().into();
    match File::open(path) {
        Ok(opened) => Ok((file, BufReader::new(opened))),
        Err(source) => Err(TableError::Read { file, source }),
    }
}

fn faulty(file: &Arc<str>, reason: String) -> TableError {
    UnreadableTable::Workbook { file: file.clone(), reason }.into()
}

/// Where the cells of the header begin: those of the first row that is no title.
fn header_cell(cells: &[((u32, u32), Data)]) -> usize {
    let width = |cells: &[((u32, u32), Data)]| {
        cells.iter().map(|((_, column), _)| column.saturating_add(1)).max().unwrap_or(0)
    };
    let rows: Vec<_> = cells.chunk_by(|one, other| one.0.0 == other.0.0).take(LOOK).collect();
    let fields = rows.iter().map(|row| width(row)).max().unwrap_or(0) as usize;
    let is_number = |data: &Data| match data {
        Data::Int(year) => !(1600..2200).contains(year),
        Data::Float(year) => !(1600.0..2200.0).contains(year),
        _ => false,
    };
    let shape = |row: &&[((u32, u32), Data)]| Shape {
        fields,
        filled: row.len(),
        numbers: row.iter().any(|(_, data)| is_number(data)),
        begins_with_digit: !matches!(row[0].1, Data::String(_)),
    };
    let shapes: Vec<Shape> = rows.iter().map(shape).collect();
    let header = header_of(&shapes).map_or(0, |(header, _)| header);
    let row = |number: usize| row_of(rows[number], 0);
    let is_next = header > 0 && rows[header - 1][0].0.0 + 1 == rows[header][0].0.0;
    let header = header - usize::from(is_next && are_groups(&row(header - 1), &row(header)));
    rows.iter().take(header).map(|row| row.len()).sum()
}

/// The texts of a row by their columns, counted from this one.
fn row_of(cells: &[((u32, u32), Data)], left: u32) -> Row {
    let text = |data: &Data| text_of(data).trim().to_owned();
    cells.iter().map(|((_, column), data)| ((*column - left) as usize, text(data))).collect()
}

/// Microseconds of a date since 1970-01-01 00:00; workbooks keep milliseconds.
fn micros(time: &ExcelDateTime) -> Result<i64, TimeFlaw> {
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{milli:03}");
    TimeKind::Timestamp.parse(&text)
}

/// A cell as a text file would have it.
fn text_of(data: &Data) -> Cow<'_, str> {
    match data {
        Data::Empty => "".into(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.as_str().into(),
        Data::DateTime(time) => match micros(time) {
            Ok(time) => TimeKind::Timestamp.display(time).into(),
            Err(_) => time.as_f64().to_string().into(),
        },
        // Whole numbers are kept as floats.
        other => other.to_string().into(),
    }
}

impl TableReader for SheetTable {
    fn file(&self) -> &Arc<str> {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.numbers = format;
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        loop {
            self.at = self.next;
            let Some(&((row, column), ref first)) = self.cells.get(self.at) else { return Ok(false) };
            self.next += self.cells[self.at..].iter().take_while(|((other, _), _)| *other == row).count();
            let first = if column == self.left { text_of(first) } else { "".into() };
            if !self.options.skips(first.as_bytes()) {
                return Ok(true);
            }
        }
    }

    fn place(&self) -> Place {
        let row = self.cells.get(self.at).or(self.cells.last()).map_or(0, |((row, _), _)| *row);
        Place { file: Some(self.file.clone()), line: true, series: None, row: u64::from(row) + 1 }
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        match text_of(self.cell(column)) {
            id if id.is_empty() => {
                Err(CellError::EmptyId { at: self.place(), column: self.header[column].clone() }.into())
            }
            id => Ok(id),
        }
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        let read = match self.cell(column) {
            Data::DateTime(time) if time.is_datetime() => {
                micros(time).and_then(|time| clock.typed(None, time))
            }
            Data::DateTimeIso(text) => {
                TimeKind::Timestamp.parse(text).and_then(|time| clock.typed(None, time))
            }
            Data::Int(step) => clock.step(*step),
            Data::Float(step) if step.fract() == 0.0 && step.abs() < 1e15 => clock.step(*step as i64),
            Data::Float(number) if number.is_finite() => clock.read(&number.to_string()),
            Data::String(text) => clock.read(text.trim()),
            _ => Err(NO_TIME),
        };
        read.map_err(|why| (self as &dyn TableReader).bad_time(column, why))
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        match self.cell(column) {
            Data::Empty => Err(Flaw::Missing),
            // Whatever their format shows, cells of numbers bear no unit.
            Data::Int(value) => Ok(*value as f64),
            Data::Float(value) => Ok(*value),
            Data::String(text) => {
                let number = self.numbers.wide_number(text.as_bytes())?;
                let cell = || (self.place().row, text.trim().to_owned());
                self.units.see_text(column, text.as_bytes(), number, cell);
                Ok(number)
            }
            Data::Error(_) => Err(Flaw::Missing),
            _ => Err(Flaw::Type),
        }
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        match self.cell(column) {
            Data::Bool(truth) => Ok(f32::from(u8::from(*truth))),
            _ => self.number(column),
        }
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        match self.cell(column) {
            Data::Empty | Data::Error(_) => Err(Flaw::Missing),
            data => Ok(text_of(data)),
        }
    }

    fn shown(&self, column: usize) -> String {
        excerpt(text_of(self.cell(column)).as_bytes())
    }

    fn check_units(&self) -> Result<(), TableError> {
        self.units.check(&self.file, &self.header)
    }

    fn sheets(&self) -> Option<&Sheets> {
        self.sheets.as_ref()
    }

    fn notes(&self) -> Vec<ReadNote> {
        self.notes.iter().cloned().chain(self.units.notes(&self.file)).collect()
    }
}
