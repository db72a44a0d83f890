//! Data that are larger than memory: read file by file, and kept in files.

use std::collections::BTreeMap;
use std::fs;

use crate::test_directory::TestDirectory;

/// Series in four files, some values of which are not known.
fn data() -> TestDirectory {
    let dir = TestDirectory::new();
    fs::create_dir(dir.path("parts")).unwrap();
    fs::create_dir(dir.path("scratch")).unwrap();
    for part in 0..4 {
        let mut csv = "unique_id,ds,y,promo,kind\n".to_owned();
        for series in 0..3 {
            for row in 0..70 {
                let phase = (row * (part + 3 * series + 2)) as f64 * 0.21;
                let kind = ["new", "old", "used"][(row + part) % 3];
                // The ids of a file stand between those of others.
                csv += &format!("s{series}-{part},{row},{:.4},{},{kind}\n", 4.0 + phase.sin(), row % 5);
            }
        }
        dir.put(&format!("parts/{part}.csv"), &csv);
    }
    dir
}

const FIT: &str = "fit --data parts --freq 1 --h 4 --input-size 12 --val-size 8 --threads 2 --model NHITS,LSTM --futr-exog promo,kind \
                   --cat-exog kind --set max_steps=6 --set val_check_steps=3 --set LSTM.encoder_hidden_size=16 --local-scaler standard";

fn files(dir: &TestDirectory, name: &str) -> BTreeMap<String, Vec<u8>> {
    let read =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    fs::read_dir(dir.path(name)).unwrap().map(|entry| read(entry.unwrap())).collect()
}

#[test]
fn models_trained_out_of_memory_are_those_trained_in_it() {
    let dir = data();
    dir.ok(&format!("{FIT} --out in-memory"));
    dir.ok(&format!("{FIT} --scratch scratch --out out-of-memory"));
    assert!(files(&dir, "in-memory") == files(&dir, "out-of-memory"));
    assert_eq!(fs::read_dir(dir.path("scratch")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_panel_larger_than_the_memory_that_it_may_take_is_trained_on() {
    let dir = TestDirectory::new();
    fs::create_dir(dir.path("parts")).unwrap();
    for part in 0..8 {
        let mut csv = "unique_id,ds,y\n".to_owned();
        (0..60_000).for_each(|row| csv += &format!("{part},{row},{}\n", (row * (part + 7)) % 23));
        dir.put(&format!("parts/{part}.csv"), &csv);
    }
    let fit = "fit --data parts --freq 1 --threads 1 --h 4 --input-size 8 --model NLinear --set max_steps=2 \
               --set windows_batch_size=8 --max-memory 1500kB";
    let message = dir.fails(1, &format!("{fit} --out model"));
    assert!(message.contains("limit"), "{message}");
    dir.ok(&format!("{fit} --scratch . --out model"));
}

#[test]
fn mistakes_with_scratch_files_are_told() {
    let dir = data();
    let message = dir.fails(1, &format!("{FIT} --scratch nowhere --out model"));
    assert!(message.contains("cannot keep numbers in nowhere: "), "{message}");
    let message =
        dir.fails(2, &format!("{} --scratch scratch --out model", FIT.replace("--data parts", "--data -")));
    assert!(message.contains("--scratch reads files"), "{message}");
}
