use super::*;
use crate::Fill;
use crate::error::DataError;
use crate::error::steps::StepError;
use foretell_calendar::TimeKind;

fn freq(word: &str) -> Freq {
    Freq::parse(word).unwrap()
}

fn day(text: &str) -> i64 {
    TimeKind::Timestamp.parse(text).unwrap()
}

#[test]
fn rows_in_any_order_become_series_sorted_by_id() {
    let panel = Panel::builder(TimeKind::Integer)
        .rows(&["b", "a", "b", "a", "b"], &[3, 1, 1, 2, 2], &[30.0, 1.0, 10.0, 2.0, 20.0])
        .column("price", &[3.5, 1.5, 1.25, 2.5, 2.25])
        .static_column("size", &[("b", 2.0), ("elsewhere", f32::NAN), ("a", 1.0)])
        .build()
        .unwrap();
    assert_eq!(panel.n_series(), 2);
    assert_eq!((panel.n_rows(), panel.min_len(), panel.max_len()), (5, 2, 3));
    assert_eq!((&**panel.id(0), &**panel.id(1)), ("a", "b"));
    assert_eq!((panel.find("b"), panel.find("c")), (Some(1), None));
    assert_eq!((panel.y(0), panel.y(1)), (&[1.0, 2.0][..], &[10.0, 20.0, 30.0][..]));
    assert_eq!(panel.column("price", 1).unwrap(), [1.25, 2.25, 3.5]);
    assert_eq!(panel.static_value("size", 1).unwrap(), 2.0);
    assert_eq!(panel.freq(), freq("1"));
    assert_eq!(panel.times(1).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(panel.future_times(0, 2).unwrap(), [3, 4]);
    assert!(panel.available_mask(0).is_none() && panel.sample_weight(0).is_none());
}

#[test]
fn ids_sort_as_text() {
    let panel = Panel::from_series(freq("1"), ["2", "10", "Ä", "Z", "a"].map(|id| (id, 0, [1.0]))).unwrap();
    let ids: Vec<&str> = panel.ids().map(|id| &**id).collect();
    assert_eq!(ids, ["10", "2", "Z", "a", "Ä"]);
}

#[test]
fn cutting_rows_off_shares_the_columns() {
    let panel = Panel::from_series(
        freq("ME"),
        [
            ("a", day("2024-01-31"), vec![1.0, 2.0, 3.0]),
            ("b", day("2024-02-29"), vec![4.0]),
            ("c", day("2024-01-31"), vec![5.0, 6.0]),
        ],
    )
    .unwrap()
    .with_static("size", &[("a", 1.0), ("b", 2.0), ("c", 3.0)])
    .unwrap();
    let cut = panel.without_last(1);
    assert!(Arc::ptr_eq(&cut.data, &panel.data));
    assert_eq!((cut.n_series(), cut.y(0), cut.y(1)), (2, &[1.0, 2.0][..], &[5.0][..]));
    assert_eq!(cut.static_value("size", 1).unwrap(), 3.0);
    assert_eq!(cut.future_times(1, 1).unwrap(), [day("2024-02-29")]);
    assert!(cut.without_last(2).is_empty());
    let more = cut.with_static("rank", &[("c", 8.0), ("a", 7.0)]).unwrap();
    assert_eq!(more.static_value("rank", 1).unwrap(), 8.0);
}

#[test]
fn unknown_rows_need_no_value_and_others_do() {
    let build = |y: &[f32], mask: &[f32]| {
        let times: Vec<i64> = (0..y.len() as i64).collect();
        Panel::builder(TimeKind::Integer).series("a", &times, y).available_mask(mask).build()
    };
    let panel = build(&[1.0, f32::NAN, 3.0], &[1.0, 0.0, 1.0]).unwrap();
    assert_eq!(panel.y(0), [1.0, 0.0, 3.0]);
    assert_eq!(panel.available_mask(0).unwrap(), [1.0, 0.0, 1.0]);
    for (y, mask, message) in [
        (
            [1.0, f32::NAN, 3.0],
            [1.0, 1.0, 1.0],
            "series `a`, row 1, column `y`: \"NaN\" is missing; fill it in (`PanelBuilder::fill` does",
        ),
        ([1.0, f32::INFINITY, 3.0], [1.0, 0.0, 1.0], "series `a`, row 1, column `y`: \"inf\" is not finite"),
        (
            [1.0, 2.0, 3.0],
            [1.0, 0.5, 1.0],
            "series `a`, row 1, column `available_mask`: \"0.5\" is not 0 or 1",
        ),
    ] {
        let error = build(&y, &mask).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn mistakes_in_slices_are_named() {
    let builder = || Panel::builder(TimeKind::Integer).series("a", &[0, 1, 2], &[1.0, 2.0, 3.0]);
    for (builder, message) in [
        (Panel::builder(TimeKind::Integer), "the panel has no rows"),
        (builder().series("b", &[0], &[1.0, 2.0]), "y of series `b`: 2 values where 1 are expected"),
        (builder().rows(&["b"], &[0, 1], &[1.0, 2.0]), "ids: 1 values where 2 are expected"),
        (builder().column("x", &[1.0]), "column `x`: 1 values where 3 are expected"),
        (builder().column("x", &[1.0; 3]).column("x", &[1.0; 3]), "the panel: column `x` appears twice"),
        (
            builder().sample_weight(&[1.0, -1.0, 1.0]),
            "series `a`, row 1, column `sample_weight`: \"-1\" is negative",
        ),
        (builder().sample_weight(&[1.0]), "sample_weight: 1 values where 3 are expected"),
        (builder().series("b", &[5, 7, 6, 6], &[0.0; 4]), "series `b`, row 3: it has 6 already (row 2)"),
        (
            builder().series("b", &[5, 6, 8], &[0.0; 3]),
            "series `b`, row 2: it goes from 6 to 8, but by the inferred frequency `1` 7 comes next; add the rows in between (`PanelBuilder::fill` does so",
        ),
        (
            builder().freq(freq("2")),
            "series `a`, row 1: it goes from 0 to 1, but by the frequency `2` 2 comes next; its times follow `1`",
        ),
        (
            builder().freq(freq("D")),
            "the time column holds integers, but the frequency is `D`; set the one that they seem to follow (`ReadOptions::freq = 1`)",
        ),
        (
            Panel::builder(TimeKind::Integer).series("a", &[0, 1], &[1.0, 2.0]),
            "cannot infer the frequency: the longest series, `a`, has 2 of the 3 rows it takes; set it: its rows would be steps of `1` (",
        ),
        (
            Panel::builder(TimeKind::Timestamp).series("a", &[0, 1, i64::MAX], &[1.0; 3]),
            "series `a`: its times, or those to forecast, leave the years",
        ),
        (builder().static_column("size", &[("b", 1.0)]), "size lacks 1 of the panel's series: `a`"),
        (builder().static_column("size", &[("a", 1.0), ("a", 2.0)]), "row 1: series `a` appears twice"),
        (
            builder().static_column("size", &[("a", 1.0)]).static_column("size", &[("a", 1.0)]),
            "the static table: column `size` appears twice",
        ),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let late = Panel::from_series(freq("D"), [("a", day("9999-12-30"), [1.0, 2.0])]).unwrap();
    assert!(matches!(late.future_times(0, 1), Err(DataError::Steps(StepError::TimeRange { .. }))));
}

#[test]
fn a_column_that_is_not_finite_fails_when_it_is_used() {
    let panel = Panel::builder(TimeKind::Integer)
        .series("a", &[0, 1, 2], &[1.0, 2.0, 3.0])
        .column("holiday", &[0.0, f32::NAN, 1.0])
        .build()
        .unwrap();
    assert_eq!(panel.column_names().collect::<Vec<_>>(), ["holiday"]);
    let error = panel.column("holiday", 0).unwrap_err().to_string();
    assert!(error.starts_with("series `a`, row 1, column `holiday`: \"NaN\" is missing"), "{error}");
    let error = panel.column("holidays", 0).unwrap_err().to_string();
    assert!(
        error.starts_with("the panel has no column `holidays`, did you mean `holiday`?; it has `holiday`"),
        "{error}"
    );
    let bare = Panel::builder(TimeKind::Integer).series("a", &[0, 1, 2], &[1.0; 3]).build().unwrap();
    let told = |error: DataError| error.to_string();
    assert_eq!(
        told(bare.column("cap", 0).unwrap_err()),
        "the panel has no column `cap`; it has no columns beside those it must have, such as ids and times; add the column"
    );
    let error = told(bare.static_value("size", 0).unwrap_err());
    assert!(
        error.contains("no columns beside those it must have, such as ids and times; add the column to the"),
        "{error}"
    );
}

#[test]
fn slices_are_filled_on_request() {
    let panel = Panel::builder(TimeKind::Integer)
        .series("a", &[1, 2, 3, 5], &[1.0, f32::NAN, 3.0, 5.0])
        .fill(Fill::Interpolate)
        .build()
        .unwrap();
    assert_eq!(panel.y(0), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(panel.filled(), Filled { rows: 1, values: 1 });
}

#[test]
fn mistakes_in_slices_name_the_series_and_its_own_row_and_no_flags() {
    let long = || {
        let ids = ["b", "a", "b", "a", "a"];
        Panel::builder(TimeKind::Integer).rows(&ids, &[3, 1, 2, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0])
    };
    for (builder, message) in [
        (long().column("x", &[0.0, 0.0, 0.0, 0.0, f32::INFINITY]), "series `a`, row 2, column `x`: \"inf\""),
        (
            long().column("x", &[0.0, 0.0, f32::NAN, 0.0, 0.0]),
            "series `b`, row 1, column `x`: \"NaN\" is missing",
        ),
        (
            long().categories("x", &["p", "q", "", "p", "q"]),
            "series `b`, row 1, column `x`: \"NaN\" is missing",
        ),
        (long().rows(&["a"], &[2], &[0.0]), "series `a`, row 3: it has 2 already (row 1); keep one"),
        (long().rows(&["a"], &[7], &[0.0]), "series `a`, row 3: it goes from 3 to 7"),
    ] {
        let error = builder.build().and_then(|panel| panel.column("x", 0).map(drop)).unwrap_err().to_string();
        assert!(error.starts_with(message) && !error.contains("--"), "{error}");
    }
    let panel = long().build().unwrap();
    let error = panel.static_value("size", 0).unwrap_err().to_string();
    assert!(error.ends_with("; add the column to the static table (`Panel::with_static_file`)"), "{error}");
    let error = panel.with_static("size", &[("a", 1.0), ("b", f32::NAN)]).unwrap();
    let error = error.static_value("size", 0).unwrap_err().to_string();
    assert!(error.starts_with("series `b`, ") && !error.contains("--"), "{error}");
}
