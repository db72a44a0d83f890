//! Models that lack a value in a table of forecasts: others are reconciled without them.

use std::borrow::Cow;

use foretell_data::ForecastTable;
use foretell_tables::ModelInTable;

use crate::error::Error;
use crate::reconciliation_error::ReconciliationError;
use crate::warning::Warning;

/// What a reconciliation makes of the forecasts of those models of a table that have all of their values, as [`reconcile`](crate::reconcile)
/// needs them, with a warning of those that are left out since they lack one. It is asked again only where it finds what the numbers of the table do
/// not show: a value that is missing among quantiles, or in another table.
///
/// # Errors
/// Those of the reconciliation; [`ReconciliationError::Unknown`] where no model has all values.
pub fn of_complete_models<T>(
    forecast: &ForecastTable,
    target: &str,
    reconciled: impl Fn(&ForecastTable) -> Result<T, Error>,
) -> Result<(T, Option<Warning>), Error> {
    let all = forecast.models(target);
    let unknown = |model: &ModelInTable| {
        let (_, numbers) = &forecast.columns[model.number?];
        numbers.iter().position(|number| !number.is_finite())
    };
    let unknown: Vec<Option<usize>> = all.iter().map(unknown).collect();
    let mut is_gone: Vec<bool> = unknown.iter().map(Option::is_some).collect();
    let has_others =
        |is_gone: &[bool]| all.iter().zip(is_gone).any(|(model, is_gone)| model.is_forecast() && !is_gone);
    if !has_others(&is_gone) {
        return Ok((reconciled(forecast)?, None));
    }
    let told = |(model, row): (&ModelInTable, Option<usize>)| {
        let row = row?;
        let time = forecast.kind.display_in(forecast.zone.as_ref(), forecast.times[row]);
        Some([model.model.to_string(), forecast.file.to_string(), forecast.ids[row].to_string(), time])
    };
    let mut models: Vec<[String; 4]> = all.iter().zip(unknown).filter_map(told).collect();
    loop {
        let rest = without(forecast, &all, &is_gone);
        let error = match reconciled(&rest) {
            Err(Error::Reconciliation(error @ ReconciliationError::Unknown { .. })) => error,
            done => {
                let warning = (!models.is_empty()).then_some(Warning::IncompleteModels { models });
                return Ok((done?, warning));
            }
        };
        let ReconciliationError::Unknown { file, column, id, time } = &error else {
            return Err(error.into());
        };
        let has_column =
            |model: &ModelInTable| places(model).any(|place| forecast.columns[place].0 == *column);
        let lacking = (0..all.len()).find(|&number| !is_gone[number] && has_column(&all[number]));
        let Some(lacking) = lacking else { return Err(error.into()) };
        is_gone[lacking] = true;
        if !has_others(&is_gone) {
            return Err(error.into());
        }
        models.push([all[lacking].model.to_string(), file.clone(), id.clone(), time.clone()]);
    }
}

/// The table without the columns of the models that are gone.
fn without<'a>(
    forecast: &'a ForecastTable,
    all: &[ModelInTable],
    is_gone: &[bool],
) -> Cow<'a, ForecastTable> {
    let models = all.iter().zip(is_gone).filter(|(_, is_gone)| **is_gone);
    let gone: Vec<usize> = models.flat_map(|(model, _)| places(model)).collect();
    let mut rest = Cow::Borrowed(forecast);
    if !gone.is_empty() {
        let mut place = 0..;
        rest.to_mut().columns.retain(|_| place.next().is_some_and(|place| !gone.contains(&place)));
    }
    rest
}

/// The columns of a model.
fn places(model: &ModelInTable) -> impl Iterator<Item = usize> {
    let others = model.quantiles.iter().map(|(_, place)| *place);
    model.number.into_iter().chain(others).chain(model.components.iter().map(|(_, place)| *place))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::reconcile::{ReconcileOptions, reconcile};
    use super::super::table_of_rows::table_of_rows;
    use super::*;
    use crate::columns::ColumnNames;
    use foretell_hierarchy::{Hierarchy, Reconciliation};

    #[test]
    fn models_that_lack_a_value_stop_no_others() {
        let hierarchy = Hierarchy::from_levels(&[("a", ["sum"]), ("b", ["sum"])]).unwrap();
        let options = ReconcileOptions::new(Reconciliation::MinTraceOls);
        let run = |columns: &[(&str, &[f64])]| {
            let forecast = table_of_rows(&[("sum", 5), ("a", 5), ("b", 5)], columns);
            of_complete_models(&forecast, "y", |table| {
                reconcile(table, &hierarchy, &ColumnNames::default(), &options)
            })
        };
        let (whole, none): (&[f64], &[f64]) = (&[12.0, 4.0, 5.0], &[12.0, f64::NAN, 5.0]);
        let (found, warning) = run(&[
            ("y", none),
            ("N", none),
            ("M", whole),
            ("L", whole),
            ("L-lo-80", none),
            ("L-hi-80", whole),
        ])
        .unwrap();
        assert_eq!(found.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["y", "M"]);
        for (found, expected) in found.column("M").unwrap().iter().zip([11.0, 5.0, 6.0]) {
            assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
        }
        let told = warning.unwrap().to_string();
        assert!(told.contains("left out: N (series a at 5 in f.csv), L (series a at 5 in f.csv)"), "{told}");
        assert_eq!(run(&[("M", whole)]).unwrap().1, None);
        let error = run(&[("M", none)]).unwrap_err().to_string();
        assert!(error.contains("column `M`: the value of series a at 5"), "{error}");
    }

    /// Numbers are looked at before; what another table lacks, the reconciliation tells.
    #[test]
    fn each_reconciliation_is_of_all_models_that_may_be_complete() {
        let (whole, none): (&[f64], &[f64]) = (&[1.0, 2.0], &[1.0, f64::NAN]);
        let columns = [("N", none), ("M", whole), ("L", none), ("K", whole)];
        let forecast = table_of_rows(&[("a", 5), ("a", 6)], &columns);
        let runs = Cell::new(0);
        let (found, warning) = of_complete_models(&forecast, "y", |table| {
            runs.set(runs.get() + 1);
            let names: Vec<String> = table.columns.iter().map(|(name, _)| name.clone()).collect();
            match names.iter().any(|name| name == "M") {
                true => {
                    let [file, column, id, time] = ["days.csv", "M", "a", "6"].map(str::to_owned);
                    Err(ReconciliationError::Unknown { file, column, id, time }.into())
                }
                false => Ok(names),
            }
        })
        .unwrap();
        assert_eq!((found, runs.get()), (vec!["K".to_owned()], 2));
        let told = warning.unwrap().to_string();
        let expected =
            "N (series a at 6 in f.csv), L (series a at 6 in f.csv), M (series a at 6 in days.csv)";
        assert!(told.contains(expected), "{told}");
    }
}
