//! Points in numbers of a file whose fields semicolons separate, as where commas stand before decimals: they may be marks between thousands.

use crate::{Panel, ReadOptions};
use foretell_tables::NumberFormat;

#[test]
fn points_that_may_stand_between_thousands_are_asked_about() {
    let read = |cells: [&str; 3], separator: &str, options: ReadOptions| {
        let rows = cells.iter().enumerate().map(|(row, cell)| format!("{row}{separator}{cell}\n"));
        let text = format!("ds{separator}y\n{}", rows.collect::<String>());
        Panel::read_csv(text.as_bytes(), "t.csv", &options)
    };
    // Numbers without a point end where those with one begin.
    let error = read(["987", "1.234", "12.345"], ";", ReadOptions::new()).unwrap_err().to_string();
    assert!(
        error.contains("column `y`") && error.contains("from line 3 on; without one, numbers end at 987"),
        "{error}"
    );
    for advice in ["`ReadOptions::numbers.thousands = .`", "`ReadOptions::numbers.decimal = .`"] {
        assert!(error.contains(advice), "{error}");
    }
    // In decimals of three digits 980 would be 980.000.
    let error = read(["980", "1.000", "1.020"], ",", ReadOptions::new()).unwrap_err().to_string();
    assert!(
        error.contains("column `y`") && error.contains("from line 3 on; without one, numbers end at 980"),
        "{error}"
    );
    let decimals = ReadOptions::new().numbers(NumberFormat::new('.', None).unwrap());
    assert_eq!(read(["980", "1.000", "1.020"], ",", decimals).unwrap().y(0), [980.0, 1.0, 1.02]);
    // What could be either is asked about, and each answer is followed.
    let cells = ["3.987", "1.234", "12.345"];
    let error = read(cells, ";", ReadOptions::new()).unwrap_err().to_string();
    assert!(error.contains("column `y`") && error.contains("`3.987` in line 2"), "{error}");
    for advice in ["numbers.thousands = .`", "numbers.decimal = .`"] {
        assert!(error.contains(advice), "{error}");
    }
    let read = |cells, separator: &str, options| read(cells, separator, options).unwrap();
    for thousands in [None, Some(',')] {
        let decimals = ReadOptions::new().numbers(NumberFormat::new('.', thousands).unwrap());
        assert_eq!(read(cells, ";", decimals).y(0), [3.987, 1.234, 12.345]);
    }
    let followed = ReadOptions::new().numbers(NumberFormat::new(',', Some('.')).unwrap());
    assert_eq!(read(["987", "1.234", "12.345"], ";", followed).y(0), [987.0, 1234.0, 12345.0]);
    for cells in [["987", "1.234", "12.5"], ["0.123", "1.234", "2"], ["1", "2", "1234.567"]] {
        assert!(read(cells, ";", ReadOptions::new()).notes().is_empty(), "{cells:?}");
    }
    assert!(read(["987", "1.234", "12.345"], ",", ReadOptions::new()).notes().is_empty());
    assert_eq!(read(["12", "1.230", "3.500"], ",", ReadOptions::new()).y(0), [12.0, 1.23, 3.5]);
}
