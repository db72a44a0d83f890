//! A table in which several columns make the time: a date and an hour, a year and a month.

use crate::{Panel, ReadOptions};
use foretell_calendar::{TimeKind, Zone};
use foretell_tables::Hours;

#[test]
fn half_hours_of_a_day_are_counted_from_midnight() {
    // The day on which clocks are put back has 50, that on which they are put forward 46.
    let days = [("2024-10-26", 48), ("2024-10-27", 50), ("2024-10-28", 48)];
    let rows: String = days
        .iter()
        .flat_map(|(day, count)| (1..=*count).map(move |number| format!("{day},{number},{number}\n")))
        .collect();
    let text = format!("settlement_date,Settlement Period,load\n{rows}");
    let options = ReadOptions {
        time_cols: vec!["settlement_date".to_owned(), "Settlement Period".to_owned()],
        target_col: "load".to_owned(),
        ..ReadOptions::new()
    };
    let read = |zone: Option<&str>| {
        let zone = zone.map(|name| Zone::parse(name).unwrap());
        Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions { zone, ..options.clone() })
    };
    let panel = read(Some("Europe/London")).unwrap();
    assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("30min", 146));
    assert_eq!(panel.y(0)[96..99], [49.0, 50.0, 1.0]);
    let error = read(None).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("\"2024-10-27 49\" belongs to a day of 25 hours"), "{error}");
    assert!(error.contains("`ReadOptions::zone = Europe/London`"), "{error}");
}

/// The times that two columns make.
fn joined(names: [&str; 2], rows: &[[&str; 2]], hours: Option<Hours>) -> Result<Vec<String>, String> {
    let rows: String = rows.iter().map(|[date, part]| format!("{date},{part},1\n")).collect();
    let time_cols = names.map(str::to_owned).to_vec();
    let options = ReadOptions { time_cols, hours, ..ReadOptions::new() };
    let text = format!("{},y\n{rows}", names.join(","));
    let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options).map_err(|error| error.to_string())?;
    Ok(panel.times(0).map(|time| TimeKind::Timestamp.display(time)).collect())
}

