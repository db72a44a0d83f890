//! How files of actual values are read: as the data that models are trained on, but for what is no actual value.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use foretell_data::{Fill, ForecastTable, Panel, ReadOptions};

use crate::error::Error;
use crate::fitted::Fitted;

/// The actual values of a file that is read with `options`, and of models that keep a hierarchy with its sums. What was taken for granted is
/// in the table's notes.
///
/// A period of [`ReadOptions::resample`] that is not complete, as where the data end in its middle, is left out: what is known of it by then
/// is no actual value, unless [`ReadOptions::keep_partial`] says otherwise. Nor are values that were filled in between others, which are NaN, unless a missing one was said to be 0.
///
/// # Errors
/// Those of [`ForecastTable::actual_from_file`], those of a panel where rows are filled or gathered, and those of sums.
pub fn actual_values(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    fitted: Option<&Fitted>,
) -> Result<ForecastTable, Error> {
    let path = path.as_ref();
    let has_sums = fitted.is_some_and(|fitted| fitted.hierarchy().is_some());
    let gathers = options.fill.is_some() || options.aggregate.is_some() || options.snap.is_some();
    if !(gathers || has_sums) {
        return Ok(ForecastTable::actual_from_file(path, options)?);
    }
    let panel = Panel::from_file(path, options)?;
    let panel = match fitted {
        Some(fitted) => fitted.with_sums(panel)?,
        None => panel,
    };
    let mut table = ForecastTable::of_panel(&panel, &options.target_col);
    table.file = path.display().to_string().into();
    if matches!(options.fill, Some(Fill::Forward | Fill::Interpolate)) && panel.filled() != Default::default()
    {
        let rows = ForecastTable::actual_from_file(path, options)?;
        forget_filled(&mut table, &rows, &rows.gathered_times(options)?, &options.target_col)?;
    }
    Ok(table)
}

/// Makes the values of a table NaN that none of these rows has, whose times are these: of the series that the rows are of.
fn forget_filled(
    table: &mut ForecastTable,
    rows: &ForecastTable,
    times: &[i64],
    target: &str,
) -> Result<(), Error> {
    let values = rows.column(target)?;
    let known = rows.ids.iter().zip(times).zip(values).filter(|(_, value)| !value.is_nan());
    let known: HashSet<(&Arc<str>, i64)> = known.map(|((id, time), _)| (id, *time)).collect();
    let ids: HashSet<&Arc<str>> = rows.ids.iter().collect();
    for (_, values) in &mut table.columns {
        let of_table = table.ids.iter().zip(&table.times);
        for (value, (id, time)) in values.iter_mut().zip(of_table) {
            if ids.contains(id) && !known.contains(&(id, *time)) {
                *value = f64::NAN;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, Zone};
    use foretell_data::Aggregate;

    use super::*;

    fn read(text: &str, options: &ReadOptions) -> Vec<f64> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        actual_values(&path, options, None).unwrap().column("y").unwrap().to_vec()
    }

    #[test]
    fn values_that_were_filled_in_are_no_actual_ones() {
        let text = "ds,y\n2024-01-01,1\n2024-01-02,\n2024-01-03,3\n2024-01-05,5\n";
        let known = |fill: Fill| read(text, &ReadOptions::new().fill(fill));
        for fill in [Fill::Forward, Fill::Interpolate] {
            let values = known(fill);
            assert_eq!(
                values.iter().map(|value| value.is_nan()).collect::<Vec<_>>(),
                [false, true, false, true, false]
            );
            assert_eq!([values[0], values[2], values[4]], [1.0, 3.0, 5.0]);
        }
        assert_eq!(known(Fill::Zero), [1.0, 0.0, 3.0, 0.0, 5.0], "what is missing was said to be 0");
        let hours = "ds,y\n2024-01-01T00:00,1\n2024-01-01T00:30,1\n2024-01-01T02:00,2\n2024-01-01T02:30,2\n2024-01-01T03:00,2\n2024-01-01T03:30,2\n";
        let options = ReadOptions::new().aggregate(Aggregate::Mean).resample(Freq::parse("h").unwrap());
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let values = read(hours, &options.fill(Fill::Forward).zone(berlin));
        assert!(values[1].is_nan() && (values[0], values[2], values[3]) == (1.0, 2.0, 2.0), "{values:?}");
    }
}
