//! Files as people have them: times, numbers and layouts of all kinds.

use std::fs;
use std::io::Write as _;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, long_csv, rows, stderr, wave, wide_csv};

/// 120 days of one series, `time` being the spelling of a day.
fn days(head: &str, time: impl Fn(&str) -> String) -> String {
    let rows: String =
        (0..120).map(|day| format!("shop,{},{:.4}\n", time(&date(day)), wave(day, 0.0))).collect();
    format!("{head}\n{rows}")
}

#[test]
fn integers_that_look_like_dates_are_read_as_what_they_are_said_to_be() {
    let dir = TestDirectory::new();
    dir.put("iso.csv", &days("unique_id,ds,y", str::to_owned));
    dir.put("digits.csv", &days("unique_id,ds,y", |day| day.replace('-', "")));
    let fit =
        |data: &str| format!("fit --data {data} --model NLinear {SMALL} --overwrite --out model --log none");
    let message = dir.fails(1, &fit("digits.csv"));
    for part in ["digits.csv, column `ds`", "--time-format %Y%m%d", "--time-format integer", "--freq 1"] {
        assert!(message.contains(part), "{message}");
    }
    // Before, 120 rows became 331 here, without a word.
    let message = dir.fails(1, &format!("{} --fill forward", fit("digits.csv")));
    assert!(message.contains("--time-format %Y%m%d"), "{message}");

    dir.ok(&fit("iso.csv"));
    let expected = dir.ok("predict --model model --data iso.csv");
    dir.ok(&fit("digits.csv --time-format %Y%m%d"));
    assert_eq!(dir.ok("predict --model model --data digits.csv --time-format %Y%m%d"), expected);
    // Models remember how their data were written, and are told of others.
    assert_eq!(dir.ok("predict --model model --data digits.csv"), expected);
    assert_eq!(dir.ok("predict --model model --data iso.csv --time-format usual"), expected);

    let serials: String = (44_927..44_987).map(|day| format!("{day},{}\n", day % 7)).collect();
    dir.put("serials.csv", &format!("ds,y\n{serials}"));
    let message = dir.fails(1, &fit("serials.csv"));
    for part in ["2023-01-01 to 2023-03-01", "--time-format excel", "--time-format integer"] {
        assert!(message.contains(part), "{message}");
    }
    dir.ok(&fit("serials.csv --time-format excel"));
    let forecast = dir.ok("predict --model model --data serials.csv --time-format excel");
    assert_eq!(rows(&forecast)[1][1], "2023-03-02");

    // Who says that they are integers is believed.
    let years: String = (0..31).map(|year| format!("a,{},{}\n", 1990 + year, year % 4)).collect();
    dir.put("years.csv", &format!("unique_id,ds,y\n{years}"));
    assert!(dir.fails(1, &fit("years.csv")).contains("--time-format %Y`"));
    for (flag, next) in
        [("--freq 1", "2021"), ("--time-format integer", "2021"), ("--time-format %Y", "2021-01-01")]
    {
        dir.ok(&fit(&format!("years.csv {flag}")));
        let again = if flag.starts_with("--time") { flag } else { "" };
        let forecast = dir.ok(&format!("predict --model model --data years.csv {again}"));
        assert_eq!(rows(&forecast)[1][1], next, "{flag}");
    }
}

#[test]
fn months_by_their_names_have_a_frequency() {
    let dir = TestDirectory::new();
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let months: String = (0..48)
        .map(|month| format!("{} {},{}\n", names[month % 12], 2020 + month / 12, month % 12))
        .collect();
    dir.put("months.csv", &format!("month,sales\n{months}"));
    let data = "--data months.csv --wide";
    let fit = format!("fit {data} --model NLinear {SMALL} --out model");
    for format in [&[][..], &["--time-format", "%b %Y"]] {
        let output = dir.command(&fit).args(["--overwrite"]).args(format).output().unwrap();
        assert!(
            output.status.success() && stderr(&output).contains("frequency MS (inferred"),
            "{}",
            stderr(&output)
        );
        let mut predict = dir.command(&format!("predict --model model {data}"));
        let forecast = predict.args(format).output().unwrap();
        let forecast = String::from_utf8(forecast.stdout).unwrap();
        assert_eq!(rows(&forecast)[1][..2], ["sales", "2024-01-01"]);
    }
}

