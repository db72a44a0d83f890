//! Tests of everything that models of single series have in common.

use foretell_calendar::{Freq, TimeKind, Zone};
use foretell_data::{Panel, Span, Vocabulary};
use foretell_estimator::{Asked, EstimatorEntry, HeldOut, Run, Trained, Verdict, Workers};

use serde_json::json;

use crate::ESTIMATORS;

const H: usize = 5;

/// Values with a trend, a season of 4 and what looks like noise.
fn value(series: usize, t: usize) -> f32 {
    let noise = ((t * 7919 + series * 104_729) % 101) as f32 / 50.0;
    30.0 + series as f32 + 0.2 * t as f32 + [3.0, 0.0, -2.0, -1.0][t % 4] + noise
}

/// Series of these first rows and lengths.
fn panel(spans: &[(usize, usize)]) -> Panel {
    let ids: Vec<String> = (0..spans.len()).map(|series| format!("s{series}")).collect();
    let series = ids.iter().zip(spans).enumerate().map(|(series, (id, &(first, len)))| {
        let y: Vec<f32> = (first..first + len).map(|t| value(series, t)).collect();
        (&**id, first as i64, y)
    });
    Panel::from_series(Freq::parse("1").expect("numbers"), series).expect("a panel")
}

fn fit(entry: &EstimatorEntry, panel: &Panel, threads: usize) -> Box<dyn Trained> {
    let mut estimator = (entry.new)(H);
    if estimator.meaning("season_length").is_some() {
        estimator.set("season_length", 4.into()).expect("a season");
    }
    if entry.name == "ARIMA" {
        estimator.set("order", vec![0, 1, 1].into()).expect("an order");
    }
    let (workers, vocabulary) = (Workers::new(threads).expect("threads"), Vocabulary::new());
    let listen = &mut |_: &_| Verdict::Continue;
    let run = Run::alone(&workers, &vocabulary, listen);
    estimator.fit(panel, HeldOut::default(), run).expect("a fit")
}

fn forecast(trained: &dyn Trained, panel: &Panel, threads: usize) -> Vec<f32> {
    let quantiles = trained.estimator().outputs_at(&[]).map(|_| &[0.1, 0.9][..]);
    let asked = Asked { span: Span::Predict { future: None }, h: H, quantiles };
    trained.forecast(panel, &asked, &Workers::new(threads).expect("threads")).expect("a forecast").values
}

/// Values to the last bit: of a single row the deviation is not known (NaN).
fn bits(values: Vec<f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn forecasts_do_not_depend_on_threads_and_outlive_files() {
    let panel = panel(&[(0, 40), (3, 33), (0, 25), (0, 2), (1, 1)]);
    for entry in ESTIMATORS {
        let trained = fit(entry, &panel, 1);
        let alone = forecast(&*trained, &panel, 1);
        let is_known = |row: &[f32]| row[0].is_finite();
        assert!(alone.chunks_exact(alone.len() / (5 * H)).all(is_known), "{}: {alone:?}", entry.name);
        let alone = bits(alone);
        assert_eq!(bits(forecast(&*fit(entry, &panel, 3), &panel, 2)), alone, "{}", entry.name);
        let estimator = trained.estimator();
        let mut again = (entry.new)(H);
        for (name, value) in estimator.hyper_parameters() {
            again.set(&name, value).expect("its own value");
        }
        assert_eq!(again.hyper_parameters(), estimator.hyper_parameters());
        let restored = (entry.restore)(again, trained.learned()).expect("what it learned");
        assert_eq!(bits(forecast(&*restored, &panel, 1)), alone, "{}", entry.name);
    }
}

#[test]
fn one_row_tells_nothing_of_errors() {
    let panel = panel(&[(0, 1)]);
    for entry in ESTIMATORS {
        let values = forecast(&*fit(entry, &panel, 1), &panel, 1);
        let is_honest = |row: &[f32]| row[0].is_finite() && row[1..].iter().all(|bound| bound.is_nan());
        assert!(values.chunks_exact(values.len() / H).all(is_honest), "{}: {values:?}", entry.name);
    }
}

#[test]
fn what_was_learned_goes_on_with_new_rows_of_the_same_series_alone() {
    for entry in ESTIMATORS {
        let trained = fit(entry, &panel(&[(0, 36)]), 1);
        let longer = forecast(&*trained, &panel(&[(0, 40)]), 1);
        let means = longer.chunks_exact(longer.len() / H).zip(40..).map(|(row, t)| (row[0], value(0, t)));
        if !trained.learned().numbers.is_empty() {
            let far = means.map(|(mean, after)| (mean - after).abs()).fold(0.0, f32::max);
            assert!(far < 6.0, "{}: {far} off", entry.name);
        }
        // The same series from its ninth row on, and one that is not known.
        for later in [panel(&[(8, 32)]), panel(&[(0, 36), (0, 36)])] {
            let anew = forecast(&*fit(entry, &later, 1), &later, 1);
            assert_eq!(forecast(&*trained, &later, 1), anew, "{}", entry.name);
        }
    }
}

/// Hours of Berlin from 2023-10-15 on, whose values follow the clock: clocks are put back on the 29th.
fn by_the_clock(days: usize, hours_after: usize) -> (Panel, Vec<f32>) {
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let start = TimeKind::Timestamp.parse("2023-10-14 22:00").unwrap();
    let rows = 24 * days + hours_after;
    let times: Vec<i64> = (0..(rows + 30) as i64).map(|hour| start + hour * 3_600_000_000).collect();
    let hour = |time: &i64| zone.civil(*time).unwrap().rem_euclid(86_400_000_000) / 3_600_000_000;
    let y: Vec<f32> = times.iter().map(|time| 10.0 * (hour(time) - 12).abs() as f32).collect();
    let builder = Panel::builder(TimeKind::Timestamp).zone(zone).freq(Freq::parse("h").unwrap());
    (builder.series("load", &times[..rows], &y[..rows]).build().unwrap(), y[rows..].to_vec())
}

#[test]
fn seasons_follow_the_clock() {
    // Five hours after the change, and before it.
    for (days, after) in [(14, 8), (13, 20)] {
        let (panel, truth) = by_the_clock(days, after);
        for (name, far) in
            [("SeasonalNaive", 0.0), ("SeasonalWindowAverage", 0.0), ("MSTL", 1.0), ("AutoETS", 6.0)]
        {
            let entry = ESTIMATORS.iter().find(|entry| entry.name == name).unwrap();
            let (workers, vocabulary) = (Workers::new(1).unwrap(), Vocabulary::new());
            let listen = &mut |_: &_| Verdict::Continue;
            let run = Run::alone(&workers, &vocabulary, listen);
            let trained = (entry.new)(24).fit(&panel, HeldOut::default(), run).unwrap();
            let forecast = forecast_of(&*trained, &panel, truth.len());
            let worst = forecast.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst <= far, "{name}, {days} days: {worst}: {forecast:?}");
        }
    }
}

