//! AutoARIMA with columns is that of statsforecast; `compare/arimax.py` wrote what it forecasts.

use foretell_calendar::{Freq, TimeKind};
use foretell_data::{Future, Panel, Span, Vocabulary};
use foretell_estimator::{Asked, Estimator as _, HeldOut, Run, Trained, Verdict, Workers};
use serde_json::Value;

use crate::{AutoArima, Classical, TrainedClassical};

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

#[test]
fn forecasts_and_slopes_with_columns_are_those_of_statsforecast() {
    let fixture: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/arimax.json")).expect("JSON");
    let mut failures = Vec::new();
    for case in fixture.as_array().expect("cases") {
        let y: Vec<f32> = numbers(&case["y"]).iter().map(|&y| y as f32).collect();
        let columns: Vec<Vec<f32>> = case["columns"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|column| numbers(column).iter().map(|&x| x as f32).collect())
            .collect();
        let (mean, low, high) = (numbers(&case["mean"]), numbers(&case["low"]), numbers(&case["high"]));
        let names: Vec<String> = (0..columns.len()).map(|i| format!("x{i}")).collect();
        let freq = Freq::parse("D").expect("days");
        let times = freq.times(0, y.len()).expect("times");
        let mut builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times, &y);
        for (name, column) in names.iter().zip(&columns) {
            builder = builder.column(name, &column[..y.len()]);
        }
        let panel = builder.build().expect("a panel");
        let ahead: Vec<(&str, &[f32])> =
            names.iter().map(String::as_str).zip(columns.iter().map(|column| &column[y.len()..])).collect();
        let future = Future::new(&panel, mean.len(), &ahead).expect("columns");
        let mut arima = Classical::<AutoArima>::new(mean.len());
        arima.set("season_length", case["season"].clone()).expect("a season");
        arima.set("futr_exog_list", names.into()).expect("columns");
        let (workers, vocabulary) = (Workers::new(1).expect("a thread"), Vocabulary::new());
        let listen = &mut |_: &_| Verdict::Continue;
        let run = Run::alone(&workers, &vocabulary, listen);
        let trained: Box<dyn Trained> = arima.fit(&panel, HeldOut::default(), run).expect("a fit");
        let span = Span::Predict { future: Some(&future) };
        let asked = Asked { span, h: mean.len(), quantiles: Some(&[0.1, 0.9]) };
        let found = trained.forecast(&panel, &asked, &workers).expect("a forecast").values;
        let any: Box<dyn std::any::Any> = trained;
        let trained = any.downcast::<TrainedClassical<AutoArima>>().expect("AutoARIMA");
        let slopes = trained.slopes("a").expect("slopes");
        let width = high[0] - low[0];
        let rows = found.chunks_exact(3).zip(&mean).zip(low.iter().zip(&high));
        let far = rows
            .map(|((row, mean), (low, high))| {
                let off = |found: f32, expected: &f64| (f64::from(found) - expected).abs() / width;
                off(row[0], mean).max(off(row[1], low)).max(off(row[2], high))
            })
            .fold(0.0, f64::max);
        let expected = numbers(&case["slopes"]);
        let steep =
            slopes.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f64::max);
        if far > 0.01 || steep > 0.01 || slopes.len() != expected.len() {
            let head = &trained.learned().numbers["numbers"];
            failures.push(format!(
                "{}: {far:.4} of the width, slopes {slopes:.3?}, not {expected:.3?}; {:?}, not {}",
                case["name"],
                &head[1..8],
                case["arma"]
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
