//! Arrow record batches, and Parquet files as such.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::DataError;
use crate::error::steps::StepError;
use crate::{Categories, Future, Panel, ReadOptions};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal64Array, Decimal128Array,
    DictionaryArray, FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array,
    LargeStringArray, StringArray, StringViewArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use foretell_calendar::{Freq, TimeFormat, TimeKind, Zone};
use foretell_tables::{ArrowTable, FileFormat, Frame, MemoryTable, RecordBatch};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn shops() -> ReadOptions {
    ReadOptions {
        id_col: "shop".into(),
        time_col: Some("time".into()),
        target_col: "sales".into(),
        ..ReadOptions::default()
    }
}

fn time(text: &str) -> i64 {
    TimeKind::Timestamp.parse(text).unwrap()
}

fn array(values: impl Array + 'static) -> ArrayRef {
    Arc::new(values)
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true)))
        .unwrap()
}

fn of_batches(
    batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
    options: &ReadOptions,
) -> Result<Panel, DataError> {
    // So few that small tables have several parts.
    Panel::from_table(ArrowTable::from_batches(batches)?.in_parts(3), options)
}

fn read(batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>) -> Result<Panel, DataError> {
    of_batches(batches, &ReadOptions::default())
}

fn contains(error: DataError, message: &str) {
    let error = error.to_string();
    assert!(error.contains(message), "{error}\n without\n{message}");
}

/// Checks the panel that `compare/tables.py` wrote.
fn check_shops(panel: &Panel) {
    assert_eq!(panel.ids().map(|id| &**id).collect::<Vec<_>>(), ["north", "süd"]);
    for (series, base) in [(0, 0.25), (1, 10.25)] {
        let y: Vec<f32> = (0..72).map(|t| base + (t % 24) as f32).collect();
        assert_eq!(panel.y(series), y);
        let visits: Vec<f32> = (0..72).map(|t| (t * t) as f32).collect();
        assert_eq!(panel.column("visits", series).unwrap(), visits);
        assert_eq!(panel.column("open", series).unwrap()[6..9], [0.0, 0.0, 1.0]);
    }
    assert_eq!(panel.freq(), Freq::parse("h").unwrap());
}

#[test]
fn files_of_pandas_and_pyarrow_are_read() {
    let zoned = Panel::from_file(fixture("pandas.parquet"), &shops()).unwrap();
    check_shops(&zoned);
    assert_eq!(zoned.zone().unwrap().to_string(), "Europe/Berlin");
    // Clocks were put back in the night of the 27th: 72 hours from midnight end at 22:00.
    assert_eq!(zoned.time(0, 0), time("2024-10-25 22:00"));
    assert_eq!(zoned.future_times(0, 1).unwrap(), [time("2024-10-28 22:00")]);
    let shown = TimeKind::Timestamp.display_in(zoned.zone(), zoned.future_times(1, 1).unwrap()[0]);
    assert_eq!(shown, "2024-10-28 23:00:00+01:00");

    let civil = Panel::from_file(fixture("arrow.parquet"), &shops()).unwrap();
    check_shops(&civil);
    assert_eq!((civil.zone(), civil.time(0, 1)), (None, time("2024-10-26 01:00")));

    let days = Panel::from_file(fixture("dates.parquet"), &shops()).unwrap();
    assert_eq!((days.freq(), days.n_rows()), (Freq::parse("D").unwrap(), 6));
    assert_eq!(days.time(1, 0), time("2024-10-26"));
    assert_eq!(column_names("dates.parquet"), ["shop", "time", "sales", "visits", "open"]);
}

fn column_names(name: &str) -> Vec<String> {
    foretell_tables::column_names(fixture(name), &Default::default()).unwrap()
}

#[test]
fn what_is_wrong_with_a_parquet_file_is_said_with_its_place() {
    let other = ReadOptions { target_col: "sale".into(), ..shops() };
    let error = Panel::from_file(fixture("pandas.parquet"), &other).unwrap_err();
    contains(error, "pandas.parquet has no column `sale`, did you mean `sales`?");
    let error = Panel::from_file(fixture("hole.parquet"), &shops()).unwrap_err();
    contains(error, "hole.parquet, row 5, column `sales`: \"\" is missing");
    let missing = if cfg!(windows) { "no/such.parquet: " } else { "no/such.parquet: No such file" };
    contains(Panel::from_file("no/such.parquet", &shops()).unwrap_err(), missing);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.PQ");
    let whole = std::fs::read(fixture("arrow.parquet")).unwrap();
    for cut in [0, 3, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::File::create(&path).unwrap().write_all(&whole[..cut]).unwrap();
        contains(Panel::from_file(&path, &shops()).unwrap_err(), "cut.PQ: ");
    }
}

