//! Warnings: what may make results worth less than they look.

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, long_csv, stderr, wave};

/// The messages of the warnings of a command that succeeds, as its JSON log has them.
fn warnings(dir: &TestDirectory, line: &str) -> Vec<String> {
    let output = dir.run(&format!("{line} --log json"));
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    let events = stderr(&output);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["event"] == "warning")
        .map(|event| event["message"].as_str().unwrap().to_owned())
        // What networks of a few steps forecast may be anything.
        .filter(|message| !message.starts_with("forecasts below 0 of"))
        .collect()
}

#[test]
fn series_that_fit_refuses_are_forecast_with_a_warning() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear,DLinear {SMALL} --out model --log none"));
    dir.put("short.csv", &long_csv().lines().take(1 + 120 + 9).collect::<Vec<_>>().join("\n"));
    let predict = "predict --model model --out forecast.csv --data";
    let messages = warnings(&dir, &format!("{predict} short.csv"));
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("1 of 2 series ends before 2024-04-29"), "{messages:?}");
    for part in ["input_size = 14", "south (9 rows)", "NLinear, DLinear read zeros"] {
        assert!(messages[1].contains(part), "{part}: {messages:?}");
    }
    let shown = format!("warning: {}", messages[1]);
    let text = stderr(&dir.run(&format!("{predict} short.csv")));
    assert!(text.lines().any(|line| line == shown), "{text}");
    // Without progress, warnings are still told; quiet is quiet.
    let text = stderr(&dir.run(&format!("{predict} short.csv --log none")));
    assert!(text.lines().any(|line| line == shown) && !text.contains("wrote"), "{text}");
    assert_eq!(stderr(&dir.run(&format!("{predict} short.csv --quiet"))), "");
    dir.fails(2, &format!("{predict} short.csv --quiet --log text"));
    assert!(warnings(&dir, &format!("{predict} long.csv")).is_empty());

    // Models that were trained on padding know it.
    let padded = "--set start_padding_enabled=true";
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} {padded} --out model --overwrite --log none"));
    let messages = warnings(&dir, &format!("{predict} short.csv"));
    assert!(messages.len() == 1 && !messages[0].contains("input_size"), "{messages:?}");
}

#[test]
fn levels_that_few_windows_cannot_support_are_warned_of_before_they_are_trusted() {
    let dir = TestDirectory::new();
    let models = format!("--model NLinear {SMALL} --set scaler_type=standard");
    let validate = format!("cross-validate {LONG} {models} --n-windows 2 --out cv.csv --level 80,95");
    let messages = warnings(&dir, &format!("{validate} --intervals 2"));
    assert_eq!(messages.len(), 1, "{messages:?}");
    for part in
        ["calibrated on 2 windows hold about 67 %", "80 % needs 4, 95 % needs 19", "`fit --intervals N`"]
    {
        assert!(messages[0].contains(part), "{part}: {messages:?}");
    }
    assert!(warnings(&dir, &format!("{validate} --intervals 5"))[0].contains("most: 95 % needs 19;"));
    assert!(warnings(&dir, &format!("{validate} --intervals 19")).is_empty());

    dir.ok(&format!("fit {LONG} {models} --out model --log none --intervals 4"));
    let predict = "predict --model model --data long.csv --out forecast.csv";
    assert!(warnings(&dir, &format!("{predict} --level 80")).is_empty());
    assert!(warnings(&dir, &format!("{predict} --level 90"))[0].contains("90 % needs 9"));
    assert!(warnings(&dir, &format!("{predict} --level 95 --intervals 19")).is_empty());
    assert!(warnings(&dir, predict).is_empty());
}

#[test]
fn forecasts_that_are_no_numbers_are_written_and_counted() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear,MLP {SMALL} --set MLP.hidden_size=4 --out model --log none"));
    // From the largest single precision number down to the smallest is further than there are numbers.
    let huge = |row: usize| if row == 13 { "-3.4e38" } else { "3.4e38" };
    let series = |id: &str, y: &dyn Fn(usize) -> String| -> String {
        (0..14).map(|row| format!("{id},2024-01-{:02},{}\n", row + 1, y(row))).collect()
    };
    let huge = series("huge", &|row| huge(row).to_owned());
    dir.put("huge.csv", &format!("shop,day,sales\n{huge}{}", series("usual", &|row| row.to_string())));
    let messages = warnings(&dir, "predict --model model --data huge.csv --out forecast.csv");
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("infinite or not a number: 7 of 14 of NLinear"), "{messages:?}");
    assert_eq!(dir.read("forecast.csv").lines().count(), 1 + 14);
}

