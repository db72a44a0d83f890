//! What is told beside results that may be worth less than they look.

mod desk;

use serde_json::Value;

use desk::{Desk, LONG, SMALL, long_csv, stderr};

/// The messages of the warnings of a command that succeeds, as its JSON log has them.
fn warnings(desk: &Desk, line: &str) -> Vec<String> {
    let output = desk.run(&format!("{line} --log json"));
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    let events = stderr(&output);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["event"] == "warning")
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn series_that_fit_refuses_are_forecast_with_a_warning() {
    let desk = Desk::new();
    desk.ok(&format!("fit {LONG} --model NLinear,DLinear {SMALL} --out model --log none"));
    desk.put("short.csv", &long_csv().lines().take(1 + 120 + 9).collect::<Vec<_>>().join("\n"));
    let predict = "predict --model model --out forecast.csv --data";
    let told = warnings(&desk, &format!("{predict} short.csv"));
    assert_eq!(told.len(), 1, "{told:?}");
    for part in ["input_size = 14", "south (9 rows)", "NLinear, DLinear read zeros"] {
        assert!(told[0].contains(part), "{part}: {told:?}");
    }
    let text = stderr(&desk.run(&format!("{predict} short.csv")));
    assert!(text.lines().any(|line| line == format!("warning: {}", told[0])), "{text}");
    assert!(warnings(&desk, &format!("{predict} long.csv")).is_empty());

    // Models that were trained on padding know it.
    let padded = "--set start_padding_enabled=true";
    desk.ok(&format!("fit {LONG} --model NLinear {SMALL} {padded} --out model --overwrite --log none"));
    assert!(warnings(&desk, &format!("{predict} short.csv")).is_empty());
}
