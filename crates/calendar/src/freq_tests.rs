use super::*;
use proptest::prelude::*;

fn freq(word: &str) -> Freq {
    Freq::parse(word).unwrap()
}

fn time(text: &str) -> i64 {
    TimeKind::Timestamp.parse(text).unwrap()
}

fn times(texts: &[&str]) -> Vec<i64> {
    texts.iter().map(|text| time(text)).collect()
}

/// Printed by pandas 3.1: steps 1, 7, -1 and -5 from a time on or off the grid.
const PANDAS: &[(&str, &str, [&str; 4])] = &[
    (
        "D",
        "2019-12-31 00:00:00",
        ["2020-01-01 00:00:00", "2020-01-07 00:00:00", "2019-12-30 00:00:00", "2019-12-26 00:00:00"],
    ),
    (
        "D",
        "2020-01-15 06:30:00",
        ["2020-01-16 06:30:00", "2020-01-22 06:30:00", "2020-01-14 06:30:00", "2020-01-10 06:30:00"],
    ),
    (
        "D",
        "2020-02-29 00:00:00",
        ["2020-03-01 00:00:00", "2020-03-07 00:00:00", "2020-02-28 00:00:00", "2020-02-24 00:00:00"],
    ),
    (
        "B",
        "2019-12-31 00:00:00",
        ["2020-01-01 00:00:00", "2020-01-09 00:00:00", "2019-12-30 00:00:00", "2019-12-24 00:00:00"],
    ),
    (
        "B",
        "2020-01-15 06:30:00",
        ["2020-01-16 06:30:00", "2020-01-24 06:30:00", "2020-01-14 06:30:00", "2020-01-08 06:30:00"],
    ),
    (
        "B",
        "2020-02-29 00:00:00",
        ["2020-03-02 00:00:00", "2020-03-10 00:00:00", "2020-02-28 00:00:00", "2020-02-24 00:00:00"],
    ),
    (
        "2B",
        "2019-12-31 00:00:00",
        ["2020-01-02 00:00:00", "2020-01-20 00:00:00", "2019-12-27 00:00:00", "2019-12-17 00:00:00"],
    ),
    (
        "2B",
        "2020-01-15 06:30:00",
        ["2020-01-17 06:30:00", "2020-02-04 06:30:00", "2020-01-13 06:30:00", "2020-01-01 06:30:00"],
    ),
    (
        "2B",
        "2020-02-29 00:00:00",
        ["2020-03-03 00:00:00", "2020-03-19 00:00:00", "2020-02-27 00:00:00", "2020-02-17 00:00:00"],
    ),
    (
        "W-SUN",
        "2019-12-31 00:00:00",
        ["2020-01-05 00:00:00", "2020-02-16 00:00:00", "2019-12-29 00:00:00", "2019-12-01 00:00:00"],
    ),
    (
        "W-SUN",
        "2020-01-15 06:30:00",
        ["2020-01-19 06:30:00", "2020-03-01 06:30:00", "2020-01-12 06:30:00", "2019-12-15 06:30:00"],
    ),
    (
        "W-SUN",
        "2020-02-29 00:00:00",
        ["2020-03-01 00:00:00", "2020-04-12 00:00:00", "2020-02-23 00:00:00", "2020-01-26 00:00:00"],
    ),
    (
        "2W-MON",
        "2019-12-31 00:00:00",
        ["2020-01-13 00:00:00", "2020-04-06 00:00:00", "2019-12-23 00:00:00", "2019-10-28 00:00:00"],
    ),
    (
        "2W-MON",
        "2020-01-15 06:30:00",
        ["2020-01-27 06:30:00", "2020-04-20 06:30:00", "2020-01-06 06:30:00", "2019-11-11 06:30:00"],
    ),
    (
        "2W-MON",
        "2020-02-29 00:00:00",
        ["2020-03-09 00:00:00", "2020-06-01 00:00:00", "2020-02-17 00:00:00", "2019-12-23 00:00:00"],
    ),
    (
        "MS",
        "2019-12-31 00:00:00",
        ["2020-01-01 00:00:00", "2020-07-01 00:00:00", "2019-12-01 00:00:00", "2019-08-01 00:00:00"],
    ),
    (
        "MS",
        "2020-01-15 06:30:00",
        ["2020-02-01 06:30:00", "2020-08-01 06:30:00", "2020-01-01 06:30:00", "2019-09-01 06:30:00"],
    ),
    (
        "MS",
        "2020-02-29 00:00:00",
        ["2020-03-01 00:00:00", "2020-09-01 00:00:00", "2020-02-01 00:00:00", "2019-10-01 00:00:00"],
    ),
    (
        "ME",
        "2019-12-31 00:00:00",
        ["2020-01-31 00:00:00", "2020-07-31 00:00:00", "2019-11-30 00:00:00", "2019-07-31 00:00:00"],
    ),
    (
        "ME",
        "2020-01-15 06:30:00",
        ["2020-01-31 06:30:00", "2020-07-31 06:30:00", "2019-12-31 06:30:00", "2019-08-31 06:30:00"],
    ),
    (
        "ME",
        "2020-02-29 00:00:00",
        ["2020-03-31 00:00:00", "2020-09-30 00:00:00", "2020-01-31 00:00:00", "2019-09-30 00:00:00"],
    ),
    (
        "2MS",
        "2019-12-31 00:00:00",
        ["2020-02-01 00:00:00", "2021-02-01 00:00:00", "2019-11-01 00:00:00", "2019-03-01 00:00:00"],
    ),
    (
        "2MS",
        "2020-01-15 06:30:00",
        ["2020-03-01 06:30:00", "2021-03-01 06:30:00", "2019-12-01 06:30:00", "2019-04-01 06:30:00"],
    ),
    (
        "2MS",
        "2020-02-29 00:00:00",
        ["2020-04-01 00:00:00", "2021-04-01 00:00:00", "2020-01-01 00:00:00", "2019-05-01 00:00:00"],
    ),
    (
        "QS",
        "2019-12-31 00:00:00",
        ["2020-01-01 00:00:00", "2021-07-01 00:00:00", "2019-10-01 00:00:00", "2018-10-01 00:00:00"],
    ),
    (
        "QS",
        "2020-01-15 06:30:00",
        ["2020-04-01 06:30:00", "2021-10-01 06:30:00", "2020-01-01 06:30:00", "2019-01-01 06:30:00"],
    ),
    (
        "QS",
        "2020-02-29 00:00:00",
        ["2020-04-01 00:00:00", "2021-10-01 00:00:00", "2020-01-01 00:00:00", "2019-01-01 00:00:00"],
    ),
    (
        "QE-NOV",
        "2019-12-31 00:00:00",
        ["2020-02-29 00:00:00", "2021-08-31 00:00:00", "2019-11-30 00:00:00", "2018-11-30 00:00:00"],
    ),
    (
        "QE-NOV",
        "2020-01-15 06:30:00",
        ["2020-02-29 06:30:00", "2021-08-31 06:30:00", "2019-11-30 06:30:00", "2018-11-30 06:30:00"],
    ),
    (
        "QE-NOV",
        "2020-02-29 00:00:00",
        ["2020-05-31 00:00:00", "2021-11-30 00:00:00", "2019-11-30 00:00:00", "2018-11-30 00:00:00"],
    ),
    (
        "YS-APR",
        "2019-12-31 00:00:00",
        ["2020-04-01 00:00:00", "2026-04-01 00:00:00", "2019-04-01 00:00:00", "2015-04-01 00:00:00"],
    ),
    (
        "YS-APR",
        "2020-01-15 06:30:00",
        ["2020-04-01 06:30:00", "2026-04-01 06:30:00", "2019-04-01 06:30:00", "2015-04-01 06:30:00"],
    ),
    (
        "YS-APR",
        "2020-02-29 00:00:00",
        ["2020-04-01 00:00:00", "2026-04-01 00:00:00", "2019-04-01 00:00:00", "2015-04-01 00:00:00"],
    ),
    (
        "YE",
        "2019-12-31 00:00:00",
        ["2020-12-31 00:00:00", "2026-12-31 00:00:00", "2018-12-31 00:00:00", "2014-12-31 00:00:00"],
    ),
    (
        "YE",
        "2020-01-15 06:30:00",
        ["2020-12-31 06:30:00", "2026-12-31 06:30:00", "2019-12-31 06:30:00", "2015-12-31 06:30:00"],
    ),
    (
        "YE",
        "2020-02-29 00:00:00",
        ["2020-12-31 00:00:00", "2026-12-31 00:00:00", "2019-12-31 00:00:00", "2015-12-31 00:00:00"],
    ),
    (
        "2YE",
        "2019-12-31 00:00:00",
        ["2021-12-31 00:00:00", "2033-12-31 00:00:00", "2017-12-31 00:00:00", "2009-12-31 00:00:00"],
    ),
    (
        "2YE",
        "2020-01-15 06:30:00",
        ["2021-12-31 06:30:00", "2033-12-31 06:30:00", "2018-12-31 06:30:00", "2010-12-31 06:30:00"],
    ),
    (
        "2YE",
        "2020-02-29 00:00:00",
        ["2021-12-31 00:00:00", "2033-12-31 00:00:00", "2018-12-31 00:00:00", "2010-12-31 00:00:00"],
    ),
    (
        "15min",
        "2019-12-31 00:00:00",
        ["2019-12-31 00:15:00", "2019-12-31 01:45:00", "2019-12-30 23:45:00", "2019-12-30 22:45:00"],
    ),
    (
        "15min",
        "2020-01-15 06:30:00",
        ["2020-01-15 06:45:00", "2020-01-15 08:15:00", "2020-01-15 06:15:00", "2020-01-15 05:15:00"],
    ),
    (
        "15min",
        "2020-02-29 00:00:00",
        ["2020-02-29 00:15:00", "2020-02-29 01:45:00", "2020-02-28 23:45:00", "2020-02-28 22:45:00"],
    ),
    (
        "2h",
        "2019-12-31 00:00:00",
        ["2019-12-31 02:00:00", "2019-12-31 14:00:00", "2019-12-30 22:00:00", "2019-12-30 14:00:00"],
    ),
    (
        "2h",
        "2020-01-15 06:30:00",
        ["2020-01-15 08:30:00", "2020-01-15 20:30:00", "2020-01-15 04:30:00", "2020-01-14 20:30:00"],
    ),
    (
        "2h",
        "2020-02-29 00:00:00",
        ["2020-02-29 02:00:00", "2020-02-29 14:00:00", "2020-02-28 22:00:00", "2020-02-28 14:00:00"],
    ),
];

