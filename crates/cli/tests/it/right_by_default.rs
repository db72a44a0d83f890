//! Defaults, messages and silences that would lead to a wrong number: what is right, and what is told.

use serde_json::Value;

use crate::test_directory::{TestDirectory, date, rows, stderr};

/// Months of a series from January 2020 on.
fn months(id: &str, count: usize, value: impl Fn(usize) -> f64) -> String {
    let month = |k: usize| format!("{}-{:02}-01", 2020 + k / 12, k % 12 + 1);
    (0..count).map(|k| format!("{id},{},{:.2}\n", month(k), value(k))).collect()
}

/// Weeks of a series that ends with the 110th from 3 January 2022 on.
fn weeks(id: &str, count: usize, value: impl Fn(usize) -> usize) -> String {
    let start = foretell::jiff::civil::date(2022, 1, 3);
    let week = |k: usize| start.saturating_add(foretell::jiff::Span::new().weeks(k as i64)).to_string();
    (110 - count..110).map(|k| format!("{id},{},{}\n", week(k), value(k))).collect()
}

fn winter(k: usize) -> f64 {
    5.0 - 12.0 * (k as f64 * std::f64::consts::TAU / 12.0).cos()
}

#[test]
fn series_that_a_model_cannot_have_are_named_listed_and_refused() {
    let dir = TestDirectory::new();
    let data = months("cold", 48, winter) + &months("warm", 48, |k| winter(k) + 30.0);
    dir.put("d.csv", &format!("unique_id,ds,y\n{data}"));
    let fit =
        "fit --data d.csv --model HoltWinters,AutoETS --h 12 --set HoltWinters.model=MAM --out m --overwrite";
    let told = stderr(&dir.run(&format!("{fit} --fallbacks list.csv")));
    assert!(told.contains("HoltWinters: series cold has values that are not above 0"), "{told}");
    let list = "unique_id,model,reason,instead\ncold,HoltWinters,\"values that are not above 0, which a model with factors needs\",its last value\n";
    assert_eq!(dir.read("list.csv"), list);
    let events = stderr(&dir.run(&format!("{fit} --log json")));
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let event = events.into_iter().find(|event| event["series"] == serde_json::json!(["cold"])).unwrap();
    assert_eq!((&event["event"], &event["model"]), (&"warning".into(), &"HoltWinters".into()));
    assert!(dir.fails(1, &format!("{fit} --strict")).contains("series cold has values"));
    // A forecast tells it, too.
    let predict = "predict --model m --data d.csv --out f.csv";
    assert!(stderr(&dir.run(predict)).contains("series cold has values that are not above 0"));
    assert!(dir.fails(1, &format!("{predict} --strict")).contains("would be forecast by its last value"));
    let forecast = dir.read("f.csv");
    let july = rows(&forecast).into_iter().find(|row| row[0] == "cold" && row[1] == "2024-07-01").unwrap();
    assert!((july[3].parse::<f64>().unwrap() - 17.0).abs() < 2.0, "{july:?}");
}

