use super::*;
use foretell_calendar::Freq;

fn panel() -> Panel {
    let day = |text: &str| foretell_calendar::TimeKind::Timestamp.parse(text).unwrap();
    let freq = Freq::parse("D").unwrap();
    Panel::from_series(freq, [("a", day("2024-02-27"), [1.0, 2.0]), ("b", day("2024-01-01"), [3.0, 4.0])])
        .unwrap()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn future(text: &str) -> Result<Future, DataError> {
    Future::from_file(file(text).path(), &ReadOptions::default(), &panel(), 2)
}

fn contains(error: DataError, message: &str) {
    let error = error.to_string();
    assert!(error.contains(message), "{error}\n without\n{message}");
}

#[test]
fn static_values_are_found_by_id() {
    let read = |text: &str| panel().with_static_file(file(text).path(), &ReadOptions::default());
    let panel = read("size,unique_id,kind\n2,b,x\nnone,elsewhere,y\n1,a,x\n").unwrap();
    assert_eq!(panel.static_names().collect::<Vec<_>>(), ["size", "kind"]);
    assert_eq!((panel.static_value("size", 0).unwrap(), panel.static_value("size", 1).unwrap()), (1.0, 2.0));
    contains(panel.static_value("kind", 0).unwrap_err(), "line 2, column `kind`: \"x\" is not a number");
    contains(panel.static_value("sizes", 0).unwrap_err(), "did you mean `size`?");
    // The first cell that is known tells that these are texts, and those that they are numbers.
    let mixed = read("unique_id,kind,size\na,,1\nb,x,\n").unwrap();
    contains(mixed.static_value("kind", 0).unwrap_err(), "line 3, column `kind`: \"x\" is not a number");
    contains(mixed.static_value("size", 0).unwrap_err(), "line 3, column `size`: \"\" is missing");
    contains(
        read("unique_id,size\na,1\n").unwrap_err(),
        "lacks 1 of the panel's series: `b`; add one row for each",
    );
    contains(read("unique_id,size\na,1\nb,2\na,1\n").unwrap_err(), "line 4: series `a` appears twice");
    contains(read("id,size\na,1\n").unwrap_err(), "has no column `unique_id`");
    // One series needs no id.
    let one = Panel::from_series(Freq::parse("1").unwrap(), [("y", 0, [1.0, 2.0])]).unwrap();
    let read_one = |text: &str| one.clone().with_static_file(file(text).path(), &ReadOptions::default());
    assert_eq!(read_one("size\n3\n").unwrap().static_value("size", 0).unwrap(), 3.0);
    contains(read_one("size\n3\n4\n").unwrap_err(), "line 3: series `y` appears twice");
    let rows = file("ds,x\n2,5\n3,6\n");
    let ahead = Future::from_file(rows.path(), &ReadOptions::default(), &one, 2).unwrap();
    assert_eq!(ahead.column("x").unwrap(), [5.0, 6.0]);
    contains(read("unique_id,size\n").unwrap_err(), "lacks 2 of the panel's series");
}

#[test]
fn a_code_among_numbers_may_be_a_category() {
    let ids = ["a", "b", "c", "d"];
    let panel = Panel::from_series(Freq::parse("1").unwrap(), ids.map(|id| (id, 0, [1.0, 2.0]))).unwrap();
    let table = file("unique_id,zone\na,1\nb,2\nc,3A\nd,4\n");
    let panel = panel.with_static_file(table.path(), &ReadOptions::default()).unwrap();
    contains(
        panel.static_value("zone", 0).unwrap_err(),
        "line 4, column `zone`: \"3A\" is not a number, as most other cells of its column are; if the column holds categories, as codes \
         are, name it in",
    );
}

#[test]
fn future_rows_are_put_in_their_places() {
    let future = future(
        "unique_id,ds,x,note,y\nb,2024-01-04,4,?,\nb,2024-01-03,3,,\na,2024-02-29,1,,\na,2024-03-01,2,,\n",
    )
    .unwrap();
    assert_eq!((future.h(), future.column_names().collect::<Vec<_>>()), (2, vec!["x", "note"]));
    assert_eq!(future.column("x").unwrap(), [1.0, 2.0, 3.0, 4.0]);
    contains(future.column("note").unwrap_err(), "line 2, column `note`: \"?\" is not a number");
    contains(future.column("z").unwrap_err(), "add the column to the future table");
}

#[test]
fn future_rows_must_cover_the_horizon() {
    let head = "unique_id,ds,x\na,2024-02-29,1\na,2024-03-01,2\nb,2024-01-03,3\n";
    contains(
        future(head).unwrap_err(),
        "lacks 1 future rows, of which each series needs 2: `b at 2024-01-04`; add them",
    );
    for (row, message) in [
        (
            "b,2024-01-03 12:00,1",
            "line 5: series `b` at 2024-01-03 12:00:00 is not among the rows to forecast (2024-01-03 to 2024-01-04)",
        ),
        ("b,2024-01-03,1", "line 5: series `b` has 2024-01-03 already"),
        ("b,4,1", "line 5, column `ds`: \"4\" is not a date or time like the ones before it"),
    ] {
        contains(future(&format!("{head}{row}\n")).unwrap_err(), message);
    }
}

#[test]
fn future_rows_beyond_the_horizon_are_counted_and_ignored() {
    let needed = "unique_id,ds,x\na,2024-02-29,1\na,2024-03-01,2\nb,2024-01-03,3\nb,2024-01-04,4\n";
    assert_eq!(future(needed).unwrap().ignored_rows(), 0);
    // After the horizon, before it, and of a series that is not to be forecast; their values do not matter.
    let more = "b,2024-01-05,?\na,2024-02-28,9\nc,2024-01-04,9\n";
    let future = future(&format!("{needed}{more}")).unwrap();
    assert_eq!((future.ignored_rows(), future.column("x").unwrap()), (3, &[1.0, 2.0, 3.0, 4.0][..]));
}

#[test]
fn future_slices_are_checked() {
    let error = Future::new(&panel(), 2, &[("x", &[1.0; 3])]).unwrap_err();
    contains(error, "future column `x`: 3 values where 4 are expected");
    let error = Future::new(&panel(), 2, &[("x", &[1.0, 2.0, f32::NAN, 4.0])]).unwrap_err();
    contains(error, "series `b`, row 0, column `x`: \"NaN\" is missing; fill it in (`PanelBuilder::fill`");
    contains(Future::new(&panel(), 0, &[]).unwrap_err(), "h must be 1 to");
}

#[test]
fn rows_without_ids_are_those_of_every_series() {
    let rows = "ds,x,name,y\n2024-01-02,7,,\n2024-01-03,3,New Year,\n2024-01-04,4,,\n2024-02-29,1,,\n2024-03-01,2,Fair,\n";
    let future = future(rows).unwrap();
    assert_eq!(future.column("x").unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(future.ignored_rows(), 1);
    assert!(matches!(future.notes(), [ReadNote::OfAllSeries { .. }]), "{:?}", future.notes());
}

#[test]
fn a_table_of_one_series_without_its_column_of_ids_is_refused() {
    for head in ["sku,ds,x\n7,", "Shop,ds,x\nNorth,", "uniqueid,ds,x\nb,", "note,ds,x\n?,"] {
        let (names, cell) = head.split_once('\n').unwrap();
        let day = |day: &str, x: u8| format!("{cell}{day},{x}\n");
        let rows = [("2024-01-03", 3), ("2024-01-04", 4), ("2024-02-29", 1), ("2024-03-01", 2)];
        let text: String = rows.iter().map(|(ds, x)| day(ds, *x)).collect();
        contains(future(&format!("{names}\n{text}")).unwrap_err(), "has no column `unique_id`");
    }
    // Numbers under a name as of ids, which differ in the table of several series.
    let of_store = |store: [u8; 4]| {
        let rows = ["2024-01-03", "2024-01-04", "2024-02-29", "2024-03-01"].iter().zip(store);
        let rows: String = rows.map(|(ds, store)| format!("{ds},{store},1\n")).collect();
        future(&format!("ds,store_nbr,x\n{rows}"))
    };
    contains(of_store([7; 4]).unwrap_err(), "`store_nbr` is \"7\" in all rows, as of the ids of one series");
    assert!(of_store([7, 7, 7, 8]).is_ok());
    let twice = "ds,x\n2024-01-03,1\n2024-01-03,2\n2024-01-04,3\n2024-02-29,1\n2024-03-01,2\n";
    contains(future(twice).unwrap_err(), "has no column `unique_id`");
}
