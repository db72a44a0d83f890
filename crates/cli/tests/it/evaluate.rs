//! `foretell evaluate`: scores of forecasts of any tool, and what happens where they are too bad.

use serde_json::Value;

use crate::test_directory::{TestDirectory, date, stderr};

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
fn bounds_the_wrong_way_round_are_told() {
    let dir = files();
    dir.put("f.csv", &FORECAST.replace("A-lo-80,A-hi-80", "A-hi-80,A-lo-80"));
    let told = stderr(&dir.run(BESIDE));
    let expected = "warning: the lower end of the 80 % interval of A is above its upper end in 4 of 4 rows, the first of series x at \
                    2024-01-29 (2 and 0): such an interval holds no value; its two columns seem to be exchanged, so exchange them\n";
    assert!(told.contains(expected), "{told}");
    assert!(!stderr(&files().run(BESIDE)).contains("lower end"));
    assert!(
        !stderr(&dir.run(&format!("{BESIDE} --models B"))).contains("lower end"),
        "those of another model"
    );
    // Between levels, also where none of the forecasts has come true.
    dir.put(
        "c.csv",
        "unique_id,ds,A,A-lo-95,A-lo-80,A-hi-80,A-hi-95\nx,2024-01-29,3,2,1,4,5\ny,2024-01-29,3,1,2,4,5\n",
    );
    let crossed = "quantiles of A cross in 1 of 2 rows, the first of series x at 2024-01-29: A-lo-95 is 2 and A-lo-80, which is of a \
                   higher probability, 1: no distribution has these; sort the quantiles of these rows";
    for line in
        ["evaluate --forecast c.csv --actual a.csv", "report --forecast c.csv --data a.csv --out c.html"]
    {
        let told = stderr(&dir.run(line));
        assert!(told.contains(crossed), "{line}: {told}");
    }
}

#[test]
fn scores_are_added_to_a_table_and_thresholds_end_with_their_own_code() {
    let dir = files();
    let run = |flags: &str| dir.run(&format!("{BESIDE} --metrics mae {flags}"));
    // Twice the same are one; of another version of the models they are others.
    for flags in ["", "", "--model-version 2", "--model-version 2"] {
        assert!(run(&format!("--out scores.csv --append {flags}")).status.success());
    }
    let table = dir.read("scores.csv");
    let rows: Vec<(&str, &str)> = table.lines().map(|line| line.split_once(',').unwrap()).collect();
    assert_eq!([rows[0].1, rows[1].1, rows[2].1], ["version,metric,A,B", ",mae,3.75,2", "2,mae,3.75,2"]);
    assert_eq!((rows.len(), rows[0].0), (3, "scored_at"));
    assert!(rows[1].0.len() == 20 && rows[1].0.ends_with('Z'), "{table}");
    let other = stderr(&run("--by series --out scores.csv --append"));
    assert!(other.contains("name another file"), "{other}");
    assert_eq!(dir.read("scores.csv"), table);

    let crossed = run("--fail-if mae>3 --fail-if mae>3:B");
    let said = stderr(&crossed);
    assert_eq!(crossed.status.code(), Some(3), "{said}");
    assert!(said.contains("mae is 3.750 for A, beyond mae>3") && !said.contains("for B"), "{said}");
    assert!(run("--fail-if mae>4").status.success());
    // A metric that is only asked for by a threshold is computed too.
    assert_eq!(run("--fail-if coverage_level80<0.5:A").status.code(), Some(3));
}

/// A model that has no forecasts of the series that is harder to forecast.
const SELECTIVE: &str =
    "unique_id,ds,A,B\nx,2024-01-29,4,4.5\nx,2024-01-30,4,4.5\ny,2024-01-29,4,\ny,2024-01-30,4,\n";

