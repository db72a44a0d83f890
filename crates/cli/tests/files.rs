//! Files as people have them: times, numbers and layouts of all kinds.

mod desk;

use desk::{Desk, SMALL, date, rows, stderr, wave};

/// 120 days of one series, `time` being the spelling of a day.
fn days(head: &str, time: impl Fn(&str) -> String) -> String {
    let rows: String =
        (0..120).map(|day| format!("shop,{},{:.4}\n", time(&date(day)), wave(day, 0.0))).collect();
    format!("{head}\n{rows}")
}

#[test]
fn integers_that_look_like_dates_are_read_as_what_they_are_said_to_be() {
    let desk = Desk::new();
    desk.put("iso.csv", &days("unique_id,ds,y", str::to_owned));
    desk.put("digits.csv", &days("unique_id,ds,y", |day| day.replace('-', "")));
    let fit =
        |data: &str| format!("fit --data {data} --model NLinear {SMALL} --overwrite --out model --log none");
    let message = desk.fails(1, &fit("digits.csv"));
    for part in ["digits.csv, column `ds`", "--time-format %Y%m%d", "--time-format integer", "--freq 1"] {
        assert!(message.contains(part), "{message}");
    }
    // Before, 120 rows became 331 here, without a word.
    let message = desk.fails(1, &format!("{} --fill forward", fit("digits.csv")));
    assert!(message.contains("--time-format %Y%m%d"), "{message}");

    desk.ok(&fit("iso.csv"));
    let expected = desk.ok("predict --model model --data iso.csv");
    desk.ok(&fit("digits.csv --time-format %Y%m%d"));
    assert_eq!(desk.ok("predict --model model --data digits.csv --time-format %Y%m%d"), expected);
    let message = desk.fails(1, "predict --model model --data digits.csv");
    assert!(message.contains("--time-format %Y%m%d"), "{message}");

    // Who says that they are integers is believed.
    let years: String = (0..31).map(|year| format!("a,{},{}\n", 1990 + year, year % 4)).collect();
    desk.put("years.csv", &format!("unique_id,ds,y\n{years}"));
    assert!(desk.fails(1, &fit("years.csv")).contains("--time-format %Y`"));
    for (flag, next) in
        [("--freq 1", "2021"), ("--time-format integer", "2021"), ("--time-format %Y", "2021-01-01")]
    {
        desk.ok(&fit(&format!("years.csv {flag}")));
        let again = if flag.starts_with("--time") { flag } else { "" };
        let forecast = desk.ok(&format!("predict --model model --data years.csv {again}"));
        assert_eq!(rows(&forecast)[1][1], next, "{flag}");
    }
}

#[test]
fn months_by_their_names_have_a_frequency() {
    let desk = Desk::new();
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let months: String = (0..48)
        .map(|month| format!("{} {},{}\n", names[month % 12], 2020 + month / 12, month % 12))
        .collect();
    desk.put("months.csv", &format!("month,sales\n{months}"));
    let data = "--data months.csv --wide";
    let fit = format!("fit {data} --model NLinear {SMALL} --out model");
    assert!(desk.fails(1, &fit).contains("\"Jan 2020\" is not a time"));
    let mut command = desk.command(&fit);
    let told = command.args(["--time-format", "%b %Y"]).output().unwrap();
    assert!(told.status.success() && stderr(&told).contains("frequency MS (inferred"), "{}", stderr(&told));
    let mut predict = desk.command(&format!("predict --model model {data}"));
    let forecast = predict.args(["--time-format", "%b %Y"]).output().unwrap();
    let forecast = String::from_utf8(forecast.stdout).unwrap();
    assert_eq!(rows(&forecast)[1][..2], ["sales", "2024-01-01"]);
}
