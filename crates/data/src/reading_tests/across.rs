//! Tables whose times go across: a series a row with a column for each time, a day a row with a column for each hour, or a year a

use crate::{Aggregate, Panel, ReadOptions};
use foretell_calendar::Zone;
use foretell_tables::{Across, Hours};

#[test]
fn quarters_among_their_months_are_no_months() {
    let read = |header: &str, row: &str, across: Option<Across>, how: Option<Aggregate>| {
        let options = ReadOptions { across, aggregate: how, ..ReadOptions::new() };
        Panel::read_csv(format!("{header}\n{row}").as_bytes(), "t.csv", &options)
    };
    let header = "account,2022-01,2022-02,2022-03,Q1 2022,2022-04,2022-05,2022-06,Q2 2022";
    let sums = Some(Aggregate::Sum);
    for how in [None, sums] {
        let panel = read(header, "revenue,1,2,3,6,4,5,6,15\n", Some(Across::Times), how).unwrap();
        assert_eq!(panel.y(0)[..], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.contains("their sums: `Q1 2022`, `Q2 2022`")), "{notes:?}");
    }
    // Rows of a long table, which no one may add up either.
    for how in [None, sums] {
        let rows = "2022-01,1\n2022-02,2\n2022-03,3\nQ1 2022,6\n";
        let error = read("ds,y", rows, None, how).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("1 of 4 times are quarters"), "{error}");
    }
}

#[test]
fn months_of_another_language_are_not_passed_over() {
    let options = ReadOptions { across: Some(Across::Times), ..ReadOptions::new() };
    let read = |options: &ReadOptions| {
        let text = "id,Jan 19,Feb 19,Mrz 19,Apr 19,Mai 19,note 1\na,1,2,3,4,5,x\n";
        Panel::read_csv(text.as_bytes(), "t.csv", options).map_err(|error| error.to_string())
    };
    let error = read(&options).map(|_| ()).unwrap_err();
    let told = "the column `Mrz 19` stands among times: `ReadOptions::locale = de` reads it as 2019-03-01";
    assert!(error.contains(told), "{error}");
    let german = ReadOptions { locale: "de".parse().ok(), ..options };
    assert_eq!(read(&german).unwrap().y(0), [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn columns_behind_those_of_a_day_are_not_passed_over() {
    let read = |names: Vec<String>| {
        let cells: Vec<String> = (1..=names.len()).map(|value| value.to_string()).collect();
        let text = format!("date,{}\n2024-10-27,{}\n", names.join(","), cells.join(","));
        let options = ReadOptions { across: Some(Across::Hours), ..ReadOptions::new() };
        Panel::read_csv(text.as_bytes(), "t.csv", &options).map_err(|error| error.to_string())
    };
    let numbers = |word: &str, most: usize| (1..=most).map(|number| format!("{word}{number}")).collect();
    for (count, freq) in [(24, "h"), (48, "30min"), (96, "15min")] {
        let panel = read(numbers("", count)).unwrap();
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), (freq, count));
        assert_eq!(panel.y(0)[count - 1], count as f32);
    }
    let mut twice: Vec<String> = numbers("HE", 24);
    twice.insert(2, "HE2X".to_owned());
    for (names, beyond) in [(numbers("H", 25), "`H25`"), (numbers("", 50), "`25`"), (twice, "`HE2X`")] {
        let error = read(names).map(|_| ()).unwrap_err();
        assert!(error.contains(beyond) && error.contains("= date,hour`"), "{error}");
    }
}

/// The hours of days in Berlin, counted through each: 23 in spring, and 25 in autumn.
fn hours_of(day: &str) -> usize {
    match day {
        "2024-03-31" => 23,
        "2024-10-27" => 25,
        _ => 24,
    }
}

fn berlin() -> ReadOptions {
    ReadOptions::new().zone(Zone::parse("Europe/Berlin").unwrap())
}

#[test]
fn hours_that_are_counted_through_days_of_25_columns_are_read_in_their_zone() {
    let header: String = (1..=25).map(|hour| format!(",HE{hour:02}")).collect();
    let read = |days: [&str; 3], options: &ReadOptions| {
        let mut next = 0;
        let rows = days.map(|day| {
            let hours = (0..25).map(|hour| match hour < hours_of(day) {
                true => {
                    next += 1;
                    format!(",{next}")
                }
                false => ",".to_owned(),
            });
            format!("{day}{}\n", hours.collect::<String>())
        });
        Panel::read_csv(format!("date{header}\n{}", rows.concat()).as_bytes(), "t.csv", options)
    };
    let across = berlin().across(Across::Hours);
    let counted = ReadOptions { hours: Some(Hours::Counted), ..across.clone() };
    for (days, hours) in
        [(["2024-03-30", "2024-03-31", "2024-04-01"], 71), (["2024-10-26", "2024-10-27", "2024-10-28"], 73)]
    {
        let error = read(days, &across).unwrap_err().to_string();
        assert!(error.contains("`ReadOptions::hours = counted`"), "{error}");
        let panel = read(days, &counted).unwrap();
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("h", hours));
        assert!(panel.y(0).iter().zip(1..).all(|(y, hour)| *y == hour as f32), "{:?}", panel.y(0));
    }
    let autumn = ["2024-10-26", "2024-10-27", "2024-10-28"];
    let error = read(autumn, &ReadOptions { zone: None, ..counted.clone() }).unwrap_err().to_string();
    assert!(error.contains("belongs to a day of 25 hours; name the zone"), "{error}");
    let error = read(autumn, &ReadOptions { hours: Some(Hours::Ending), ..counted }).unwrap_err().to_string();
    assert!(error.contains("hours") && error.contains("counted"), "{error}");
    // As the error advises for rows: with letters or without.
    for prefix in ["", "HE", "Hour "] {
        let rows: String = autumn
            .iter()
            .flat_map(|day| (1..=hours_of(day)).map(move |hour| format!("{day},{prefix}{hour},{hour}\n")))
            .collect();
        let options = ReadOptions { hours: Some(Hours::Counted), ..berlin().time_cols(["date", "hour"]) };
        let panel = Panel::read_csv(format!("date,hour,y\n{rows}").as_bytes(), "t.csv", &options).unwrap();
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0), panel.y(0)[48]), ("h", 73, 25.0));
    }
}

