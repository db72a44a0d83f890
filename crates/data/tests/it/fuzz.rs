//! Whatever the bytes of a data file are, reading gives a panel or an error, never a panic, and takes no more
//! memory than a file of its size has any right to.
//!
//! `FUZZ_SECONDS=600 cargo test -p foretell-data --test it -- --nocapture fuzz::long_text` looks longer.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use foretell_calendar::{Freq, TimeFormat, Zone};
use foretell_data::{DataError, Fill, ForecastTable, Future, Panel, ReadOptions};
use foretell_fuzz::{Alone, FuzzTarget, fuzz};
use foretell_tables::{NumberFormat, TableError};

/// Gaps may be filled with 100 rows for each that there is, and 100,000 beside.
const ALWAYS: usize = 16 << 20;
const FACTOR: usize = 150;

const LONG: &str = "shop,time,sales,available_mask,visits\n\
    a,2024-01-01 00:00:00,1.5,1,2\na,2024-01-01 01:00:00,2.5,1,3\na,2024-01-01 02:00:00,,0,\n\
    b,2024-01-01 00:00:00,1e3,1,2\nb,2024-01-01 01:00:00,-2,1,3\n\"b\",2024-01-01 02:00:00,0,1,4\n";

const ZONED: &str = "time\tshop\tsales\n\
    2024-03-30T00:00+01:00[Europe/Berlin]\ta\t1\n2024-03-31T00:00+01:00[Europe/Berlin]\ta\t2\n\
    2024-04-01T00:00+02:00[Europe/Berlin]\ta\t3\n2024-04-02T00:00+02:00\ta\t4\n";

const WIDE: &str = "time;a;b\n2024-01-31;1;2\n2024-02-29;3;4\n2024-03-31;5;6\n";

const WORDS: &[&str] = &[
    "-9999-01-01",
    "9999-12-31 23:59:59.999999",
    "2024-03-31T02:30[Europe/Berlin]",
    "2024-01-01T00:00+25:59",
    "2024-01-01",
    "America/St_Johns",
    "9223372036854775807",
    "NaT",
    "1e400",
    "\u{feff}",
    "\n",
    ",",
    "\"",
    ",,,,,,,,,,,,,,,,",
    "\n\n\n\n\n\n\n\n",
    "available_mask",
    "sample_weight",
    "cutoff",
    "time",
    "shop",
];

/// Two series of `rows` rows, as large as reading needs to show what it takes.
fn large(separator: char, rows: i64) -> Vec<u8> {
    let mut text = format!("shop{separator}time{separator}sales{separator}visits\n");
    for id in ["north", "south"] {
        for row in 0..rows {
            text +=
                &format!("{id}{separator}{}{separator}{:.2}{separator}{row}\n", row - 40, (row as f32).sin());
        }
    }
    text.into_bytes()
}

/// `columns` series of 40 rows.
fn broad(columns: usize) -> Vec<u8> {
    let mut text = "time".to_owned();
    (0..columns).for_each(|i| text += &format!(",s{i}"));
    for row in 0..40 {
        text += &format!("\n{row}");
        (0..columns).for_each(|i| text += &format!(",{}", (row * i) % 17));
    }
    text.into_bytes()
}

fn options(wide: bool, choice: u64) -> ReadOptions {
    // Choice 0, for the sound files, is neither.
    let zone = ["America/St_Johns", "+05:45"].get((choice / 8 % 4).wrapping_sub(1) as usize);
    let fill = Fill::ALL.get((choice % 8).wrapping_sub(1) as usize).copied();
    let mut options = ReadOptions::new().id_col("shop").time_col("time").target_col("sales");
    (options.wide, options.fill) = (wide, fill);
    options.zone = zone.map(|zone| Zone::parse(zone).unwrap());
    // Sound times are no integers, but damaged ones may be.
    options.time_format = (choice % 16 == 15).then(|| TimeFormat::parse("%Y-%m-%d %H:%M:%S").unwrap());
    if choice % 3 == 2 {
        options = options.categories(["visits", "size"]);
    }
    options.numbers(match choice % 32 {
        30 => NumberFormat::new(',', Some('.')).unwrap(),
        31 => NumberFormat::new('.', Some(',')).unwrap(),
        _ => NumberFormat::default(),
    })
}

