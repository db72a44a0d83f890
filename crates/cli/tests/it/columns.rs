//! What the columns of a table of forecasts hold: all commands that read such tables say the same of it, whatever their names.

use serde_json::Value;

use crate::test_directory::{TestDirectory, stderr};

/// The columns of each model, by all names that foretell and other tools write.
const MODELS: [(&str, &[&str]); 9] = [
    ("A", &["A", "A-lo-90", "A-lo-80", "A-hi-80", "A-hi-90"]),
    ("B", &["B-median", "B-lo-80.0", "B-hi-80.0"]),
    ("AutoETS", &["AutoETS", "AutoETS_ql0.1", "AutoETS_ql0.5", "AutoETS_ql0.9"]),
    ("C", &["C", "C-ql0.1", "C-ql0.9"]),
    ("D", &["D_q0.5_d1.0"]),
    ("TimeGPT", &["TimeGPT", "TimeGPT-q-10", "TimeGPT-q-90"]),
    ("F", &["F", "F-sample-0", "F-sample-1"]),
    ("G", &["G", "G-loc", "G-scale", "G-df", "G-lo-80", "G-hi-80", "G:trend"]),
    ("H", &["H", "H-lo", "H-hi", "H-anomaly", "H-score", "H-rank"]),
];

/// What is no forecast of a value, and added up by no one.
const NO_VALUES: [&str; 11] = [
    "F-sample-0", "F-sample-1", "G-loc", "G-scale", "G-df", "G:trend", "H-lo", "H-hi", "H-anomaly",
    "H-score", "H-rank",
];

/// Series of 30 days, their sum, and forecasts of the last two days.
fn files() -> TestDirectory {
    let dir = TestDirectory::new();
    let mut data = "unique_id,ds,y\n".to_owned();
    for (id, base) in [("x", 1), ("y", 10)] {
        for day in 1..=30 {
            data += &format!("{id},2024-01-{day:02},{}\n", base + day / 7);
        }
    }
    dir.put("data.csv", &data);
    dir.put("labels.csv", "unique_id,country\nx,N\ny,N\n");
    let names = names();
    let mut forecast = format!("unique_id,ds,sample_id,{}\n", names.join(","));
    for id in ["x", "y"] {
        for day in [29, 30] {
            let values: Vec<String> = (0..names.len()).map(|place| (place + day).to_string()).collect();
            forecast += &format!("{id},2024-01-{day},0,{}\n", values.join(","));
        }
    }
    dir.put("f.csv", &forecast);
    dir
}

/// The JSON that a page's script reads.
fn facts(page: &str) -> Value {
    let start = page.split("<script type=\"application/json\" id=\"facts\">").nth(1).expect("facts");
    serde_json::from_str(start.split("</script>").next().unwrap()).unwrap()
}

fn names() -> Vec<&'static str> {
    MODELS.iter().flat_map(|(_, columns)| columns.iter().copied()).collect()
}

#[test]
fn commands_that_read_forecasts_say_the_same_of_their_columns() {
    let dir = files();
    let models = MODELS.map(|(model, _)| model);
    let with_intervals = ["A", "B", "AutoETS", "C", "TimeGPT", "G"];

    let scores: Value =
        serde_json::from_str(&dir.ok("evaluate --forecast f.csv --actual data.csv --json")).unwrap();
    assert_eq!(scores["models"], serde_json::json!(models));
    let coverage = |model: &str| {
        let row = scores["scores"].as_array().unwrap().iter().find(|row| row["metric"] == "coverage_level80");
        row.expect("a coverage")["values"][model].is_number()
    };
    assert_eq!(models.into_iter().filter(|model| coverage(model)).collect::<Vec<_>>(), with_intervals);

    let page = dir.ok("report --data data.csv --forecast f.csv --out -");
    let facts = facts(&page);
    assert_eq!(facts["steps"]["models"], serde_json::json!(models));
    for (model, drawn) in models.into_iter().zip(facts["models"].as_array().unwrap()) {
        assert_eq!(drawn["name"], model);
        let has_level = drawn["levels"].as_array().unwrap().contains(&"80".into());
        assert_eq!(has_level, with_intervals.contains(&model), "{model}: {drawn}");
    }

    let output = dir.run("plot --data data.csv --forecast f.csv --out f.svg");
    let told = format!("wrote f.svg: 2 series, {}", models.join(", "));
    assert!(stderr(&output).contains(&told), "{}", stderr(&output));
    let picture = dir.read("f.svg");
    assert!(picture.contains("80 % interval") && picture.contains("90 % interval"), "{picture}");

    let coherent =
        dir.ok("reconcile --forecast f.csv --levels country --static labels.csv --method BottomUp");
    let values: Vec<&str> = names().into_iter().filter(|name| !NO_VALUES.contains(name)).collect();
    assert_eq!(coherent.lines().next().unwrap(), format!("unique_id,ds,{}", values.join(",")));
}

#[test]
fn quantiles_of_predict_are_intervals_to_plot_and_report() {
    let dir = files();
    dir.ok("fit --data data.csv --model AutoETS --h 2 --out model --log none");
    dir.ok("predict --model model --data data.csv --quantiles 0.1,0.5,0.9 --out ahead.csv");
    assert!(
        dir.read("ahead.csv").starts_with("unique_id,ds,AutoETS,AutoETS_ql0.1,AutoETS_ql0.5,AutoETS_ql0.9\n")
    );
    let output = dir.run("plot --data data.csv --forecast ahead.csv --out a.svg");
    assert!(stderr(&output).trim_end().ends_with("wrote a.svg: 2 series, AutoETS"), "{}", stderr(&output));
    assert!(dir.read("a.svg").contains("80 % interval"));
    let page = dir.ok("report --data data.csv --forecast ahead.csv --out -");
    assert_eq!(facts(&page)["models"], serde_json::json!([{"name": "AutoETS", "levels": ["80"]}]));
}

#[test]
fn tables_without_forecasts_are_refused_alike() {
    let dir = files();
    for (columns, told) in
        [("G:level,G:trend", "no column of forecasts"), ("G:baseline,G:y@0", "contributions of inputs")]
    {
        dir.put("parts.csv", &format!("unique_id,ds,{columns}\nx,2024-01-29,1,2\ny,2024-01-29,1,2\n"));
        for line in [
            "evaluate --forecast parts.csv --actual data.csv",
            "report --data data.csv --forecast parts.csv",
            "reconcile --forecast parts.csv --levels country --static labels.csv --method BottomUp",
        ] {
            let output = dir.run(line);
            assert!(!output.status.success(), "{line}");
            assert!(
                stderr(&output).contains("has no column of forecasts beside"),
                "{line}: {}",
                stderr(&output)
            );
        }
        match told {
            "contributions of inputs" => {
                let message = dir.fails(2, "plot --data data.csv --forecast parts.csv");
                assert!(message.contains(told), "{message}");
            }
            _ => assert!(dir.run("plot --data data.csv --forecast parts.csv").status.success()),
        }
    }
}