#[test]
fn a_model_does_not_win_by_what_it_does_not_forecast() {
    let dir = files();
    dir.put("g.csv", SELECTIVE);
    let run =
        |flags: &str| dir.run(&format!("evaluate --forecast g.csv --actual a.csv --metrics mae {flags}"));
    let plain = run("");
    let table = String::from_utf8(plain.stdout.clone()).unwrap();
    assert_eq!(table, "metric   A      B\nmae      1.000  0.5000\nmissing  0      2\n");
    assert!(
        stderr(&plain)
            .contains("B has no forecast of 2 of 4 rows, which do not count; all models are scored on")
    );
    let report: Value = serde_json::from_slice(&run("--json").stdout).unwrap();
    assert_eq!(report["missing"], serde_json::json!({"A": 0, "B": 2}));
    for flags in ["--fail-if mae>99", "--compare A,B", "--fail-if mae>99:A"] {
        let failed = run(flags);
        assert_eq!(failed.status.code(), Some(3), "{flags}");
        let said = stderr(&failed);
        assert!(said.contains("B has no forecast of 2 of 4 rows (--allow-missing"), "{said}");
        assert!(run(&format!("{flags} --allow-missing")).status.success(), "{flags}");
    }
    // The advice: by itself it is scored on all of its rows.
    assert_eq!(
        String::from_utf8(run("--models A --fail-if mae>6").stdout).unwrap(),
        "metric  A\nmae     5.500\n"
    );
    assert!(run("--models A --fail-if mae>6").status.success());
}

#[test]
fn what_has_no_score_is_counted_and_rows_count_once() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "unique_id,ds,M\nx,3,1\nx,4,1\ny,3,5\ny,4,5\n");
    dir.put("a.csv", "unique_id,ds,y\nx,1,1\nx,2,2\nx,3,0\nx,4,2\ny,1,5\ny,2,5\ny,3,6\ny,4,5\n");
    let table = dir.ok("evaluate --forecast f.csv --actual a.csv --metrics mape,mase --by series");
    let counted = |row: &str| table.lines().any(|line| line.split_whitespace().eq(row.split(' ')));
    assert!(counted("x mape_uncounted 1") && counted("y mape_uncounted 0"), "{table}");
    assert!(counted("x mase_uncounted 0") && counted("y mase_uncounted 1"), "{table}");
    dir.put("twice.csv", "unique_id,ds,M\nx,3,1\nx,4,1\nx,3,9\n");
    let message = dir.fails(1, "evaluate --forecast twice.csv --actual a.csv");
    assert!(message.contains("twice.csv has the series x at 3 twice, in the rows 1 and 3"), "{message}");
    assert!(
        dir.fails(2, "evaluate --forecast f.csv --actual a.csv --season 0")
            .contains("a whole number from 1 to")
    );
}

#[test]
fn actual_values_are_read_as_they_are_for_a_fit() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "unique_id,ds,M\nSales,2024-03-01,5\nSales,2024-04-01,6\n");
    dir.put("g.csv", "shop,month,M\nSales,2024-03-01,5\nSales,2024-04-01,6\n");
    dir.put("h.csv", "unique_id,ds,M\ntotal,2024-03-01,5\ntotal,2024-04-01,6\n");
    dir.put("i.csv", "ds,M\n2024-03-01,5\n2024-04-01,6\n");
    dir.put("j.csv", "month,M\n2024-03-01,5\n2024-04-01,6\n");
    dir.put("two.csv", "Month,Sales\n2024-03-01,4\n2024-04-01,4\n");
    dir.put("long.csv", "Laden,Month,Sales\nSales,2024-03-01,4\nSales,2024-04-01,4\n");
    dir.put("wide.csv", "Month,Other,Sales\n2024-03-01,0,4\n2024-04-01,0,4\n");
    dir.put("daily.csv", "Month,Sales\n2024-03-01,1\n2024-03-31,3\n2024-04-01,4\n2024-04-30,\n");
    for flags in [
        "f.csv --actual two.csv",
        "f.csv --actual two.csv --time-col Month --target-col Sales",
        "f.csv --actual two.csv --actual-time-col Month --actual-target-col Sales",
        "g.csv --actual two.csv --id-col shop --time-col month",
        "h.csv --actual two.csv --actual-id total",
        "f.csv --actual long.csv --actual-id-col Laden --time-col Month --target-col Sales",
        "f.csv --actual wide.csv --wide",
        "i.csv --actual two.csv",
        "j.csv --actual two.csv",
        "i.csv --actual long.csv --actual-id-col Laden --actual-time-col Month --actual-target-col Sales",
    ] {
        let table = dir.ok(&format!("evaluate --metrics mae --forecast {flags}"));
        assert_eq!(table, "metric  M\nmae     1.500\n", "{flags}");
    }
}