#[test]
fn an_hour_that_never_was_and_has_no_value_is_no_row() {
    let days = ["2024-03-30", "2024-03-31", "2024-04-01"];
    let header: String = (1..=24).map(|hour| format!(",HE{hour:02}")).collect();
    let cell =
        |day: &str, hour: i32| if day == days[1] && hour == 3 { String::new() } else { hour.to_string() };
    let row = |day: &&str| {
        format!("{day}{}\n", (1..=24).map(|hour| format!(",{}", cell(day, hour))).collect::<String>())
    };
    let text = format!("date{header}\n{}", days.iter().map(row).collect::<String>());
    let panel = Panel::read_csv(text.as_bytes(), "t.csv", &berlin().across(Across::Hours)).unwrap();
    assert_eq!(
        (panel.freq().to_string().as_str(), panel.len(0), &panel.y(0)[24..28]),
        ("h", 71, &[1.0, 2.0, 4.0, 5.0][..])
    );
    // The same of rows, in a long table and in a wide one.
    let rows: String = days
        .iter()
        .flat_map(|day| (1..=24).map(move |hour| format!("{day} {:02}:00,{}\n", hour - 1, cell(day, hour))))
        .collect();
    for wide in [false, true] {
        let options = ReadOptions { wide, ..berlin() };
        let panel = Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &options).unwrap();
        assert_eq!((panel.len(0), &panel.y(0)[24..28]), (71, &[1.0, 2.0, 4.0, 5.0][..]));
    }
}

#[test]
fn parts_of_years_are_no_series_of_their_own() {
    let header: String = (1..=13).map(|period| format!(",P{period:02}")).collect();
    let rows: String = (2020..2023).map(|year| format!("{year}{}\n", ",1".repeat(13))).collect();
    let text = format!("Year{header}\n{rows}");
    let read = |options: &ReadOptions| {
        Panel::read_csv(text.as_bytes(), "t.csv", options).map(|_| ()).unwrap_err().to_string()
    };
    let error = read(&ReadOptions::new());
    assert!(error.contains("P01 to P13 look like the periods of four weeks of a year"), "{error}");
    assert!(error.contains("name the season (13)") && !error.contains("across"), "{error}");
    let error = read(&ReadOptions::new().across(Across::Times));
    assert!(error.contains("a series would end with its year; write a row for each"), "{error}");
    // What it says: numbers that count on.
    let rows: String = (0..39).map(|period| format!("{period},{}\n", period % 13)).collect();
    let panel = Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &ReadOptions::new()).unwrap();
    assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("1", 39));
}
