//! Forecasts of packages beside ours, on the series of `compare/pretrained.py`.

use std::path::{Path, PathBuf};

use foretell_calendar::{Freq, TimeKind};
use foretell_data::{Future, Panel, Span};
use foretell_estimator::{Asked, Trained, Workers};
use serde_json::Value;

use crate::load_folder;

/// The quantiles of Fracast and Chronos-Bolt.
pub(crate) const LEVELS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// What quantiles may be off, of the scale of their series.
pub(crate) const TOLERANCE: f64 = 1e-4;

/// The values of a case, NaN where they are missing: also in `compare/pretrained.py`.
pub(crate) fn series(case: &Value) -> Vec<f32> {
    let number = |name: &str| case[name].as_i64().unwrap_or_else(|| panic!("{name} of {case}"));
    let [length, level, slope, period, amplitude, longer, step, noise, zeros, missing, exponent, seed] = [
        "length", "level", "slope", "period", "amplitude", "longer", "step", "noise", "zeros", "missing",
        "exponent", "seed",
    ]
    .map(number);
    let (gap, mut state) = (case["gap"].as_bool().expect("a mark"), seed as u32);
    let value = |t: i64| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = i64::from(state >> 16) % (2 * noise + 1) - noise;
        let mut y = level + (slope * t).div_euclid(16) + noise;
        y += amplitude * (2 * (t % period) - period).abs();
        if step != 0 && t % longer * 2 < longer {
            y += step;
        }
        if zeros != 0 && i64::from(state >> 8) % zeros != 0 {
            y = 0;
        }
        let is_gap = gap && (length / 3..length / 2).contains(&t);
        let is_missing = is_gap || missing != 0 && i64::from(state >> 5) % missing == 0;
        if is_missing { f32::NAN } else { y as f32 * 2.0_f32.powi(exponent as i32) }
    };
    (0..length).map(value).collect()
}

/// The categories of a column of a case by their numbers, one of which is met in the last `h` alone: also in `compare/pretrained.py`.
pub(crate) fn categories(column: &Value, h: usize) -> Vec<f32> {
    let number = |name: &str| column[name].as_u64().unwrap_or_else(|| panic!("{name} of {column}"));
    let (length, categories, mut state) =
        (number("length") as usize, number("categories") as u32, number("seed") as u32);
    let category = |t: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (1 + (state >> 16) % (categories + u32::from(t + h >= length))) as f32
    };
    (0..length).map(category).collect()
}

/// The panel of a series.
pub(crate) fn panel(y: &[f32]) -> Panel {
    panel_beside(y, &[])
}

/// The panel of a series and columns, by their names and their values of the past.
pub(crate) fn panel_beside(y: &[f32], columns: &[(String, &[f32])]) -> Panel {
    let freq = Freq::parse("h").expect("hours");
    let times = freq.times(0, y.len()).expect("times");
    let known: Vec<f32> = y.iter().map(|y| f32::from(u8::from(y.is_finite()))).collect();
    let y: Vec<f32> = y.iter().map(|y| if y.is_finite() { *y } else { 0.0 }).collect();
    let builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times, &y);
    let builder = if known.contains(&0.0) { builder.available_mask(&known) } else { builder };
    let beside = |builder: foretell_data::PanelBuilder, (name, values): &(String, &[f32])| {
        builder.column(name, values)
    };
    columns.iter().fold(builder, beside).build().expect("a panel")
}

/// Quantiles `[h, levels]`.
pub(crate) fn quantiles(network: &dyn Trained, panel: &Panel, h: usize, workers: &Workers) -> Vec<f64> {
    quantiles_at(&LEVELS, network, (panel, None), h, workers)
}

/// Quantiles `[h, levels]` at these levels, of a panel and its columns ahead.
pub(crate) fn quantiles_at(
    levels: &[f64],
    network: &dyn Trained,
    (panel, future): (&Panel, Option<&Future>),
    h: usize,
    workers: &Workers,
) -> Vec<f64> {
    let asked = Asked { span: Span::Predict { future }, h, quantiles: Some(levels) };
    let values = network.forecast(panel, &asked, workers).expect("a forecast").values;
    values.chunks_exact(1 + levels.len()).flat_map(|row| row[1..].iter().map(|&y| f64::from(y))).collect()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().map(|value| value.as_f64().expect("a number")).collect()
}

/// Compares the cases that have quantiles of this name: how many there were, and the largest difference of any.
pub(crate) fn compare(fixture: &str, folder: &Path, name: &str) -> (usize, f64) {
    let network = load_folder(folder).expect("a sound folder").expect("a folder of a network");
    let workers = Workers::new(1).expect("a thread");
    compare_cases(fixture, "cases", name, LEVELS.len(), |_, y, h| {
        quantiles(&*network, &panel(y), h, &workers)
    })
}

