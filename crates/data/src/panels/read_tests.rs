use super::*;
use crate::{Fill, Filled};
use foretell_calendar::{Freq, TimeFormat, TimeKind, Zone};
use foretell_tables::{Frame, NumberFormat};
use proptest::prelude::*;

fn long(text: &str) -> Result<Panel, DataError> {
    Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions::default())
}

fn wide(text: &str) -> Result<Panel, DataError> {
    let options = ReadOptions { wide: true, ..ReadOptions::default() };
    Panel::read_csv(text.as_bytes(), "t.csv", &options)
}

fn starts(error: DataError, message: &str) {
    let error = error.to_string();
    assert!(error.starts_with(message), "{error}\n instead of\n{message}");
}

#[test]
fn a_long_file_is_read_with_all_its_columns() {
    let panel = long(
        "ds,note,y,unique_id,price,open\n\
         2024-01-02,x,2,b,1.5,True\n\
         2024-01-03,x,3,b,,False\n\
         2024-01-04,x,4,b,2.5,True\n\
         2024-01-04,x,14,a,3.5,True\n\
         2024-01-03,x,13,a,4.5,True\n",
    )
    .unwrap();
    assert_eq!((panel.n_series(), &**panel.id(0), panel.freq().to_string()), (2, "a", "D".into()));
    assert_eq!((panel.y(0), panel.y(1)), (&[13.0, 14.0][..], &[2.0, 3.0, 4.0][..]));
    assert_eq!(panel.column("open", 1).unwrap(), [1.0, 0.0, 1.0]);
    assert_eq!(panel.column_names().collect::<Vec<_>>(), ["note", "price", "open"]);
    starts(panel.column("note", 0).unwrap_err(), "t.csv, line 2, column `note`: \"x\" is not a number");
    starts(panel.column("price", 0).unwrap_err(), "t.csv, line 3, column `price`: \"\" is missing");
    assert_eq!(TimeKind::Timestamp.display(panel.time(1, 0)), "2024-01-02");
}

#[test]
fn columns_may_have_other_names() {
    let options = ReadOptions {
        id_col: "shop".into(),
        time_col: Some("step".into()),
        target_col: "sales".into(),
        freq: Some(Freq::parse("2").unwrap()),
        ..ReadOptions::default()
    };
    let text = "step;shop;sales\n2;x;1,5\n";
    let error = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap_err();
    starts(error, "t.csv, line 2, column `sales`: \"1,5\" has a decimal comma");
    let panel = Panel::read_csv("step\tshop\tsales\n2\tx\t1.5\n4\tx\t2".as_bytes(), "t", &options).unwrap();
    assert_eq!((panel.y(0), panel.time(0, 1)), (&[1.5, 2.0][..], 4));
}

#[test]
fn masks_and_weights_are_read() {
    let panel = long(
        "unique_id,ds,y,available_mask,sample_weight,x\n\
         a,1,1,1,0.5,1\na,2,,0,1,\na,3,3,1,0,3\n",
    )
    .unwrap();
    assert_eq!(panel.y(0), [1.0, 0.0, 3.0]);
    assert_eq!(panel.available_mask(0).unwrap(), [1.0, 0.0, 1.0]);
    assert_eq!(panel.sample_weight(0).unwrap(), [0.5, 1.0, 0.0]);
    assert_eq!(panel.column("x", 0).unwrap(), [1.0, 0.0, 3.0]);
    let text = "unique_id,ds,y,available_mask,sample_weight\na,1,1,2,1\n";
    starts(long(text).unwrap_err(), "t.csv, line 2, column `available_mask`: \"2\" is not 0 or 1");
    let text = "unique_id,ds,y,available_mask,sample_weight\na,1,1,1,-1\n";
    starts(long(text).unwrap_err(), "t.csv, line 2, column `sample_weight`: \"-1\" is negative");
}

#[test]
fn a_wide_file_has_a_series_per_column() {
    let panel =
        wide("date,b,a\n2024-01-03 00:00,3,13\n2024-01-01 00:00,1,11\n2024-01-02 00:00,2,12\n").unwrap();
    assert_eq!((panel.y(0), panel.y(1)), (&[11.0, 12.0, 13.0][..], &[1.0, 2.0, 3.0][..]));
    assert_eq!((panel.freq().to_string(), panel.len(1)), ("D".into(), 3));
    let options = ReadOptions { wide: true, time_col: Some("t".into()), ..ReadOptions::default() };
    let panel = Panel::read_csv("a,t\n1,1\n2,2\n3,3".as_bytes(), "t", &options).unwrap();
    assert_eq!((panel.n_series(), panel.y(0)), (1, &[1.0, 2.0, 3.0][..]));
}

