//! Tables as spreadsheets, meters and other programs export them.

use std::fs;

use crate::test_directory::{TestDirectory, rows, stderr};

/// A naive forecast of two steps, which is the last value of each series, and the report while the file is read for it.
fn forecast(dir: &TestDirectory, flags: &str) -> (Vec<Vec<String>>, String) {
    let fit = dir.run(&format!("fit {flags} --model Naive --h 2 --overwrite --out model"));
    assert!(fit.status.success(), "{flags}: {}", stderr(&fit));
    let csv = dir.ok(&format!("predict --model model {flags} --log none"));
    (
        rows(&csv).iter().skip(1).map(|row| row.iter().map(|&cell| cell.into()).collect()).collect(),
        stderr(&fit),
    )
}

/// The series, the time and the value of the first forecast.
fn first(dir: &TestDirectory, flags: &str) -> Vec<String> {
    forecast(dir, flags).0.remove(0)
}

/// Months of a year from 2018 on, the value being the number of the month.
fn months(line: impl Fn(String, usize) -> String) -> String {
    (0..24).map(|month| line(format!("{}-{:02}", 2018 + month / 12, month % 12 + 1), month)).collect()
}

#[test]
fn text_of_other_encodings_is_recognised_or_named() {
    let dir = TestDirectory::new();
    let text = format!("Monat;München\n{}", months(|time, y| format!("{time};{y}\n")));
    let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    fs::write(dir.path("latin.csv"), &latin).unwrap();
    let utf16: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    fs::write(dir.path("utf16.csv"), utf16).unwrap();
    for (file, told) in [
        ("latin.csv", Some("latin.csv: read as windows-1252")),
        ("utf16.csv", Some("utf16.csv: read as utf-16le")),
        ("latin.csv --encoding cp1252", None),
        ("utf16.csv --encoding utf-16", None),
    ] {
        let (forecast, log) = forecast(&dir, &format!("--data {file} --wide"));
        assert_eq!(forecast[0], ["München", "2020-01-01", "23.0"], "{file}");
        match told {
            Some(told) => assert!(log.lines().any(|line| line.starts_with(told)), "{file}: {log}"),
            None => assert!(!log.contains("read as"), "{file}: {log}"),
        }
    }
    let message = dir.fails(2, "fit --data latin.csv --encoding klingon --model Naive --h 2 --out m");
    assert!(message.contains("encoding"), "{message}");
    fs::write(dir.path("mixed.csv"), [text.as_bytes(), b"2020-01;\xfc\n"].concat()).unwrap();
    let message = dir.fails(1, "fit --data mixed.csv --wide --model Naive --h 2 --out m");
    assert!(message.contains("mixed.csv, line 26") || message.contains("--encoding"), "{message}");
}

#[test]
fn titles_and_totals_around_a_table_are_passed_over() {
    let dir = TestDirectory::new();
    let table = format!("Month;North;South;\n{}", months(|time, y| format!("{time};{y};{};\n", 2 * y)));
    dir.put("report.csv", &format!("Monthly report;;;\nUnits;;;\n{table};;;\nTotal;276;552;\n"));
    let fit = "--data report.csv --wide";
    let message = dir.fails(1, &format!("fit {fit} --model Naive --h 2 --out m"));
    assert!(
        message.contains("report.csv, line 29") && message.contains("--skip-matching Total"),
        "{message}"
    );
    for flags in ["--skip-matching Total", "--skip-matching Total --skip-rows 2"] {
        let (forecast, log) = forecast(&dir, &format!("{fit} {flags}"));
        assert_eq!(forecast[0], ["North", "2020-01-01", "23.0"]);
        assert_eq!(log.contains("the header is line 3"), !flags.contains("--skip-rows"), "{log}");
    }
    // What the error says can be pasted.
    dir.put("grand.csv", &format!("{table}Grand total;276;552;\n"));
    let message = dir.fails(1, "fit --data grand.csv --wide --model Naive --h 2 --out m");
    assert!(message.contains("(`--skip-matching 'Grand total'`)"), "{message}");
    dir.put("note.csv", &format!("{table}Source: the office\n"));
    let (rows, log) = forecast(&dir, "--data note.csv --wide");
    assert_eq!(rows[0], ["North", "2020-01-01", "23.0"]);
    assert!(log.contains("lines left out as notes below the table: 1, from line 26 on"), "{log}");
    dir.put("note.csv", &format!("{table}Source: the office\n2020-01;1;5;\n"));
    let message = dir.fails(1, "fit --data note.csv --wide --model Naive --h 2 --out m");
    assert!(message.contains("(`--skip-matching Source:`)"), "{message}");
    // Lines are those of the file.
    dir.put("wrong.csv", &format!("Monthly report;;;\n\n{table}2020-01;x;5;\n"));
    let message = dir.fails(1, "fit --data wrong.csv --wide --model Naive --h 2 --out m");
    assert!(message.contains("wrong.csv, line 28, column `North`: \"x\" is not a number"), "{message}");
    // A column without a name may be empty, but not hold values.
    dir.put("unnamed.csv", &format!("{table}2020-01;1;5;7\n"));
    let message = dir.fails(1, "fit --data unnamed.csv --wide --model Naive --h 2 --out m");
    assert!(message.contains("unnamed.csv, line 26: column 4 has values but no name"), "{message}");
    dir.put(
        "notes.csv",
        &format!("# from the meter\nds,y\n{}# end\n", months(|time, y| format!("{time},{y}\n"))),
    );
    assert_eq!(first(&dir, "--data notes.csv --comment #")[2], "23.0");
}

