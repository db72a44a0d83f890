//! Fits beside those of the Python package (`compare/prophet_fits.py`): forecasts, components, intervals.

use std::any::Any;
use std::collections::BTreeMap;

use crate::{Mode, Prophet, ProphetSettings, TrainedProphet};
use foretell_calendar::{Freq, TimeKind};
use foretell_data::{Future, Panel, Span, Vocabulary};
use foretell_estimator::{Asked, Estimator as _, HeldOut, Run, Trained as _, Verdict, Workers};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Fixtures {
    datasets: BTreeMap<String, Dataset>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Dataset {
    freq: String,
    start: String,
    h: usize,
    y: Vec<Option<f32>>,
    columns: BTreeMap<String, Vec<f32>>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    dataset: String,
    settings: Map<String, Value>,
    log_posterior: f64,
    components: Vec<String>,
    rows: Vec<usize>,
    found: BTreeMap<String, Vec<f64>>,
}

/// Of the largest magnitude of the data: what forecasts and components may differ by.
const TOLERANCE: f64 = 0.005;

/// The most relative difference of a width. Both are those of many futures.
const WIDTH: f64 = 0.1;

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../tests/fixtures/fits.json"))
        .expect("compare/prophet_fits.py wrote it")
}

impl Dataset {
    fn panel(&self) -> (Panel, Future) {
        let freq = Freq::parse(&self.freq).expect("a frequency");
        let len = self.y.len();
        let first = Panel::from_series(freq, [("a", self.start.as_str(), [0.0])]).expect("a time").time(0, 0);
        let times = freq.times(first, len).expect("times");
        let y: Vec<f32> = self.y.iter().map(|y| y.unwrap_or(0.0)).collect();
        let mask: Vec<f32> = self.y.iter().map(|y| f32::from(u8::from(y.is_some()))).collect();
        let mut builder =
            Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times, &y).available_mask(&mask);
        for (name, values) in &self.columns {
            builder = builder.column(name, &values[..len]);
        }
        let panel = builder.build().expect("a panel");
        let ahead: Vec<(&str, &[f32])> =
            self.columns.iter().map(|(name, values)| (name.as_str(), &values[len..])).collect();
        let future = Future::new(&panel, self.h, &ahead).expect("columns");
        (panel, future)
    }
}

fn trained(prophet: &Prophet, panel: &Panel, held_out: HeldOut, threads: usize) -> TrainedProphet {
    let (workers, vocabulary) = (Workers::new(threads).expect("threads"), Vocabulary::new());
    let listen = &mut |_: &_| Verdict::Continue;
    let run = Run::alone(&workers, &vocabulary, listen);
    let trained: Box<dyn Any> = prophet.fit(panel, held_out, run).expect("a fit");
    *trained.downcast().expect("what Prophet becomes")
}

fn prophet(settings: &Map<String, Value>, h: usize) -> Prophet {
    let mut prophet = Prophet::new(ProphetSettings { h, uncertainty_samples: 20_000, ..Default::default() });
    for (name, value) in settings {
        prophet.set(name, value.clone()).expect("a value");
    }
    prophet
}

fn largest(differences: impl Iterator<Item = f64>) -> f64 {
    differences.map(f64::abs).fold(0.0, f64::max)
}

