//! Roles of columns that are found by what they hold.

use std::fs;

use super::*;

/// The roles of id, time and target of a text.
fn roles(text: &str) -> [Option<String>; 3] {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("table.csv");
    fs::write(&path, text).expect("written");
    let roles = ReadOptions::default().roles(&path).expect("read");
    let Some(Roles { id, time, target, .. }) = roles else {
        return ["unique_id", "ds", "y"].map(|name| Some(name.to_owned()));
    };
    [id, time, target]
}

fn named(names: [&str; 3]) -> [Option<String>; 3] {
    names.map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()))
}

#[test]
fn columns_are_told_by_what_they_hold() {
    for (text, expected) in [
        ("Date,Store,Sales,price\n2024-01-01,A,5,1\n2024-01-01,B,6,2\n", ["Store", "Date", "Sales"]),
        ("kWh,when,meter\n1,2024-01-01 00:00,M1\n2,2024-01-01 01:00,M1\n", ["meter", "when", "kWh"]),
        ("store,date,units\n1,2024-01-01,5\n2,2024-01-01,6\n", ["store", "date", "units"]),
        ("unique_id,ds,y,x\na,1,5,2\n", ["unique_id", "ds", "y"]),
        ("date,sales,price\n2024-01-01,shut,5\n2024-01-02,3,6\n", ["", "date", ""]),
        ("date,sales,price\n2024-01-01,n/a,5\n2024-01-02,3,6\n", ["", "date", "sales"]),
        (
            "date,sales,price\n2024-01-01,shut,5\n2024-01-02,3,6\n2024-01-03,3,6\n2024-01-04,3,6\n2024-01-05,3,6\n",
            ["", "date", "sales"],
        ),
        ("unique_id,ds,price\na,1,5\n", ["unique_id", "ds", ""]),
        ("unique_id,ds,sales\na,1,5\n", ["unique_id", "ds", "sales"]),
        // What is sold at a price, and what is traded of a share.
        ("date,product,price,volume\n2024-01-01,A,5,10\n2024-01-01,B,6,20\n", ["product", "date", "volume"]),
        ("date,symbol,close,volume\n2024-01-01,A,5,10\n2024-01-01,B,6,20\n", ["symbol", "date", ""]),
        // Decimals that are not as was said, and values that are missing.
        ("Datum;Laden;Umsatz\n31.01.2024;A;1,5\n31.01.2024;B;NA\n", ["Laden", "Datum", "Umsatz"]),
        // One series with a column of texts that say something else.
        ("date,weather,sales\n2024-01-01,sunny,5\n2024-01-02,rain,6\n", ["", "date", "sales"]),
        // Forecasts of cross-validation, whose times come again from another cutoff.
        (
            "Laden,Tag,cutoff,Umsatz,M\nA,2024-01-02,2024-01-01,5,4\nA,2024-01-03,2024-01-01,5,4\n\
             A,2024-01-03,2024-01-02,5,4\nB,2024-01-03,2024-01-02,5,4\n",
            ["Laden", "Tag", ""],
        ),
        // Which of the numbers, which of the texts?
        ("date,shop,a,b\n2024-01-01,A,5,1\n2024-01-01,B,6,2\n", ["shop", "date", ""]),
        ("date,shop,kind,y\n2024-01-01,A,u,1\n2024-01-01,B,u,2\n", ["", "date", "y"]),
        // The beginnings of intervals and their ends.
        (
            "from,to,area,load\n2024-01-01 00:00,2024-01-01 01:00,A,5\n2024-01-01 01:00,2024-01-01 02:00,A,6\n",
            ["area", "from", "load"],
        ),
        // Weeks beside their years are no series.
        ("Jahr;KW;Menge\n2023;KW 1;5\n2023;KW 2;6\n2024;KW 1;5\n2024;KW 2;6\n", ["", "Jahr", "Menge"]),
        // A day and another one.
        ("ordered,due,sku,y\n2024-01-01,2024-02-01,A,1\n2024-01-01,2024-02-01,B,2\n", ["", "", "y"]),
    ] {
        assert_eq!(roles(text), named(expected), "{text}");
    }
}

#[test]
fn rows_that_several_share_are_of_no_id() {
    let text = "date,promo,units\n2024-01-01,yes,5\n2024-01-01,yes,6\n2024-01-02,no,6\n";
    assert_eq!(roles(text), named(["", "date", "units"]));
}

