//! Tables whose times go across: a series a row with a column for each time, a day a row with a column for each hour, or a year a

use crate::{Aggregate, Panel, ReadOptions};
use foretell_tables::Across;

#[test]
fn quarters_among_their_months_are_no_months() {
    let read = |header: &str, row: &str, across: Option<Across>, how: Option<Aggregate>| {
        let options = ReadOptions { across, aggregate: how, ..ReadOptions::new() };
        Panel::read_csv(format!("{header}\n{row}").as_bytes(), "t.csv", &options)
    };
    let header = "account,2022-01,2022-02,2022-03,Q1 2022,2022-04,2022-05,2022-06,Q2 2022";
    let sums = Some(Aggregate::Sum);
    for how in [None, sums] {
        let panel = read(header, "revenue,1,2,3,6,4,5,6,15\n", Some(Across::Times), how).unwrap();
        assert_eq!(panel.y(0)[..], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.contains("their sums: `Q1 2022`, `Q2 2022`")), "{notes:?}");
    }
    // Rows of a long table, which no one may add up either.
    for how in [None, sums] {
        let rows = "2022-01,1\n2022-02,2\n2022-03,3\nQ1 2022,6\n";
        let error = read("ds,y", rows, None, how).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("1 of 4 times are quarters"), "{error}");
    }
}

#[test]
fn columns_behind_those_of_a_day_are_not_passed_over() {
    let read = |names: Vec<String>| {
        let cells: Vec<String> = (1..=names.len()).map(|value| value.to_string()).collect();
        let text = format!("date,{}\n2024-10-27,{}\n", names.join(","), cells.join(","));
        let options = ReadOptions { across: Some(Across::Hours), ..ReadOptions::new() };
        Panel::read_csv(text.as_bytes(), "t.csv", &options).map_err(|error| error.to_string())
    };
    let numbers = |word: &str, most: usize| (1..=most).map(|number| format!("{word}{number}")).collect();
    for (count, freq) in [(24, "h"), (48, "30min"), (96, "15min")] {
        let panel = read(numbers("", count)).unwrap();
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), (freq, count));
        assert_eq!(panel.y(0)[count - 1], count as f32);
    }
    let mut twice: Vec<String> = numbers("HE", 24);
    twice.insert(2, "HE2X".to_owned());
    for (names, beyond) in [(numbers("H", 25), "`H25`"), (numbers("", 50), "`25`"), (twice, "`HE2X`")] {
        let error = read(names).map(|_| ()).unwrap_err();
        assert!(error.contains(beyond) && error.contains("= date,hour`"), "{error}");
    }
}
