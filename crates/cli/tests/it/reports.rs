//! `foretell report`: the page, its scores, and what it is made of.

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, stderr};

/// The JSON that a page's script reads.
fn facts(page: &str) -> Value {
    let start = page.split("<script type=\"application/json\" id=\"facts\">").nth(1).expect("facts");
    serde_json::from_str(start.split("</script>").next().unwrap()).unwrap()
}

/// The bytes of a packed part of a page.
fn packed_bytes(page: &str, name: &str) -> usize {
    let start = page.split(&format!("id=\"packed-{name}\">")).nth(1).expect(name);
    let text = start.split("</script>").next().unwrap();
    text.len() / 4 * 3 - text.matches('=').count()
}

#[test]
fn a_cross_validation_and_a_forecast_make_a_report() {
    let dir = TestDirectory::new();
    let quantiles = r#"--model NLinear --set loss={"MQLoss":{"level":[80]}} --log none"#;
    dir.ok(&format!("cross-validate {LONG} {quantiles} {SMALL} --n-windows 3 --out cv.csv"));
    dir.ok(&format!("fit {LONG} {quantiles} {SMALL} --out model"));
    dir.ok("predict --model model --data long.csv --out f.csv");
    // The columns have the names that the model knows.
    let output = dir.run("report --model model --data long.csv --forecast f.csv --scores cv.csv");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("wrote f.html: a report on 2 series"), "{}", stderr(&output));
    let page = dir.read("f.html");
    for part in [
        "Forecasts of sales",
        "mae relative to SeasonalNaive",
        "NLinear forecasts a total of",
        "in the 7 days right before",
        "These are the scores of cv.csv: of NLinear, ",
        "mean absolute error (mae)",
        "By step ahead",
        "From cutoff to cutoff",
        "Share of the true values within each interval",
        "max_steps",
        "foretell report --model model --data long.csv",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    let facts = facts(&page);
    assert_eq!(facts["ids"], serde_json::json!(["north", "south"]));
    assert_eq!(facts["steps"]["keys"].as_array().map(Vec::len), Some(7));
    assert_eq!(facts["cutoffs"]["keys"].as_array().map(Vec::len), Some(3));
    // A forecast and three of the past, each of 7 steps: a model with an interval, and two without; and the whole history.
    assert_eq!(packed_bytes(&page, "values"), 4 * 2 * (120 + 4 * 7 * (3 + 2)));
    assert_eq!(packed_bytes(&page, "places"), 0);
    // Of two series 5 metrics of three models, and the coverage and the loss of quantiles.
    assert_eq!(packed_bytes(&page, "scores"), 4 * 2 * 7 * 3);
}

#[test]
fn scores_of_evaluate_are_told() {
    let dir = TestDirectory::new();
    let columns = LONG.strip_prefix("--data long.csv ").unwrap();
    let train = format!("{LONG} --model NLinear {SMALL} --log none");
    dir.ok(&format!("cross-validate {train} --n-windows 2 --out cv.csv"));
    for by in ["all", "series", "step"] {
        dir.ok(&format!("evaluate --forecast cv.csv {columns} --metrics mae --by {by} --out {by}.csv"));
    }
    let report = format!("report {LONG} --forecast cv.csv --out -");
    let page =
        dir.ok(&format!("{report} --scores all.csv --scores series.csv --scores step.csv --baseline Naive"));
    assert!(page.contains("mae relative to Naive") && !page.contains("<td>rmse"), "{page}");
    assert_eq!(facts(&page)["series"]["keys"], serde_json::json!(["north", "south"]));
    // They are those that the report computes itself.
    let own = facts(&dir.ok(&report));
    let found = facts(&page);
    let models = found["steps"]["models"].as_array().unwrap().len();
    for model in 0..models {
        let [own, found] = [&own, &found].map(|facts| facts["steps"]["values"][model].as_f64().unwrap());
        assert!((own - found).abs() < 1e-5 * own.abs(), "{own} and {found}");
    }

    dir.ok(&format!("evaluate --forecast cv.csv {columns} --metrics mae --by window --out window.csv"));
    let message = dir.fails(2, &format!("{report} --scores window.csv"));
    assert!(message.contains("expected scores over all, or by shop, step or cutoff"), "{message}");
    let message = dir.fails(2, &format!("{report} --baseline NHITS"));
    assert!(
        message.contains("--baseline NHITS: the scored models are NLinear, Naive, SeasonalNaive"),
        "{message}"
    );
    let message = dir.fails(2, &format!("{report} --importances all.csv"));
    assert!(message.contains("foretell inspect DIR --data FILE --json"), "{message}");
}

#[test]
fn importances_are_told_and_what_has_not_come_true_has_no_scores() {
    let dir = TestDirectory::new();
    let small = "--model TFT --set hidden_size=4 --set n_head=2";
    dir.ok(&format!("fit {LONG} {small} {SMALL} --log none --out model"));
    dir.put("weights.json", &dir.ok("inspect model --data long.csv --json"));
    dir.ok("predict --model model --data long.csv --out f.csv");
    let page =
        dir.ok("report --model model --data long.csv --forecast f.csv --importances weights.json --out -");
    for part in
        ["What counted for the forecasts", "observed_target (past)", "None of the forecasts has come true"]
    {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(!page.contains("How good the forecasts are") && facts(&page)["steps"].is_null());
}

#[test]
fn forecasts_of_other_series_are_refused() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "shop,day,M\nnorth,2024-04-30,1\nmoon,2024-04-30,1\n");
    let message = dir.fails(2, &format!("report {LONG} --forecast f.csv --out -"));
    assert!(
        message.contains("1 of 2 series that are forecast are not in the data, the first `moon`"),
        "{message}"
    );
    dir.put("f.csv", "shop,day,M\nnorth,2024-04-30,1\nsouth,2024-04-30,1\n");
    let page = dir.ok(&format!("report {LONG} --forecast f.csv --unit boxes --out - --log none"));
    let answer =
        page.find("M forecasts a total of 2.000 boxes for sales over all 2 series").expect("the answer");
    assert!(answer < page.find("None of the forecasts has come true").unwrap());
    assert_eq!(facts(&page)["total"]["models"][0]["points"][0][1], 2.0);
}