#[test]
fn numbers_are_read_as_people_write_them_and_written_as_they_were_read() {
    let dir = TestDirectory::new();
    let spellings = ["\u{2212}12,50", "1\u{a0}234,50", "980,00 €", "(7,25)"];
    let rows = (1..25).map(|day| format!("a;2023-01-{day:02};{}\n", spellings[day % 4]));
    dir.put("numbers.csv", &format!("unique_id;ds;y\n{}", rows.collect::<String>()));
    let log = forecast(&dir, "--data numbers.csv").1;
    assert!(
        log.contains("read numbers with a decimal comma (1\u{a0}234,50), as its first rows fit"),
        "{log}"
    );
    let message = dir.fails(1, "fit --data numbers.csv --decimal . --model Naive --h 2 --out m");
    assert!(message.contains("has a decimal comma"), "{message}");
    let fit = "fit --data numbers.csv --decimal , --model Naive --h 2 --overwrite --out model --log none";
    dir.ok(fit);
    let csv = dir.ok("predict --model model --data numbers.csv --log none");
    assert_eq!(csv, "unique_id;ds;Naive\na;2023-01-25;-12,5\na;2023-01-26;-12,5\n");
    fs::write(dir.path("forecast.csv"), csv).unwrap();
    dir.ok("plot --data numbers.csv --decimal , --forecast forecast.csv --out f.svg");

    dir.put("share.csv", &format!("ds,y\n{}", months(|time, y| format!("{time},{y}.5 %\n"))));
    let (forecast, log) = forecast(&dir, "--data share.csv");
    assert_eq!(forecast[0][2], "0.235");
    assert!(log.contains("share.csv: numbers in percent are read as the fractions"), "{log}");
}

#[test]
fn several_rows_of_a_time_become_one_as_asked() {
    let dir = TestDirectory::new();
    let sales = |day: usize| match day % 3 {
        1 => format!("sku,2023-01-{day:02},1\nsku,2023-01-{day:02},2\n"),
        _ => format!("sku,2023-01-{day:02},3\n"),
    };
    dir.put("sales.csv", &format!("unique_id,ds,y\n{}", (1..29).map(sales).collect::<String>()));
    let message = dir.fails(1, "fit --data sales.csv --model Naive --h 2 --out m");
    assert!(message.contains("2023-01-01 already") && message.contains("--aggregate sum"), "{message}");
    for (how, value) in [("sum", "3.0"), ("mean", "1.5"), ("last", "2.0"), ("first", "1.0"), ("count", "2.0")]
    {
        let found = first(&dir, &format!("--data sales.csv --aggregate {how}"));
        assert_eq!(found, ["sku", "2023-01-29", value], "{how}");
    }
    // The last week has no Sunday yet.
    let weeks = first(&dir, "--data sales.csv --aggregate sum --resample W-SUN");
    assert_eq!(weeks, ["sku", "2023-01-29", "21.0"]);
    let kept = first(&dir, "--data sales.csv --aggregate sum --resample W-SUN --keep-partial");
    assert_eq!(kept, ["sku", "2023-02-05", "18.0"]);
    let message = dir.fails(1, "fit --data sales.csv --resample W-SUN --model Naive --h 2 --out m");
    assert!(message.contains("--aggregate sum"), "{message}");

    let jitter: String =
        (0..40).map(|i| format!("2023-01-01 {:02}:{:02}:{:02},{i}\n", i / 4, i % 4 * 15, i % 7)).collect();
    dir.put("sensor.csv", &format!("ds,y\n{jitter}"));
    assert_eq!(first(&dir, "--data sensor.csv --snap 15min"), ["y", "2023-01-01 10:00:00", "39.0"]);
}

