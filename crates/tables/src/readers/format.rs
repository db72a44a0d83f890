//! The formats of files, one entry each: how its files are called, read and written.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor};
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "parquet")]
use super::arrow_stream::memory_of;
#[cfg(feature = "parquet")]
use super::arrow_table::ArrowTable;
use super::file_options::FileOptions;
use super::json_rows::{json_table, memory_of_text};
use super::pipes::{FileText, is_pipe};
use super::seekable::Seekable;
use super::shared_bytes::SharedBytes;
use super::table::TableReader;
use super::text_table::TextTable;
use super::told_text::open_input;
#[cfg(feature = "excel")]
use super::workbook::SheetTable;
use crate::error::TableError;
use crate::error::file::UnreadableTable;
#[cfg(feature = "parquet")]
use crate::frames::batch::ParquetWriter;
use crate::frames::cells::CellTable;
use crate::frames::frame::FrameWriter;
#[cfg(feature = "parquet")]
use crate::frames::stream::BatchWriter;
use crate::frames::write::CsvWriter;
use foretell_calendar::TimeStyle;

/// Opens a file of a format; of columns that the function refuses no more need be read than their names.
type Open = fn(&Path, &FileOptions, &dyn Fn(&str) -> bool) -> Result<Box<dyn TableReader>, TableError>;

/// Opens a file of a format that is in memory, by its name in messages and its bytes; else as [`Open`].
type Take = for<'a> fn(
    &Arc<str>,
    &'a SharedBytes,
    &FileOptions,
    &dyn Fn(&str) -> bool,
) -> Result<Box<dyn TableReader + 'a>, TableError>;

/// The bytes of memory that a file takes, by what it says of itself and its size.
type Memory = fn(&mut dyn Seekable, u64) -> io::Result<u64>;

/// Where the parts of a table are written to.
pub type TableOutput<'a> = Box<dyn io::Write + Send + 'a>;

/// The error of a file that cannot be opened.
fn unread(path: &Path) -> impl Fn(io::Error) -> TableError {
    move |source| TableError::Read { file: path.display().to_string().into(), source }
}

/// Begins to write a table of forecasts.
type Begin = for<'a> fn(TableOutput<'a>, TimeStyle, char) -> Box<dyn FrameWriter + 'a>;

/// Writes a table of cells of any kind.
type WriteCells = for<'a> fn(&CellTable, TableOutput<'a>) -> Result<(), TableError>;

/// A format of files; [`FileFormat::all`] lists them.
pub struct FileFormat {
    /// Its usual name.
    pub name: &'static str,
    /// How the names of its files end, in small letters.
    pub endings: &'static [&'static str],
    /// Whether its files may be compressed as a whole, and then end in `.gz` besides.
    pub compressible: bool,
    /// The feature that a program must be built with to know it, if there is one.
    pub feature: Option<&'static str>,
    open: Option<Open>,
    /// Nothing where files are read from disk alone.
    take: Option<Take>,
    /// The bytes of memory that a file takes, where it is read as a whole.
    memory: Option<Memory>,
    write: Option<Begin>,
    write_cells: Option<WriteCells>,
}

/// Arrow's streams; its files are read by the same reader.
const ARROW_STREAM: FileFormat = FileFormat {
    name: "Arrow",
    endings: &["arrows"],
    compressible: false,
    feature: Some("parquet"),
    #[cfg(feature = "parquet")]
    open: Some(|path, _, _| Ok(Box::new(ArrowTable::open_stream(path)?))),
    #[cfg(feature = "parquet")]
    take: Some(|name, bytes, _, _| Ok(Box::new(ArrowTable::of_stream(name, bytes.clone().into())?))),
    #[cfg(feature = "parquet")]
    memory: Some(memory_of),
    #[cfg(feature = "parquet")]
    write: Some(|out, _, _| Box::new(BatchWriter::stream(out))),
    #[cfg(feature = "parquet")]
    write_cells: Some(|table, out| BatchWriter::stream(out).write_whole(&table.record_batch())),
    #[cfg(not(feature = "parquet"))]
    open: None,
    #[cfg(not(feature = "parquet"))]
    take: None,
    #[cfg(not(feature = "parquet"))]
    memory: None,
    #[cfg(not(feature = "parquet"))]
    write: None,
    #[cfg(not(feature = "parquet"))]
    write_cells: None,
};

