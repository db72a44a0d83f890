//! What is behind steps that a series should not have, where added rows would be no remedy.

use crate::{Aggregate, Panel, ReadOptions};
use foretell_calendar::{Freq, TimeFormat, TimeKind, Zone};

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

/// The hours on the clocks from day to day, without those that `left_out` names, and some of them twice.
fn hours(days: &[&str], left_out: &[&str], twice: &[&str]) -> String {
    let times = days.iter().flat_map(|day| (0..24).map(move |hour| format!("{day} {hour:02}:00")));
    let times = times.filter(|time| !left_out.contains(&time.as_str()));
    times.map(|time| format!("{time},1\n").repeat(1 + usize::from(twice.contains(&time.as_str())))).collect()
}

const SPRING: [&str; 2] = ["2024-03-30", "2024-03-31"];
const AUTUMN: [&str; 2] = ["2024-10-26", "2024-10-27"];

#[test]
fn an_hour_that_never_was_is_told_by_its_own_row_with_what_reads_the_file() {
    let zone = |word: &str| ReadOptions { zone: Zone::parse(word).ok(), ..ReadOptions::new() };
    let berlin = zone("Europe/Berlin");
    let error = refused(&hours(&SPRING, &[], &[]), &berlin);
    assert!(error.starts_with("t.csv, line 28: series `y`: clocks of Europe/Berlin were put"), "{error}");
    assert!(error.contains("over 2024-03-31 02:00:00, and") && error.contains("(t.csv, line 29)"), "{error}");
    assert!(error.contains("leave out the row") && error.contains("`ReadOptions::zone = +01:00`"), "{error}");
    // Both do: one for local times, one for standard time.
    let standard = read(&hours(&SPRING, &[], &[]), &zone("+01:00")).unwrap();
    let local = read(&hours(&SPRING, &["2024-03-31 02:00"], &[]), &berlin).unwrap();
    assert_eq!([standard.len(0), local.len(0)], [48, 47]);
    // Half-hours, of any of which clocks show another: the row of an hour that was has no fault.
    let halves: String =
        ["01:30", "02:00", "02:30", "03:00", "03:30"].map(|time| format!("2024-03-31 {time},1\n")).concat();
    assert!(refused(&halves, &berlin).starts_with("t.csv, line 3: "));
    // Rows that become one do not take it in, and gathered ones do not either.
    for resample in [None, Freq::parse("D").ok()] {
        let options = ReadOptions { aggregate: Some(Aggregate::Sum), resample, ..berlin.clone() };
        assert!(refused(&hours(&SPRING, &[], &[]), &options).starts_with("t.csv, line 28: "));
    }
    let wide = ReadOptions { wide: true, ..berlin.clone() };
    assert!(refused(&hours(&SPRING, &[], &[]), &wide).starts_with("t.csv, line 28: "));
    // Days at that hour have nothing else there.
    let days = "2024-03-30 02:30,1\n2024-03-31 02:30,2\n2024-04-01 02:30,3\n";
    let days_of = ReadOptions { freq: Freq::parse("D").ok(), ..berlin.clone() };
    assert_eq!(read(days, &days_of).unwrap().y(0), [1.0, 2.0, 3.0]);
}

#[test]
fn the_night_in_autumn_tells_whether_clocks_are_changed_in_the_file() {
    let berlin = ReadOptions { zone: Zone::parse("Europe/Berlin").ok(), ..ReadOptions::new() };
    let [after, before] = ["2024-10-27 02:00", "2024-03-31 02:00"];
    let both = |left_out: &[&str], twice: &[&str]| {
        refused(&(hours(&SPRING, left_out, &[]) + &hours(&AUTUMN, &[], twice)), &berlin)
    };
    let error = both(&[], &[after]);
    assert!(error.contains("are local times") && !error.contains("+01:00"), "{error}");
    let error = both(&[], &[]);
    assert!(error.contains("no clocks are changed") && error.contains("zone = +01:00"), "{error}");
    assert!(error.contains("read them without a zone"), "{error}");
    // In autumn alone, and where the days of spring show that the clocks are changed.
    let rows = hours(&AUTUMN, &[], &[]);
    let error = refused(&rows, &berlin);
    assert!(error.contains("name its offset (`ReadOptions::zone = +01:00`)"), "{error}");
    let standard = ReadOptions { zone: Zone::parse("+01:00").ok(), ..ReadOptions::new() };
    assert_eq!(read(&rows, &standard).unwrap().len(0), 48);
    const HOUR: i64 = 3_600_000_000;
    let first = TimeKind::Timestamp.parse("2024-03-30").unwrap();
    let times = (0..24 * 212).map(|hour| TimeKind::Timestamp.display(first + hour * HOUR));
    let rows: String =
        times.filter(|time| !time.starts_with(before)).map(|time| format!("{time},1\n")).collect();
    let error = refused(&rows, &berlin);
    assert!(error.contains("from 2024-10-27 02:00:00+02:00 to 2024-10-27 03:00:00+01:00"), "{error}");
    assert!(!error.contains("+01:00`"), "{error}");
}
