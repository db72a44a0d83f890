//! Tables of other tools: what their columns hold is known, or said.

use serde_json::Value;

use crate::test_directory::{TestDirectory, stderr};

/// Ten days of two series, and forecasts of the last two: 2 above, and as it was.
fn files() -> TestDirectory {
    let dir = TestDirectory::new();
    let mut actual = "unique_id,ds,y\n".to_owned();
    for day in 1..=10 {
        actual += &format!("a,2024-01-{day:02},{day}\nb,2024-01-{day:02},20\n");
    }
    dir.put("a.csv", &actual);
    dir
}

/// Forecasts with these columns, whose numbers are those of the point forecast and of an interval around it.
fn forecasts(header: &str, columns: &[f32]) -> String {
    let mut text = format!("{header}\n");
    for day in [9, 10] {
        for (id, point) in [("a", day as f32 + 2.0), ("b", 20.0)] {
            let numbers: Vec<String> = columns.iter().map(|more| (point + more).to_string()).collect();
            text += &format!("{id},2024-01-{day:02},{}\n", numbers.join(","));
        }
    }
    text
}

#[test]
fn quantiles_without_a_model_are_those_of_the_forecast_beside_them() {
    let dir = files();
    for (header, columns, model, told) in [
        (
            "item_id,timestamp,mean,0.1,0.5,0.9",
            &[0.0, -3.0, 0.0, 3.0][..],
            "mean",
            "read as quantiles: 0.1 as mean_ql0.1, 0.5 as mean_ql0.5, 0.9 as mean_ql0.9",
        ),
        ("item_id,timestamp,p10,p50,p90", &[-3.0, 0.0, 3.0][..], "forecast", "p50 as forecast-median"),
        ("unique_id,ds,q0.1,q0.5,q0.9", &[-3.0, 0.0, 3.0][..], "forecast", "q0.1 as forecast_ql0.1"),
    ] {
        dir.put("f.csv", &forecasts(header, columns));
        let output = dir.run("evaluate --forecast f.csv --actual a.csv --metrics mae,coverage --json");
        let said = stderr(&output);
        assert!(output.status.success() && said.contains(told), "{header}: {said}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["models"], serde_json::json!([model]), "{header}");
        let score = |row: usize| report["scores"][row]["values"][model].as_f64();
        assert_eq!([score(0), score(1)], [Some(1.0), Some(1.0)], "{header}: {report}");
        let plot = stderr(&dir.run("plot --data a.csv --forecast f.csv --out p.svg"));
        assert!(plot.contains(told), "{header}: {plot}");
    }
    // Several forecasts may each have them, and names of programs are none.
    dir.put("g.csv", &forecasts("unique_id,ds,A,B,0.1,0.9", &[0.0, 0.0, -3.0, 3.0]));
    let table = dir.ok("evaluate --forecast g.csv --actual a.csv --metrics mae");
    assert!(table.starts_with("metric  A      B      0.1    0.9"), "{table}");
}

#[test]
fn series_without_any_actual_value_are_named() {
    let dir = files();
    dir.put("f.csv", &forecasts("unique_id,ds,M", &[0.0]).replace("b,", "B2,"));
    let output = dir.run("evaluate --forecast f.csv --actual a.csv --metrics mae");
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("1 of 2 series of the forecasts have no actual value at all, the first B2"),
        "{said}"
    );
    // One that is only not over yet is none of these.
    dir.put("ahead.csv", &forecasts("unique_id,ds,M", &[0.0]).replace("b,2024-01", "b,2024-02"));
    let said = stderr(&dir.run("evaluate --forecast ahead.csv --actual a.csv --metrics mae"));
    assert!(said.contains("have not come true") && !said.contains("no actual value at all"), "{said}");
}

