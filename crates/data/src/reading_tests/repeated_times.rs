//! Times that clocks show twice when they are put back: told apart by the order of the rows.

use crate::error::DataError;
use crate::{Future, Panel, ReadOptions};
use foretell_calendar::Zone;

fn options(wide: bool) -> ReadOptions {
    let zone = Some(Zone::parse("Europe/Berlin").unwrap());
    ReadOptions { wide, zone, ..ReadOptions::default() }
}

fn read(text: &str, wide: bool) -> Result<Panel, DataError> {
    Panel::read_csv(text.as_bytes(), "t.csv", &options(wide))
}

/// The night in which clocks are put back from 3 to 2.
const HOURS: [&str; 6] = ["00:00", "01:00", "02:00", "02:00", "03:00", "04:00"];
const HALVES: [&str; 8] = ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00", "03:30", "04:00"];

fn row(id: &str, time: &str, y: usize) -> String {
    format!("{id}2024-10-27 {time},{y}\n")
}

#[test]
fn hours_shown_twice_are_taken_in_order() {
    for (times, freq) in [(&HOURS[..], "h"), (&HALVES[..], "30min")] {
        let rows: String = times.iter().enumerate().map(|(y, time)| row("", time, y)).collect();
        let wide = read(&format!("ds,a\n{rows}"), true).unwrap();
        // Series one after the other, and side by side.
        let series = |id| times.iter().enumerate().map(move |(y, time)| row(id, time, y));
        let after: String = series("a,").chain(series("b,")).collect();
        let beside: String = series("a,").zip(series("b,")).flat_map(|(a, b)| [a, b]).collect();
        for panel in [
            Ok(wide),
            read(&format!("unique_id,ds,y\n{after}"), false),
            read(&format!("unique_id,ds,y\n{beside}"), false),
        ] {
            let panel = panel.unwrap();
            assert_eq!((panel.freq().to_string(), panel.len(0)), (freq.into(), times.len()));
            assert!(panel.y(0).iter().enumerate().all(|(i, y)| *y == i as f32), "{:?}", panel.y(0));
        }
    }
}

#[test]
fn what_follows_may_be_the_hour_that_is_shown_again() {
    let rows: String = HOURS[..3].iter().enumerate().map(|(y, time)| row("a,", time, y)).collect();
    let panel = read(&format!("unique_id,ds,y\n{rows}"), false).unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("future.csv");
    std::fs::write(&path, "unique_id,ds,x\na,2024-10-27 02:00,1\na,2024-10-27 03:00,2\n").unwrap();
    let future = Future::from_file(&path, &options(false), &panel, 2).unwrap();
    assert_eq!(future.column("x").unwrap(), [1.0, 2.0]);
    // Both of them lie ahead.
    let rows: String =
        ["22:00", "23:00"].iter().enumerate().map(|(y, time)| format!("a,2024-10-26 {time},{y}\n")).collect();
    let text = format!("unique_id,ds,y\n{rows}a,2024-10-27 00:00,2\n");
    let panel = read(&text, false).unwrap();
    std::fs::write(
        &path,
        "unique_id,ds,x\na,2024-10-27 01:00,1\na,2024-10-27 02:00,2\na,2024-10-27 02:00,3\na,2024-10-27 03:00,4\n",
    )
    .unwrap();
    let future = Future::from_file(&path, &options(false), &panel, 4).unwrap();
    assert_eq!(future.column("x").unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn without_an_order_nothing_is_guessed() {
    let rows: String = HOURS.iter().rev().enumerate().map(|(y, time)| row("a,", time, y)).collect();
    let error = read(&format!("unique_id,ds,y\n{rows}"), false).unwrap_err().to_string();
    assert!(error.contains("has 2024-10-27 02:00:00+02:00 already"), "{error}");
    assert!(error.contains("the oldest first") && !error.contains("Europe/Berlin"), "{error}");
    let text = format!(
        "unique_id,ds,y\n{}{}{}",
        row("a,", "02:00", 1),
        row("a,", "02:00", 2),
        row("a,", "01:00", 0)
    );
    let error = read(&text, false).unwrap_err().to_string();
    assert!(error.starts_with("t.csv, line 4, column `ds`: \"2024-10-27 01:00\" comes before"), "{error}");
    // Days at an hour that is shown twice are the first of both, in any order.
    let days = "unique_id,ds,y\na,2024-10-28 02:30,3\na,2024-10-27 02:30,2\na,2024-10-26 02:30,1\n";
    assert_eq!(read(days, false).unwrap().y(0), [1.0, 2.0, 3.0]);
}
