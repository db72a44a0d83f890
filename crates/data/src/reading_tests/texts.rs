//! A text table read record by record: separator, header, lines and cells.

use crate::{Panel, ReadOptions};
use foretell_calendar::Freq;
use foretell_tables::FileOptions;

#[test]
fn a_header_that_is_repeated_is_passed_over_and_told() {
    let text = "unique_id,ds,y\na,1,2\nunique_id,ds,y\na,2,3\nunique_id, ds ,y\na,3,4\n";
    for threads in [1, 2] {
        let panel = Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::new().threads(threads)).unwrap();
        assert_eq!(panel.y(0), [2.0, 3.0, 4.0]);
        let [note] = panel.notes() else { panic!("{:?}", panel.notes()) };
        assert_eq!(note.to_string(), "t.csv: lines passed over, since they repeat the header: 2");
    }
}

/// A source that is interrupted before each piece, and gives a few bytes at a time.
struct Interrupted<'a>(&'a [u8], bool);

impl std::io::Read for Interrupted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let most = out.len().min(7);
        std::io::Read::read(&mut self.0, &mut out[..most])
    }
}

#[test]
fn a_signal_at_any_read_changes_nothing() {
    use std::io::Write as _;
    let rows: String = (0..300).map(|row| format!("caf\u{e9} {},{row},{row}.5\n", row / 100)).collect();
    let text = format!("unique_id,ds,y\n{rows}");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin: Vec<u8> = text.chars().map(|character| character as u8).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let expected = Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
    for bytes in [text.clone().into_bytes(), utf16, latin, gzip.finish().unwrap()] {
        let read = Panel::read_csv(Interrupted(&bytes, false), "t.csv", &ReadOptions::default()).unwrap();
        assert_eq!(read.n_series(), 3);
        for series in 0..3 {
            assert_eq!((read.id(series), read.y(series)), (expected.id(series), expected.y(series)));
        }
    }
}

#[test]
fn lines_to_skip_beyond_the_end_are_an_error_at_once() {
    let skip = |skip_rows| {
        let file = FileOptions { skip_rows: Some(skip_rows), ..Default::default() };
        let options = ReadOptions { file, freq: Some(Freq::parse("1").unwrap()), ..ReadOptions::default() };
        Panel::read_csv(&b"title\nunique_id,ds,y\na,1,1\na,2,1\n"[..], "t.csv", &options)
    };
    assert_eq!(skip(1).unwrap().n_rows(), 2);
    let message = skip(usize::MAX).unwrap_err().to_string();
    assert!(
        message.contains("t.csv: it has 4 lines, and 18446744073709551615 are to be skipped"),
        "{message}"
    );
}
