//! Text whose format its first bytes tell, from a source that gives it once.

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::compressed::Text;
use super::file_options::FileOptions;
use super::json_rows::json_table;
use super::other_kinds::is_json;
use super::table::TableReader;
use super::text_table::{TextTable, unreadable};
use crate::error::TableError;

/// Bytes by which the format is told.
const HEAD: u64 = 1 << 12;

/// Opens text from a source that gives it once, called `name` in messages: JSON where it begins so, else CSV.
///
/// # Errors
/// A source that cannot be read, or has no header.
pub fn open_input<'a>(
    input: impl Read + Send + 'a,
    name: &str,
    options: &FileOptions,
) -> Result<Box<dyn TableReader + 'a>, TableError> {
    let file: Arc<str> = name.into();
    let unread = |error| unreadable(&file, error);
    let mut text = Text::of(input).map_err(unread)?;
    let mut head = Vec::new();
    text.by_ref().take(HEAD).read_to_end(&mut head).map_err(unread)?;
    let is_json = is_json(&head);
    let text = Cursor::new(head).chain(text);
    Ok(match is_json {
        true => Box::new(json_table(&file, text, options.most_unpacked)?),
        false => Box::new(TextTable::new(text, file, options)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::too_large::TooLarge;

    #[test]
    fn a_source_that_gives_its_text_once_is_json_or_csv_by_how_it_begins() {
        for text in [
            "\u{feff}[{\"ds\": 1, \"y\": 2}]",
            " {\"ds\": 1, \"y\": 2}\n",
            "{\"ds\": [1], \"y\": [2]}",
            "ds,y\n1,2\n",
        ] {
            let mut table = open_input(text.as_bytes(), "standard input", &Default::default()).unwrap();
            assert!(table.header() == ["ds", "y"] && table.advance().unwrap(), "{text}");
            assert_eq!((table.wide_number(0), table.wide_number(1)), (Ok(1.0), Ok(2.0)), "{text}");
        }
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, b"{\"y\": 1}\n").unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(open_input(&packed[..], "i", &Default::default()).unwrap().header(), ["y"]);
        let error = open_input(&b"[{\"ds\": 1,]"[..], "standard input", &Default::default()).err().unwrap();
        assert!(error.to_string().starts_with("standard input: "), "{error}");
        // Read as a whole it takes no more memory than it may, however little it takes packed.
        let options = FileOptions { most_unpacked: Some(1 << 20), ..FileOptions::default() };
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..50_000).for_each(|_| std::io::Write::write_all(&mut packed, b"{\"y\": 1}\n").unwrap());
        let packed = packed.finish().unwrap();
        assert!(open_input(&packed[..], "i", &Default::default()).is_ok());
        let error = open_input(&packed[..], "standard input", &options).err().unwrap();
        assert!(
            matches!(error, TableError::TooLarge(TooLarge::Stream { limit, .. }) if limit == 1 << 20),
            "{error}"
        );
    }
}
