//! Standard input, of which the first rows are looked at as those of files are.

use std::fs;
use std::process::Output;

use crate::test_directory::{TestDirectory, date, rows, stderr};

/// Runs a command whose standard input is a file.
fn piped(dir: &TestDirectory, line: &str, file: &str) -> Output {
    dir.command(line).stdin(fs::File::open(dir.path(file)).unwrap()).output().unwrap()
}

/// Forty days of two shops as people write them in Germany, in `de.csv`.
fn put_shops(dir: &TestDirectory) {
    let day = |k: usize| {
        let date = date(k);
        format!("{}.{}.{}", &date[8..10], &date[5..7], &date[..4])
    };
    let of =
        |shop: &str| (0..40).map(|k| format!("{};{shop};{},5\n", day(k), 100 + k % 7)).collect::<String>();
    dir.put("de.csv", &format!("Datum;Filiale;Umsatz\n{}{}", of("Ulm"), of("Bonn")));
}

#[test]
fn notation_and_columns_of_standard_input_are_found_as_in_files() {
    let dir = TestDirectory::new();
    put_shops(&dir);
    let fit = "fit --model SeasonalNaive --set season_length=7 --h 2 --overwrite --out m --data";
    let told = stderr(&piped(&dir, &format!("{fit} -"), "de.csv"));
    assert!(told.contains("columns: series Filiale, times Datum, values Umsatz"), "{told}");
    assert!(told.contains("standard input: read times by %d.%m.%Y"), "{told}");
    let forecast = piped(&dir, "predict --model m --data -", "de.csv");
    let of_pipe = String::from_utf8(forecast.stdout).unwrap();
    dir.ok(&format!("{fit} de.csv"));
    assert_eq!(of_pipe, dir.ok("predict --model m --data de.csv"));
    assert!(of_pipe.contains("105,5"), "{of_pipe}");
    // A question is that of a file.
    dir.put(
        "two.csv",
        &format!("date,a,b\n{}", (0..40).map(|k| format!("{},{k},{k}\n", date(k))).collect::<String>()),
    );
    let told = stderr(&piped(&dir, "forecast --data - --h 2", "two.csv"));
    assert!(
        told.contains("standard input: which column is to be forecast? Numbers are in `a`, `b`"),
        "{told}"
    );
}

/// More than is looked at, of which nothing is lost.
#[test]
fn all_of_a_long_standard_input_is_read() {
    let dir = TestDirectory::new();
    let of = |id: usize| {
        (0..360)
            .map(|k| format!("series-with-a-long-name-{id:03},{},{}\n", date(k), k % 7))
            .collect::<String>()
    };
    dir.put("long.csv", &format!("unique_id,ds,y\n{}", (0..24).map(of).collect::<String>()));
    assert!(dir.bytes("long.csv").len() > 300_000);
    let forecast = piped(&dir, "forecast --data - --h 2 --models Naive --log none", "long.csv");
    let forecast = String::from_utf8(forecast.stdout).unwrap();
    assert_eq!(rows(&forecast).len(), 1 + 24 * 2);
    assert_eq!(forecast, dir.ok("forecast --data long.csv --h 2 --models Naive --log none"));
}

/// JSON of more than is looked at is cut behind its last whole row, in a list as in lines.
#[test]
fn columns_of_long_json_are_found() {
    let dir = TestDirectory::new();
    let row = |id: usize, k: usize| {
        let name = format!("shop-with-a-long-name-{id:03}");
        format!("{{\"day\": \"{}\", \"shop\": \"{name}\", \"sales\": {}}}", date(k), k % 7)
    };
    let rows: Vec<String> = (0..12).flat_map(|id| (0..360).map(move |k| row(id, k))).collect();
    for text in [format!("[{}]", rows.join(", ")), rows.join("\n")] {
        dir.put("long.json", &text);
        assert!(text.len() > 300_000);
        let output = piped(&dir, "forecast --data - --h 2 --models Naive", "long.json");
        let told = stderr(&output);
        assert!(told.contains("columns: series shop, times day, values sales"), "{told}");
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 12 * 2);
    }
}

