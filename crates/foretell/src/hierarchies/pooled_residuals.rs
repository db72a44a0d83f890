//! Errors of series that have no forecasts of the past: those of the others.

use std::collections::HashSet;

use foretell_data::ForecastTable;
use foretell_estimator::upper_median;
use foretell_hierarchy::Hierarchy;

use crate::warning::Warning;

/// The least that such errors are, as a share of the middle one of the others: a series of which 0 is forecast is not certain.
const LEAST: f64 = 1e-3;

/// The series at the bottom that forecasts of the past have no rows of, and whose errors [`reconcile`](crate::reconcile) takes to be like
/// those of the others; none where these have no rows of any.
pub fn without_past_forecasts(past: &ForecastTable, hierarchy: &Hierarchy) -> Option<Warning> {
    let known: HashSet<&str> = past.ids.iter().map(|id| &**id).collect();
    let bottom = hierarchy.bottom_ids();
    let series: Vec<String> =
        bottom.iter().filter(|id| !known.contains(&***id)).map(ToString::to_string).collect();
    let is_some = !series.is_empty() && series.len() < bottom.len();
    is_some.then_some(Warning::NoPastForecasts { series })
}

/// Gives series whose errors `[series, times]` are all unknown such ones, whose size is the middle one of the others in proportion to that of
/// their forecasts. Whether they are above or below is as good as random: with the same turns for all, two such series would be as one, and
/// the covariance of the errors singular.
pub(super) fn pool_missing(errors: &mut [f64], sizes: &[f64]) {
    let times = errors.len() / sizes.len().max(1);
    let root_mean_square = |errors: &[f64]| {
        let known: Vec<f64> = errors.iter().copied().filter(|error| error.is_finite()).collect();
        let squares: f64 = known.iter().map(|error| error * error).sum();
        (!known.is_empty()).then(|| (squares / known.len() as f64).sqrt())
    };
    let of_others: Vec<(f64, f64)> = errors
        .chunks(times.max(1))
        .zip(sizes)
        .filter_map(|(errors, size)| Some((root_mean_square(errors)?, *size)))
        .collect();
    let shares = of_others.iter().filter(|(_, size)| *size > 0.0).map(|(error, size)| error / size);
    let (share, error) = (middle(shares), middle(of_others.iter().map(|(error, _)| *error)));
    for (series, (errors, size)) in errors.chunks_mut(times.max(1)).zip(sizes).enumerate() {
        if errors.iter().all(|error| error.is_nan()) {
            let size = (share * size).max(LEAST * error);
            errors.iter_mut().enumerate().for_each(|(time, error)| *error = size * sign(series, time));
        }
    }
}

/// 1 or -1, by the bits of both numbers as SplitMix64 mixes them.
fn sign(series: usize, time: usize) -> f64 {
    let mut bits = (((series as u64) << 32) | time as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    if (bits ^ (bits >> 31)) & 1 == 0 { 1.0 } else { -1.0 }
}

/// The middle one of some numbers; 0 of none.
fn middle(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
    upper_median(&mut numbers).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use foretell_hierarchy::Reconciliation;

    use super::super::reconcile::{ReconcileOptions, reconcile};
    use super::super::table_of_rows::table_of_rows;
    use super::*;
    use crate::columns::ColumnNames;

    #[test]
    fn series_without_errors_have_those_of_others_in_proportion() {
        let nan = f64::NAN;
        // A tenth of the forecasts of the first two, and of the third.
        let mut errors = [1.0, -1.0, 1.0, 2.0, nan, -2.0, nan, nan, nan, nan, nan, nan];
        pool_missing(&mut errors, &[10.0, 20.0, 50.0, 0.0]);
        assert_eq!(
            errors[6..].iter().map(|error| error.abs()).collect::<Vec<_>>(),
            [5.0, 5.0, 5.0, 0.002, 0.002, 0.002]
        );
        assert!(errors[4].is_nan(), "{errors:?}");
    }

    #[test]
    fn two_new_series_vary_apart() {
        let times = 200;
        let mut errors: Vec<f64> = (0..times).map(|time| (time % 3) as f64 - 1.0).collect();
        errors.extend(vec![f64::NAN; 2 * times]);
        pool_missing(&mut errors, &[10.0, 10.0, 10.0]);
        let [old, one, other] = [0, 1, 2].map(|series| &errors[series * times..][..times]);
        let mean = |one: &[f64], other: &[f64]| {
            one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>() / times as f64
        };
        let size = mean(one, one);
        assert!((size - mean(old, old)).abs() < 1e-9 && size > 0.5, "{size}");
        for (a, b) in [(one, other), (one, old), (other, old)] {
            assert!(mean(a, b).abs() < 0.25 * size, "{}", mean(a, b));
        }
    }

    #[test]
    fn a_new_product_does_not_stop_reconciliation_by_errors() {
        let hierarchy = Hierarchy::new(["a", "b", "new"], [("all", vec![0, 1, 2])]).unwrap();
        let rows = |ids: &[&'static str], times: i64| -> Vec<(&'static str, i64)> {
            ids.iter().flat_map(|id| (0..times).map(move |time| (*id, time))).collect()
        };
        let old = rows(&["a", "b", "all"], 8);
        let forecast: Vec<f64> = (0..24).map(|row| [10.0, 20.0, 30.0][row / 8]).collect();
        let mut y: Vec<f64> =
            (0..16).map(|row| forecast[row] * (1.0 + 0.1 * (row as f64 * 2.3).sin())).collect();
        y.extend((0..8).map(|row| y[row] + y[row + 8]).collect::<Vec<_>>());
        let past = table_of_rows(&old, &[("M", &forecast), ("y", &y)]);
        let future = table_of_rows(&rows(&["all", "a", "b", "new"], 1), &[("M", &[50.0, 10.0, 20.0, 40.0])]);
        assert_eq!(
            without_past_forecasts(&past, &hierarchy),
            Some(Warning::NoPastForecasts { series: vec!["new".to_owned()] })
        );
        for method in [Reconciliation::MinTraceVar, Reconciliation::MinTraceShrink] {
            let options = ReconcileOptions::new(method).residuals(Some(&past));
            let found = reconcile(&future, &hierarchy, &ColumnNames::default(), &options).unwrap();
            let found = found.column("M").unwrap();
            assert!((found[0] - found[1..].iter().sum::<f64>()).abs() < 1e-9, "{found:?}");
            // The largest of them takes most of the 20 that are too many.
            let [a, b, new] = [10.0 - found[1], 20.0 - found[2], 40.0 - found[3]];
            assert!(a.abs() < b.abs() && b.abs() < new, "{found:?}");
        }
    }
}