#[test]
fn what_is_wrong_with_a_long_file_is_said_with_its_place() {
    let head = "unique_id,ds,y\n";
    for (text, message) in [
        ("", "t.csv is empty; expected a header such as `unique_id,ds,y`"),
        (head, "t.csv has no rows"),
        (
            "unique_id,ds\n",
            "t.csv has no column `y`; it has `unique_id`, `ds`; say which column has the values to forecast (`ReadOptions::target_col`)",
        ),
        ("uniqueid,ds,y\n", "t.csv has no column `unique_id`, did you mean `uniqueid`?"),
        ("unique_id,ds,y,y\n", "t.csv: column `y` appears twice"),
        (&format!("{head}a,1,1\na,2\n"), "t.csv, line 3: 2 fields where the header has 3"),
        (&format!("{head}a,1,1\n\na,2,one\n"), "t.csv, line 4, column `y`: \"one\" is not a number"),
        (
            &format!("{head}a,1,1\na,2,\na,3,3\n"),
            "t.csv, line 3, column `y`: \"\" is missing; fill it in (`ReadOptions::fill` does so on request), or add a column `available_mask`",
        ),
        (&format!("{head}a,1,inf\n"), "t.csv, line 2, column `y`: \"inf\" is not finite"),
        (&format!("{head},1,1\n"), "t.csv, line 2, column `unique_id`: the id is empty"),
        (
            &format!("{head}a,31.01.2024,1\n"),
            "t.csv, line 2, column `ds`: \"31.01.2024\" is not a time; write an integer, 2024-01-31",
        ),
        (
            &format!("{head}a,1,1\na,2024-01-31,1\n"),
            "t.csv, line 3, column `ds`: \"2024-01-31\" is not an integer like the times before it",
        ),
        (
            &format!("{head}a,2024-03-31T00:00+01:00,1\na,2024-04-01T00:00+02:00,1\n"),
            "t.csv, line 3, column `ds`: \"2024-04-01T00:00+02:00\" has another offset from UTC than",
        ),
        (
            &format!("{head}a,2024-01-31T00:00[Mars/Base],1\n"),
            "t.csv, line 2, column `ds`: \"2024-01-31T00:00[Mars/Base]\" has a time zone that is unknown",
        ),
        (
            &format!("{head}a,1,1\nb,1,1\na,2,2\na,1,3\n"),
            "t.csv, line 5: series `a` has 1 already (t.csv, line 2); keep one",
        ),
        (
            &format!("{head}a,2024-01-01,1\na,2024-02-01,1\na,2024-03-01,1\na,2024-05-01,1\n"),
            "t.csv, line 5: series `a` goes from 2024-03-01 to 2024-05-01, but by the inferred frequency `MS` 2024-04-01 comes next; add the rows",
        ),
    ] {
        starts(long(text).unwrap_err(), message);
    }
    let months = format!("{head}a,2024-01-01,1\na,2024-02-01,1\na,2024-03-01,1\n");
    let options = ReadOptions { freq: Some(Freq::parse("M").unwrap()), ..ReadOptions::default() };
    let error = Panel::read_csv(months.as_bytes(), "t.csv", &options).unwrap_err();
    starts(
        error,
        "t.csv, line 3: series `a` goes from 2024-01-01 to 2024-02-01, but by the frequency `ME` 2024-01-31 comes next; its times follow `MS`",
    );
    let days = format!("{head}a,2024-01-01,1\na,2024-01-02,1\na,2024-01-03,1\n");
    let weeks = "b,2024-01-01,1\nb,2024-01-08,1\nb,2024-01-15,1\nb,2024-01-22,1\n";
    starts(
        long(&format!("{days}{weeks}")).unwrap_err(),
        "t.csv, line 3: series `a` goes from 2024-01-01 to 2024-01-02, but by the inferred frequency `W-MON` 2024-01-08 comes \
         next; its times follow `D`, and those of other series do not: keep the series of each frequency in a file",
    );
    // Five days of a week are days as well as business days.
    let (week, rest) = ([15, 16, 17, 18, 19], [19, 22, 23, 24]);
    let week: String = week.iter().map(|day| format!("b,2024-01-{day},1\n")).collect();
    let rest: String = rest.iter().map(|day| format!("a,2024-01-{day},1\n")).collect();
    let error = long(&format!("{head}{week}{rest}")).unwrap_err().to_string();
    assert!(error.ends_with("its times follow `B`: set that frequency"), "{error}");
    let latin = Panel::read_csv(&b"unique_id,ds,y\n\xc3\xbc\xe9,1,1\n"[..], "t.csv", &ReadOptions::default());
    starts(latin.unwrap_err(), "t.csv, line 2: text that is not UTF-8");
    let missing = Panel::from_csv("no/such/file.csv", &ReadOptions::default()).unwrap_err();
    starts(missing, if cfg!(windows) { "no/such/file.csv: " } else { "no/such/file.csv: No such file" });
}

