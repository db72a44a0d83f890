//! Sheets of Excel's and OpenDocument's workbooks as tables.

use std::fs::File;
use std::path::Path;

use crate::error::DataError;
use crate::{Fill, Panel, ReadOptions};
use foretell_calendar::{Freq, TimeKind};
use foretell_tables::{FileOptions, TableError, UnreadableTable};

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
        assert!(
            matches!(error, DataError::Table(TableError::Unreadable(UnreadableTable::Workbook { .. }))),
            "{error}"
        );
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

/// A workbook of one sheet; cells that are numbers are such, and empty ones are not written.
fn workbook(rows: &[&[&str]]) -> Vec<u8> {
    merged_workbook(rows, &[])
}

/// The same with merged cells, as `A2:A3`.
fn merged_workbook(rows: &[&[&str]], merged: &[&str]) -> Vec<u8> {
    use std::io::{Cursor, Write as _};
    let cell = |text: &str, place: String| match (text.is_empty(), text.parse::<f64>()) {
        (true, _) => String::new(),
        (_, Ok(number)) => format!("<c r=\"{place}\"><v>{number}</v></c>"),
        _ => format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>"),
    };
    let row = |(row, cells): (usize, &&[&str])| {
        let cells = cells.iter().zip('A'..).map(|(text, column)| cell(text, format!("{column}{}", row + 1)));
        format!("<row r=\"{}\">{}</row>", row + 1, cells.collect::<String>())
    };
    let rows: String = rows.iter().enumerate().map(row).collect();
    let merged: String = merged.iter().map(|cells| format!("<mergeCell ref=\"{cells}\"/>")).collect();
    let merged = if merged.is_empty() { merged } else { format!("<mergeCells>{merged}</mergeCells>") };
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const DOC: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const RELS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{RELS}\"><Relationship Id=\"r1\" Type=\"{DOC}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{DOC}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{RELS}\"><Relationship Id=\"r1\" Type=\"{DOC}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData>{merged}</worksheet>"),
        ),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_row_of_units_is_left_out_and_told() {
    let home = tempfile::tempdir().unwrap();
    let days = [["2024-01-01", "5", "1"], ["2024-01-02", "6", "2"], ["2024-01-03", "7", "3"]];
    let read = |name: &str, units: &[&str; 3], file: FileOptions| {
        let path = home.path().join(name);
        let rows: Vec<&[&str]> = [&["ds", "load", "price"][..], &units[..]]
            .into_iter()
            .chain(days.iter().map(|day| &day[..]))
            .collect();
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        std::fs::write(&path, if name.ends_with("csv") { text.into_bytes() } else { workbook(&rows) })
            .unwrap();
        Panel::from_file(&path, &ReadOptions { wide: true, file, ..ReadOptions::default() })
    };
    for name in ["t.xlsx", "t.csv"] {
        for units in [["", "kWh", "EUR"], ["UTC", "MWh/d", "(EUR)"]] {
            let panel = read(name, &units, FileOptions::default()).unwrap();
            assert_eq!((panel.y(0), panel.y(1)), (&[5.0, 6.0, 7.0][..], &[1.0, 2.0, 3.0][..]));
            let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
            let told = format!(
                "line 2 is left out as the units of the columns (`{}`",
                units.iter().find(|unit| !unit.is_empty()).unwrap()
            );
            assert!(notes.iter().any(|note| note.contains(&told)), "{notes:?}");
        }
        // What has digits may be a value; its row is reached without a first cell.
        read(name, &["", "1000 kWh", "EUR"], FileOptions::default()).unwrap_err();
        let skips = FileOptions { skip_matching: vec![String::new()], ..FileOptions::default() };
        assert_eq!(read(name, &["", "1000 kWh", "EUR"], skips).unwrap().y(0), [5.0, 6.0, 7.0]);
    }
}

