//! Where data go: standard output, or a file that is known to be writable before the work begins.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use foretell::{CellTable, FileFormat, ForecastBlocks, Frame, FrameWriter, TimeStyle};
use foretell_files::WholeFile;

use crate::args::JsonArgs;
use crate::closed_stdout;
use crate::context::Context;
use crate::failure::Usage;
use crate::json_table::JsonTable;
use crate::printable::TerminalText;
use crate::uninterrupted::Uninterrupted;

/// Prints to standard output; that it is closed is an error here and a success to `main`.
pub(crate) fn print(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written =
        closed_stdout::check().and_then(|()| out.write_all(text.as_ref())).and_then(|()| out.flush());
    written.context("cannot write to standard output")
}

/// Writes a file, whole or not at all.
pub(crate) fn write_file(context: &Context, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = whole_file(context, path)?;
    file.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file.commit()?)
}

/// Checks that the name of a file says what is written to it, where it says anything: one of these endings. Devices and pipes are
/// called as they like.
///
/// # Errors
/// If it has another ending.
pub(crate) fn check_ending(path: &Path, endings: &[&str], what: &str) -> Result<(), Usage> {
    let special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    let Some(ending) = path.extension().filter(|_| !special) else { return Ok(()) };
    match endings.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        true => Ok(()),
        false => Err(Usage(format!(
            "--out {}: what is written is {what}, and .{} is no ending of that; name the file {}, say",
            path.display(),
            ending.to_string_lossy(),
            path.with_extension(endings[0]).display()
        ))),
    }
}

/// A file that takes the place of none that the command reads.
fn whole_file(context: &Context, path: &Path) -> anyhow::Result<WholeFile> {
    Ok(WholeFile::at(path)?.keeping(context.inputs.clone()))
}

/// The goal of a table of forecasts, written piece by piece. A file takes its place when all of it is written
/// ([`Sink::fill`]), and stays unchanged until then.
pub(crate) struct Sink {
    context: &'static Context,
    goal: Goal,
    path: PathBuf,
    /// The mark before decimals in texts.
    decimal: char,
    /// Whether the table is JSON, whatever the file is called.
    is_json: bool,
    /// The first failure of writing, which formats hide in errors of their own.
    failure: Option<io::Error>,
}

enum Goal {
    Stdout(io::Stdout),
    Terminal(TerminalText<io::Stdout>),
    Plain(WholeFile),
    Gzip(Box<GzEncoder<Uninterrupted<WholeFile>>>),
}

impl Sink {
    /// Standard output where `path` is `-`, else a file, whose name tells its format and whose content stays unchanged.
    ///
    /// # Errors
    /// If the name tells a format that is not written, the path cannot be written, or another process writes it.
    pub(crate) fn open(context: &'static Context, path: &Path) -> anyhow::Result<Self> {
        Self::open_as(context, path, JsonArgs { json: false })
    }

    /// The same, or as JSON where that is asked for.
    ///
    /// # Errors
    /// As of `open`, and of a name that does not end in .json, as JSON.
    pub(crate) fn open_as(
        context: &'static Context,
        path: &Path,
        JsonArgs { json: is_json }: JsonArgs,
    ) -> anyhow::Result<Self> {
        if is_json {
            check_ending(path, &["json"], "JSON (--json)")?;
        }
        let goal = match () {
            () if path == Path::new("-") => Self::stdout()?,
            () if is_json || !compressed(path)? => Goal::Plain(whole_file(context, path)?),
            () => {
                let file = Uninterrupted(whole_file(context, path)?);
                Goal::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
            }
        };
        Ok(Self { context, goal, path: path.to_owned(), decimal: '.', is_json, failure: None })
    }

    fn stdout() -> anyhow::Result<Goal> {
        closed_stdout::check().context("cannot write forecasts")?;
        let out = io::stdout();
        Ok(if out.is_terminal() { Goal::Terminal(TerminalText::new(out)) } else { Goal::Stdout(out) })
    }