#[test]
fn columns_of_all_types_become_ids_times_and_numbers() {
    let ids: [ArrayRef; 6] = [
        array(StringArray::from(vec!["7", "7", "7"])),
        array(LargeStringArray::from(vec!["7"; 3])),
        array(StringViewArray::from(vec!["7"; 3])),
        array(DictionaryArray::new(Int8Array::from(vec![1, 1, 1]), array(StringArray::from(vec!["a", "7"])))),
        array(Int32Array::from(vec![7; 3])),
        array(UInt64Array::from(vec![7; 3])),
    ];
    let days = [19_753_i64, 19_754, 19_755];
    let times: [ArrayRef; 6] = [
        array(TimestampSecondArray::from(days.map(|day| day * 86_400).to_vec())),
        array(TimestampMillisecondArray::from(days.map(|day| day * 86_400_000).to_vec())),
        array(TimestampNanosecondArray::from(days.map(|day| day * 86_400_000_000_000).to_vec())),
        array(Date32Array::from(days.map(|day| day as i32).to_vec())),
        array(StringArray::from(vec!["2024-01-31", "2024-02-01", "2024-02-02"])),
        array(DictionaryArray::new(
            Int8Array::from(vec![0, 1, 2]),
            array(Date32Array::from(days.map(|day| day as i32).to_vec())),
        )),
    ];
    let values: [ArrayRef; 6] = [
        array(Float64Array::from(vec![1.0, 2.0, 4.0])),
        array(Float32Array::from(vec![1.0, 2.0, 4.0])),
        array(Int64Array::from(vec![1, 2, 4])),
        array(Int8Array::from(vec![1, 2, 4])),
        array(Decimal128Array::from(vec![100, 200, 400]).with_precision_and_scale(9, 2).unwrap()),
        array(StringArray::from(vec!["1", " 2.0", "4e0"])),
    ];
    for ((ids, times), values) in ids.iter().zip(&times).zip(&values) {
        let open = array(BooleanArray::from(vec![true, false, true]));
        let columns =
            [("ds", times.clone()), ("open", open), ("unique_id", ids.clone()), ("y", values.clone())];
        let whole = batch(&columns);
        // In two batches, with an empty one between them.
        let panel = read([whole.slice(0, 1), whole.slice(0, 0), whole.slice(1, 2)]).unwrap();
        assert_eq!((&**panel.id(0), panel.y(0)), ("7", &[1.0, 2.0, 4.0][..]), "{whole:?}");
        assert_eq!(panel.freq(), Freq::parse("D").unwrap(), "{whole:?}");
        assert_eq!(panel.time(0, 0), time("2024-01-31"));
        assert_eq!(panel.column("open", 0).unwrap(), [1.0, 0.0, 1.0]);
    }
    let steps = batch(&[
        ("unique_id", ids[0].clone()),
        ("ds", array(Int32Array::from(vec![5, 3, 4]))),
        ("y", values[1].clone()),
    ]);
    let panel = read([steps]).unwrap();
    assert_eq!((panel.freq().to_string(), panel.y(0)), ("1".into(), &[2.0, 4.0, 1.0][..]));

    let digits = batch(&[
        ("unique_id", ids[0].clone()),
        ("ds", array(Int32Array::from(vec![20_240_131, 20_240_201, 20_240_202]))),
        ("y", values[1].clone()),
    ]);
    contains(
        read([digits.clone()]).unwrap_err(),
        "the record batches, column `ds`: all times are integers that look",
    );
    let time_format = Some(TimeFormat::parse("%Y%m%d").unwrap());
    let options = ReadOptions { time_format, ..ReadOptions::default() };
    let panel = of_batches(
        [
            digits,
            batch(&[("unique_id", ids[0].clone()), ("ds", times[0].clone()), ("y", values[1].clone())])
                .slice(0, 0),
        ],
        &options,
    )
    .unwrap();
    assert_eq!((panel.freq().to_string(), panel.time(0, 0)), ("D".into(), time("2024-01-31")));

    let wide = batch(&[("ds", times[3].clone()), ("b", values[0].clone()), ("a", values[2].clone())]);
    let options = ReadOptions { wide: true, ..ReadOptions::default() };
    let panel = of_batches([wide], &options).unwrap();
    assert_eq!((panel.n_series(), panel.y(1)), (2, &[1.0, 2.0, 4.0][..]));
}

