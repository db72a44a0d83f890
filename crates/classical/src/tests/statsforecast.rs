//! Forecasts and intervals are those of statsforecast; `compare/classical.py` wrote them.

use foretell_calendar::Freq;
use foretell_data::{Panel, Span, Vocabulary};
use foretell_estimator::{Asked, HeldOut, Run, Verdict, Workers};
use serde_json::Value;

use crate::ESTIMATORS;

/// How far a forecast, and the width of its interval at the last step, may be from statsforecast's, in units of the deviation of the
/// series and of the width. `None` where the interval is not compared.
fn tolerance(case: &Value, y: &[f64]) -> (f64, Option<f64>) {
    // statsforecast's search for the parameters of Theta ends at an absolute tolerance, so that its forecasts depend on the unit; those of
    // foretell are what it finds of values of this size.
    let size = y.iter().map(|y| y.abs()).sum::<f64>() / y.len() as f64;
    let of_theta = if (16.0..32.0).contains(&size) { 2e-6 } else { 1e-2 };
    let form = case["form"].as_str().unwrap_or_default();
    match case["model"].as_str().unwrap_or_default() {
        // In statsforecast the interval is that of samples: of 200 the ends vary by a tenth; with a season they are scaled twice.
        "AutoTheta" | "Theta" | "OptimizedTheta" | "DynamicTheta" | "DynamicOptimizedTheta" => {
            (of_theta, None)
        }
        // In statsforecast the variance does not grow from step to step with a seasonal factor, and MAA multiplies what it should add.
        "AutoETS" | "ETS" if &form[2..3] == "M" || form.starts_with("MAA") => (3e-2, None),
        // A search in thirty dimensions ends elsewhere if a last digit differs.
        "AutoETS" | "ETS" if &form[2..3] == "A" => (0.1, Some(0.02)),
        "ARIMA" | "AutoARIMA" => (1e-3, Some(1e-3)),
        _ => (2e-6, Some(2e-5)),
    }
}

pub(super) fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// The numbers learned of a series, and its forecast: of each step the mean, and the ends of the interval if there are any. The forecast of
/// an ARIMA model is that with statsforecast's coefficients.
pub(super) fn learn_and_forecast(case: &Value, y: &[f64], h: usize) -> (Vec<f64>, Vec<f32>) {
    let entry = ESTIMATORS.iter().find(|entry| case["model"] == entry.name).expect("an estimator");
    let mut estimator = (entry.new)(h);
    for (name, value) in case["settings"].as_object().expect("settings") {
        estimator.set(name, value.clone()).expect("a hyper-parameter");
    }
    let y: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    let panel = Panel::from_series(Freq::parse("D").expect("days"), [("a", 0, y)]).expect("a panel");
    let (workers, vocabulary) = (Workers::new(1).expect("a thread"), Vocabulary::new());
    let listen = &mut |_: &_| Verdict::Continue;
    let run = Run::alone(&workers, &vocabulary, listen);
    let mut trained = estimator.fit(&panel, HeldOut::default(), run).expect("a fit");
    let mut learned = trained.learned();
    let own = learned.numbers.get("numbers").cloned().unwrap_or_default();
    if case["learned"].is_array() {
        learned.numbers.insert("numbers".to_owned(), numbers(&case["learned"]));
        trained = (entry.restore)(trained.estimator().boxed(), learned).expect("a model");
    }
    let quantiles = case["low"].is_array().then_some(&[0.1, 0.9][..]);
    let asked = Asked { span: Span::Predict { future: None }, h, quantiles };
    (own, trained.forecast(&panel, &asked, &workers).expect("a forecast").values)
}

#[test]
fn forecasts_are_those_of_statsforecast() {
    let fixture: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/classical.json")).expect("JSON");
    let h = fixture["h"].as_u64().expect("a number") as usize;
    let mut failures = Vec::new();
    for case in fixture["cases"].as_array().expect("cases") {
        let y = numbers(&fixture["series"][case["series"].as_str().expect("a name")]);
        let (of_mean, of_width) = tolerance(case, &y);
        let (mean, low, high) = (numbers(&case["mean"]), numbers(&case["low"]), numbers(&case["high"]));
        let (learned, found) = learn_and_forecast(case, &y, h);
        let rows: Vec<&[f32]> = found.chunks_exact(found.len() / h).collect();
        let deviation = deviation(&y);
        let off = |(row, mean): (&&[f32], &f64)| (f64::from(row[0]) - mean).abs() / deviation;
        let far = rows.iter().zip(&mean).map(off).fold(0.0, f64::max);
        let wide = low.last().zip(high.last()).map_or(0.0, |(low, high)| {
            let last = rows[h - 1];
            (f64::from(last[2] - last[1]) / (high - low) - 1.0).abs()
        });
        let is_near = far <= of_mean && of_width.is_none_or(|of_width| wide <= of_width);
        // As likely as statsforecast's, by the criterion of Akaike.
        let other = numbers(&case["learned"]);
        let is_likely = other.is_empty() || learned.get(CRITERION) <= Some(&(other[CRITERION] + 0.01));
        // The same orders are found, or likelier ones.
        let are_found = case["model"] != "AutoARIMA"
            || learned.get(..MEAN) == other.get(..MEAN)
            || learned.get(CRITERION) < Some(&(other[CRITERION] - 0.01));
        if !is_near || !is_likely || !are_found {
            failures.push(format!(
                "{} {} {} {}: mean {far:.1e}, width {wide:.1e}, {learned:.3?}, {other:.3?}",
                case["series"], case["model"], case["settings"], case["form"]
            ));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// Where the mean of an ARIMA model's differences stands in what was learned, behind its orders.
pub(super) const MEAN: usize = 8;

/// Where the criterion of an ARIMA model stands in what was learned.
pub(super) const CRITERION: usize = 10;

fn deviation(y: &[f64]) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64).sqrt()
}