#[test]
fn windows_that_cannot_be_forecast_are_told() {
    let dir = TestDirectory::new();
    dir.put("short.csv", &long_csv().lines().take(1 + 120 + 20).collect::<Vec<_>>().join("\n"));
    let data = LONG.replace("long", "short");
    let validate = format!("cross-validate {data} --model NLinear {SMALL} --n-windows 10 --out cv.csv");
    let messages = warnings(&dir, &validate);
    assert_eq!(messages.len(), 1, "{messages:?}");
    for part in ["12 of the 20 windows", "south (20 rows)", "`--drop-short`"] {
        assert!(messages[0].contains(part), "{part}: {messages:?}");
    }
    assert!(warnings(&dir, &format!("{validate} --drop-short")).is_empty());
    assert!(dir.read("cv.csv").lines().all(|line| !line.starts_with("south")));
}

#[test]
fn models_do_without_columns_that_they_cannot_read() {
    let dir = TestDirectory::new();
    dir.put("shops.csv", "shop,size\nsouth,2\nnorth,1\n");
    let models = format!("--model NLinear,MLP,DLinear {SMALL} --set MLP.hidden_size=4");
    let exogenous = "--futr-exog price --static shops.csv --cat-exog price";
    let messages = warnings(&dir, &format!("fit {LONG} {models} {exogenous} --out model"));
    assert_eq!(
        messages,
        [
            "--futr-exog price: NLinear, DLinear read no such columns and do without",
            "--static size: NLinear, DLinear read no such columns and do without",
            "--cat-exog price: NLinear, DLinear read no such columns and do without",
        ]
    );
    let inspected: Value = serde_json::from_str(&dir.ok("inspect model --json")).unwrap();
    let columns = |model: usize| &inspected["models"][model]["hyper_parameters"]["futr_exog_list"];
    assert_eq!((columns(0), columns(1)), (&Value::Null, &serde_json::json!(["price"])));
    // Where none reads them, the columns are a mistake.
    let message =
        dir.fails(2, &format!("fit {LONG} --model NLinear,DLinear {SMALL} --futr-exog price --out other"));
    assert!(message.contains("--futr-exog") && message.contains("reads no future columns"), "{message}");
}

#[test]
fn categories_that_training_did_not_see_are_told() {
    let dir = TestDirectory::new();
    let days = |days: std::ops::Range<usize>, label: &str| -> String {
        days.map(|day| format!("{},{},{label}\n", date(day), wave(day, 0.0))).collect()
    };
    let known = format!("ds,y,sky\n{}{}", days(0..60, "sun"), days(60..100, "rain"));
    dir.put("known.csv", &known);
    dir.put("new.csv", &format!("{known}{}{}", days(100..109, "snow"), days(109..111, "hail")));
    let fit = format!("fit --data known.csv --model MLP --set hidden_size=4 {SMALL} --log none --out model");
    dir.ok(&format!("{fit} --hist-exog sky --cat-exog sky"));
    let predict = "predict --model model --out forecast.csv --data";
    assert!(warnings(&dir, &format!("{predict} known.csv")).is_empty());
    for flags in ["", "--insample"] {
        let messages = warnings(&dir, &format!("{predict} new.csv {flags}"));
        assert_eq!(messages.len(), 1, "{messages:?}");
        let of = if flags.is_empty() { 14 } else { 111 };
        assert!(messages[0].contains(&format!("sky in 11 of {of} rows (snow, hail)")), "{messages:?}");
    }
}