#[test]
fn ids_of_all_types_name_series() {
    let decimals = |values: Vec<i128>| Decimal128Array::from(values).with_precision_and_scale(9, 2).unwrap();
    for (ids, expected) in [
        (array(Float64Array::from(vec![2.0, 2.0, 10.5])), ["10.5", "2"]),
        (array(Float32Array::from(vec![0.1, 0.1, 7.0])), ["0.1", "7"]),
        (array(BooleanArray::from(vec![true, true, false])), ["False", "True"]),
        (array(BinaryArray::from_vec(vec![b"north", b"north", b"\xff\x0a"])), ["ff0a", "north"]),
        (
            array(FixedSizeBinaryArray::try_from_iter([[1_u8, 255], [1, 255], [0, 2]].iter()).unwrap()),
            ["0002", "01ff"],
        ),
        (array(Date32Array::from(vec![19_753, 19_753, 0])), ["1970-01-01", "2024-01-31"]),
        (array(TimestampSecondArray::from(vec![0, 0, 60])), ["1970-01-01", "1970-01-01 00:01:00"]),
        (array(decimals(vec![150, 150, -25])), ["-0.25", "1.50"]),
        (array(Decimal64Array::from(vec![5, 5, 70]).with_precision_and_scale(9, 1).unwrap()), ["0.5", "7.0"]),
        (array(UInt64Array::from(vec![u64::MAX, u64::MAX, 3])), ["18446744073709551615", "3"]),
        (
            array(DictionaryArray::new(
                Int8Array::from(vec![1, 1, 0]),
                array(Float64Array::from(vec![1.5, 2.5])),
            )),
            ["1.5", "2.5"],
        ),
    ] {
        let columns = [
            ("unique_id", ids.clone()),
            ("ds", array(Int64Array::from(vec![1, 2, 1]))),
            ("y", array(Decimal64Array::from(vec![15, 20, 30]).with_precision_and_scale(9, 1).unwrap())),
        ];
        let options = ReadOptions { freq: Some(Freq::parse("1").unwrap()), ..ReadOptions::default() };
        let panel = of_batches([batch(&columns)], &options).unwrap();
        assert_eq!(panel.ids().map(|id| &**id).collect::<Vec<_>>(), expected, "{ids:?}");
        assert!((0..2).any(|series| panel.y(series) == [1.5, 2.0]), "{ids:?}");
        assert_eq!(panel.has_integer_ids(), ids.data_type().is_integer());
    }
}

#[test]
fn files_of_many_types_are_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.parquet");
    let days: Vec<i64> = (19_753..19_756).map(|day| day * 86_400).collect();
    for (zone, shown) in [("Europe/Berlin", "Europe/Berlin"), ("+02:00", "+02:00"), ("UTC", "UTC")] {
        let whole = batch(&[
            ("unique_id", array(BinaryArray::from_vec(vec![b"a"; 3]))),
            ("ds", array(TimestampSecondArray::from(days.clone()).with_timezone(zone))),
            ("y", array(BinaryArray::from_vec(vec![b"1", b"2.5", b"1e3"]))),
        ]);
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), whole.schema(), None)
                .unwrap();
        writer.write(&whole).unwrap();
        writer.close().unwrap();
        let panel = Panel::from_file(&path, &ReadOptions::default()).unwrap();
        assert_eq!(
            (panel.zone().unwrap().to_string(), panel.time(0, 0)),
            (shown.to_owned(), time("2024-01-31"))
        );
        assert_eq!((panel.freq().to_string(), panel.y(0)), ("D".into(), &[1.0, 2.5, 1000.0][..]));
    }
    // One series without ids: what is called nearly so is looked for among all columns of the file.
    for (name, message) in [("note", None), ("uniqueid", Some("did you mean `uniqueid`?"))] {
        let whole = batch(&[
            (name, array(StringArray::from(vec!["x"; 3]))),
            ("ds", array(Int64Array::from(vec![1, 2, 3]))),
            ("y", array(Float64Array::from(vec![1.0, 2.0, 3.0]))),
        ]);
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), whole.schema(), None)
                .unwrap();
        writer.write(&whole).unwrap();
        writer.close().unwrap();
        let options = ReadOptions { columns: Some(Vec::new()), ..ReadOptions::default() };
        match (Panel::from_file(&path, &options), message) {
            (Ok(panel), None) => assert_eq!(&**panel.id(0), "y"),
            (Err(error), Some(message)) => contains(error, message),
            (read, _) => panic!("{name}: {read:?}"),
        }
    }
}