#[test]
fn names_below_those_of_groups_are_joined_with_them() {
    let home = tempfile::tempdir().unwrap();
    let read = |name: &str, rows: &[&[&str]]| {
        let path = home.path().join(name);
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        std::fs::write(&path, if name.ends_with("csv") { text.into_bytes() } else { workbook(rows) })
            .unwrap();
        Panel::from_file(&path, &ReadOptions::new().wide()).unwrap()
    };
    let days: [&[&str]; 3] =
        [&["2024-01-01", "5", "1", "8"], &["2024-01-02", "6", "2", "9"], &["2024-01-03", "7", "3", "10"]];
    let merged: [&[&str]; 2] = [&["Date", "North", "", "South"], &["", "Sales", "Price", "Sales"]];
    let titled: [&[&str]; 3] = [&["Report", "", "", ""], merged[0], merged[1]];
    let of_pandas: [&[&str]; 3] =
        [&["", "North", "North", "South"], &["", "Sales", "Price", "Sales"], &["date", "", "", ""]];
    for name in ["t.xlsx", "t.csv"] {
        for (header, line) in [(&merged[..], 2), (&titled[..], 3), (&of_pandas[..], 2)] {
            let panel = read(name, &[header, &days[..]].concat());
            let series: Vec<(&str, &[f32])> = (0..3).map(|i| (&**panel.id(i), panel.y(i))).collect();
            let expected: [(&str, &[f32]); 3] = [
                ("North/Price", &[1.0, 2.0, 3.0]),
                ("North/Sales", &[5.0, 6.0, 7.0]),
                ("South/Sales", &[8.0, 9.0, 10.0]),
            ];
            assert_eq!(series, expected, "{name}, {header:?}");
            let told = format!("line {line} has names below those of groups; columns are called by both, as");
            let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
            assert!(notes.iter().any(|note| note.contains(&told)), "{notes:?}");
        }
        // Years above their quarters are times.
        let rows: [&[&str]; 3] =
            [&["", "2023", "", "2024"], &["", "Q3", "Q4", "Q1"], &["rent", "1", "2", "3"]];
        let path = home.path().join(name);
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        std::fs::write(&path, if name.ends_with("csv") { text.into_bytes() } else { workbook(&rows) })
            .unwrap();
        let options = ReadOptions::new().across(foretell_tables::Across::Times);
        let panel = Panel::from_file(&path, &options).map_err(|error| error.to_string());
        let panel = panel.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((panel.freq().to_string().as_str(), panel.y(0)), ("QS-JAN", &[1.0, 2.0, 3.0][..]));
    }
}

#[test]
fn merged_cells_of_ids_stand_for_all_of_their_rows() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.xlsx");
    let rows: [&[&str]; 7] = [
        &["shop", "day", "y"],
        &["north", "2024-01-01", "5"],
        &["", "2024-01-02", "6"],
        &["", "2024-01-03", "7"],
        &["12", "2024-01-01", "1"],
        &["", "2024-01-02", ""],
        &["", "2024-01-03", "3"],
    ];
    let options = ReadOptions::new().id_col("shop").time_col("day");
    let read = |merged: &[&str]| {
        std::fs::write(&path, merged_workbook(&rows, merged)).unwrap();
        Panel::from_file(&path, &options)
    };
    // A merged value is that of one row: the others are missing.
    let error = read(&["A2:A4", "A5:A7", "C5:C6"]).unwrap_err().to_string();
    assert!(error.contains("line 6, column `y`"), "{error}");
    let options = options.clone().fill(Fill::Zero);
    let read = |merged: &[&str]| {
        std::fs::write(&path, merged_workbook(&rows, merged)).unwrap();
        Panel::from_file(&path, &options)
    };
    let panel = read(&["A2:A4", "A5:A7", "C5:C6"]).unwrap();
    let north = panel.find("north").unwrap();
    assert_eq!(
        (panel.y(north), panel.y(panel.find("12").unwrap())),
        (&[5.0, 6.0, 7.0][..], &[1.0, 0.0, 3.0][..])
    );
    let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
    assert!(
        notes.iter().any(|note| note.contains("merged cells of `shop` stand for all of their rows")),
        "{notes:?}"
    );
    let error = read(&["A2:A4"]).unwrap_err().to_string();
    assert!(error.contains("line 6"), "{error}");
}

