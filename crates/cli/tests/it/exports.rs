//! Tables as spreadsheets, meters and other programs export them.

use std::fs;

use crate::test_directory::{TestDirectory, rows, stderr};

/// What a naive forecast of two steps gives, which is the last value of each series, and what is told while the file is
/// read for it.
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
    let message = dir.fails(1, "fit --data numbers.csv --model Naive --h 2 --out m");
    assert!(message.contains("--decimal ,"), "{message}");
    let fit = "fit --data numbers.csv --decimal , --model Naive --h 2 --out model --log none";
    dir.ok(fit);
    let csv = dir.ok("predict --model model --data numbers.csv --decimal , --log none");
    assert_eq!(csv, "unique_id;ds;Naive\na;2023-01-25;-12,5\na;2023-01-26;-12,5\n");
    fs::write(dir.path("forecast.csv"), csv).unwrap();
    dir.ok("plot --data numbers.csv --decimal , --forecast forecast.csv --out f.svg");

    dir.put("share.csv", &format!("ds,y\n{}", months(|time, y| format!("{time},{y}.5 %\n"))));
    let (forecast, log) = forecast(&dir, "--data share.csv");
    assert_eq!(forecast[0][2], "0.235");
    assert!(log.contains("share.csv: numbers in percent are read as the fractions"), "{log}");
}
