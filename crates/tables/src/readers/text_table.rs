//! A text table read record by record: separator, header, lines and cells.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::below_header::{BelowHeader, INDEX, below_header};
use super::blocks::{Block, BlockError, Blocks, LONGEST_RECORD, Marks};
use super::compressed::{Damage, Text};
use super::decoded::{Decoded, NotEncodedSo};
use super::file_options::FileOptions;
use super::footers::{Footer, Footers, is_note};
use super::header_search::{Header, find_header, separator_after};
use super::number_format::{NumberFormat, narrow};
use super::other_kinds::{CODES_OF_ZERO, other_kind};
use super::pipes::FileText;
use super::points::Points;
use super::read_note::ReadNote;
use super::records::{MAX_COLUMNS, Records};
use super::table::{TableReader, check_header};
use super::units::Units;
use crate::error::TableError;
use crate::error::cell::CellError;
use crate::error::construct::check_wanted;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use crate::error::too_large::TooLarge;
use foretell_calendar::{Clock, TimeFlaw};
use foretell_messages::excerpt;

const NO_TIME: TimeFlaw =
    TimeFlaw::new("is missing; every row needs its time: write it, or take the line out");

/// How far into a file the header and the separator are looked for.
const HEAD: u64 = 1 << 16;

/// The first lines, and the rest.
type Input<R> = Chain<Cursor<Vec<u8>>, BufReader<Decoded<Text<R>>>>;

/// A reader of records that all have as many fields as the header.
pub struct TextTable<R: Read> {
    file: Arc<str>,
    header: Arc<[String]>,
    /// Nothing in a part of a table.
    blocks: Option<Blocks<Input<R>>>,
    records: Records,
    marks: Marks,
    /// Lines that were taken for titles.
    titles: Option<u64>,
    /// The lines below the header that belong to it.
    below: Option<BelowHeader<u64>>,
    /// Rows so far, and the line of the last.
    rows: u64,
    last_row: u64,
    numbers: NumberFormat,
    units: Units,
    /// Points in numbers, where they may be marks between thousands.
    points: Option<Arc<Points>>,
    /// Lines that repeat the header, of all parts.
    repeated: Arc<AtomicU64>,
    /// Notes below the table, of all parts.
    footers: Arc<Footers>,
    options: FileOptions,
}

impl TextTable<FileText> {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, is in another encoding, or has no header.
    pub fn open(path: &Path, options: &FileOptions) -> Result<Self, TableError> {
        let file: Arc<str> = path.display().to_string().into();
        match FileText::open(path) {
            Ok(opened) => Self::new(opened, file, options),
            Err(source) => Err(TableError::Read { file, source }),
        }
    }
}

impl<R: Read + Send> TextTable<R> {
    /// Reads from `input`, which messages call `file`.
    ///
    /// # Errors
    /// Those of [`open`](TextTable::open).
    pub fn new(input: R, file: Arc<str>, options: &FileOptions) -> Result<Self, TableError> {
        let unreadable = |error| unreadable(&file, error);
        let text =
            Text::of(input).and_then(|text| Decoded::new(text, options.encoding)).map_err(unreadable)?;
        let mut input = BufReader::with_capacity(HEAD as usize, text);
        let skipped = options.skip_rows.unwrap_or(0);
        for lines in 0..skipped {
            if input.skip_until(b'\n').map_err(unreadable)? == 0 {
                return Err(UnreadableTable::FewerLines { file, lines, skipped }.into());
            }
        }
        let mut head = Vec::new();
        (&mut input).take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
        if let Some(what) = other_kind(&head) {
            return Err(UnreadableTable::NotText { file, what }.into());
        }
        let comment = options.comment_byte()?;
        let header = match options.skip_rows {
            None => find_header(&head, comment),
            Some(_) => Header { separator: separator_after(&head, comment), lines: 0, bytes: 0 },
        };
        head.drain(..header.bytes);
        let marks = Marks { separator: header.separator, comment };
        let passed = (skipped + header.lines) as u64;
        let (mut below, has_unnamed_times) = below_header(&head, header.separator, comment);
        below.iter_mut().flat_map(|below| &mut below.rows).for_each(|line| *line += passed + 1);
        let mut table = Self {
            file,
            header: Arc::default(),
            blocks: Some(Blocks::new(Cursor::new(head).chain(input), marks, passed)),
            records: Records::of(Block { text: Vec::new(), lines: 0 }, marks),
            marks,
            titles: (header.lines > 0).then_some(passed),
            below,
            rows: 0,
            last_row: 0,
            numbers: NumberFormat::default(),
            units: Units::default(),
            points: Some(Points::new(header.separator).into()),
            repeated: Arc::default(),
            footers: Arc::default(),
            options: options.clone(),
        };
        if !table.read()? {
            return Err(TableError::Empty { file: table.file });
        }
        let joined = table.below.as_ref().and_then(BelowHeader::names);
        let name = |column: usize| match joined.and_then(|joined| joined.get(&column)) {
            Some(joined) => Ok(joined.clone()),
            None if column == 0 && has_unnamed_times => Ok(INDEX.to_owned()),
            None => Ok(table.text(column)?.trim().to_owned()),
        };
        table.header = (0..table.records.len()).map(name).collect::<Result<_, TableError>>()?;
        if table.header.iter().any(|name| name.contains('\0')) {
            return Err(UnreadableTable::NotText { file: table.file, what: CODES_OF_ZERO }.into());
        }
        check_header(&table.file, &table.header)?;
        table.units = Units::of_columns(table.header.len());
        Ok(table)
    }

