//! Forecasts of steps and of their sums, changed until they add up.

use foretell::hierarchy::{Evidence, Hierarchy, HierarchyError, Reconciler, Reconciliation, Residuals};

/// The hierarchy of `h` steps and of their sums over periods of these steps.
pub(super) fn hierarchy(h: usize, periods: &[usize]) -> Result<Hierarchy, HierarchyError> {
    let steps: Vec<String> = (0..h).map(|step| format!("step {step}")).collect();
    let sums = periods.iter().flat_map(|&period| (0..h / period).map(move |place| (period, place)));
    let sums: Vec<(usize, usize)> = sums.collect();
    let names = sums.iter().map(|(period, place)| format!("{period} steps, {place}"));
    let rows: Vec<String> = names.chain(steps.iter().cloned()).collect();
    let of_sums = sums
        .iter()
        .flat_map(|&(period, place)| (0..h).map(move |step| if step / period == place { 1.0 } else { 0.0 }));
    let of_steps = (0..h).flat_map(|row| (0..h).map(move |step| if step == row { 1.0 } else { 0.0 }));
    Hierarchy::from_summing_matrix(&rows, &steps, &of_sums.chain(of_steps).collect::<Vec<f64>>())
}

/// The forecasts of the steps, reconciled with those of sums over `periods`, one after the other. `variances` are those of errors, of each
/// period and then of steps; without them each sum has as many as it has steps.
pub(super) fn reconciled(
    hierarchy: &Hierarchy,
    periods: &[usize],
    method: Reconciliation,
    variances: Option<&[f64]>,
    (sums, steps): (&[f64], &[f64]),
) -> Result<Vec<f64>, HierarchyError> {
    let h = steps.len();
    let mut values = [sums, steps].concat();
    let errors = variances.map(|variances| {
        let counts = periods.iter().map(|period| h / period).chain([h]);
        // Two errors of the same size have the variance of each of them.
        let errors = counts
            .zip(variances)
            .flat_map(|(count, variance)| std::iter::repeat_n([variance.sqrt(); 2], count).flatten());
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
        let hierarchy = hierarchy(steps.len(), &periods).expect("a hierarchy");
        for (method, given) in [
            (Reconciliation::BottomUp, None),
            (Reconciliation::MinTraceOls, None),
            (Reconciliation::MinTraceWls, None),
            (Reconciliation::MinTraceVar, Some(&variances[..])),
        ] {
            let found = reconciled(&hierarchy, &periods, method, given, (&sums, &steps)).expect("forecasts");
            for (found, expected) in found.iter().zip(numbers(&fixture["reconciled"][method.name()])) {
                assert!((found - expected).abs() < 1e-6 * expected.abs(), "{method}: {found} and {expected}");
            }
        }
    }
}