#[test]
fn periods_of_pandas_are_refused_with_what_to_do() {
    let counted = HashMap::from([("ARROW:extension:name".to_owned(), "pandas.period".to_owned())]);
    let fields = [
        Field::new("ds", DataType::Int64, false).with_metadata(counted),
        Field::new("y", DataType::Float64, false),
    ];
    let columns =
        [array(Int64Array::from(vec![600, 601, 602])), array(Float64Array::from(vec![1.0, 2.0, 3.0]))];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let whole = RecordBatch::try_new(schema.clone(), columns.to_vec()).unwrap();
    let mut file = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut file, schema, None).unwrap();
    writer.write(&whole).unwrap();
    writer.close().unwrap();
    let table = MemoryTable::new("t.parquet", FileFormat::of("t.parquet"), file);
    let options = ReadOptions::new();
    let error = Panel::from_memory(&table, &options).map(|_| ()).unwrap_err();
    contains(
        error,
        "t.parquet, column `ds`: its integers number periods of pandas, which are not read; make them times",
    );
}

#[test]
fn what_is_wrong_with_a_batch_is_said_with_its_row() {
    let good: [(&str, ArrayRef); 3] = [
        ("unique_id", array(StringArray::from(vec!["a", "a", "a"]))),
        ("ds", array(Int64Array::from(vec![1, 2, 3]))),
        ("y", array(Float64Array::from(vec![1.0, 2.0, 3.0]))),
    ];
    let with = |column: usize, values: ArrayRef| {
        let mut columns = good.clone();
        columns[column].1 = values;
        read([batch(&columns)]).unwrap_err()
    };
    let at = "the record batches, row 1, column ";
    for (column, values, message) in [
        (0, array(StringArray::from(vec![Some("a"), None, Some("a")])), "`unique_id`: the id is empty"),
        (0, array(Float64Array::from(vec![1.0, f64::NAN, 1.0])), "`unique_id`: the id is empty"),
        (0, array(StringArray::from(vec!["a", "a\0", "a"])), "`unique_id`: the id has a character of code 0"),
        (1, array(Int64Array::from(vec![Some(1), None, Some(3)])), "`ds`: \"\" is missing"),
        (1, array(Float64Array::from(vec![1.0, 1.5, 3.0])), "`ds`: \"1.5\" is a number with decimals"),
        (1, array(BooleanArray::from(vec![true; 3])), "`ds`: \"Boolean\" is of a type that holds no times"),
        (1, array(TimestampNanosecondArray::from(vec![1000, 1001, 1002])), "is finer than a microsecond"),
        (1, array(TimestampSecondArray::from(vec![0, i64::MAX, 0])), "is beyond the years"),
        (2, array(Float64Array::from(vec![Some(1.0), None, Some(3.0)])), "`y`: \"\" is missing; fill it in"),
        (2, array(Float64Array::from(vec![1.0, f64::NAN, 3.0])), "`y`: \"NaN\" is missing"),
        (2, array(Float64Array::from(vec![1.0, f64::INFINITY, 3.0])), "`y`: \"inf\" is not finite"),
        (2, array(Float64Array::from(vec![1.0, 1e39, 3.0])), "is beyond a 32-bit float"),
        (2, array(StringArray::from(vec!["1", "many", "3"])), "`y`: \"many\" is not a number"),
        (2, array(BooleanArray::from(vec![true, true, true])), "`y`: \"Boolean\" is not a number"),
    ] {
        let error = with(column, values).to_string();
        assert!(error.contains(message), "{error} without {message}");
        assert!(error.contains(at) || error.contains("row 0, column "), "{error}");
    }
    contains(read([]).unwrap_err(), "the record batches has no column `unique_id`");
    contains(read([batch(&good).slice(0, 0)]).unwrap_err(), "has no rows");
    let other = batch(&[good[0].clone(), good[1].clone(), ("z", good[2].1.clone())]);
    contains(read([batch(&good), other]).unwrap_err(), "batch 1 has the columns `unique_id`, `ds`, `z`");
    let twice = arrow_schema::Schema::new(vec![
        arrow_schema::Field::new("y", DataType::Float64, false),
        arrow_schema::Field::new("y", DataType::Float64, false),
    ]);
    let twice = RecordBatch::try_new(Arc::new(twice), vec![good[2].1.clone(), good[2].1.clone()]).unwrap();
    contains(read([twice]).unwrap_err(), "column `y` appears twice");
}