    /// Reads a record that is not blank.
    fn read(&mut self) -> Result<bool, TableError> {
        loop {
            let too_wide = |_| TooLarge::Columns { file: self.file.clone(), most: MAX_COLUMNS };
            if !self.records.advance().map_err(too_wide)? {
                match self.next_block()? {
                    Some(records) => self.records = records,
                    None => return Ok(false),
                }
                continue;
            }
            if let Some((row, text)) = self.records.open_quote() {
                let at = Place { row, ..self.place() };
                return Err(UnreadableTable::UnclosedQuote { at, text: excerpt(text) }.into());
            }
            let is_below = self.below.as_ref().is_some_and(|below| below.rows.contains(&self.records.line()));
            if is_below || self.records.is_blank() || self.options.skips(self.field(0)) {
                continue;
            }
            if !self.repeats_header() {
                return Ok(true);
            }
            self.repeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the row is the header again, as where files were put together; one without letters may be a row that was taken for one.
    fn repeats_header(&self) -> bool {
        let same = |(name, column): (&String, usize)| name.as_bytes() == self.field(column).trim_ascii();
        let lettered = |name: &String| name.contains(|c: char| c.is_alphabetic());
        self.header.first().is_some_and(|name| same((name, 0)))
            && self.records.len() == self.header.len()
            && self.header.iter().zip(0..).all(same)
            && self.header.iter().any(lettered)
    }

    /// Whether the row seems to be a note below the table. Most are none by their first bytes.
    fn is_note(&self) -> bool {
        let (first, found, expected) = (self.field(0), self.records.len(), self.header.len());
        if self.rows == 0 || expected < 2 || first.first().is_none_or(u8::is_ascii_digit) {
            return false;
        }
        let lacks = found < expected;
        let may_be = lacks || self.field(1).trim_ascii().is_empty() || first.contains(&b':');
        may_be && is_note(first, (1..found).map(|column| self.field(column)), lacks)
    }

    /// Moves to the next record that is neither blank nor a note below the table.
    fn read_row(&mut self) -> Result<bool, TableError> {
        while self.read()? {
            if !self.is_note() {
                (self.rows, self.last_row) = (self.rows + 1, self.records.line());
                return Ok(true);
            }
            self.footers.see(self.records.line(), self.records.len(), self.field(0));
        }
        self.footers.see_row(self.last_row);
        Ok(false)
    }

    /// The error of a line of another number of fields than the header.
    fn ragged(&self, at: Place, found: usize, first: &str) -> TableError {
        let (expected, separator) = (self.header.len(), self.marks.separator.into());
        let word = first.split_whitespace().next().filter(|_| found < expected);
        let note = word.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || "#*([".contains(c)));
        let note = note.map(|word| excerpt(word.as_bytes()));
        UnreadableTable::Ragged { at, expected, found, separator, note }.into()
    }

