//! How the files that a command reads are written.

use clap::Args;
use foretell::{Encoding, FileOptions};

/// How files are written.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Encoding of text, as windows-1252, utf-16le or shift_jis, of --static and --futr as well [default: UTF-8; UTF-16
    /// with a byte order mark and Windows-1252 are recognised and told]
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Encoding>)]
    encoding: Option<Encoding>,
    /// Lines that stand before the header of the data [default: titles are recognised and told]
    #[arg(long, value_name = "N")]
    skip_rows: Option<usize>,
    /// Pass over lines whose first cell begins with this text, as Total; may be given several times
    #[arg(long, value_name = "TEXT")]
    skip_matching: Vec<String>,
    /// Sheet of a workbook (.xlsx, .ods) that the data are in [default: the first, which is told if there are others]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Pass over lines of text that begin with this mark, as #
    #[arg(long, value_name = "MARK")]
    comment: Option<char>,
}

impl FileArgs {
    /// The options of these flags, else those that are `saved`.
    pub(crate) fn options(&self, saved: &FileOptions) -> FileOptions {
        let skip_matching =
            if self.skip_matching.is_empty() { &saved.skip_matching } else { &self.skip_matching };
        FileOptions {
            encoding: self.encoding,
            skip_rows: self.skip_rows.or(saved.skip_rows),
            skip_matching: skip_matching.clone(),
            sheet: self.sheet.clone().or(saved.sheet.clone()),
            comment: self.comment.or(saved.comment),
            most_unpacked: saved.most_unpacked,
        }
    }
}