#[test]
fn hours_of_clocks_are_compared_with_those_of_a_zone() {
    let dir = TestDirectory::new();
    let row = |hour: usize, zone: &str, y: usize| format!("a,2024-05-11 {hour:02}:00:00{zone},{y}\n");
    let rows = |header: &str, zone: &str, hours: std::ops::Range<usize>| {
        hours.fold(header.to_owned(), |text, hour| text + &row(hour, zone, hour * hour % 17))
    };
    dir.put("zoned.csv", &rows("unique_id,ds,M\n", "+02:00", 10..20));
    dir.put("civil.csv", &rows("unique_id,ds,M\n", "", 10..20));
    dir.put("truth.csv", &rows("unique_id,ds,y\n", "", 0..24));
    dir.put("zoned_truth.csv", &rows("unique_id,ds,y\n", "+02:00", 0..24));
    for flags in [
        "zoned.csv --actual truth.csv",
        "zoned.csv --actual truth.csv --zone Europe/Berlin",
        "zoned.csv --actual truth.csv --actual-zone Europe/Berlin",
        "civil.csv --actual zoned_truth.csv",
        "civil.csv --actual truth.csv",
    ] {
        let table = dir.ok(&format!("evaluate --metrics mae --forecast {flags}"));
        assert_eq!(table, "metric  M\nmae     0.000000\n", "{flags}");
    }
    let other = dir.ok("evaluate --metrics mae --forecast zoned.csv --actual truth.csv --actual-zone UTC");
    assert!(!other.contains("0.000000"), "{other}");
    // Times of two offsets are of a zone that no one named.
    dir.put("mixed.csv", "unique_id,ds,M\na,2024-05-11 10:00:00+02:00,1\na,2024-05-11 11:00:00+01:00,1\n");
    let message = dir.fails(1, "evaluate --forecast mixed.csv --actual truth.csv");
    assert!(message.contains("name the zone"), "{message}");
}

#[test]
fn an_ending_means_its_format_or_is_refused() {
    let dir = files();
    let starts = |name: &str| dir.bytes(name)[..2].to_vec();
    dir.ok(&format!("{BESIDE} --metrics mae --out s.csv.gz"));
    assert_eq!(starts("s.csv.gz"), [0x1f, 0x8b]);
    #[cfg(feature = "parquet")]
    {
        dir.ok(&format!("{BESIDE} --metrics mae --by series --out s.parquet"));
        assert_eq!(starts("s.parquet"), *b"PA");
    }
    for (flags, part) in [
        ("--out s.xlsx", "no format that foretell writes"),
        ("--out s.json", "no format that foretell writes"),
        ("--out s.csv.gz --append", "--append: rows are added to a plain CSV file alone"),
        ("--out /dev/zero --append", "--append: /dev/zero is no regular file"),
    ] {
        let message = dir.fails(2, &format!("{BESIDE} {flags}"));
        assert!(message.contains(part), "{flags}: {message}");
    }
    let message = dir.fails(2, "report --data a.csv --forecast f.csv --out r.parquet");
    assert!(message.contains("a page of HTML") && message.contains("name the file r.html"), "{message}");
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
            "--forecast comma.csv --actual a.csv --decimal .",
            "comma.csv, line 2, column `A`: \"1,5\" has a decimal comma",
            1,
        ),
        ("--forecast comma.csv --actual a.csv --decimal ;", "--decimal must be a point or a comma", 2),
        ("--forecast paths.csv --actual a.csv", "paths.csv holds sample paths", 1),
    ] {
        let message = dir.fails(code, &format!("evaluate {flags}"));
        assert!(message.contains(part), "{flags}: {message}");
    }
    for flags in ["", "--decimal ,"] {
        let evaluate = format!("evaluate --forecast comma.csv --actual a.csv {flags} --metrics mae --json");
        assert!(dir.ok(&evaluate).contains("\"A\""), "{flags}");
    }
}

