//! Texts that a Parquet file repeats take memory once.

use std::fs;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use foretell_calendar::Freq;
use foretell_data::{ForecastTable, Panel, ReadOptions};
use foretell_fuzz::Alone;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};

/// Bytes that reading may take, whatever the size of the file, and this many times its size beside.
const ALWAYS: usize = 128 << 20;
const FACTOR: usize = 150;

fn options() -> ReadOptions {
    ReadOptions::new().id_col("shop").time_col("time").target_col("sales")
}

/// Reads a hostile file under the limits of the hunts.
fn within_limits<T>(alone: &Alone, name: &str, bytes: usize, read: impl FnOnce() -> T) -> T {
    let (read, taken) = alone.peak_memory(read);
    let limit = ALWAYS + FACTOR * bytes;
    assert!(taken <= limit, "{name}: {bytes} bytes took {taken} bytes of memory, over {limit}");
    println!("{name}: {bytes} bytes took {:.1} MB", taken as f64 / 1e6);
    read
}

/// Rows whose texts, each held by itself, would take twice the limit.
const ROWS: i32 = 4_000;

/// Two series, whose column `note` holds one text of 32 kB again and again; so does `shop`.
fn long_texts(properties: WriterProperties) -> Vec<u8> {
    let texts: Vec<String> = ["a", "b"].map(|text| text.repeat(32 << 10)).to_vec();
    let keys = |half: i32| Int32Array::from_iter_values((0..ROWS).map(|row| row / half % 2));
    let column = |half| -> ArrayRef {
        Arc::new(DictionaryArray::new(keys(half), Arc::new(StringArray::from(texts.clone()))))
    };
    let numbers: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| (row % (ROWS / 2)).into())));
    let columns =
        [("shop", column(ROWS / 2)), ("time", numbers.clone()), ("sales", numbers), ("note", column(1))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn texts_that_a_parquet_file_repeats_are_not_repeated_in_memory() {
    let alone = Alone::new();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("hostile.parquet");
    let zstd = || WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let plain = || zstd().set_dictionary_enabled(false);
    let delta = |properties: WriterPropertiesBuilder, column: &str| {
        properties.set_column_encoding(column.into(), Encoding::DELTA_BYTE_ARRAY)
    };
    for (name, properties) in [
        ("a dictionary", zstd()),
        ("dictionaries of many row groups", zstd().set_max_row_group_row_count(Some(500))),
        ("plain texts", plain()),
        ("differences", delta(delta(plain(), "shop"), "note")),
    ] {
        let properties = properties.build();
        let bytes = long_texts(properties);
        fs::write(&path, &bytes).unwrap();
        for categories in [Vec::new(), vec!["note".to_owned()]] {
            let options = options().categories(categories);
            let panel =
                within_limits(&alone, name, bytes.len(), || Panel::from_file(&path, &options)).unwrap();
            assert_eq!((panel.n_series(), panel.n_rows()), (2, ROWS as usize), "{name}");
            assert_eq!(panel.id(1).len(), 32 << 10);
        }
        let freq = Freq::parse("1").unwrap();
        // As forecasts, whose ids stand in every row.
        let by_note = options().id_col("note");
        let frame = within_limits(&alone, name, bytes.len(), || {
            ForecastTable::frame_from_file(&path, &by_note, freq)
        })
        .unwrap();
        assert_eq!(frame.n_rows(), ROWS as usize);
    }
}