#[test]
fn years_and_their_parts_are_times_in_two_columns() {
    let question = |text: &str| {
        let table = MemoryTable::new("t.csv", foretell_tables::FileFormat::of("t.csv"), text.into());
        let roles = ReadOptions::default().roles_in(&table).expect("read").expect("a long table");
        roles.question("t.csv").map(|question| question.to_string()).unwrap_or_default()
    };
    for (year, part) in [("year", "week"), ("Jahr", "KW"), ("Year", "Week_No"), ("année", "mois")] {
        let question = question(&format!("{year},{part},sales\n2020,51,5\n2020,52,6\n2021,1,7\n2021,2,8\n"));
        assert!(question.contains(&format!("= {year},{part}`")), "{question}");
    }
    assert!(!question("year,store,sales\n2020,1,5\n2020,2,6\n2021,1,7\n2021,2,8\n").contains("seem to make"));
    // Days in another spelling, beside their hours.
    let hours: String = (1..50)
        .map(|k| format!("{:02}.01.2023,{:02}:00,{k}\n", 1 + (k - 1) / 24, 1 + (k - 1) % 24))
        .collect();
    let question_of_hours = question(&format!("Datum,Uhrzeit,Last\n{hours}"));
    assert!(question_of_hours.contains("= Datum,Uhrzeit`"), "{question_of_hours}");
    // Years of a company are texts, and no series each.
    let text: String = (0..24).map(|k| format!("FY{},{},{k}\n", 2020 + k / 12, k % 12 + 1)).collect();
    let text = format!("Fiscal Year,Period,Actual\n{text}");
    assert_eq!(roles(&text), named(["", "Period", "Actual"]));
    assert!(question(&text).contains("= Fiscal Year,Period`"), "{}", question(&text));
    let parts = ReadOptions::new().time_cols(["Fiscal Year", "Period"]).target_col("Actual");
    for text in [text.clone(), text.replace("FY20", "fy'")] {
        let panel = crate::Panel::read_csv(text.as_bytes(), "t.csv", &parts).expect("months");
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0), panel.y(0)[23]), ("MS", 24, 23.0));
        assert_eq!(panel.freq().kind().display(panel.time(0, 23)), "2021-12-01");
    }
    // What the question advises, and what is asked of those who named one of them.
    let rows: String = (1..=53).map(|week| format!("2020,{week},{week}\n")).collect();
    let text = format!("Jahr,KW,y\n{rows}2021,1,54\n2021,2,55\n");
    let read = |options: &ReadOptions| crate::Panel::read_csv(text.as_bytes(), "t.csv", options);
    let parts = ReadOptions { time_cols: vec!["Jahr".into(), "KW".into()], ..ReadOptions::new() };
    let panel = read(&parts).expect("weeks");
    assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("W-MON", 55));
    let error = read(&ReadOptions::new().time_col("KW")).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`ReadOptions::time_cols = Jahr,KW`"), "{error}");
    let text = text.replace("KW", "period");
    let parts = ReadOptions { time_cols: vec!["Jahr".into(), "period".into()], ..ReadOptions::new() };
    let error = crate::Panel::read_csv(text.as_bytes(), "t.csv", &parts).unwrap_err().to_string();
    assert!(error.contains("13 periods of four weeks"), "{error}");
}

#[test]
fn columns_that_tell_repeated_rows_apart_are_named() {
    let text = "store,item,ds,y\nN,1,2024-01-01,5\nN,2,2024-01-01,6\nN,1,2024-01-02,5\nN,2,2024-01-02,6\nN,1,2024-01-03,5\nN,2,2024-01-03,6\n";
    let options = ReadOptions { columns: Some(Vec::new()), ..ReadOptions::new() }.id_col("store");
    let error = crate::Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap_err().to_string();
    assert!(error.contains("one of the other columns (`item`)"), "{error}");
    assert!(error.contains("as in `ReadOptions::id_col = store,item`"), "{error}");
    let panel = crate::Panel::read_csv(text.as_bytes(), "t.csv", &options.id_col("store,item")).unwrap();
    assert_eq!(panel.id(1).as_ref(), "N/2");
}