/// All formats; the first is that of files whose names say nothing.
static FORMATS: [FileFormat; 7] = [
    FileFormat {
        name: "CSV",
        endings: &["csv", "txt"],
        compressible: true,
        feature: None,
        open: Some(|path, options, _| match is_pipe(path) {
            // Its name tells nothing.
            true => {
                open_input(FileText::open(path).map_err(unread(path))?, &path.display().to_string(), options)
            }
            false => Ok(Box::new(TextTable::open(path, options)?)),
        }),
        take: Some(|name, bytes, options, _| {
            Ok(Box::new(TextTable::new(bytes.as_ref(), name.clone(), options)?))
        }),
        memory: None,
        write: Some(|out, times, decimal| Box::new(CsvWriter::with_decimal(out, times, decimal))),
        write_cells: Some(|table, out| table.write_csv(out)),
    },
    FileFormat {
        name: "Parquet",
        endings: &["parquet", "pq"],
        compressible: false,
        feature: Some("parquet"),
        #[cfg(feature = "parquet")]
        open: Some(|path, _, wanted| Ok(Box::new(ArrowTable::open(path, wanted)?))),
        #[cfg(feature = "parquet")]
        take: Some(|name, bytes, _, wanted| {
            Ok(Box::new(ArrowTable::of_parquet(name, bytes.clone().into(), wanted)?))
        }),
        memory: None,
        #[cfg(feature = "parquet")]
        write: Some(|out, _, _| Box::new(ParquetWriter::new(out))),
        #[cfg(feature = "parquet")]
        write_cells: Some(|table, out| {
            let mut writer = ParquetWriter::new(out);
            writer.write_batch(&table.record_batch())?;
            writer.finish().map(drop)
        }),
        #[cfg(not(feature = "parquet"))]
        open: None,
        #[cfg(not(feature = "parquet"))]
        take: None,
        #[cfg(not(feature = "parquet"))]
        write: None,
        #[cfg(not(feature = "parquet"))]
        write_cells: None,
    },
    ARROW_STREAM,
    FileFormat {
        name: "Arrow file",
        endings: &["arrow", "feather", "ipc"],
        #[cfg(feature = "parquet")]
        write: Some(|out, _, _| Box::new(BatchWriter::file(out))),
        #[cfg(feature = "parquet")]
        write_cells: Some(|table, out| BatchWriter::file(out).write_whole(&table.record_batch())),
        ..ARROW_STREAM
    },
    FileFormat {
        name: "JSON",
        endings: &["json", "jsonl", "ndjson"],
        compressible: true,
        feature: None,
        open: Some(|path, options, _| {
            let opened = FileText::open(path).map_err(unread(path))?;
            Ok(Box::new(json_table(&path.display().to_string().into(), opened, options.most_unpacked)?))
        }),
        take: Some(|name, bytes, options, _| {
            Ok(Box::new(json_table(name, bytes.as_ref(), options.most_unpacked)?))
        }),
        memory: Some(|_, size| Ok(memory_of_text(size))),
        write: None,
        write_cells: None,
    },
    FileFormat {
        name: "Excel",
        endings: &["xlsx", "xlsm"],
        compressible: false,
        feature: Some("excel"),
        #[cfg(feature = "excel")]
        open: Some(|path, options, _| Ok(Box::new(SheetTable::open_xlsx(path, options)?))),
        #[cfg(feature = "excel")]
        take: Some(|name, bytes, options, _| {
            Ok(Box::new(SheetTable::take_xlsx(name, bytes.as_ref(), options)?))
        }),
        #[cfg(not(feature = "excel"))]
        open: None,
        #[cfg(not(feature = "excel"))]
        take: None,
        memory: None,
        write: None,
        write_cells: None,
    },
    FileFormat {
        name: "OpenDocument",
        endings: &["ods"],
        compressible: false,
        feature: Some("excel"),
        #[cfg(feature = "excel")]
        open: Some(|path, options, _| Ok(Box::new(SheetTable::open_ods(path, options)?))),
        #[cfg(feature = "excel")]
        take: Some(|name, bytes, options, _| {
            Ok(Box::new(SheetTable::take_ods(name, bytes.as_ref(), options)?))
        }),
        #[cfg(not(feature = "excel"))]
        open: None,
        #[cfg(not(feature = "excel"))]
        take: None,
        memory: None,
        write: None,
        write_cells: None,
    },
];

