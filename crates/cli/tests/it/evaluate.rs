//! `foretell evaluate`: scores of forecasts of any tool, and what happens where they are too bad.

use serde_json::Value;

use crate::test_directory::{TestDirectory, stderr};

const FORECAST: &str = "unique_id,ds,A,A-lo-80,A-hi-80,B\n\
    x,2024-01-29,1,0,2,3\nx,2024-01-30,2,1,3,3\ny,2024-01-29,10,9,11,10\ny,2024-01-30,10,9,11,14\n";

/// Four weeks of each series, then what was forecast.
fn actual() -> String {
    let mut text = "unique_id,ds,y\n".to_owned();
    for (id, base) in [("x", 1.0), ("y", 10.0)] {
        for day in 1..=30 {
            text += &format!("{id},2024-01-{day:02},{}\n", base + f64::from(day / 7));
        }
    }
    text
}

fn files() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.put("f.csv", FORECAST);
    dir.put("a.csv", &actual());
    dir.put("s.csv", "unique_id,region,share\nx,north,3\ny,south,1\n");
    dir
}

const BESIDE: &str = "evaluate --forecast f.csv --actual a.csv";

fn scores(flags: &str) -> Value {
    serde_json::from_str(&files().ok(&format!("{BESIDE} --json {flags}"))).unwrap()
}

fn value(report: &Value, metric: &str, model: &str, of: Option<(&str, &str)>) -> f64 {
    let rows = report["scores"].as_array().unwrap();
    let row =
        rows.iter().find(|row| row["metric"] == metric && of.is_none_or(|(key, value)| row[key] == value));
    row.unwrap_or_else(|| panic!("no {metric}: {report}"))["values"][model].as_f64().unwrap()
}

#[test]
fn forecasts_of_any_tool_are_scored() {
    // The truths are 5, 5 and 14, 14.
    let report = scores("");
    assert_eq!((report["rows"].as_u64(), report["scored"].as_u64()), (Some(4), Some(4)));
    assert_eq!(value(&report, "mae", "A", None), 3.75);
    assert_eq!(value(&report, "mae", "B", None), 2.0);
    assert_eq!(value(&report, "coverage_level80", "A", None), 0.0);
    // From week to week each series rises by 1.
    assert_eq!(value(&report, "mase", "B", None), 2.0);
    let series = scores("--by series --metrics bias");
    assert_eq!(value(&series, "bias", "A", Some(("unique_id", "x"))), -3.5);
    let steps = scores("--by step --metrics mae");
    assert_eq!(value(&steps, "mae", "B", Some(("step", "2"))), 1.0);
    let weighed = scores("--static s.csv --weight-col share --metrics mae");
    assert_eq!(value(&weighed, "mae", "A", None), (3.0 * 3.5 + 4.0) / 4.0);
    let regions = scores("--static s.csv --group-by region --metrics mae");
    assert_eq!(value(&regions, "mae", "A", Some(("region", "south"))), 4.0);
    let relative = scores("--baseline B --metrics rmae --by series");
    assert_eq!(value(&relative, "rmae", "A", Some(("unique_id", "y"))), 2.0);
    let compared = scores("--compare A,B --metrics mae");
    assert_eq!(compared["comparison"]["times"], 2);
}

#[test]
fn scores_are_added_to_a_table_and_thresholds_end_with_their_own_code() {
    let dir = files();
    let run = |flags: &str| dir.run(&format!("{BESIDE} --metrics mae {flags}"));
    for _ in 0..2 {
        assert!(run("--out scores.csv --append").status.success());
    }
    let table = "metric,A,B\nmae,3.75,2\nmae,3.75,2\n";
    assert_eq!(dir.read("scores.csv"), table);
    let other = stderr(&run("--by series --out scores.csv --append"));
    assert!(other.contains("name another file"), "{other}");
    assert_eq!(dir.read("scores.csv"), table);

    let crossed = run("--fail-if mae>3 --fail-if mae>3:B");
    let said = stderr(&crossed);
    assert_eq!(crossed.status.code(), Some(3), "{said}");
    assert!(said.contains("mae is 3.75 for A, beyond mae>3") && !said.contains("for B"), "{said}");
    assert!(run("--fail-if mae>4").status.success());
    // A metric that is only asked for by a threshold is computed too.
    assert_eq!(run("--fail-if coverage_level80<0.5:A").status.code(), Some(3));
}

#[test]
fn what_cannot_be_scored_is_said() {
    let dir = files();
    dir.put("late.csv", "unique_id,ds,y\nx,2025-01-01,1\n");
    dir.put("slip.csv", "unique_id,ds,A,B\nx,2024-01-05,1,2\nx,2024-01-06,1,45.046 kg\n");
    dir.put("comma.csv", "unique_id;ds;A\nx;2024-01-05;1,5\nx;2024-01-06;2\n");
    dir.put("points.csv", "unique_id,ds,A\nx,2024-01-05,1\nx,2024-01-06,1\n");
    dir.put("paths.csv", "unique_id,ds,sample_id,A\nx,2024-01-05,0,1\nx,2024-01-05,1,2\n");
    for (flags, part, code) in [
        ("--forecast f.csv", "no column `y`", 1),
        ("--forecast f.csv --actual late.csv", "no row of f.csv has come true", 1),
        ("--forecast f.csv --actual a.csv --metrics mea", "unknown metric `mea`", 2),
        ("--forecast f.csv --actual a.csv --fail-if mae>1:Nix", "no model Nix: they have A, B", 2),
        ("--forecast f.csv --actual a.csv --fail-if coverage<1", "no score coverage: there are", 2),
        ("--forecast f.csv --actual a.csv --fail-if mae", "METRIC>NUMBER", 2),
        ("--forecast f.csv --actual a.csv --compare A,C", "name one of the models: A, B", 1),
        ("--forecast f.csv --actual a.csv --compare A,A", "--compare A,A: it is one model twice", 2),
        (
            "--forecast points.csv --actual a.csv --metrics mae,coverage",
            "coverage: points.csv has no interval columns (MODEL-lo-80, MODEL-hi-80)",
            2,
        ),
        (
            "--forecast points.csv --actual a.csv --fail-if coverage_level80<0.6",
            "coverage: points.csv has no interval columns",
            2,
        ),
        (
            "--forecast points.csv --actual a.csv --metrics mqloss",
            "mqloss: points.csv has no quantile columns (MODEL-lo-80, MODEL-hi-80, MODEL-median)",
            2,
        ),
        ("--forecast none.csv --actual a.csv", "none.csv", 1),
        (
            "--forecast slip.csv --actual a.csv",
            "slip.csv, line 3, column `B`: \"45.046 kg\" is not a number",
            1,
        ),
        (
            "--forecast comma.csv --actual a.csv",
            "comma.csv, line 2, column `A`: \"1,5\" has a decimal comma",
            1,
        ),
        ("--forecast comma.csv --actual a.csv --decimal ;", "--decimal must be a point or a comma", 2),
        ("--forecast paths.csv --actual a.csv", "paths.csv holds sample paths", 1),
    ] {
        let message = dir.fails(code, &format!("evaluate {flags}"));
        assert!(message.contains(part), "{flags}: {message}");
    }
    let of_commas = dir.ok("evaluate --forecast comma.csv --actual a.csv --decimal , --metrics mae --json");
    assert!(of_commas.contains("\"A\""), "{of_commas}");
}