#[test]
fn steps_land_where_pandas_lands() {
    for (word, from, landings) in PANDAS {
        for (n, landing) in [1, 7, -1, -5].into_iter().zip(landings) {
            let next = freq(word).next(time(from), n).unwrap();
            assert_eq!(next, time(landing), "{word} {from} {n}");
        }
    }
}

/// Written by compare/calendars.py.
#[derive(serde::Deserialize)]
struct Landings {
    steps: Vec<i64>,
    cases: std::collections::BTreeMap<String, std::collections::BTreeMap<String, Vec<String>>>,
}

#[test]
fn calendars_lead_where_those_of_pandas_lead() {
    let landings: Landings = serde_json::from_str(include_str!("../tests/fixtures/calendars.json")).unwrap();
    let mut checked = 0;
    for (word, starts) in &landings.cases {
        for (start, expected) in starts {
            for (n, landing) in landings.steps.iter().zip(expected) {
                let (next, landing) = (freq(word).next(time(start), *n).unwrap(), time(landing));
                // When pandas steps back to the end of a day of business, it is the start of the next one here.
                let same = next == landing
                    || word.starts_with("bh") && {
                        next > landing && freq(word).next(next, 1) == freq(word).next(landing, 1)
                    };
                let shown = |time| TimeKind::Timestamp.display(time);
                assert!(same, "{word}: {n} steps from {start}: {} and not {}", shown(next), shown(landing));
                checked += 1;
            }
        }
    }
    assert!(checked > 3000, "{checked}");
}

