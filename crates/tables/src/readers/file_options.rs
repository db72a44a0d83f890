//! How a file is written, apart from the meaning of its columns.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::TableError;

/// How a file is written, apart from the meaning of its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileOptions {
    /// The encoding of text. By default UTF-8, UTF-16 with a byte order mark, and Windows-1252 where text is not UTF-8:
    /// [`ReadNote`](crate::ReadNote) tells of it.
    pub encoding: Option<Encoding>,
    /// Lines before the header that are passed over; by default titles are recognised, and [told](crate::ReadNote).
    pub skip_rows: Option<usize>,
    /// Lines whose first cell begins with one of these texts are passed over: totals, notes. No text is an empty first cell.
    pub skip_matching: Vec<String>,
    /// The sheet of a workbook; by default the first one.
    pub sheet: Option<String>,
    /// Lines of text that begin with this character are passed over.
    pub comment: Option<char>,
    /// Most bytes of memory that JSON may take, that a workbook may unpack to, and that its cells may take; of workbooks always at most
    /// 16 MB and 100 times their size.
    #[serde(skip)]
    pub most_unpacked: Option<u64>,
}

impl FileOptions {
    /// The options that hold for tables beside the data as well: their titles are their own.
    pub fn beside(&self) -> Self {
        Self { skip_rows: None, sheet: None, ..self.clone() }
    }

    /// Whether a line with this first cell is passed over.
    pub(crate) fn skips(&self, first: &[u8]) -> bool {
        let first = first.trim_ascii_start();
        self.skip_matching.iter().any(|text| match text.trim_start() {
            "" => first.trim_ascii_end().is_empty(),
            text => first.starts_with(text.as_bytes()),
        })
    }

    pub(crate) fn comment_byte(&self) -> Result<Option<u8>, TableError> {
        match self.comment {
            None => Ok(None),
            Some(mark) if mark.is_ascii_punctuation() && !"\"',;|".contains(mark) => Ok(Some(mark as u8)),
            Some(mark) => Err(TableError::setting("comment", mark, "a mark such as # or %")),
        }
    }
}

/// An encoding of text, by one of the names that the web knows it by: `utf-8`, `windows-1252`, `iso-8859-2`, `shift_jis`, ...
///
/// ```
/// use foretell_tables::Encoding;
///
/// assert_eq!("latin1".parse::<Encoding>()?.to_string(), "windows-1252");
/// assert!("klingon".parse::<Encoding>().is_err());
/// # Ok::<(), foretell_tables::TableError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Encoding(pub(crate) &'static encoding_rs::Encoding);

impl FromStr for Encoding {
    type Err = TableError;

    fn from_str(label: &str) -> Result<Self, TableError> {
        // Names that Python and others have beside those of the web.
        let web = match label.to_ascii_lowercase().as_str() {
            "cp1252" => "windows-1252",
            "cp1250" => "windows-1250",
            "cp1251" => "windows-1251",
            "utf_8" | "utf-8-sig" => "utf-8",
            "utf_16" | "utf16" => "utf-16",
            "latin-1" | "latin_1" => "latin1",
            _ => label,
        };
        encoding_rs::Encoding::for_label(web.as_bytes()).map(Self).ok_or_else(|| {
            TableError::setting(
                "encoding",
                label,
                "a name such as utf-8, utf-16le, windows-1252 or iso-8859-2",
            )
        })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

impl TryFrom<String> for Encoding {
    type Error = TableError;

    fn try_from(label: String) -> Result<Self, TableError> {
        label.parse()
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> Self {
        encoding.to_string()
    }
}
