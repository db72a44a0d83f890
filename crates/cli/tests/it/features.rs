//! Columns that are computed from the data: trained with, written, and the future rows beside them.

use crate::test_directory::{SMALL, TestDirectory, rows, stderr};

/// The names of the columns in `long.csv`.
const NAMES: &str = "--id-col shop --time-col day --target-col sales";

#[test]
fn models_are_trained_saved_and_forecast_with_computed_columns() {
    let dir = TestDirectory::new();
    let train = format!("--data long.csv {NAMES} --model MLP {SMALL} --log none");
    let features = "--features lag:7,roll_mean:7,28,weekday,fourier:weekly:1,holidays:DE:1";
    dir.ok(&format!("fit {train} {features} --out model"));
    dir.ok("predict --model model --data long.csv --out forecast.csv");
    assert_eq!(rows(&dir.read("forecast.csv")).len(), 1 + 2 * 7);
    let metrics = dir.ok(&format!("cross-validate {train} {features} --n-windows 2 --refit"));
    assert!(metrics.contains("MLP"), "{metrics}");

    // Beside a column of the data, whose future values are asked for.
    dir.ok(&format!("fit {train} --futr-exog price --features weekday --out priced"));
    let message = dir.fails(1, "predict --model priced --data long.csv");
    assert!(message.contains("the future columns `price` need"), "{message}");
    dir.ok("future --model priced --data long.csv --out future.csv");
    let future = dir.read("future.csv");
    assert!(future.starts_with("shop,day,price\nnorth,2024-04-30,\n"), "{future}");
    assert_eq!(rows(&future).len(), 1 + 2 * 7);
    dir.put("future.csv", &future.replace(",\n", ",1\n"));
    dir.ok("predict --model priced --data long.csv --futr future.csv --out forecast.csv");
}

#[test]
fn columns_are_written() {
    let dir = TestDirectory::new();
    let wide = dir.ok(&format!("features --data long.csv {NAMES} --features lag:1,weekday"));
    let mut lines = wide.lines();
    assert_eq!(lines.next(), Some("shop,day,sales,price,lag_1,weekday"));
    // The first of January 2024 is a Monday; the first row has no value before it.
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!((cells[0][4], cells[0][5], cells[1][5]), ("", "0.0", "1.0"));
    assert_eq!(cells[1][4], cells[0][2]);
    assert_eq!((cells.len(), cells[120][4]), (240, ""));
    // Whatever reaches beyond the first row is missing, and nothing else.
    let wide =
        dir.ok(&format!("features --data long.csv {NAMES} --features lag:7,roll_mean:7,diff:1,ewm:0.3"));
    let missing = |column: usize| {
        let north = wide.lines().skip(1).take(120);
        north.filter(|line| line.split(',').nth(column) == Some("")).count()
    };
    assert_eq!([4, 5, 6, 7].map(missing), [7, 7, 2, 1]);

    dir.put("days.txt", "2024-01-02\n");
    dir.ok(&format!(
        "fit --data long.csv {NAMES} --model MLP {SMALL} --features holidays:days.txt:1 --out model --log none"
    ));
    std::fs::remove_file(dir.path("days.txt")).unwrap();
    let wide = dir.ok("features --data long.csv --model model");
    assert!(wide.starts_with("shop,day,sales,holidays_days,holidays_days_before_1\n"), "{wide}");
    assert!(wide.lines().nth(1).unwrap().ends_with(",0.0,1.0"), "{wide}");
}

#[test]
fn tables_are_read_from_every_format_in_which_they_are_written() {
    let dir = TestDirectory::new();
    let read = |name: &str| dir.ok(&format!("features --data {name} {NAMES} --features trend"));
    for name in ["t.csv", "t.csv.gz", "t.parquet", "t.arrows", "t.arrow"] {
        dir.ok(&format!("features --data long.csv {NAMES} --features weekday --out {name}"));
        assert!(read(name) == read("t.csv"), "{name}");
    }
    assert!(read("t.csv").starts_with("shop,day,sales,price,weekday,trend\n"));
}

#[test]
fn columns_that_cannot_be_written_are_named_with_the_cell() {
    let dir = TestDirectory::new();
    dir.put("holes.csv", "unique_id,ds,y,price,colour\na,1,1,,red\na,2,2,3,blue\na,3,3,4,red\n");
    let output = dir.run("features --data holes.csv --freq 1 --features lag:1");
    let (table, told) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert!(table.starts_with("unique_id,ds,y,lag_1\n"), "{table}");
    assert!(told.contains("column price is left out: holes.csv, line 2"), "{told}");
    assert!(told.contains("column colour is left out: it holds text\n"), "{told}");
}

#[test]
fn features_are_listed_and_slips_are_named() {
    let dir = TestDirectory::new();
    let list = dir.ok("features --list");
    assert!(list.contains("roll_quantile:28:0.1,0.9") && list.contains("holidays:DE:1:2"), "{list}");
    let fit = format!("fit --data long.csv {NAMES} --model MLP {SMALL} --out model --log none");
    let message = dir.fails(2, &format!("{fit} --features wekday"));
    assert!(
        message.contains("--features: no feature is called `wekday`; did you mean weekday?"),
        "{message}"
    );
    let message = dir.fails(2, &format!("{fit} --features weekday").replace("MLP", "NLinear"));
    assert!(message.contains("no model reads columns known ahead"), "{message}");
}
