//! Several files of the same columns as one table, with the columns that their folders give.

use std::path::PathBuf;
use tempfile::TempDir;

use crate::error::DataError;
use crate::{Future, Panel, ReadOptions};
use foretell_calendar::{Freq, Zone};
use foretell_tables::FileOptions;

fn home(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    home
}

fn read(home: &TempDir, path: &str) -> Result<Panel, DataError> {
    Panel::from_file(home.path().join(path), &ReadOptions::new())
}

#[test]
fn files_are_read_as_one_table() {
    let home = home(&[
        ("p/2.csv", "unique_id;ds;y\nb;3;30\nb;4;40\n"),
        ("p/1.csv", "unique_id,ds,y\na,1,1\nb,1,10\na,2,2\nb,2,20\n"),
        ("p/3.csv", "y,ds,unique_id\n3,3,a\n"),
    ]);
    let panel = read(&home, "p").unwrap();
    assert_eq!((panel.y(0), panel.y(1)), (&[1.0, 2.0, 3.0][..], &[10.0, 20.0, 30.0, 40.0][..]));
    assert_eq!(read(&home, "p/*.csv").unwrap().y(1), panel.y(1));
    let paths: Vec<PathBuf> = ["p/3.csv", "p/1.csv", "p/2.csv"].map(|path| home.path().join(path)).into();
    assert_eq!(Panel::from_files(&paths, &ReadOptions::new()).unwrap().y(0), panel.y(0));
    let zone = ReadOptions::new().zone(Zone::parse("UTC").unwrap());
    assert_eq!(Panel::from_files(&paths, &zone).unwrap().y(0), panel.y(0));
}

#[test]
fn mistakes_name_their_file() {
    let rows = "unique_id,ds,y\na,1,1\na,2,2\n";
    for (second, message) in [
        ("unique_id,ds,y\na,3,3\na,4,x\n", "2.csv, line 3, column `y`: \"x\""),
        ("unique_id,ds,y\na,3,3\na,2,4\n", "2.csv, line 3: series `a` has 2 already ("),
        ("unique_id,ds,y,z\na,3,3,4\n", "2.csv: it has a column `z`, which "),
        ("unique_id,ds\na,3\n", "2.csv: it has no column `y`, which "),
    ] {
        let home = home(&[("1.csv", rows), ("2.csv", second)]);
        let error = read(&home, "*.csv").unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(second.contains(",x") || error.contains("1.csv"), "{error}");
    }
}

#[test]
fn folders_of_hive_are_columns_of_all_tables() {
    let rows = |first: usize| format!("ds,y\n{first},1\n{},2\n{},3\n", first + 1, first + 2);
    let home = home(&[
        ("d/unique_id=a/0.csv", &rows(1)),
        ("d/unique_id=a/1.csv", &rows(4)),
        ("d/unique_id=b%20c/0.csv", &rows(1)),
        ("s/size=2/0.csv", "unique_id\na\n"),
        ("s/size=5/0.csv", "unique_id\nb c\n"),
        ("f/promo=1/0.csv", "unique_id,ds\na,7\nb c,4\n"),
        ("f/promo=0/0.csv", "unique_id,ds\na,8\nb c,5\n"),
    ]);
    let options = ReadOptions::new().freq(Freq::parse("1").unwrap());
    let panel = Panel::from_file(home.path().join("d"), &options).unwrap();
    assert_eq!((&**panel.id(1), panel.y(0)), ("b c", &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0][..]));
    let panel = panel.with_static_file(home.path().join("s"), &options).unwrap();
    assert_eq!(panel.static_value("size", 1).unwrap(), 5.0);
    let future = Future::from_file(home.path().join("f"), &options, &panel, 2).unwrap();
    assert_eq!(future.column("promo").unwrap(), [1.0, 0.0, 1.0, 0.0]);
    let names = foretell_tables::column_names(home.path().join("s"), &FileOptions::default()).unwrap();
    assert_eq!(names, ["unique_id", "size"]);
}