#[test]
fn columns_known_ahead_are_those_that_standard_input_has_too() {
    let dir = TestDirectory::new();
    let price = |k: usize| 1 + k * k % 7;
    let row = |k: usize| format!("{k},{},{}\n", 50 + 10 * price(k), price(k));
    dir.put("d.csv", &format!("ds,y,price\n{}", (0..60).map(row).collect::<String>()));
    dir.put("f.csv", &format!("ds,price\n60,{}\n61,{}\n", price(60), price(61)));
    let line = "forecast --data - --futr f.csv --h 2 --models AutoARIMA --no-ensemble";
    let output = piped(&dir, line, "d.csv");
    let told = stderr(&output);
    assert!(output.status.success() && told.contains("known ahead: price, what both files have"), "{told}");
}

#[test]
fn commas_between_thousands_are_told_from_decimals() {
    let dir = TestDirectory::new();
    let months = |value: &dyn Fn(usize) -> String| {
        let month = |k: usize| format!("{}-{:02}-01,{}\n", 2020 + k / 12, k % 12 + 1, value(k));
        format!("ds,y\n{}", (0..36).map(month).collect::<String>())
    };
    let fit = "fit --data d.csv --model SeasonalNaive --h 2 --overwrite --out m";
    // They may be either.
    dir.put("d.csv", &months(&|k| format!("\"1,{:03}\"", 200 + k)));
    let told = dir.fails(1, fit);
    assert!(told.contains("--thousands ,") && told.contains("--decimal ,"), "{told}");
    // Beside a point they are none.
    dir.put("d.csv", &months(&|k| format!("\"1,{:03}.50\"", 200 + k)));
    let told = stderr(&dir.run(fit));
    assert!(told.contains("numbers with commas between thousands (1,200.50)"), "{told}");
    assert!(dir.ok("predict --model m --data d.csv").contains("2023-01-01,1224.5"));
    // As R writes months.
    let of_r = (0..36).map(|k| format!("{:.3},{}\n", 1949.0 + k as f64 / 12.0, 100 + k)).collect::<String>();
    dir.put("d.csv", &format!("time,y\n{of_r}"));
    dir.ok(fit);
    assert!(dir.ok("predict --model m --data d.csv").contains("1952-01-01,124.0"));
}

/// Lists of cells by column: the first row of each stands where its list begins, so all of the text is looked at.
#[test]
fn columns_of_long_json_by_columns_are_found() {
    let dir = TestDirectory::new();
    let all = || (0..12).flat_map(|id| (0..360).map(move |k| (id, k)));
    let list = |name: &str, cell: &dyn Fn(usize, usize) -> String| {
        let cells: Vec<String> = all().map(|(id, k)| cell(id, k)).collect();
        format!("\"{name}\": [{}]", cells.join(", "))
    };
    let days = list("day", &|_, k| format!("\"{}T00:00:00.000000000\"", date(k)));
    let shops = list("shop", &|id, _| format!("\"shop-with-a-long-name-that-takes-some-room-{id:03}\""));
    let sales = list("sales", &|_, k| (k % 7).to_string());
    let text = format!("{{{days}, {shops}, {sales}}}");
    assert!(text.len() > 300_000);
    dir.put("long.json", &text);
    let output = piped(&dir, "forecast --data - --h 2 --models Naive", "long.json");
    let told = stderr(&output);
    assert!(told.contains("columns: series shop, times day, values sales"), "{told}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 12 * 2);
    let told = stderr(&piped(&dir, "forecast --data - --h 2 --models Naive --max-memory 1MB", "long.json"));
    assert!(
        told.contains(
            "standard input: it takes more than 1 MB of memory, since it is read as a whole, and the limit is 1 MB"
        ),
        "{told}"
    );
}

/// Compressed text is looked at as other text is, also of more than is kept.
#[test]
fn notation_of_long_compressed_standard_input_is_found() {
    let dir = TestDirectory::new();
    put_shops(&dir);
    let row = |line: &str| line.replace("Ulm", "Frankfurt an der Oder").replace("Bonn", "Halle an der Saale");
    let text = dir.read("de.csv");
    let more: String = (0..120)
        .flat_map(|shop| text.lines().skip(1).map(move |line| format!("{shop} {line}\n")))
        .map(|line| {
            line.split_once(' ')
                .map(|(shop, line)| row(line).replace(" an der", &format!(" {shop} an der")))
                .unwrap()
        })
        .collect();
    let text = format!("Datum;Filiale;Umsatz\n{more}");
    assert!(text.len() > 300_000);
    // Stored, so that it has as many bytes when it is packed.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    fs::write(dir.path("long.csv.gz"), packed.finish().unwrap()).unwrap();
    dir.put("long.csv", &text);
    let line = "forecast --data - --h 2 --models Naive";
    let output = piped(&dir, line, "long.csv.gz");
    let told = stderr(&output);
    assert!(told.contains("standard input: read times by %d.%m.%Y"), "{told}");
    let forecast = String::from_utf8(output.stdout).unwrap();
    assert_eq!(forecast, dir.ok(&line.replace("data -", "data long.csv")));
    assert_eq!(forecast.lines().count(), 1 + 240 * 2, "{told}");
}

/// Runs a command line of a shell that has `<(...)`.
#[cfg(unix)]
fn by_bash(dir: &TestDirectory, line: &str) -> Output {
    let line = line.replace("foretell", env!("CARGO_BIN_EXE_foretell"));
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &line]).current_dir(dir.path("")).stdin(std::process::Stdio::null());
    bash.output().unwrap()
}

