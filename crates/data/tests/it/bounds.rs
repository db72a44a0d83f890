//! Reading ends where a table has more rows than it may, takes more memory, or is waited for no more; not at its end.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray};
use foretell_calendar::Freq;
use foretell_data::{DataError, End, Fill, Future, Panel, ReadOptions};
use foretell_tables::{FileFormat, MemoryTable, TableError, TooLarge};
use foretell_threads::while_wanted;
use parquet::arrow::ArrowWriter;

/// Rows of the tables, and rows from one look to the next.
const ROWS: usize = 20_000;
const LOOK: usize = 8192;

/// One series of a value that never changes: in Parquet a few bytes for any number of rows.
fn batch(rows: usize) -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("unique_id", Arc::new(StringArray::from_iter_values(std::iter::repeat_n("a", rows)))),
        ("ds", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ("y", Arc::new(Float32Array::from_value(1.0, rows))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet(rows: usize) -> Vec<u8> {
    let (batch, mut file) = (batch(rows), Vec::new());
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

fn csv(rows: usize) -> String {
    let rows: String = (0..rows).map(|row| format!("a,{row},1\n")).collect();
    format!("unique_id,ds,y\n{rows}")
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// The table in every format that is read from memory, each in one piece.
fn tables() -> Vec<(&'static str, MemoryTable)> {
    let of = |name: &str, bytes| MemoryTable::new(name, FileFormat::of(name), bytes);
    let lists = serde_json::json!({
        "unique_id": vec!["a"; ROWS], "ds": (0..ROWS).collect::<Vec<_>>(), "y": vec![1; ROWS],
    });
    let wide: String = (0..ROWS / 10).map(|row| format!("{row},1,1,1,1,1,1,1,1,1,1\n")).collect();
    let mut stream = arrow_stream(&batch(ROWS));
    stream.shrink_to_fit();
    vec![
        ("CSV", of("t.csv", csv(ROWS).into())),
        ("wide CSV", of("wide.csv", format!("ds,a,b,c,d,e,f,g,h,i,j\n{wide}").into())),
        ("Parquet", of("t.parquet", parquet(ROWS))),
        ("Arrow", of("t.arrows", stream)),
        ("JSON", MemoryTable::of_columns("t.json", serde_json::from_value(lists).unwrap())),
    ]
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut out, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    out
}

fn read(name: &str, table: &MemoryTable, options: &ReadOptions) -> Result<Panel, DataError> {
    let options = options.clone();
    Panel::from_memory(table, &if name.starts_with("wide") { options.wide() } else { options })
}

#[test]
fn reading_ends_where_there_are_more_rows_than_there_may_be() {
    for (name, table) in tables() {
        let read = |threads: usize, most: usize| {
            read(name, &table, &ReadOptions::new().threads(threads).max_rows(most))
        };
        let found = |error: DataError| match error {
            DataError::Table(TableError::TooLarge(TooLarge::Rows { found, .. })) => found,
            error => panic!("{name}: {error}"),
        };
        assert_eq!(read(1, ROWS).unwrap().n_rows(), ROWS, "{name}");
        assert_eq!(found(read(1, ROWS - 1).unwrap_err()), ROWS, "{name}");
        for threads in [1, 2] {
            let found = found(read(threads, 10).unwrap_err());
            assert!(found <= threads * (LOOK + 10), "{name}: {found} rows were read on {threads} threads");
        }
    }
}

#[test]
fn reading_asks_whether_it_is_waited_for() {
    for (name, table) in tables() {
        for threads in [1, 2] {
            let options = ReadOptions::new().threads(threads);
            // As often as this: to the end, and once.
            for most in [usize::MAX, 1] {
                let asked = Arc::new(AtomicUsize::new(0));
                let count = asked.clone();
                let question = Arc::new(move || count.fetch_add(1, Ordering::Relaxed) < most);
                let result = while_wanted(question, || read(name, &table, &options));
                let asked = asked.load(Ordering::Relaxed);
                match most {
                    usize::MAX => assert!(result.is_ok() && asked >= ROWS / LOOK, "{name}: {asked} times"),
                    _ => {
                        let error = result.expect_err(name);
                        assert!(matches!(error, DataError::Table(TableError::NotWanted)), "{name}: {error}");
                        assert!(asked < 2 + 2 * threads, "{name}: {asked} times");
                    }
                }
            }
        }
    }
}

#[test]
fn what_unpacks_to_lines_that_are_no_rows_is_waited_for_as_well() {
    let text = format!("unique_id,ds,y\na,1,1\na,2,1\na,3,1\n{}", "\n".repeat(20 << 19));
    let table = MemoryTable::new("t.csv", FileFormat::of("t.csv"), gzip(&text));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let question = Arc::new(move || count.fetch_add(1, Ordering::Relaxed) < 5);
    let result = while_wanted(question, || Panel::from_memory(&table, &ReadOptions::new().threads(1)));
    assert!(matches!(result, Err(DataError::Table(TableError::NotWanted))));
    assert!(asked.load(Ordering::Relaxed) < 8);
}

#[test]
fn memory_is_looked_at_within_a_row_group() {
    let table = MemoryTable::new("t.parquet", FileFormat::of("t.parquet"), parquet(ROWS));
    for threads in [1, 2] {
        let options = ReadOptions::new().threads(threads).max_memory(50_000);
        let error = Panel::from_memory(&table, &options).unwrap_err();
        let DataError::Table(TableError::TooLarge(TooLarge::Memory { rows, .. })) = error else {
            panic!("{error}")
        };
        assert!(rows <= LOOK + 1, "{rows}");
    }
}

#[test]
fn long_ids_are_looked_at_before_many_rows_are_read() {
    let rows: String = (0..200).map(|row| format!("{row}{},1,1\n", "a".repeat(60_000))).collect();
    let text = format!("unique_id,ds,y\n{rows}");
    let options = ReadOptions::new().threads(1).max_memory(5 << 20);
    let error = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap_err();
    let DataError::Table(TableError::TooLarge(TooLarge::Memory { rows, .. })) = error else {
        panic!("{error}")
    };
    assert!(rows <= 110, "{rows}");
}

#[test]
fn texts_that_are_no_names_are_no_ids_and_no_columns() {
    let read = |text: String| Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::new());
    let id = |letters: usize| format!("unique_id,ds,y\n{0},1,1\n{0},2,1\n{0},3,1\n", "a".repeat(letters));
    assert_eq!(read(id(1 << 16)).unwrap().id(0).len(), 1 << 16);
    let error = read(id((1 << 16) + 1)).unwrap_err();
    assert!(
        matches!(error, DataError::Table(TableError::TooLarge(TooLarge::Id { bytes: 65_537, .. }))),
        "{error}"
    );
    assert!(error.to_string().starts_with("t.csv, line 2: the id of a series has 65537 bytes"), "{error}");
    let error = read(format!("unique_id,ds,y,{}\n", "a".repeat(70_000))).unwrap_err();
    assert!(
        matches!(error, DataError::Table(TableError::TooLarge(TooLarge::ColumnName { number: 4, .. }))),
        "{error}"
    );
}

#[test]
fn rows_that_are_filled_in_count() {
    let text = "unique_id,ds,y\na,1,1\na,2,1\na,5000,1\nb,1,1\n";
    let options = ReadOptions::new().freq(Freq::parse("1").unwrap()).fill(Fill::Zero);
    let read = |most: usize| {
        Panel::read_csv(text.as_bytes(), "t.csv", &options.clone().max_rows(most)).map(|panel| panel.n_rows())
    };
    assert_eq!(read(5001).unwrap(), 5001);
    let error = read(5000).unwrap_err();
    assert!(
        matches!(
            error,
            DataError::Table(TableError::TooLarge(TooLarge::Rows { most: 5000, found: 5001, .. }))
        ),
        "{error}"
    );
    let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap();
    let ended = |most: usize| panel.ended(End::Common, &options.clone().max_rows(most));
    assert_eq!(ended(10_000).unwrap().unwrap().0.n_rows(), 10_000);
    let error = ended(9_999).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, DataError::Table(TableError::TooLarge(TooLarge::Rows { found: 10_000, .. }))),
        "{error}"
    );
}

#[test]
fn tables_beside_the_data_have_the_same_bounds() {
    let freq = Freq::parse("1").unwrap();
    let panel = Panel::from_series(freq, [("a", 0, vec![1.0; 5])]).unwrap();
    let table = |text: String| MemoryTable::new("t.csv", FileFormat::of("t.csv"), text.into());
    let rows: String = (0..50).map(|row| format!("b{row},1\n")).collect();
    let statics = table(format!("unique_id,size\na,1\n{rows}"));
    let options = ReadOptions::new();
    assert!(panel.clone().with_static_memory(&statics, &options.clone().max_rows(51)).is_ok());
    let error = panel.clone().with_static_memory(&statics, &options.clone().max_rows(50)).unwrap_err();
    assert!(
        matches!(error, DataError::Table(TableError::TooLarge(TooLarge::Rows { found: 51, .. }))),
        "{error}"
    );
    let future = table("unique_id,ds,price\na,5,1\na,6,1\nb,5,1\n".to_owned());
    let read = |h: usize, options: &ReadOptions| Future::from_memory(&future, options, &panel, h).map(|_| ());
    assert!(read(2, &options.clone().max_rows(3)).is_ok());
    for (h, most) in [(2, 2), (4, 3)] {
        let error = read(h, &options.clone().max_rows(most)).unwrap_err();
        assert!(matches!(error, DataError::Table(TableError::TooLarge(TooLarge::Rows { .. }))), "{error}");
    }
    // No room is made for what is asked, however much it is.
    let error = read(1 << 30, &options.max_memory(1 << 20)).unwrap_err();
    assert!(matches!(error, DataError::Table(TableError::TooLarge(TooLarge::Memory { .. }))), "{error}");
}

#[test]
fn what_a_stream_in_memory_unpacks_to_is_looked_at() {
    let file = include_bytes!("../fixtures/dates.feather").to_vec();
    let table = MemoryTable::new("t.feather", FileFormat::of("t.feather"), file);
    let options = ReadOptions::new().id_col("shop").time_col("time").target_col("sales");
    assert!(Panel::from_memory(&table, &options).is_ok());
    let error = Panel::from_memory(&table, &options.max_memory(1000)).unwrap_err();
    assert!(matches!(error, DataError::Table(TableError::TooLarge(TooLarge::Stream { .. }))), "{error}");
}
