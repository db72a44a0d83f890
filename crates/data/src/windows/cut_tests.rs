use crate::*;
use foretell_calendar::TimeKind;

const LENS: [usize; 3] = [30, 22, 9];

fn x(series: usize, row: usize) -> f32 {
    ((row * 5 + series) % 13) as f32 - 4.0
}

/// Three series a, b, c with columns x and z and the static column size.
fn panel(masked: bool, weighted: bool) -> Panel {
    let mut builder = Panel::builder(TimeKind::Integer);
    let cells: Vec<(usize, usize)> =
        (0..3).flat_map(|series| (0..LENS[series]).map(move |row| (series, row))).collect();
    let column = |value: fn(usize, usize) -> f32| -> Vec<f32> {
        cells.iter().map(|(series, row)| value(*series, *row)).collect()
    };
    let y = column(|s, t| (10 * s + t % 7) as f32 + 0.25 * ((t * t + 3 * s) % 11) as f32);
    let ids: Vec<&str> = cells.iter().map(|(series, _)| ["a", "b", "c"][*series]).collect();
    let times: Vec<i64> = cells.iter().map(|(_, row)| *row as i64).collect();
    builder = builder.rows(&ids, &times, &y);
    builder = builder.column("z", &column(|s, t| (t * 3 % 8) as f32 * 0.5 + s as f32));
    builder = builder.column("x", &column(x));
    if masked {
        builder = builder.available_mask(&column(|s, t| f32::from((t * 7 + s * 3) % 5 != 0)));
    }
    if weighted {
        builder = builder.sample_weight(&column(|s, t| 0.5 + ((t + s) % 3) as f32));
    }
    builder.static_column("size", &[("c", -1.0), ("b", 6.5), ("a", 5.0)]).build().unwrap()
}

/// A sum that moves when any value moves or changes place.
fn fingerprint(values: &[f32]) -> f64 {
    let weight = |i: usize| (i * 7919 % 1000) as f64 / 1000.0;
    values.iter().enumerate().map(|(i, value)| f64::from(*value) * weight(i)).sum()
}

type Case = (&'static str, [usize; 3], bool, [f64; 2], &'static str, [usize; 3], [bool; 2], usize, [f64; 10]);

