//! Model directories with a damaged file are refused or loaded, never a panic, and no more memory is asked
//! for than a model of their hyper-parameters has any right to.
//!
//! `PROPTEST_CASES=1000000 cargo test -p foretell --test hostile` looks longer.

use std::fs;
use std::path::Path;

use foretell::Fitted;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]

    #[test]
    fn damaged_directories_do_not_panic(
        case in select(vec!["nlinear-daily", "mlp-hourly-exog", "nhits-integers-mq", "local-exog", "revin-exog"]),
        which in any::<Index>(),
        flips in prop::collection::vec((any::<Index>(), 0..8_u8), 0..3),
        digits in prop::collection::vec((any::<Index>(), select(b"0123456789-.eE[]{}\"".to_vec())), 0..3),
        word in select(vec![
            ("", ""), ("null", "{}"), ("12", "1000000"), ("4", "99999999999"), ("true", "7"), ("MAE", "MQLoss"),
            ("standard", "boxcox"), ("tensor", "scaler"), ("2", "-3"), ("F32", "F64"), ("[", "[["),
        ]),
        cut in prop::option::weighted(0.2, any::<Index>()),
    ) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints").join(case).join("model");
        let home = tempfile::tempdir().unwrap();
        let mut paths: Vec<_> = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let damaged = which.index(paths.len());
        for (i, path) in paths.iter().enumerate() {
            let mut bytes = fs::read(path).unwrap();
            if i == damaged {
                let (old, new) = (word.0.as_bytes(), word.1.as_bytes());
                if let Some(at) = bytes.windows(old.len().max(1)).position(|part| part == old) {
                    bytes.splice(at..at + old.len(), new.iter().copied());
                }
                for (at, bit) in &flips {
                    let at = at.index(bytes.len());
                    bytes[at] ^= 1 << bit;
                }
                for (at, digit) in &digits {
                    let at = at.index(bytes.len());
                    bytes[at] = *digit;
                }
                if let Some(cut) = cut {
                    bytes.truncate(cut.index(bytes.len()));
                }
            }
            fs::write(home.path().join(path.file_name().unwrap()), bytes).unwrap();
        }
        let _ = Fitted::load(home.path());
    }
}
