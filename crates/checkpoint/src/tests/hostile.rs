//! Files that are wrong in ways that one can think of; `fuzz.rs` looks for others.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;

use crate::{Checkpoint, CheckpointError, TensorData, TensorFile, TensorValues};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn parse(bytes: &[u8]) -> Result<TensorFile, CheckpointError> {
    TensorFile::from_bytes(bytes, Path::new("hostile.safetensors"))
}

fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn headers_that_lie_are_errors() {
    let huge = u64::MAX;
    for (header, data) in [
        (r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#.to_owned(), &[0; 4][..]),
        (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#.to_owned(), &[0; 8]),
        (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#.to_owned(), &[0; 8]),
        (format!(r#"{{"a":{{"dtype":"F32","shape":[{huge},{huge}],"data_offsets":[0,0]}}}}"#), &[]),
        (format!(r#"{{"a":{{"dtype":"U8","shape":[{huge}],"data_offsets":[0,{huge}]}}}}"#), &[]),
        (format!(r#"{{"a":{{"dtype":"F32","shape":[0],"data_offsets":[{huge},0]}}}}"#), &[]),
        (r#"{"a":{"dtype":"X9","shape":[0],"data_offsets":[0,0]}}"#.to_owned(), &[]),
        (r#"{"__metadata__":{"nf_format":2}}"#.to_owned(), &[]),
        ("[".repeat(100_000), &[]),
        ("\u{0}".into(), &[]),
        (String::new(), &[]),
    ] {
        let error = parse(&with_header(&header, data)).unwrap_err();
        assert!(matches!(error, CheckpointError::Corrupt { .. }), "{error}");
    }
    for length in [0, 9, 1 << 40, huge] {
        assert!(parse(&length.to_le_bytes()).is_err());
    }
}

/// Every bit that is flipped is found, or changes nothing of what is read.
#[test]
fn every_flipped_bit_of_a_file_of_ours_is_found() {
    let metadata = [("step", "12"), ("training", r#"{"a":"\"foretell_crc32\":\"1\""}"#)];
    let metadata = metadata.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let tensors = [
        ("a".to_owned(), TensorData::f32([2, 3], vec![0.5, -1.0, 2.0, 1e-9, 4.0, 0.0])),
        ("b".to_owned(), TensorData::new([2], TensorValues::F64(vec![1.0, f64::NAN]))),
    ];
    let file = TensorFile { metadata, tensors: tensors.into() };
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.safetensors");
    let bytes = file.to_bytes();
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        TensorFile::read_checked(&path)
    };
    assert_eq!(read(&bytes).unwrap().to_bytes(), bytes);
    let mut detected = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match read(&flipped) {
            Ok(read) => assert_eq!(read.to_bytes(), bytes, "bit {bit}"),
            Err(CheckpointError::Checksum { .. }) => detected += 1,
            Err(_) => {}
        }
    }
    // All of the tensors' bits: nothing else tells them.
    assert!(detected >= (6 * 4 + 2 * 8) * 8, "{detected}");
    // Files of other programs have no checksum, which only the state of training must have.
    let other = fs::read(fixtures().join("plain/my_model_0.safetensors")).unwrap();
    parse(&other).unwrap();
    assert!(matches!(read(&other), Err(CheckpointError::Checksum { found: None, .. })));
}

/// The same of a directory, whose files neuralforecast might have written without.
#[test]
fn every_flipped_bit_of_a_directory_of_ours_is_found() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    let sound = Checkpoint::load(fixtures().join("plain")).unwrap();
    sound.save(&dir, false).unwrap();
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        // Bytes of all parts, each bit of a byte in turn.
        for byte in (0..bytes.len()).step_by(7) {
            let mut flipped = bytes.clone();
            flipped[byte] ^= 1 << (byte % 8);
            fs::write(&path, &flipped).unwrap();
            if let Ok(read) = Checkpoint::load(&dir) {
                assert_eq!(read, sound, "byte {byte} of {}", path.display());
            }
        }
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(Checkpoint::load(&dir).unwrap(), sound);
}

#[test]
fn an_unknown_dtype_is_named_with_its_tensor() {
    let header = r#"{"scale":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}"#;
    let error = parse(&with_header(header, &[0; 2])).unwrap_err().to_string();
    assert!(error.contains("hostile.safetensors: tensor `scale` has dtype F8_E4M3"), "{error}");
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = fs::read(fixtures().join("plain/my_model_0.safetensors")).unwrap();
    parse(&bytes).unwrap();
    for end in 0..bytes.len() {
        assert!(parse(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
}

/// One pointer to one tensor, a thousand times: memory must not multiply.
#[test]
fn a_tensor_is_handed_out_once() {
    let home = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixtures().join("exogenous")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, home.path().join(path.file_name().unwrap())).unwrap();
    }
    let path = home.path().join("configuration.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("__hparams__.scalers_.f1.stats_", "__hparams__.scalers_.h1.stats_"))
        .unwrap();
    let error = Checkpoint::load(home.path()).unwrap_err().to_string();
    assert!(error.contains("second pointer"), "{error}");
}

fn values() -> impl Strategy<Value = TensorValues> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..6).prop_map(TensorValues::U8),
        prop::collection::vec(any::<u16>(), 0..6).prop_map(TensorValues::BF16),
        prop::collection::vec(any::<i32>(), 0..6).prop_map(TensorValues::I32),
        prop::collection::vec(any::<f32>(), 0..6).prop_map(TensorValues::F32),
        prop::collection::vec(any::<[f32; 2]>(), 0..6).prop_map(TensorValues::C64),
        prop::collection::vec(any::<f64>(), 0..6).prop_map(TensorValues::F64),
        prop::collection::vec(any::<i64>(), 0..6).prop_map(TensorValues::I64),
    ]
}

proptest! {
    #[test]
    fn files_come_back(
        tensors in prop::collection::btree_map("[a-z._é\"\\\\]{0,8}", values(), 0..6),
        metadata in prop::collection::btree_map(".{0,8}", ".{0,20}", 0..4),
    ) {
        let tensors = tensors
            .into_iter()
            .map(|(name, values)| (name, TensorData::new([values.len(), 1], values)))
            .collect();
        let file = TensorFile { metadata, tensors };
        let bytes = file.to_bytes();
        prop_assert_eq!(parse(&bytes).unwrap(), file);
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = parse(&with_header(&text, &[]));
    }

    #[test]
    fn random_headers_do_not_panic(
        dtype in select(vec!["F32", "I64", "C64", "BOOL", "F4", "F8_E5M2", "nonsense"]),
        shape in prop::collection::vec(prop_oneof![0..4u64, any::<u64>()], 0..4),
        ends in prop_oneof![(0..40u64, 0..40u64), any::<(u64, u64)>()],
        data in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let header = format!(
            r#"{{"t":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{},{}]}}}}"#,
            ends.0, ends.1
        );
        let _ = parse(&with_header(&header, &data));
    }
}