#[test]
fn a_second_column_is_the_part_that_its_name_or_letter_says() {
    for (names, parts, times) in [
        (["year", "half"], ["H1", "H2", "H1"], ["2020-01-01", "2020-07-01", "2021-01-01"]),
        (["year", "n"], ["Q3", "Q4", "Q1"], ["2020-07-01", "2020-10-01", "2021-01-01"]),
        (["year", "n"], ["W52", "W53", "W1"], ["2020-12-21", "2020-12-28", "2021-01-04"]),
        (["Jahr", "KW"], ["KW 52", "KW 53", "KW 1"], ["2020-12-21", "2020-12-28", "2021-01-04"]),
        (["Year", "Month"], ["November", "Dec", "January"], ["2020-11-01", "2020-12-01", "2021-01-01"]),
    ] {
        let rows = [["2020", parts[0]], ["2020", parts[1]], ["2021", parts[2]]];
        assert_eq!(joined(names, &rows, None).unwrap(), times);
    }
    let day = |parts: [&'static str; 3]| parts.map(|part| ["2024-03-01", part]);
    let quarters = joined(["day", "quarter"], &day(["94", "95", "96"]), None).unwrap();
    assert_eq!(quarters, ["2024-03-01 23:15:00", "2024-03-01 23:30:00", "2024-03-01 23:45:00"]);
    let pointed = joined(["day", "Uhrzeit"], &day(["06.00", "06.30", "07.00"]), None).unwrap();
    assert_eq!(pointed, ["2024-03-01 06:00:00", "2024-03-01 06:30:00", "2024-03-01 07:00:00"]);
    let error = joined(["day", "shift"], &day(["1", "2", "3"]), None).unwrap_err();
    assert!(error.contains("its number does not say when it begins"), "{error}");
}

#[test]
fn the_end_of_a_day_is_read_as_such_where_times_have_minutes() {
    let rows = ["23:00", "23:30", "24:00"].map(|time| ["2024-03-01", time]);
    let next = [["2024-03-02", "00:30"]];
    for hours in [None, Some(Hours::Starting)] {
        let times = joined(["date", "time"], &[&rows[..], &next].concat(), hours).unwrap();
        assert_eq!(times[2..], ["2024-03-02", "2024-03-02 00:30:00"]);
    }
}

fn hours(days: &[(&str, &[&str])], name: &str) -> String {
    let mut text = format!("date,{name},y\n");
    for (day, hours) in days {
        hours.iter().enumerate().for_each(|(y, hour)| text += &format!("{day},{hour},{y}\n"));
    }
    text
}

fn read(text: &str, name: &str, hours: Option<Hours>, zone: Option<&str>) -> Result<Panel, String> {
    let zone = zone.map(|zone| Zone::parse(zone).unwrap());
    let options =
        ReadOptions { time_cols: vec!["date".into(), name.into()], hours, zone, ..ReadOptions::new() };
    Panel::read_csv(text.as_bytes(), "t.csv", &options).map_err(|error| error.to_string())
}

/// The steps of the first series between its rows, in hours.
fn steps(panel: &Panel) -> Vec<i64> {
    let times: Vec<i64> = panel.times(0).collect();
    times.windows(2).map(|pair| (pair[1] - pair[0]) / 3_600_000_000).collect()
}

#[test]
fn hours_that_are_counted_through_a_day_are_asked_for_and_read() {
    let day = |most: usize| (1..=most).map(|hour| hour.to_string()).collect::<Vec<_>>();
    let texts = [day(24), day(25), day(24)];
    let slices: Vec<Vec<&str>> = texts.iter().map(|day| day.iter().map(String::as_str).collect()).collect();
    let back = hours(
        &[("2024-11-02", &slices[0]), ("2024-11-03", &slices[1]), ("2024-11-04", &slices[2])],
        "hour_ending",
    );
    let forward = hours(
        &[("2024-03-09", &slices[0]), ("2024-03-10", &slices[0][..23]), ("2024-03-11", &slices[2])],
        "hour_ending",
    );
    let zone = Some("America/New_York");
    for (text, rows) in [(&back, 73), (&forward, 71)] {
        let panel = read(text, "hour_ending", Some(Hours::Counted), zone).unwrap();
        assert_eq!((steps(&panel), panel.len(0)), (vec![1; rows - 1], rows));
        for zone in [None, zone] {
            let error = read(text, "hour_ending", None, zone).map(|_| ()).unwrap_err();
            let advised = error.contains("`ReadOptions::hours = counted`")
                || zone.is_none() && error.contains("`ReadOptions::zone = Europe/London`");
            assert!(advised && !error.contains("aggregate"), "{error}");
        }
    }
    let error = read(&back, "hour_ending", Some(Hours::Counted), None).map(|_| ()).unwrap_err();
    assert!(error.contains("\"2024-11-03 25\" belongs to a day of 25 hours"), "{error}");
    let error = read(&back, "hour_ending", Some(Hours::Counted), Some("Asia/Tokyo")).map(|_| ()).unwrap_err();
    assert!(error.contains("is beyond the end of its day"), "{error}");
}

#[test]
fn letters_of_an_hour_that_is_there_twice_need_the_zone() {
    let plain: Vec<String> = (1..=24).map(|hour| format!("{hour:02}")).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    let twice = |at: usize, names: &[&'static str]| [&plain[..at], names, &plain[at + 1..]].concat();
    for (names, at, days, zone) in [
        (&["3A", "3B"][..], 2, ["2024-10-26", "2024-10-27", "2024-10-28"], "Europe/Berlin"),
        (&["03", "3B"], 2, ["2024-10-26", "2024-10-27", "2024-10-28"], "Europe/Berlin"),
        (&["02", "02X"], 1, ["2024-11-02", "2024-11-03", "2024-11-04"], "America/New_York"),
    ] {
        let long = twice(at, names);
        let text = hours(&[(days[0], &plain), (days[1], &long), (days[2], &plain)], "HE");
        let panel = read(&text, "HE", None, Some(zone)).unwrap();
        assert_eq!((steps(&panel), panel.len(0)), (vec![1; 72], 73), "{names:?}");
        let error = read(&text, "HE", None, None).map(|_| ()).unwrap_err();
        assert!(error.contains("one of two hours that clocks show alike"), "{error}");
        let error = read(&text, "HE", None, Some("Asia/Tokyo")).map(|_| ()).unwrap_err();
        assert!(error.contains("name the zone of the file"), "{error}");
        let other = text.replace("date,HE,y", "date,hour,y");
        let error = read(&other, "hour", None, Some(zone)).map(|_| ()).unwrap_err();
        assert!(error.contains("`ReadOptions::hours = ending`"), "{error}");
    }
}