    /// Writes this mark before decimals, where numbers are texts.
    pub(crate) fn decimal(self, decimal: char) -> Self {
        Self { decimal, ..self }
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.goal, Goal::Stdout(_) | Goal::Terminal(_))
    }

    /// Whether what is written is text, in lines.
    pub(crate) fn is_text(&self) -> bool {
        FileFormat::of(&self.path).name == FileFormat::all()[0].name
    }

    /// Writes a table block by block as it is forecast, in the format of the file's name. Gives the number of rows.
    pub(crate) fn write_blocks(self, blocks: ForecastBlocks<'_>) -> anyhow::Result<usize> {
        let mut rows = 0;
        let times = blocks.time_style()?;
        self.fill_table(times, |writer| {
            for block in blocks {
                let block = block?;
                rows += block.n_rows();
                writer.write(&block)?;
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Writes the table in the format of the file's name.
    pub(crate) fn write(self, frame: &Frame) -> anyhow::Result<()> {
        self.fill_table(frame.time_style(), |writer| Ok(writer.write(frame)?))
    }

    /// Writes a table of cells of any kind in the format of the file's name.
    pub(crate) fn write_cells(self, table: &CellTable) -> anyhow::Result<()> {
        let format = FileFormat::of(&self.path);
        self.fill(|out| {
            let written = format.write_cells(table, Box::new(out));
            anyhow::Ok(written.with_context(|| format!("{} is not written", format.name))??)
        })
    }

    fn fill_table(
        self,
        times: TimeStyle,
        write: impl FnOnce(&mut dyn FrameWriter) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (format, decimal, is_json) = (FileFormat::of(&self.path), self.decimal, self.is_json);
        self.fill(|out| {
            if is_json {
                let mut writer = Box::new(JsonTable::new(BufWriter::new(out), times));
                write(&mut *writer)?;
                return Ok((writer as Box<dyn FrameWriter + '_>).finish()?);
            }
            let writer = format.writer(Box::new(out), times, decimal);
            let mut writer = writer.with_context(|| format!("{} is not written", format.name))?;
            write(&mut *writer)?;
            anyhow::Ok(writer.finish()?)
        })
    }

    /// Writes the table as [`Sink::write`] does. Where that fails, the table is in a directory of temporary files,
    /// which the error names: it was much work.
    pub(crate) fn write_or_keep(self, frame: &Frame) -> anyhow::Result<()> {
        let (context, path, decimal, json) = (self.context, self.path.clone(), self.decimal, self.is_json);
        let keep = !self.is_stdout();
        self.write(frame).map_err(|error| {
            match keep.then(|| kept(context, &path, frame, decimal, JsonArgs { json })).transpose() {
                Ok(Some(kept)) => error.context(format!("the forecasts are kept in {}", kept.display())),
                Ok(None) | Err(_) => error,
            }
        })
    }

    /// Lets `write` write everything, then puts it in its place.
    ///
    /// # Errors
    /// The system's error where writing fails, else that of `write`.
    pub(crate) fn fill<E>(mut self, write: impl FnOnce(&mut Self) -> Result<(), E>) -> anyhow::Result<()>
    where
        anyhow::Error: From<E>,
    {
        let written = write(&mut self);
        let to = match self.is_stdout() {
            true => "standard output".to_owned(),
            false => self.path.display().to_string(),
        };
        let cannot = |error: io::Error| anyhow::Error::new(error).context(format!("cannot write to {to}"));
        if let Some(failure) = self.failure {
            return Err(cannot(failure));
        }
        written?;
        match self.goal {
            Goal::Stdout(mut out) => out.flush().map_err(cannot),
            Goal::Terminal(mut out) => out.flush().map_err(cannot),
            Goal::Plain(file) => Ok(file.commit()?),
            Goal::Gzip(encoder) => Ok(encoder.finish().map_err(cannot)?.0.commit()?),
        }
    }

    fn watched<T>(&mut self, act: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        let done = match &mut self.goal {
            Goal::Stdout(out) => act(out),
            Goal::Terminal(out) => act(out),
            Goal::Plain(file) => act(file),
            Goal::Gzip(encoder) => act(&mut **encoder),
        };
        done.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.watched(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.watched(|out| out.flush())
    }
}

/// Whether a file of this name is compressed.
///
/// # Errors
/// If the name tells a format that is not written.
fn compressed(path: &Path) -> Result<bool, Usage> {
    let format = FileFormat::of(path);
    // Devices and pipes are called as they like.
    let special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    match path.extension().filter(|_| !special) {
        None => Ok(false),
        Some(_) if format.is_ending(path) && format.is_written() => Ok(false),
        Some(_) if format.is_ending(path) && format.is_not_built() => Err(Usage(format!(
            "--out {}: this foretell was built without {}; name a .csv file, or build it with the feature `{}`",
            path.display(),
            format.name,
            format.feature.unwrap_or_default()
        ))),
        Some(ending) => {
            let inner = path.with_extension("");
            let format = FileFormat::of(&inner);
            let named = inner.extension().is_some() && format.is_ending(&inner) && format.is_written();
            if named && format.compressible && ending.eq_ignore_ascii_case("gz") {
                return Ok(true);
            }
            // Without the ending of a compression that is not written, the name may be one that is.
            let plain = if named { inner } else { path.with_extension("csv") };
            let (path, ending) = (path.display(), ending.to_string_lossy());
            Err(Usage(format!(
                "--out {path}: .{ending} is no format that foretell writes; it writes {}, so name the file {}, say",
                formats_written(),
                plain.display()
            )))
        }
    }
}

/// The formats that are written, with the endings that tell them.
fn formats_written() -> String {
    let endings = |format: &FileFormat| {
        let mut endings: Vec<String> = format.endings.iter().map(|ending| format!(".{ending}")).collect();
        if format.compressible {
            endings.push(format!("compressed .{}.gz", format.endings[0]));
        }
        format!("{} ({})", format.name, endings.join(", "))
    };
    let written = FileFormat::all().iter().filter(|format| format.is_written());
    written.map(endings).collect::<Vec<_>>().join(" and ")
}

/// Writes the table to a directory of temporary files, under the name of the path.
fn kept(
    context: &'static Context,
    path: &Path,
    frame: &Frame,
    decimal: char,
    json: JsonArgs,
) -> anyhow::Result<PathBuf> {
    let directory = tempfile::Builder::new().prefix("foretell-").tempdir()?;
    let kept = directory.path().join(path.file_name().unwrap_or("forecast.csv".as_ref()));
    Sink::open_as(context, &kept, json)?.decimal(decimal).write(frame)?;
    let _ = directory.keep();
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_the_format() {
        for (name, expected) in
            [("a.csv", false), ("a", false), ("a.b/c", false), ("a.CSV.GZ", true), ("a.pq", false)]
        {
            assert_eq!(compressed(Path::new(name)).unwrap(), expected, "{name}");
        }
        for (name, instead) in [
            ("a.xlsx", "a.csv"),
            ("a.b.xlsx", "a.b.csv"),
            ("a.gz", "a.csv"),
            #[cfg(feature = "parquet")]
            ("a.parquet.gz", "a.parquet"),
            ("a.json", "a.csv"),
            ("a.csv.zst", "a.csv"),
        ] {
            let message = compressed(Path::new(name)).unwrap_err().to_string();
            assert!(message.contains(".csv.gz"), "{message}");
            assert_eq!(message.contains(".parquet"), cfg!(feature = "parquet"), "{message}");
            assert!(message.contains(&format!("name the file {instead}, say")), "{message}");
        }
    }
}
