//! The columns of features beside those of pandas, and what each may see of the data.

use std::collections::BTreeMap;

use crate::threads::Workers;
use crate::{FEATURES, Features};
use foretell_calendar::{Freq, TimeKind, Zone};
use foretell_data::{Future, Panel};
use serde_json::Value;

const DAY: i64 = 86_400_000_000;

fn fixture() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/columns.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a fixture")).expect("JSON")
}

fn numbers(values: &Value) -> Vec<Option<f64>> {
    values.as_array().expect("numbers").iter().map(Value::as_f64).collect()
}

fn workers() -> Workers {
    Workers::new(2).expect("threads")
}

fn features(words: &str) -> Features {
    words.parse().expect(words)
}

/// All examples of the table at once.
fn all() -> Features {
    features(&FEATURES.iter().map(|entry| entry.example).collect::<Vec<_>>().join(","))
}

fn time(text: &str) -> i64 {
    TimeKind::Timestamp.parse(text).expect("a time")
}

/// Series of days, each from its first one.
fn days(series: &[(&str, i64, &[f32])]) -> Panel {
    let mut builder = Panel::builder(TimeKind::Timestamp).freq(Freq::parse("D").expect("a frequency"));
    for (id, first, y) in series {
        let times: Vec<i64> = (0..y.len() as i64).map(|row| first + row * DAY).collect();
        builder = builder.series(id, &times, y);
    }
    builder.build().expect("a panel")
}

fn walk(rows: usize, seed: usize) -> Vec<f32> {
    (0..rows).map(|t| ((t * 31 + seed * 7) % 17) as f32 + (t as f32 * 0.3).sin() * 5.0).collect()
}

#[test]
fn columns_of_the_target_are_those_of_pandas() {
    let fixture = fixture();
    let y: Vec<f32> = numbers(&fixture["y"]).into_iter().map(|y| y.expect("known") as f32).collect();
    let words = "lag:1,7,diff:1,7,roll_mean:3,28,100,roll_std:3,28,100,roll_min:3,28,100,roll_max:3,28,100,\
                 roll_quantile:5:0,0.1,0.5,0.9,1,roll_quantile:28:0,0.1,0.5,0.9,1,roll_quantile:150:0,0.1,0.5,0.9,1,ewm:0.3";
    let panel = features(words).add_to(&days(&[("a", 0, &y)]), &workers()).expect("columns");
    let past = fixture["past"].as_object().expect("columns");
    assert_eq!(past.len(), features(words).columns().len());
    for (name, expected) in past {
        let found = panel.column(name, 0).expect(name);
        let is_level = !name.starts_with("diff") && !name.starts_with("roll_std");
        for (row, (found, expected)) in found.iter().zip(numbers(expected)).enumerate() {
            // Before there is enough history: the last value, zero for differences and deviations.
            let before = if is_level && row > 0 { f64::from(y[row - 1]) } else { 0.0 };
            let expected = expected.unwrap_or(before);
            let off = (f64::from(*found) - expected).abs();
            assert!(off <= 1e-5 * (1.0 + expected.abs()), "{name} at {row}: {found}, {expected}");
        }
    }
}

#[test]
fn columns_of_dates_are_those_of_pandas() {
    for (freq, expected) in fixture()["dates"].as_object().expect("frequencies") {
        let freq = Freq::parse(freq).expect("a frequency");
        let first = time(expected["start"].as_str().expect("a time"));
        let times = freq.times(first, 400).expect("times");
        let builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times[..100], &[0.0; 100]);
        let panel = builder.build().expect("a panel");
        let columns: BTreeMap<String, Value> =
            serde_json::from_value(expected["columns"].clone()).expect("columns");
        let dates = features(&columns.keys().cloned().collect::<Vec<_>>().join(","));
        let past = dates.add_to(&panel, &workers()).expect("columns");
        let future = dates.ahead(&panel, 300, &workers()).expect("columns");
        for (name, expected) in &columns {
            let ahead = future.column(name).expect(name);
            let found = [past.column(name, 0).expect(name), ahead].concat();
            let expected: Vec<f32> =
                numbers(expected).into_iter().map(|value| value.expect("known") as f32).collect();
            assert_eq!(found, expected, "{name} of {freq}");
        }
    }
}