#[test]
fn a_file_that_can_mean_one_thing_is_read_so_and_one_that_can_mean_two_asks() {
    let dir = TestDirectory::new();
    let day = |k: usize| {
        let date = date(k);
        format!("{}.{}.{}", &date[8..10], &date[5..7], &date[..4])
    };
    let row = |id: &str, k: usize| format!("{};{id};{},5\n", day(k), 100 + k % 7);
    let rows_of = |id: &str| (0..60).map(|k| row(id, k)).collect::<String>();
    dir.put("de.csv", &format!("Datum;Filiale;Umsatz\n{}{}", rows_of("Ulm"), rows_of("Bonn")));
    let fit = "fit --data de.csv --model SeasonalNaive --set season_length=7 --h 2 --overwrite --out m";
    let told = stderr(&dir.run(fit));
    for part in [
        "read times by %d.%m.%Y (",
        ") and numbers with a decimal comma (100,5), as its first rows fit nothing else",
        "columns: series Filiale, times Datum, values Umsatz",
    ] {
        assert!(told.contains(part), "{told}");
    }
    let found = dir.ok("predict --model m --data de.csv --log none");
    let said = "--time-format %d.%m.%Y --decimal , --id-col Filiale --time-col Datum --target-col Umsatz";
    dir.ok(&format!("{fit} {said}"));
    assert_eq!(found, dir.ok(&format!("predict --model m --data de.csv {said} --log none")));
    assert!(found.contains(&format!("Ulm;{};{},5\n", date(60), 100 + 60 % 7)), "{found}");

    // What is written otherwise: rows of the future, and data that models of these are given.
    let futr: String = [60, 61]
        .iter()
        .flat_map(|&k| ["Ulm", "Bonn"].map(|id| format!("{id},{},{k}.5\n", date(k))))
        .collect();
    dir.put("ahead.csv", &format!("Filiale,Datum,Preis\n{futr}"));
    let priced = dir.read("de.csv").replace(",5\n", ",5;2,5\n").replace("Umsatz", "Umsatz;Preis");
    dir.put("priced.csv", &priced);
    dir.ok("forecast --data priced.csv --target-col Umsatz --futr ahead.csv --h 2 --models AutoARIMA --out f.csv --log none");
    let iso: String = (0..60).map(|k| format!("Ulm,{},{}.5\n", date(k), 100 + k % 7)).collect();
    dir.put("iso.csv", &format!("Filiale,Datum,Umsatz\n{iso}"));
    assert!(dir.ok("predict --model m --data iso.csv --log none").contains(&format!("Ulm,{}", date(60))));

    // Years as dates, and as numbers where that is said.
    let years: String = (1990..2020).map(|year| format!("a,{year},{}\n", year % 4)).collect();
    dir.put("years.csv", &format!("unique_id,year,y\n{years}"));
    for (flags, next) in
        [("", "a,2020-01-01,"), ("--freq 1", "a,2020,"), ("--time-format integer", "a,2020,")]
    {
        dir.ok(&format!(
            "fit --data years.csv --time-col year {flags} --model Naive --h 1 --overwrite --out y"
        ));
        let found = dir.ok("predict --model y --data years.csv --log none");
        assert!(found.contains(next), "{flags}: {found}");
    }
    dir.put("two.csv", "unique_id,year,A,B\na,2018,1,2\na,2019,2,3\n");
    assert!(dir.ok("evaluate --forecast two.csv --actual years.csv --metrics mae").contains("mae"));

    // Days first, by a day beyond the twelfth; models remember it where the rows are few.
    let days = |range: std::ops::Range<usize>| -> String {
        range.map(|k| format!("{},{k}\n", day(k).replace('.', "/"))).collect()
    };
    dir.put("days.csv", &format!("day,y\n{}", days(0..30)));
    dir.put("few.csv", &format!("day,y\n{}", days(0..5)));
    dir.ok("fit --data days.csv --model Naive --h 1 --out days");
    assert!(dir.ok("predict --model days --data few.csv --log none").contains(&date(5)));
    let asked = dir.fails(1, "fit --data few.csv --model Naive --h 1 --out few");
    assert!(asked.contains("--time-format %d/%m/%Y") && asked.contains("--time-format %m/%d/%Y"), "{asked}");
}

#[test]
fn a_series_of_one_row_is_forecast_by_it_and_stops_no_other() {
    let dir = TestDirectory::new();
    let long: String = (0..60).map(|k| format!("long,{},{}\n", date(k), k % 7)).collect();
    dir.put("d.csv", &format!("unique_id,ds,y\n{long}new,{},7\n", date(59)));
    let fit = "fit --data d.csv --model Prophet --h 2 --out m --overwrite";
    let told = stderr(&dir.run(&format!("{fit} --fallbacks list.csv")));
    assert!(
        told.contains("Prophet: series new has fewer than 2 values, and is forecast by its last value"),
        "{told}"
    );
    let list = "unique_id,model,reason,instead\nnew,Prophet,fewer than 2 values,its last value\n";
    assert_eq!(dir.read("list.csv"), list);
    let forecast = dir.ok("predict --model m --data d.csv");
    let forecast = rows(&forecast);
    let found: Vec<[&str; 2]> = forecast.iter().map(|row| [row[0], row[2]]).collect();
    assert_eq!(found[3..], [["new", "7.0"], ["new", "7.0"]]);
    assert!(dir.fails(1, &format!("{fit} --strict")).contains("series new has fewer than 2 values"));
}

