//! A table in which some texts stand for missing values or for 0, and numbers may have flags behind them.

use crate::error::DataError;
use crate::{Fill, Panel, ReadOptions};

fn read(cells: &[&str], options: ReadOptions) -> Result<Panel, DataError> {
    let rows = cells.iter().enumerate().map(|(row, cell)| format!("a,{row},{cell}\n"));
    let text = format!("unique_id,ds,y\n{}", rows.collect::<String>());
    Panel::read_csv(text.as_bytes(), "t.csv", &options.fill(Fill::Forward))
}

#[test]
fn a_dash_alone_is_asked_for_and_both_answers_can_be_followed() {
    let cells = ["5", "-", "7"];
    let error = read(&cells, ReadOptions::new()).unwrap_err().to_string();
    for advice in ["`ReadOptions::zeros = -`", "`ReadOptions::missing = -`"] {
        assert!(error.contains(advice), "{error}");
    }
    assert_eq!(read(&cells, ReadOptions::new().zeros(["-"])).unwrap().y(0), [5.0, 0.0, 7.0]);
    assert_eq!(read(&cells, ReadOptions::new().missing(["-"])).unwrap().y(0), [5.0, 5.0, 7.0]);
}

#[test]
fn a_number_is_the_one_that_messages_tell_in_the_precision_of_values() {
    let read = read(&["5", "2147483647", "7"], ReadOptions::new().missing(["2147483600"])).unwrap();
    assert_eq!(read.y(0), [5.0, 5.0, 7.0]);
}

#[test]
fn a_currency_and_a_dash_are_a_zero_and_told_once() {
    let cells = ["$5", " $ -  ", "$7", "$-"];
    let panel = read(&cells, ReadOptions::new()).unwrap();
    assert_eq!(panel.y(0), [5.0, 0.0, 7.0, 0.0]);
    let [note] = panel.notes() else { panic!("{:?}", panel.notes()) };
    let note = note.to_string();
    assert!(note.contains("(`$ -` in line 3) are read as 0"), "{note}");
    // The note says how to read it otherwise.
    let panel = read(&cells, ReadOptions::new().missing(["$ -", "$-"])).unwrap();
    assert_eq!(panel.y(0), [5.0, 5.0, 7.0], "what is missing at the end is cut");
}
