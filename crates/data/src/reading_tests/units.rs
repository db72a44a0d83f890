//! The units that the numbers of a table's columns bear: those of a column must be one.

use crate::error::DataError;
use crate::{Panel, ReadOptions};

fn read(cells: &[&str], threads: usize) -> Result<Panel, DataError> {
    let rows = cells.iter().enumerate().map(|(row, cell)| format!("a,{row},{cell}\n"));
    let text = format!("unique_id,ds,y\n{}", rows.collect::<String>());
    Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions { threads, ..ReadOptions::default() })
}

#[test]
fn other_units_in_a_column_are_refused_with_both_examples() {
    for (cells, first, second) in [
        (&["$5", "7", "€6"][..], (2, "$5"), (4, "€6")),
        (&["5", "7 GBP", "6", "6 CHF"], (3, "7 GBP"), (5, "6 CHF")),
        (&["12%", "13", "14%"], (2, "12%"), (3, "13")),
        (&["0", "13", "14 %"], (3, "13"), (4, "14 %")),
        (&["5 %", "$5"], (2, "5 %"), (3, "$5")),
    ] {
        let message = read(cells, 1).unwrap_err().to_string();
        for (line, text) in [first, second] {
            assert!(message.contains(&format!("`{text}` in line {line}")), "{message}");
        }
    }
}

#[test]
fn one_unit_by_any_of_its_names_is_read() {
    for (cells, expected) in [
        (&["$5", "6 USD", "7", "US$8"][..], &[5.0, 6.0, 7.0, 8.0][..]),
        (&["5 €", "6 EUR", "7"], &[5.0, 6.0, 7.0]),
        (&["50 %", "0", "25%"], &[0.5, 0.0, 0.25]),
        (&["1 kr", "2 SEK", "3 kr."], &[1.0, 2.0, 3.0]),
    ] {
        assert_eq!(read(cells, 1).unwrap().y(0), expected, "{cells:?}");
    }
}

#[test]
fn zeros_of_accounts_are_told_once_with_the_first() {
    for threads in [1, 2] {
        let panel = read(&["$-", "$7", "$-", "$5"], threads).unwrap();
        let [note] = panel.notes() else { panic!("{:?}", panel.notes()) };
        assert!(note.to_string().contains("(`$-` in line 2)"), "{note}");
    }
}

#[test]
fn units_are_seen_in_all_parts_of_a_table() {
    let mut cells = vec!["1234567"; 200_000];
    cells[150_000] = "1 %";
    let message = read(&cells, 1).unwrap_err().to_string();
    assert!(message.contains("`1234567` in line 2") && message.contains("`1 %` in line 150002"), "{message}");
    assert_eq!(read(&cells, 3).unwrap_err().to_string(), message);
}
