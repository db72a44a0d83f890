//! Ids that several columns make.

use crate::error::DataError;
use crate::{Future, LabelFiles, Panel, ReadOptions, SeriesLabels};
use foretell_calendar::Freq;
use foretell_tables::Across;

const TEXT: &str = "ds,store,item,y,price\n2024-01-01,N,1,1,5\n2024-01-01,N,2,2,6\n2024-01-02,N,1,3,5\n2024-01-02,N,2,4,6\n\
                    2024-01-01,S,1,5,7\n2024-01-02,S,1,6,7\n";

fn options() -> ReadOptions {
    ReadOptions::new().id_col("store, item").freq(Freq::parse("D").unwrap())
}

fn read(text: &str, options: &ReadOptions) -> Result<Panel, DataError> {
    Panel::read_csv(text.as_bytes(), "t.csv", options)
}

#[test]
fn columns_that_are_named_together_make_one_id() {
    let panel = read(TEXT, &options()).unwrap();
    let series: Vec<(&str, &[f32])> = (0..3).map(|i| (&**panel.id(i), panel.y(i))).collect();
    assert_eq!(series, [("N/1", &[1.0, 3.0][..]), ("N/2", &[2.0, 4.0]), ("S/1", &[5.0, 6.0])]);
    // They are no columns beside it, unless they are named as such.
    assert_eq!(panel.column_names().collect::<Vec<_>>(), ["price"]);
    let panel = read(TEXT, &options().static_cols(["item"])).unwrap();
    assert_eq!((0..3).map(|i| panel.static_value("item", i).unwrap()).collect::<Vec<_>>(), [1.0, 2.0, 1.0]);
    // A column that is called so is one.
    let panel = read("ds,\"store, item\",y\n2024-01-01,A,1\n2024-01-02,A,2\n", &options()).unwrap();
    assert_eq!((&**panel.id(0), panel.y(0)), ("A", &[1.0, 2.0][..]));
}

#[test]
fn tables_beside_the_data_have_the_same_columns_or_ids() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("beside.csv");
    let read = || read(TEXT, &options()).unwrap();
    for text in ["item,size,store\n2,20,N\n1,10,N\n1,30,S\n", "unique_id,size\nN/2,20\nN/1,10\nS/1,30\n"] {
        std::fs::write(&path, text).unwrap();
        let panel = read().with_static_file(&path, &options()).unwrap();
        assert_eq!([0, 1, 2].map(|i| panel.static_value("size", i).unwrap()), [10.0, 20.0, 30.0]);
        let files = [LabelFiles {
            paths: std::slice::from_ref(&path),
            options: &options().file,
            id_col: "store, item",
        }];
        let sizes = SeriesLabels::read(&files, "store, item", "size").unwrap().unwrap();
        assert_eq!(sizes.of("N/2").unwrap(), "20");
    }
    let rows = "2024-01-03,N,1,1\n2024-01-03,N,2,2\n2024-01-03,S,1,3\n";
    std::fs::write(&path, format!("ds,store,item,price\n{rows}")).unwrap();
    let future = Future::from_file(&path, &options(), &read(), 1).unwrap();
    assert_eq!(future.column("price").unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_static_table_by_some_of_the_columns_is_of_all_series_that_agree_in_them() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("stores.csv");
    let with = |text: &str, data: &str| {
        std::fs::write(&path, text).unwrap();
        read(data, &options()).unwrap().with_static_file(&path, &options())
    };
    let panel = with("size,store\n30,S\n10,N\n5,W\n", TEXT).unwrap();
    assert_eq!([0, 1, 2].map(|i| panel.static_value("size", i).unwrap()), [10.0, 10.0, 30.0]);
    let panel = with("item,weight\n1,7\n2,8\n", TEXT).unwrap();
    assert_eq!([0, 1, 2].map(|i| panel.static_value("weight", i).unwrap()), [7.0, 8.0, 7.0]);
    for (text, expected) in [
        ("store,size\nN,1\nS,2\nN,3\n", "`N`"),
        ("store,size\nN,1\n", "S/1"),
        ("store,size\nn,1\nS,2\n", "`n`"),
    ] {
        let error = with(text, TEXT).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    // Which part an id has is not told where one holds the separator.
    let data = TEXT.replace(",N,2,", ",N,2/3,");
    let error = with("store,size\nN,1\nS,2\n", &data).unwrap_err().to_string();
    assert!(error.contains("has no column `item`; it has `store`, `size`"), "{error}");
}

#[test]
fn future_rows_by_some_of_the_columns_are_of_all_series_that_agree_in_them() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("prices.csv");
    std::fs::write(&path, "ds,store,price\n2024-01-03,S,3\n2024-01-03,N,1\n").unwrap();
    let panel = read(TEXT, &options()).unwrap();
    let future = Future::from_file(&path, &options(), &panel, 1).unwrap();
    assert_eq!(future.column("price").unwrap(), [1.0, 1.0, 3.0]);
}

#[test]
fn ids_that_two_rows_make_of_other_parts_are_refused() {
    let rows = |first: &str, second: &str| {
        format!(
            "ds,store,item,y\n2024-01-01,{first},1\n2024-01-02,{first},2\n2024-01-01,{second},3\n2024-01-02,{second},4\n"
        )
    };
    let error = read(&rows("a/b,c", "a,b/c"), &options()).unwrap_err().to_string();
    assert!(error.starts_with("t.csv, line 4: the columns that make the id give `a/b/c`, as do"), "{error}");
    let panel = read(&rows("a/b,c", "a,b"), &options()).unwrap();
    assert_eq!([0, 1].map(|i| panel.id(i).to_string()), ["a/b", "a/b/c"]);
    let error = read(&rows("a,b", "a,"), &options()).unwrap_err().to_string();
    assert!(error.starts_with("t.csv, line 4, column `item`: the id is empty"), "{error}");
}

fn months_of(options: ReadOptions) -> ReadOptions {
    options.freq(Freq::parse("MS").unwrap())
}

#[test]
fn other_layouts_join_ids_as_well() {
    let months = "jan feb mar apr may jun jul aug sep oct nov dec".replace(' ', ",");
    let values: String = (1..=12).map(|month| format!(",{month}")).collect();
    let text = format!("store,item,year,{months}\nN,1,2024{values}\nN,2,2024{values}\n");
    let panel = read(&text, &months_of(options()).across(Across::Months)).unwrap();
    assert_eq!((panel.n_series(), &**panel.id(1), panel.y(1)[11]), (2, "N/2", 12.0));
    let text = "store,item,2024-01,2024-02,2024-03\nN,1,1,2,3\nN,2,4,5,6\n";
    let panel = read(text, &months_of(options()).across(Across::Times)).unwrap();
    assert_eq!((&**panel.id(1), panel.y(1)), ("N/2", &[4.0, 5.0, 6.0][..]));
    let text = "store,year,item,month,y\nN,2024,1,1,1\nN,2024,1,2,2\nN,2024,1,3,3\n";
    let panel = read(text, &months_of(options()).time_cols(["year", "month"])).unwrap();
    assert_eq!((&**panel.id(0), panel.y(0)), ("N/1", &[1.0, 2.0, 3.0][..]));
}
