//! Sheets of Excel's and OpenDocument's workbooks as tables.

use std::fs::File;
use std::path::Path;

use crate::{Panel, ReadOptions};
use foretell_calendar::TimeKind;
use foretell_tables::{DataError, FileOptions, UnreadableTable};

fn read(name: &str, options: &FileOptions) -> Result<Panel, DataError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workbooks").join(name);
    let options = ReadOptions { file: options.clone(), wide: true, ..ReadOptions::default() };
    Panel::from_file(path, &options)
}

#[test]
fn sheets_are_read_with_their_dates_and_titles() {
    for name in ["sales.xlsx", "sales.ods"] {
        let panel = read(name, &FileOptions::default()).unwrap();
        assert_eq!((&**panel.id(0), panel.freq().to_string()), ("North", "MS".into()), "{name}");
        assert_eq!((panel.y(0), panel.y(1)), (&[1.5, 2.0, 3.0, 4.0][..], &[10.0, 20.0, 30.0, 40.0][..]));
        assert_eq!(TimeKind::Timestamp.display(panel.time(0, 3)), "2024-04-01");
        let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
        assert!(
            notes.iter().any(|note| note.contains("sheet `Sales`") && note.contains("`Days`")),
            "{notes:?}"
        );
        assert!(notes.iter().any(|note| note.contains("the header is line 3")), "{notes:?}");

        let sheet = |name: &str| FileOptions { sheet: Some(name.to_owned()), ..FileOptions::default() };
        let days = read(name, &sheet("Days")).unwrap();
        assert_eq!((days.freq().to_string(), days.n_series()), ("h".into(), 1), "{name}");
        let error = read(name, &sheet("Weeks")).unwrap_err().to_string();
        assert!(error.contains("no sheet `Weeks`") && error.contains("`Sales`, `Days`"), "{error}");
        // A sheet without the columns.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workbooks").join(name);
        for (read, other) in [("Sales", "Days"), ("Days", "Sales")] {
            let options = ReadOptions::new().target_col("sold").file(sheet(read));
            let error = Panel::from_file(&path, &options).unwrap_err().to_string();
            assert!(error.contains("has no column"), "{error}");
            let sheets = format!(
                "; this is its sheet `{read}`, beside `{other}`; `FileOptions::sheet` names that of the data"
            );
            assert!(error.contains(&sheets), "{error}");
        }
    }
}

#[test]
fn what_is_no_workbook_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for name in ["a.xlsx", "a.ods"] {
        let path = home.path().join(name);
        std::fs::write(&path, "unique_id,ds,y\n").unwrap();
        let error = Panel::from_file(&path, &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, DataError::Unreadable(UnreadableTable::Workbook { .. })), "{error}");
    }
}

/// A workbook whose parts are not compressed, with a digit of a value changed behind their checksums.
#[test]
fn a_part_that_does_not_fit_its_checksum_is_refused() {
    use std::io::{Cursor, Read as _, Write as _};
    let home = tempfile::tempdir().unwrap();
    for (name, part, cell) in [
        ("sales.xlsx", "xl/worksheets/sheet1.xml", "<v>30</v>"),
        ("sales.ods", "content.xml", "office:value=\"30\""),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workbooks").join(name);
        let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
        let mut stored = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for place in 0..archive.len() {
            let (mut entry, mut bytes) = (archive.by_index(place).unwrap(), Vec::new());
            entry.read_to_end(&mut bytes).unwrap();
            let options =
                zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            stored.start_file(entry.name().unwrap(), options).unwrap();
            stored.write_all(&bytes).unwrap();
        }
        let mut bytes = stored.finish().unwrap().into_inner();
        let copy = home.path().join(name);
        std::fs::write(&copy, &bytes).unwrap();
        let options = ReadOptions { wide: true, ..ReadOptions::default() };
        assert_eq!(Panel::from_file(&copy, &options).unwrap().y(1)[2], 30.0);
        let digit = bytes.windows(cell.len()).position(|text| text == cell.as_bytes()).unwrap();
        bytes[digit + cell.find('3').unwrap()] = b'7';
        std::fs::write(&copy, &bytes).unwrap();
        let message = Panel::from_file(&copy, &options).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(part), "{message}");
    }
}

#[test]
fn more_rows_to_skip_than_there_are_is_an_error() {
    for skip_rows in [100, usize::MAX] {
        let error = read("sales.xlsx", &FileOptions { skip_rows: Some(skip_rows), ..FileOptions::default() });
        let message = error.unwrap_err().to_string();
        assert!(message.contains("are to be skipped"), "{message}");
    }
}
