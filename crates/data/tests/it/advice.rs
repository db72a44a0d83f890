//! Each advice of a message, when followed, leads to the right table or to another question, never to a wrong table.

use foretell_calendar::{Freq, TimeFormat, TimeKind, Zone};
use foretell_data::{Aggregate, Fill, Panel, ReadOptions};
use foretell_tables::{Hours, NumberFormat};

/// The settings that a message names, with their values; a way of filling for the one that has none.
fn advised(message: &str) -> Vec<(&str, &str)> {
    let quoted = message.split('`').skip(1).step_by(2);
    let settings = quoted.filter_map(|quoted| quoted.strip_prefix("ReadOptions::"));
    settings.map(|setting| setting.split_once(" = ").unwrap_or((setting, "forward"))).collect()
}

/// The options with a setting; nothing if the advice is no value, as the name alone of one that the user must know.
fn with(mut options: ReadOptions, name: &str, value: &str) -> Option<ReadOptions> {
    let mark = || value.chars().next().filter(|mark| !mark.is_alphanumeric());
    let list = || value.split(',').map(str::to_owned).collect::<Vec<_>>();
    match name {
        "fill" => options.fill = Some(value.parse::<Fill>().ok()?),
        "aggregate" => options.aggregate = Some(value.parse::<Aggregate>().ok()?),
        "resample" => {
            options.resample = Some(Freq::parse(value).ok()?);
            options.aggregate = options.aggregate.or(Some(Aggregate::Mean));
        }
        "time_format" => options.time_format = Some(TimeFormat::parse(value).ok()?),
        "zone" => options.zone = Some(Zone::parse(value).ok()?),
        "freq" => options.freq = Some(Freq::parse(value).ok()?),
        "snap" => options.snap = Some(Freq::parse(value).ok()?),
        "hours" => options.hours = Some(value.parse::<Hours>().ok()?),
        "zeros" => options.zeros = list(),
        "missing" => options.missing = list(),
        "number_flags" => options.number_flags = list(),
        "numbers.decimal" => options.numbers = NumberFormat::new(mark()?, None).ok()?,
        "numbers.thousands" => {
            let decimal = if mark()? == '.' { ',' } else { '.' };
            options.numbers = NumberFormat::new(decimal, mark()).ok()?;
        }
        _ => return None,
    }
    Some(options)
}

/// What is right of a table: its rows, and its first and last time on the clocks.
#[derive(Debug, PartialEq)]
struct Table {
    rows: usize,
    ends: [String; 2],
    last: f32,
}

fn table(rows: usize, first: &str, last: &str, value: f32) -> Table {
    Table { rows, ends: [first.to_owned(), last.to_owned()], last: value }
}

fn read(text: &str, options: &ReadOptions) -> Result<Table, String> {
    let panel = Panel::read_csv(text.as_bytes(), "t.csv", options).map_err(|error| error.to_string())?;
    let kind = if panel.freq().to_string() == "1" { TimeKind::Integer } else { TimeKind::Timestamp };
    let shown = |row| {
        let time = panel.time(0, row);
        match panel.zone() {
            Some(zone) => kind.display(zone.civil(time).unwrap()),
            None => kind.display(time),
        }
    };
    let last = panel.len(0) - 1;
    Ok(Table { rows: last + 1, ends: [shown(0), shown(last)], last: panel.y(0)[last] })
}

/// Follows every advice, and those of the messages that come then; how often that led to a table.
fn follow(text: &str, options: &ReadOptions, right: &[Table], steps: usize, way: &str) -> usize {
    let message = match read(text, options) {
        Ok(found) => {
            assert!(right.contains(&found), "{way} leads to {found:?}");
            return 1;
        }
        Err(message) => message,
    };
    let mut tables = 0;
    for (name, value) in advised(&message) {
        let Some(next) = with(options.clone(), name, value).filter(|_| steps > 0) else { continue };
        if next != *options {
            tables += follow(text, &next, right, steps - 1, &format!("{way} {name} = {value}"));
        }
    }
    tables
}

/// Rows of a file with these times, whose values count from 1.
fn rows(times: impl IntoIterator<Item = String>) -> String {
    let rows = times.into_iter().zip(1..).map(|(time, y)| format!("{time},{y}\n"));
    format!("ds,y\n{}", rows.collect::<String>())
}

fn values(cells: &[&str], separator: &str) -> String {
    let rows = cells.iter().zip(1..).map(|(y, day)| format!("2024-01-{day:02}{separator}{y}\n"));
    format!("ds{separator}y\n{}", rows.collect::<String>())
}