/// Printed by neuralforecast 3.3 (`_create_windows`, `_normalization`, `_parse_windows` of an MLP
/// with the columns above): span; L, h, step size; start padding; thresholds; scaler; val_size,
/// test_size, step of the test windows; mask, weights; number of windows and the fingerprints of
/// insample y and mask, outsample y and mask, raw outsample y, hist, futr, stat, loc, scale.
#[rustfmt::skip]
const NEURALFORECAST: &[Case] = &[
    ("train", [8, 4, 1], false, [0.0, 0.0], "standard", [0, 0, 1], [false, false], 51,
        [-457.712351, 174.740000, -2.362621, 93.000000, 1048.090750, -49.749720, 31.408811, 122.269000, 257.934877, 48.544514]),
    ("train", [8, 4, 1], true, [0.0, 0.0], "robust", [5, 3, 1], [false, false], 34,
        [-142.261117, 107.336000, 98.044526, 61.128000, 497.783750, 60.522751, 122.442379, 97.648500, 117.651000, 23.582826]),
    ("train", [8, 4, 3], false, [0.0, 0.0], "minmax", [1, 0, 1], [false, true], 15,
        [-39.099276, 51.817000, 21.690518, 42.938875, 308.421000, 48.033283, 44.680482, 28.671500, 59.706500, 35.625257]),
    ("train", [8, 4, 1], true, [0.5, 0.75], "standard", [0, 0, 1], [true, false], 38,
        [-58.448144, 114.402000, 8.221852, 61.881000, 626.042250, 7.007388, 22.127472, 100.087500, 136.520673, 35.128875]),
    ("train", [10, 4, 2], true, [0.3, 0.3], "robust", [3, 2, 1], [true, true], 16,
        [-101.101705, 54.507000, 11.290400, 34.100250, 217.812250, 58.085439, 54.078058, 45.787500, 59.885750, 11.703508]),
    ("train", [6, 1, 1], false, [0.8, 0.0], "minmax", [0, 0, 1], [true, false], 36,
        [48.039678, 85.062000, 11.015767, 17.970000, 153.451750, 110.636769, 68.650270, 95.355000, 99.191750, 100.325017]),
    ("val", [8, 4, 1], false, [0.0, 0.0], "standard", [6, 3, 1], [false, true], 9,
        [-185.820255, 25.108000, 66.429859, 17.970000, 243.122500, -14.261196, 23.956547, 20.668000, 52.722031, 9.771770]),
    ("val", [8, 4, 3], false, [0.0, 0.0], "minmax", [8, 0, 1], [false, false], 6,
        [-55.734978, 18.923000, 11.769554, 11.644000, 157.381500, 17.882301, 30.336010, 13.691500, 44.743000, 20.018504]),
    ("val", [8, 4, 2], true, [0.0, 0.0], "robust", [9, 3, 1], [true, false], 9,
        [-76.930637, 19.402000, 62.725726, 11.709000, 193.803750, 19.879475, 32.781390, 20.668000, 42.582250, 7.294255]),
    ("val", [26, 4, 1], false, [0.0, 0.0], "standard", [6, 0, 1], [false, false], 3,
        [-251.540467, 23.335000, 2.643644, 5.654000, 65.757000, -54.641204, -12.653336, 5.135500, 32.356717, 2.892019]),
    ("val", [30, 4, 1], false, [0.0, 0.0], "standard", [6, 0, 1], [false, false], 9,
        [-916.747132, 67.817000, 22.967368, 17.970000, 286.992000, -217.264680, -50.346572, 20.668000, 64.796313, 9.736624]),
    ("test", [8, 4, 1], false, [0.0, 0.0], "robust", [0, 10, 2], [false, false], 11,
        [-171.822349, 35.574000, 18.093357, 22.374000, 290.224250, 1.238334, 24.375847, 26.174000, 57.076500, 8.255255]),
    ("test", [25, 4, 1], false, [0.0, 0.0], "standard", [0, 12, 4], [false, false], 8,
        [-602.159068, 51.726000, 13.755194, 16.824000, 238.020000, -96.170458, 27.113246, 21.020000, 56.267272, 9.077771]),
    ("predict", [8, 4, 1], false, [0.0, 0.0], "standard", [0, 0, 1], [false, false], 3,
        [1.542507, 11.644000, 0.000000, 0.000000, 0.000000, 1.389958, 1.783098, 5.135500, 32.970406, 4.260794]),
    ("predict", [12, 4, 1], false, [0.0, 0.0], "robust", [0, 0, 1], [true, false], 3,
        [-20.407343, 12.251000, 0.000000, 0.000000, 0.000000, 2.637000, 11.106994, 5.135500, 34.126750, 2.824752]),
    ("predict", [40, 4, 1], false, [0.0, 0.0], "minmax", [0, 0, 1], [false, false], 3,
        [-31.209899, 30.563000, 0.000000, 0.000000, 0.000000, 28.393437, 26.600816, 5.135500, 26.179750, 13.806002]),
];

#[test]
fn windows_are_those_of_neuralforecast() {
    for case in NEURALFORECAST {
        let &(
            kind,
            [l, h, step_size],
            start_padding,
            availability_threshold,
            scaler,
            sizes,
            [masked, weighted],
            n,
            expected,
        ) = case;
        let [val_size, test_size, test_step] = sizes;
        let panel = panel(masked, weighted);
        let future: Vec<f32> =
            (0..3).flat_map(|series| (0..h).map(move |step| x(series, LENS[series] + step))).collect();
        let future = Future::new(&panel, h, &[("x", &future)]).unwrap();
        let spec = WindowSpec {
            step_size,
            start_padding,
            availability_threshold,
            hist: vec!["z".into(), "x".into()],
            futr: vec!["x".into()],
            stat: vec!["size".into()],
            scaler: WindowScaler::named(scaler).unwrap(),
            ..WindowSpec::new(l, h)
        };
        let span = match kind {
            "train" => Span::Train { val_size, test_size },
            "val" => Span::Validation { val_size, test_size },
            "test" => Span::Test { test_size, step_size: test_step },
            _ => Span::Predict { future: Some(&future) },
        };
        let cutter = Cutter::new(&panel, &spec, span).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        let windows: Vec<WindowRef> = (0..3).flat_map(|series| cutter.all(series)).collect();
        assert_eq!(windows.len(), n, "{case:?}");
        let mut slices = [l, l, h, h, h, l * 2, l + h, 1, 1, 1].map(|each| vec![f32::NAN; n * each]);
        let [
            insample_y,
            insample_mask,
            outsample_y,
            outsample_mask,
            raw_outsample_y,
            hist,
            futr,
            stat,
            loc,
            scale,
        ] = &mut slices;
        cutter.cut(
            &windows,
            &mut WindowSlices {
                insample_y,
                insample_mask,
                outsample_y,
                outsample_mask,
                raw_outsample_y,
                hist,
                futr,
                stat,
                loc,
                scale,
                ..WindowSlices::default()
            },
        );
        for (i, (actual, expected)) in slices.iter().zip(expected).enumerate() {
            if kind == "predict" && (2..5).contains(&i) {
                continue;
            }
            let actual = fingerprint(actual);
            assert!(
                (actual - expected).abs() < 1e-5 * expected.abs().max(10.0),
                "{case:?} field {i}: {actual}"
            );
        }
    }
}

