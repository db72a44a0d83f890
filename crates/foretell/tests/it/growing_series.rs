//! Recurrent networks that read a series step by step forecast what they forecast from whole windows.

use foretell::{Fitted, Forecaster, Freq, ModelSpec, NetworkError, Panel, StepForecaster, json};

const H: usize = 5;
const INPUT: usize = 16;

/// Values of a series with a season of 8 steps and a rise.
fn values(steps: usize) -> Vec<f32> {
    (0..steps).map(|t| 20.0 + 0.1 * t as f32 + (t as f32 * std::f32::consts::TAU / 8.0).sin()).collect()
}

fn panel(steps: usize) -> Panel {
    Panel::from_series(Freq::parse("D").expect("days"), [("a", 0, values(steps))]).expect("a panel")
}

fn fitted(model: &str, own: &[(&str, foretell::Value)]) -> Fitted {
    let mut spec = ModelSpec::new(model, H, INPUT).expect("a model").set("max_steps", 3).expect("steps");
    for (name, value) in own {
        spec = spec.set(name, value.clone()).expect("a hyper-parameter");
    }
    Forecaster::new([spec]).expect("a model").fit(&panel(80)).expect("a fit")
}

fn start(fitted: &Fitted, history: &[f32]) -> Result<StepForecaster, NetworkError> {
    fitted.models()[0].network().expect("a network").step_forecaster(history)
}

/// Compares forecasts on the scale of the series.
#[track_caller]
fn assert_same(found: &[f32], expected: &[f32], scale: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let far = found.iter().zip(expected).find(|(a, b)| (**a - **b).abs() > 1e-6 * scale);
    assert!(far.is_none(), "{what}: {far:?}, scale {scale}");
}

#[test]
fn a_series_that_grows_is_forecast_as_from_whole_windows() {
    for model in ["RNN", "LSTM", "GRU"] {
        for recurrent in [false, true] {
            for scaler in ["standard", "identity", "invariant"] {
                let own = [("recurrent", json!(recurrent)), ("scaler_type", json!(scaler))];
                let fitted = fitted(model, &own);
                let seen = INPUT + usize::from(recurrent);
                let y = values(80);
                let mut growing = start(&fitted, &y[80 - seen..]).expect("a start");
                let whole = fitted.predict(&panel(80), None).expect("a forecast");
                let what = format!("{model}, recurrent {recurrent}, {scaler}");
                assert_same(&growing.forecast(), whole.column(model).expect("a column"), 30.0, &what);
                // Forecasting changes nothing.
                assert_eq!(growing.forecast(), growing.forecast());
                if scaler != "identity" {
                    continue;
                }
                let longer = values(90);
                for end in 81..=90 {
                    growing.read(longer[end - 1]).expect("a number");
                    let whole = start(&fitted, &longer[80 - seen..end]).expect("a start");
                    assert_same(&growing.forecast(), &whole.forecast(), 30.0, &format!("{what} at {end}"));
                }
            }
        }
    }
}

#[test]
fn shift_and_scale_are_those_of_the_start() {
    let fitted = fitted("LSTM", &[("scaler_type", json!("standard"))]);
    let (y, moved) = (values(40), |y: &f32| 3.0 * y - 100.0);
    let mut plain = start(&fitted, &y[..INPUT]).expect("a start");
    let shifted: Vec<f32> = y.iter().map(moved).collect();
    let mut other = start(&fitted, &shifted[..INPUT]).expect("a start");
    for (y, shifted) in y[INPUT..].iter().zip(&shifted[INPUT..]) {
        plain.read(*y).expect("a number");
        other.read(*shifted).expect("a number");
    }
    // A series on another scale is forecast alike, as its start is.
    let expected: Vec<f32> = plain.forecast().iter().map(moved).collect();
    let far =
        other.forecast().iter().zip(&expected).find(|(a, b)| (**a - **b).abs() > 2e-3).map(|(a, b)| (*a, *b));
    assert!(far.is_none(), "{far:?}");
    let mean = y[..INPUT].iter().sum::<f32>() / INPUT as f32;
    assert!((plain.scaling().loc - mean).abs() < 1e-4);
}

#[test]
fn distributions_and_quantiles_have_their_columns() {
    let level = [80, 90];
    let quantiles = json!({ "MQLoss": { "level": level } });
    let normal = json!({ "DistributionLoss": { "distribution": "Normal", "level": level } });
    for (loss, columns, draws) in [(quantiles, 5, false), (normal, 6, true)] {
        for recurrent in [false, true] {
            let fitted = fitted("GRU", &[("loss", loss.clone()), ("recurrent", json!(recurrent))]);
            let y = values(80);
            let growing = match start(&fitted, &y[60..]) {
                Ok(growing) => growing,
                Err(error) => {
                    assert!(recurrent && draws && error.to_string().contains("sample paths"), "{error}");
                    continue;
                }
            };
            assert_eq!(growing.forecast().len(), H * columns, "{loss}, recurrent {recurrent}");
        }
    }
}

#[test]
fn refused_models_and_values_are_named() {
    let refused =
        |fitted: &Fitted, history: &[f32]| start(fitted, history).expect_err("it cannot").to_string();
    let nhits = fitted("NHITS", &[]);
    let found = refused(&nhits, &values(80));
    assert_eq!(
        found,
        "NHITS cannot forecast step by step: it sees its window at once; choose LSTM, GRU or RNN, or forecast from \
         whole windows"
    );
    let lstm = fitted("LSTM", &[]);
    assert!(refused(&lstm, &values(15)).contains("starts from 16 steps or more, found 15"));
    let gap = refused(&lstm, &[&values(20)[..], &[f32::NAN]].concat());
    assert!(gap.contains("must be a finite number") && gap.contains("found NaN"), "{gap}");
    let mut growing = start(&lstm, &values(20)).expect("a start");
    let before = growing.forecast();
    assert!(growing.read(f32::INFINITY).is_err());
    assert_eq!(growing.forecast(), before);
}
