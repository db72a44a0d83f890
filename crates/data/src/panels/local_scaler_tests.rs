use super::*;
use foretell_calendar::{Freq, TimeKind};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f32> {
    value["data"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

fn close(actual: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (actual, expected) in actual.iter().zip(expected) {
        assert!(
            (actual - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{what}: {actual} for {expected}"
        );
    }
}

/// Written by `compare/ops.py` from coreforecast's scalers.
#[test]
fn scalers_are_those_of_coreforecast() {
    let fixture: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/local_scalers.json")).unwrap();
    let mut cases = 0;
    for (name, found) in fixture.as_object().unwrap() {
        let scaler: LocalScaler = name.parse().unwrap();
        for case in found.as_array().unwrap() {
            let what = case["args"].to_string();
            let [x, stats, scaled, probe, inverse] =
                ["x", "stats", "scaled", "probe", "inverse"].map(|key| numbers(&case[key]));
            let stats = [stats[0], stats[1]];
            // There the power is found to about 0.01.
            let tolerance = if scaler == LocalScaler::BoxCox { 0.015 } else { 1e-6 };
            close(&scaler.fit(&x), &stats, tolerance, &what);
            let (mut ours, mut back) = (x.clone(), probe.clone());
            scaler.transform(stats, &mut ours);
            close(&ours, &scaled, 2e-5, &what);
            scaler.inverse(stats, &mut back);
            close(&back, &inverse, 2e-5, &what);
            scaler.inverse(stats, &mut ours);
            close(&ours, &x, 1e-4, &what);
            cases += 1;
        }
    }
    assert!(cases >= 28, "{cases}");
}

#[test]
fn the_power_is_the_most_likely_one() {
    let fit = |map: fn(f64) -> f64| {
        let values: Vec<f32> = (1..=400).map(|i| map(f64::from(i) / 40.0) as f32).collect();
        LocalScaler::BoxCox.fit(&values)[0]
    };
    // What one power does to values, half of it does to their squares; evenly spread logarithms need none.
    let (plain, squared) = (fit(|x| x + 3.0), fit(|x| (x + 3.0) * (x + 3.0)));
    assert!(plain > 0.2 && (squared - plain / 2.0).abs() < 1e-3, "{plain} and {squared}");
    assert!(fit(f64::exp) < 1e-3, "{}", fit(f64::exp));
    assert_eq!(LocalScaler::BoxCox.fit(&[3.0; 7]), [1.0, 0.0]);
    // Powers of large values overflow, their likelihoods do not.
    let [power, _] = LocalScaler::BoxCox.fit(&[1e30, 2e30, 1.5e30, 1.2e30]);
    assert!((0.0..=2.0).contains(&power), "{power}");
    assert_eq!((LocalScaler::BoxCox.fit(&[]), LocalScaler::MinMax.fit(&[])), ([1.0, 0.0], [0.0, 1.0]));
}

fn panel() -> Panel {
    Panel::builder(TimeKind::Integer)
        .series("a", &[0, 1, 2, 3], &[1.0, 3.0, 5.0, 900.0])
        .series("b", &[0, 1, 2], &[10.0, f32::NAN, 20.0])
        .column("x", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
        .column("note", &[f32::NAN; 7])
        .available_mask(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
        .static_column("size", &[("a", 1.0), ("b", 3.0)])
        .build()
        .unwrap()
}

#[test]
fn series_are_scaled_by_what_is_known_of_their_training_rows() {
    let (scaled, scales) = panel().scaled(LocalScaler::MinMax, 1, &Workers::apart(1)).unwrap();
    assert_eq!((scales.target(), scales.scaler()), (&[[1.0, 4.0], [10.0, 0.0]][..], LocalScaler::MinMax));
    assert_eq!(scaled.y(0), [0.0, 0.5, 1.0, 224.75], "the last row did not count");
    assert_eq!(scales.columns()["x"], [[1.0, 2.0], [5.0, 0.0]]);
    assert_eq!(scaled.column("x", 1).unwrap(), [0.0, 1.0, 2.0]);
    assert!(scaled.column("note", 0).is_err() && !scales.columns().contains_key("note"));
    assert_eq!(panel().y(0)[0], 1.0, "the panel itself is as it was");
    let mut forecast = [0.5, 2.0];
    scales.inverse(0, &mut forecast);
    assert_eq!(forecast, [3.0, 9.0]);

    let future = Future::new(&panel(), 2, &[("x", &[1.0, 3.0, 5.0, 9.0]), ("z", &[7.0; 4])]).unwrap();
    let future = scales.future(&future).unwrap();
    assert_eq!(future.column("x").unwrap(), [0.0, 1.0, 0.0, 4.0]);
    assert_eq!(future.column("z").unwrap(), [7.0; 4], "a column that the panel lacks");

    let (statics, stats) = panel().with_scaled_statics(LocalScaler::Standard).unwrap();
    assert_eq!(stats["size"], [2.0, 1.0]);
    assert_eq!(
        (statics.static_value("size", 0).unwrap(), statics.static_value("size", 1).unwrap()),
        (-1.0, 1.0)
    );
}

#[test]
fn powers_need_positive_values() {
    let freq = Freq::parse("1").unwrap();
    let panel = |y: [f32; 3]| Panel::from_series(freq, [("a", 0, y)]).unwrap();
    let error =
        panel([1.0, 2.0, 0.0]).scaled(LocalScaler::BoxCox, 1, &Workers::apart(1)).unwrap_err().to_string();
    assert!(error.starts_with("series `a`, row 2, column `y`: 0 is not above zero"), "{error}");
    let (good, scales) = panel([1.0, 2.0, 4.0]).scaled(LocalScaler::BoxCox, 0, &Workers::apart(1)).unwrap();
    let mut back = good.y(0).to_vec();
    scales.inverse(0, &mut back);
    close(&back, &[1.0, 2.0, 4.0], 1e-5, "there and back");
    // What is masked may be missing.
    let masked = Panel::builder(TimeKind::Integer)
        .series("a", &[0, 1, 2], &[1.0, f32::NAN, 3.0])
        .available_mask(&[1.0, 0.0, 1.0])
        .build()
        .unwrap();
    assert_eq!(masked.scaled(LocalScaler::BoxCox, 0, &Workers::apart(1)).unwrap().0.y(0)[1], 0.0);
}

#[test]
fn names_are_read_and_slips_are_named() {
    for scaler in LocalScaler::ALL {
        assert_eq!(scaler.name().parse::<LocalScaler>().unwrap(), scaler);
    }
    let error = "robust-iq".parse::<LocalScaler>().unwrap_err().to_string();
    assert!(error.contains("did you mean `robust-iqr`?"), "{error}");
}

#[test]
fn many_series_are_scaled_on_all_threads_each_by_itself() {
    // Every 90th series has zeros, which Box-Cox refuses.
    let y = |s: usize| (0..60).map(move |t| ((t * s) % 37) as f32 + if s % 90 == 89 { 0.0 } else { 1.0 });
    let series = (0..1200).map(|s| (format!("{s:04}"), 0, y(s).collect::<Vec<f32>>()));
    let panel = Panel::from_series(Freq::parse("1").unwrap(), series).unwrap();
    for scaler in [LocalScaler::Robust, LocalScaler::Standard] {
        let scaled = |threads: usize| {
            let (scaled, scales) = panel.scaled(scaler, 5, &Workers::new(threads).unwrap()).unwrap();
            ((0..1200).map(|s| scaled.y(s).to_vec()).collect::<Vec<_>>(), scales.target().to_vec())
        };
        let one = scaled(1);
        let first = panel.of_series(7..8).scaled(scaler, 5, &Workers::apart(1)).unwrap();
        assert_eq!((&one.0[7][..], &one.1[7]), (first.0.y(0), &first.1.target()[0]));
        for threads in [2, 5] {
            assert_eq!(scaled(threads), one);
        }
    }
    for threads in [1, 2, 5] {
        let error = panel.scaled(LocalScaler::BoxCox, 5, &Workers::new(threads).unwrap()).unwrap_err();
        assert!(error.to_string().contains("series `0089`"), "{error}");
    }
}
