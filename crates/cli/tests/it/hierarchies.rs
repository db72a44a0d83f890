//! `foretell aggregate` and `foretell reconcile`, and models that keep a hierarchy.

use serde_json::{Value, json};

use crate::test_directory::{TestDirectory, date, stderr, wave};

const LABELS: &str = "unique_id,country,state\na,AU,VIC\nb,AU,VIC\nc,AU,NSW\nd,NZ,NI\n";
const IDS: [&str; 8] = ["AU", "NZ", "AU/NSW", "AU/VIC", "NZ/NI", "Total", "a", "b"];

/// Four series of 60 days, and their labels.
fn files() -> TestDirectory {
    let dir = TestDirectory::new();
    let mut text = "unique_id,ds,y\n".to_owned();
    for (number, id) in ["a", "b", "c", "d"].iter().enumerate() {
        for day in 0..60 {
            text += &format!("{id},{},{:.3}\n", date(day), wave(day, number as f64));
        }
    }
    dir.put("sales.csv", &text);
    dir.put("labels.csv", LABELS);
    dir
}

/// The numbers of a column of a CSV file by series and time.
fn column(text: &str, name: &str) -> std::collections::HashMap<(String, String), f64> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place =
        header.iter().position(|column| *column == name).unwrap_or_else(|| panic!("no {name} in {header:?}"));
    lines
        .map(|cells| ((cells[0].to_owned(), cells[1].to_owned()), cells[place].parse().expect("a number")))
        .collect()
}

fn assert_adds_up(text: &str, name: &str) {
    let values = column(text, name);
    for day in values.keys().map(|(_, day)| day.clone()).collect::<std::collections::BTreeSet<_>>() {
        let at = |id: &str| values[&(id.to_owned(), day.clone())];
        for (sum, parts) in [
            ("Total", &["AU", "NZ"][..]),
            ("AU", &["AU/VIC", "AU/NSW"]),
            ("AU/VIC", &["a", "b"]),
            ("NZ/NI", &["d"]),
        ] {
            let expected: f64 = parts.iter().map(|part| at(part)).sum();
            assert!(
                (at(sum) - expected).abs() <= 1e-5 * expected.abs(),
                "{sum} at {day}: {} and {expected}",
                at(sum)
            );
        }
    }
}

#[test]
fn sums_are_made_of_series() {
    let dir = files();
    let all = dir.ok("aggregate --data sales.csv --levels country,state --static labels.csv");
    assert_adds_up(&all, "y");
    assert_eq!(column(&all, "y").len(), 10 * 60);
    for id in IDS {
        assert!(all.contains(&format!("\n{id},2024-01-01,")), "{id}");
    }
    // The same by a summing matrix.
    dir.put(
        "s.csv",
        "unique_id,a,b,c,d\nTotal,1,1,1,1\nAU,1,1,1,0\nNZ,0,0,0,1\nAU/NSW,0,0,1,0\nAU/VIC,1,1,0,0\nNZ/NI,0,0,0,1\na,1,0,0,0\nb,0,1,0,0\nc,0,0,1,0\nd,0,0,0,1\n",
    );
    assert_eq!(dir.ok("aggregate --data sales.csv --hierarchy s.csv"), all);
}

#[test]
fn columns_that_sums_are_without_are_told() {
    let dir = files();
    let further: String = dir
        .read("sales.csv")
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("promo,{line},price\n"),
            _ => format!("yes,{line},{i}\n"),
        })
        .collect();
    dir.put("further.csv", &further);
    let flags = "--levels country,state --static labels.csv";
    let output = dir.run(&format!("aggregate --data further.csv {flags}"));
    let told = stderr(&output);
    assert!(told.contains("columns that the sums do not have: promo, price; "), "{told}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        dir.ok(&format!("aggregate --data sales.csv {flags}"))
    );
    assert!(!stderr(&dir.run(&format!("aggregate --data sales.csv {flags}"))).contains("left out"));
}