#[test]
fn parts_of_a_batch_are_cut_alone() {
    let panel = panel(true, true);
    let spec = WindowSpec { hist: vec!["z".into()], scaler: WindowScaler::Robust, ..WindowSpec::new(6, 3) };
    let cutter = Cutter::new(&panel, &spec, Span::Train { val_size: 2, test_size: 0 }).unwrap();
    let windows: Vec<WindowRef> = (0..3).flat_map(|series| cutter.all(series)).collect();
    let cut = |windows: &[WindowRef]| {
        let n = windows.len();
        let mut slices = [6, 3, 3, 6, 1].map(|each| vec![f32::NAN; n * each]);
        let [insample_y, outsample_y, outsample_mask, hist, scale] = &mut slices;
        cutter.cut(
            windows,
            &mut WindowSlices {
                insample_y,
                outsample_y,
                outsample_mask,
                hist,
                scale,
                ..WindowSlices::default()
            },
        );
        slices
    };
    let whole = cut(&windows);
    let (left, right) = windows.split_at(7);
    for (whole, (left, right)) in whole.iter().zip(cut(left).iter().zip(&cut(right))) {
        assert_eq!(*whole, [left.clone(), right.clone()].concat());
    }
    let (right, left) = std::thread::scope(|scope| {
        let left = scope.spawn(|| cut(left));
        (cut(right), left.join().unwrap())
    });
    assert!(
        whole
            .iter()
            .zip(left.iter().zip(&right))
            .all(|(whole, (a, b))| *whole == [a.clone(), b.clone()].concat())
    );
    let mut mask = vec![0.0; windows.len() * 3];
    cutter.cut(&windows, &mut WindowSlices { outsample_mask: &mut mask, ..WindowSlices::default() });
    assert_eq!(mask, whole[2]);
    let mut sums = vec![0.0; 3];
    cutter.add_mask_sums(&windows, &mut sums);
    let total: f64 = mask.iter().map(|mask| f64::from(*mask)).sum();
    assert!((sums.iter().sum::<f64>() - total).abs() < 1e-9);
}

#[test]
fn a_history_as_in_the_panel_is_the_scaled_one_unscaled() {
    let panel = panel(true, false);
    let spec = WindowSpec { scaler: WindowScaler::Standard, start_padding: true, ..WindowSpec::new(6, 3) };
    let cutter = Cutter::new(&panel, &spec, Span::Train { val_size: 2, test_size: 0 }).unwrap();
    let windows: Vec<WindowRef> = (0..3).flat_map(|series| cutter.all(series)).collect();
    let mut slices = [6, 6, 6, 1, 1].map(|each| vec![f32::NAN; windows.len() * each]);
    let [insample_y, raw_insample_y, insample_mask, loc, scale] = &mut slices;
    let slices_of_target =
        WindowSlices { insample_y, raw_insample_y, insample_mask, loc, scale, ..WindowSlices::default() };
    cutter.cut(&windows, &mut { slices_of_target });
    let [scaled, raw, mask, loc, scale] = &mut slices;
    assert!(mask.contains(&0.0) && raw.iter().any(|y| *y != 0.0), "some rows are padding, others are not");
    for (i, history) in scaled.chunks_exact_mut(6).enumerate() {
        cutter.scaler().inverse(Stats { loc: loc[i], scale: scale[i] }, history);
        for (found, raw) in history.iter().zip(&raw[i * 6..]) {
            assert!((found - raw).abs() < 1e-5 * raw.abs().max(1.0), "window {i}: {found}, expected {raw}");
        }
    }
}

#[test]
#[should_panic(expected = "hist: 11 values for 2 windows of 6")]
fn a_slice_of_the_wrong_length_panics() {
    let panel = panel(false, false);
    let spec = WindowSpec { hist: vec!["z".into()], ..WindowSpec::new(6, 3) };
    let cutter = Cutter::new(&panel, &spec, Span::Predict { future: None }).unwrap();
    let windows: Vec<WindowRef> = (0..2).flat_map(|series| cutter.all(series)).collect();
    cutter.cut(&windows, &mut WindowSlices { hist: &mut [0.0; 11], ..WindowSlices::default() });
}