#[test]
fn forecasts_components_and_widths_are_those_of_the_package() {
    let Fixtures { datasets, cases } = fixtures();
    let mut report = String::new();
    let mut worst = [0.0_f64; 3];
    for case in &cases {
        let data = &datasets[&case.dataset];
        let (panel, future) = data.panel();
        let len = data.y.len();
        let trained = trained(&prophet(&case.settings, data.h), &panel, HeldOut::default(), 1);
        // Its numbers have eight digits, ours come from values of 32 bits.
        let found = trained.log_posterior("a").expect("it was trained on");
        assert!(found > case.log_posterior - 0.01, "{}: {found}, {}", case.name, case.log_posterior);
        let parts = trained.decompose(&panel, 0, 0..len + data.h, Some(&future)).expect("its parts");
        let scale = f64::from(data.y.iter().flatten().fold(0.0f32, |most, y| most.max(y.abs())));
        let compare = |expected: &[f64], ours: &dyn Fn(usize) -> f64| {
            largest(case.rows.iter().zip(expected).map(|(&row, expected)| ours(row) - expected))
        };
        let forecast = parts.forecast();
        let off = compare(&case.found["forecast"], &|row| forecast[row]) / scale;
        let mut parts_off = vec![("trend", compare(&case.found["trend"], &|row| parts.trend[row]) / scale)];
        let names: Vec<&str> = parts.components.iter().map(|component| component.name.as_str()).collect();
        for name in &case.components {
            let place = names.iter().position(|found| found == name).expect("a component of that name");
            let component = &parts.components[place];
            // A fraction of the trend, in the units of the data.
            let unit = if component.mode == Mode::Additive {
                scale
            } else {
                scale / largest(parts.trend.iter().copied())
            };
            parts_off.push((name, compare(&case.found[name], &|row| component.values[row]) / unit));
        }
        let span = Span::Predict { future: Some(&future) };
        let asked = Asked { span, h: data.h, quantiles: Some(&[0.1, 0.9]) };
        let values =
            trained.forecast(&panel, &asked, &Workers::new(1).expect("a thread")).expect("a forecast").values;
        let ends = case.found["lower"].iter().zip(&case.found["upper"]);
        let ahead = case.rows.iter().zip(ends).filter(|(row, _)| **row >= len);
        let width_off = largest(ahead.map(|(&row, (lower, upper))| {
            let row = &values[3 * (row - len)..][..3];
            f64::from(row[2] - row[1]) / (upper - lower) - 1.0
        }));
        let part_off = largest(parts_off.iter().map(|(_, off)| *off));
        for (worst, off) in worst.iter_mut().zip([off, part_off, width_off]) {
            *worst = worst.max(off);
        }
        report += &format!("{}: forecast {off:.2e}, widths {width_off:.2e}, {parts_off:.5?}\n", case.name);
    }
    println!("{report}worst: {worst:.5?}");
    assert!(worst[0] < TOLERANCE && worst[1] < TOLERANCE && worst[2] < WIDTH, "{report}");
}

#[test]
fn bits_depend_on_no_thread_and_series_on_no_other() {
    let Fixtures { datasets, .. } = fixtures();
    let (panel, _) = datasets["airline"].panel();
    let y: Vec<f32> = panel.y(0).iter().rev().copied().collect();
    let start = datasets["airline"].start.as_str();
    let both = [("a", start, panel.y(0)), ("b", start, &y[..])];
    let pair = Panel::from_series(panel.freq(), both).expect("two series");
    let asked = Asked { span: Span::Predict { future: None }, h: 12, quantiles: Some(&[0.1, 0.9]) };
    let prophet = prophet(&Map::new(), 12);
    let forecast = |panel: &Panel, threads: usize| {
        let workers = Workers::new(threads).expect("threads");
        let trained = trained(&prophet, panel, HeldOut::default(), threads);
        trained.forecast(panel, &asked, &workers).expect("a forecast").values
    };
    let one = forecast(&pair, 1);
    assert_eq!(forecast(&pair, 3), one);
    assert_eq!(forecast(&panel, 1), one[..36]);
}

