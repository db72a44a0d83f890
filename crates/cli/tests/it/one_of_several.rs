//! One series or model that lacks something stops none of the others.

use crate::test_directory::{TestDirectory, date, stderr, wave};

/// Days of three series of which the last has none of 20 days, added up to months and to sums of the series.
#[test]
fn a_hole_of_one_series_leaves_its_month_and_that_of_its_sums_unknown() {
    let dir = TestDirectory::new();
    let mut text = "unique_id,ds,y\n".to_owned();
    for id in ["a", "b", "c"] {
        let is_open = |day: &usize| id != "c" || !(98..118).contains(day);
        (0..366).filter(is_open).for_each(|day| text += &format!("{id},{},{}\n", date(day), 1 + day % 3));
    }
    dir.put("days.csv", &text);
    dir.put("labels.csv", "unique_id,region\na,north\nb,north\nc,south\n");
    let months = "--data days.csv --resample MS --aggregate sum";
    let output = dir.run(&format!("aggregate {months} --levels region --static labels.csv"));
    let (sums, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    for sentence in [
        "the sum of 1 period (`MS`) is not known, nor what it is part of",
        "series `c` has no values between 2024-04-07 and 2024-04-28",
        "--fill zero",
    ] {
        assert!(told.contains(sentence), "{sentence}: {told}");
    }
    let cell = |id: &str, month: &str| {
        let row = sums.lines().find(|line| line.starts_with(&format!("{id},{month},"))).expect("a row");
        row.split(',').nth(2).expect("a cell").to_owned()
    };
    for id in ["c", "south", "Total"] {
        assert_eq!(cell(id, "2024-04-01"), "", "{id}");
    }
    // Days 91 to 120 of the year, from 2 on: 2, 3, 1 and so on.
    assert_eq!([cell("a", "2024-04-01"), cell("north", "2024-04-01")], ["60.0", "120.0"]);
    assert_eq!([cell("c", "2024-03-01"), cell("Total", "2024-03-01")], ["61.0", "183.0"]);
    let forecast = dir.ok(&format!("forecast {months} --h 2 --log none"));
    assert_eq!(forecast.lines().count(), 1 + 3 * 2, "{forecast}");
    dir.ok(&format!(
        "fit {months} --levels region --static labels.csv --model SeasonalNaive --h 2 --out m --log none"
    ));
    let forecast = dir.ok(&format!("predict --model m {}", "--data days.csv"));
    assert_eq!(forecast.lines().count(), 1 + 6 * 2, "{forecast}");
}

#[test]
fn a_model_that_lacks_one_value_is_not_reconciled_and_the_others_are() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "unique_id,ds,M,N\nsum,2024-03-01,12,12\na,2024-03-01,4,\nb,2024-03-01,5,5\n");
    dir.put("s.csv", "unique_id,a,b\nsum,1,1\na,1,0\nb,0,1\n");
    let output = dir.run("reconcile --forecast f.csv --hierarchy s.csv --method MinTraceOLS");
    let told = stderr(&output);
    assert!(
        told.contains("left out: N (series a at 2024-03-01 in f.csv); complete their forecasts"),
        "{told}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "unique_id,ds,M\nsum,2024-03-01,11.0\na,2024-03-01,5.0\nb,2024-03-01,6.0\n");
}

/// The file that lacks the value is named, which is not the one of the steps.
#[test]
fn a_model_that_lacks_a_sum_is_left_out_with_the_file_of_the_sums() {
    let dir = TestDirectory::new();
    let half = |k: usize| format!("a,2024-01-0{} {:02}:00:00,1,2\n", 1 + k / 2, 12 * (k % 2));
    dir.put("halves.csv", &format!("unique_id,ds,M,N\n{}", (0..4).map(half).collect::<String>()));
    dir.put("days.csv", "unique_id,ds,M,N\na,2024-01-01,4,4\na,2024-01-02,2,\n");
    let output = dir.run("reconcile --forecast halves.csv --temporal 24h=days.csv");
    let told = stderr(&output);
    assert!(told.contains("left out: N (series a at 2024-01-02") && told.contains("in days.csv)"), "{told}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("unique_id,ds,M\n"), "{text}");
}

/// The others have their kept window, and the sentence on the windows that the short one does not have is in the answer.
#[test]
fn a_short_series_leaves_the_kept_window_of_a_search() {
    let dir = TestDirectory::new();
    let mut text = "unique_id,ds,y\n".to_owned();
    for (id, first) in [("a", 0), ("b", 0), ("new", 55)] {
        (first..60).for_each(|day| text += &format!("{id},{},{}\n", date(day), wave(day, first as f64)));
    }
    dir.put("d.csv", &text);
    let tune = "tune --data d.csv --model SeasonalNaive,AutoTheta --h 4 --season 7 --combine 2 --out best";
    let output = dir.run(&format!("{tune} --json"));
    let told = stderr(&output);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    assert!(json["kept"]["score"].is_f64() && json["kept"]["baseline"].is_f64(), "{json}");
    // Beside the kept window the short one has a row.
    let sentence = json["fewer_windows"].as_str().unwrap();
    assert!(
        sentence.starts_with("2 of the 3 windows asked for") && sentence.contains("new (5"),
        "{sentence}"
    );
    assert!(told.contains(sentence), "{told}");
    assert!(sentence.contains("whose last 4 rows are kept for the score"), "{sentence}");
    assert!(sentence.ends_with("(`--drop-short`)"), "there are no fewer windows than one: {sentence}");
    // What it says.
    let output = dir.run(&format!("{} --json --drop-short", tune.replace("best", "two")));
    let told = stderr(&output);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    assert!(json["fewer_windows"].is_null() && json["kept"]["score"].is_f64(), "{json}");
    assert!(told.contains("new (5)"), "{told}");
    let forecast = dir.ok("predict --model best --data d.csv");
    assert_eq!(forecast.lines().count(), 1 + 3 * 4, "{forecast}");
}