#[test]
fn days_and_their_hours_in_two_columns_are_asked_about() {
    let question = |text: &str| {
        let table = MemoryTable::new("t.csv", foretell_tables::FileFormat::of("t.csv"), text.into());
        let roles = ReadOptions::default().roles_in(&table).expect("read").expect("a long table");
        let question = roles.question("t.csv").map(|question| question.to_string());
        (roles.are_clear(), question.unwrap_or_default())
    };
    let rows = |hour: &dyn Fn(usize) -> String| -> String {
        (0..72).map(|at| format!("2024-01-0{},{},{at}\n", 1 + at / 24, hour(at % 24))).collect()
    };
    for (header, text) in [
        ("Date,Time,Sales", rows(&|hour| format!("{hour:02}:00"))),
        (
            "Date,at,Sales",
            rows(&|hour| format!("{}:00 {}", hour % 12 + 1, if hour < 12 { "AM" } else { "PM" })),
        ),
        ("Date,hour,Sales", rows(&|hour| hour.to_string())),
        ("Date,Hour Ending,Sales", rows(&|hour| format!("HE{:02}", hour + 1))),
    ] {
        let (clear, asked) = question(&format!("{header}\n{text}"));
        let part = header.split(',').nth(1).expect("three columns");
        assert!(!clear && asked.contains(&format!("(`ReadOptions::time_cols = Date,{part}`)")), "{asked}");
    }
    // Hours beside a time that has them, and those of days that come once, make none.
    let whole: String =
        (0..48).map(|at| format!("2024-01-0{} {:02}:00,{},{at}\n", 1 + at / 24, at % 24, at % 24)).collect();
    assert!(question(&format!("Date,hour,Sales\n{whole}")).0);
    let days: String = (1..9).map(|day| format!("2024-01-0{day},{day},{day}\n")).collect();
    assert!(question(&format!("Date,hour,Sales\n{days}")).0);
}

#[test]
fn columns_that_tell_series_apart_together_are_found_by_the_rows() {
    let rows = |row: &dyn Fn(i32, &str, i32) -> String| -> String {
        let rows = (1..=4).flat_map(|day| ["N", "S"].map(move |store| (day, store)));
        rows.flat_map(|(day, store)| [7, 9].map(|item| row(day, store, item))).collect()
    };
    let question = |text: &str| {
        let table = MemoryTable::new("t.csv", foretell_tables::FileFormat::of("t.csv"), text.into());
        let roles = ReadOptions::default().roles_in(&table).expect("read").expect("a long table");
        roles.question("t.csv").map(|question| question.to_string()).unwrap_or_default()
    };
    // Of the columns that may be names, and of numbers that are called as ids; a price tells nothing apart.
    let text = rows(&|day, store, item| format!("2024-01-0{day},{store},x{item},dry,{day}.{item},5\n"));
    let asked = question(&format!("date,store,kind,group,price,units\n{text}"));
    assert!(asked.contains("do together (`ReadOptions::id_col = store,kind`)"), "{asked}");
    let text = rows(&|day, store, item| format!("2024-01-0{day},{store},{item},5\n"));
    let asked = question(&format!("date,store,item_nbr,units\n{text}"));
    assert!(asked.contains("= store,item_nbr`"), "{asked}");
    assert!(!question(&format!("date,store,price,units\n{text}")).contains("together"));
    // Three of them.
    let text = rows(&|day, store, item| {
        ["a", "b"].map(|kind| format!("2024-01-0{day},{store},x{item},{kind},5\n")).concat()
    });
    let asked = question(&format!("date,region,article_name,kind,units\n{text}"));
    assert!(asked.contains("= region,article_name,kind`"), "{asked}");
    // Where one does alone, the question is which.
    let text = rows(&|day, store, item| format!("2024-01-0{day},{store}{item},{store},5\n"));
    let asked = question(&format!("date,label,region,units\n{text}"));
    assert!(asked.contains("name it by") && asked.contains("`label`"), "{asked}");
    // The same of rows that are there twice by an id that was named, of a file.
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t.csv");
    let text = rows(&|day, store, item| format!("2024-01-0{day},{store},x{item},dry,5\n"));
    fs::write(&path, format!("ds,store,kind,group,y\n{text}")).expect("written");
    let options = ReadOptions::new().id_col("store").columns([""; 0]);
    let error = crate::Panel::from_file(&path, &options).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`store`, `kind` tell them apart together"), "{error}");
    let options = options.id_col("store,kind");
    assert_eq!(crate::Panel::from_file(&path, &options).expect("read").n_series(), 4);
}

#[test]
fn a_first_column_of_times_without_a_name_is_named_by_none() {
    let text = ",y,price\n13.01.2024,1,2\n14.01.2024,3,4\n15.01.2024,5,6\n";
    let table = MemoryTable::new("t.csv", foretell_tables::FileFormat::of("t.csv"), text.into());
    let options = ReadOptions::new().time_col("").as_written_in(&table, [false; 2]);
    let panel = crate::Panel::read_csv(text.as_bytes(), "t.csv", &options).expect("days");
    assert_eq!((panel.y(0), panel.column_names().collect::<Vec<_>>()), (&[1.0, 3.0, 5.0][..], vec!["price"]));
    let options = options.columns([""; 0]);
    assert_eq!(options.unread_columns(&["index", "y", "price"].map(str::to_owned)), ["price"]);
}