#[test]
fn labels_that_are_written_in_two_ways_are_told() {
    let dir = files();
    dir.put("labels.csv", &LABELS.replace("c,AU,NSW", "c,au ,NSW"));
    let flags = "--data sales.csv --levels country,state --static labels.csv";
    for line in
        [format!("aggregate {flags} --out all.csv"), format!("fit {flags} --model Naive --h 2 --out m")]
    {
        let told = stderr(&dir.run(&line));
        assert!(
            told.contains("the sums \"AU\" and \"au \" differ in blanks or the case of letters alone"),
            "{told}"
        );
        assert_eq!(told.matches("differ in blanks").count(), 1, "{told}");
    }
    dir.put("labels.csv", LABELS);
    assert!(!stderr(&dir.run(&format!("aggregate {flags} --out all.csv"))).contains("differ in blanks"));
}

#[test]
fn what_is_not_known_of_a_series_is_not_known_of_its_sums() {
    let dir = files();
    let sales = dir.read("sales.csv");
    let mut lines: Vec<String> = sales.lines().map(|line| format!("{line},1")).collect();
    lines[0] = format!("{},available_mask", sales.lines().next().expect("a header"));
    let masked = lines.iter().position(|line| line.starts_with("d,2024-01-05,")).expect("a row");
    lines[masked] = "d,2024-01-05,,0".to_owned();
    dir.put("masked.csv", &lines.join("\n"));
    dir.ok("aggregate --data masked.csv --levels country,state --static labels.csv --out all.csv");
    let all = dir.read("all.csv");
    assert!(all.starts_with("unique_id,ds,y,available_mask\n"), "{all}");
    for id in ["Total", "NZ", "NZ/NI", "d"] {
        assert!(all.contains(&format!("\n{id},2024-01-05,,0\n")), "{id}: {all}");
    }
    assert_eq!(all.lines().filter(|line| line.ends_with(",,0")).count(), 4, "{all}");
    dir.ok("fit --data all.csv --model SeasonalNaive --h 3 --out model --log none");
}

#[test]
fn forecasts_of_any_tool_are_reconciled() {
    let dir = files();
    dir.ok("aggregate --data sales.csv --levels country,state --static labels.csv --out all.csv");
    dir.ok("cross-validate --data all.csv --model SeasonalNaive --h 3 --n-windows 6 --out past.csv");
    let mut forecast = "unique_id,ds,M,M-lo-80,M-hi-80\n".to_owned();
    for (number, id) in IDS.iter().chain(&["c", "d"]).enumerate() {
        for day in 60..62 {
            let value = 10.0 * number as f64 + day as f64;
            forecast += &format!("{id},{},{value},{},{}\n", date(day), value - 5.0, value + 5.0);
        }
    }
    dir.put("f.csv", &forecast);
    let reconcile = "reconcile --forecast f.csv --levels country,state --static labels.csv";
    for flags in ["", "--method MinTraceOLS", "--method BottomUp", "--method topdown --history sales.csv"] {
        let coherent = dir.ok(&format!("{reconcile} {flags}"));
        assert_adds_up(&coherent, "M");
        assert_eq!(column(&coherent, "M-lo-80").len(), 20, "{flags}");
        assert!(coherent.starts_with("unique_id,ds,M,M-lo-80,M-hi-80\nTotal,2024-03-01,"), "{coherent}");
        assert_eq!(dir.ok(&format!("{reconcile} {flags}")), coherent, "samples are the same again");
    }
    let doubt = "intervals of sums are those of series whose errors have nothing to do with each other";
    assert!(stderr(&dir.run(reconcile)).contains(doubt));
    dir.put("past_m.csv", &dir.read("past.csv").replace("SeasonalNaive", "M"));
    let with_errors = stderr(&dir.run(&format!("{reconcile} --residuals past_m.csv")));
    assert!(!with_errors.contains(doubt), "{with_errors}");
    let weighed =
        dir.ok(&format!("{reconcile} --method MinTraceShrink --residuals past_m.csv --samples 200"));
    assert_adds_up(&weighed, "M");
}

