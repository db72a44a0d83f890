//! Scalers of windows and of whole series, from a panel to forecasts on its scale.

use foretell::{Fitted, Forecaster, Freq, LocalScaler, ModelSpec, Panel, ValidationOptions};

/// Two series of 80 days far apart in level; the last `changed` rows of the second are others.
fn panel(changed: usize) -> Panel {
    let wave = |level: f32, unit: f32, changed: usize| -> Vec<f32> {
        (0..80)
            .map(|day| match day + changed >= 80 {
                true => 9.0 * level,
                false => level + unit * (day as f32 * 0.9).sin(),
            })
            .collect()
    };
    let series = [("small", 0, wave(3.0, 1.0, 0)), ("large", 0, wave(5000.0, 900.0, changed))];
    Panel::from_series(Freq::parse("D").unwrap(), series).unwrap()
}

fn spec(model: &str) -> ModelSpec {
    let steps = |spec: ModelSpec| spec.set("max_steps", 150).unwrap().set("learning_rate", 1e-2).unwrap();
    steps(ModelSpec::new(model, 7, 21).unwrap())
}

#[test]
fn forecasts_are_on_the_scale_of_each_series() {
    for scaler in LocalScaler::ALL {
        let forecaster = Forecaster::new([spec("NLinear")]).unwrap().threads(1).local_scaler(scaler);
        let fitted = forecaster.fit(&panel(0)).unwrap();
        let forecast = fitted.predict(&panel(0), None).unwrap();
        let values = forecast.column("NLinear").unwrap();
        // Series are in the order of their ids: large, small.
        for (step, (large, small)) in values[..7].iter().zip(&values[7..]).enumerate() {
            let wave = ((80 + step) as f32 * 0.9).sin();
            assert!((large - (5000.0 + 900.0 * wave)).abs() < 450.0, "{scaler}: {values:?}");
            assert!((small - (3.0 + wave)).abs() < 0.5, "{scaler}: {values:?}");
        }
        let home = tempfile::tempdir().unwrap();
        fitted.save(home.path().join("model"), false).unwrap();
        let loaded = Fitted::load(home.path().join("model")).unwrap().threads(1).unwrap();
        assert_eq!(loaded.predict(&panel(0), None).unwrap().columns, forecast.columns, "{scaler}");
    }
}

#[test]
fn what_is_to_be_forecast_is_not_seen_by_the_scalers() {
    for scaler in [LocalScaler::Standard, LocalScaler::MinMax] {
        let forecasts = |changed| {
            let forecaster = Forecaster::new([spec("MLP").set("hidden_size", 8).unwrap()]).unwrap();
            let forecaster = forecaster.threads(1).val_size(7).local_scaler(scaler);
            let validation =
                forecaster.cross_validate(&panel(changed), &ValidationOptions::new(1, 7)).unwrap();
            (validation.frame.column("MLP").unwrap().to_vec(), validation.frame.column("y").unwrap().to_vec())
        };
        let ((same, truth), (again, other)) = (forecasts(0), forecasts(7));
        assert_eq!(same, again, "{scaler}");
        assert_eq!((other[6], truth[13] < 5.0), (45_000.0, true), "the truth is on the scale of the data");
    }
}

#[test]
fn every_window_scaler_trains_and_comes_back() {
    let home = tempfile::tempdir().unwrap();
    for scaler in ["minmax1", "invariant", "revin"] {
        let spec = spec("NLinear").set("scaler_type", scaler).unwrap();
        let fitted = Forecaster::new([spec]).unwrap().threads(1).fit(&panel(0)).unwrap();
        let forecast = fitted.predict(&panel(0), None).unwrap();
        let large = forecast.column("NLinear").unwrap()[0];
        assert!((large - (5000.0 + 900.0 * (80.0_f32 * 0.9).sin())).abs() < 450.0, "{scaler}: {large}");
        let parameters = fitted.models()[0].parameters();
        assert_eq!(parameters, 21 * 7 + 7, "{scaler}: no more to train");
        let dir = home.path().join(scaler);
        fitted.save(&dir, false).unwrap();
        let loaded = Fitted::load(&dir).unwrap().threads(1).unwrap();
        assert_eq!(loaded.predict(&panel(0), None).unwrap().columns, forecast.columns, "{scaler}");
        let names: Vec<bool> = ["scaler.revin_bias", "scaler.revin_weight"]
            .map(|name| loaded.models()[0].parameter(name).is_some())
            .to_vec();
        assert_eq!(names, [scaler == "revin"; 2]);
    }
}