#[test]
fn what_comes_after_a_row_changes_nothing_in_it() {
    let (rows, cut) = (300, 170);
    let before = walk(rows, 1);
    let mut after = before.clone();
    // The row itself may change too: its features see what is before it.
    after[cut..].iter_mut().for_each(|y| *y = 1e3 - *y);
    let wide = |y: &[f32]| all().add_to(&days(&[("a", 19_000 * DAY, y)]), &workers()).expect("columns");
    let [one, other] = [wide(&before), wide(&after)];
    for name in all().columns() {
        let [one, other] = [&one, &other].map(|panel| panel.column(&name, 0).expect("a column"));
        assert_eq!(one[..=cut], other[..=cut], "{name}");
        let is_past = all().hist_columns().contains(&name);
        assert_eq!(is_past, one[cut + 1..] != other[cut + 1..], "{name} does not follow the target");
    }
}

#[test]
fn a_series_is_computed_alone_as_among_others_on_any_number_of_threads() {
    let series: Vec<(String, Vec<f32>)> =
        (0..40).map(|i| (format!("s{i:02}"), walk(1 + i * i % 700, i))).collect();
    let of = |some: &[(String, Vec<f32>)]| {
        let parts: Vec<(&str, i64, &[f32])> =
            some.iter().map(|(id, y)| (id.as_str(), 18_000 * DAY + y.len() as i64 * DAY, &y[..])).collect();
        days(&parts)
    };
    let panel = of(&series);
    let wide = all().add_to(&panel, &workers()).expect("columns");
    let alone = all().add_to(&panel, &Workers::new(1).expect("a thread")).expect("columns");
    let future = all().ahead(&panel, 5, &workers()).expect("columns");
    for (place, one) in series.iter().enumerate() {
        let single = of(std::slice::from_ref(one));
        let own = all().add_to(&single, &workers()).expect("columns");
        let cut = all().add_to(&panel.of_series(place..place + 1), &workers()).expect("columns");
        let own_future = all().ahead(&single, 5, &workers()).expect("columns");
        for name in all().columns() {
            let expected = own.column(&name, 0).expect("a column");
            for (panel, series) in [(&wide, place), (&alone, place), (&cut, 0)] {
                assert_eq!(panel.column(&name, series).expect("a column"), expected, "{name} of {}", one.0);
            }
        }
        for name in all().futr_columns() {
            let among = &future.column(&name).expect("a column")[place * 5..place * 5 + 5];
            assert_eq!(among, own_future.column(&name).expect("a column"), "{name} of {}", one.0);
        }
    }
}

#[test]
fn the_future_is_what_the_past_will_be() {
    let y = walk(60, 3);
    let first = time("2024-12-01");
    let whole = all().add_to(&days(&[("a", first, &y)]), &workers()).expect("columns");
    let future = all().ahead(&days(&[("a", first, &y[..40])]), 20, &workers()).expect("columns");
    for name in all().futr_columns() {
        let expected = &whole.column(&name, 0).expect("a column")[40..];
        assert_eq!(future.column(&name).expect("a column"), expected, "{name}");
    }
    assert!(all().hist_columns().iter().all(|name| future.column(name).is_err()));
}