/// Asks a panel for everything that it can say.
fn use_all(panel: Result<Panel, DataError>) -> Result<(), DataError> {
    let panel = panel?;
    for series in 0..panel.n_series() {
        assert!(panel.y(series).iter().all(|y| y.is_finite()));
        assert_eq!(panel.times(series).count(), panel.len(series));
        let _ = panel.future_times(series, 3);
        for name in panel.column_names() {
            let _ = panel.column(name, series);
        }
    }
    for name in panel.column_names() {
        let Ok(categories) = panel.categories_of(name) else { continue };
        assert!(categories.is_sorted());
        panel.encode_categories(&[(name.to_owned(), categories)].into())?;
    }
    Ok(())
}

fn target(name: &str, seeds: Vec<Vec<u8>>) -> FuzzTarget<'_> {
    FuzzTarget { name, seeds, words: WORDS, always: ALWAYS, factor: FACTOR }
}

#[test]
fn long_text() {
    let seeds = vec![LONG.into(), ZONED.into(), large(',', 500), large(';', 20)];
    fuzz(&target("long CSV", seeds), |bytes, choice| {
        use_all(Panel::read_csv(bytes, "long.csv", &options(false, choice)))
    });
}

#[test]
fn wide_text() {
    let seeds = vec![WIDE.into(), broad(3), broad(60)];
    fuzz(&target("wide CSV", seeds), |bytes, choice| {
        use_all(Panel::read_csv(bytes, "wide.csv", &options(true, choice)))
    });
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Text that is compressed by `pack`, each piece by itself and both behind each other.
fn packed(pack: fn(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    let large = large(',', 500);
    let (head, tail) = large.split_at(large.len() / 2);
    vec![pack(LONG.as_bytes()), pack(&large), [pack(head), pack(tail)].concat()]
}

#[test]
fn gzip_text() {
    // A byte that is changed can make 1000 of one; what is unpacked is bounded by 16 MB and 100 times the size.
    let target = FuzzTarget { always: 64 << 20, factor: 100 * FACTOR, ..target("CSV in gzip", packed(gzip)) };
    fuzz(&target, |bytes, choice| use_all(Panel::read_csv(bytes, "long.csv.gz", &options(false, choice))));
}

#[test]
fn zstd_text() {
    let seeds = packed(|text| zstd::encode_all(text, 3).unwrap());
    let target = FuzzTarget { always: 64 << 20, factor: 100 * FACTOR, ..target("CSV in zstd", seeds) };
    fuzz(&target, |bytes, choice| use_all(Panel::read_csv(bytes, "long.csv.zst", &options(false, choice))));
}

#[test]
fn parquet() {
    let seeds =
        ["pandas.parquet", "arrow.parquet", "dates.parquet", "dates_gzip.parquet", "dates_lz4.parquet"];
    fuzz_files("Parquet", &seeds, "hostile.parquet");
}

#[test]
fn arrow() {
    fuzz_files("Arrow", &["dates.feather", "dates.arrows"], "hostile.arrow");
}

/// Looks at damaged variants of fixtures, which are written to a file of this name.
fn fuzz_files(name: &str, seeds: &[&str], file: &str) {
    let fixture = |name: &&str| {
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
    };
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(file);
    // What a page, or a stream, is unpacked to is bounded by 64 MB, whatever the file's size.
    let target = FuzzTarget { always: 128 << 20, ..target(name, seeds.iter().map(fixture).collect()) };
    fuzz(&target, |bytes, choice| {
        fs::write(&path, bytes).unwrap();
        use_all(Panel::from_file(&path, &options(choice % 5 == 1, choice)))
    });
}

/// Workbooks whose entries are damaged, not only the archive around them.
mod workbooks {
    use std::io::{Cursor, Read as _};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipArchive, ZipWriter};

    use super::*;

    /// The unpacked size of a workbook is bounded by 16 MB and 100 times its size; its cells and texts are copied a few times.
    const UNPACKED: usize = 256 << 20;

    const TAGS: &[&str] = &[
        "table:number-rows-repeated=\"1048576\"",
        "table:number-columns-repeated=\"16384\"",
        "office:value-type=\"date\"",
        "office:value=\"1e308\"",
        "r=\"XFD1048576\"",
        "r=\"A0\"",
        "t=\"s\"",
        "t=\"inlineStr\"",
        "t=\"e\"",
        "<v>4294967295</v>",
        "<v>-1</v>",
        "<row>",
        "</c>",
        "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">]>",
        "&a;",
        "&#x110000;",
        "<![CDATA[",
        "<!--",
        "0",
        "9",
    ];

    fn fixture(name: &str) -> Vec<u8> {
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workbooks").join(name)).unwrap()
    }

    /// The entries of an archive with their names.
    fn entries(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut archive = ZipArchive::new(Cursor::new(archive)).unwrap();
        let places = archive.len();
        let entry = |place| {
            let mut entry = archive.by_index(place).unwrap();
            let (name, mut bytes) = (entry.name().unwrap().into_owned(), Vec::new());
            entry.read_to_end(&mut bytes).unwrap();
            (name, bytes)
        };
        (0..places).map(entry).collect()
    }

    /// An archive of these entries.
    fn packed(entries: &[(String, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            writer.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// The workbook with another entry of that name.
    fn with(book: &[u8], name: &str, bytes: &[u8], method: CompressionMethod) -> Vec<u8> {
        let mut entries = entries(book);
        entries.iter_mut().find(|(own, _)| own == name).unwrap().1 = bytes.to_vec();
        packed(&entries, method)
    }

    fn read(path: &Path, bytes: &[u8], choice: u64) -> Result<(), DataError> {
        fs::write(path, bytes).unwrap();
        let mut options = options(choice % 5 != 1, choice);
        if choice.is_multiple_of(2) {
            // The names of columns are those of the sheets.
            let mut usual = ReadOptions::new();
            (usual.wide, usual.fill) = (options.wide, options.fill);
            options = usual;
        }
        use_all(Panel::from_file(path, &options))
    }

    fn damaged(file: &str, entry: &str) {
        let (home, book) = (tempfile::tempdir().unwrap(), fixture(file));
        let path = home.path().join(file);
        let seed = entries(&book).into_iter().find(|(name, _)| name == entry).unwrap().1;
        let name = format!("{entry} of {file}");
        let target = FuzzTarget {
            name: &name,
            seeds: vec![seed],
            words: TAGS,
            always: UNPACKED,
            factor: 100 * FACTOR,
        };
        fuzz(&target, |bytes, choice| {
            read(&path, &with(&book, entry, bytes, CompressionMethod::Stored), choice)
        });
    }

    #[test]
    fn sheets() {
        damaged("sales.xlsx", "xl/worksheets/sheet1.xml");
    }

    #[test]
    fn workbooks_of_excel() {
        damaged("sales.xlsx", "xl/workbook.xml");
    }

    #[test]
    fn contents_of_open_document() {
        damaged("sales.ods", "content.xml");
    }

    #[test]
    fn archives() {
        let home = tempfile::tempdir().unwrap();
        for file in ["sales.xlsx", "sales.ods"] {
            let path = home.path().join(file);
            let target =
                FuzzTarget { always: UNPACKED, factor: 100 * FACTOR, ..target(file, vec![fixture(file)]) };
            fuzz(&target, |bytes, choice| read(&path, bytes, choice));
        }
    }

    #[test]
    fn bombs_are_refused_in_little_memory() {
        let alone = Alone::new();
        let home = tempfile::tempdir().unwrap();
        let refused = |file: &str, name: &str, bytes: &[u8]| {
            let path = home.path().join(file);
            fs::write(&path, bytes).unwrap();
            let (read, taken) = alone.peak_memory(|| Panel::from_file(&path, &ReadOptions::new()));
            let message = read.unwrap_err().to_string();
            assert!(taken < UNPACKED, "{name}: {} bytes took {taken} bytes: {message}", bytes.len());
            println!("{name}: {} bytes took {:.1} MB: {message}", bytes.len(), taken as f64 / 1e6);
            message
        };
        let (xlsx, ods) = (fixture("sales.xlsx"), fixture("sales.ods"));
        let deflated = CompressionMethod::Deflated;
        let sheet = "xl/worksheets/sheet1.xml";
        let blanks = " ".repeat(512 << 20);
        for (file, book, entry) in [("b.xlsx", &xlsx, sheet), ("b.ods", &ods, "content.xml")] {
            let message =
                refused(file, "half a gigabyte of blanks", &with(book, entry, blanks.as_bytes(), deflated));
            assert!(message.contains("over 100 times its size"), "{message}");
        }
        drop(blanks);
        let table = |rows: &str| {
            format!(
                "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"s\">{rows}</table:table>\
                 </office:spreadsheet></office:body></office:document-content>"
            )
        };
        let cell = |text: &str| {
            format!(
                "<table:table-cell table:number-columns-repeated=\"16384\" office:value-type=\"string\"><text:p>{text}</text:p>\
                 </table:table-cell>"
            )
        };
        let row = |cells: &str| {
            format!("<table:table-row table:number-rows-repeated=\"1048576\">{cells}</table:table-row>")
        };
        for (name, rows) in [
            ("rows and columns repeated", row(&cell("x"))),
            (
                "a long text repeated",
                format!("<table:table-row>{}</table:table-row>", cell(&"x".repeat(1 << 20))),
            ),
            (
                "empty rows between two cells",
                [
                    "<table:table-row>",
                    &cell("x"),
                    "</table:table-row>",
                    &row(""),
                    "<table:table-row>",
                    &cell("y"),
                    "</table:table-row>",
                ]
                .concat(),
            ),
        ] {
            let message =
                refused("b.ods", name, &with(&ods, "content.xml", table(&rows).as_bytes(), deflated));
            assert!(message.contains("over 100 times its size"), "{name}: {message}");
        }
        // Entities within entities are no text here.
        let mut entities = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">".to_owned();
        ('b'..='k').zip('a'..).for_each(|(next, one)| {
            entities += &format!("<!ENTITY {next} \"{}\">", format!("&{one};").repeat(10));
        });
        let text =
            format!("{entities}]>{}", table(&format!("<table:table-row>{}</table:table-row>", cell("&k;"))));
        refused("b.ods", "entities", &with(&ods, "content.xml", text.as_bytes(), deflated));
        // One long text that many cells share.
        let mut shared: Vec<(String, Vec<u8>)> = entries(&xlsx);
        let cells: String = (1..100_000)
            .map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\" t=\"s\"><v>0</v></c></row>"))
            .collect();
        let cells = format!("<worksheet><sheetData>{cells}</sheetData></worksheet>");
        shared.iter_mut().find(|(name, _)| name == sheet).unwrap().1 = cells.into_bytes();
        let texts = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1 << 20));
        shared.push(("xl/sharedStrings.xml".to_owned(), texts.into_bytes()));
        let message = refused("b.xlsx", "a shared text", &packed(&shared, deflated));
        assert!(message.contains("over 100 times its size"), "{message}");
    }

    #[test]
    fn sizes_that_an_archive_claims_are_not_believed() {
        let alone = Alone::new();
        let home = tempfile::tempdir().unwrap();
        for file in ["sales.xlsx", "sales.ods"] {
            let (path, book) = (home.path().join(file), fixture(file));
            // The fields of sizes in each of the archive's directories: of local entries and of the central list.
            for (signature, fields) in [(b"PK\x03\x04", [18, 22]), (b"PK\x01\x02", [20, 24])] {
                let places = book
                    .windows(4)
                    .enumerate()
                    .filter(|(_, bytes)| bytes == signature)
                    .map(|(place, _)| place);
                for place in places.collect::<Vec<_>>() {
                    for (field, size) in
                        fields.into_iter().flat_map(|field| [0, 1, u32::MAX].map(|size| (field, size)))
                    {
                        let mut lying = book.clone();
                        lying[place + field..place + field + 4].copy_from_slice(&size.to_le_bytes());
                        fs::write(&path, &lying).unwrap();
                        let (read, taken) =
                            alone.peak_memory(|| use_all(Panel::from_file(&path, &ReadOptions::new())));
                        assert!(taken < UNPACKED, "{file}, {place}, {field}: {size} took {taken}: {read:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn static_text() {
    let panel = Panel::read_csv(LONG.as_bytes(), "long.csv", &options(false, 0)).unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("static.csv");
    let seeds = vec!["shop,size\na,1\nb,2\n".into(), "shop;size;kind\nb;1;x\nc;9;\na;2;y\n".into()];
    fuzz(&target("static CSV", seeds), |bytes, choice| {
        fs::write(&path, bytes).unwrap();
        let panel = panel.clone().with_static_file(&path, &options(false, choice))?;
        panel.static_value("size", 1).map(drop)
    });
}

#[test]
fn future_text() {
    let panel = Panel::read_csv(LONG.as_bytes(), "long.csv", &options(false, 0)).unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("future.csv");
    let seeds = vec![
        "shop,time,visits\na,2024-01-01 03:00:00,1\nb,2024-01-01 03:00:00,2\n".into(),
        "time|shop|visits\n2024-01-01T03:00|a|1\n2024-01-01T03:00|b|true\n".into(),
    ];
    fuzz(&target("future CSV", seeds), |bytes, choice| {
        fs::write(&path, bytes).unwrap();
        let h = 1 + usize::from(choice % 3 == 1);
        let future = Future::from_file(&path, &options(false, choice), &panel, h)?;
        future.column("visits").map(drop)
    });
}

#[test]
fn forecast_text() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("forecast.csv");
    let seeds = vec![
        "shop,time,cutoff,sales,MLP,MLP-lo-80\na,2024-01-01,2023-12-31,1,2,-3e3\nb,2024-01-02,2023-12-31,,nan,4\n".into(),
        ";shop;time;MLP;note\n0;a;2024-01-01 03:00:00;1;x\n1;a;2024-01-01 04:00:00;2;\n".into(),
    ];
    let freq = Freq::parse("h").unwrap();
    fuzz(&target("forecast CSV", seeds), |bytes, choice| {
        fs::write(&path, bytes).unwrap();
        let frame = ForecastTable::frame_from_file(&path, &options(false, choice), freq)?;
        assert!(frame.columns.iter().all(|(_, values)| values.len() == frame.n_rows()));
        // What was read can be written.
        frame.write_parquet(std::io::sink())?;
        frame.write_csv(std::io::sink()).map_err(DataError::from)
    });
}

/// Reads a hostile file under the limits of the hunts.
fn within_limits<T>(alone: &Alone, name: &str, always: usize, bytes: usize, read: impl FnOnce() -> T) -> T {
    let (read, taken) = alone.peak_memory(read);
    let limit = always + FACTOR * bytes;
    assert!(taken <= limit, "{name}: {bytes} bytes took {taken} bytes of memory, over {limit}");
    println!("{name}: {bytes} bytes took {:.1} MB", taken as f64 / 1e6);
    read
}

#[test]
fn headers_of_millions_of_columns_are_refused() {
    let alone = Alone::new();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("broad.csv");
    let empty = |columns: usize| ",".repeat(columns).into_bytes();
    // Line ends within quotes do not hide how broad the header is.
    let quoted = [empty(900_000), b"\"\n\"".to_vec()].concat().repeat(22);
    for (name, bytes, broad) in [
        ("20 million columns", empty(20_000_000), true),
        ("20 million columns between quotes", quoted, true),
        ("a million columns", empty(999_999), false),
    ] {
        for wide in [false, true] {
            let read = within_limits(&alone, name, ALWAYS, bytes.len(), || {
                use_all(Panel::read_csv(&bytes[..], "broad.csv", &options(wide, 0)))
            });
            assert_eq!(
                matches!(read, Err(DataError::Table(TableError::TooLarge(_)))),
                broad,
                "{name}: {read:?}"
            );
        }
        fs::write(&path, &bytes).unwrap();
        let names = within_limits(&alone, name, ALWAYS, bytes.len(), || {
            foretell_tables::column_names(&path, &Default::default())
        });
        let refused = match broad {
            true => matches!(names, Err(TableError::TooLarge(_))),
            // It may be so broad, but has no name in it.
            false => matches!(names, Err(TableError::Empty { .. })),
        };
        assert!(refused, "{name}: {names:?}");
    }
    // What is read at once is bounded too, where no line is too broad.
    let bytes = empty(20_000_000);
    let read = || Panel::read_csv(&bytes[..], "broad.csv", &options(false, 0)).is_err();
    let (refused, taken) = alone.peak_memory(read);
    assert!(refused && taken < 64 << 20, "{taken} bytes");
}

#[test]
fn tables_that_take_too_much_memory_are_refused_while_they_are_read() {
    let alone = Alone::new();
    let long = large(',', 200_000);
    let wide = broad(20_000);
    for (bytes, wide) in [(long, false), (wide, true)] {
        let read = |max_memory| {
            let options = options(wide, 0).max_memory(max_memory);
            Panel::read_csv(&bytes[..], "large.csv", &options).map(|panel| panel.n_rows())
        };
        assert!(read(100 << 20).is_ok());
        let (refused, taken) = alone.peak_memory(|| read(1 << 20));
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("the limit is 1 MB") && message.contains("max_memory"), "{message}");
        assert!(taken < 10 << 20, "{taken} bytes");
    }
}