#[test]
fn quarters_and_intervals_are_their_first_moments() {
    let dir = TestDirectory::new();
    let quarters: String = (0..40).map(|i| format!("{}-Q{},{}\n", 2010 + i / 4, i % 4 + 1, i % 4)).collect();
    dir.put("quarters.csv", &format!("Quarter,GDP\n{quarters}"));
    let hour = |i: usize| format!("{:02}.01.2023 {:02}:00", i / 24 + 1, i % 24);
    let hours: String = (0..96).map(|i| format!("{} - {},{}\n", hour(i), hour(i + 1), i % 24)).collect();
    dir.put("hours.csv", &format!("MTU (CET/CEST),Load\n{hours}"));
    let interval = ["--time-format", "%d.%m.%Y %H:%M - %d.%m.%Y %H:%M"];
    for (file, format, next) in [
        ("quarters.csv", &[][..], "2020-01-01"),
        ("quarters.csv", &["--time-format", "%Y-Q%q"], "2020-01-01"),
        ("hours.csv", &interval, "2023-01-05 00:00:00"),
    ] {
        let run = |command: &str| {
            let command = format!("{command} --data {file} --wide --log none");
            let output = dir.command(&command).args(format).output().unwrap();
            assert!(output.status.success(), "{file}: {}", stderr(&output));
            String::from_utf8(output.stdout).unwrap()
        };
        run(&format!("fit --model NLinear {SMALL} --overwrite --out model"));
        assert_eq!(rows(&run("predict --model model"))[1][1], next, "{file}");
    }
    let mut twice = dir.command("fit --data hours.csv --wide --model NLinear --h 2 --out twice");
    let output = twice.args(["--time-format", "%d.%m.%Y %H:%M - %d"]).output().unwrap();
    assert!(stderr(&output).contains("`%d` says again"), "{}", stderr(&output));
}