    /// Sees the point of a number, if points are in question.
    fn see_point(&self, column: usize) {
        if let Some(points) = &self.points {
            points.see(column, self.records.line(), self.field(column));
        }
    }

    fn next_block(&mut self) -> Result<Option<Records>, TableError> {
        let Some(blocks) = &mut self.blocks else { return Ok(None) };
        // A text may unpack to any number of lines that are no rows.
        check_wanted()?;
        match blocks.next() {
            Ok(block) => Ok(block.map(|block| Records::of(block, self.marks))),
            Err(BlockError::Read(error)) => Err(unreadable(&self.file, error)),
            Err(BlockError::Record(after)) => {
                Err(TooLarge::Record { file: self.file.clone(), after, most: LONGEST_RECORD }.into())
            }
        }
    }

    /// A cell; of one that spreadsheets were to keep as a text, `="007"`, the text.
    fn field(&self, column: usize) -> &[u8] {
        match self.records.field(column) {
            [b'=', b'"', text @ .., b'"'] => text,
            text => text,
        }
    }

    /// Sees the unit of a number.
    fn watch<T: Copy + Into<f64>>(&self, column: usize, number: Result<T, Flaw>) -> Result<T, Flaw> {
        if let Ok(number) = number {
            self.units.see_text(column, self.field(column), number.into(), || self.cell_seen(column));
        }
        number
    }

    /// The line and the text of a cell.
    fn cell_seen(&self, column: usize) -> (u64, String) {
        let text = self.field(column).trim_ascii();
        (self.records.line(), String::from_utf8_lossy(text).into_owned())
    }

    /// The time in a row that seems to be none: totals stand below tables.
    fn summary(&self, time: &str) -> Option<TableError> {
        let first = str::from_utf8(self.field(0)).ok()?.trim();
        let wordless = |text: &str| !text.contains(|c: char| c.is_ascii_digit());
        let total = match time {
            "" => {
                let lower = first.to_lowercase();
                // Also of a group, as `North Total`.
                let is_total = |word: &str| TOTALS.iter().any(|total| word.starts_with(total));
                wordless(first) && lower.split_whitespace().any(is_total)
            }
            time => time == first && wordless(time),
        };
        (total && self.rows > 1)
            .then(|| UnreadableTable::Summary { at: self.place(), first: excerpt(first.as_bytes()) }.into())
    }

    fn text(&self, column: usize) -> Result<&str, TableError> {
        str::from_utf8(self.field(column)).map_err(|_| UnreadableTable::NotUtf8 { at: self.place() }.into())
    }
}

impl<R: Read + Send> TableReader for TextTable<R> {
    fn read_numbers(&mut self, format: NumberFormat) {
        self.numbers = format;
        self.points = self.points.take().filter(|_| format == NumberFormat::default());
    }

    fn file(&self) -> &Arc<str> {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        if !self.read_row()? {
            return Ok(false);
        }
        // Separators without anything behind them add nothing.
        let (expected, found) = (self.header.len(), self.records.len());
        let more = || (expected..found).any(|column| !self.field(column).trim_ascii().is_empty());
        if found < expected || found > expected && more() {
            return Err(self.ragged(self.place(), found, &String::from_utf8_lossy(self.field(0))));
        }
        Ok(true)
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        let records = match self.records.is_at_end() {
            true => self.next_block()?,
            false => Some(self.records.rest()),
        };
        let part = |records| TextTable::<io::Empty> {
            file: self.file.clone(),
            header: self.header.clone(),
            blocks: None,
            records,
            marks: self.marks,
            titles: None,
            below: self.below.clone(),
            rows: self.rows,
            last_row: self.last_row,
            numbers: self.numbers,
            units: self.units.of_part(),
            points: self.points.clone(),
            repeated: self.repeated.clone(),
            footers: self.footers.clone(),
            options: self.options.clone(),
        };
        Ok(records.map(|records| Box::new(part(records)) as Box<dyn TableReader>))
    }

    fn place(&self) -> Place {
        Place { file: Some(self.file.clone()), line: true, series: None, row: self.records.line() }
    }