fn forecast_of(trained: &dyn Trained, panel: &Panel, h: usize) -> Vec<f32> {
    let asked = Asked { span: Span::Predict { future: None }, h, quantiles: None };
    trained.forecast(panel, &asked, &Workers::new(1).unwrap()).unwrap().values
}

#[test]
fn what_a_model_cannot_have_is_named_with_its_series() {
    let winter: Vec<f32> =
        (0..48).map(|month| 5.0 - 12.0 * (month as f32 * std::f32::consts::FRAC_PI_6).cos()).collect();
    let summer = winter.iter().map(|y| y + 20.0).collect();
    let panel = Panel::from_series(
        Freq::parse("MS").unwrap(),
        [
            ("short", "2023-01-01", vec![1.0, 2.0, 3.0]),
            ("summer", "2020-01-01", summer),
            ("winter", "2020-01-01", winter),
        ],
    )
    .unwrap();
    for (name, settings, expected) in [
        (
            "HoltWinters",
            &[("model", json!("MAM"))][..],
            "short: fewer than 11 values; winter: values that are not above 0",
        ),
        ("HoltWinters", &[], "short: fewer than 11 values"),
        ("AutoETS", &[], "short: fewer than 7 values"),
        (
            "ETS",
            &[("season_length", json!(60)), ("model", json!("ANA"))],
            "short: fewer than 9 values; summer: no more than one season of 60",
        ),
        (
            "SeasonalNaive",
            &[("season_length", json!(60))],
            "short: fewer than one season of 60 values; summer: fewer than",
        ),
        ("MSTL", &[], "short: fewer than 7 values"),
        (
            "AutoTheta",
            &[("season_length", json!(30))],
            "short: fewer than 4 values; summer: fewer than two seasons of 30",
        ),
        ("WindowAverage", &[("window_size", json!(4))], "short: fewer than 4 values"),
        ("Naive", &[], ""),
    ] {
        let entry = ESTIMATORS.iter().find(|entry| entry.name == name).unwrap();
        let mut estimator = (entry.new)(12);
        settings.iter().for_each(|(name, value)| estimator.set(name, value.clone()).unwrap());
        let found = estimator.fallbacks(&panel);
        let found: Vec<String> =
            found.iter().map(|(series, why)| format!("{}: {}", panel.id(*series), why.reason)).collect();
        let found = found.join("; ");
        assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{name}: {found}");
    }
    let weeks =
        Panel::from_series(Freq::parse("W-MON").unwrap(), [("a", "2020-01-06", vec![1.0; 3])]).unwrap();
    for (name, told) in [("AutoETS", true), ("AutoTheta", true), ("Holt", false), ("MSTL", false)] {
        let entry = ESTIMATORS.iter().find(|entry| entry.name == name).unwrap();
        let caveats = (entry.new)(4).caveats(&weeks);
        assert_eq!(caveats.iter().any(|text| text.contains("season of 52")), told, "{name}: {caveats:?}");
    }
}