#[test]
fn what_is_wrong_with_a_wide_file_is_said_with_its_place() {
    for (text, message) in [
        (
            "date\n1\n2\n3\n",
            "t.csv has no column beside that of the times; a wide file has one for each series",
        ),
        ("date,a,\n1,1,1\n", "t.csv, line 2: column 3 has values but no name; in a wide file"),
        ("date,a\n1,1\n2,\n3,1\n", "t.csv, line 3, column `a`: \"\" is missing"),
        ("date,a\n1,1\n3,1\n2,1\n2,1\n", "t.csv, line 5: series `a` has 2 already (t.csv, line 4)"),
        ("date,a\n1,1\n2,1\n3,1\n5,1\n", "t.csv, line 5: series `a` goes from 3 to 5"),
    ] {
        starts(wide(text).unwrap_err(), message);
    }
}

#[test]
fn gaps_and_missing_values_are_filled_on_request_and_counted() {
    let read = |text: &str, wide, fill| {
        let options = ReadOptions { wide, fill: Some(fill), ..ReadOptions::default() };
        Panel::read_csv(text.as_bytes(), "t.csv", &options)
    };
    // Unsorted; a lacks its second and third month and a value, b lacks its second month.
    let text = "unique_id,ds,y,x,available_mask,sample_weight\n\
        b,2024-01-01,10,1,1,2\nb,2024-03-01,30,,1,3\n\
        a,2024-05-01,,5,1,1\na,2024-01-01,1,1,1,1\na,2024-04-01,4,4,1,1\na,2024-06-01,9,6,0,1\n";
    let panel = read(text, false, Fill::Interpolate).unwrap();
    assert_eq!((panel.filled(), panel.freq_is_inferred()), (Filled { rows: 3, values: 2 }, true));
    assert_eq!(panel.y(0), [1.0, 2.0, 3.0, 4.0, 6.5, 9.0]);
    assert_eq!(panel.available_mask(0).unwrap(), [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    assert_eq!(panel.column("x", 0).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!((panel.y(1), panel.column("x", 1).unwrap()), (&[10.0, 20.0, 30.0][..], &[1.0; 3][..]));
    assert_eq!(panel.sample_weight(1).unwrap(), [2.0, 2.0, 3.0]);
    assert_eq!(TimeKind::Timestamp.display(panel.time(0, 2)), "2024-03-01");
    assert_eq!(read(text, false, Fill::Forward).unwrap().y(0), [1.0, 1.0, 1.0, 4.0, 4.0, 9.0]);
    assert_eq!(read(text, false, Fill::Zero).unwrap().y(1), [10.0, 0.0, 30.0]);

    let text = "date,b,a\n1,1,\n3,,2\n2,2,1\n5,5,\n";
    let panel = read(text, true, Fill::Zero).unwrap();
    assert_eq!((panel.y(0), panel.y(1)), (&[1.0, 2.0][..], &[1.0, 2.0, 0.0, 0.0, 5.0][..]));
    assert_eq!(panel.filled(), Filled { rows: 1, values: 1 });
    let text = "unique_id,ds,y,x\na,1,1,\na,2,1,2\na,3,1,3\n";
    let error = read(text, false, Fill::Forward).unwrap().column("x", 0).unwrap_err();
    starts(error, "t.csv, line 2, column `x`: \"\" is missing, and its series has no value before it");

    let head = "unique_id,ds,y\n";
    for (rows, message) in [
        ("a,1,1\na,2,inf\na,3,1\n", "t.csv, line 3, column `y`: \"inf\" is not finite"),
        ("a,1,\na,2,\na,3,\n", "t.csv, line 2, column `y`: \"\" is missing, as are all"),
        (
            "a,2024-01-01,1\na,2024-01-02,1\na,2024-01-03,1\na,2024-01-05,1\na,2024-01-05 12:00,1\n",
            "t.csv, line 6: series `a` goes from 2024-01-05 to 2024-01-05 12:00:00",
        ),
        (
            "a,1,1\na,2,1\na,3,1\na,9000000000000000000,1\n",
            "series `a`: filling its gaps by the frequency `1` would add over 100400 rows to the 4",
        ),
    ] {
        starts(read(&format!("{head}{rows}"), false, Fill::Forward).unwrap_err(), message);
    }
    let text = format!("{head}a,1,1\na,2,2\na,3,3\n");
    assert_eq!(read(&text, false, Fill::Zero).unwrap().filled(), Filled::default());
}

#[test]
fn times_are_read_in_the_format_that_is_set() {
    let read = |times: [&str; 3], format: &str, zone: Option<&str>| {
        let rows: String = times.iter().map(|time| format!("a,{time},1\n")).collect();
        let time_format = (!format.is_empty()).then(|| TimeFormat::parse(format).unwrap());
        let zone = zone.map(|word| Zone::parse(word).unwrap());
        let options = ReadOptions { time_format, zone, ..ReadOptions::default() };
        Panel::read_csv(format!("unique_id,ds,y\n{rows}").as_bytes(), "t.csv", &options)
    };
    for (times, format, freq) in [
        (["20240131", "20240201", "20240202"], "%Y%m%d", "D"),
        (["31.01.2024", "01.02.2024", "02.02.2024"], "%d.%m.%Y", "D"),
        (["1/31/2024", "2/1/2024", "2/2/2024"], "%m/%d/%Y", "D"),
        (["Jan 2024", "Feb 2024", "Mar 2024"], "%b %Y", "MS"),
        (["31 January 2024", "29 February 2024", "31 March 2024"], "%d %B %Y", "ME"),
        (["202401", "202402", "202403"], "%Y%m", "MS"),
        (["1990", "1991", "1992"], "%Y", "YS-JAN"),
        (["202401", "202402", "202403"], "integer", "1"),
        (["44927", "44928", "44929"], "excel", "D"),
        (["44927", "44928", "44929"], "integer", "1"),
        (["1672531200000", "1672534800000", "1672538400000"], "epoch-ms", "h"),
        (["2024-W52", "2025-W01", "2025-W02"], "%G-W%V", "W-MON"),
    ] {
        assert_eq!(read(times, format, None).unwrap().freq().to_string(), freq, "{format}");
    }
    for (times, column, format) in [
        (["20240131", "20240201", "20240202"], "ds", "dates of the form %Y%m%d (2024-01-31 to 2024-02-02)"),
        (["202401", "202402", "202403"], "ds", "dates of the form %Y%m (2024-01-01 to 2024-03-01)"),
        (["1990", "1991", "1992"], "ds", "dates of the form %Y (1990-01-01 to 1992-01-01)"),
        (["44927", "44928", "44929"], "ds", "the days of spreadsheets (2023-01-01 to 2023-01-03)"),
    ] {
        let message =
            format!("t.csv, column `{column}`: all times are integers that look like {format}; read them");
        starts(read(times, "", None).unwrap_err(), &message);
    }
    let options = ReadOptions { freq: Some(Freq::parse("1").unwrap()), ..ReadOptions::default() };
    let years = "unique_id,ds,y\na,1990,1\na,1991,2\n";
    assert_eq!(Panel::read_csv(years.as_bytes(), "t.csv", &options).unwrap().time(0, 1), 1991);
    let error = read(["20240131", "20240230", "20240301"], "%Y%m%d", None).unwrap_err();
    starts(error, "t.csv, line 3, column `ds`: \"20240230\" is not a day of the calendar");
    let error = read(["20240131", "2024-02-01", "20240202"], "%Y%m%d", None).unwrap_err();
    starts(error, "t.csv, line 3, column `ds`: \"2024-02-01\" is not written as the format");
    // Clocks of a zone, and offsets.
    let times = ["31.03.2024 00:00", "01.04.2024 00:00", "02.04.2024 00:00"];
    let panel = read(times, "%d.%m.%Y %H:%M", Some("Europe/Berlin")).unwrap();
    assert_eq!(
        (panel.freq().to_string(), panel.time(0, 1)),
        ("D".into(), panel.time(0, 0) + 23 * 3_600_000_000)
    );
    let times = ["31.03.2024 00:00 +01:00", "31.03.2024 01:00 +01:00", "31.03.2024 02:00 +01:00"];
    let panel = read(times, "%d.%m.%Y %H:%M %:z", None).unwrap();
    assert_eq!((panel.freq().to_string(), panel.zone().unwrap().to_string()), ("h".into(), "+01:00".into()));
}

#[test]
fn one_series_needs_no_ids() {
    let panel = long("ds,sales,y\n2024-01-03,3,1\n2024-01-01,1,1\n2024-01-02,2,1\n").unwrap();
    assert_eq!(
        (&**panel.id(0), panel.n_series(), panel.column("sales", 0).unwrap()),
        ("y", 1, &[1.0, 2.0, 3.0][..])
    );
    let options = ReadOptions { target_col: "sales".into(), ..ReadOptions::default() };
    let text = "ds,sales\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n";
    let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap();
    assert_eq!((&**panel.id(0), panel.y(0)), ("sales", &[1.0, 2.0, 3.0][..]));
    // Several have a time twice, and so has one with a row too many.
    let text = "shop,ds,y\na,1,1\na,2,1\nb,1,1\nb,2,1\n";
    starts(
        long(text).unwrap_err(),
        "t.csv, line 4: 1 is there already (t.csv, line 2), and no column `unique_id` says which series a row belongs to; \
         keep one of the two rows, or, if both count, say how they become one (`ReadOptions::aggregate = sum`), or, if these are several series, say which column has their ids (`ReadOptions::id_col`); the columns are \
         `shop`, `ds`, `y`",
    );
    // A slip, or another name that was given, is no series without an id.
    starts(
        long("uniqe_id,ds,y\na,1,1\n").unwrap_err(),
        "t.csv has no column `unique_id`, did you mean `uniqe_id`?",
    );
    let columns = |column: &str| ReadOptions { columns: Some(vec![column.into()]), ..ReadOptions::default() };
    for (column, what) in
        [("y", "what is forecast"), ("ds", "the times"), ("unique_id", "the ids of the series")]
    {
        let error =
            Panel::read_csv("unique_id,ds,y\na,1,1\n".as_bytes(), "t.csv", &columns(column)).unwrap_err();
        starts(error, &format!("t.csv: column `{column}` holds {what} and cannot be exogenous as well"));
    }
    let options = ReadOptions { id_col: "shop".into(), ..ReadOptions::default() };
    let error = Panel::read_csv("ds,y\n1,1\n".as_bytes(), "t.csv", &options).unwrap_err();
    starts(error, "t.csv has no column `shop`");
}

#[test]
fn numbers_are_read_with_the_marks_that_are_named() {
    let read = |text: &str, decimal, thousands| {
        let numbers = NumberFormat::new(decimal, thousands).unwrap();
        Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions { numbers, ..ReadOptions::default() })
    };
    let text = "unique_id;ds;y;x\na;1;1.250,5;0,5\na;2;-900;1\na;3;12.000;1,5\n";
    let panel = read(text, ',', Some('.')).unwrap();
    assert_eq!(
        (panel.y(0), panel.column("x", 0).unwrap()),
        (&[1250.5, -900.0, 12000.0][..], &[0.5, 1.0, 1.5][..])
    );
    for (decimal, thousands, message) in [
        ('.', None, "t.csv, line 2, column `y`: \"1.250,5\" has marks between its thousands; name them"),
        (',', None, "t.csv, line 2, column `y`: \"1.250,5\" has marks between its thousands"),
    ] {
        starts(read(text, decimal, thousands).unwrap_err(), message);
    }
    let text = "unique_id,ds,y\na,1,\"1,5\"\na,2,2\na,3,\"2,5\"\n";
    assert_eq!(read(text, ',', None).unwrap().y(0), [1.5, 2.0, 2.5]);
    starts(
        long(text).unwrap_err(),
        "t.csv, line 2, column `y`: \"1,5\" has a decimal comma; say so (`ReadOptions::numbers.decimal = ,`)",
    );
}

#[test]
fn an_id_with_a_nul_is_refused() {
    starts(
        long("unique_id,ds,y\na\0b,1,1\n").unwrap_err(),
        "t.csv, line 2, column `unique_id`: the id has a character of code 0",
    );
}

#[test]
fn days_that_a_zone_never_had_are_no_gaps() {
    let zone = Some(Zone::parse("Pacific/Apia").unwrap());
    let read = |days: &[&str], freq: Option<&str>| {
        let rows: String = days.iter().map(|day| format!("a,{day},1\n")).collect();
        let freq = freq.map(|word| Freq::parse(word).unwrap());
        let options = ReadOptions { zone: zone.clone(), freq, ..ReadOptions::default() };
        Panel::read_csv(format!("unique_id,ds,y\n{rows}").as_bytes(), "t.csv", &options)
    };
    let days = ["2011-12-27", "2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01"];
    for freq in [None, Some("D"), Some("24h")] {
        let panel = read(&days, freq).unwrap();
        let shown: Vec<String> = panel
            .times(0)
            .map(|time| TimeKind::Timestamp.display_in(zone.as_ref(), time)[..10].to_owned())
            .collect();
        assert_eq!(shown, days, "{freq:?}");
    }
    let panel = read(&days[..3], None).unwrap();
    let ahead = panel.future_times(0, 2).unwrap();
    assert_eq!(ahead[0], read(&days, None).unwrap().time(0, 3));
    assert_eq!(panel.freq().next_in(zone.as_ref(), ahead[1], -3), Some(panel.time(0, 1)));
    let weekdays = ["2011-12-27", "2011-12-28", "2011-12-29", "2012-01-02", "2012-01-03"];
    assert_eq!(read(&weekdays, Some("B")).unwrap().len(0), 5);
    let error = read(&["2011-12-28", "2011-12-29", "2012-01-01"], Some("D")).unwrap_err();
    starts(error, "t.csv, line 4: series `a` goes from 2011-12-29 00:00:00-10:00 to 2012-01-01");
}

/// A panel as the CSV file that holds it.
fn write(panel: &Panel) -> String {
    let mut frame = Frame::new(panel.freq());
    let mut y = Vec::new();
    let mut x = Vec::new();
    for series in 0..panel.n_series() {
        frame.ids.extend(vec![panel.id(series).clone(); panel.len(series)]);
        frame.times.extend(panel.times(series));
        y.extend(panel.known_values(series, 0..panel.len(series)).iter().map(|value| *value as f32));
        x.extend_from_slice(panel.column("x", series).unwrap());
    }
    frame.columns = vec![("y".into(), y), ("x".into(), x)];
    let mut out = Vec::new();
    frame.write_csv(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #[test]
    fn a_panel_survives_its_file(
        ids in prop::collection::btree_set("[^\\p{C}\\s]([^\\p{C}]*[^\\p{C}\\s])?|\"|\n|,|é| ", 1..5),
        lens in prop::collection::vec(1..30_usize, 5),
        first in -20_000_i64..20_000,
        word in prop::sample::select(vec!["15min", "h", "D", "B", "W-WED", "MS", "QE", "YE"]),
        values in prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 300),
        seed in any::<u64>(),
    ) {
        let freq = Freq::parse(word).unwrap();
        let first = freq.next(first * 86_400_000_000, 1).unwrap();
        let mut builder = Panel::builder(TimeKind::Timestamp).freq(freq);
        let mut rows = 0;
        for (i, (id, len)) in ids.iter().zip(&lens).enumerate() {
            let times = freq.times(freq.next(first, i as i64).unwrap(), *len).unwrap();
            builder = builder.series(id, &times, &values[rows..rows + len]);
            rows += len;
        }
        let panel = builder.column("x", &values[100..100 + rows]).build().unwrap();
        let text = write(&panel);
        let options = ReadOptions { freq: Some(freq), ..ReadOptions::default() };
        let read = |text: &str| Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap();
        prop_assert_eq!(&write(&read(&text)), &text);
        // Rows in another order make the same panel. (Ids with line breaks keep theirs.)
        if !text.contains("\n\"") && !text.contains("\"\n") {
            let mut lines: Vec<&str> = text.lines().collect();
            lines[1..].sort_by_key(|line| {
                line.bytes().fold(seed, |hash, byte| hash.rotate_left(5).wrapping_mul(31) ^ u64::from(byte))
            });
            prop_assert_eq!(&write(&read(&lines.join("\n"))), &text);
        }
    }

    #[test]
    fn hostile_bytes_are_an_error_or_a_panel(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        is_wide in any::<bool>(),
    ) {
        let options = ReadOptions { wide: is_wide, ..ReadOptions::default() };
        let _ = Panel::read_csv(&bytes[..], "t.csv", &options);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_panel(
        cuts in prop::collection::vec((0..220_usize, prop::sample::select(b"\",;\n\r\t0-9.:eE\xff\x00Znaif ".to_vec())), 1..6),
        is_wide in any::<bool>(),
    ) {
        let mut bytes = b"unique_id,ds,y,available_mask,x\n\
            a,2024-01-01 00:00:00,1.5,1,2\na,2024-01-01 01:00:00,2.5,1,3\na,2024-01-01 02:00:00,,0,\n\
            b,2024-01-01 00:00:00,1e3,1,2\nb,2024-01-01 01:00:00,-2,1,3\nb,2024-01-01 02:00:00,0,1,4\n".to_vec();
        for (at, byte) in cuts {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let options = ReadOptions { wide: is_wide, ..ReadOptions::default() };
        if let Ok(panel) = Panel::read_csv(&bytes[..], "t.csv", &options) {
            prop_assert!(panel.n_rows() > 0);
            prop_assert!((0..panel.n_series()).all(|series| panel.y(series).iter().all(|y| y.is_finite())));
        }
    }
}

#[test]
fn zones_are_kept_and_calendars_go_by_their_clocks() {
    // Days of Berlin over the end of summer time: one of them has 25 hours.
    let days: Vec<String> = (25..=29)
        .map(|day| {
            let offset = if day <= 27 { 2 } else { 1 };
            format!("a,2024-10-{day}T00:00:00+0{offset}:00[Europe/Berlin],{day}\n")
        })
        .collect();
    let panel = long(&format!("unique_id,ds,y\n{}", days.concat())).unwrap();
    assert_eq!((panel.freq().to_string(), panel.len(0)), ("D".into(), 5));
    let midnight = TimeKind::Timestamp.parse("2024-10-29 23:00").unwrap();
    assert_eq!(panel.future_times(0, 1).unwrap(), [midnight], "an instant");

    // As pandas writes them they need the zone; hours need it only where offsets change.
    let pandas: String =
        days.iter().map(|row| row.replace("[Europe/Berlin]", "").replace('T', " ")).collect();
    let pandas = format!("unique_id,ds,y\n{pandas}");
    starts(
        long(&pandas).unwrap_err(),
        "t.csv, line 5, column `ds`: \"2024-10-28 00:00:00+01:00\" has another",
    );
    let options = ReadOptions { zone: Some(Zone::parse("Europe/Berlin").unwrap()), ..ReadOptions::default() };
    let named = Panel::read_csv(pandas.as_bytes(), "t.csv", &options).unwrap();
    assert_eq!((named.freq(), named.time(0, 4)), (panel.freq(), panel.time(0, 4)));

    // Frames show the times as the data do.
    let mut frame = Frame::new(panel.freq());
    frame.ids = vec!["a".into()];
    frame.times = vec![midnight];
    for (zone, shown) in [
        (panel.zone(), "2024-10-30 00:00:00+01:00[Europe/Berlin]"),
        (named.zone(), "2024-10-30 00:00:00+01:00"),
    ] {
        frame.zone = zone.cloned();
        let mut out = Vec::new();
        frame.write_csv(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("unique_id,ds\na,{shown}\n"));
    }

    let hours = "unique_id,ds,y\na,2024-01-01T00:00-05:00,1\na,2024-01-01T01:00-05:00,2\na,2024-01-01T03:00-05:00,3\n";
    let message = "t.csv, line 4: series `a` goes from 2024-01-01 01:00:00-05:00 to 2024-01-01 03:00:00-05:00, but \
                   by the inferred frequency `h` 2024-01-01 02:00:00-05:00 comes next";
    starts(long(hours).unwrap_err(), message);
}