    fn row(&self) -> u64 {
        self.records.line()
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        match self.text(column)? {
            "" => Err(CellError::EmptyId { at: self.place(), column: self.header[column].clone() }.into()),
            id if id.contains('\0') => {
                Err(CellError::NulInId { at: self.place(), column: self.header[column].clone() }.into())
            }
            id => Ok(id.into()),
        }
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        self.field(column) == id.as_bytes()
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        if let Some(time) = clock.plain_form(self.field(column)) {
            return Ok(time);
        }
        let text = self.text(column)?.trim();
        let read = if text.is_empty() { Err(NO_TIME) } else { clock.read(text) };
        read.map_err(|why| {
            self.summary(text).unwrap_or_else(|| {
                TableError::bad_time(self.place(), self.header[column].clone(), excerpt(text.as_bytes()), why)
            })
        })
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        let field = self.field(column);
        match self.numbers.short(field) {
            Some(number) => {
                self.see_point(column);
                self.units.see_plain(column, number, || self.cell_seen(column));
                Ok(number)
            }
            None => self.watch(column, self.numbers.wide_number(field)),
        }
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        let field = self.field(column);
        match self.numbers.short(field) {
            Some(number) => {
                self.see_point(column);
                narrow(number)
            }
            None => self.watch(column, self.numbers.number_or_truth(field)),
        }
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        let label = str::from_utf8(self.field(column)).map_err(|_| Flaw::Label)?;
        if NO_LABELS.contains(&label.trim()) { Err(Flaw::Missing) } else { Ok(label.into()) }
    }

    fn shown(&self, column: usize) -> String {
        excerpt(self.field(column))
    }

    fn check_units(&self) -> Result<(), TableError> {
        if let Some(Footer { line, fields, text }) = self.footers.among_rows() {
            let at = Place { row: line, ..self.place() };
            return Err(match fields < self.header.len() {
                true => self.ragged(at, fields, &text),
                false => UnreadableTable::Summary { at, first: text }.into(),
            });
        }
        if let Some(points) = &self.points {
            points.check(&self.file, &self.header)?;
        }
        self.units.check(&self.file, &self.header)
    }

    fn notes(&self) -> Vec<ReadNote> {
        let file = || self.file.clone();
        let decoded = self.blocks.as_ref().map(|blocks| blocks.get_ref().get_ref().1.get_ref());
        let encoding = decoded.and_then(Decoded::recognised);
        let encoded = encoding.map(|encoding| ReadNote::Encoded { file: file(), encoding });
        let titles = self.titles.map(|lines| ReadNote::Titles { file: file(), lines, header: lines + 1 });
        let repeated = Some(self.repeated.load(Ordering::Relaxed)).filter(|lines| *lines > 0);
        let repeated = repeated.map(|lines| ReadNote::RepeatedHeaders { file: file(), lines });
        let below = self.below.as_ref().filter(|_| self.blocks.is_some());
        let below = below.and_then(|below| below.note(&self.file));
        let footers = self.footers.note(&self.file);
        let first = encoded.into_iter().chain(titles).chain(below).chain(repeated).chain(footers);
        first.chain(self.units.notes(&self.file)).collect()
    }
}

/// How the first cell of a line begins that sums up others.
const TOTALS: [&str; 9] =
    ["total", "subtotal", "sum", "gesamt", "somme", "suma", "insgesamt", "zwischensumme", "ergebnis"];

/// A source that cannot be read, or not as what it is compressed by.
pub(super) fn unreadable(file: &Arc<str>, source: io::Error) -> TableError {
    let file = file.clone();
    if let Some(damage) = Damage::of(&source) {
        return UnreadableTable::Compressed { file, reason: damage.to_string() }.into();
    }
    match source.get_ref().and_then(|cause| cause.downcast_ref()) {
        Some(NotEncodedSo(encoding)) => {
            UnreadableTable::Encoding { file, encoding: encoding.to_string() }.into()
        }
        None => TableError::Read { file, source },
    }
}

