//! Text that is compressed by gzip or Zstandard: told by its first bytes, whatever the file is called, and unpacked

use std::io::Write as _;

use crate::{Panel, ReadOptions};
use foretell_tables::DataError;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 19).unwrap()
}

fn read(packed: &[u8]) -> Result<Panel, DataError> {
    Panel::read_csv(packed, "t.csv.gz", &ReadOptions::default())
}

#[test]
fn compressed_text_is_read_as_the_text_itself() {
    let mut text = "unique_id,ds,y\n".to_owned();
    (0..5000).for_each(|row| text += &format!("a,{row},{}\n", row * row % 1013));
    let plain = read(text.as_bytes()).unwrap();
    let (head, tail) = text.as_bytes().split_at(10_000);
    for pack in [gzip, zstandard] {
        // Tools put the results of several runs behind each other.
        for packed in [pack(text.as_bytes()), [pack(head), pack(tail)].concat()] {
            let panel = read(&packed).unwrap();
            assert_eq!((panel.y(0), panel.freq()), (plain.y(0), plain.freq()));
        }
    }
}

#[test]
fn damaged_text_is_an_error_that_says_so() {
    let mut text = "unique_id,ds,y\n".to_owned();
    (0..5000).for_each(|row| text += &format!("a,{row},{}\n", row * row % 1013));
    for (pack, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstandard, "zstd")] {
        let packed = pack(text.as_bytes());
        let mut flipped = packed.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0xFF;
        flipped[middle + 1] ^= 0xFF;
        for damaged in [&packed[..packed.len() / 2], &packed[..12], &flipped] {
            let error = read(damaged).unwrap_err().to_string();
            assert!(error.starts_with("t.csv.gz: ") || error.starts_with("t.csv.gz, line"), "{error}");
        }
        let error = read(&packed[..packed.len() / 2]).unwrap_err().to_string();
        assert!(error.contains(&format!("its {name} data are damaged or cut short")), "{error}");
    }
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    /// One line without an end.
    fn bomb(encoder: &mut impl std::io::Write) {
        (0..600).for_each(|_| encoder.write_all(&[b'0'; 1 << 20]).unwrap());
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb(&mut gzip);
    let mut zstandard = zstd::Encoder::new(Vec::new(), 1).unwrap();
    bomb(&mut zstandard);
    for packed in [gzip.finish().unwrap(), zstandard.finish().unwrap()] {
        assert!(packed.len() < 10 << 20, "{}", packed.len());
        let error = read(&packed).unwrap_err().to_string();
        assert!(error.contains("over 100 times their size"), "{error}");
    }
}