#[test]
fn models_keep_a_hierarchy() {
    let dir = files();
    let loss = "'NLinear.loss={\"DistributionLoss\":{\"distribution\":\"Normal\"}}'".replace('\'', "");
    dir.ok(&format!(
        "fit --data sales.csv --levels country,state --hierarchy labels.csv --reconciliation MinTraceOLS --model NLinear --h 3 \
         --input-size 14 --set max_steps=5 --set {loss} --out model"
    ));
    let forecast = dir.ok("predict --model model --data sales.csv");
    assert_adds_up(&forecast, "NLinear");
    assert_eq!(column(&forecast, "NLinear-median").len(), 10 * 3);
    // Data of the series at the bottom get the sums wherever the models are asked.
    let paths = dir.ok("simulate --model model --data sales.csv --n-paths 4");
    let sample = |number: &str| -> String {
        let rows = paths
            .lines()
            .filter(|line| line.starts_with("unique_id") || line.split(',').nth(2) == Some(number));
        rows.map(|line| format!("{line}\n")).collect()
    };
    assert_adds_up(&sample("0"), "NLinear");
    assert_eq!(column(&sample("3"), "NLinear").len(), 10 * 3);
    let scores = dir.ok("cross-validate --model model --data sales.csv --n-windows 2 --log none");
    assert!(scores.contains("series scored:  10 of 10"), "{scores}");
    dir.ok("fit --from model --data sales.csv --set max_steps=2 --out further");
    assert_adds_up(&dir.ok("predict --model further --data sales.csv"), "NLinear");
}

/// The labels are columns of the static table, which no model reads.
#[test]
fn labels_of_the_static_table_are_no_columns_of_models() {
    let dir = files();
    dir.ok("fit --data sales.csv --levels country,state --static labels.csv --method MinTraceShrink --model MLP --h 3 \
            --input-size 14 --set max_steps=2 --set hidden_size=4 --out model");
    let forecast = dir.ok("predict --model model --data sales.csv");
    assert_adds_up(&forecast, "MLP");
}

#[test]
fn columns_that_make_ids_are_no_columns_of_models() {
    let dir = TestDirectory::new();
    let days = (1..29).flat_map(|day| [("N", 1, day), ("N", 2, day), ("S", 1, day)]);
    let rows = days.map(|(store, item, day)| format!("{store},{item},2024-01-{day:02},{}\n", day * item));
    dir.put("data.csv", &format!("store,item,ds,y\n{}", rows.collect::<String>()));
    dir.put("stores.csv", "store,size\nN,10\nS,30\n");
    dir.put("both.csv", "store,item,size\nN,1,10\nN,2,10\nS,1,30\n");
    let fit = "fit --data data.csv --id-col store,item --h 2 --model NHITS --input-size 4 --set max_steps=1";
    for (i, table) in ["stores.csv", "both.csv"].into_iter().enumerate() {
        dir.ok(&format!("{fit} --static {table} --out m{i}"));
        assert!(dir.ok(&format!("inspect m{i} --json")).contains("\"stat_exog_list\":[\"size\"]"), "{table}");
    }
}

#[test]
fn forecasts_that_fall_below_zero_are_told_but_where_the_past_was() {
    let dir = TestDirectory::new();
    dir.put("f.csv", "unique_id,ds,M\ntotal,2024-01-03,1\na,2024-01-03,9\nb,2024-01-03,1\n");
    dir.put("s.csv", "unique_id,a,b\ntotal,1,1\na,1,0\nb,0,1\n");
    let reconcile = "reconcile --forecast f.csv --hierarchy s.csv --method MinTraceOLS --out r.csv";
    let told = "forecasts of 1 series fell below 0 where they were made to add up: b; if these cannot be below 0, bound them";
    let output = dir.run(reconcile);
    assert!(output.status.success() && stderr(&output).contains(told), "{}", stderr(&output));
    dir.put("past.csv", "unique_id,ds,y\na,2024-01-01,1\nb,2024-01-01,-1\n");
    let output = dir.run(&format!("{reconcile} --history past.csv"));
    assert!(output.status.success() && !stderr(&output).contains("below 0"), "{}", stderr(&output));
}