#[test]
fn ids_that_are_spelt_differently_are_shown_side_by_side() {
    let dir = TestDirectory::new();
    let rows = |id: &str| (1..29).map(|day| format!("{id},2023-01-{day:02},{day},0\n")).collect::<String>();
    dir.put("d.csv", &format!("unique_id,ds,y,p\n{}{}", rows("1.0"), rows("2.0")));
    dir.put("futr.csv", "unique_id,ds,p\n1,2023-01-29,0\n1,2023-01-30,1\n2,2023-01-29,0\n2,2023-01-30,1\n");
    dir.put("stat.csv", "unique_id,size\n01,5\n02,6\n");
    dir.ok("fit --data d.csv --futr-exog p --model NLinear,MLP --h 2 --input-size 4 --set max_steps=1 --out model --log none");
    let message = dir.fails(1, "predict --model model --data d.csv --futr futr.csv");
    assert!(message.contains("futr.csv and the data spell the ids of series differently: `1`, `2` there, `1.0`, `2.0` in the data"), "{message}");
    let message = dir.fails(1, "fit --data d.csv --static stat.csv --model MLP --h 2 --input-size 4 --out m");
    assert!(message.contains("`01`, `02` there, `1.0`, `2.0` in the data"), "{message}");
}

#[test]
fn a_date_and_an_hour_make_the_time() {
    let dir = TestDirectory::new();
    let hours = |first: usize, head: &str, date: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("{},{},{}\n", date(i / 24 + 1), i % 24 + first, 50 + i % 24);
        format!("{head}\n{}", (0..240).map(row).collect::<String>())
    };
    let iso = |day: usize| format!("2023-01-{day:02}");
    let us = |day: usize| format!("01/{day:02}/2023");
    for (name, text, flags, ending) in [
        ("ending.csv", hours(1, "date,hour_ending,load", &iso), "date,hour_ending", true),
        ("he.csv", hours(1, "date,hour,load", &iso), "date,hour", true),
        ("start.csv", hours(0, "date,hour,load", &iso), "date,hour", false),
        ("us.csv", hours(1, "DATE,HE,load", &us), "DATE,HE --time-format %m/%d/%Y", true),
    ] {
        dir.put(name, &text);
        let (found, log) = forecast(&dir, &format!("--data {name} --target-col load --time-cols {flags}"));
        assert_eq!(found[0], ["load", "2023-01-11 00:00:00", "73.0"], "{name}");
        assert_eq!(log.contains("hour 1 at 00:00"), ending, "{log}");
        assert!(log.contains("frequency h (inferred"), "{log}");
    }
    let message =
        dir.fails(1, "fit --data ending.csv --time-col date --target-col load --model Naive --h 2 --out m");
    assert!(message.contains("--time-cols date,hour_ending"), "{message}");
    dir.put("both.csv", "date,hour,y\n2023-01-01,0,1\n2023-01-01,1,1\n2023-01-01,24,1\n");
    let message = dir.fails(1, "fit --data both.csv --time-cols date,hour --model Naive --h 2 --out m");
    assert!(message.contains("both.csv, line 4") && message.contains("--hours ending"), "{message}");

    let rows: String = (0..36).map(|i| format!("{},{},{i}\n", 2018 + i / 12, i % 12 + 1)).collect();
    dir.put("months.csv", &format!("year,month,y\n{rows}"));
    assert_eq!(first(&dir, "--data months.csv --time-cols year,month"), ["y", "2021-01-01", "35.0"]);

    // The future file is read as the data are, also where it has no hour 24.
    let data = (0..240).map(|i| format!("2023-01-{:02},{},{i},{}\n", i / 24 + 1, i % 24 + 1, i % 3));
    dir.put("d.csv", &format!("date,hour,y,p\n{}", data.collect::<String>()));
    dir.put("f.csv", "date,hour,p\n2023-01-11,1,0\n2023-01-11,2,1\n");
    dir.ok("fit --data d.csv --time-cols date,hour --futr-exog p --model MLP --h 2 --input-size 4 --set max_steps=1 --out m --log none");
    let csv = dir.ok("predict --model m --data d.csv --time-cols date,hour --futr f.csv --log none");
    assert_eq!(rows_of(&csv)[1][1], "2023-01-11 00:00:00");
}

