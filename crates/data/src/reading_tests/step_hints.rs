//! What lies behind steps that a series should not have, where added rows would be no remedy.

use crate::{Aggregate, Panel, ReadOptions};
use foretell_calendar::{Freq, TimeFormat, Zone};

fn read(rows: &str, options: &ReadOptions) -> Result<Panel, String> {
    Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", options).map_err(|error| error.to_string())
}

fn refused(rows: &str, options: &ReadOptions) -> String {
    read(rows, options).map(|_| ()).unwrap_err()
}

/// Hours, then quarters of them.
fn hours_then_quarters() -> String {
    let hours = (0..8).map(|hour| format!("2024-03-01 {hour:02}:00,4\n"));
    let quarters = (32..64).map(|at| format!("2024-03-01 {:02}:{:02},{}\n", at / 4, at % 4 * 15, at % 4));
    hours.chain(quarters).collect()
}

#[test]
fn where_steps_change_the_time_is_told_and_gathering_gives_one_grid() {
    for rows in [
        hours_then_quarters(),
        hours_then_quarters().lines().take(14).map(|row| format!("{row}\n")).collect(),
    ] {
        let error = refused(&rows, &ReadOptions::new());
        assert!(
            error.contains("its steps are `h` up to 2024-03-01 08:00:00 and `15min` from then on"),
            "{error}"
        );
        assert!(error.contains("`ReadOptions::resample = h`") && !error.contains("fill"), "{error}");
    }
    let options = ReadOptions {
        resample: Some(Freq::parse("h").unwrap()),
        aggregate: Some(Aggregate::Mean),
        ..ReadOptions::new()
    };
    let panel = read(&hours_then_quarters(), &options).unwrap();
    assert_eq!(panel.y(0)[..], [[4.0; 8], [1.5; 8]].concat());
    // Months, then days.
    let months = (1..=6).map(|month| format!("2023-{month:02}-01,30\n"));
    let days = (2..=30).map(|day| format!("2023-06-{day:02},1\n"));
    let error = refused(&months.chain(days).collect::<String>(), &ReadOptions::new());
    assert!(error.contains("`MS` up to 2023-06-01 and `D`") && error.contains("resample = MS"), "{error}");
    // A row that is missing is no change.
    let days: String = (1..=9).filter(|day| *day != 6).map(|day| format!("2023-06-{day:02},1\n")).collect();
    assert!(refused(&days, &ReadOptions::new()).contains("add the rows in between"));
}

#[test]
fn weeks_of_a_year_are_not_filled() {
    let rows: String =
        (202_040..=202_053).chain(202_101..=202_110).map(|week| format!("{week},1\n")).collect();
    let integers = ReadOptions { time_format: Some(TimeFormat::INTEGER), ..ReadOptions::new() };
    for options in [ReadOptions::new(), integers] {
        let error = refused(&rows, &options);
        assert!(error.contains("`ReadOptions::time_format = %G%V`") && !error.contains("fill"), "{error}");
    }
    let options = ReadOptions { time_format: Some(TimeFormat::parse("%G%V").unwrap()), ..ReadOptions::new() };
    let panel = read(&rows, &options).unwrap();
    assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("W-MON", 24));
}

#[test]
fn hours_that_clocks_skip_or_repeat_are_a_matter_of_the_zone() {
    let skipped: String = [0, 1, 3, 4, 5].iter().map(|hour| format!("2024-03-31 {hour:02}:00,1\n")).collect();
    let repeated: String =
        [0, 1, 2, 2, 3, 4].iter().map(|hour| format!("2024-10-27 {hour:02}:00,1\n")).collect();
    let options = ReadOptions { zone: Some(Zone::parse("Europe/Berlin").unwrap()), ..ReadOptions::new() };
    for (rows, len) in [(&skipped, 5), (&repeated, 6)] {
        let error = refused(rows, &ReadOptions::new());
        assert!(error.contains("`ReadOptions::zone = Europe/Berlin`"), "{error}");
        assert!(!error.contains("aggregate"), "{error}");
        assert_eq!(read(rows, &options).unwrap().len(0), len);
    }
    // Two rows of a day, or of an hour of the afternoon, are no such hour.
    for times in [
        ["2024-10-26", "2024-10-27", "2024-10-27"],
        ["2024-10-27 13:00", "2024-10-27 14:00", "2024-10-27 14:00"],
    ] {
        let rows: String = times.iter().map(|time| format!("{time},1\n")).collect();
        assert!(refused(&rows, &ReadOptions::new()).contains("aggregate = sum"));
    }
}