#[test]
fn a_cell_of_a_forecast_that_is_no_number_is_told() {
    let dir = files();
    let mut text = "unique_id,ds,M\n".to_owned();
    for id in ["a", "b", "c"] {
        text += &format!("{id},2024-03-01,1\n");
    }
    dir.put("f.csv", &format!("{text}d,2024-03-01,1.5x\n"));
    let message = dir.fails(1, "reconcile --forecast f.csv --levels country,state --static labels.csv");
    assert!(message.contains("f.csv, line 5, column `M`: \"1.5x\" is not a number alone"), "{message}");
}

#[test]
fn what_is_no_hierarchy_is_said() {
    let dir = files();
    dir.put("f.csv", "unique_id,ds,M\na,2024-03-01,1\nb,2024-03-01,2\nc,2024-03-01,3\nd,2024-03-01,4\n");
    dir.put("half.csv", "unique_id,a,b\nall,1,0.5\na,1,0\nb,0,1\n");
    for (flags, part, code) in [
        ("reconcile --forecast f.csv", "name a file with a summing matrix by --hierarchy", 2),
        ("reconcile --forecast f.csv --levels country", "--levels: name the file", 2),
        ("reconcile --forecast f.csv --levels county --static labels.csv", "no column `county`", 1),
        (
            "reconcile --forecast f.csv --hierarchy half.csv",
            "row all of the summing matrix has 0.5 in column b",
            1,
        ),
        ("reconcile --forecast f.csv --levels country --static labels.csv", "choose BottomUp", 1),
        (
            "reconcile --forecast f.csv --levels country --static labels.csv --method MinTraceVar",
            "no row of Total",
            1,
        ),
        (
            "reconcile --forecast f.csv --levels country --static labels.csv --method best",
            "MinTraceShrink",
            2,
        ),
    ] {
        let run = dir.run(flags);
        let said = stderr(&run);
        assert!(said.contains(part), "{flags}: {said}");
        assert_eq!(run.status.code(), Some(code), "{flags}: {said}");
    }
    let added =
        dir.ok("reconcile --forecast f.csv --levels country,state --static labels.csv --method BottomUp");
    assert_adds_up(&added, "M");
}

/// The method of models is the one that is named, else the saved one; one that they cannot keep is refused.
#[test]
fn the_method_of_models_is_that_which_is_named() {
    let dir = files();
    let levels = "--levels country,state --hierarchy labels.csv";
    let fit = "fit --data sales.csv --model SeasonalNaive --h 3 --log none";
    dir.ok(&format!("{fit} {levels} --method MinTraceOLS --out ols"));
    dir.ok(&format!("{fit} {levels} --out usual"));
    dir.ok(&format!("{fit} --out plain"));
    let further = "fit --from ols --data sales.csv --log none";
    dir.ok(&format!("{further} --out same"));
    dir.ok(&format!("{further} --method bottomup --out other"));
    for (model, method) in
        [("ols", "MinTraceOLS"), ("usual", "MinTraceVar"), ("same", "MinTraceOLS"), ("other", "BottomUp")]
    {
        let text = dir.ok(&format!("inspect {model}"));
        let expected = format!("4 series and 6 sums of them, reconciled by {method}\n");
        assert!(text.contains(&expected), "{text}");
        let found: Value = serde_json::from_str(&dir.ok(&format!("inspect {model} --json"))).unwrap();
        assert_eq!(found["hierarchy"], json!({ "series": 4, "sums": 6, "method": method }));
    }
    let plain: Value = serde_json::from_str(&dir.ok("inspect plain --json")).unwrap();
    assert!(plain["hierarchy"].is_null() && !dir.ok("inspect plain").contains("hierarchy"), "{plain}");
    for (line, says) in [
        (format!("{fit} --method MinTraceShrink --out no"), "no hierarchy is given"),
        (
            "fit --from plain --data sales.csv --method BottomUp --out no".to_owned(),
            "and the models of --from keep none; name a file with a summing matrix by --hierarchy",
        ),
        (
            format!("{fit} {levels} --method TopDown --out no"),
            "name one of BottomUp, MinTraceOLS, MinTraceWLS, MinTraceVar, MinTraceShrink, or reconcile what they forecast by \
             `foretell reconcile --method TopDown --history FILE`",
        ),
    ] {
        let message = dir.fails(2, &line);
        assert!(message.contains(says), "{line}: {message}");
    }
    assert!(!dir.path("no").exists());
    // Only `reconcile` offers what it alone can do.
    let help = dir.ok("fit --help");
    assert!(help.contains("MinTraceShrink") && !help.contains("TopDown"), "{help}");
    assert!(dir.ok("reconcile --help").contains("[possible values: BottomUp, TopDown, "));
}