#[test]
fn forecasts_follow_the_calendar_of_a_business() {
    let dir = TestDirectory::new();
    // Days from Monday to Friday, of which the 40th and the 60th are holidays; the last is one before a holiday.
    let open = |day: &usize| day % 7 < 5;
    let days: Vec<String> = (0..120).filter(open).map(date).collect();
    let (holidays, last) = ([&days[20], &days[40], &days[61]], 61);
    let rows_of = |days: &[String]| -> String {
        let kept = days.iter().filter(|day| !holidays.contains(day)).enumerate();
        kept.map(|(i, day)| format!("shop,{day},{}\n", i % 5)).collect()
    };
    dir.put("days.csv", &format!("unique_id,ds,y\n{}", rows_of(&days[..last])));
    dir.put("holidays.txt", &holidays.map(String::as_str).join("\n"));
    let fit =
        |flags: &str| format!("fit --data days.csv --model NLinear {SMALL} --out model --log none {flags}");
    assert!(dir.fails(1, &fit("")).contains("--holidays"));
    assert!(dir.fails(2, &fit("--freq D --holidays holidays.txt")).contains("has no business days"));
    dir.ok(&fit("--holidays holidays.txt"));
    let forecast = dir.ok("predict --model model --data days.csv");
    assert_eq!(rows(&forecast)[1][1], days[last + 1]);
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_are_read_everywhere() {
    let dir = TestDirectory::new();
    let statics = "shop,size\nnorth,1\nsouth,2\n";
    let future: String = (120..127)
        .flat_map(|day| ["north", "south"].map(|id| format!("{id},{},{}\n", date(day), day % 3)))
        .collect();
    let future = format!("shop,day,price\n{future}");
    for (name, text) in [("long.csv", &*long_csv()), ("shops.csv", statics), ("future.csv", &*future)] {
        dir.put(name, text);
        fs::write(dir.path(&format!("{name}.gz")), gzip(text)).unwrap();
        fs::write(dir.path(&format!("{name}.zst")), zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    }
    let forecast = |end: &str| {
        let columns = LONG.replace("--data long.csv", "--futr-exog price --model MLP --set hidden_size=4");
        let fit = format!("fit --data long.csv{end} --static shops.csv{end} {columns} {SMALL} --log none");
        dir.ok(&format!("{fit} --overwrite --out model"));
        let beside = format!("--static shops.csv{end} --futr future.csv{end}");
        dir.ok(&format!("predict --model model --data long.csv{end} {beside}"))
    };
    let plain = forecast("");
    assert_eq!(forecast(".gz"), plain);
    assert_eq!(forecast(".zst"), plain);
    // Standard input has no name to tell it by.
    let mut piped = dir.command("predict --model model --data - --static shops.csv --futr future.csv");
    let piped = piped.stdin(fs::File::open(dir.path("long.csv.gz")).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), plain);

    let packed = dir.bytes("long.csv.gz");
    fs::write(dir.path("cut.csv.gz"), &packed[..packed.len() / 2]).unwrap();
    let message = dir.fails(1, "predict --model model --data cut.csv.gz");
    assert!(message.contains("cut.csv.gz: its gzip data are damaged or cut short"), "{message}");
}

#[test]
fn a_small_bomb_is_refused() {
    let dir = TestDirectory::new();
    let zeros = zstd::encode_all(&vec![b'0'; 1 << 28][..], 1).unwrap();
    assert!(zeros.len() < 1 << 20, "{}", zeros.len());
    fs::write(dir.path("bomb.csv.zst"), zeros).unwrap();
    let message = dir.fails(1, &format!("fit --data bomb.csv.zst --model NLinear {SMALL} --out model"));
    assert!(message.contains("bomb.csv.zst: its zstd data unpack to over 100 times their size"), "{message}");
}

#[test]
fn numbers_with_other_marks_are_read_when_they_are_named() {
    let dir = TestDirectory::new();
    let csv = |number: &dyn Fn(f64) -> String| {
        let rows: String =
            (0..120).map(|day| format!("a;{};{}\n", date(day), number(1000.0 * wave(day, 0.0)))).collect();
        format!("unique_id;ds;y\n{rows}")
    };
    dir.put("plain.csv", &csv(&|value| format!("{value:.2}")));
    dir.put(
        "german.csv",
        &csv(&|value| {
            let text = format!("{value:.2}").replace('.', ",");
            format!("{}.{}", &text[..text.len() - 6], &text[text.len() - 6..])
        }),
    );
    let fit =
        |data: &str| format!("fit --data {data} --model NLinear {SMALL} --log none --overwrite --out model");
    dir.ok(&fit("plain.csv"));
    let plain = dir.ok("predict --model model --data plain.csv");
    let message = dir.fails(1, &fit("german.csv --decimal ."));
    assert!(message.contains("has marks between its thousands; name them (`--thousands`"), "{message}");
    for marks in ["--decimal , --thousands .", "--thousands .", ""] {
        dir.ok(&fit(&format!("german.csv {marks}")));
        // Numbers are written as they are read.
        let german = dir.ok(&format!("predict --model model --data german.csv {marks}"));
        assert_eq!(german, plain.replace(',', ";").replace('.', ","));
    }
    for marks in ["--decimal ;", "--decimal , --thousands ,", "--thousands x"] {
        let message = dir.fails(2, &fit(&format!("plain.csv {marks}")));
        assert!(message.contains(" must be "), "{message}");
    }
}

#[test]
fn series_of_a_wide_file_begin_and_end_when_they_do() {
    let dir = TestDirectory::new();
    let wide = wide_csv();
    let lines = wide.lines().enumerate().map(|(line, text)| {
        let mut cells: Vec<&str> = text.split(',').collect();
        // a begins 20 days late, c ends 10 days early.
        if (1..=20).contains(&line) {
            cells[1] = "";
        }
        if line > 110 {
            cells[3] = "";
        }
        cells.join(",") + "\n"
    });
    let text: String = lines.collect();
    dir.put("edges.csv", &text);
    let fit = format!("--wide --model NLinear {SMALL} --overwrite --out model");
    for fill in ["", "--fill forward", "--fill zero", "--fill interpolate"] {
        let output = dir.run(&format!("fit --data edges.csv {fill} {fit}"));
        let messages = stderr(&output);
        assert!(output.status.success(), "{messages}");
        let warning = "warning: edges.csv: rows left out at the start or end of series, where values are missing: 30, of 2 series\n";
        assert!(messages.contains(warning) && messages.contains("3 series, 330 rows"), "{messages}");
    }
    let forecast = dir.ok("predict --model model --data edges.csv --wide --log none");
    let first =
        |id: &str| rows(&forecast).iter().find(|row| row[0] == id).map(|row| row[1].to_owned()).unwrap();
    assert_eq!((first("a"), first("c")), (date(120), date(110)));

    // The same as a long file, as pandas melts it.
    let mut long = "unique_id,ds,y\n".to_owned();
    for (i, id) in ["a", "b", "c"].iter().enumerate() {
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            long += &format!(
                "{id},{},{}\n",
                cells[0],
                if cells[i + 1].is_empty() { "NaN" } else { cells[i + 1] }
            );
        }
    }
    dir.put("melted.csv", &long);
    let output = dir.run("predict --model model --data melted.csv --log json");
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), forecast);
    let told = stderr(&output);
    assert_eq!(told.matches("\"event\":\"warning\"").count(), 2, "{told}");
    assert!(
        told.contains("rows left out") && told.contains("1 of 3 series ends before 2024-04-29"),
        "{told}"
    );
}