#[test]
fn intervals_that_one_model_lacks_are_counted_and_said() {
    let dir = files();
    let forecast = "unique_id,ds,A,A-lo-80,A-hi-80,B,B-lo-80,B-hi-80\n\
        x,2024-01-29,4,3,6,5,4,6\nx,2024-01-30,4,3,6,5,4,6\n\
        y,2024-01-29,10,9,11,14,,15\ny,2024-01-30,10,9,11,14,13,15\n";
    dir.put("g.csv", forecast);
    let run = |flags: &str| dir.run(&format!("evaluate --forecast g.csv --actual a.csv {flags}"));
    let plain = run("--metrics coverage");
    let table = String::from_utf8(plain.stdout.clone()).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    // Series by series: of y one row is left, of which A holds nothing.
    assert_eq!(
        rows[1..],
        [vec!["coverage_level80", "0.5000", "1.000"], vec!["coverage_level80_missing", "0", "1"]]
    );
    let told = "warning: B-lo-80 is missing in 1 of 4 rows, which do not count in metrics of quantiles and intervals; all models are \
                scored on the intervals that all have (--models scores some by themselves)\n";
    assert!(stderr(&plain).contains(told), "{}", stderr(&plain));
    let report: Value = serde_json::from_slice(&run("--json").stdout).unwrap();
    assert_eq!(report["missing_quantiles"], serde_json::json!({"B-lo-80": 1}));
    let failed = run("--fail-if coverage_level80<0.1");
    assert_eq!(failed.status.code(), Some(3));
    assert!(
        stderr(&failed).contains("B-lo-80 is missing in 1 of 4 rows (--allow-missing"),
        "{}",
        stderr(&failed)
    );
    assert!(run("--fail-if coverage_level80<0.1 --allow-missing").status.success());
    assert!(run("--fail-if mae>99").status.success(), "of points nothing is missing");
}

#[test]
fn a_period_that_is_not_over_is_no_actual_value() {
    let dir = TestDirectory::new();
    // Five a day until 12 April: April has 60 so far, and would have 150.
    let days: String = (0..103).map(|day| format!("a,{},5\n", date(day))).collect();
    dir.put("days.csv", &format!("unique_id,ds,y\n{days}"));
    dir.put("f.csv", "unique_id,ds,M\na,2024-03-01,150\na,2024-04-01,150\n");
    let gathered = "evaluate --metrics mae --forecast f.csv --actual days.csv --resample MS --aggregate sum";
    let output = dir.run(gathered);
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), "metric  M\nmae     5.000\n");
    let told = stderr(&output);
    assert!(told.contains("are left out: the first of 0 series, the last of 1"), "{told}");
    assert!(told.contains("1 of 2 rows have not come true and do not count"), "{told}");
    // What the note advises: the 60 of April is 90 from its forecast, the 155 of March 5.
    assert!(told.contains("`--keep-partial` keeps them"), "{told}");
    let kept = dir.ok(&format!("{gathered} --keep-partial"));
    assert_eq!(kept, "metric  M\nmae     47.50\n");
    // As few as two months tell it by the steps of their days.
    let few: String = (60..103).map(|day| format!("a,{},5\n", date(day))).collect();
    dir.put("days.csv", &format!("unique_id,ds,y\n{few}"));
    assert_eq!(dir.ok(gathered), "metric  M\nmae     5.000\n");
}

