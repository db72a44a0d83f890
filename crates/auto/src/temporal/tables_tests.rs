use std::sync::Arc;

use foretell::{TimeKind, Value};

use super::*;

const HOUR: i64 = DAY / 24;

/// A table of one column `M`, the rows of a series after those of another.
fn table(file: &str, rows: &[(&str, i64, f64)]) -> ForecastTable {
    ForecastTable {
        file: file.into(),
        ids: rows.iter().map(|(id, ..)| Arc::from(*id)).collect(),
        integer_ids: false,
        is_unnamed: false,
        times: rows.iter().map(|(_, time, _)| *time).collect(),
        kind: TimeKind::Timestamp,
        zone: None,
        cutoffs: None,
        columns: vec![("M".to_owned(), rows.iter().map(|(.., value)| *value).collect())],
        known: Default::default(),
        notes: Vec::new(),
    }
}

/// Values from a time on, a step apart.
fn regular(file: &str, (first, step): (i64, i64), values: &[f64]) -> ForecastTable {
    let rows = values.iter().zip(0..).map(|(value, n)| ("a", first + n * step, *value));
    table(file, &rows.collect::<Vec<_>>())
}

fn day(text: &str) -> i64 {
    TimeKind::Timestamp.parse(text).unwrap()
}

fn tables<'a>(steps: &'a ForecastTable, sums: &[(&'a str, &'a ForecastTable)]) -> TemporalTables<'a> {
    let sums = sums.iter().map(|&(period, forecast)| SumsTable { period, forecast, past: None });
    TemporalTables { steps, past: None, sums: sums.collect(), target: "y", method: None }
}

fn refused(steps: &ForecastTable, sums: &[(&str, &ForecastTable)]) -> String {
    tables(steps, sums).reconcile().unwrap_err().to_string()
}

#[test]
fn tables_are_reconciled_as_by_hierarchicalforecast() {
    let fixture: Value = serde_json::from_str(include_str!("../../tests/fixtures/temporal.json")).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let [steps, sums, variances] = ["steps", "sums", "variances"].map(|name| numbers(&fixture[name]));
    let hours = regular("hours.csv", (0, HOUR), &steps);
    // hierarchicalforecast gives a sum the time of its last step.
    let six = regular("six.csv", (5 * HOUR, 6 * HOUR), &sums[..2]);
    let three = regular("three.csv", (0, 3 * HOUR), &sums[2..]);
    // Two errors of the same size have the variance of each of them.
    let past = |variance: f64| {
        let mut table = regular("past.csv", (0, HOUR), &[0.0; 2]);
        table.columns.push(("y".to_owned(), vec![variance.sqrt(), -variance.sqrt()]));
        table
    };
    let past: Vec<ForecastTable> = variances.iter().map(|variance| past(*variance)).collect();
    for method in Temporal::METHODS {
        let mut given = tables(&hours, &[("6h", &six), ("3", &three)]);
        given.method = Some(method);
        if method == Reconciliation::MinTraceVar {
            given.past = Some(&past[2]);
            given.sums.iter_mut().zip(&past).for_each(|(sums, past)| sums.past = Some(past));
        }
        let (found, _) = given.reconcile().unwrap();
        let expected = numbers(&fixture["reconciled"][method.name()]);
        for (found, expected) in found.column("M").unwrap().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6 * expected.abs(), "{method}: {found} and {expected}");
        }
    }
    // With all past errors their variances weigh, else the numbers of steps.
    let mut given = tables(&hours, &[("6h", &six)]);
    assert_eq!(given.reconcile().unwrap().1, Reconciliation::MinTraceWls);
    (given.past, given.sums[0].past) = (Some(&past[2]), Some(&past[0]));
    assert_eq!(given.reconcile().unwrap().1, Reconciliation::MinTraceVar);
    given.sums[0].past = None;
    given.method = Some(Reconciliation::MinTraceVar);
    let error = given.reconcile().unwrap_err().to_string();
    assert!(error.contains("those of 6h are not given"), "{error}");
}

