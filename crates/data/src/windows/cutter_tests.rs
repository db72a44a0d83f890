use super::*;
use crate::WindowSlices;
use foretell_calendar::{Freq, TimeKind};
use foretell_simd::Key;
use foretell_tables::{ColumnError, TableError};
use proptest::prelude::*;

fn panel(lens: &[usize], mask: impl Fn(usize, usize) -> f32) -> Panel {
    let mut builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").unwrap());
    let mut masks = Vec::new();
    for (series, len) in lens.iter().enumerate() {
        let times: Vec<i64> = (0..*len as i64).collect();
        let y: Vec<f32> = times.iter().map(|row| (1000 * series + 1) as f32 + *row as f32).collect();
        builder = builder.series(&format!("{series:03}"), &times, &y);
        masks.extend((0..*len).map(|row| mask(series, row)));
    }
    if masks.contains(&0.0) { builder.available_mask(&masks) } else { builder }.build().unwrap()
}

fn known(_: usize, _: usize) -> f32 {
    1.0
}

fn counts(panel: &Panel, spec: &WindowSpec, span: Span<'_>) -> Vec<usize> {
    let cutter = Cutter::new(panel, spec, span).unwrap();
    (0..panel.n_series()).map(|series| cutter.windows_of(series)).collect()
}

/// Printed by neuralforecast 3.3's `_create_windows`: lengths of the series, L, h, step size, start
/// padding, thresholds, val_size, test_size, training windows of each series.
#[test]
fn training_windows_are_as_many_as_there() {
    type Case<'a> = (&'a [usize], usize, usize, usize, bool, [f64; 2], usize, usize, &'a [usize]);
    let table: [Case<'_>; 8] = [
        (&[20], 8, 4, 1, false, [0.0, 0.0], 0, 0, &[12]),
        (&[20], 8, 4, 1, true, [0.0, 0.0], 0, 0, &[19]),
        (&[20, 12, 8], 8, 4, 3, false, [0.0, 0.0], 0, 0, &[4, 3, 2]),
        (&[20, 12, 5], 8, 4, 1, true, [0.5, 0.5], 2, 1, &[12, 4, 0]),
        (&[20, 12, 8], 8, 4, 1, false, [1.0, 1.0], 0, 0, &[9, 1, 0]),
        (&[20, 12, 5], 10, 4, 1, false, [0.3, 0.7], 4, 4, &[1, 0, 0]),
        (&[100, 90], 24, 12, 5, true, [0.9, 0.9], 12, 0, &[12, 10]),
        (&[20, 12, 8], 8, 4, 1, false, [0.0, 0.0], 0, 0, &[12, 11, 7]),
    ];
    for (lens, l, h, step_size, start_padding, availability_threshold, val_size, test_size, expected) in table
    {
        let spec = WindowSpec { step_size, start_padding, availability_threshold, ..WindowSpec::new(l, h) };
        let actual = counts(&panel(lens, known), &spec, Span::Train { val_size, test_size });
        assert_eq!(actual, expected, "{lens:?} {spec:?}");
    }
}

