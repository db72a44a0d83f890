//! What a forecaster meets in a day's files: an answer that is right, or a word about it.

use crate::test_directory::{TestDirectory, date, rows, stderr};

/// Hours from 1 January 2024 on, and what a shop sells that is open from nine to six.
fn shop_hours(days: usize) -> String {
    let value = |day: usize, hour: usize| match hour {
        9..18 => 15 + (day * 5 + hour * 7) % 11,
        _ => 0,
    };
    let of_day = |day: usize| {
        (0..24).map(move |hour| {
            let time = foretell::jiff::civil::date(2024, 1, 1)
                .saturating_add(foretell::jiff::Span::new().days(day as i64));
            format!("shop,{time} {hour:02}:00:00,{}\n", value(day, hour))
        })
    };
    (0..days).flat_map(of_day).collect()
}

/// One mean of all hours would be far from each of them, and outside of the forecast's own interval.
#[test]
fn what_is_zero_at_most_hours_is_forecast_by_the_hour() {
    let dir = TestDirectory::new();
    dir.put("shop.csv", &format!("unique_id,ds,y\n{}", shop_hours(21)));
    let output = dir.run("forecast --data shop.csv --h 24 --level 80");
    assert!(!stderr(&output).contains("mean demand"), "{}", stderr(&output));
    let forecast = String::from_utf8(output.stdout).unwrap();
    for (hour, row) in rows(&forecast)[1..].iter().enumerate() {
        let [point, low, high] = [2, 3, 4].map(|column| row[column].parse::<f64>().unwrap());
        assert!(low <= point && point <= high, "{row:?}");
        let is_open = (9..18).contains(&hour);
        assert!(if is_open { (13.0..28.0).contains(&point) } else { point < 1.0 }, "{row:?}");
    }
}