fn rows_of(csv: &str) -> Vec<Vec<&str>> {
    rows(csv)
}

#[test]
fn times_that_go_across_are_read_cell_by_cell() {
    let dir = TestDirectory::new();
    let names: Vec<String> = (1..25).map(|hour| format!("HE{hour:02}")).collect();
    let days: String = (1..11)
        .map(|day| {
            format!("2023-01-{day:02},{}\n", (50..74).map(|y| y.to_string()).collect::<Vec<_>>().join(","))
        })
        .collect();
    dir.put("hours.csv", &format!("date,{}\n{days}", names.join(",")));
    let (found, log) = forecast(&dir, "--data hours.csv --hours-across");
    assert_eq!(found[0], ["y", "2023-01-11 00:00:00", "73.0"]);
    assert!(log.contains("240 rows, frequency h"), "{log}");
    let (_, log) = forecast(&dir, "--data hours.csv --wide");
    assert!(log.contains("the columns HE01 to HE24 look like the hours of one series"), "{log}");
    let message = dir.fails(1, "fit --data hours.csv --model Naive --h 2 --out m");
    assert!(message.contains("--hours-across"), "{message}");

    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    // The months of the last year that are still to come are empty.
    let year = |year: usize, known: usize| {
        let cell = |month: usize| if month < known { (year * 12 + month).to_string() } else { String::new() };
        format!("{year},{}\n", (0..12).map(cell).collect::<Vec<_>>().join(","))
    };
    let years = [year(2019, 12), year(2020, 12), year(2021, 12), year(2022, 5)].concat();
    let numbers: Vec<String> = (1..13).map(|month| month.to_string()).collect();
    for names in [months.join(","), numbers.join(",")] {
        dir.put("years.csv", &format!("Year,{names}\n{years}"));
        let (found, log) = forecast(&dir, "--data years.csv --months-across");
        assert_eq!(found[0], ["y", "2022-06-01", "24268.0"]);
        assert!(log.contains("41 rows, frequency MS"), "{log}");
    }
    dir.put(
        "years.csv",
        &format!("Year,{}\n{}", months.join(","), [year(2019, 12), year(2020, 12), year(2021, 12)].concat()),
    );
    let (_, log) = forecast(&dir, "--data years.csv --wide --time-format %Y");
    assert!(log.contains("the columns Jan to Dec look like the months of one series"), "{log}");
    let message = dir.fails(1, "fit --data years.csv --model Naive --h 2 --out m");
    assert!(message.contains("the months of a year (`--months-across`)"), "{message}");

    let header: Vec<String> = (0..24).map(|i| format!("{}-{}", months[i % 12], 18 + i / 12)).collect();
    let row = |id: &str, from: usize| {
        format!(
            "{id},\"Bolt, {id}\",{}\n",
            (from..from + 24).map(|y| y.to_string()).collect::<Vec<_>>().join(",")
        )
    };
    let table = format!("SKU,Description,{}\n{}{}", header.join(","), row("A0", 1), row("A1", 101));
    dir.put("stock.csv", &table);
    let (found, _) = forecast(&dir, "--data stock.csv --transposed");
    assert_eq!(
        (&found[0], &found[2]),
        (
            &vec!["A0".into(), "2020-01-01".into(), "24.0".into()],
            &vec!["A1".into(), "2020-01-01".into(), "124.0".into()]
        )
    );
    for flags in ["--wide", ""] {
        let message = dir.fails(1, &format!("fit --data stock.csv {flags} --model Naive --h 2 --out m"));
        assert!(message.contains("Jan-18 to Dec-19") && message.contains("--transposed"), "{message}");
    }
    // M4: series of different lengths, numbered steps.
    dir.put("m4.csv", "V1,V2,V3,V4,V5,V6\nM1,1,2,3,4,5\nM2,6,7,8,,\n");
    let (found, _) = forecast(&dir, "--data m4.csv --transposed");
    assert_eq!(
        (&found[0], &found[2]),
        (&vec!["M1".into(), "7".into(), "5.0".into()], &vec!["M2".into(), "5".into(), "8.0".into()])
    );
}