/// What a fit chooses of a series is listed by it, not only by the forecast after it.
#[test]
fn a_form_that_is_passed_over_is_listed_by_the_fit() {
    let dir = TestDirectory::new();
    // Page views that grow and fall by shares of a level: errors as shares suit them, and multiply the spread at each of 300 steps.
    let mut level = 0.0;
    let views = (0..300).map(|k| {
        level = 0.95 * level + 1.5 * ((k * 7919 % 101) as f64 / 101.0 - 0.5);
        format!("views,{},{:.3}\n", date(k), 100.0 * level.exp())
    });
    dir.put("views.csv", &format!("unique_id,ds,y\n{}", views.collect::<String>()));
    dir.ok("fit --data views.csv --model AutoETS --set season_length=1 --h 8 --out m --fallbacks fit.csv");
    dir.ok("predict --model m --data views.csv --fallbacks predict.csv");
    let list = dir.read("fit.csv");
    assert!(
        list.contains("views,AutoETS,\"a history that a form with errors as shares suits best"),
        "{list}"
    );
    assert_eq!(list, dir.read("predict.csv"));
}

#[test]
fn one_new_product_stops_nothing() {
    let dir = TestDirectory::new();
    let many: String =
        (0..12).map(|i| weeks(&format!("s{i:02}"), 110, move |k| (k * 7 + i * 3) % 5)).collect();
    dir.put("new.csv", &format!("unique_id,ds,y\n{many}{}", weeks("t", 12, |k| 3 + k % 2)));
    let output = dir.run(
        "fit --data new.csv --model TSB,SeasonalNaive --h 8 --intervals 8 --ensemble weighted:3 --out m",
    );
    let told = stderr(&output);
    assert!(output.status.success() && told.contains("take: t (12 rows)"), "{told}");
    let forecast = dir.ok("predict --model m --data new.csv --level 80 --log none");
    let header: Vec<&str> = forecast.lines().next().unwrap().split(',').collect();
    let [low, high] =
        ["TSB-lo-80", "TSB-hi-80"].map(|name| header.iter().position(|cell| *cell == name).unwrap());
    let of_new: Vec<Vec<&str>> = forecast
        .lines()
        .filter(|line| line.starts_with("t,"))
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(of_new.len(), 8);
    for row in of_new {
        let [low, high] = [low, high].map(|column| row[column].parse::<f64>().unwrap());
        assert!(0.0 <= low && low < high && high < 20.0, "{row:?}");
    }
    // Without the new one the others have intervals, and it has a forecast.
    dir.ok("fit --data new.csv --model TSB --h 8 --intervals 8 --drop-short --out dropped --log none");
    let output = dir.run("predict --model dropped --data new.csv --level 80 --out f.csv");
    let told = stderr(&output);
    assert!(
        output.status.success()
            && told.contains("series without intervals, which were calibrated on others: t"),
        "{told}"
    );
    let f = dir.read("f.csv");
    assert!(f.lines().find(|line| line.starts_with("t,")).unwrap().ends_with(",,"), "{f}");
    // A hierarchy that is weighed by errors.
    let labels: String = (0..12).map(|i| format!("s{i:02},A\n")).collect();
    dir.put("h.csv", &format!("unique_id,store\n{labels}t,B\nnever,B\n"));
    let fit = "fit --data new.csv --model TSB --h 8 --levels store --static h.csv --reconciliation MinTraceVar --out sums";
    let output = dir.run(fit);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    for part in [
        "no rows of, and that are left out of it: never",
        "series that begin after 2022-01-03: t (2023-11-20)",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(told.matches("left out of it: never").count(), 1, "{told}");
}

#[test]
fn demand_has_quantiles_of_counts() {
    let dir = TestDirectory::new();
    dir.put(
        "d.csv",
        &format!("unique_id,ds,y\n{}", weeks("a", 100, |k| [0, 0, 5, 0, 0, 0, 2, 0, 0, 0][k % 10])),
    );
    dir.ok("fit --data d.csv --model CrostonClassic,ADIDA,IMAPA,TSB --h 2 --out m --log none");
    let forecast = dir.ok("predict --model m --data d.csv --level 80 --log none");
    let cells = rows(&forecast);
    let header: Vec<&str> = forecast.lines().next().unwrap().split(',').collect();
    for (column, name) in header.iter().enumerate().filter(|(_, name)| name.contains("-80")) {
        let value: f64 = cells[1][column].parse().unwrap();
        assert!(value >= 0.0 && value.fract() == 0.0, "{name}: {value}");
        assert_eq!(name.contains("-lo-"), value == 0.0, "{name}: {value}");
    }
}

#[test]
fn bounds_of_sums_are_applied_to_sums() {
    let dir = TestDirectory::new();
    let many: String = (0..10)
        .map(|i| weeks(&format!("s{i}"), 110, move |k| [0, 0, 0, 5, 1, 0, 2][(k * 3 + i * 5) % 7]))
        .collect();
    dir.put("d.csv", &format!("unique_id,ds,y\n{many}"));
    let labels: String = (0..10).map(|i| format!("s{i},{}\n", ["A", "B"][i % 2])).collect();
    dir.put("h.csv", &format!("unique_id,store\n{labels}"));
    let total = |flag: &str| {
        dir.ok(&format!("fit --data d.csv --model HistoricAverage --h 2 --levels store --static h.csv {flag} --out m --overwrite --log none"));
        let forecast = dir.ok("predict --model m --data d.csv --level 80 --log none");
        let bottom = rows(&forecast).into_iter().filter(|row| row[0].starts_with('s'));
        let least = bottom.map(|row| row[3].parse::<f64>().unwrap()).fold(f64::INFINITY, f64::min);
        let row = rows(&forecast).into_iter().find(|row| row[0] == "Total").unwrap();
        (least, [2, 3, 4].map(|column| row[column].parse::<f64>().unwrap()))
    };
    let (free, [_, free_low, free_high]) = total("");
    let (least, [point, low, high]) = total("--non-negative");
    assert!(free < 0.0 && least == 0.0, "{free} {least}");
    assert!((low - free_low).abs() < 1e-3 && (high - free_high).abs() < 1e-3, "{low} {free_low}");
    assert!(low < 0.8 * point && high > 1.2 * point, "{low} {point} {high}");
}

#[test]
fn fewer_steps_need_no_further_future() {
    let dir = TestDirectory::new();
    let promo = |k: usize| usize::from(k.is_multiple_of(4));
    let row = |line: &str, k: usize| format!("{},{}\n", line, promo(k));
    let data: String = weeks("a", 104, |k| 10 + 5 * promo(k) + k % 2)
        .lines()
        .enumerate()
        .map(|(i, line)| row(line, i + 6))
        .collect();
    dir.put("d.csv", &format!("unique_id,ds,y,promo\n{data}"));
    let start = foretell::jiff::civil::date(2024, 2, 12);
    let ahead: String = (0..6)
        .map(|k| {
            format!(
                "a,{},{}\n",
                start.saturating_add(foretell::jiff::Span::new().weeks(k)),
                promo(110 + k as usize)
            )
        })
        .collect();
    dir.put("f.csv", &format!("unique_id,ds,promo\n{ahead}"));
    dir.ok("fit --data d.csv --futr-exog promo --model Prophet --h 8 --out m --log none");
    let forecast = dir.ok("predict --model m --data d.csv --futr f.csv --h 6 --log none");
    assert_eq!(rows(&forecast).len(), 1 + 6);
    assert!(dir.fails(1, "predict --model m --data d.csv --futr f.csv").contains("lacks 2 future rows"));
}

#[test]
fn saved_classical_models_mark_by_their_own_intervals() {
    let dir = TestDirectory::new();
    // Weeks of days with one spike.
    let day = |k: usize| {
        foretell::jiff::civil::date(2024, 1, 1).saturating_add(foretell::jiff::Span::new().days(k as i64))
    };
    let y = |k: usize| if k == 45 { 900.0 } else { 100.0 + 10.0 * (k % 7) as f64 };
    let data: String = (0..80).map(|k| format!("a,{},{}\n", day(k), y(k))).collect();
    dir.put("d.csv", &format!("unique_id,ds,y\n{data}"));
    dir.ok("fit --data d.csv --model AutoETS --h 1 --out m --log none");
    dir.ok("anomalies --data d.csv --from m --level 99 --only --out a.csv --log none");
    let marked = dir.read("a.csv");
    let days: Vec<String> = rows(&marked).iter().skip(1).map(|row| row[1].to_owned()).collect();
    assert!(days.contains(&day(45).to_string()) && days.len() <= 2, "{marked}");
}

#[test]
fn values_that_a_bound_keeps_forecasts_from_are_told() {
    let dir = TestDirectory::new();
    let data = months("cold", 48, winter) + &months("warm", 48, |k| winter(k) + 30.0);
    dir.put("d.csv", &format!("unique_id,ds,y\n{data}"));
    let told = |flags: &str| {
        stderr(
            &dir.run(&format!("fit --data d.csv --model SeasonalNaive --h 12 --out m --overwrite {flags}")),
        )
    };
    let bounded = told("--non-negative");
    assert!(
        bounded.contains("series with values below 0, of which no forecast is to be: cold; "),
        "{bounded}"
    );
    assert!(!told("").contains("below 0"));
}

/// Hours whose days depend on the weekday, which only days show to a season of 24.
#[test]
fn hours_add_up_to_days() {
    let dir = TestDirectory::new();
    let day = foretell::jiff::civil::date(2024, 1, 1);
    let rows = (0..24 * 28).map(|k| {
        let day = day.saturating_add(foretell::jiff::Span::new().days(k / 24));
        format!("a,{day} {:02}:00,{}\n", k % 24, 200 + k % 24 + 20 * (k / 24 % 7))
    });
    dir.put("load.csv", &format!("unique_id,ds,y\n{}", rows.collect::<String>()));
    let models = "--data load.csv --model SeasonalNaive --set season_length=24";
    let forecast = |flags: &str| -> Vec<f64> {
        dir.ok(&format!("fit {models} --h 24 --out m --overwrite {flags}"));
        let csv = dir.ok("predict --model m --data load.csv");
        csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    // The last day is a Sunday, the next a Monday: 120 below. Of variances 1 and 24 each hour takes 1/48 of the gap of 24 * 120.
    let alone: Vec<f64> = (0..24).map(|hour| f64::from(320 + hour)).collect();
    assert_eq!(forecast(""), alone);
    assert_eq!(forecast("--temporal D --temporal-method BottomUp"), alone);
    let structural = forecast("--temporal 24h --temporal-method MinTraceWLS");
    assert!(
        structural.iter().zip(&alone).all(|(found, alone)| (found - alone + 60.0).abs() < 1e-3),
        "{structural:?}"
    );
    // Days have no errors at all, so hours take all of it.
    let variances = forecast("--temporal 24");
    assert!(
        variances.iter().zip(&alone).all(|(found, alone)| (found - alone + 120.0).abs() < 1e-2),
        "{variances:?}"
    );
    assert!(dir.ok("inspect m").contains("with sums of 24 steps"));
    let scores = dir.ok(&format!("cross-validate {models} --h 24 --n-windows 3 --temporal D --out past.csv"));
    assert!(scores.contains("SeasonalNaive"), "{scores}");
    let refused = dir.fails(2, &format!("fit {models} --h 36 --temporal D --out n"));
    assert!(refused.contains("36 steps are no whole number of periods of 24; forecast 48"), "{refused}");
    let refused = dir.fails(2, &format!("fit {models} --h 720 --temporal MS --out n"));
    assert!(refused.contains("it has 672 to 744 steps of h"), "{refused}");
}

#[test]
fn columns_with_other_names_are_told_by_what_they_hold_and_those_that_are_not_read_are_named() {
    let dir = TestDirectory::new();
    let row = |shop: &str, k: usize| format!("{},{shop},{},{}\n", date(k), 20 + (k * 7) % 5, 3 + k % 2);
    let data: String = (0..40).flat_map(|k| ["north", "south"].map(|shop| row(shop, k))).collect();
    dir.put("d.csv", &format!("day,shop,sales,price\n{data}"));
    let told = stderr(&dir.run("fit --data d.csv --model SeasonalNaive --h 7 --out m"));
    assert!(told.contains("columns: series shop, times day, values sales;"), "{told}");
    assert!(told.contains("not read: `price`;"), "{told}");
    // Models keep the names.
    assert!(dir.ok("predict --model m --data d.csv").starts_with("shop,day,SeasonalNaive\nnorth,"));
    let named = "--id-col shop --time-col day --target-col sales";
    let forecast = dir.ok("forecast --data d.csv --h 7 --models SeasonalNaive");
    assert_eq!(forecast, dir.ok(&format!("forecast --data d.csv --h 7 --models SeasonalNaive {named}")));
    // Where there is a doubt it asks, and the answer suffices.
    dir.put("e.csv", &format!("day,shop,a,b\n{data}"));
    let error = dir.fails(2, "forecast --data e.csv --h 7");
    assert!(
        error
            .contains("which column is to be forecast? Numbers are in `a`, `b`: name one by `--target-col`;"),
        "{error}"
    );
    assert!(error.contains("times are in `day`, ids in `shop`"), "{error}");
    let told = stderr(&dir.run("forecast --data e.csv --h 7 --target-col a --models SeasonalNaive"));
    assert!(told.contains("columns: series shop, times day, values a;"), "{told}");
    // Rows that come again are of several series, or of one day and something else.
    dir.put(
        "f.csv",
        &format!(
            "day,shop,kind,sales\n{}",
            data.replace(",2", ",x,2").replace(",3\n", "\n").replace(",4\n", "\n")
        ),
    );
    let error = dir.fails(2, "forecast --data f.csv --h 7");
    assert!(error.contains("Times in `day` come again: name it by `--id-col` (`shop`, `kind`)"), "{error}");
}

#[test]
fn last_rows_that_are_like_none_before_are_doubted() {
    let dir = TestDirectory::new();
    let sales = |k: usize| 100.0 + ((k * 37) % 17) as f64 + 10.0 * ((k % 12) as f64);
    let data = |last: f64| months("a", 48, |k| if k == 47 { last } else { sales(k) });
    let fit = "fit --model SeasonalNaive --h 12 --out m --overwrite --data d.csv";
    let told = |last: f64| {
        dir.put("d.csv", &format!("unique_id,ds,y\n{}", data(last)));
        stderr(&dir.run(fit))
    };
    let fine = told(sales(47));
    assert!(!fine.contains("warning"), "{fine}");
    let slip = told(10.0 * sales(47));
    assert!(
        slip.contains(
            "series whose last value, of 2023-12-01, is farther from those before it than any was: a ("
        ),
        "{slip}"
    );
    let not_over = told(0.3 * sales(47));
    assert!(not_over.contains("the last row, 2023-12-01, is lower than ever: "), "{not_over}");
    assert!(not_over.contains("if that period is not over"), "{not_over}");
    // The advice, followed.
    assert!(not_over.contains("(`--until 2023-11-01`)"), "{not_over}");
    let until = stderr(&dir.run(&format!("{fit} --until 2023-11-01")));
    assert!(until.contains("1 of 48 rows are left out") && !until.contains("warning"), "{until}");
    assert!(dir.ok("predict --model m --data d.csv --until 2023-11").contains("\na,2023-12-01,"));
    assert!(dir.fails(1, &format!("{fit} --until may")).contains("a month (2024-05) or a year as a whole"));
    // A far time is one of the rows that are left out.
    dir.put("d.csv", &format!("unique_id,ds,y\n{}a,2042-05-01,1\n", months("a", 48, sales)));
    let far = stderr(&dir.run(&format!("{fit} --until 2023-11-01")));
    assert!(far.contains("2 of 49 rows are left out"), "{far}");
    dir.put(
        "d.csv",
        &format!("unique_id,ds,y\n{}", months("a", 48, |k| if k > 44 { 0.0 } else { sales(k) })),
    );
    let zeros = stderr(&dir.run(fit));
    assert!(
        zeros.contains("the series is 0 since 2023-10-01 (3 rows), as never for so long before"),
        "{zeros}"
    );
    // A forecast of newer data tells it, one of the same data does not again.
    assert!(!stderr(&dir.run("predict --model m --data d.csv --out f.csv")).contains("as never"));
    dir.put(
        "n.csv",
        &format!("unique_id,ds,y\n{}", months("a", 50, |k| if k > 44 { 0.0 } else { sales(k) })),
    );
    assert!(stderr(&dir.run("predict --model m --data n.csv --out f.csv")).contains("(5 rows), as never"));
}

#[test]
fn regressors_in_other_units_are_told() {
    let dir = TestDirectory::new();
    let price = |k: usize| 9.0 + ((k * 7) % 5) as f64 / 10.0;
    let row = |k: usize| format!("a,{},{:.1},{}\n", date(k), 50.0 - 3.0 * price(k), price(k));
    dir.put("d.csv", &format!("unique_id,ds,y,price\n{}", (0..60).map(row).collect::<String>()));
    let future = |factor: f64| {
        let rows = (60..67).map(|k| format!("a,{},{}\n", date(k), factor * price(k)));
        format!("unique_id,ds,price\n{}", rows.collect::<String>())
    };
    dir.ok("fit --data d.csv --model AutoARIMA --futr-exog price --h 7 --out m");
    let predict = "predict --model m --data d.csv --futr f.csv --out o.csv";
    dir.put("f.csv", &future(1.1));
    assert!(!stderr(&dir.run(predict)).contains("far from"));
    dir.put("f.csv", &future(100.0));
    let told = stderr(&dir.run(predict));
    assert!(told.contains("price (7 of 7 values; 9"), "{told}");
    assert!(told.contains("in series a, whose past has 9 to 9.4)"), "{told}");
    // Of one that never changed a model has learned nothing.
    let constant = |k: usize| format!("a,{},{},0\n", date(k), 50 + k % 7);
    dir.put("d.csv", &format!("unique_id,ds,y,promo\n{}", (0..60).map(constant).collect::<String>()));
    let promo = |of: &dyn Fn(usize) -> usize| {
        let rows = (60..67).map(|k| format!("a,{},{}\n", date(k), of(k))).collect::<String>();
        format!("unique_id,ds,promo\n{rows}")
    };
    dir.ok("fit --data d.csv --model AutoARIMA --futr-exog promo --h 7 --out m --overwrite");
    let is_told =
        |text: &str| text.contains("columns that change in the future and never did before: promo;");
    dir.put("f.csv", &promo(&|k| k % 2));
    assert!(is_told(&stderr(&dir.run(predict))));
    dir.put("f.csv", &promo(&|_| 0));
    assert!(!is_told(&stderr(&dir.run(predict))));
    // What is missing ahead is told before anything is searched.
    dir.put("f.csv", &promo(&|k| k % 2).replace(",1\n", ",\n"));
    let output = dir.run("forecast --data d.csv --futr f.csv --h 7 --models AutoARIMA");
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("column `promo`: \"\" is missing") && !told.contains("season"), "{told}");
}

#[test]
fn columns_that_make_the_ids_together_are_asked_for_and_joined() {
    let dir = TestDirectory::new();
    let row = |day: usize, store: &str, item: usize| {
        format!("{},{store},x{item},{},{}\n", date(day), 10 * item + day % 7, day % 2)
    };
    let rows: String = (0..35)
        .flat_map(|day| [("N", 1), ("N", 2), ("S", 1)].map(|(store, item)| row(day, store, item)))
        .collect();
    dir.put("sales.csv", &format!("date,store,kind,units,promo\n{rows}"));
    let asked = dir.fails(2, "forecast --data sales.csv --h 2");
    assert!(asked.contains("none does alone, and these do together (`--id-col store,kind`)"), "{asked}");
    // What it says, with the columns that are known ahead in a table with the same columns.
    let ahead: String = (35..37)
        .flat_map(|day| [("N", 1), ("N", 2), ("S", 1)].map(|(store, item)| row(day, store, item)))
        .collect();
    dir.put("ahead.csv", &format!("date,store,kind,units,promo\n{ahead}"));
    let flags = "--data sales.csv --id-col store,kind --target-col units --time-col date";
    dir.ok(&format!(
        "forecast {flags} --h 2 --futr ahead.csv --futr-exog promo --out f.csv --models SeasonalNaive"
    ));
    let forecast = dir.read("f.csv");
    assert!(forecast.starts_with("unique_id,date,"), "{forecast}");
    let ids: Vec<String> = rows_of(&forecast);
    assert_eq!(ids, ["N/x1", "N/x1", "N/x2", "N/x2", "S/x1", "S/x1"]);
    // Its ids are those of the actual values, by the columns.
    let scores = dir.ok("evaluate --forecast f.csv --actual ahead.csv --id-col store,kind --time-col date --target-col units --metrics mae --by series");
    assert!(scores.contains("N/x2") && scores.contains("S/x1"), "{scores}");
    // A model keeps the columns.
    dir.ok(&format!("fit {flags} --model SeasonalNaive --h 2 --out m"));
    assert!(dir.ok("predict --model m --data sales.csv").contains("\nS/x1,"));
    let error = dir.fails(
        1,
        "fit --data sales.csv --id-col store --target-col units --time-col date --model Naive --h 2 --out n",
    );
    assert!(
        error.contains("`store`, `kind` tell them apart together: name them (`--id-col store,kind`)"),
        "{error}"
    );
}

fn rows_of(text: &str) -> Vec<String> {
    rows(text).into_iter().skip(1).map(|row| row[0].to_owned()).collect()
}

#[test]
fn the_frequency_that_is_advised_is_that_of_the_dates() {
    let dir = TestDirectory::new();
    for (days, word) in [
        (["2024-01-01", "2024-02-01"], "MS"),
        (["2024-01-31", "2024-02-29"], "ME"),
        (["2024-01-07", "2024-01-14"], "W-SUN"),
    ] {
        dir.put("d.csv", &format!("unique_id,ds,y\na,{},1\na,{},2\n", days[0], days[1]));
        let fit = "fit --data d.csv --model Naive --h 1 --out m --overwrite";
        let error = dir.fails(1, fit);
        assert!(error.contains(&format!("(`--freq {word}`)")), "{error}");
        dir.ok(&format!("{fit} --freq {word}"));
        let error = dir.fails(1, &format!("{fit} --freq 1"));
        assert!(error.contains(&format!("seem to follow (`--freq {word}`)")), "{error}");
    }
}

/// The sum of half a month is no value: the forecast of the month begins with it, and does not follow it.
#[test]
fn a_month_that_is_not_over_is_forecast() {
    let dir = TestDirectory::new();
    // Five a day until 12 April of a leap year.
    let days: String = (0..103).map(|day| format!("a,{},5\n", date(day))).collect();
    dir.put("days.csv", &format!("unique_id,ds,y\n{days}"));
    let months = "--data days.csv --resample MS --aggregate sum";
    let fit = dir.run(&format!("fit {months} --model Naive --h 1 --out m"));
    let told = stderr(&fit);
    assert!(
        told.contains("are left out: the first of 0 series, the last of 1; `--keep-partial` keeps them"),
        "{told}"
    );
    assert_eq!(dir.ok("predict --model m --data days.csv"), "unique_id,ds,Naive\na,2024-04-01,155.0\n");
    let forecast = dir.ok(&format!("forecast {months} --h 1 --models Naive"));
    assert_eq!(forecast.lines().nth(1).unwrap().split(',').nth(1), Some("2024-04-01"), "{forecast}");
    dir.put("labels.csv", "unique_id,shop\na,north\n");
    let sums = dir.ok(&format!("aggregate {months} --levels shop --static labels.csv"));
    assert!(sums.contains("\na,2024-03-01,155.0\n") && !sums.contains("2024-04-01"), "{sums}");
    // The advice works, and is kept with the models.
    let kept = dir.run(&format!("fit {months} --keep-partial --model Naive --h 1 --out k"));
    let told = stderr(&kept);
    let advice = "are kept: the first of 0 series, the last of 1; `--drop-partial` leaves them out";
    assert!(told.contains(advice), "{told}");
    assert_eq!(dir.ok("predict --model k --data days.csv"), "unique_id,ds,Naive\na,2024-05-01,60.0\n");
    assert_eq!(
        dir.ok("predict --model k --data days.csv --drop-partial"),
        "unique_id,ds,Naive\na,2024-04-01,155.0\n"
    );
}

/// A series that labels name and no one has forecast is left out of the sums.
#[test]
fn labels_of_a_series_without_forecasts_do_not_stop_reconciliation() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "unique_id,ds,M\nTotal,2024-01-01,9\na,2024-01-01,4\nb,2024-01-01,3\n");
    dir.put("labels.csv", "unique_id,shop\na,x\nb,x\nc,y\n");
    let output = dir.run("reconcile --forecast f.csv --levels shop --static labels.csv --method BottomUp");
    let told = stderr(&output);
    assert!(told.contains("without forecasts, which are left out of their sums: c"), "{told}");
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && found.contains("Total,2024-01-01,7"), "{found}");
    assert!(!found.contains("c,2024"), "{found}");
}