impl fmt::Debug for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FileFormat {
    /// All formats; the first is that of files whose names say nothing.
    pub fn all() -> &'static [Self] {
        &FORMATS
    }

    /// The format of a file of that name: the one that it ends as, else text.
    pub fn of(path: impl AsRef<Path>) -> &'static Self {
        FORMATS.iter().find(|format| format.is_ending(path.as_ref())).unwrap_or(&FORMATS[0])
    }

    /// Whether a name has one of its endings.
    pub fn is_ending(&self, path: impl AsRef<Path>) -> bool {
        let ending = path.as_ref().extension().unwrap_or_default();
        self.endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
    }

    /// Whether a name ends as the files of a format do, those that are compressed included.
    pub(crate) fn has_known_ending(path: &Path) -> bool {
        let ending = path.extension().unwrap_or_default();
        let packed = ["gz", "zst"].iter().any(|packed| ending.eq_ignore_ascii_case(packed));
        // Beside tables it is what programs write about them.
        if ending.eq_ignore_ascii_case("json") {
            return false;
        }
        FORMATS.iter().any(|format| {
            format.is_ending(path)
                || packed && format.compressible && format.is_ending(path.with_extension(""))
        })
    }

    /// Whether this program can write it.
    pub fn is_written(&self) -> bool {
        self.write.is_some()
    }

    /// Whether this program would know more of it if it were built with its feature.
    pub fn is_not_built(&self) -> bool {
        self.open.is_none()
    }

    /// Writes a table of cells of any kind; nothing if this program does not write the format.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses.
    pub fn write_cells(&self, table: &CellTable, out: TableOutput<'_>) -> Option<Result<(), TableError>> {
        self.write_cells.map(|write| write(table, out))
    }

    /// The bytes of memory that a file takes where it is read as a whole; nothing where it is read in parts, or cannot be looked at.
    pub(crate) fn memory(&self, path: &Path) -> Option<u64> {
        let memory = self.memory.filter(|_| !is_pipe(path))?;
        let file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        memory(&mut BufReader::with_capacity(1 << 10, file), size).ok()
    }

    /// The bytes of memory that a file in memory takes, with its own, where it is unpacked as a whole; nothing where it is read in parts.
    pub fn memory_of_bytes(&self, bytes: &[u8]) -> Option<u64> {
        self.memory?(&mut Cursor::new(bytes), bytes.len() as u64).ok()
    }

    /// Opens a file of this format.
    pub fn open(
        &self,
        path: &Path,
        options: &FileOptions,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Box<dyn TableReader>, TableError> {
        match self.open {
            Some(open) => open(path, options, wanted),
            None => Err(self.not_built(path.display().to_string().into())),
        }
    }

    /// Opens a file of this format that is in memory, called `name` in messages.
    pub(crate) fn take<'a>(
        &self,
        name: &Arc<str>,
        bytes: &'a SharedBytes,
        options: &FileOptions,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Box<dyn TableReader + 'a>, TableError> {
        match self.take {
            Some(take) => take(name, bytes, options, wanted),
            None => Err(self.not_built(name.clone())),
        }
    }

    fn not_built(&self, file: Arc<str>) -> TableError {
        let feature = self.feature.unwrap_or_default();
        UnreadableTable::NotBuilt { file, format: self.name, feature }.into()
    }

    /// Begins a table of forecasts whose times are all written in one style, and whose numbers, if they are texts, with
    /// this mark before decimals, if the format is one of those that [are written](Self::is_written).
    pub fn writer<'a>(
        &self,
        out: TableOutput<'a>,
        times: TimeStyle,
        decimal: char,
    ) -> Option<Box<dyn FrameWriter + 'a>> {
        Some(self.write?(out, times, decimal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        for (name, format) in [
            ("a.csv", "CSV"),
            ("a", "CSV"),
            ("-", "CSV"),
            ("a.csv.gz", "CSV"),
            ("a.PQ", "Parquet"),
            ("b.csv/a.parquet", "Parquet"),
            ("parquet", "CSV"),
            ("a.arrows", "Arrow"),
            ("a.Feather", "Arrow file"),
        ] {
            assert_eq!(FileFormat::of(name).name, format, "{name}");
        }
        let endings = FORMATS.iter().flat_map(|format| format.endings);
        let mut sorted: Vec<_> = endings.collect();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "an ending of two formats: {sorted:?}");
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn without_its_feature_a_format_is_refused_by_its_name() {
        let error = crate::column_names("sales.parquet", &FileOptions::default()).unwrap_err();
        assert!(matches!(error, TableError::Unreadable(UnreadableTable::NotBuilt { .. })), "{error}");
        assert!(
            error.to_string().starts_with("sales.parquet: this program was built without Parquet files"),
            "{error}"
        );
    }
}