#[test]
fn a_series_that_was_not_trained_on_is_fitted_to_its_history() {
    let Fixtures { datasets, .. } = fixtures();
    let (panel, _) = datasets["airline"].panel();
    let start = datasets["airline"].start.as_str();
    let other = Panel::from_series(panel.freq(), [("other", start, [3.0, 4.0, 5.0])]).expect("a series");
    let prophet = prophet(&Map::new(), 12);
    let held_out = HeldOut { validation: 0, test: 12 };
    let elsewhere = trained(&prophet, &other, HeldOut::default(), 1);
    let here = trained(&prophet, &panel, held_out, 1);
    let span = Span::Test { test_size: 12, step_size: 1 };
    let asked = Asked { span, h: 12, quantiles: None };
    let [fitted, late] = [here, elsewhere].map(|trained| {
        trained.forecast(&panel, &asked, &Workers::new(1).expect("a thread")).expect("a forecast")
    });
    assert_eq!((fitted.cutoffs.clone(), &fitted), (vec![(0, 132)], &late));
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let refused = |panel: &Panel, settings: Value| {
        let prophet = prophet(settings.as_object().expect("a table"), 3);
        let (workers, vocabulary) = (Workers::new(1).expect("a thread"), Vocabulary::new());
        let listen = &mut |_: &_| Verdict::Continue;
        let run = Run::alone(&workers, &vocabulary, listen);
        prophet.fit(panel, HeldOut::default(), run).expect_err("no fit").to_string()
    };
    let numbered =
        Panel::from_series(Freq::parse("1").expect("steps"), [("a", 0, [1.0, 2.0, 3.0])]).expect("steps");
    assert!(refused(&numbered, Value::Object(Map::new())).contains("are step numbers; give dates"));
    let days = Freq::parse("D").expect("days");
    let table = |text: &str| serde_json::from_str(text).expect("a table");
    let panel = Panel::from_series(days, [("a", "2024-01-01", [1.0, 2.0, 3.0])]).expect("days");
    let early = refused(&panel, table(r#"{"changepoints": ["2023-12-31"]}"#));
    assert!(early.contains("2023-12-31T00:00:00 is outside of series `a`"), "{early}");
    let none = refused(&panel, table(r#"{"growth": "logistic"}"#));
    assert!(none.contains("name the column that has it (cap)"), "{none}");
    let low = Panel::builder(TimeKind::Timestamp)
        .freq(days)
        .series("a", &["2024-01-01", "2024-01-02"], &[1.0, 2.0])
        .column("top", &[5.0, 0.0])
        .build()
        .expect("days");
    let low = refused(&low, table(r#"{"growth": "logistic", "cap": "top"}"#));
    assert!(low.contains("in row 2 of series `a` it is 0, the floor 0"), "{low}");
}

#[test]
fn short_and_constant_series_have_lines() {
    let days = Freq::parse("D").expect("days");
    let asked = Asked { span: Span::Predict { future: None }, h: 2, quantiles: Some(&[0.1, 0.9]) };
    for (y, expected) in
        [(vec![1.0, 3.0], [5.0, 7.0]), (vec![4.0; 30], [4.0, 4.0]), (vec![0.0; 30], [0.0, 0.0])]
    {
        let panel = Panel::from_series(days, [("a", "2024-01-01", &y)]).expect("days");
        let trained = trained(&prophet(&Map::new(), 2), &panel, HeldOut::default(), 1);
        let values =
            trained.forecast(&panel, &asked, &Workers::new(1).expect("a thread")).expect("a forecast").values;
        for (row, expected) in values.chunks(3).zip(expected) {
            assert!((row[0] - expected).abs() < 0.3 && row[1] <= row[2], "{y:?}: {row:?}");
        }
    }
    // One value is repeated, and tells nothing of how far that is off.
    let panel = Panel::from_series(days, [("a", "2024-01-01", [6.0])]).expect("a day");
    let trained = trained(&prophet(&Map::new(), 2), &panel, HeldOut::default(), 1);
    let values =
        trained.forecast(&panel, &asked, &Workers::new(1).expect("a thread")).expect("a forecast").values;
    assert!(values.chunks(3).all(|row| row[0] == 6.0 && row[1].is_nan() && row[2].is_nan()), "{values:?}");
    assert!(trained.log_posterior("a").expect("it was trained on").is_nan());
}