#[test]
fn hours_that_clocks_skipped_are_told_from_rows_that_are_there_twice() {
    let dir = TestDirectory::new();
    let (mut actual, mut forecast) = ("unique_id,ds,y\n".to_owned(), "unique_id,ds,M\n".to_owned());
    for hour in 0..12 {
        actual += &format!("a,2024-03-31 {hour:02}:00:00,{hour}\n");
        if hour > 5 {
            forecast += &format!("a,2024-03-31T{hour:02}:00:00+00:00,{}\n", hour + 1);
        }
    }
    dir.put("a.csv", &actual);
    dir.put("f.csv", &forecast);
    let line = "evaluate --forecast f.csv --actual a.csv --metrics mae";
    let message = dir.fails(1, &format!("{line} --zone Europe/Berlin"));
    assert!(
        message.contains("name its offset (`--zone +01:00`)") && !message.contains("keep one"),
        "{message}"
    );
    assert!(dir.run(&format!("{line} --zone +00:00")).status.success());
}

#[test]
fn steps_that_begin_elsewhere_and_numbers_of_seconds_are_told_with_what_matches_them() {
    let dir = TestDirectory::new();
    let ends = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut actual, mut forecast) = ("unique_id,ds,y\n".to_owned(), "unique_id,ds,M\n".to_owned());
    for (month, end) in (1..).zip(ends) {
        actual += &format!("a,2023-{month:02}-{end},{month}\n");
        if month > 9 {
            forecast += &format!("a,2023-{month:02}-01,{}\n", month + 1);
        }
    }
    dir.put("ends.csv", &actual);
    dir.put("firsts.csv", &forecast);
    let line = "evaluate --forecast firsts.csv --actual ends.csv --metrics mae";
    let message = dir.fails(1, line);
    assert!(
        message.contains("rows every MS") && message.contains("`--resample MS` with `--aggregate sum`"),
        "{message}"
    );
    assert_eq!(dir.ok(&format!("{line} --resample MS --aggregate sum")), "metric  M\nmae     1.000\n");

    // 1 January 2024 is second 1704067200.
    let day = |day: u64| 1_704_067_200 + 86_400 * (day - 1);
    let seconds: String = [9, 10].map(|number| format!("a,{},{}\n", day(number), number + 2)).concat();
    dir.put(
        "days.csv",
        &(1..=10)
            .fold("unique_id,ds,y\n".to_owned(), |text, day| text + &format!("a,2024-01-{day:02},{day}\n")),
    );
    dir.put("seconds.csv", &format!("unique_id,ds,M\n{seconds}"));
    let line = "evaluate --forecast seconds.csv --actual days.csv --metrics mae";
    let message = dir.fails(1, line);
    assert!(message.contains("whole numbers") && message.contains("`--time-format epoch`"), "{message}");
    assert_eq!(dir.ok(&format!("{line} --time-format epoch")), "metric  M\nmae     2.000\n");
}

#[test]
fn a_static_column_is_named_once() {
    let dir = files();
    dir.put("s.csv", "unique_id,size\na,1\nb,2\n");
    let line =
        "fit --data a.csv --static s.csv --model MLP --h 2 --input-size 4 --set max_steps=1 --out m --quiet";
    let message = dir.fails(2, &format!("{line} --static-cols size"));
    assert!(
        message.contains("--static-cols size") && message.contains("leave it out of --static-cols"),
        "{message}"
    );
    dir.ok(line);
}

#[test]
fn forecasts_without_ids_beside_several_series_are_told_what_they_lack() {
    let dir = files();
    dir.put("f.csv", "ds,yhat\n2024-01-09,11\n2024-01-10,12\n");
    let line = "evaluate --forecast f.csv --metrics mae --actual";
    let output = dir.run(&format!("{line} a.csv"));
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("a.csv has several, a and b among them; give the forecasts a column of ids"),
        "{told}"
    );
    // Either way leads to the score.
    let of_a: String = dir
        .read("a.csv")
        .lines()
        .filter(|line| !line.starts_with("b,"))
        .map(|line| format!("{line}\n"))
        .collect();
    dir.put("of_a.csv", &of_a);
    let expected = "metric  yhat\nmae     2.000\n";
    assert_eq!(dir.ok(&format!("{line} of_a.csv")), expected);
    dir.put("f.csv", "unique_id,ds,yhat\na,2024-01-09,11\na,2024-01-10,12\n");
    assert_eq!(dir.ok(&format!("{line} a.csv")), expected);
}