/// Labels that pandas reads as no value, whatever the column; of numbers more are.
const NO_LABELS: [&str; 19] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::column::ColumnError;

    fn table(text: &str) -> Result<TextTable<&[u8]>, TableError> {
        TextTable::new(text.as_bytes(), "t.csv".into(), &FileOptions::default())
    }

    fn lines(text: &str) -> Vec<(u64, usize)> {
        let mut table = table(text).unwrap();
        let mut lines = Vec::new();
        while table.advance().unwrap() {
            lines.push((table.records.line(), table.records.len()));
        }
        lines
    }

    #[test]
    fn separators_marks_and_line_ends_are_recognised() {
        for text in ["a,b\n1,2\n", "a;b\r\n1;2\r\n", "a\tb\n1\t2", "\u{feff}a|b\n1|2", "\n\n a , b \n1,2"] {
            let mut table = table(text).unwrap();
            assert_eq!(table.header(), ["a", "b"], "{text:?}");
            assert!(table.advance().unwrap());
            assert_eq!((table.field(0), table.field(1)), (&b"1"[..], &b"2"[..]), "{text:?}");
            assert!(!table.advance().unwrap());
        }
        assert_eq!(table("\"a;b;c\",d\n").unwrap().marks.separator, b',');
    }

    #[test]
    fn lines_count_blank_ones_and_breaks_within_quotes() {
        assert_eq!(lines("a,b\n1,2\n\n\n3,4\n\"5\n\n\",6\n7,8"), [(2, 2), (5, 2), (6, 2), (9, 2)]);
        assert_eq!(lines("\n\na,b\r\n\r\n1,2\r\n3,4"), [(5, 2), (6, 2)]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told_where_it_opens() {
        let error = |text: &str| {
            let mut table = table(text)?;
            while table.advance()? {}
            Ok::<(), TableError>(())
        };
        let message = |line: u64, text: &str| {
            format!("t.csv, line {line}: the quote before {text:?} is never closed; close it, or double it")
        };
        for (text, expected) in [
            ("a,b\n1,2\n3,\"4\n5,6\n", message(3, "4")),
            ("a,b\n1,2\n\n\"3,4\n5,6", message(4, "3,4")),
            ("a,b\n\"1\n1\",2\n\"3\n3\",\"4\n5,6\n", message(5, "4")),
            ("a,b\n1,\"", message(2, "")),
            ("a,\"b\n1,2\n", message(1, "b")),
        ] {
            let message = error(text).unwrap_err().to_string();
            assert!(message.starts_with(&expected), "{text:?}: {message}");
        }
        for text in ["a,b\n1,\"2\n\"", "a,b\n1,\"2\"\n", "a,b\n1,\"\"\"\"\n", "a,b\n1,2\"\n"] {
            error(text).unwrap();
        }
        // The bytes that are read after the text are nothing but an end.
        assert_eq!(lines("a\n1\n\n2"), [(2, 1), (4, 1)]);
    }

    #[test]
    fn cells_that_are_to_stay_texts_are_these() {
        let mut table = table("=\"id\",y\n=\"007\",=\"5\"\n\"=\"\"008\"\"\",6\n").unwrap();
        assert_eq!(table.header(), ["id", "y"]);
        assert!(table.advance().unwrap() && table.has_id(0, "007"));
        assert_eq!((table.id(0).unwrap().as_ref(), table.wide_number(1)), ("007", Ok(5.0)));
        assert!(table.advance().unwrap() && table.has_id(0, "008"));
    }

    #[test]
    fn a_table_that_is_none_is_refused() {
        let error = |text: &str| table(text).err().unwrap();
        assert!(matches!(error(""), TableError::Empty { .. }));
        assert!(matches!(error(" \n\n"), TableError::Empty { .. }));
        assert!(matches!(error("a,b,a\n"), TableError::Column(ColumnError::Duplicate { .. })));
        let mixed = TextTable::new(&b"\xc3\xbc,b\xe9\n"[..], "t.csv".into(), &FileOptions::default());
        assert!(matches!(mixed.err().unwrap(), TableError::Unreadable(UnreadableTable::NotUtf8 { .. })));
        let mut ragged = table("a,b\n1,2\n3\n").unwrap();
        assert!(ragged.advance().unwrap());
        let message = ragged.advance().unwrap_err().to_string();
        assert!(message.starts_with("t.csv, line 3: 1 fields where the header has 2"), "{message}");
    }
}
