//! Forecasts of AutoCES and MFLES are those of statsforecast; `compare/ces_mfles.py` wrote them.

use serde_json::{Value, json};

use super::statsforecast::{learn_and_forecast, numbers};

/// Where the criterion of AutoCES stands in what was learned, behind its form and parameters.
const CRITERION: usize = 5;

/// The score of 90 % of a normal distribution.
const SCORE: f64 = 1.281_551_565_5;

#[test]
fn forecasts_are_those_of_statsforecast() {
    let fixture: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/ces_mfles.json")).expect("JSON");
    let known: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/classical.json")).expect("JSON");
    let h = fixture["h"].as_u64().expect("a number") as usize;
    let (mut failures, mut flat) = (Vec::new(), 0);
    for case in fixture["cases"].as_array().expect("cases") {
        let name = case["series"].as_str().expect("a name");
        let [own, others] = [&fixture, &known].map(|fixture| numbers(&fixture["series"][name]));
        let y = if own.is_empty() { others } else { own };
        let mean = numbers(&case["mean"]);
        // How far a forecast is from statsforecast's, by the mean size of a value.
        let size = y.iter().map(|y| y.abs()).sum::<f64>() / y.len() as f64;
        let far = |found: &[f32]| {
            let means = found.iter().step_by(found.len() / h).zip(&mean);
            means.map(|(a, b)| (f64::from(*a) - b).abs() / size).fold(0.0, f64::max)
        };
        let mut fails = |what: String| {
            failures.push(format!("{name} {} {}: {what}", case["model"], case["settings"]));
        };
        if case["model"] == "MFLES" {
            let (_, found) = learn_and_forecast(case, &y, h);
            if far(&found) > 1e-3 {
                fails(format!("{:.1e}", far(&found)));
            }
            continue;
        }
        // With its parameters; statsforecast holds states in 32 bits, which sixteen values show.
        let (learned, found) = learn_and_forecast(case, &y, h);
        let width =
            f64::from(found[2] - found[1]) / (2.0 * SCORE * case["deviation"].as_f64().expect("a number"));
        if far(&found) > if name == "short" { 5e-3 } else { 1e-3 } || (width - 1.0).abs() > 5e-3 {
            fails(format!("with its parameters {:.1e}, width {width}", far(&found)));
        }
        // With its own, which are as likely: where many are, the search ends at one or another.
        let theirs = numbers(&case["learned"]);
        if learned[0] != theirs[0] || learned[CRITERION] > theirs[CRITERION] + 0.01 {
            fails(format!("{learned:?} in place of {theirs:?}"));
        }
        let mut own = case.clone();
        own["learned"] = json!(null);
        let far = far(&learn_and_forecast(&own, &y, h).1);
        flat += usize::from(far > 1e-3);
        if far > 0.05 {
            fails(format!("{far:.1e}"));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(flat <= 12, "{flat} of 64 forecasts of AutoCES are farther off than a thousandth");
}