fn clock(day: &str, hours: impl IntoIterator<Item = u32>) -> Vec<String> {
    hours.into_iter().map(|hour| format!("{day} {hour:02}:00")).collect()
}

#[test]
fn every_advice_on_times_leads_to_the_right_table_or_to_another_question() {
    let hours = (0..8).map(|hour| format!("2024-03-01 {hour:02}:00"));
    let quarters = (32..64).map(|at| format!("2024-03-01 {:02}:{:02}", at / 4, at % 4 * 15));
    let night = |day: &str| clock(day, [0, 1, 2, 2, 3, 4, 5]);
    let cases: [(&str, String, Vec<Table>); 17] = [
        (
            "weeks",
            rows((202_040..=202_053).chain(202_101..=202_110).map(|week| week.to_string())),
            vec![table(24, "2020-09-28", "2021-03-08", 24.0)],
        ),
        (
            "day or month",
            rows((1..=12).map(|at| format!("01/{at:02}/2023"))),
            // Nothing in the file says which.
            vec![table(12, "2023-01-01", "2023-01-12", 12.0), table(12, "2023-01-01", "2023-12-01", 12.0)],
        ),
        (
            "hours as integers",
            rows((2_019_102_501..=2_019_102_524).map(|hour| hour.to_string())),
            vec![
                table(24, "2019-10-25 01:00:00", "2019-10-26", 24.0),
                table(24, "2019102501", "2019102524", 24.0),
            ],
        ),
        (
            "days of two digits a year",
            rows((240_125..=240_131).chain(240_201..=240_205).map(|day| day.to_string())),
            vec![table(12, "2024-01-25", "2024-02-05", 12.0)],
        ),
        (
            "steps that change",
            rows(hours.chain(quarters)),
            vec![
                table(16, "2024-03-01", "2024-03-01 15:00:00", 38.5),
                table(16, "2024-03-01", "2024-03-01 15:00:00", 154.0),
            ],
        ),
        (
            "a night of Berlin",
            rows(night("2024-10-27")),
            vec![table(7, "2024-10-27", "2024-10-27 05:00:00", 7.0)],
        ),
        // The zone of an example is not that of the file.
        ("a night of New York", rows(night("2024-11-03")), vec![]),
        (
            "a night of spring",
            rows(clock("2024-03-31", [0, 1, 3, 4, 5])),
            // Nothing in the file says whether clocks were changed.
            vec![
                table(5, "2024-03-31", "2024-03-31 05:00:00", 5.0),
                table(6, "2024-03-31", "2024-03-31 05:00:00", 5.0),
            ],
        ),
        (
            "years with decimals",
            rows((0..12).map(|month| format!("{:.4}", 2020.0 + f64::from(month) / 12.0))),
            vec![table(12, "2020-01-01", "2020-12-01", 12.0)],
        ),
        ("years of Thailand", rows((1..=9).map(|day| format!("{day:02}/01/2567"))), vec![]),
        (
            "seconds with decimals",
            rows((0..9).map(|hour| format!("{}.0", 1_704_067_200 + 3600 * hour))),
            vec![table(9, "2024-01-01", "2024-01-01 08:00:00", 9.0)],
        ),
        (
            "quarters with a letter",
            rows((0..8).map(|at| format!("{}Q{}", at % 4 + 1, 20 + at / 4))),
            vec![table(8, "2020-01-01", "2021-10-01", 8.0)],
        ),
        (
            "quarters with a point",
            rows((0..8).map(|at| format!("{}.{}", 2015 + at / 4, at % 4 + 1))),
            vec![table(8, "2015-01-01", "2016-10-01", 8.0)],
        ),
        (
            "weeks without a letter",
            rows((0..60).map(|at| format!("{}-{:02}", 2019 + at / 52, at % 52 + 1))),
            vec![table(60, "2018-12-31", "2020-02-17", 60.0)],
        ),
        (
            "days first",
            rows(
                (25..=31)
                    .map(|day| format!("{day}012024"))
                    .chain((1..=5).map(|day| format!("{day:02}022024"))),
            ),
            vec![table(12, "2024-01-25", "2024-02-05", 12.0)],
        ),
        (
            "seasons",
            rows((0..9).map(|at| format!("{}/{:02}", 2001 + at, 2 + at))),
            // Nothing in the file says that they are no months.
            vec![table(9, "2001-01-01", "2009-01-01", 9.0), table(9, "2001-02-01", "2009-10-01", 9.0)],
        ),
        (
            "a day of each month",
            rows((1..=9).map(|month| format!("2024-{month:02}-15"))),
            vec![table(9, "2024-01-01", "2024-09-01", 9.0)],
        ),
    ];
    for (name, text, right) in &cases {
        let tables = follow(text, &ReadOptions::new(), right, 4, name);
        assert!(right.is_empty() || tables > 0, "{name}: no advice leads to a table");
    }
}

