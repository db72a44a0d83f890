//! What was chosen of each series, and the parts of forecasts.

use foretell_calendar::Freq;
use foretell_data::{Panel, Span, Vocabulary};
use foretell_estimator::{Asked, HeldOut, Run, Trained, Verdict, Workers};
use serde_json::json;

use crate::ESTIMATORS;

/// A level that is far from zero for its steps, a week around a line, and a series too short for all: in the order of their ids.
fn panel() -> Panel {
    let noise = |t: u32| f64::from(t * 7919 % 101) / 50.0;
    let week = |t: u32| 5.0 * f64::from(t % 7) + 0.3 * f64::from(t) + noise(t);
    let of = |value: &dyn Fn(u32) -> f64, rows: u32| (0..rows).map(|t| value(t) as f32).collect::<Vec<_>>();
    let level = |t: u32| 1000.0 + noise(t);
    let series = [("level", 0, of(&level, 70)), ("line", 0, of(&week, 70)), ("short", 0, vec![1.0, 3.0])];
    Panel::from_series(Freq::parse("D").expect("days"), series).expect("a panel")
}

fn fitted(name: &str, panel: &Panel, workers: &Workers) -> Box<dyn Trained> {
    let entry = ESTIMATORS.iter().find(|entry| entry.name == name).expect("an estimator");
    let mut estimator = (entry.new)(10);
    if name == "ARIMA" {
        estimator.set("order", json!([1, 1, 0])).expect("orders");
        estimator.set("include_drift", json!(true)).expect("a flag");
    }
    let (vocabulary, listen) = (Vocabulary::new(), &mut |_: &_| Verdict::Continue);
    estimator.fit(panel, HeldOut::default(), Run::alone(workers, &vocabulary, listen)).expect("a fit")
}

#[test]
fn forms_are_told_in_the_usual_notation() {
    let (panel, workers) = (panel(), Workers::new(1).expect("a thread"));
    for (name, start, first) in [
        ("AutoETS", "ETS(", "alpha"),
        ("HoltWinters", "ETS(A,A,A)", "alpha"),
        ("AutoTheta", "", "alpha"),
        ("Theta", "STM", "alpha"),
        ("ARIMA", "ARIMA(1,1,0) with drift", "ar1"),
        ("MSTL", "STL[7] + ETS(", "alpha"),
    ] {
        let trained = fitted(name, &panel, &workers);
        let line = trained.described(1).expect("the second series");
        assert_eq!(line.series, "line");
        assert!(line.form.starts_with(start) && line.numbers[0].0 == first, "{name}: {line:?}");
        assert!(line.numbers.iter().all(|(_, value)| value.is_finite()), "{line:?}");
        let short = trained.described(2).expect("the last series");
        assert_eq!((&*short.form, short.numbers.len()), ("last value", 0), "{name}");
        assert_eq!(trained.described(3), None);
    }
    // The slope of the line is its drift.
    let arima = fitted("ARIMA", &panel, &workers).described(1).expect("the second series");
    let drift = arima.numbers.iter().find(|(name, _)| name == "drift").expect("a drift").1;
    assert!((drift - 0.7).abs() < 0.5, "{arima:?}");
    assert_eq!(fitted("Naive", &panel, &workers).described(0), None);
}

#[test]
fn parts_add_up_to_the_forecast() {
    let (panel, workers) = (panel(), Workers::new(1).expect("a thread"));
    let asked = Asked { span: Span::Predict { future: None }, h: 10, quantiles: None };
    for (name, last) in
        [("AutoETS", "season"), ("HoltWinters", "season"), ("AutoTheta", "season"), ("MSTL", "season_7")]
    {
        let trained = fitted(name, &panel, &workers);
        let forecast = trained.forecast(&panel, &asked, &workers).expect("a forecast").values;
        let parts = trained.parts(&panel, None, 10, &workers).expect("it has parts").expect("parts");
        let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
        assert_eq!(names, ["level", "trend", last], "{name}");
        for (row, value) in forecast.iter().enumerate() {
            let sum: f32 = parts.iter().map(|part| part.values[row]).sum();
            assert!((sum - value).abs() < 1e-4 * value.abs().max(1.0), "{name} {row}: {sum}, {value}");
        }
        let moves = |values: &[f32]| values[10..17].iter().any(|value| value.abs() > 1.0);
        assert!(moves(&parts[2].values), "the week of the second series by {name}: {:?}", parts[2].values);
    }
    assert!(fitted("ARIMA", &panel, &workers).parts(&panel, None, 10, &workers).is_none());
}