#[test]
fn a_zone_that_one_file_has_is_taken_for_the_other_and_said() {
    let dir = TestDirectory::new();
    let rows = |header: &str, zone: &str| {
        (10..20)
            .fold(header.to_owned(), |text, hour| text + &format!("a,2024-05-11 {hour}:00:00{zone},{hour}\n"))
    };
    dir.put("zoned.csv", &rows("unique_id,ds,M\n", "+02:00"));
    dir.put("civil.csv", &rows("unique_id,ds,M\n", ""));
    dir.put("truth.csv", &rows("unique_id,ds,y\n", ""));
    dir.put("zoned_truth.csv", &rows("unique_id,ds,y\n", "+02:00"));
    for (files, without, with, flag) in [
        ("zoned.csv --actual truth.csv", "truth.csv", "zoned.csv", "--actual-zone"),
        ("civil.csv --actual zoned_truth.csv", "civil.csv", "zoned_truth.csv", "--zone"),
    ] {
        let told = stderr(&dir.run(&format!("evaluate --metrics mae --forecast {files}")));
        let expected = format!(
            "warning: the times of {without} have no zone: they are read in +02:00, that of {with} ({flag} says another)\n"
        );
        assert!(told.contains(&expected), "{told}");
    }
    for silent in ["civil.csv --actual truth.csv", "zoned.csv --actual zoned_truth.csv"] {
        assert!(!stderr(&dir.run(&format!("evaluate --forecast {silent}"))).contains("zone"));
    }
}

#[test]
fn a_format_of_times_is_that_of_the_file_that_it_fits() {
    let dir = TestDirectory::new();
    dir.put("usual.csv", "unique_id,ds,M\na,2024-02-01,5\na,2024-02-02,6\n");
    dir.put("same.csv", "unique_id,ds,M\na,01/02/2024,5\na,02/02/2024,6\n");
    dir.put("days.csv", "unique_id,ds,y\na,31/01/2024,1\na,01/02/2024,4\na,02/02/2024,4\na,03/02/2024,4\n");
    for flags in [
        "usual.csv --time-format %d/%m/%Y",
        "usual.csv --actual-time-format %d/%m/%Y",
        "same.csv --time-format %d/%m/%Y",
    ] {
        let table = dir.ok(&format!("evaluate --metrics mae --actual days.csv --forecast {flags}"));
        assert_eq!(table, "metric  M\nmae     1.500\n", "{flags}");
    }
    let message = dir
        .fails(1, "evaluate --metrics mae --actual days.csv --forecast usual.csv --actual-time-format %Y-%m");
    assert!(message.contains("days.csv, line 2, column `ds`"), "{message}");
}

