//! Whether dates that a format must read have their days or their months first, by all the rows that follow.

use std::fmt::Write as _;

use crate::error::DataError;
use foretell_calendar::{Freq, TimeFormat, TimeKind, readings::formats};
use foretell_messages::Setting;
use foretell_tables::{CellError, TableError, TableReader};

/// Rows that are looked at.
const ROWS: usize = 5000;

/// The error of a time that two formats would read, with what each makes of the rows from there on.
pub(super) fn with_orders(error: DataError, table: &mut dyn TableReader) -> DataError {
    let DataError::Table(TableError::Cell(CellError::Time { column, value, .. })) = &error else {
        return error;
    };
    let found = formats(value);
    let (true, Some(column)) = (found.len() > 1, table.find(column)) else { return error };
    let mut texts = vec![value.clone()];
    while texts.len() < ROWS && table.advance().unwrap_or(false) {
        texts.push(table.shown(column));
    }
    let read = |word: &String| -> Option<Vec<i64>> {
        let format = TimeFormat::parse(word).ok()?;
        let mut times = texts.iter().map(|text| format.civil(text)).collect::<Option<Vec<_>>>()?;
        times.sort_unstable();
        times.dedup();
        Some(times)
    };
    let fits: Vec<_> = found.iter().filter_map(|(word, _)| Some((word, read(word)?))).collect();
    let hint = match &fits[..] {
        [(word, _)] => format!("of these only {} reads the rows that follow", Setting::TimeFormat.to(word)),
        [_, _, ..] => {
            let mut hint = String::from("the rows that follow are ");
            for (i, (word, times)) in fits.iter().enumerate() {
                let steps = match Freq::infer(TimeKind::Timestamp, None, times) {
                    Some(freq) => format!("steps of `{freq}`"),
                    None => "steps of no frequency".to_owned(),
                };
                let or = if i > 0 { ", " } else { "" };
                _ = write!(hint, "{or}{steps} by {}", Setting::TimeFormat.to(word));
            }
            hint
        }
        [] => return error,
    };
    DataError::LaidOut { error: Box::new(error), hint }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};
    use foretell_calendar::TimeFormat;

    fn read(days: &[&str], format: Option<&str>) -> Result<Panel, String> {
        let rows: String = days.iter().map(|day| format!("{day},1\n")).collect();
        let time_format = format.map(|word| TimeFormat::parse(word).unwrap());
        let options = ReadOptions { time_format, ..ReadOptions::new() };
        Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &options)
            .map_err(|error| error.to_string())
    }

    fn refused(days: &[&str]) -> String {
        read(days, None).map(|_| ()).unwrap_err()
    }

    #[test]
    fn first_days_of_months_are_told_from_days_of_january() {
        let days = ["01/01/2007", "01/02/2007", "01/03/2007", "01/04/2007"];
        let error = refused(&days);
        for part in [
            "steps of `D` by `ReadOptions::time_format = %m/%d/%Y`",
            "`MS` by `ReadOptions::time_format = %d/%m/%Y`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        for (format, freq) in [("%m/%d/%Y", "D"), ("%d/%m/%Y", "MS")] {
            assert_eq!(read(&days, Some(format)).unwrap().freq().to_string(), freq);
        }
        let error = refused(&["01/01/2007", "02/01/2007", "13/01/2007"]);
        assert!(error.contains("only `ReadOptions::time_format = %d/%m/%Y` reads the rows"), "{error}");
        let error = refused(&["30.09.2007", "31.10.2007"]);
        assert!(!error.contains("the rows that follow"), "{error}");
    }
}