#[test]
fn one_series_needs_no_column_of_ids() {
    let dir = TestDirectory::new();
    let row = |day: usize, y: String| format!("{},{y},{}\n", date(day), day % 3);
    let history: String = (0..120).map(|day| row(day, format!("{:.4}", wave(day, 0.0)))).collect();
    dir.put("one.csv", &format!("ds,sales,price\n{history}"));
    let future: String = (120..127).map(|day| format!("{},{}\n", date(day), day % 3)).collect();
    dir.put("future.csv", &format!("ds,price\n{future}"));
    dir.put("size.csv", "size\n3\n");
    let fit = "fit --data one.csv --target-col sales --futr-exog price --static size.csv --model MLP --set hidden_size=4";
    dir.ok(&format!("{fit} {SMALL} --log none --out model"));
    let predict = "predict --model model --data one.csv --static size.csv --futr future.csv";
    let forecast = dir.ok(predict);
    let table = rows(&forecast);
    assert_eq!((table[0].as_slice(), table.len()), (&["unique_id", "ds", "MLP"][..], 8));
    assert_eq!(table[1][..2], ["sales", &date(120)]);
    let validate =
        format!("cross-validate --data one.csv --target-col sales --model NLinear {SMALL} --log none");
    assert!(dir.ok(&validate).contains("NLinear"));
    // With ids it is the same.
    let with_ids = |name: &str, id: &str| {
        let text: String = (dir.read(name).lines().enumerate())
            .map(|(i, line)| format!("{},{line}\n", if i == 0 { "unique_id" } else { id }))
            .collect();
        dir.put(&format!("ids-{name}"), &text);
    };
    ["one.csv", "future.csv", "size.csv"].iter().for_each(|name| with_ids(name, "sales"));
    let named = predict.replace("one.csv", "ids-one.csv").replace("size.csv", "ids-size.csv");
    assert_eq!(dir.ok(&named.replace("future.csv", "ids-future.csv")), forecast);
    assert_eq!(dir.ok(&named), forecast);
}

#[test]
fn columns_of_text_are_told_to_be_categories() {
    let dir = TestDirectory::new();
    let rows: String = (0..120).map(|day| format!("a,{},{},sunny\n", date(day), wave(day, 0.0))).collect();
    dir.put("sky.csv", &format!("unique_id,ds,y,sky\n{rows}"));
    dir.put("kinds.csv", "unique_id,kind\na,big\n");
    let fit = format!("fit --data sky.csv --model MLP {SMALL} --log none --out model");
    for (flags, cell) in [
        ("--futr-exog sky", "sky.csv, line 2, column `sky`: \"sunny\" is not a number but text"),
        ("--hist-exog sky", "sky.csv, line 2, column `sky`: \"sunny\" is not a number but text"),
        ("--static kinds.csv", "kinds.csv, line 2, column `kind`: \"big\" is not a number but text"),
    ] {
        let message = dir.fails(1, &format!("{fit} {flags}"));
        assert!(message.contains(cell) && message.contains("name it in `--cat-exog`"), "{message}");
    }
}