#[test]
fn models_remember_how_their_data_were_read() {
    let dir = TestDirectory::new();
    let day = |day: usize| format!("{day:02}.01.2023;1.{day:03},5\n{day:02}.01.2023;1.000,0\n");
    dir.put("d.csv", &format!("Tag;Umsatz\n{}Summe;1;\n", (1..25).map(day).collect::<String>()));
    let flags = "--time-col Tag --target-col Umsatz --time-format %d.%m.%Y --thousands . --aggregate sum --skip-matching Summe";
    dir.ok(&format!("fit --data d.csv {flags} --model Naive --h 2 --out model --log none"));
    let expected = "unique_id;Tag;Naive\nUmsatz;2023-01-25;2024,5\nUmsatz;2023-01-26;2024,5\n";
    assert_eq!(dir.ok("predict --model model --data d.csv --log none"), expected);
    // Flags override, one by one.
    let max = dir.ok("predict --model model --data d.csv --aggregate max --log none");
    assert_eq!(max, expected.replace("2024,5", "1024,5"));
    dir.put("plain.csv", "Tag,Umsatz\n2023-01-01,1.5\n2023-01-02,2.5\n2023-01-03,3.5\n");
    let plain = dir.ok("predict --model model --data plain.csv --time-format usual --decimal . --log none");
    assert_eq!(plain, "unique_id,Tag,Naive\nUmsatz,2023-01-04,3.5\nUmsatz,2023-01-05,3.5\n");

    dir.ok("fit --data wide.csv --wide --model Naive --h 2 --out wide --log none");
    let wide = dir.ok("predict --model wide --data wide.csv --log none");
    assert_eq!(rows(&wide).len(), 7);
    dir.put("long.csv", "unique_id,ds,y\na,2023-01-01,1\na,2023-01-02,2\n");
    let long = dir.ok("predict --model wide --data long.csv --long --log none");
    assert_eq!(rows(&long)[1], ["a", "2023-01-03", "2.0"]);
}

#[test]
fn static_columns_may_stand_in_the_data_and_two_columns_have_any_names() {
    let dir = TestDirectory::new();
    let row = |id: &str, size: usize| {
        (1..29).map(|day| format!("{id},2023-01-{day:02},{day},{size}\n")).collect::<String>()
    };
    dir.put("d.csv", &format!("unique_id,ds,y,size\n{}{}", row("a", 5), row("b", 7)));
    let fit =
        "fit --data d.csv --static-cols size --model MLP --h 2 --input-size 4 --set max_steps=2 --log none";
    dir.ok(&format!("{fit} --out model"));
    dir.put(
        "plain.csv",
        &dir.read("d.csv")
            .lines()
            .map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n")
            .collect::<String>(),
    );
    dir.put("sizes.csv", "unique_id,size\na,5\nb,7\n");
    dir.ok(&format!(
        "{} --out beside",
        fit.replace("d.csv --static-cols size", "plain.csv --static sizes.csv")
    ));
    let expected = dir.ok("predict --model beside --data plain.csv --static sizes.csv");
    assert_eq!(dir.ok("predict --model model --data d.csv"), expected);
    dir.put("changing.csv", &format!("{}b,2023-01-29,1,8\n", dir.read("d.csv")));
    let message = dir.fails(1, &format!("{} --out m", fit.replace("d.csv", "changing.csv")));
    assert!(message.contains("series `b` has 7 in one row and 8 in another"), "{message}");

    dir.put("air.csv", &format!("Month,Passengers\n{}", months(|time, y| format!("{time},{y}\n"))));
    assert_eq!(first(&dir, "--data air.csv"), ["Passengers", "2020-01-01", "23.0"]);
}

#[cfg(feature = "excel")]
#[test]
fn workbooks_are_read_sheet_by_sheet() {
    let dir = TestDirectory::new();
    let workbooks = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/tests/workbooks");
    for name in ["sales.xlsx", "sales.ods"] {
        let (found, log) = forecast(&dir, &format!("--data {workbooks}/{name} --wide"));
        assert_eq!(found[0], ["North", "2024-05-01", "4.0"], "{name}");
        assert!(log.contains("read its sheet `Sales`; `--sheet` names another: `Days`"), "{log}");
        assert_eq!(
            first(&dir, &format!("--data {workbooks}/{name} --sheet Days"))[1..],
            ["2024-01-02 02:00:00", "75.0"]
        );
        let message =
            dir.fails(1, &format!("fit --data {workbooks}/{name} --sheet Weeks --model Naive --h 2 --out m"));
        assert!(message.contains("has no sheet `Weeks`; it has `Sales`, `Days`"), "{message}");
        let fit = format!("fit --data {workbooks}/{name} --model Naive --h 2 --out m");
        for (flags, sheets) in [("", "`Sales`, beside `Days`"), (" --sheet Days", "`Days`, beside `Sales`")] {
            let message = dir.fails(1, &format!("{fit} --target-col sold{flags}"));
            assert!(
                message.contains(&format!("this is its sheet {sheets}; `--sheet` names that of the data")),
                "{message}"
            );
        }
    }
    let message = dir.fails(2, &format!("predict --model model --data {workbooks}/sales.xlsx --out f.xlsx"));
    assert!(message.contains(".xlsx is no format that foretell writes"), "{message}");
}