#[test]
fn months_have_their_days() {
    // January to March 2024: each month's gap g is shared by its n days, of variance 1 each, and the sum, of variance n.
    let days = regular("days.csv", (day("2024-01-01"), DAY), &[1.0; 91]);
    let months = ["2024-01-01", "2024-02-01", "2024-03-01"].map(day);
    let sums = |times: [i64; 3], sums: [f64; 3]| {
        table("months.csv", &std::array::from_fn::<_, 3, _>(|n| ("a", times[n], sums[n])))
    };
    let begins = sums(months, [62.0, 0.0, 31.0]);
    let ends = sums(["2024-01-31", "2024-02-29", "2024-03-31"].map(day), [62.0, 0.0, 31.0]);
    let expected: Vec<f64> =
        [(31, 1.5), (29, 0.5), (31, 1.0)].iter().flat_map(|&(n, value)| vec![value; n]).collect();
    for (period, months) in [("MS", &begins), ("ME", &begins), ("ME", &ends)] {
        let (found, _) = tables(&days, &[(period, months)]).reconcile().unwrap();
        let found = found.column("M").unwrap();
        assert!(
            found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-12),
            "{found:?}"
        );
    }
    // Half of January is no January.
    let half = regular("days.csv", (day("2024-01-15"), DAY), &[1.0; 77]);
    let error = refused(&half, &[("MS", &begins)]);
    assert!(error.contains("the sum of series a at 2024-01-01 stands for no period of `MS`"), "{error}");
    let rest = table("months.csv", &[("a", months[2], 62.0)]);
    let (found, _) = tables(&half, &[("MS", &rest)]).reconcile().unwrap();
    let found = found.column("M").unwrap();
    assert!(
        found[..46].iter().all(|&value| value == 1.0)
            && found[46..].iter().all(|value| (value - 1.5).abs() < 1e-12)
    );
}

#[test]
fn days_have_the_hours_of_the_clocks() {
    // From Saturday 30 March 2024 on in Berlin: a day of 24 hours, and one of 23 hours, at the start of summer time.
    let zone = foretell::Zone::parse("Europe/Berlin").unwrap();
    let first = day("2024-03-30") - HOUR;
    let mut hours = regular("hours.csv", (first, HOUR), &[1.0; 47]);
    hours.zone = Some(zone.clone());
    let mut days = regular("days.csv", (first, DAY), &[24.0, 69.0]);
    days.zone = Some(zone);
    let (found, _) = tables(&hours, &[("D", &days)]).reconcile().unwrap();
    // Half of the gap of 46 is shared by 23 hours.
    let found = found.column("M").unwrap();
    assert!(found[..24].iter().all(|&value| value == 1.0), "{found:?}");
    assert!(found[24..].iter().all(|&value| (value - 2.0).abs() < 1e-12), "{found:?}");
    assert!(refused(&hours, &[("24h", &days)]).contains("stands for no period of `24h`"));
}

