//! The panels in directories: those that neuralforecast wrote beside its models are the panels of the fixtures, and what is written
//! here is read again.

use std::path::Path;

use foretell::{Fitted, Panel, ReadOptions};

fn panel(case: &Path, fitted: &Fitted) -> Panel {
    let columns = fitted.columns().clone();
    let options = ReadOptions::new()
        .id_col(columns.id)
        .time_col(columns.time)
        .target_col(columns.target)
        .freq(fitted.freq())
        .categories(fitted.categories());
    let panel = Panel::from_csv(case.join("panel.csv"), &options).expect("a panel");
    let statics = case.join("static.csv");
    match statics.exists() {
        true => panel.with_static_file(statics, &options).expect("static columns"),
        false => panel,
    }
}

/// Whether two panels are the same to single precision, in the columns that the models read.
fn assert_same(name: &str, fitted: &Fitted, found: &Panel, expected: &Panel) {
    assert_eq!(Vec::from_iter(found.ids()), Vec::from_iter(expected.ids()), "{name}");
    assert_eq!(found.has_integer_ids(), expected.has_integer_ids(), "{name}");
    let near = |found: &[f32], expected: &[f32], what: &str| {
        assert_eq!(found.len(), expected.len(), "{name}: {what}");
        let scale = expected.iter().fold(1.0_f32, |most, value| most.max(value.abs()));
        let most = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most <= 1e-5 * scale, "{name}: {what} is off by {most} of {scale}");
    };
    for series in 0..expected.n_series() {
        assert!(found.times(series).eq(expected.times(series)), "{name}: times");
        let known = |panel: &Panel| -> Vec<f32> {
            let known = panel.known_y(series, 0..panel.len(series));
            known.iter().map(|value| if value.is_nan() { -1.0 } else { *value }).collect()
        };
        near(&known(found), &known(expected), "y");
        for column in fitted.columns_read() {
            if !fitted.categories().contains(&column) {
                let values = |panel: &Panel| panel.column(&column, series).expect("a column").to_vec();
                near(&values(found), &values(expected), &column);
            }
        }
    }
}

#[test]
fn panels_of_neuralforecast_are_read_on_the_scale_of_the_data() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints");
    let mut read = 0;
    for case in std::fs::read_dir(root).expect("fixtures").map(|case| case.expect("a case").path()) {
        let (fitted, stored) =
            Fitted::load_with_panel(case.join("model")).unwrap_or_else(|error| panic!("{error}"));
        let Some(stored) = stored else { continue };
        assert_same(&case.display().to_string(), &fitted, &stored, &panel(&case, &fitted));
        read += 1;
    }
    assert!(read > 0, "no fixture has a panel");
}

#[test]
fn panels_are_written_and_read_with_categories_masks_and_scalers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints");
    for name in ["categorical", "local-exog", "nhits-mask-cubic", "nhits-integers-mq", "multivariate"] {
        let case = root.join(name);
        let fitted = Fitted::load(case.join("model")).expect("a directory");
        let panel = panel(&case, &fitted);
        let home = tempfile::tempdir().expect("a folder");
        fitted.save_with_panel(&panel, home.path().join("model"), false).expect("written");
        let (again, stored) = Fitted::load_with_panel(home.path().join("model")).expect("read");
        let stored = stored.expect("it was saved");
        assert_same(name, &again, &stored, &panel);
        let [expected, found] = [(&fitted, &panel), (&again, &stored)]
            .map(|(fitted, panel)| fitted.predict_insample(panel, 3).expect("a forecast"));
        for ((column, expected), (_, found)) in expected.columns.iter().zip(&found.columns) {
            let near =
                |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * (1.0 + b.abs()) || a.is_nan() && b.is_nan();
            assert!(found.iter().zip(expected).all(near), "{name}: {column}");
        }
    }
}