#[test]
fn columns_are_found_in_both_files_by_what_they_hold() {
    let dir = TestDirectory::new();
    let days = |value: &dyn Fn(usize) -> String| -> String {
        let rows = ["A", "B"].into_iter().flat_map(|store| (0..30).map(move |day| (store, day)));
        rows.map(|(store, day)| format!("{store},{},{}\n", date(day), value(day))).collect()
    };
    dir.put("sales.csv", &format!("Store,Date,Sales,price\n{}", days(&|day| format!("{day},1"))));
    dir.put("f.csv", "Store,Date,M\nA,2024-01-29,27\nB,2024-01-30,30\n");
    dir.put("other.csv", "Laden,Tag,M\nA,2024-01-29,27\nA,2024-01-30,28\nB,2024-01-29,28\nB,2024-01-30,30\n");
    dir.put(
        "validation.csv",
        "Store,Date,cutoff,Sales,M\nA,2024-01-29,2024-01-28,28,27\nB,2024-01-29,2024-01-28,28,29\n",
    );
    for (files, mae) in [
        ("f.csv --actual sales.csv", "1.000"),
        ("other.csv --actual sales.csv", "0.7500"),
        ("validation.csv", "1.000"),
    ] {
        let output = dir.run(&format!("evaluate --metrics mae --forecast {files}"));
        let (table, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
        assert_eq!(table, format!("metric  M\nmae     {mae}\n"), "{told}");
        assert!(told.contains("columns of "), "{told}");
        if files.contains("sales.csv") {
            let sales = "columns of sales.csv: series Store, times Date, values Sales; --id-col, --time-col and --target-col name others";
            assert!(told.contains(sales), "{told}");
        }
    }
    // A doubt is asked about, as in a fit.
    dir.put("sales.csv", &format!("Store,Date,a,b\n{}", days(&|day| format!("{day},1"))));
    let [message, of_fit] = ["evaluate --forecast f.csv --actual sales.csv", "models --for sales.csv"]
        .map(|line| dir.fails(2, line));
    assert!(message.contains("--target-col") && message.contains("`a`, `b`"), "{message}");
    assert_eq!(message, of_fit);
    assert_eq!(
        dir.ok("evaluate --metrics mae --forecast f.csv --actual sales.csv --target-col a"),
        "metric  M\nmae     1.000\n"
    );
}

/// Hours of Berlin's clocks beside a forecast in UTC: what has no zone is read in that of the other file, unless it lacks the hour that clocks
/// skip, which no time of an offset does.
#[test]
fn local_times_that_skip_an_hour_are_not_read_in_utc() {
    let dir = TestDirectory::new();
    let hour = |day: usize, hour: usize| format!("2024-03-{day:02}T{hour:02}:00:00");
    let rows = |from: usize, skipped: bool, zone: &str| -> String {
        let hours = (from..32).flat_map(|day| (0..24).map(move |at| (day, at)));
        let there = hours.filter(|at| !(skipped && *at == (31, 2)));
        there.map(|(day, at)| format!("x,{}{zone},{}\n", hour(day, at), at)).collect()
    };
    dir.put("f.csv", &format!("unique_id,ds,M\n{}", rows(31, false, "Z")));
    dir.put("local.csv", &format!("unique_id,ds,y\n{}", rows(29, true, "")));
    dir.put("utc.csv", &format!("unique_id,ds,y\n{}", rows(29, false, "")));
    let refused = dir.run("evaluate --forecast f.csv --actual local.csv --metrics mae");
    let message = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(
        message.contains("lack the hour behind 2024-03-31 01:00:00")
            && message.contains("(--actual-zone Europe/Berlin)"),
        "{message}"
    );
    let scored = dir.ok("evaluate --forecast f.csv --actual utc.csv --metrics mae");
    assert!(scored.contains("mae     0.000000"), "{scored}");
    // What the message advises: an hour of winter, and two of summer.
    let scored =
        dir.ok("evaluate --forecast f.csv --actual local.csv --actual-zone Europe/Berlin --metrics mae");
    assert!(!scored.contains("0.000000"), "{scored}");
}

/// What is no number in the forecasts of a model stops the scores of others only where these are compared with it.
#[test]
fn an_infinite_forecast_of_one_model_does_not_stop_the_scores_of_others() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "unique_id,ds,A,B,B-lo-80,B-hi-80\na,2024-01-01,1,inf,-inf,inf\na,2024-01-02,3,2,1,3\n");
    dir.put("a.csv", "unique_id,ds,y\na,2024-01-01,2\na,2024-01-02,2\n");
    let command = "evaluate --forecast f.csv --actual a.csv --metrics mae";
    assert_eq!(dir.ok(&format!("{command} --models A")), "metric  A\nmae     1.000\n");
    let told = dir.fails(1, command);
    assert!(told.contains("line 2, column `B`: \"inf\" is not finite"), "{told}");
}