#[test]
fn categories_of_all_types_are_labels() {
    // Texts by their type, though they look like numbers.
    let labels: DictionaryArray<arrow_array::types::Int8Type> = ["1", "01", "1"].into_iter().collect();
    let columns = |numbers: Vec<Option<f64>>| {
        batch(&[
            ("unique_id", array(StringArray::from(vec!["s"; 3]))),
            ("ds", array(Int64Array::from(vec![1, 2, 3]))),
            ("y", array(Float32Array::from(vec![1.0, 2.0, 3.0]))),
            ("numbers", array(Float64Array::from(numbers))),
            ("integers", array(UInt64Array::from(vec![7, u64::MAX, 7]))),
            (
                "decimals",
                array(Decimal128Array::from(vec![11, -20, 11]).with_precision_and_scale(3, 1).unwrap()),
            ),
            ("truths", array(BooleanArray::from(vec![true, false, true]))),
            ("words", array(labels.clone())),
            ("days", array(Date32Array::from(vec![1, 2, 3]))),
        ])
    };
    let names = ["numbers", "integers", "decimals", "truths", "words", "days"];
    let options = ReadOptions { categories: names.map(String::from).to_vec(), ..ReadOptions::default() };
    let read = |numbers| of_batches([columns(numbers)], &options).unwrap();
    let panel = read(vec![Some(3.5), Some(-1.0), Some(3.5)]);
    let categories_of = |name| panel.categories_of(name).unwrap();
    assert_eq!(categories_of("numbers"), Categories::Numbers(vec![-1.0, 3.5]));
    assert_eq!(categories_of("integers"), Categories::Texts(vec![u64::MAX.to_string().into(), "7".into()]));
    // As CSV has them, not by way of 32 bits.
    assert_eq!(categories_of("decimals"), Categories::Numbers(vec![-2.0, 1.1]));
    assert_eq!(categories_of("truths"), Categories::Truths(vec![false, true]));
    assert_eq!(categories_of("words"), Categories::Texts(vec!["01".into(), "1".into()]));
    contains(panel.categories_of("days").unwrap_err(), "row 0, column `days`");
    for missing in [None, Some(f64::NAN)] {
        let error = read(vec![Some(1.0), missing, Some(1.0)]).categories_of("numbers").unwrap_err();
        contains(error, "row 1, column `numbers`");
    }
}

#[test]
fn a_frame_survives_its_file() {
    let mut frame = Frame::new(Freq::parse("h").unwrap());
    frame.zone = Some(Zone::parse("Europe/Berlin").unwrap());
    frame.ids = vec!["a".into(), "a".into(), "a".into(), "é, \"b\"".into()];
    frame.times =
        ["00:00", "01:00", "02:00", "00:00"].map(|clock| time(&format!("2024-10-27 {clock}"))).to_vec();
    frame.cutoffs = Some(vec![0; 4]);
    frame.columns =
        vec![("y".into(), vec![0.1, f32::NAN, 0.2, 3.0]), ("x".into(), vec![1.0, -1e30, 5.0, 2.0])];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("frame.parquet");
    frame.write_parquet(std::fs::File::create(&path).unwrap()).unwrap();
    let fill = Some(crate::Fill::Forward);
    let options = ReadOptions { freq: Some(frame.freq), fill, ..ReadOptions::default() };
    let panel = Panel::from_file(&path, &options).unwrap();
    assert_eq!((&**panel.id(1), panel.y(0), panel.y(1)), ("é, \"b\"", &[0.1, 0.1, 0.2][..], &[3.0][..]));
    assert_eq!(panel.column("x", 0).unwrap(), [1.0, -1e30, 5.0]);
    assert_eq!(panel.times(0).collect::<Vec<_>>(), frame.times[..3]);
    assert_eq!(panel.zone(), frame.zone.as_ref());

    frame.freq = Freq::parse("1").unwrap();
    frame.zone = None;
    let again = of_batches([frame.record_batch()], &ReadOptions { fill, ..options });
    assert!(
        matches!(again, Err(DataError::Steps(StepError::IntegerDates { .. }))),
        "integers are written as such"
    );
}