#[test]
fn every_advice_on_numbers_leads_to_the_right_table_or_to_another_question() {
    let right =
        |rows: u32, value: f32| table(rows as usize, "2024-01-01", &format!("2024-01-{rows:02}"), value);
    let cases: [(&str, String, Vec<Table>); 9] = [
        ("dash", values(&["5", "-", "7", "8"], ","), vec![right(4, 8.0)]),
        ("flags", values(&["1.5", "2.5 p", "3.5 ep", "4.5 r"], ","), vec![right(4, 4.5)]),
        ("a flag of a missing value", values(&["1.5", ": c", "3.5"], ","), vec![right(3, 3.5)]),
        ("decimal comma", values(&["1,5", "2,5", "3,5"], ";"), vec![right(3, 3.5)]),
        ("both marks", values(&["1.200,5", "950,5", "1.300,5"], ";"), vec![right(3, 1300.5)]),
        (
            "commas with three digits",
            values(&["990", "1,130", "1,184"], ";"),
            // Nothing in the file says that they are no decimals.
            vec![right(3, 1184.0), right(3, 1.184)],
        ),
        ("factors", values(&["900K", "1.1M", "1.5M"], ","), vec![]),
        ("units", values(&["5 MW", "6 MW", "7 MW"], ","), vec![]),
        ("underscores", values(&["1_200", "1_300", "1_400"], ","), vec![right(3, 1400.0)]),
    ];
    for (name, text, right) in &cases {
        let tables = follow(text, &ReadOptions::new(), right, 5, name);
        // Of both marks and of underscores the message says that they must be named, not which they are.
        let names = ["both marks", "underscores"].contains(name);
        assert!(right.is_empty() || names || tables > 0, "{name}: no advice leads to a table");
    }
}

#[test]
fn every_advice_on_hours_beside_a_date_leads_to_the_right_table_or_to_another_question() {
    let day = |date: &str, hours: &[String]| -> String {
        hours.iter().map(|hour| format!("{date},{hour},{}\n", hour.trim_start_matches('0').len())).collect()
    };
    let numbers = |most: u32| (1..=most).map(|hour| format!("{hour:02}")).collect::<Vec<_>>();
    let letters: Vec<String> =
        ["01", "02", "3A", "3B"].map(str::to_owned).into_iter().chain(numbers(24).split_off(3)).collect();
    let london = |hours: &[String]| {
        ["2024-10-26", "2024-10-27"].map(|date| day(date, if date.ends_with("27") { hours } else { &[] }))
    };
    for (name, column, hours, rows) in [
        ("counted", "hour_ending", numbers(25), 25),
        ("letters", "HE", letters, 25),
        ("half-hours", "settlement_period", numbers(50), 50),
    ] {
        let text = format!("date,{column},y\n{}", london(&hours).concat());
        let options = ReadOptions::new().time_cols(["date", column]);
        let last = if rows == 50 { "2024-10-27 23:30:00" } else { "2024-10-27 23:00:00" };
        let tables = follow(&text, &options, &[table(rows, "2024-10-27", last, 2.0)], 4, name);
        assert!(tables > 0, "{name}: no advice leads to a table");
    }
    // A day of spring whose hours are counted, in a file of the zone of the example, and with clocks that skip an hour.
    let text =
        format!("date,hour_ending,y\n{}", day("2024-03-31", &numbers(23)) + &day("2024-04-01", &numbers(24)));
    for zone in [None, Some(Zone::parse("Europe/London").unwrap())] {
        let mut options = ReadOptions::new().time_cols(["date", "hour_ending"]);
        options.zone = zone;
        let right = [
            table(47, "2024-03-31", "2024-04-01 23:00:00", 2.0),
            // Where the hour 24 of that day is what is missing, and clocks kept their offset.
            table(48, "2024-03-31", "2024-04-01 23:00:00", 2.0),
        ];
        assert!(follow(&text, &options, &right, 4, "a short day") > 0);
    }
}

#[test]
fn of_rows_that_are_there_twice_the_first_is_kept_before_they_are_added() {
    let twice = "ds,y\n1,1\n2,5\n2,5\n3,1\n";
    let told = Panel::read_csv(twice.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(advised(&told)[..2], [("aggregate", "first"), ("aggregate", "sum")], "{told}");
    let options = with(ReadOptions::default(), "aggregate", "first").expect("a way");
    let panel = Panel::read_csv(twice.as_bytes(), "t.csv", &options).unwrap();
    assert_eq!(panel.y(0), [1.0, 5.0, 1.0]);
}