/// Where no method is named it is that by the variances of errors, if these cost little; scores and anomalies are of what adds up.
#[test]
fn every_command_of_models_adds_up_by_the_usual_method() {
    let dir = files();
    let flags = "--data sales.csv --levels country,state --static labels.csv --h 4";
    let told = stderr(&dir.run(&format!("fit {flags} --model Theta --out m")));
    assert!(told.contains("forecasts add up by MinTraceVar; Theta misses "), "{told}");
    assert_adds_up(&dir.ok("predict --model m --data sales.csv"), "Theta");
    dir.ok(&format!("cross-validate {flags} --model Theta --n-windows 2 --out past.csv"));
    let past = dir.read("past.csv");
    let last = past.lines().last().expect("rows").split(',').nth(2).expect("a cutoff").to_owned();
    let of_last = |line: &&str| line.starts_with("unique_id") || line.split(',').nth(2) == Some(&last);
    let of_last: Vec<&str> = past.lines().filter(of_last).collect();
    assert_adds_up(&of_last.join("\n"), "Theta");
    dir.ok("anomalies --data sales.csv --from m --out marked.csv");
    assert_adds_up(&dir.read("marked.csv"), "Theta");
    let networks = "--model NLinear --input-size 8 --set max_steps=2";
    let told = stderr(&dir.run(&format!("fit {flags} {networks} --out n")));
    assert!(told.contains("forecasts add up by MinTraceWLS"), "{told}");
    dir.ok("reconcile --forecast past.csv --levels country,state --static labels.csv --out again.csv");
}

/// Half days add up to days, of a table and with sums of series.
#[test]
fn forecasts_of_steps_add_up_to_those_of_their_sums() {
    let dir = TestDirectory::new();
    let rows = |values: [(&str, &str, f64); 4]| -> String {
        values.iter().map(|(id, time, value)| format!("{id},{time},{value}\n")).collect()
    };
    let halves = rows([
        ("a", "2024-01-01 00:00", 1.0),
        ("a", "2024-01-01 12:00", 3.0),
        ("a", "2024-01-02 00:00", 2.0),
        ("a", "2024-01-02 12:00", 2.0),
    ]);
    dir.put("halves.csv", &format!("unique_id,ds,M\n{halves}"));
    dir.put("days.csv", "unique_id,ds,M\na,2024-01-01,8\na,2024-01-02,4\n");
    let reconcile = "reconcile --forecast halves.csv --temporal 24h=days.csv";
    // The first day's gap of 4: the sum, of variance 2, gives way by half of it, each half day by a quarter.
    let found = |flags: &str| -> Vec<String> {
        let text = dir.ok(&format!("{reconcile} {flags}"));
        text.lines().skip(1).map(|line| line.rsplit(',').next().expect("a cell").to_owned()).collect()
    };
    assert_eq!(found(""), ["2.0", "4.0", "2.0", "2.0"]);
    assert_eq!(found("--temporal-method BottomUp"), ["1.0", "3.0", "2.0", "2.0"]);
    // Days were always right: half days take all of the gap.
    let past = |error: f64| format!("unique_id,ds,y,M\na,2023-12-30,{error},0\na,2023-12-31,{error},0\n");
    dir.put("past-halves.csv", &past(3.0));
    dir.put("past-days.csv", &past(0.0));
    let weighed = "--residuals past-halves.csv --residuals 24h=past-days.csv";
    assert_eq!(found(weighed), ["3.0", "5.0", "2.0", "2.0"]);
    let told = stderr(&dir.run(&format!("{reconcile} {weighed} --out coherent.csv")));
    assert!(told.contains("4 rows, which add up over time by MinTraceVar"), "{told}");
    // First over time, then across: sums of series hold.
    let both = dir.read("halves.csv") + &halves.replace("a,", "b,") + &halves.replace("a,", "all,");
    dir.put("both.csv", &both);
    let days = dir.read("days.csv") + "b,2024-01-01,4\nb,2024-01-02,4\nall,2024-01-01,12\nall,2024-01-02,8\n";
    dir.put("both-days.csv", &days);
    dir.put("summing.csv", "unique_id,a,b\nall,1,1\na,1,0\nb,0,1\n");
    let text = dir.ok(
        "reconcile --forecast both.csv --temporal D=both-days.csv --hierarchy summing.csv --method BottomUp",
    );
    let values = column(&text, "M");
    let at = |id: &str| values[&(id.to_owned(), "2024-01-01 12:00:00".to_owned())];
    assert_eq!([at("a"), at("b"), at("all")], [4.0, 3.0, 7.0]);
    for (flags, part, code) in [
        ("--method BottomUp", "--method: it says how a hierarchy adds up, and none is given", 2),
        ("--residuals past-halves.csv --residuals past-days.csv", "are both of the steps", 2),
        ("--temporal-method TopDown", "temporal_method must be BottomUp, MinTraceOLS", 2),
        ("--temporal-method MinTraceVar", "those of 24h are not given", 2),
        ("--temporal 36h=days.csv", "at 2024-01-02 stands for no period of `36h`", 1),
        ("--temporal days.csv", "write it as PERIOD=FILE, for example 24h=days.csv", 2),
    ] {
        let message = dir.fails(code, &format!("{reconcile} {flags}"));
        assert!(message.contains(part), "{flags}: {message}");
    }
}