#[test]
fn ids_of_any_text_stay_text() {
    let dir = TestDirectory::new();
    let hostile = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a\"b'&"];
    let (mut data, mut forecast) = ("unique_id,ds,y\n".to_owned(), "unique_id,ds,<b>M</b>\n".to_owned());
    for id in hostile {
        let id = format!("\"{}\"", id.replace('"', "\"\""));
        (0..40).for_each(|day| data += &format!("{id},{},{}\n", date(day), day % 7));
        (33..40).for_each(|day| forecast += &format!("{id},{},1\n", date(day)));
    }
    dir.put("data.csv", &data);
    dir.put("f.csv", &forecast);
    let page = dir.ok("report --data data.csv --forecast f.csv --title <i>T</i> --out - --log none");
    assert_eq!(facts(&page)["ids"], serde_json::json!(hostile));
    for markup in ["<img", "<b>", "<i>", "alert(1)</script>"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(
        page.contains("&lt;b&gt;M&lt;/b&gt;") && page.contains("<h1>Forecasts") || page.contains("&lt;i&gt;")
    );
}

/// The time of writing is printed, never asserted: `--nocapture` shows it.
#[test]
fn ten_thousand_series_fit_in_a_file() {
    const SERIES: usize = 10_000;
    let dir = TestDirectory::new();
    let (mut data, mut forecast) =
        ("unique_id,ds,y\n".to_owned(), "unique_id,ds,M,M-lo-80,M-hi-80\n".to_owned());
    for series in 0..SERIES {
        (0..30).for_each(|day| data += &format!("s{series},{},{}\n", date(day), (day + series) % 7));
        (30..37).for_each(|day| forecast += &format!("s{series},{},3,1,5\n", date(day)));
    }
    dir.put("data.csv", &data);
    dir.put("f.csv", &forecast);
    let start = std::time::Instant::now();
    dir.ok("report --data data.csv --forecast f.csv --out report.html --log none");
    let page = dir.read("report.html");
    println!("{SERIES} series: {} bytes in {:?}", page.len(), start.elapsed());
    assert_eq!(packed_bytes(&page, "values"), 4 * SERIES * (30 + 7 * 3));
    // Of a series 4 numbers tell where its values and its only forecast are, and one how many forecasts it has.
    assert_eq!(packed_bytes(&page, "index"), 4 * SERIES * 5);
    assert!(page.len() < 3_500_000, "{} bytes", page.len());
}

#[test]
fn forecasts_that_are_not_of_the_data_are_told_as_in_a_plot() {
    let dir = TestDirectory::new();
    let days =
        |from: usize, to: usize| (from..to).map(|day| format!("a,{},5\n", date(day))).collect::<String>();
    dir.put("data.csv", &format!("unique_id,ds,y\n{}", days(0, 40)));
    dir.put("late.csv", &format!("unique_id,ds,M\n{}", days(200, 203)));
    let told = "the forecasts do not follow the data: series `a` has data of 2024-01-01 to 2024-02-09, and forecasts of 2024-07-19 to \
                2024-07-21";
    for command in ["report", "plot"] {
        let output = dir.run(&format!("{command} --data data.csv --forecast late.csv --out -"));
        let (page, messages) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
        assert!(messages.contains(&format!("warning: {told}; is late.csv of data.csv?")), "{messages}");
        assert_eq!(page.contains(&format!("Beware: {told}.")), command == "report");
    }
    // A zone that one of them has: instants and clocks are not compared unsaid.
    let hours = |zone: &str, value: &str, from: usize| -> String {
        let rows = (from..from + 12).map(|hour| format!("a,2024-05-11T{hour:02}:00{zone},5\n"));
        rows.fold(format!("unique_id,ds,{value}\n"), |text, row| text + &row)
    };
    dir.put("zoned.csv", &hours("+02:00", "y", 0));
    dir.put("civil.csv", &hours("", "y", 0));
    dir.put("f.csv", &hours("", "M", 12));
    dir.put("zoned_f.csv", &hours("+02:00", "M", 12));
    for command in ["report", "plot"] {
        let assumed = stderr(&dir.run(&format!("{command} --data zoned.csv --forecast f.csv --out -")));
        let expected =
            "warning: the times of f.csv have no zone: they are read in +02:00, that of zoned.csv\n";
        assert!(assumed.contains(expected), "{assumed}");
        let refused = dir.fails(1, &format!("{command} --data civil.csv --forecast zoned_f.csv --out -"));
        assert!(
            refused
                .contains("the times of zoned_f.csv have a zone (+02:00), and those of civil.csv have none")
                && refused.contains("`--zone +02:00`"),
            "{refused}"
        );
        dir.ok(&format!("{command} --data civil.csv --forecast zoned_f.csv --out - --zone +02:00"));
    }
}
