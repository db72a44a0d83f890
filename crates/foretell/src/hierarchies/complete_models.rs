//! Models that lack a value in a table of forecasts: others are reconciled without them.

use foretell_data::ForecastTable;
use foretell_tables::ModelInTable;

use crate::error::Error;
use crate::reconciliation_error::ReconciliationError;
use crate::warning::Warning;

/// What a reconciliation makes of the forecasts of those models of a table that have all of their values, as [`reconcile`](crate::reconcile)
/// needs them, with a warning of those that are left out since they lack one.
///
/// # Errors
/// Those of the reconciliation; [`ReconciliationError::Unknown`] where no model has all values.
pub fn of_complete_models<T>(
    forecast: &ForecastTable,
    target: &str,
    reconciled: impl Fn(&ForecastTable) -> Result<T, Error>,
) -> Result<(T, Option<Warning>), Error> {
    let (mut rest, mut models) = (forecast.clone(), Vec::new());
    loop {
        let error = match reconciled(&rest) {
            Err(Error::Reconciliation(error @ ReconciliationError::Unknown { .. })) => error,
            done => {
                let warning = (!models.is_empty()).then_some(Warning::IncompleteModels { models });
                return Ok((done?, warning));
            }
        };
        let ReconciliationError::Unknown { column, id, time, .. } = &error else { return Err(error.into()) };
        let all = rest.models(target);
        let is_in = |model: &&ModelInTable| places(model).any(|place| rest.columns[place].0 == *column);
        let Some(lacking) = all.iter().find(is_in) else { return Err(error.into()) };
        if !all.iter().any(|model| model.is_forecast() && model.model != lacking.model) {
            return Err(error.into());
        }
        models.push([lacking.model.to_string(), id.clone(), time.clone()]);
        let gone: Vec<usize> = places(lacking).collect();
        let mut place = 0..;
        rest.columns.retain(|_| place.next().is_some_and(|place| !gone.contains(&place)));
    }
}

/// The columns of a model.
fn places(model: &ModelInTable) -> impl Iterator<Item = usize> {
    let others = model.quantiles.iter().map(|(_, place)| *place);
    model.number.into_iter().chain(others).chain(model.components.iter().map(|(_, place)| *place))
}

#[cfg(test)]
mod tests {
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
        assert!(told.contains("left out: N (series a at 5), L (series a at 5)"), "{told}");
        assert_eq!(run(&[("M", whole)]).unwrap().1, None);
        let error = run(&[("M", none)]).unwrap_err().to_string();
        assert!(error.contains("column `M`: the value of series a at 5"), "{error}");
    }
}
