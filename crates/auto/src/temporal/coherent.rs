//! Forecasts of steps and of their sums, changed until they add up.

use std::ops::Range;

use foretell::hierarchy::{Evidence, Hierarchy, HierarchyError, Reconciler, Reconciliation, Residuals};

/// The steps of a sum, and the number of its period.
pub(super) type Sum = (usize, Range<usize>);

/// The sums of `h` steps over periods of these steps, one period after the other.
pub(super) fn whole_periods(h: usize, periods: &[usize]) -> Vec<Sum> {
    let of_period = |(number, &steps): (usize, &usize)| {
        (0..h / steps).map(move |place| (number, place * steps..(place + 1) * steps))
    };
    periods.iter().enumerate().flat_map(of_period).collect()
}

/// The hierarchy of `h` steps and of these sums of them.
pub(super) fn hierarchy(h: usize, sums: &[Sum]) -> Result<Hierarchy, HierarchyError> {
    let steps = (0..h).map(|step| format!("step {step}"));
    let of_sum = |(place, (_, steps)): (usize, &Sum)| {
        (format!("sum {place}"), steps.clone().map(|step| step as u32).collect())
    };
    Hierarchy::new(steps, sums.iter().enumerate().map(of_sum))
}

/// The forecasts of the steps, reconciled with those of these sums. `variances` are those of errors, of each period and then of steps;
/// without them each sum has as many as it has steps.
pub(super) fn reconciled(
    hierarchy: &Hierarchy,
    of: &[Sum],
    method: Reconciliation,
    variances: Option<&[f64]>,
    (sums, steps): (&[f64], &[f64]),
) -> Result<Vec<f64>, HierarchyError> {
    let mut values = [sums, steps].concat();
    let errors = variances.map(|variances| {
        let of_steps = std::iter::repeat_n(variances.last(), steps.len()).flatten();
        // Two errors of the same size have the variance of each of them.
        let errors =
            of.iter().map(|(period, _)| &variances[*period]).chain(of_steps).flat_map(|v| [v.sqrt(); 2]);
        Residuals::new(hierarchy.n_series(), &errors.collect::<Vec<f64>>())
    });
    let residuals = errors.transpose()?;
    let method = match (method, &residuals) {
        (Reconciliation::MinTraceVar, None) => Reconciliation::MinTraceWls,
        (method, _) => method,
    };
    let evidence = Evidence { residuals: residuals.as_ref(), shares: None };
    Reconciler::new(hierarchy, method, &evidence)?.reconcile(&mut values, 1);
    Ok(values.split_off(sums.len()))
}

#[cfg(test)]
mod tests {
    use foretell::Value;

    use super::*;

    /// Of hierarchicalforecast (`compare/hierarchy.py`).
    const FIXTURE: &str = include_str!("../../tests/fixtures/temporal.json");

    #[test]
    fn forecasts_are_reconciled_over_time_as_by_hierarchicalforecast() {
        let fixture: Value = serde_json::from_str(FIXTURE).expect("JSON");
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().expect("numbers").iter().map(|value| value.as_f64().expect("a number")).collect()
        };
        let [steps, sums, variances] = ["steps", "sums", "variances"].map(|name| numbers(&fixture[name]));
        let periods: Vec<usize> =
            numbers(&fixture["periods"]).iter().map(|period| *period as usize).collect();
        let of = whole_periods(steps.len(), &periods);
        let hierarchy = hierarchy(steps.len(), &of).expect("a hierarchy");
        for (method, given) in [
            (Reconciliation::BottomUp, None),
            (Reconciliation::MinTraceOls, None),
            (Reconciliation::MinTraceWls, None),
            (Reconciliation::MinTraceVar, Some(&variances[..])),
        ] {
            let found = reconciled(&hierarchy, &of, method, given, (&sums, &steps)).expect("forecasts");
            for (found, expected) in found.iter().zip(numbers(&fixture["reconciled"][method.name()])) {
                assert!((found - expected).abs() < 1e-6 * expected.abs(), "{method}: {found} and {expected}");
            }
        }
    }
}
