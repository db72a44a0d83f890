//! What members add to forecasts, on small panels.

use foretell::{Attribution, DecomposeOptions, ExplainOptions, Frame, Freq, Panel};

use crate::Auto;
use crate::forecasts_tests::{fit, months, predict, quick};

/// The sum of the columns of each row.
fn sums(frame: &Frame) -> Vec<f32> {
    (0..frame.n_rows()).map(|row| frame.columns.iter().map(|(_, values)| values[row]).sum()).collect()
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.columns.iter().map(|(name, _)| name.as_str()).collect()
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{row}: {found} {expected}");
    }
}

#[test]
fn what_members_add_to_the_seasonal_naive_is_the_forecast() {
    let (panel, h) = (months(4, 72), 12);
    let fitted = fit(quick(h), &panel, 1);
    let forecast = predict(&fitted, &panel);
    let median = forecast.column("Auto").expect("a column");
    let explained = fitted.explain(&panel, &ExplainOptions::default()).expect("an explanation");
    let found = names(&explained);
    assert_eq!((found[0], found[found.len() - 1]), ("Auto:baseline", "Auto:limits"));
    assert!(found.len() > 2 && found.iter().all(|name| !name.contains("SeasonalNaive")), "{found:?}");
    assert_close(&sums(&explained), median);
    let baseline = explained.column("Auto:baseline").expect("a column");
    for series in 0..4 {
        assert_close(&baseline[series * h..][..h], &panel.y(series)[60..]);
    }
    // The same as parts, without those that are zero.
    let parts = fitted.decompose(&panel, &DecomposeOptions::new()).expect("parts");
    assert_eq!(names(&parts)[0], "Auto:SeasonalNaive");
    assert!(parts.column("Auto:limits").is_none());
    assert_close(&sums(&parts), median);
    assert_eq!(parts.column(found[1]).map(<[f32]>::to_vec), explained.column(found[1]).map(<[f32]>::to_vec));
    // Shares are what they are, whatever the method; further steps too.
    let method = Attribution::ShapleySampling { permutations: 1, seed: 1 };
    let again = fitted.explain(&panel, &ExplainOptions::new(method)).expect("an explanation");
    assert_eq!(again.columns, explained.columns);
    let further = fitted.explain(&panel, &ExplainOptions::default().h(15)).expect("an explanation");
    assert_eq!(further.n_rows(), 4 * 15);
    let error = fitted.explain(&panel, &ExplainOptions::default().output(1)).expect_err("one output");
    assert!(error.to_string().contains("there is no output 1"), "{error}");
}

#[test]
fn limits_have_a_part_of_their_own() {
    let h = 6;
    let falling = |t: usize| (80.0 - 2.0 * t as f32).max(0.5) + (t % 2) as f32;
    let sold = |t: usize| if t < 30 { 5.0 + (t % 3) as f32 } else { 0.0 };
    let series = [
        ("falling", 0, (0..42).map(falling).collect::<Vec<_>>()),
        ("ended", 0, (0..70).map(sold).collect::<Vec<_>>()),
    ];
    let panel = Panel::from_series(Freq::parse("MS").expect("months"), series).expect("a panel");
    let fitted = fit(quick(h), &panel, 1);
    let forecast = predict(&fitted, &panel);
    let explained = fitted.explain(&panel, &ExplainOptions::default()).expect("an explanation");
    assert_close(&sums(&explained), forecast.column("Auto").expect("a column"));
    // Series stand in the order of their ids: the one that has ended first.
    for (name, values) in &explained.columns {
        assert!(values[..h].iter().all(|value| *value == 0.0), "{name}: {values:?}");
    }
    let [baseline, limits] =
        ["Auto:baseline", "Auto:limits"].map(|name| explained.column(name).expect("a column"));
    assert!(baseline[h] > 10.0 && limits[h..].iter().all(|value| *value > 2.0), "{explained:?}");
}

#[test]
fn parts_of_rare_demand_add_up_to_its_mean() {
    let rare = |t: usize| if (t * 7919 + t * t * 31) % 101 < 20 { 4.0 + (t % 3) as f32 } else { 0.0 };
    let series = ["a", "b"].map(|id| (id, 0, (0..60).map(rare).collect::<Vec<f32>>()));
    let panel = Panel::from_series(Freq::parse("W-MON").expect("weeks"), series).expect("a panel");
    let auto = Auto::new(4).with("models", vec!["HistoricAverage", "CrostonSBA"]).expect("models");
    let fitted = fit(auto, &panel, 1);
    let forecast = predict(&fitted, &panel);
    let [mean, median] = ["Auto", "Auto_ql0.5"].map(|name| forecast.column(name).expect("a column"));
    assert_ne!(mean, median);
    let explained = fitted.explain(&panel, &ExplainOptions::default()).expect("an explanation");
    assert_close(&sums(&explained), mean);
}