#[test]
fn no_search_is_made_for_an_interval_that_there_is_not() {
    let dir = TestDirectory::new();
    for (flags, told) in [
        ("--level 100", "a level is a percentage of 1 or more and below 100, as 80, found 100"),
        ("--quantiles 10,50", "a quantile is a number above 0 and below 1, found 10"),
    ] {
        // Not even the file is read.
        let message = dir.fails(2, &format!("forecast --data none.csv --h 3 {flags}"));
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn texts_that_are_known_ahead_are_named_where_they_are_not_read() {
    let dir = TestDirectory::new();
    let row = |k: usize| (date(k), if k.is_multiple_of(9) { "yes" } else { "no" });
    let past = (0..90).map(|k| {
        format!("a,{},{},{}\n", row(k).0, 100 + k % 7 + 30 * usize::from(k.is_multiple_of(9)), row(k).1)
    });
    dir.put("d.csv", &format!("unique_id,ds,y,promo\n{}", past.collect::<String>()));
    let ahead = (90..97).map(|k| format!("a,{},{}\n", row(k).0, row(k).1));
    dir.put("f.csv", &format!("unique_id,ds,promo\n{}", ahead.collect::<String>()));
    let forecast = "forecast --data d.csv --futr f.csv --h 7 --models AutoARIMA,SeasonalNaive";
    let told = stderr(&dir.run(forecast));
    assert!(
        told.contains("not read, as they hold texts: promo (--cat-exog promo reads them as categories)"),
        "{told}"
    );
    // What it says.
    let found = dir.ok(&format!("{forecast} --cat-exog promo --log none"));
    assert_promotion_raises_the_first_day(&found);
}

/// The promotion is on the first day that is forecast alone.
fn assert_promotion_raises_the_first_day(forecast: &str) {
    let found: Vec<f64> = rows(forecast)[1..].iter().map(|row| row[2].parse().unwrap()).collect();
    assert!(found[0] > 120.0 && found[1..].iter().all(|y| *y < 115.0), "{found:?}");
}

/// A file whose last rows have no value yet, and what is known ahead for these days.
#[test]
fn rows_behind_the_last_values_are_those_of_columns_known_ahead() {
    let dir = TestDirectory::new();
    let row = |k: usize| {
        let promo = usize::from(k.is_multiple_of(9));
        let y = if k < 90 { (100 + k % 7 + 30 * promo).to_string() } else { String::new() };
        format!("a,{},{y},{promo}\n", date(k))
    };
    dir.put("d.csv", &format!("unique_id,ds,y,promo\n{}", (0..97).map(row).collect::<String>()));
    let forecast = "forecast --data d.csv --h 7 --models AutoARIMA,SeasonalNaive";
    let told = stderr(&dir.run(forecast));
    assert!(
        told.contains("not read: `promo`") && told.contains("--futr d.csv reads their columns"),
        "{told}"
    );
    let found = dir.ok(&format!("{forecast} --futr d.csv --log none"));
    assert_promotion_raises_the_first_day(&found);
}

#[test]
fn prices_beside_what_was_traded_are_asked_about() {
    let dir = TestDirectory::new();
    let day = |k: usize| format!("{},{},{},{}\n", date(k), 50 + k % 5, 51 + k % 5, 100_000 + k);
    let table = (0..40).map(day).collect::<String>();
    dir.put("ohlc.csv", &format!("Date,Open,Close,Volume\n{table}"));
    let message = dir.fails(2, "fit --data ohlc.csv --model Naive --h 1 --out m");
    assert!(
        message.contains("which column is to be forecast? Numbers are in `Open`, `Close`, `Volume`"),
        "{message}"
    );
    dir.put("sold.csv", &format!("Date,Width,Depth,Volume\n{table}"));
    assert!(stderr(&dir.run("fit --data sold.csv --model Naive --h 1 --out m")).contains("values Volume"));
}

#[test]
fn the_ends_of_an_interval_without_a_level_are_no_models() {
    let dir = TestDirectory::new();
    dir.put(
        "y.csv",
        &format!("ds,y\n{}", (0..40).map(|k| format!("{},{}\n", date(k), k)).collect::<String>()),
    );
    let row = |k: usize| format!("{},{},{},{}\n", date(k), k + 2, k, k + 3);
    dir.put("f.csv", &format!("ds,yhat,yhat_lower,yhat_upper\n{}", (30..40).map(row).collect::<String>()));
    let output = dir.run("evaluate --forecast f.csv --actual y.csv --metrics mae --fail-if mae>2.5");
    let (table, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(table.contains("2.000") && !table.contains("lower"), "{table}");
    assert!(told.contains("passed over: yhat_lower, yhat_upper, the ends of an interval"), "{told}");
    // Of models that are left out nothing is told, and other commands tell it too.
    let lines = dir.read("f.csv");
    let with_n =
        lines.lines().enumerate().map(|(k, line)| format!("{line},{}\n", if k == 0 { "N" } else { "5" }));
    dir.put("two.csv", &with_n.collect::<String>());
    let alone = dir.run("evaluate --forecast two.csv --actual y.csv --metrics mae --models N");
    assert!(alone.status.success() && !stderr(&alone).contains("yhat_lower"), "{}", stderr(&alone));
    let plot = stderr(&dir.run("plot --forecast f.csv --data y.csv --out plot.svg"));
    assert!(plot.contains("passed over: yhat_lower, yhat_upper"), "{plot}");
    // What it says.
    dir.put("g.csv", &dir.read("f.csv").replace("yhat_lower,yhat_upper", "yhat-lo-80,yhat-hi-80"));
    let table = dir.ok("evaluate --forecast g.csv --actual y.csv --metrics mae,coverage");
    assert!(table.contains("coverage_level80  1.000"), "{table}");
    // One alone is a model.
    dir.put("one.csv", &dir.read("f.csv").replace("yhat_upper", "other"));
    let table = dir.ok("evaluate --forecast one.csv --actual y.csv --metrics mae");
    assert!(table.contains("yhat_lower"), "{table}");
}

#[test]
fn a_series_of_one_row_stops_no_forecast_of_the_history() {
    let dir = TestDirectory::new();
    let long: String = (0..60).map(|k| format!("long,{},{}\n", date(k), k % 7)).collect();
    dir.put("long.csv", &format!("unique_id,ds,y\n{long}"));
    dir.put("d.csv", &format!("unique_id,ds,y\n{long}new,{},7\n", date(59)));
    dir.ok("fit --data d.csv --model AutoETS --h 2 --out m --log none");
    let both = dir.run("predict --model m --data d.csv --insample");
    assert!(both.status.success(), "{}", stderr(&both));
    assert!(stderr(&both).contains("new (1)"), "{}", stderr(&both));
    assert_eq!(
        String::from_utf8(both.stdout).unwrap(),
        dir.ok("predict --model m --data long.csv --insample --log none")
    );
    let marked = dir.run("anomalies --from m --data d.csv --level 99");
    assert!(marked.status.success() && stderr(&marked).contains("new (1)"), "{}", stderr(&marked));
    let message = dir.fails(1, "predict --model m --data d.csv --insample --strict");
    assert!(message.contains("needs 3 rows, more than series new"), "{message}");
    dir.ok("predict --model m --data d.csv --insample --strict --drop-short");
    // Of a series too short alone there is nothing to forecast.
    dir.put("new.csv", &format!("unique_id,ds,y\nnew,{},7\n", date(59)));
    let message = dir.fails(1, "predict --model m --data new.csv --insample");
    assert!(message.contains("needs 3 rows, more than series new"), "{message}");
}

#[test]
fn the_retail_calendar_that_is_advised_reads_the_months() {
    let dir = TestDirectory::new();
    // Months of 4, 4 and 5 weeks of years that end on the last Sunday of September. All calendars that have these months agree on the next.
    let mut day = foretell::jiff::civil::date(2021, 9, 26);
    let mut csv = "period_end,sales\n".to_owned();
    for k in 0..24_usize {
        csv += &format!("{day},{}\n", k % 12);
        day = day.saturating_add(foretell::jiff::Span::new().weeks(if (k + 1) % 3 == 0 { 5 } else { 4 }));
    }
    dir.put("d.csv", &csv);
    let fit = "fit --data d.csv --model SeasonalNaive --h 2 --out m";
    let message = dir.fails(1, fit);
    let (_, advised) = message.split_once("`--freq ").expect(&message);
    let advised = advised.split('`').next().unwrap();
    dir.ok(&format!("{fit} --freq {advised}"));
    let found = dir.ok("predict --model m --data d.csv --log none");
    let found: Vec<[&str; 2]> = rows(&found)[1..].iter().map(|row| [row[1], row[2]]).collect();
    let [first, _] = found[..] else { panic!("{found:?}") };
    assert_eq!(first, [&*day.to_string(), "0.0"], "{message}");
}

/// As pandas writes a table whose index has no name.
#[test]
fn dates_in_a_first_column_without_a_name_are_the_times() {
    let dir = TestDirectory::new();
    let table = |names: &str, row: &dyn Fn(usize) -> String| {
        format!("{names}\n{}", (0..30).map(|k| format!("{},{}\n", date(k), row(k))).collect::<String>())
    };
    let last = |data: &str| {
        dir.put("d.csv", data);
        let output = dir.run("fit --data d.csv --model Naive --h 1 --out m --overwrite");
        assert!(output.status.success(), "{}", stderr(&output));
        let found = dir.ok("predict --model m --data d.csv --log none");
        let row = &rows(&found)[1];
        format!("{} {} {}", row[0], row[1], row[2])
    };
    assert_eq!(last(&table(",sales", &|k| k.to_string())), format!("sales {} 29.0", date(30)));
    // Numbers that could count steps are none beside dates.
    assert_eq!(
        last(&table(",sales,visits", &|k| format!("{},{}", 50 + k % 4, k))),
        format!("sales {} 51.0", date(30))
    );
    assert_eq!(last(&table(",store,sales", &|k| format!("Ulm,{k}"))), format!("Ulm {} 29.0", date(30)));
    // A number of each row is no time.
    let numbered = (0..30).map(|k| format!("{k},{},{}\n", date(k), 7 + k)).collect::<String>();
    assert_eq!(last(&format!(",date,sales\n{numbered}")), format!("sales {} 36.0", date(30)));
}
