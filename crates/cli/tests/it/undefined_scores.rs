//! `foretell evaluate --fail-if` of scores that are not defined: a gate that cannot be judged is closed.

use crate::test_directory::{TestDirectory, stderr};

/// A series that never changes, one of zeros at the end, and one as usual.
fn files() -> TestDirectory {
    let dir = TestDirectory::new();
    let mut actual = "unique_id,ds,y\n".to_owned();
    for day in 1..=20 {
        let sold = if day > 18 { 0 } else { day % 5 };
        actual += &format!("flat,{day},7\nshut,{day},{sold}\nusual,{day},{}\n", day % 4);
    }
    dir.put("a.csv", &actual);
    let rows = |id: &str| format!("{id},19,1,0,2,2\n{id},20,1,0,2,2\n");
    let header = "unique_id,ds,M,M-lo-80,M-hi-80,P\n";
    for id in ["flat", "shut", "usual"] {
        dir.put(&format!("{id}.csv"), &(header.to_owned() + &rows(id)));
    }
    dir.put("all.csv", &(header.to_owned() + &rows("flat") + &rows("shut") + &rows("usual")));
    dir
}

#[test]
fn a_bound_on_a_score_that_is_not_defined_fails() {
    let dir = files();
    for (forecast, flags, parts) in [
        (
            "flat",
            "--season 1 --fail-if mase>99",
            ["mase is not defined for M, so that mase>99 cannot be judged: ", "bound mae in its place"],
        ),
        (
            "shut",
            "--fail-if mape>99:P",
            ["mape is not defined for P, so that mape>99:P cannot be judged: ", "bound mae in its place"],
        ),
        (
            "shut",
            "--fail-if wape>99",
            ["wape is not defined for M", "which are all 0; bound mae in its place"],
        ),
        (
            "usual",
            "--fail-if coverage_level80<0.1:P",
            ["coverage_level80 is not defined for P", "it forecasts no such quantiles"],
        ),
    ] {
        let line = format!("evaluate --forecast {forecast}.csv --actual a.csv {flags}");
        for more in ["", " --allow-missing", " --json"] {
            let output = dir.run(&(line.clone() + more));
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(3), "{line}{more}: {told}");
            assert!(parts.iter().all(|part| told.contains(part)), "{line}{more}: {told}");
        }
    }
    // The advice, and the bound of all models that have intervals.
    for (forecast, bound) in [("flat", "mae>99"), ("shut", "mae>99"), ("usual", "coverage_level80<0.1")] {
        dir.ok(&format!("evaluate --forecast {forecast}.csv --actual a.csv --fail-if {bound}"));
    }
}

#[test]
fn where_some_scores_are_defined_these_can_be_judged_alone() {
    let dir = files();
    let line = "evaluate --forecast all.csv --actual a.csv --season 1 --metrics mase";
    // The mean over the series that have one is defined.
    dir.ok(&format!("{line} --fail-if mase>99"));
    let output = dir.run(&format!("{line} --by series --fail-if mase>99"));
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let part = "mase of unique_id flat is not defined for M, so that mase>99 cannot be judged";
    assert!(told.contains(part) && told.contains("(--allow-missing judges the others)"), "{told}");
    assert!(!told.contains("unique_id shut") && !told.contains("unique_id usual"), "{told}");
    dir.ok(&format!("{line} --by series --fail-if mase>99 --allow-missing"));
    let judged = dir.run(&format!("{line} --by series --fail-if mase>0.1 --allow-missing"));
    assert_eq!(judged.status.code(), Some(3), "{}", stderr(&judged));
}

#[test]
fn what_has_not_come_true_is_not_judged_yet() {
    let dir = files();
    dir.put("ahead.csv", "unique_id,ds,cutoff,M\nusual,19,18,1\nusual,20,19,1\nusual,21,20,1\n");
    dir.ok("evaluate --forecast ahead.csv --actual a.csv --by cutoff --fail-if mae>99");
}