#[test]
fn retail_months_have_whole_weeks_and_quarters_of_thirteen() {
    // The calendar of the National Retail Federation: 2023 has 53 weeks and ends on 3 February 2024.
    let month = freq("RSM-N-JAN-SAT-454");
    let starts =
        ["2023-01-29", "2023-02-26", "2023-04-02", "2023-04-30", "2023-05-28", "2023-07-02", "2023-07-30"];
    let later =
        ["2023-08-27", "2023-10-01", "2023-10-29", "2023-11-26", "2023-12-31", "2024-02-04", "2024-03-03"];
    let expected = times(&[starts, later].concat());
    assert_eq!(month.times(expected[0], expected.len()), Some(expected));
    let ends = freq("REM-L-DEC-SUN-445").times(time("2022-12-25"), 25).unwrap();
    let quarters = freq("REQ-L-DEC-SUN-4").times(time("2022-12-25"), 9).unwrap();
    assert_eq!(ends.iter().step_by(3).copied().collect::<Vec<_>>(), quarters);
}

#[test]
fn steps_that_leave_the_calendar_are_nothing() {
    let late = time("9999-12-31");
    let calendars = ["C-1000000,2024-01-01", "bh", "SMS", "BMS", "REM-N-JAN-SAT-445", "RE-L-JAN-SAT"];
    for word in ["us", "D", "B", "W-SUN", "ME", "QS", "YE"].into_iter().chain(calendars) {
        assert_eq!(freq(word).next(late, i64::MAX), None, "{word}");
        assert_eq!(freq(word).next(late, i64::MIN), None, "{word}");
        assert_eq!(freq(word).next(late, 5_000_000).is_none(), word != "us", "{word}");
    }
    assert_eq!(freq("2").next(i64::MAX - 1, 1), None);
    assert_eq!(freq("2").next(i64::MAX - 2, 1), Some(i64::MAX));
}