/// Compares ten cases of a network of the original's sizes, in the folder that this environment variable names, with the fixture beside
/// it; passes where it is not set.
pub(crate) fn compare_original(variable: &str) {
    let Some(folder) = std::env::var_os(variable).map(PathBuf::from) else {
        eprintln!("skipped: {variable} names no folder with a fixture beside it");
        return;
    };
    let fixture = std::fs::read_to_string(folder.with_extension("json")).expect("a fixture");
    let (count, off) = compare(&fixture, &folder, "tiny");
    assert_eq!(count, 10);
    eprintln!("{variable}: {count} series, off by {off:.2e} at most");
}

/// Compares the cases of a kind that have `levels` quantiles of this name with those that `forecast` makes of a case, its values and its
/// horizon.
pub(crate) fn compare_cases(
    fixture: &str,
    kind: &str,
    name: &str,
    levels: usize,
    forecast: impl Fn(&Value, &[f32], usize) -> Vec<f64>,
) -> (usize, f64) {
    let fixture: Value = serde_json::from_str(fixture).expect("JSON");
    let (mut count, mut largest, mut failures) = (0, 0.0_f64, Vec::new());
    for (i, case) in fixture[kind].as_array().expect("cases").iter().enumerate() {
        let Some(theirs) = case.get(name) else { continue };
        let (y, h) = (series(case), case["horizon"].as_u64().expect("steps") as usize);
        let off = difference(&y, &forecast(case, &y, h), theirs, levels);
        if off.is_nan() || off > TOLERANCE {
            failures.push(format!("case {i}: {off:.2e}"));
        }
        (count, largest) = (count + 1, largest.max(off));
    }
    assert!(failures.is_empty(), "{name}: {} of {count} differ:\n{}", failures.len(), failures.join("\n"));
    (count, largest)
}

/// The largest difference of quantiles `[h, levels]` from those of a package, of the scale of their series.
pub(crate) fn difference(y: &[f32], ours: &[f64], theirs: &Value, levels: usize) -> f64 {
    let known = || y.iter().filter(|y| y.is_finite()).map(|&y| f64::from(y));
    let [least, most] = known().fold([f64::MAX, f64::MIN], |[least, most], y| [least.min(y), most.max(y)]);
    // A constant series has the scale of its digits in 32 bits.
    let scale = (most - least).max(1e-3 * most.abs().max(least.abs())).max(1e-5);
    let scale = theirs.get("scale").and_then(Value::as_f64).unwrap_or(scale);
    let rows = theirs["quantiles"].as_array().expect("steps").iter().map(numbers);
    let mut off = 0.0_f64;
    for (step, mut row) in numbers(&theirs["steps"]).into_iter().zip(rows) {
        row.sort_unstable_by(f64::total_cmp);
        assert_eq!(row.len(), levels, "{theirs}");
        let ours = &ours[step as usize * levels..][..levels];
        // Both are rounded to 32 bits, which is much of the range far from zero.
        let beyond = |(a, b): (&f64, &f64)| (a - b).abs() - f64::from(f32::EPSILON) * b.abs();
        assert!(ours.iter().all(|y| y.is_finite()), "{ours:?}");
        off = ours.iter().zip(&row).map(beyond).fold(off, |off, beyond| off.max(beyond / scale));
    }
    off
}

/// Forecasts of `count` series are the same bits on any number of threads, and within `tolerance` those of each `every`-th series alone.
pub(crate) fn check_independence(folder: &str, [count, every]: [usize; 2], tolerance: f64) {
    let network = load_folder(&fixtures().join(folder)).expect("sound").expect("a network");
    let freq = Freq::parse("h").expect("hours");
    let wave = |i: usize| (0..40 + 9 * i).map(|t| ((t * (i + 3)) % 11) as f32).collect::<Vec<f32>>();
    let all: Vec<(String, i64, Vec<f32>)> = (0..count).map(|i| (format!("s{i:02}"), 0, wave(i))).collect();
    let of = |panel: &Panel, threads: usize| {
        quantiles(&*network, panel, 20, &Workers::new(threads).expect("threads"))
    };
    let panel = Panel::from_series(freq, all.clone()).expect("a panel");
    let one = of(&panel, 1);
    assert_eq!(one, of(&panel, 3));
    assert_eq!(one, of(&panel, 8));
    let each = one.len() / count;
    for (i, series) in all.into_iter().enumerate().step_by(every) {
        let alone = of(&Panel::from_series(freq, [series]).expect("a panel"), 2);
        let off = alone.iter().zip(&one[i * each..]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < tolerance, "series {i}: off by {off}");
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}