/// Series of which `dead` ends 44 days before the others, and how they are forecast.
#[test]
fn series_that_end_earlier_are_told_and_continued_or_left_out_on_request() {
    let dir = TestDirectory::new();
    let mut csv = "unique_id,ds,y\n".to_owned();
    for (id, days) in [("alive", 84), ("dead", 40)] {
        (0..days).for_each(|day| csv += &format!("{id},{},{:.3}\n", date(day), wave(day, 0.0)));
    }
    dir.put("shops.csv", &csv);
    let fit = format!("fit --data shops.csv --model NLinear {SMALL} --out model --overwrite");
    let predict = "predict --model model --data shops.csv --out forecast.csv";
    let early = "1 of 2 series ends before 2024-03-24, the last time of the data: dead (2024-02-09)";
    for line in [&*fit, predict] {
        let messages = warnings(&dir, line);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].starts_with(early), "{messages:?}");
        let advice = "leave such series out if they are over (`--end drop`); continue them to the last time with rows that are not known \
                      yet if their values are late (`--end masked`), or with rows of 0 if they were 0 since (`--end common`)";
        assert!(messages[0].contains(advice), "{messages:?}");
    }
    let first_of_dead = || {
        let csv = dir.read("forecast.csv");
        csv.lines()
            .find(|line| line.starts_with("dead"))
            .map(|line| line.split(',').nth(1).unwrap().to_owned())
    };
    assert_eq!(first_of_dead().as_deref(), Some("2024-02-10"));
    for (end, told, first) in [
        ("common", "they continue to it, rows added: 44", Some("2024-03-25")),
        ("masked", "they continue to it, rows added whose values are not known: 44", Some("2024-03-25")),
        ("drop", "they are left out, rows: 40", None),
    ] {
        let text = stderr(&dir.run(&format!("{fit} --end {end}")));
        assert!(text.contains(&format!("{early}; {told}\n")) && !text.contains("warning"), "{text}");
        // What the models were trained with holds for what they forecast, unless a flag says otherwise.
        let text = stderr(&dir.run(predict));
        assert!(text.contains(&format!("{early}; {told}\n")), "{text}");
        assert_eq!(first_of_dead().as_deref(), first, "{end}");
        dir.ok(&format!("{predict} --end drop --log none"));
        assert_eq!(first_of_dead(), None);
    }
    // Those that are left out need no static row.
    dir.put("alive.csv", "unique_id,size\nalive,1\n");
    dir.ok(&format!("{fit} --end drop --static alive.csv --log none")
        .replace("NLinear", "NHITS --set max_steps=1"));
    // Up to the time of a static column, which no model reads; the models remember the column.
    dir.put("closed.csv", "unique_id,closed,size\nalive,,1\ndead,2024-02-29,2\n");
    let fit_closed =
        fit.replace("NLinear", "NHITS") + " --set max_steps=1 --static closed.csv --end-col closed";
    let told = "1 of 2 series ends before the time of column `closed`: dead (2024-02-09); they continue to it, rows added: 20\n";
    let text = stderr(&dir.run(&fit_closed));
    assert!(text.contains(told), "{text}");
    assert!(!dir.read("model/configuration.json").contains("stat_exog_list\":[\"closed"));
    let text = stderr(&dir.run(&format!("{predict} --static closed.csv")));
    assert!(text.contains(told), "{text}");
    assert_eq!(first_of_dead().as_deref(), Some("2024-03-01"));
    let message = dir.fails(1, &format!("{fit} --end-col closed"));
    assert!(message.contains("has no column `closed`") && message.contains("`--static FILE`"), "{message}");
    dir.put(
        "kept.csv",
        &csv.replacen("y\n", "y,closed\n", 1)
            .lines()
            .map(|line| match line.starts_with("dead") {
                true => format!("{line},2024-02-29\n"),
                false if line.starts_with("alive") => format!("{line},\n"),
                false => format!("{line}\n"),
            })
            .collect::<String>(),
    );
    let text = stderr(&dir.run(&fit.replace("shops", "kept").replace("--out", "--end-col closed --out")));
    assert!(text.contains(told), "{text}");
    let joint = "--set ff_dim=4 --set n_series=2";
    let message = dir.fails(1, &fit.replace("NLinear", "TSMixer").replace("fit ", &format!("fit {joint} ")));
    assert!(message.contains(early) && message.contains("side by side"), "{message}");
    dir.ok(&fit
        .replace("NLinear", "TSMixer")
        .replace("fit ", &format!("fit {joint} --end common --log none ")));
    let message = dir.fails(2, &format!("{predict} --end comon"));
    assert!(message.contains("end must be common, masked, drop, own, found comon"), "{message}");
}

#[test]
fn settings_of_tutorials_that_change_nothing_are_passed_over_with_one_line() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model NLinear,DLinear,Naive {SMALL} --overwrite --out");
    dir.ok(&format!("{fit} plain --log none"));
    let settings = "--set accelerator=gpu --set devices=1 --set enable_progress_bar=false --set logger=false --set callbacks=[]";
    let messages = warnings(&dir, &format!("{fit} copied {settings}"));
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(
        messages[0].ends_with("accelerator, callbacks, devices, enable_progress_bar, logger"),
        "{messages:?}"
    );
    for file in ["NLinear_0.safetensors", "DLinear_0.safetensors"] {
        assert_eq!(dir.bytes(&format!("plain/{file}")), dir.bytes(&format!("copied/{file}")));
    }
}