/// Printed by neuralforecast 3.3's `_create_windows` of TSMixer: lengths of the series, L, h, step size, start
/// padding, thresholds, val_size, test_size, numbers of the training windows on the grid.
#[test]
fn windows_of_all_series_are_those_of_neuralforecast() {
    type Case<'a> = (&'a [usize], usize, usize, usize, bool, [f64; 2], usize, usize, &'a [i64]);
    let table: [Case<'_>; 6] = [
        (&[20, 12, 8], 8, 4, 1, false, [0.0, 0.0], 0, 0, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (&[20, 12, 8], 8, 4, 3, true, [0.5, 0.5], 2, 1, &[4]),
        (&[20, 20, 20], 8, 4, 1, false, [1.0, 1.0], 0, 0, &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (&[20, 5, 5], 5, 4, 1, false, [0.6, 0.3], 0, 0, &[12, 13, 14]),
        (&[30, 12, 5], 10, 4, 2, true, [0.3, 0.2], 4, 0, &[4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (&[40, 22, 31], 6, 5, 4, false, [0.9, 0.5], 5, 3, &[4, 5]),
    ];
    for (lens, l, h, step_size, start_padding, availability_threshold, val_size, test_size, expected) in table
    {
        let all_series = true;
        let spec = WindowSpec {
            step_size,
            start_padding,
            availability_threshold,
            all_series,
            ..WindowSpec::new(l, h)
        };
        // Where every window needs all rows, an unknown one takes the window that holds it.
        for unknown in [false, availability_threshold == [1.0; 2]] {
            let expected = if unknown { &expected[1..] } else { expected };
            let panel = panel(lens, |series, row| f32::from(!unknown || (series, row) != (0, 0)));
            let cutter = Cutter::new(&panel, &spec, Span::Train { val_size, test_size }).unwrap();
            assert_eq!(cutter.rows_per_window(), lens.len());
            let rows = cutter.rows();
            let longest = *lens.iter().max().unwrap() as i64;
            let padding = if start_padding { l as i64 - 1 } else { 0 };
            let mut windows = Vec::new();
            for window in rows.chunks(lens.len()) {
                let offsets: Vec<i64> =
                    window.iter().map(|row| row.start - lens[row.series as usize] as i64).collect();
                assert!(
                    offsets.iter().all(|offset| *offset == offsets[0]),
                    "{window:?}: as far from the ends"
                );
                assert!(window.iter().map(|row| row.series as usize).eq(0..lens.len()), "{window:?}");
                windows.push((offsets[0] + longest + padding) / step_size as i64);
            }
            assert_eq!(windows, expected, "{lens:?} {spec:?} {unknown}");

            let mut drawn = Vec::new();
            for n in [1, windows.len(), windows.len() + 3] {
                cutter.draw(&[0], Some(n), &mut Stream::new(Key::new(5)), &mut drawn);
                assert_eq!(drawn.len(), n * lens.len());
                assert!(
                    drawn.chunks(lens.len()).all(|window| rows.chunks(lens.len()).any(|row| row == window))
                );
                let mut distinct = drawn.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert!(distinct.len() == n.min(windows.len()) * lens.len() || n > windows.len());
            }
            cutter.draw(&[], None, &mut Stream::new(Key::new(5)), &mut drawn);
            assert_eq!(drawn, rows);
        }
    }
}

#[test]
fn a_series_is_told_apart_from_what_completes_a_window() {
    let panel = panel(&[20, 6], known);
    let spec = WindowSpec { all_series: true, ..WindowSpec::new(4, 2) };
    let cutter = Cutter::new(&panel, &spec, Span::Test { test_size: 10, step_size: 4 }).unwrap();
    let rows = cutter.rows();
    assert_eq!(rows.len(), 3 * 2);
    let own: Vec<bool> = rows.iter().map(|row| cutter.is_of_series(*row)).collect();
    // The second series begins after the cutoffs of the first two windows.
    assert_eq!(own, [true, false, true, false, true, true]);
}

/// The same rules on arrays: every window of the padded frame, and whether it is kept.
fn materialised(panel: &Panel, spec: &WindowSpec, span: Span<'_>) -> Vec<(WindowRef, Vec<bool>)> {
    let (l, h) = (spec.input_size, spec.horizon);
    let longest = panel.max_len() as i64;
    let mut windows = Vec::new();
    for series in 0..panel.n_series() {
        let len = panel.len(series) as i64;
        let mask = panel.available_mask(series);
        // Row number and whether it is known; padding has numbers beyond the series.
        let cell = |row: i64| {
            let real = (0..len).contains(&row);
            (row, real && mask.is_none_or(|mask| mask[row as usize] == 1.0))
        };
        let mut frame: Vec<(i64, bool)> = (len - longest..len).map(cell).collect();
        let pad_left = |frame: &mut Vec<(i64, bool)>, count: usize, next: i64| {
            let first = frame.first().map_or(next, |cell| cell.0);
            frame.splice(..0, (first - count as i64..first).map(cell));
        };
        let (mut step, mut least) = (spec.step_size, [0, 0]);
        match span {
            Span::Train { val_size, test_size } => {
                frame.truncate(frame.len().saturating_sub(val_size + test_size));
                let end = frame.last().map_or(len - longest, |cell| cell.0 + 1);
                frame.extend((end..end + h as i64).map(|row| (row, false)));
                if spec.start_padding {
                    pad_left(&mut frame, l - 1, 0);
                }
                let [insample, outsample] = spec.availability_threshold;
                let count = |rows: usize, fraction: f64| ((rows as f64 * fraction) as usize).max(1);
                least = [count(l, insample), count(h, outsample)];
            }
            Span::Validation { val_size, test_size } => {
                frame.drain(..frame.len().saturating_sub(l + val_size + test_size));
                frame.truncate(frame.len().saturating_sub(test_size));
                if frame.len() < l + h {
                    let count = l + val_size - frame.len();
                    pad_left(&mut frame, count, len - longest);
                }
            }
            Span::Test { test_size, step_size } => {
                step = step_size;
                if frame.len() < l + test_size {
                    let count = l + test_size - frame.len();
                    pad_left(&mut frame, count, 0);
                }
                frame.drain(..frame.len() - l - test_size);
            }
            Span::Insample { step_size, .. } => {
                // Of the series' own rows as many as whole steps cover, after nothing but padding.
                step = step_size;
                let rows = match len as usize {
                    len if len < h => 0,
                    len => h + (len - h) / step * step,
                };
                frame.drain(..frame.len() - rows);
                pad_left(&mut frame, l, len);
                if rows == 0 {
                    frame.clear();
                }
            }
            Span::Predict { .. } => {
                frame.extend((len..len + h as i64).map(|row| (row, false)));
                if frame.len() < l + h {
                    let count = l + h - frame.len();
                    pad_left(&mut frame, count, 0);
                }
                frame.drain(..frame.len() - l - h);
            }
        }
        let needs_a_cutoff = matches!(span, Span::Test { .. } | Span::Insample { from_padding: false, .. });
        for window in frame.windows(l + h).step_by(step) {
            let ones = |cells: &[(i64, bool)]| cells.iter().filter(|cell| cell.1).count();
            let cutoff = window[l - 1].0;
            if ones(&window[..l]) >= least[0]
                && ones(&window[l..]) >= least[1]
                && (cutoff >= 0 || !needs_a_cutoff)
            {
                let start = WindowRef { series: series as u32, start: window[0].0 };
                windows.push((start, window.iter().map(|cell| cell.1).collect()));
            }
        }
    }
    windows
}

fn any_spec() -> impl Strategy<Value = WindowSpec> {
    let threshold = prop::sample::select(vec![0.0, 0.3, 0.5, 0.7, 1.0]);
    (1..14_usize, 1..8_usize, 1..5_usize, any::<bool>(), threshold.clone(), threshold).prop_map(
        |(l, h, step_size, start_padding, a, b)| WindowSpec {
            step_size,
            start_padding,
            availability_threshold: [a, b],
            ..WindowSpec::new(l, h)
        },
    )
}

fn any_span() -> impl Strategy<Value = Span<'static>> {
    prop_oneof![
        (0..20_usize, 0..10_usize).prop_map(|(val_size, test_size)| Span::Train { val_size, test_size }),
        (1..20_usize, 0..10_usize).prop_map(|(val_size, test_size)| Span::Validation { val_size, test_size }),
        (1..8_usize, 0..5_usize).prop_map(|(step_size, n)| Span::Test { test_size: n, step_size }),
        (1..8_usize, any::<bool>())
            .prop_map(|(step_size, from_padding)| Span::Insample { step_size, from_padding }),
        Just(Span::Predict { future: None }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn closed_forms_equal_materialised_windows(
        lens in prop::collection::vec(1..40_usize, 1..5),
        spec in any_spec(),
        span in any_span(),
        holes in prop::option::of(0..u64::MAX),
    ) {
        let span = match span {
            Span::Validation { val_size, test_size } => {
                Span::Validation { val_size: val_size.max(spec.horizon), test_size }
            }
            Span::Test { test_size, step_size } => {
                Span::Test { test_size: spec.horizon + test_size * step_size, step_size }
            }
            span => span,
        };
        let panel = panel(&lens, |series, row| match holes {
            Some(seed) => f32::from(!Key::new(seed).bits((series * 64 + row) as u64).is_multiple_of(3)),
            None => 1.0,
        });
        let expected = materialised(&panel, &spec, span);
        let cutter = match Cutter::new(&panel, &spec, span) {
            Ok(cutter) => cutter,
            Err(DataError::Windows(WindowError::NoWindows { rows, insample, outsample, .. })) => {
                prop_assert!(expected.is_empty());
                // What it says is needed is more than there is, unless rows are unknown, or windows begin too far apart.
                let exact = holes.is_none() && (spec.step_size == 1 || !spec.start_padding);
                prop_assert!(rows < insample + outsample || !exact);
                return Ok(());
            }
            Err(DataError::Windows(WindowError::TooShort { .. })) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let windows: Vec<WindowRef> = (0..panel.n_series()).flat_map(|series| cutter.all(series)).collect();
        let starts: Vec<WindowRef> = expected.iter().map(|(start, _)| *start).collect();
        prop_assert_eq!(&windows, &starts);
        prop_assert_eq!(cutter.n_windows(), starts.len());
        let (l, h, n) = (spec.input_size, spec.horizon, windows.len());
        let (mut y, mut mask) = (vec![f32::NAN; n * l], vec![f32::NAN; n * l]);
        let (mut future_y, mut future_mask) = (vec![f32::NAN; n * h], vec![f32::NAN; n * h]);
        cutter.cut(&windows, &mut WindowSlices {
            insample_y: &mut y,
            insample_mask: &mut mask,
            outsample_y: &mut future_y,
            outsample_mask: &mut future_mask,
            ..WindowSlices::default()
        });
        let mut sums = vec![0.0; h];
        cutter.add_mask_sums(&windows, &mut sums);
        for (i, (window, known)) in expected.iter().enumerate() {
            for (t, known) in known.iter().enumerate() {
                let (value, mask) = if t < l {
                    (y[i * l + t], mask[i * l + t])
                } else {
                    sums[t - l] -= f64::from(u8::from(*known));
                    (future_y[i * h + t - l], future_mask[i * h + t - l])
                };
                prop_assert_eq!(mask, f32::from(*known));
                let row = window.start + t as i64;
                let real = (1000 * window.series as i64 + 1 + row) as f32;
                // An unknown row within the series keeps its value; padding is zero.
                prop_assert!(value == real || (!*known && value == 0.0), "{} at row {}", value, row);
                prop_assert!(!*known || value == real);
            }
        }
        prop_assert!(sums.iter().all(|sum| *sum == 0.0), "{:?}", sums);
    }

    #[test]
    fn draws_are_distinct_while_they_can_be(
        lens in prop::collection::vec(8..60_usize, 1..6),
        n in 1..80_usize,
        seed in any::<u64>(),
    ) {
        let panel = panel(&lens, known);
        let spec = WindowSpec::new(6, 2);
        let cutter = Cutter::new(&panel, &spec, Span::Train { val_size: 0, test_size: 0 }).unwrap();
        let batch: Vec<u32> = (0..lens.len() as u32).rev().step_by(2).collect();
        let all: Vec<WindowRef> = batch.iter().flat_map(|series| cutter.all(*series as usize)).collect();
        let mut drawn = vec![WindowRef { series: 9, start: 9 }];
        cutter.draw(&batch, Some(n), &mut Stream::new(Key::new(seed)), &mut drawn);
        prop_assert_eq!(drawn.len(), n);
        prop_assert!(drawn.iter().all(|window| all.contains(window)));
        let mut distinct = drawn.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert!(distinct.len() == n || all.len() < n);
        cutter.draw(&batch, None, &mut Stream::new(Key::new(seed)), &mut drawn);
        prop_assert_eq!(drawn, all);
    }
}

#[test]
fn every_window_is_drawn_about_equally_often() {
    let panel = panel(&[12, 30, 9], |_, row| f32::from(row != 7));
    let cutter = Cutter::new(&panel, &WindowSpec::new(4, 2), Span::Train { val_size: 0, test_size: 0 });
    let cutter = cutter.unwrap();
    let total = cutter.n_windows();
    for n in [10, total + 5] {
        let mut stream = Stream::new(Key::new(3));
        let (mut times, mut batch) = (std::collections::BTreeMap::new(), Vec::new());
        let rounds = 20_000;
        for _ in 0..rounds {
            cutter.draw(&[2, 0, 1], Some(n), &mut stream, &mut batch);
            batch.iter().for_each(|window| *times.entry(*window).or_insert(0) += 1);
        }
        let expected = (rounds * n) as f64 / total as f64;
        assert_eq!(times.len(), total);
        for (window, times) in times {
            // Five standard deviations of a Poisson count.
            assert!(
                (f64::from(times) - expected).abs() < 5.0 * expected.sqrt(),
                "{window:?} {times} {expected}"
            );
        }
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let panel = panel(&[20, 12], known);
    let spec = WindowSpec::new(8, 4);
    let error = |spec: &WindowSpec, span| Cutter::new(&panel, spec, span).unwrap_err().to_string();
    let train = Span::Train { val_size: 0, test_size: 0 };
    let zero = WindowSpec { input_size: 0, ..spec.clone() };
    assert_eq!(error(&zero, train), "input_size must be 1 to 2147483647, found 0");
    let huge = WindowSpec { horizon: usize::MAX, ..spec.clone() };
    assert_eq!(error(&huge, train), "h must be 1 to 2147483647, found 18446744073709551615");
    let share = WindowSpec { availability_threshold: [0.0, f64::NAN], ..spec.clone() };
    assert!(
        error(&share, train)
            .starts_with("training_data_availability_threshold must be 0.0 to 1.0, found NaN")
    );
    assert!(error(&spec, Span::Validation { val_size: 3, test_size: 0 }).starts_with("val_size must be 4"));
    assert!(error(&spec, Span::Train { val_size: usize::MAX, test_size: 0 }).starts_with("val_size"));
    assert_eq!(
        error(&spec, Span::Test { test_size: 9, step_size: 2 }),
        "test_size must be h = 4 plus a multiple of step_size = 2, found 9"
    );
    assert!(error(&spec, Span::Test { test_size: 9, step_size: 0 }).starts_with("step_size must be 1 to "));
    let short = error(&spec, Span::Train { val_size: 5, test_size: 0 });
    assert!(
        short.starts_with("series `001` has 7 rows to train on (5 held out), but input_size = 8 needs 8"),
        "{short}"
    );
    let none = Span::Train { val_size: 0, test_size: 13 };
    assert_eq!(
        error(&spec, none),
        "no training window: it needs 8 rows of input and 1 after them to learn to forecast, and the longest series has 7 to \
         train on (13 held out); give more rows, or hold out fewer (val_size; n_windows and step_size of a \
         cross-validation), or lower input_size, or set start_padding_enabled"
    );
    let strict = WindowSpec { start_padding: true, availability_threshold: [0.5, 1.0], ..spec.clone() };
    let strict = error(&strict, none);
    assert!(strict.contains("needs 4 rows of input and 4 after them"), "{strict}");
    assert!(strict.ends_with("cross-validation), or lower training_data_availability_threshold"), "{strict}");
}

#[test]
fn steps_that_no_window_shows_are_a_mistake() {
    let check = |panel: &Panel, spec: &WindowSpec, val_size: usize| {
        let span = Span::Train { val_size, test_size: 0 };
        Cutter::new(panel, spec, span).unwrap().check_horizon()
    };
    let (short, spec) = (panel(&[60, 20], known), WindowSpec::new(8, 53));
    check(&short, &WindowSpec::new(8, 52), 0).unwrap();
    check(&short, &WindowSpec { all_series: true, ..WindowSpec::new(8, 52) }, 0).unwrap();
    assert_eq!(
        check(&short, &spec, 0).unwrap_err().to_string(),
        "no training window shows the truth of 1 of the h = 53 steps, which would be forecast by weights that nothing \
         trained: the longest series has 60 rows to train on (0 held out), and of these input_size = 8 come before the \
         horizon; lower h to 52, the longest horizon that these data teach, or give more rows, or lower input_size to 7, or \
         set start_padding_enabled"
    );
    // The first of the windows begins with a row of the series.
    let padded = |h| WindowSpec { start_padding: true, ..WindowSpec::new(8, h) };
    check(&short, &padded(59), 0).unwrap();
    let error = check(&short, &padded(59), 1).unwrap_err().to_string();
    assert!(error.contains("lower h to 58") && error.contains("(1 held out)"), "{error}");
    assert!(error.contains("and of these at least one comes before the horizon"), "{error}");
    assert!(!error.contains("start_padding_enabled") && !error.contains("lower input_size"), "{error}");

    // What is masked teaches nothing.
    let masked = panel(&[60, 60], |_, row| f32::from(row % 7 != 3));
    let spec = WindowSpec { step_size: 7, ..WindowSpec::new(8, 6) };
    for all_series in [false, true] {
        let error = check(&masked, &WindowSpec { all_series, ..spec.clone() }, 0).unwrap_err().to_string();
        assert!(error.contains("lower h to 2") && error.contains("where available_mask"), "{error}");
        check(&masked, &WindowSpec { all_series, step_size: 1, ..spec.clone() }, 0).unwrap();
    }
}

#[test]
fn columns_are_found_or_named() {
    let panel = panel(&[20, 12], known);
    let spec = WindowSpec { hist: vec!["price".into()], ..WindowSpec::new(8, 4) };
    let predict = Span::Predict { future: None };
    assert!(matches!(
        Cutter::new(&panel, &spec, predict),
        Err(DataError::Table(TableError::Column(ColumnError::Missing { .. })))
    ));
    let spec = WindowSpec { stat: vec!["size".into()], ..WindowSpec::new(8, 4) };
    assert!(matches!(
        Cutter::new(&panel, &spec, predict),
        Err(DataError::Table(TableError::Column(ColumnError::Missing { .. })))
    ));
    let spec = WindowSpec { futr: vec!["price".into()], ..WindowSpec::new(8, 4) };
    assert!(matches!(
        Cutter::new(&panel, &spec, predict),
        Err(DataError::Future(FutureError::Needed { .. }))
    ));
    let future = Future::new(&panel, 3, &[("price", &[1.0; 6])]).unwrap();
    let predict = Span::Predict { future: Some(&future) };
    assert!(matches!(
        Cutter::new(&panel, &spec, predict),
        Err(DataError::Future(FutureError::Shape { expected: 8, found: 6 }))
    ));
}