#[test]
fn static_and_future_tables_come_as_batches_too() {
    let panel = Panel::from_series(Freq::parse("1").unwrap(), [("a", 0, [1.0, 2.0]), ("b", 0, [1.0, 2.0])]);
    let ids = array(StringArray::from(vec!["b", "a"]));
    let sizes = batch(&[("unique_id", ids.clone()), ("size", array(Int32Array::from(vec![2, 1])))]);
    let panel = panel
        .unwrap()
        .with_static_table(ArrowTable::from_batches([sizes]).unwrap(), &ReadOptions::default())
        .unwrap();
    assert_eq!(panel.static_value("size", 0).unwrap(), 1.0);
    let future = |times: Vec<i64>| {
        let rows = [
            ("unique_id", ids.clone()),
            ("ds", array(Int64Array::from(times))),
            ("price", array(Float32Array::from(vec![5.0, 6.0]))),
        ];
        let rows = ArrowTable::from_batches([batch(&rows)])?;
        Future::from_table(rows, &ReadOptions::default(), &panel, 1)
    };
    assert_eq!(future(vec![2, 2]).unwrap().column("price").unwrap(), [6.0, 5.0]);
    contains(future(vec![2, 3]).unwrap_err(), "lacks 1 future rows, of which each series needs 1: `a at 2`");
}

#[test]
fn given_batches_are_read_in_parts() {
    let part = |rows: std::ops::Range<i64>, wrong: Option<i64>| {
        let ids: Vec<&str> = rows.clone().map(|row| if row < 6 { "a" } else { "b" }).collect();
        let y = rows.clone().map(|row| if Some(row) == wrong { f64::INFINITY } else { row as f64 });
        batch(&[
            ("unique_id", array(StringArray::from(ids))),
            ("ds", array(Int64Array::from_iter_values(rows.clone()))),
            ("y", array(Float64Array::from_iter_values(y))),
        ])
    };
    let batches = |wrong: Option<i64>| [0..1, 1..8, 8..8, 8..20].map(|rows| part(rows, wrong));
    for threads in [1, 2, 3] {
        let options = ReadOptions::default().threads(threads);
        let panel = of_batches(batches(None), &options).unwrap();
        assert_eq!(panel.ids().map(|id| &**id).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!([panel.len(0), panel.len(1)], [6, 14]);
        assert_eq!(panel.y(1), (6..20).map(|row| row as f32).collect::<Vec<_>>());
        assert_eq!((panel.time(0, 0), panel.time(1, 13)), (0, 19));
        for wrong in [0, 3, 8, 17] {
            let error = of_batches(batches(Some(wrong)), &options).unwrap_err();
            contains(error, &format!("row {wrong}"));
        }
    }
}

#[test]
fn a_stream_that_takes_too_much_memory_is_refused_before_it_is_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("large.arrows");
    let rows = 10_000;
    let batch = RecordBatch::try_from_iter([
        ("unique_id", Arc::new(StringArray::from(vec!["a"; rows])) as ArrayRef),
        ("ds", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ("y", Arc::new(Float32Array::from(vec![1.0; rows]))),
    ]);
    let batch = batch.unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let size = path.metadata().unwrap().len();
    let read = |limit| Panel::from_file(&path, &ReadOptions::new().max_memory(limit));
    let message = read(size - 1).unwrap_err().to_string();
    assert!(message.contains("large.arrows") && message.contains("max_memory"), "{message}");
    assert_eq!(read(size).unwrap().n_rows(), rows);
}