#[test]
fn the_hour_that_clocks_show_twice_is_read_in_order() {
    let dir = TestDirectory::new();
    let mut rows = String::new();
    for day in 25..30 {
        for hour in 0..24 {
            let row = format!("a,2024-10-{day} {hour:02}:00,{}\n", hour % 7);
            rows += &row;
            if (day, hour) == (27, 2) {
                rows += &row;
            }
        }
    }
    dir.put("berlin.csv", &format!("unique_id,ds,y\n{rows}"));
    let output =
        dir.run(&format!("fit --data berlin.csv --zone Europe/Berlin --model NLinear {SMALL} --out model"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 series, 121 rows, frequency h (inferred"), "{}", stderr(&output));
}

#[test]
fn names_from_files_do_not_speak_to_the_terminal() {
    let dir = TestDirectory::new();
    let id = "\u{1b}[2Jshop\u{7}";
    dir.put("escape.csv", &format!("unique_id,ds,y\n{id},1,1\n{id},2,2\n{id},2,3\n"));
    let message = dir.fails(1, &format!("fit --data escape.csv --model NLinear {SMALL} --out model"));
    assert!(message.contains("series `\\u{1b}[2Jshop\\u{7}` has 2 already"), "{message:?}");
    assert!(!message.trim_end().contains(char::is_control), "{message:?}");
}

#[test]
fn a_damaged_parquet_file_prints_no_panic() {
    let dir = TestDirectory::new();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures");
    let mut contradictions = 0;
    // Bytes whose change made the Parquet reader panic when this was written.
    for (name, places) in [("arrow.parquet", [78, 411, 604]), ("dates.parquet", [75, 157, 244])] {
        let whole = fs::read(fixtures.join(name)).unwrap();
        for place in places {
            let mut bytes = whole.clone();
            bytes[place] ^= 0xFF;
            fs::write(dir.path("damaged.parquet"), bytes).unwrap();
            let data = "--data damaged.parquet --id-col shop --time-col time --target-col sales";
            let message = dir.fails(1, &format!("fit {data} --model NLinear {SMALL} --out model"));
            assert!(message.starts_with("error: damaged.parquet: "), "{message}");
            contradictions += usize::from(message.contains("its pages contradict its footer"));
        }
    }
    assert!(contradictions > 0, "none of them makes it panic any more: look for others");
}

#[test]
fn models_that_pytorch_wrote_are_imported() {
    let dir = TestDirectory::new();
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../foretell/tests/fixtures/pickles");
    let output = dir.run(&format!("import --from {files}/directory/model --out model"));
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("left out: dataset.pkl"), "{said}");
    let forecast = dir.ok(&format!("predict --model model --data {files}/panel.csv --raw-quantiles"));
    let expected = fs::read_to_string(format!("{files}/directory/expected.csv")).unwrap();
    let (mut found, mut named) = (rows(&forecast)[0].clone(), rows(&expected)[0].clone());
    found.sort_unstable();
    named.sort_unstable();
    assert_eq!(found, named);

    let weights = format!("import --from {files}/weights/MLP.pt --out weights");
    assert!(dir.fails(2, &weights).contains("--freq D"));
    assert!(dir.fails(1, &format!("{weights} --freq D")).contains("--set h=12"));
    assert!(
        dir.fails(2, &format!("{weights} --freq D --set MLP.h=4")).contains("name the hyper-parameter alone")
    );
    let given = "--freq D --set h=4 --set input_size=12 --set num_layers=3";
    let message = dir.fails(1, &format!("{weights} {given} --set hidden_size=5"));
    assert!(message.contains("mlp.0.weight expected [5, 12] found [6, 12]"), "{message}");
    dir.ok(&format!("{weights} {given} --set hidden_size=6"));
    assert!(
        dir.fails(1, &format!("predict --model {files}/directory/model --data x.csv"))
            .contains("foretell's command `import`")
    );
}

#[test]
fn static_and_future_rows_may_be_in_several_files_and_folders() {
    let dir = TestDirectory::new();
    let row = |id: &str, day: usize| format!("{id},{day},{},{}\n", day % 5, day % 3);
    let of = |days: std::ops::Range<usize>, ids: &[&str]| -> String {
        let rows = ids.iter().flat_map(|id| days.clone().map(|day| row(id, day)));
        format!("unique_id,ds,y,price\n{}", rows.collect::<String>())
    };
    dir.put("sales.csv", &of(0..40, &["a", "b"]));
    dir.put("shops.csv", "unique_id,size\na,1\nb,2\n");
    dir.put("ahead.csv", &of(40..43, &["a", "b"]));
    dir.put("a.csv", "unique_id,size\na,1\n");
    dir.put("b.csv", "size,unique_id\n2,b\n");
    fs::create_dir(dir.path("later")).unwrap();
    dir.put("later/a.csv", &of(40..43, &["a"]));
    dir.put("b-ahead.csv", &of(40..43, &["b"]));
    let models = "--data sales.csv --freq 1 --model MLP --set MLP.max_steps=2 --set MLP.hidden_size=8 --h 3 --input-size 6 \
                  --futr-exog price --seed 1 --quiet";
    dir.ok(&format!("fit {models} --static shops.csv --out one"));
    dir.ok(&format!("fit {models} --static a.csv --static b.csv --out several"));
    let forecast = |model: &str, beside: &str| {
        dir.ok(&format!("predict --model {model} --data sales.csv {beside} --quiet"))
    };
    let one = forecast("one", "--static shops.csv --futr ahead.csv");
    assert_eq!(forecast("several", "--static a.csv --static b.csv --futr later --futr b-ahead.csv"), one);
    dir.put("b.csv", "unique_id,area\nb,2\n");
    let message = dir.fails(
        1,
        "predict --model one --data sales.csv --static a.csv --static b.csv --futr ahead.csv --quiet",
    );
    assert!(message.contains("a.csv") && message.contains("b.csv"), "{message}");
}