/// A workbook of OpenDocument's whose second sheet, `S & T`, has these rows; `north*3` is a merged cell of three rows.
fn ods(rows: &[&[&str]]) -> Vec<u8> {
    use std::io::{Cursor, Write as _};
    let covered = "<table:covered-table-cell/>";
    let cell = |text: &str| match (text.split_once('*'), text.parse::<f64>()) {
        _ if text == "^" => covered.to_owned(),
        _ if text.is_empty() => "<table:table-cell/>".to_owned(),
        (Some((text, rows)), _) => format!(
            "<table:table-cell office:value-type=\"string\" table:number-columns-spanned=\"1\" \
             table:number-rows-spanned=\"{rows}\"><text:p>{text}</text:p></table:table-cell>"
        ),
        (_, Ok(number)) => {
            format!("<table:table-cell office:value-type=\"float\" office:value=\"{number}\"/>")
        }
        _ => format!(
            "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
        ),
    };
    let row = |cells: &&[&str]| {
        format!("<table:table-row>{}</table:table-row>", cells.iter().copied().map(cell).collect::<String>())
    };
    let rows: String = rows.iter().map(row).collect();
    // Rows that are repeated, and merged cells of another sheet.
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"other\">\
         <table:table-row><table:table-cell office:value-type=\"string\" table:number-rows-spanned=\"2\">\
         <text:p>x</text:p></table:table-cell></table:table-row><table:table-row>{covered}</table:table-row></table:table>\
         <table:table table:name=\"S &amp; T\"><table:table-row table:number-rows-repeated=\"2\">\
         <table:table-cell table:number-columns-repeated=\"3\"/></table:table-row>{rows}</table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest:manifest/>"),
        ("content.xml", &content),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn merged_cells_of_opendocument_stand_for_all_of_their_rows() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.ods");
    // A date of three shops, and each shop of two rows.
    let rows: [&[&str]; 7] = [
        &["region", "day", "shop", "y"],
        &["north*4", "2024-01-01*2", "a", "1"],
        &["^", "^", "b", "10"],
        &["^", "2024-01-02*2", "a", "2"],
        &["^", "^", "b", "20"],
        &["south*2", "2024-01-01", "c", "5"],
        &["^", "2024-01-02", "c", "6"],
    ];
    std::fs::write(&path, ods(&rows)).unwrap();
    let file = FileOptions { sheet: Some("S & T".into()), ..FileOptions::default() };
    let days = Freq::parse("D").unwrap();
    let options = ReadOptions { file, ..ReadOptions::new().id_col("region,shop").time_col("day").freq(days) };
    let panel = Panel::from_file(&path, &options).unwrap();
    let series: Vec<(&str, &[f32])> = (0..3).map(|i| (&**panel.id(i), panel.y(i))).collect();
    let expected: [(&str, &[f32]); 3] =
        [("north/a", &[1.0, 2.0]), ("north/b", &[10.0, 20.0]), ("south/c", &[5.0, 6.0])];
    assert_eq!(series, expected);
    let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
    let told = "merged cells of `region`, `day` stand for all of their rows";
    assert!(notes.iter().any(|note| note.contains(told)), "{notes:?}");
}

#[test]
fn texts_of_workbooks_are_looked_at_for_their_notation() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.xlsx");
    let rows: [&[&str]; 4] = [
        &["unique_id", "ds", "y"],
        &["a", "29.01.2024", "1.250,5"],
        &["a", "30.01.2024", "7"],
        &["a", "31.01.2024", "2,25"],
    ];
    std::fs::write(&path, workbook(&rows)).unwrap();
    let options = ReadOptions::new().with_notation_of(&path, [false; 2]).unwrap();
    let panel = Panel::from_file(&path, &options).unwrap();
    assert_eq!(panel.y(0), [1250.5, 7.0, 2.25]);
    assert_eq!(TimeKind::Timestamp.display(panel.time(0, 2)), "2024-01-31");
    // Decimals of years in cells of numbers.
    let rows: [&[&str]; 4] = [
        &["unique_id", "ds", "y"],
        &["a", "1949", "1"],
        &["a", "1949.0833333333", "2"],
        &["a", "1949.1666666667", "3"],
    ];
    std::fs::write(&path, workbook(&rows)).unwrap();
    let options = ReadOptions::new().with_notation_of(&path, [false; 2]).unwrap();
    let panel = Panel::from_file(&path, &options).unwrap();
    assert_eq!(
        (panel.freq().to_string(), TimeKind::Timestamp.display(panel.time(0, 2))),
        ("MS".into(), "1949-03-01".into())
    );
}