#[test]
fn models_without_intervals_stand_beside_those_that_have_them() {
    let dir = TestDirectory::new();
    let loss = "--set MLP.hidden_size=4 --set MLP.loss={\"MQLoss\":{\"level\":[80]}}";
    dir.ok(&format!("fit {LONG} --model NLinear,MLP {SMALL} {loss} --out model --log none"));
    let predict = "predict --model model --data long.csv --out forecast.csv --level 80";
    let messages = warnings(&dir, predict);
    assert!(
        messages.len() == 1 && messages[0].starts_with("no intervals of these levels: NLinear;"),
        "{messages:?}"
    );
    let header = dir.read("forecast.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "shop,day,NLinear,MLP-median,MLP-lo-80,MLP-hi-80");
    // Where no model has them, it is a mistake.
    let message = dir.fails(2, &predict.replace("80", "95"));
    assert!(message.contains("NLinear has no intervals"), "{message}");
}

/// Counts that are 0 on every seventh day.
#[test]
fn forecasts_and_bounds_are_kept_from_0_on_and_whole_on_request() {
    let dir = TestDirectory::new();
    let mut csv = "unique_id,ds,y\n".to_owned();
    (0..200).for_each(|day| {
        csv += &format!("a,{},{}\n", date(day), if day % 7 == 6 { 0 } else { day * day % 11 })
    });
    dir.put("shop.csv", &csv);
    let fit = "fit --data shop.csv --model NLinear --h 7 --input-size 14 --set max_steps=60 --intervals 5 --overwrite";
    let told = "forecasts and interval bounds below 0 become 0";
    let values = |flags: &str| -> Vec<f64> {
        let csv = dir.ok(&format!("predict --model model --data shop.csv --level 80 --log none {flags}"));
        csv.lines()
            .skip(1)
            .flat_map(|line| line.split(',').skip(2).map(|cell| cell.parse::<f64>().unwrap()))
            .collect()
    };
    dir.ok(&format!("{fit} --out model --log none"));
    let plain = values("");
    assert!(plain.iter().any(|y| *y < 0.0) && plain.iter().any(|y| y.fract() != 0.0), "{plain:?}");
    let bounded: Vec<f64> = plain.iter().map(|y| y.max(0.0)).collect();
    assert_eq!(values("--non-negative"), bounded);
    assert!(values("--integer").iter().all(|y| y.fract() == 0.0));
    // Models remember it.
    let text = stderr(&dir.run(&format!("{fit} --out model --non-negative")));
    assert!(text.contains(&format!("{told}\n")), "{text}");
    assert!(values("").iter().all(|y| *y >= 0.0));
    let text = stderr(&dir.run("predict --model model --data shop.csv --integer --out forecast.csv"));
    assert!(text.contains(&format!("{told}, and all are rounded to whole numbers\n")), "{text}");
    assert!(values("--integer").iter().all(|y| *y >= 0.0 && y.fract() == 0.0));
}

#[test]
fn holidays_that_no_calendar_covers_are_told_and_wrong_ones_refused() {
    let dir = TestDirectory::new();
    let mut csv = "unique_id,ds,y\n".to_owned();
    for (year, month) in (1970..1973).flat_map(|year| (1..13).map(move |month| (year, month))) {
        csv += &format!("a,{year}-{month:02}-01,{}\n", year + month);
    }
    dir.put("old.csv", &csv);
    dir.put("days.csv", "holiday,ds,lower_window\nfair,1971-05-01,\nfair,1972-05-01,2\n");
    let fit =
        "fit --data old.csv --model Prophet --h 3 --set yearly_seasonality=false --out model --overwrite";
    let told = warnings(&dir, &format!("{fit} --set country_holidays=US"));
    let expected = "Prophet: the calendar of country_holidays=US covers 1990 to 2050, and the data are of 1970 to 1972: no holiday";
    assert!(told.len() == 1 && told[0].contains(expected), "{told:?}");
    let message = dir.fails(2, &format!("{fit} --set holidays=days.csv"));
    assert!(
        message.contains("days.csv: line 3, holiday \"fair\" on 1972-05-01: lower_window is 2, and must be between -366 and 0"),
        "{message}"
    );
}
