//! Arrow's streams and files in memory, as record batches.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::{Panel, ReadOptions};
use foretell_tables::FileFormat;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn read(path: &Path) -> Result<Panel, DataError> {
    let options = ReadOptions { time_col: Some("time".into()), ..ReadOptions::new() };
    Panel::from_file(path, &options.id_col("shop").target_col("sales"))
}

#[test]
fn files_of_every_codec_are_read_as_those_of_none() {
    let plain = read(&fixture("dates.parquet")).unwrap();
    for name in
        ["dates_gzip.parquet", "dates_brotli.parquet", "dates_lz4.parquet", "dates.feather", "dates.arrows"]
    {
        let panel = read(&fixture(name)).unwrap();
        assert_eq!(panel.n_rows(), 6, "{name}");
        for series in 0..2 {
            assert_eq!(panel.id(series), plain.id(series), "{name}");
            assert_eq!(panel.y(series), plain.y(series), "{name}");
            assert_eq!(panel.time(series, 2), plain.time(series, 2), "{name}");
        }
    }
}

#[test]
fn files_are_read_however_far_their_mark_is_filled_up() {
    use arrow_ipc::MetadataVersion;
    use arrow_ipc::reader::StreamReader;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.arrow");
    let stream = File::open(fixture("dates.arrows")).unwrap();
    let batch = StreamReader::try_new(stream, None).unwrap().next().unwrap().unwrap();
    let expected = read(&fixture("dates.arrows")).unwrap();
    for alignment in [8, 16, 32, 64] {
        let options = IpcWriteOptions::try_new(alignment, false, MetadataVersion::V5).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let panel = read(&path).unwrap();
        assert_eq!(
            (panel.n_rows(), panel.y(0), panel.y(1)),
            (6, expected.y(0), expected.y(1)),
            "{alignment}"
        );
    }
}

/// Parquet's first LZ4, framed as Hadoop does it, which pyarrow no longer writes.
#[test]
fn the_older_lz4_of_parquet_is_read() {
    use arrow_ipc::reader::StreamReader;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;

    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("hadoop.parquet");
    let stream = File::open(fixture("dates.arrows")).unwrap();
    let batch = StreamReader::try_new(stream, None).unwrap().next().unwrap().unwrap();
    let properties = WriterProperties::builder().set_compression(Compression::LZ4).build();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let written = writer.close().unwrap();
    assert_eq!(written.row_group(0).column(0).compression(), Compression::LZ4);
    assert_eq!(read(&path).unwrap().y(1), read(&fixture("dates.parquet")).unwrap().y(1));
}

#[test]
fn a_buffer_that_claims_to_be_huge_is_refused_before_room_is_made() {
    let home = tempfile::tempdir().unwrap();
    for name in ["dates.feather", "dates.arrows"] {
        let bytes = fs::read(fixture(name)).unwrap();
        let path = home.path().join(name);
        let (mut refused, mut memory) = (0, 0);
        // The times are three days a series, which take 24 bytes; wherever that number stands, it becomes a terabyte.
        for at in (0..bytes.len() - 8).step_by(8) {
            if bytes[at..at + 8] == 24_i64.to_le_bytes() {
                let mut hostile = bytes.clone();
                hostile[at..at + 8].copy_from_slice(&(1_i64 << 40).to_le_bytes());
                fs::write(&path, &hostile).unwrap();
                let error = read(&path).err().map(|error| error.to_string()).unwrap_or_default();
                refused += usize::from(error.contains("are not credible"));
            }
        }
        fs::write(&path, &bytes).unwrap();
        memory += FileFormat::of(name).memory_of_bytes(&bytes).unwrap();
        assert!(refused > 0, "{name}");
        assert!(memory > bytes.len() as u64, "what is unpacked counts as well: {memory}");
    }
}

#[test]
fn what_is_no_stream_and_no_file_is_refused_with_what_it_is() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.feather");
    for (bytes, reason) in [
        (&b""[..], "it is empty"),
        (b"FEA1\0\0\0\0", "Feather's first version"),
        (b"ARROW1\0\0\xff\xff\xff\xff", "Unexpected End of Stream"),
    ] {
        fs::write(&path, bytes).unwrap();
        let message = read(&path).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("t.feather") && message.contains(reason), "{message}");
    }
}