#[test]
fn sums_have_the_static_columns_that_their_series_share() {
    let dir = TestDirectory::new();
    let row = |day: usize, id: &str, labels: &str| format!("{id},{},{},{labels}\n", date(day), day + 1);
    let rows: String = (0..3)
        .flat_map(|day| [row(day, "a", "AU,VIC,5"), row(day, "b", "AU,VIC,5"), row(day, "c", "AU,NSW,7")])
        .collect();
    dir.put("sales.csv", &format!("unique_id,ds,y,country,state,size\n{rows}"));
    let flags = "--data sales.csv --levels country,state --static-cols country,state,size";
    let output = dir.run(&format!("aggregate {flags}"));
    let (text, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(text.starts_with("unique_id,ds,y,country,state,size\n"), "{text}{told}");
    for row in [
        "AU,2024-01-02,6.0,AU,,",
        "AU/VIC,2024-01-02,4.0,AU,VIC,5.0",
        "AU/NSW,2024-01-03,3.0,AU,NSW,7.0",
        "b,2024-01-03,3.0,AU,VIC,5.0",
    ] {
        assert!(text.contains(&format!("\n{row}\n")), "{row}: {text}");
    }
    assert!(told.contains("column size is empty for 1 of 3 sums, whose series differ in it (AU)"), "{told}");
    assert!(!told.contains("column country is empty") && !told.contains("do not have"), "{told}");
    // A level that differs within a series is a mistake of the data.
    dir.put("moved.csv", &dir.read("sales.csv").replacen("NSW", "VIC", 1));
    assert!(
        dir.fails(1, &format!("aggregate {}", flags.replace("sales.csv", "moved.csv"))).contains("`state`")
    );
}

/// Sales of two items in two stores, of which the ids are made; the labels stand in the data, in the ids, or in a table by store.
#[test]
fn parts_of_ids_are_levels_and_groups() {
    let dir = TestDirectory::new();
    let mut text = "store,item,ds,y,chain\n".to_owned();
    for (number, (store, item)) in [("N", 1), ("N", 2), ("S", 1), ("S", 2)].iter().enumerate() {
        for day in 0..40 {
            text += &format!("{store},{item},{},{:.3},X{store}\n", date(day), 9.0 + wave(day, number as f64));
        }
    }
    dir.put("sales.csv", &text);
    dir.put("stores.csv", "store,region\nN,North\nS,South\n");
    let sums = |text: &str| {
        let ids: std::collections::BTreeSet<&str> =
            text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        ids.into_iter().collect::<Vec<_>>().join(" ")
    };
    let data = "--data sales.csv --id-col store,item";
    for (levels, expected) in [
        ("--levels store", "N N/1 N/2 S S/1 S/2 Total"),
        ("--levels chain", "N/1 N/2 S/1 S/2 Total XN XS"),
        ("--levels region --static stores.csv", "N/1 N/2 North S/1 S/2 South Total"),
    ] {
        assert_eq!(sums(&dir.ok(&format!("aggregate {data} {levels}"))), expected, "{levels}");
    }
    dir.ok(&format!("fit {data} --levels store --model SeasonalNaive --h 7 --out m"));
    let forecast = dir.ok("predict --model m --data sales.csv");
    assert_eq!(sums(&forecast), "N N/1 N/2 S S/1 S/2 Total");
    dir.put("f.csv", &forecast);
    let coherent = dir.ok("reconcile --forecast f.csv --id-col store,item --levels store --method BottomUp");
    let values = column(&coherent, "SeasonalNaive");
    let at = |id: &str| values[&(id.to_owned(), date(40))];
    assert!((at("N") - at("N/1") - at("N/2")).abs() < 1e-3 && (at("Total") - at("N") - at("S")).abs() < 1e-3);
    // Scores by the part, by a table of stores, and by a column of the actual values.
    dir.ok(&format!("cross-validate {data} --model SeasonalNaive --h 7 --out past.csv"));
    let scores = "evaluate --forecast past.csv --id-col store,item --metrics mae";
    for (group, labels) in [
        ("--group-by store", ["N", "S"]),
        ("--group-by region --static stores.csv", ["North", "South"]),
        ("--group-by chain --actual sales.csv", ["XN", "XS"]),
    ] {
        let text = dir.ok(&format!("{scores} {group}"));
        let rows: Vec<&str> = text.lines().filter(|line| line.contains(" mae ")).collect();
        assert!(
            rows.len() == 2 && labels.iter().zip(&rows).all(|(label, row)| row.starts_with(label)),
            "{text}"
        );
    }
    let message = dir.fails(2, &format!("{scores} --group-by county"));
    assert!(message.contains("--group-by county: name the file with this column by --static"), "{message}");
}

/// A product of one row has a forecast and no interval, which stops none of the others; the table of labels has a column more.
#[test]
fn a_series_of_one_row_does_not_stop_sums_with_intervals() {
    let dir = files();
    let sales = dir.read("sales.csv") + &format!("new,{},5\n", date(59));
    dir.put("more.csv", &sales);
    dir.put("master.csv", "unique_id,country,brand\na,AU,x\nb,AU,y\nc,AU,x\nd,NZ,y\nnew,NZ,x\n");
    let flags = "--levels country --static master.csv --method MinTraceOLS";
    dir.ok(&format!("fit --data more.csv {flags} --model Naive --h 3 --out m"));
    let text = dir.ok("predict --model m --data more.csv --level 80");
    let cells: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let of = |id: &str| cells.iter().find(|cells| cells[0] == id).unwrap_or_else(|| panic!("{id} in {text}"));
    assert!(!of("new")[2].is_empty() && of("new")[3].is_empty() && of("new")[4].is_empty(), "{text}");
    for id in ["Total", "NZ", "AU", "a"] {
        assert!(of(id)[3..].iter().all(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite)), "{id}: {text}");
    }
}

#[test]
fn parts_of_ids_of_data_that_are_read_once_need_a_table_of_series() {
    let dir = TestDirectory::new();
    dir.put("w.csv", "ds,N/a,S/a\n2024-01-01,1,2\n2024-01-02,1,2\n2024-01-03,1,2\n");
    dir.put("regions.csv", "store,region\nN,1\nS,2\n");
    for levels in ["store", "region --static regions.csv"] {
        let message =
            dir.fails(2, &format!("aggregate --data w.csv --wide --id-col store,item --levels {levels}"));
        assert!(
            message.contains("a wide table, is not read for it") && message.contains("--static"),
            "{message}"
        );
    }
}