#[test]
fn holidays_are_no_days_of_business() {
    let dates = ["2024-12-25", "2024-12-26", "2024-12-28"].map(|date| date.parse().unwrap());
    let freq = freq("B").without_holidays(&dates).unwrap();
    assert_eq!(freq.to_string(), "C-1111100,2024-12-25,2024-12-26");
    assert_eq!(freq.next(time("2024-12-24"), 1), Some(time("2024-12-27")));
    let hours = self::freq("bh").without_holidays(&dates).unwrap();
    assert_eq!(hours.next(time("2024-12-24 16:00"), 1), Some(time("2024-12-27 09:00")));
    assert_eq!(self::freq("D").without_holidays(&dates), None);
}

#[test]
fn the_first_break_is_found() {
    let months = times(&["2021-01-01", "2021-02-01", "2021-04-01"]);
    assert_eq!(freq("MS").first_break(None, &months), Some(2));
    assert_eq!(freq("ME").first_break(None, &months), Some(1));
    assert_eq!(freq("MS").first_break(None, &months[..2]), None);
    assert_eq!(
        Freq::guess(
            TimeKind::Timestamp,
            None,
            &times(&["2021-01-01", "2021-02-01", "2021-03-01", "2021-05-01", "2021-06-01",])
        ),
        Some(freq("MS"))
    );
}

fn any_word() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec![
        "s", "min", "h", "D", "B", "W-SUN", "W-WED", "MS", "ME", "QS-FEB", "QE", "YS-APR", "YE", "BMS",
        "BQE", "BYS-APR", "SMS", "SME", "bh", "bh-08:30-12:00,13:00-13:30", "C-1111110,2024-12-25",
        "RE-N-JAN-SAT", "REQ-L-DEC-SUN-2", "RSM-N-JAN-SAT-454",
    ]);
    (1..20_i64, unit).prop_map(|(multiple, unit)| format!("{multiple}{unit}"))
}

proptest! {
    #[test]
    fn steps_are_undone_and_add_up(word in any_word(), start in -30_000_i64..30_000, clock in 0..DAY, a in 1..200_i64, b in 1..200_i64) {
        let freq = freq(&word);
        // One step brings any time onto the grid; from there steps form a group.
        let time = freq.next(start * DAY + clock, 1).unwrap();
        let far = freq.next(time, a).unwrap();
        prop_assert!(far > time);
        prop_assert_eq!(freq.next(far, -a), Some(time));
        prop_assert_eq!(freq.next(far, b), freq.next(time, a + b));
        prop_assert_eq!(freq.next(time, 0), Some(time));
        let times = freq.times(time, 12).unwrap();
        prop_assert_eq!(freq.first_break(None, &times), None);
        let inferred = Freq::infer(TimeKind::Timestamp, None, &times);
        // As in pandas, two or more business days are no pattern of their own; others need more than a dozen times.
        let plain = ["B", "C", "bh", "RE", "RS", "SM"].iter().all(|special| !word.contains(special));
        if plain || word == "1B" {
            prop_assert_eq!(inferred.map(|f| f.times(time, 40)), Some(freq.times(time, 40)));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(word in "\\PC{0,8}|[0-9]{0,3}[A-Za-z]{0,3}-?[A-Z]{0,3}|(C|bh|R[ES][QM]?)[-/0-9:,NLA-Z]{0,20}") {
        if let Ok(freq) = Freq::parse(&word) {
            prop_assert_eq!(Freq::parse(&freq.to_string()).unwrap(), freq);
        }
    }
}
