//! Files that are wrong in ways that one can think of; `fuzz.rs` looks for others.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_checkpoint::{Checkpoint, CheckpointError, TensorData, TensorFile, TensorValues};
use proptest::prelude::*;
use proptest::sample::select;

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