#[test]
fn values_that_mark_missing_ones_are_told_and_read_as_such_on_request() {
    let dir = TestDirectory::new();
    let rows = |marks: [&str; 2]| -> String {
        let value = |day: usize| match day {
            4 => marks[0].to_owned(),
            7 => marks[1].to_owned(),
            day => day.to_string(),
        };
        (1..11).map(|day| format!("a,2023-01-{day:02},{}\n", value(day))).collect()
    };
    dir.put("weather.csv", &format!("unique_id,ds,y\n{}", rows(["-999", "-999.0"])));
    let (_, log) = forecast(&dir, "--data weather.csv");
    assert!(
        log.contains("the value -999 (rows: 2) is far from all others") && log.contains("`--missing -999`"),
        "{log}"
    );
    let (_, log) = forecast(&dir, "--data weather.csv --missing -999 --fill forward");
    assert!(!log.contains("far from all others") && log.contains("filled"), "{log}");
    // The models remember it.
    let log = stderr(&dir.run("predict --model model --data weather.csv --out f.csv"));
    assert!(log.contains("filled"), "{log}");
    dir.put("weather.csv", &format!("unique_id,ds,y\n{}", rows(["Unknown", "-999"])));
    let message = dir.fails(1, "fit --data weather.csv --missing -999,unknown --model Naive --h 2 --out m");
    assert!(message.contains("line 5") && message.contains("\"Unknown\" is missing"), "{message}");
    dir.put("sizes.csv", "unique_id,size\na,-999\n");
    let message = dir.fails(
        1,
        "fit --data weather.csv --fill forward --static sizes.csv --missing -999,unknown --model MLP --h 2 --input-size 4 \
         --set max_steps=1 --out other",
    );
    assert!(message.contains("sizes.csv") && message.contains("is missing"), "{message}");
}

#[test]
fn a_line_of_units_is_told_and_left_out_on_request() {
    let dir = TestDirectory::new();
    let rows: String = (1..6).map(|day| format!("2024-01-{day:02},{day},{}\n", day + 1)).collect();
    let fit = "fit --data station.csv --wide --model Naive --h 2 --out m --overwrite";
    dir.put("station.csv", &format!("time,temp,wind\n,degC,m/s\n{rows}"));
    let told = stderr(&dir.run(fit));
    assert!(told.contains("line 2 is left out as the units of the columns (`degC`, `m/s`)"), "{told}");
    // What begins with a digit may be a value.
    dir.put("station.csv", &format!("time,temp,wind\n,degC,10 m/s\n{rows}"));
    let message = dir.fails(1, fit);
    assert!(
        message.contains("if line 2 holds units and no values, leave it out (`--skip-matching ''`)"),
        "{message}"
    );
    assert_eq!(first(&dir, "--data station.csv --wide --skip-matching=")[1], "2024-01-06");
}

#[test]
fn flags_and_dashes_are_asked_for_and_the_answers_can_be_pasted() {
    let dir = TestDirectory::new();
    let cell = |month: usize| match month {
        20 => "20*".to_owned(),
        21 => "21 p".to_owned(),
        22 => "-".to_owned(),
        month => month.to_string(),
    };
    dir.put("office.csv", &format!("ds,y\n{}", months(|time, month| format!("{time},{}\n", cell(month)))));
    let fit = "fit --data office.csv --model Naive --h 2 --out m";
    for (flags, advice) in [
        ("", "(`--number-flags '*'`)"),
        (" --number-flags *", "(`--number-flags '*,p'`)"),
        (" --number-flags *,p", "`--zeros -` or `--missing -`"),
    ] {
        let message = dir.fails(1, &format!("{fit}{flags}"));
        assert!(message.contains(advice), "{flags}: {message}");
    }
    let (_, log) = forecast(&dir, "--data office.csv --number-flags *,p --zeros -");
    assert!(log.contains("cells that were read without the flag behind their number: 2"), "{log}");
    // The model remembers both.
    let csv = dir.ok("predict --model model --data office.csv --log none");
    assert_eq!(rows(&csv)[1][2], "23.0");
}