/// A pipe that is named as a file gives its text once, and is looked at before all the same.
#[cfg(unix)]
#[test]
fn pipes_that_are_named_as_files_are_read_as_files() {
    let dir = TestDirectory::new();
    put_shops(&dir);
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let of_pipe = by_bash(&dir, "foretell forecast --data <(cat de.csv) --h 2 --models Naive");
    assert!(
        stderr(&of_pipe).contains("columns: series Filiale, times Datum, values Umsatz"),
        "{}",
        stderr(&of_pipe)
    );
    assert_eq!(text(&of_pipe), dir.ok("forecast --data de.csv --h 2 --models Naive"));
    let rows = |header: &str, value: usize| {
        (40..44).fold(header.to_owned(), |text, k| text + &format!("Ulm,{},{}\n", date(k), value + k))
    };
    dir.put("f.csv", &rows("shop,day,Naive\n", 100));
    dir.put("a.csv", &rows("shop,day,sales\n", 102));
    let scores = "evaluate --metrics mae";
    let expected = dir.ok(&format!("{scores} --forecast f.csv --actual a.csv"));
    assert!(expected.contains("2.000"), "{expected}");
    let of_pipes =
        by_bash(&dir, &format!("foretell {scores} --forecast <(cat f.csv) --actual <(gzip -c a.csv)"));
    assert_eq!(text(&of_pipes), expected, "{}", stderr(&of_pipes));
    // JSON is told by how it begins.
    let json: Vec<String> = (0..40)
        .map(|k| format!("{{\"day\": \"{}\", \"sales\": {}, \"shop\": \"Ulm\"}}", date(k), k % 7))
        .collect();
    dir.put("rows", &json.join("\n"));
    let of_pipe = by_bash(&dir, "foretell forecast --data <(cat rows) --h 2 --models Naive");
    assert_eq!(text(&of_pipe).lines().count(), 3, "{}", stderr(&of_pipe));
}

/// More than is kept of a pipe, of which nothing is lost.
#[cfg(unix)]
#[test]
fn all_of_a_long_pipe_is_read() {
    let dir = TestDirectory::new();
    let of = |id: usize| {
        let name = format!("series-with-a-long-name-{id:03}-{}", "x".repeat(100));
        (0..360).map(|k| format!("{name},{},{}\n", date(k), k % 7)).collect::<String>()
    };
    dir.put("long.csv", &format!("shop,day,sales\n{}", (0..110).map(of).collect::<String>()));
    assert!(dir.bytes("long.csv").len() > 5 << 20);
    let line = "forecast --h 2 --models Naive --log none --data";
    let of_pipe = by_bash(&dir, &format!("foretell {line} <(cat long.csv)"));
    assert!(of_pipe.status.success(), "{}", stderr(&of_pipe));
    assert_eq!(String::from_utf8(of_pipe.stdout).unwrap(), dir.ok(&format!("{line} long.csv")));
}