#[test]
fn rows_that_are_not_known_count_as_the_last_known_one() {
    let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").expect("a frequency"));
    let builder = builder.series("a", &[0, 1, 2, 3, 4, 5], &[0.0, 5.0, 0.0, 0.0, 8.0, 9.0]);
    let panel = builder.available_mask(&[0.0, 1.0, 0.0, 0.0, 1.0, 1.0]).build().expect("a panel");
    let wide = features("lag:1,2,diff:1,roll_mean:3").add_to(&panel, &workers()).expect("columns");
    let column = |name: &str| wide.column(name, 0).expect("a column").to_vec();
    assert_eq!(column("lag_1"), [0.0, 0.0, 5.0, 5.0, 5.0, 8.0]);
    assert_eq!(column("lag_2"), [0.0, 0.0, 5.0, 5.0, 5.0, 5.0]);
    assert_eq!(column("diff_1"), [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
    assert_eq!(column("roll_mean_3"), [0.0, 0.0, 5.0, 5.0, 5.0, 6.0]);
}

#[test]
fn fourier_terms_and_trend_follow_the_time() {
    let y = walk(800, 0);
    let first = time("2023-05-17");
    let wide = features("fourier:yearly:2,fourier:7:1,trend")
        .add_to(&days(&[("a", first, &y)]), &workers())
        .expect("columns");
    for row in 0..y.len() {
        let days = (first / DAY + row as i64) as f64;
        let near = |name: &str, expected: f64| {
            let found = f64::from(wide.column(name, 0).expect("a column")[row]);
            assert!(
                (found - expected).abs() < 2e-6 * expected.abs().max(0.5),
                "{name} at {row}: {found}, {expected}"
            );
        };
        let turn = std::f64::consts::TAU * days;
        near("fourier_yearly_sin_1", (turn / 365.25).sin());
        near("fourier_yearly_cos_2", (2.0 * turn / 365.25).cos());
        near("fourier_7_sin_1", (turn / 7.0).sin());
        near("trend", (days - 10_957.0) / 365.25);
    }
    // Of integers the period is in steps.
    let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").expect("a frequency"));
    let panel = builder.series("a", &[3, 4, 5], &[0.0; 3]).build().expect("a panel");
    let wide = features("fourier:4:1,trend").add_to(&panel, &workers()).expect("columns");
    assert_eq!(wide.column("fourier_4_sin_1", 0).expect("a column"), [-1.0, 0.0, 1.0]);
    assert_eq!(wide.column("trend", 0).expect("a column"), [3.0, 4.0, 5.0]);
    let error = features("weekday").add_to(&panel, &workers()).expect_err("no dates").to_string();
    assert!(error.contains("feature weekday needs dates"), "{error}");
}

#[test]
fn holidays_have_days_around_them() {
    let panel = days(&[("a", time("2024-12-22"), &[0.0; 7])]);
    let wide = features("holidays:DE:2:1").add_to(&panel, &workers()).expect("columns");
    let column = |name: &str| wide.column(name, 0).expect("a column").to_vec();
    // Christmas and the day after it.
    assert_eq!(column("holidays_DE"), [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(column("holidays_DE_before_1"), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(column("holidays_DE_before_2"), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(column("holidays_DE_after_1"), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn years_without_a_list_of_holidays_are_told_and_may_stay_open() {
    let panel = days(&[("a", time("2024-01-01"), &[0.0; 2]), ("b", time("2050-12-31"), &[0.0; 2])]);
    let holidays = features("holidays:DE");
    let [(_, told)] = &holidays.caveats(&panel)[..] else { panic!("one caveat") };
    assert_eq!(
        told,
        "the holidays of DE are known from 1990-01-01 to 2050-12-31, and series b needs those of 2051-01-01: outside of these \
         years they are not known; a file of days may stand in place of DE"
    );
    assert_eq!(holidays.columns_of(&panel, &workers()).expect("columns")[0].1, [1.0, 0.0, 0.0, 0.0]);
    let open = &holidays.known_columns_of(&panel, &workers()).expect("columns")[0].1;
    assert!(open[..3] == [1.0, 0.0, 0.0] && open[3].is_nan(), "{open:?}");
    assert!(holidays.caveats(&days(&[("a", time("2024-01-01"), &[0.0; 2])])).is_empty());
}

#[test]
fn holidays_are_unknown_of_rows_to_come_and_of_days_around_a_row_as_well() {
    let told = |words: &str, panel: &Panel, h| {
        features(words).caveats_ahead(panel, h).into_iter().map(|(_, told)| told).collect::<Vec<_>>()
    };
    let panel = days(&[("a", time("2050-12-29"), &[0.0; 2])]);
    assert!(told("holidays:DE", &panel, 1).is_empty());
    assert!(told("holidays:DE", &panel, 2)[0].contains("series a needs those of 2051-01-01"));
    assert!(told("holidays:DE:3", &panel, 0)[0].contains("series a needs those of 2051-01-02"));
    // On the day, before and after it.
    for (month, open) in [("1990-01-01", [false, false, true]), ("2050-12-01", [false, true, false])] {
        let panel = Panel::from_series(Freq::parse("MS").unwrap(), [("a", month, vec![0.0])]).unwrap();
        let columns = features("holidays:DE:1:1").known_columns_of(&panel, &workers()).unwrap();
        let found: Vec<bool> = columns.iter().map(|(_, values)| values[0].is_nan()).collect();
        assert_eq!(found, open, "{month}");
    }
    // Of a week both doubts are told.
    let weeks = Panel::from_series(Freq::parse("W-SUN").unwrap(), [("a", "2051-01-01", vec![0.0])]).unwrap();
    let [both] = &told("holidays:DE", &weeks, 0)[..] else { panic!("one text") };
    assert!(both.contains("needs those of 2051-01-01") && both.contains("write holidays:DE:begin"), "{both}");
    assert!(features("holidays:DE").known_columns_of(&weeks, &workers()).unwrap()[0].1[0].is_nan());
}

#[test]
fn rows_of_weeks_and_months_count_the_holidays_in_them() {
    let of = |freq: &str, first: &str, words: &str| {
        let panel = Panel::from_series(Freq::parse(freq).unwrap(), [("a", first, vec![0.0; 3])]).unwrap();
        let column =
            features(words).add_to(&panel, &workers()).unwrap().column("holidays_DE", 0).unwrap().to_vec();
        let ahead =
            features(words).ahead(&panel, 1, &workers()).unwrap().column("holidays_DE").unwrap().to_vec();
        let told = features(words).caveats(&panel).into_iter().map(|(word, told)| format!("{word}: {told}"));
        ([column, ahead].concat(), told.collect::<Vec<_>>())
    };
    // 25, 26 December and 1 January.
    let (weeks, told) = of("W-SUN", "2024-12-15", "holidays:DE");
    assert_eq!(weeks, [0.0, 0.0, 2.0, 1.0]);
    assert_eq!(
        told,
        [
            "holidays:DE: a row counts the holidays of all days that it stands for, with the frequency `W-SUN` \
             the row 2024-12-29 of series a those from 2024-12-23 to 2024-12-29; where these days begin \
             with that of the row, write holidays:DE:begin, else holidays:DE:end"
        ]
    );
    assert_eq!(of("W-SUN", "2024-12-15", "holidays:DE:end"), (weeks, Vec::new()));
    // Weeks that begin on Mondays.
    assert_eq!(of("W-MON", "2024-12-16", "holidays:DE:begin"), (vec![0.0, 2.0, 1.0, 0.0], Vec::new()));
    // Of months there is no doubt: Easter was on 31 March and 1 April.
    assert_eq!(of("MS", "2024-03-01", "holidays:DE"), (vec![1.0, 1.0, 3.0, 0.0], Vec::new()));
    assert_eq!(of("ME", "2024-03-31", "holidays:DE"), (vec![1.0, 1.0, 3.0, 0.0], Vec::new()));
    assert_eq!(of("QS-JAN", "2024-01-01", "holidays:DE"), (vec![2.0, 4.0, 0.0, 3.0], Vec::new()));
    let panel = Panel::from_series(Freq::parse("MS").unwrap(), [("a", "2024-12-01", vec![0.0])]).unwrap();
    let around = features("holidays:DE:1:1:end").columns_of(&panel, &workers()).unwrap();
    let around: Vec<(&str, f32)> = around.iter().map(|(name, values)| (&**name, values[0])).collect();
    // Rows are said to end on 1 December: from 2 November on.
    assert_eq!(around, [("holidays_DE", 0.0), ("holidays_DE_before_1", 0.0), ("holidays_DE_after_1", 0.0)]);
}

#[test]
fn dates_are_those_of_the_zone() {
    let zone = Zone::parse("America/New_York").expect("a zone");
    // 23:00 on a Sunday there, 4:00 on Monday in UTC.
    let times = [time("2024-01-08 04:00"), time("2024-01-08 05:00")];
    let builder = Panel::builder(TimeKind::Timestamp).freq(Freq::parse("h").expect("a frequency")).zone(zone);
    let panel = builder.series("a", &times, &[0.0; 2]).build().expect("a panel");
    let dates = features("hour,weekday");
    let wide = dates.add_to(&panel, &workers()).expect("columns");
    assert_eq!(wide.column("hour", 0).expect("a column"), [23.0, 0.0]);
    assert_eq!(wide.column("weekday", 0).expect("a column"), [6.0, 0.0]);
    assert_eq!(dates.ahead(&panel, 1, &workers()).expect("columns").column("hour").expect("a column"), [1.0]);
}

#[test]
fn columns_that_are_there_already_are_refused() {
    let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").expect("a frequency"));
    let panel = builder.series("a", &[0, 1], &[0.0; 2]).column("lag_1", &[0.0; 2]).build().expect("a panel");
    let error = features("lag:1").add_to(&panel, &workers()).expect_err("twice").to_string();
    assert!(error.contains("lag_1"), "{error}");
    let future = Future::new(&panel, 1, &[("trend", &[1.0])]).expect("a future");
    assert!(features("trend").add_to_future(future, &panel, &workers()).is_err());
    // Nothing is computed of no features.
    assert_eq!(Features::default().add_to(&panel, &workers()).expect("as it is").column_names().count(), 1);
}

#[test]
fn lags_of_hours_follow_the_clock_and_what_is_not_known_may_stay_open() {
    // Clocks are put back from 3 to 2 in the night to the 29th: the day has 25 hours.
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let start = time("2023-10-27 22:00");
    let times: Vec<i64> = (0..72).map(|hour| start + hour * 3_600_000_000).collect();
    let hour = |time: &i64| zone.civil(*time).unwrap().rem_euclid(86_400_000_000) / 3_600_000_000;
    let y: Vec<f32> = times.iter().map(|time| hour(time) as f32).collect();
    let builder = Panel::builder(TimeKind::Timestamp).zone(zone.clone()).freq(Freq::parse("h").unwrap());
    let panel = builder.series("a", &times, &y).build().unwrap();
    let both = features("lag:24h,lag:24");
    let columns = both.known_columns_of(&panel, &workers()).unwrap();
    let [(name, clock), (_, rows)] = &columns[..] else { panic!("{columns:?}") };
    assert_eq!(name, "lag_24h");
    assert!(clock[..24].iter().chain(&rows[..24]).all(|y| y.is_nan()));
    assert_eq!(clock[24..], y[24..], "the same hour of the day");
    let off = |column: &[f32]| (24..72).filter(|&row| column[row] != y[row]).count();
    assert_eq!((off(clock), off(rows)), (0, 24));
    // What models read is a number in every row.
    let read = both.columns_of(&panel, &workers()).unwrap();
    assert_eq!((read[0].1[0], read[0].1[5], read[1].1[5]), (0.0, y[4], y[4]));
    // Of a time before all calendars nothing is known.
    let early = days(&[("a", time("1960-01-01"), &[1.0, 2.0])]);
    let column = &features("lag:106751991d").known_columns_of(&early, &workers()).unwrap()[0].1;
    assert!(column.iter().all(|y| y.is_nan()), "{column:?}");
    let integers = Panel::from_series(Freq::parse("1").unwrap(), [("a", 0, vec![1.0, 2.0])]).unwrap();
    assert!(features("lag:24h").columns_of(&integers, &workers()).is_err());
}
