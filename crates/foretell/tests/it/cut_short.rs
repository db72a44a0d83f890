//! A training that is stopped anywhere leaves models that are saved, read and forecast with; work that unwanted waits for is an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    Ensemble, Error, ExplainOptions, Fitted, Forecaster, Freq, ModelSpec, Panel, PredictionIntervals,
    ReadOptions, SimulateOptions, Verdict, estimators, sum_series, while_wanted,
};
use tempfile::TempDir;

const H: usize = 3;

fn hierarchy() -> Hierarchy {
    Hierarchy::from_levels(&[("a", ["x"]), ("b", ["x"])]).expect("levels")
}

fn panel() -> Panel {
    let wave =
        |size: f32| (0..60).map(|t| size * (3.0 + (t as f32 * 0.7 + size).sin())).collect::<Vec<f32>>();
    let series = [("a", 1.0), ("b", 5.0)].map(|(id, size)| (id, 0, wave(size)));
    let panel = Panel::from_series(Freq::parse("D").unwrap(), series).unwrap();
    sum_series(&panel, &hierarchy()).unwrap()
}

fn specs() -> Vec<ModelSpec> {
    let network = |name| ModelSpec::new(name, H, 6).unwrap().set("max_steps", 2).unwrap();
    vec![network("NLinear"), network("DLinear"), ModelSpec::new("Naive", H, 1).unwrap()]
}

#[test]
fn a_training_that_is_stopped_anywhere_can_be_read() {
    type Kind = fn(Forecaster) -> Forecaster;
    let kinds: [(&str, Kind); 3] = [
        ("weights", |forecaster| forecaster.ensemble(Ensemble::Weighted { n_windows: 2 }).baselines(1)),
        ("errors", |forecaster| forecaster.hierarchy(hierarchy(), Reconciliation::MinTraceShrink).unwrap()),
        ("intervals", |forecaster| {
            let windows = PredictionIntervals { n_windows: 2, ..PredictionIntervals::default() };
            forecaster.intervals(windows).ensemble(Ensemble::Weighted { n_windows: 2 })
        }),
    ];
    let (dir, panel) = (TempDir::new().unwrap(), panel());
    for (name, asks) in kinds {
        let mut stop_at = 1;
        loop {
            let seen = Arc::new(AtomicUsize::new(0));
            let count = seen.clone();
            let forecaster = asks(Forecaster::new(specs()).unwrap()).threads(1);
            let stop = move |_: &str, _: &foretell::Progress| match count.fetch_add(1, Ordering::Relaxed) + 1
            {
                call if call == stop_at => Verdict::Interrupt,
                _ => Verdict::Continue,
            };
            let fitted = forecaster.on_progress(stop).fit(&panel).unwrap();
            fitted.save(dir.path().join("model"), true).unwrap();
            let read = Fitted::load(dir.path().join("model")).unwrap();
            let forecast = read.predict(&panel, None);
            let forecast = forecast.unwrap_or_else(|error| panic!("{name}, stopped at {stop_at}: {error}"));
            assert!(forecast.columns.iter().flat_map(|(_, values)| values).all(|value| value.is_finite()));
            for (_, weights) in read.ensembles() {
                assert!((weights.unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
            if !fitted.interrupted() {
                break;
            }
            stop_at += 1;
        }
        assert!(stop_at > 6, "{name}: stopped at {stop_at} places");
    }
}

#[test]
fn work_that_nobody_waits_for_is_an_error_of_every_method() {
    let panel = panel();
    let entry = |name: &str| ModelSpec::new(name, H, 6).unwrap();
    let mut specs: Vec<ModelSpec> = estimators().map(|known| entry(known.name)).collect();
    specs.push(entry("NLinear").set("max_steps", 1).unwrap());
    let fitted = Forecaster::new(specs).unwrap().fit(&panel).unwrap();
    let not_wanted = |error: Error| assert!(matches!(error, Error::NotWanted), "{error}");
    let unwanted = Arc::new(|| false);
    for place in 0..fitted.models().len() {
        let one = fitted.only(&[place]).unwrap();
        not_wanted(while_wanted(unwanted.clone(), || one.predict(&panel, None)).unwrap_err());
        not_wanted(while_wanted(unwanted.clone(), || one.predict_insample(&panel, 9)).unwrap_err());
        assert!(one.predict(&panel, None).is_ok());
    }
    let network = fitted.only(&[fitted.models().len() - 1]).unwrap();
    let explain = || network.explain(&panel, &ExplainOptions::default());
    not_wanted(while_wanted(unwanted.clone(), explain).unwrap_err());
    let simulate = || fitted.only(&[6]).unwrap().simulate(&panel, &SimulateOptions::new(3));
    not_wanted(while_wanted(unwanted.clone(), simulate).unwrap_err());
    let read = || Panel::read_csv(&b"ds,y\n1,5\n2,6\n3,7\n"[..], "t.csv", &ReadOptions::new());
    not_wanted(while_wanted(unwanted, read).unwrap_err().into());
}