#[test]
fn quantiles_move_along_and_rows_stay() {
    // Two series, rows mixed, a day of two halves each.
    let mut halves = table(
        "halves.csv",
        &[
            ("b", 12 * HOUR, 4.0),
            ("a", 0, 1.0),
            ("b", 0, 2.0),
            ("a", 12 * HOUR, 3.0),
            ("a", DAY, 9.0),
            ("b", DAY, 9.0),
        ],
    );
    halves.columns.push(("M-hi-80".to_owned(), vec![5.0, 2.0, 3.0, 4.0, 9.0, 9.0]));
    let days = table("days.csv", &[("a", 0, 8.0), ("b", 0, 2.0)]);
    let (found, _) = tables(&halves, &[("D", &days)]).reconcile().unwrap();
    // Gaps of 4 and of -4: each half takes a quarter. The second day has one half, and stays.
    assert_eq!(found.column("M").unwrap(), [3.0, 2.0, 1.0, 4.0, 9.0, 9.0]);
    assert_eq!(found.column("M-hi-80").unwrap(), [4.0, 3.0, 2.0, 5.0, 9.0, 9.0]);
    assert_eq!((&found.ids, &found.times), (&halves.ids, &halves.times));
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let hours = regular("hours.csv", (5 * HOUR, HOUR), &[1.0; 48]);
    let days = |first: i64| regular("days.csv", (first, DAY), &[24.0; 2]);
    let fits = |first: i64| tables(&hours, &[("24h", &days(first))]).reconcile().map(|_| ());
    assert!(fits(5 * HOUR).is_ok() && fits(28 * HOUR).is_ok(), "the first hour, or the last");
    for first in [0, DAY, 24 * HOUR + 5 * HOUR] {
        let error = fits(first).unwrap_err().to_string();
        assert!(error.contains("stands for no period of `24h` whose steps are all forecast"), "{error}");
    }
    let whole = regular("hours.csv", (0, HOUR), &[1.0; 48]);
    let own = table("days.csv", &[("a", 0, 24.0), ("a", 23 * HOUR, 24.0)]);
    assert!(refused(&whole, &[("24h", &own)]).contains("at 1970-01-01 23:00:00 stands for no period"));
    let twice = table("days.csv", &[("a", 0, 24.0), ("a", 0, 24.0)]);
    assert!(refused(&whole, &[("24h", &twice)]).contains("two rows of series a at 1970-01-01"));
    let other = table("days.csv", &[("b", 0, 24.0)]);
    let error = refused(&whole, &[("24h", &other)]);
    assert!(error.contains("days.csv has no row of series a"), "{error}");
    let unknown = table("days.csv", &[("a", 0, f64::NAN)]);
    assert!(refused(&whole, &[("24h", &unknown)]).contains("the value of series a at 1970-01-01"));
    let at = |id, hours: [i64; 3]| hours.map(|hour| (id, hour * HOUR, 1.0));
    let gap = table("hours.csv", &[at("0", [0, 1, 2]), at("a", [1, 2, 4])].concat());
    let error = refused(&gap, &[("2", &days(0))]);
    assert!(error.contains("at 1970-01-01 04:00:00 is not one step (h) after"), "{error}");
    let few = regular("hours.csv", (0, HOUR), &[1.0; 2]);
    assert!(refused(&few, &[("2", &days(0))]).contains("hours.csv: the first forecast has no regular step"));
    let mut named = days(0);
    named.columns[0].0 = "N".to_owned();
    assert!(refused(&whole, &[("24h", &named)]).contains("days.csv has no column `M`"));
    assert!(
        refused(&whole, &[("hours", &days(0))]).contains("temporal must be at least 2 steps or a frequency")
    );
    let mut wrong = tables(&whole, &[]);
    wrong.method = Some(Reconciliation::TopDown);
    assert!(wrong.reconcile().unwrap_err().to_string().contains("temporal_method must be BottomUp"));
}

#[test]
fn windows_of_the_past_are_reconciled_each() {
    let mut halves = regular("past.csv", (0, 12 * HOUR), &[1.0, 1.0, 2.0, 2.0]);
    halves.cutoffs = Some(vec![-12 * HOUR, -12 * HOUR, 12 * HOUR, 12 * HOUR]);
    let mut days = regular("days.csv", (0, DAY), &[6.0, 0.0]);
    days.cutoffs = Some(vec![-DAY, 0]);
    let (found, _) = tables(&halves, &[("2", &days)]).reconcile().unwrap();
    assert_eq!(found.column("M").unwrap(), [2.0, 2.0, 1.0, 1.0]);
    let mut fewer = days.clone();
    fewer.cutoffs = Some(vec![-DAY; 2]);
    let error = refused(&halves, &[("2", &fewer)]);
    assert!(error.contains("days.csv"), "{error}");
}
