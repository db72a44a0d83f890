//! Text that is compressed by gzip or Zstandard: told by its first bytes, whatever the file is called, and unpacked

use std::io::Write as _;

use crate::error::DataError;
use crate::{Panel, ReadOptions};

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

/// A zip archive of these files, as one writes that knows their sizes before, or as one that streams, each with the data of another
/// checksum if `damaged`.
fn zip(files: &[(&str, &str)], stored: bool, streamed: bool, damaged: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, text) in files {
        let mut packed = text.as_bytes().to_vec();
        if !stored {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(text.as_bytes()).unwrap();
            packed = encoder.finish().unwrap();
        }
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        let sums = [crc.sum() ^ u32::from(damaged), packed.len() as u32, text.len() as u32]
            .map(u32::to_le_bytes)
            .concat();
        let short = |number: usize| (number as u16).to_le_bytes();
        out.extend_from_slice(b"PK\x03\x04");
        for number in [20, if streamed { 8 } else { 0 }, if stored { 0 } else { 8 }, 0, 0] {
            out.extend_from_slice(&short(number));
        }
        out.extend_from_slice(if streamed { &[0; 12] } else { &sums });
        out.extend_from_slice(&[short(name.len()), short(3)].concat());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"xyz");
        out.extend_from_slice(&packed);
        if streamed {
            out.extend_from_slice(b"PK\x07\x08");
            out.extend_from_slice(&sums);
        }
    }
    out.extend_from_slice(b"PK\x01\x02 and so on");
    out
}

#[test]
fn the_only_file_of_a_zip_archive_is_read() {
    let mut text = "unique_id,ds,y\n".to_owned();
    (0..5000).for_each(|row| text += &format!("a,{row},{}\n", row * row % 1013));
    let plain = read(text.as_bytes()).unwrap();
    let file = ("data/sales.csv", &*text);
    for archive in [
        zip(&[file], false, false, false),
        zip(&[file], false, true, false),
        zip(&[file], true, false, false),
        zip(&[("data/", ""), file, ("__MACOSX/data/._sales.csv", "x")], true, false, false),
    ] {
        assert_eq!(read(&archive).unwrap().y(0), plain.y(0));
    }
    let refused = |archive: &[u8]| read(archive).unwrap_err().to_string();
    for streamed in [false, true] {
        let error = refused(&zip(&[file, ("b.csv", "x")], false, streamed, false));
        assert!(error.contains("several files (data/sales.csv, b.csv, ...)"), "{error}");
        let error = refused(&zip(&[file], false, streamed, true));
        assert!(error.contains("checksum of its file data/sales.csv is another"), "{error}");
    }
    assert!(
        refused(&zip(&[("[Content_Types].xml", "x")], false, false, false))
            .contains("let its name end in .xlsx")
    );
    let whole = zip(&[file], false, false, false);
    assert!(refused(&whole[..whole.len() / 2]).contains("zip data are damaged or cut short"));
    assert!(refused(&zip(&[("data/", "")], true, false, false)).contains("without a file"));
}
