//! `foretell distill`.

use serde_json::Value;

use crate::test_directory::{LONG, TestDirectory, rows, stderr};

#[test]
fn a_student_learns_an_ensemble_and_forecasts_like_any_model() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit --model Naive,SeasonalNaive --ensemble mean --h 7 {LONG} --out teacher --quiet"));
    let distill = "distill --teacher teacher --data long.csv --model MLP --h 7 --input-size 14 --set hidden_size=8 \
                   --set max_steps=30 --set windows_batch_size=32 --n-windows 2";
    let told = dir.run(&format!("{distill} --out student --json"));
    let report: Value = serde_json::from_slice(&told.stdout).unwrap_or_else(|_| panic!("{}", stderr(&told)));
    let models: Vec<(&str, &str)> = report["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["who"].as_str().unwrap(), row["model"].as_str().unwrap()))
        .collect();
    let teacher = |model| ("teacher", model);
    assert_eq!(
        models,
        [teacher("Naive"), teacher("SeasonalNaive"), teacher("EnsembleMean"), ("student", "MLP")]
    );
    assert!(report["lessons"].as_u64().unwrap() > 50 && report["n_windows"] == 2, "{report}");
    for row in report["models"].as_array().unwrap() {
        assert!(
            row["mae"].as_f64().unwrap() > 0.0 && row["series_per_second"].as_f64().unwrap() > 0.0,
            "{row}"
        );
    }
    assert!(stderr(&told).contains("learnt"), "{}", stderr(&told));
    assert_eq!(rows(&dir.ok("predict --model student --data long.csv")).len(), 1 + 2 * 7);

    let table = dir.ok(&format!("{distill} --out student --overwrite --mixtures 2 --quiet"));
    assert!(table.contains("student") && table.contains("series a second"), "{table}");
    assert!(dir.fails(2, &format!("{distill} --out student")).contains("--overwrite"));
}

#[test]
fn what_says_how_data_are_read_is_the_teachers() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit --model Naive --h 7 {LONG} --out teacher --quiet"));
    let fails = |further: &str| {
        let distill = "distill --teacher teacher --data long.csv --out student";
        dir.fails(2, &format!("{distill} {further}"))
    };
    assert!(fails("--model MLP --h 7 --input-size 14 --freq D").contains("--freq"));
    assert!(fails("--model AutoETS --h 7").contains("no network"));
    assert!(fails("--model MLP --h 5 --input-size 14").contains("h = 7"));
    assert!(fails("--model MLP --input-size 14").contains("--h"));
    let drops = "--model NHITS --h 7 --input-size 14 --set dropout_prob_theta=0.1";
    assert!(fails(&format!("{drops} --intervals dropout")).contains("intervals are not learnt"));
    let mlp = "--model MLP --h 7 --input-size 14";
    assert!(fails(&format!("{mlp} --n-windows 18446744073709551615")).contains("--n-windows"));
    assert!(fails(&format!("{mlp} --mixtures 1000000 --max-memory 100MB")).contains("mix fewer series"));
    // All rows are kept apart.
    let distill = format!("distill --teacher teacher --data long.csv --out student {mlp} --n-windows 1000");
    assert!(dir.fails(1, &distill).contains("the longest series has 0"));
    assert!(!dir.path("student").exists());
}
