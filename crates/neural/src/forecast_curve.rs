//! How many forecasts a second a network makes, by how many windows it forecasts at a time.

use foretell_calendar::Freq;
use foretell_data::Span;
use foretell_estimator::{
    Asked, Estimator, EstimatorError, MemoryEstimate, MemoryLimit, Trained, Workers, made_up_panel,
};
use foretell_messages::Setting;
use foretell_nn::{Table, WeightPrecision, check_amp};
use serde::Serialize;

use crate::acceleration::Acceleration;
use crate::error::NetworkError;
use crate::spec::NetworkSpec;
use crate::synthetic::{WARM_UP, median_seconds};
use crate::trained_network::TrainedNetwork;

/// The share of the best rate with which a batch is large enough.
const ENOUGH: f64 = 0.9;

/// The least runs of a batch, and the seconds that they take at least.
const RUNS: usize = 7;
const SECONDS: f64 = 0.15;

/// The forecasts a second of a network in batches of several sizes, as [`forecast_curve`] measures them.
#[derive(Clone, Debug, Serialize)]
pub struct ForecastCurve {
    /// The model.
    pub model: String,
    /// The vector instructions and optimisations used.
    pub acceleration: Acceleration,
    /// The format of the weights.
    pub precision: WeightPrecision,
    /// Threads used.
    pub threads: usize,
    /// Numbers that training changes.
    pub parameters: usize,
    /// The measured batches, in the order in which they were asked for.
    pub points: Vec<CurvePoint>,
    /// The smallest of these batches whose rate is 90 % of the best one or more: larger ones take longer and bring little.
    pub choice: usize,
}

/// The forecasts a second of batches of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Windows that are forecast at a time.
    pub batch: usize,
    /// The median time of a batch in milliseconds.
    pub ms: f64,
    /// Windows that are forecast in a second.
    pub per_second: f64,
}

/// Measures the forecasts of a network in batches of these numbers of windows, on `threads` threads (0: as many as the machine has), in no more
/// memory than `limit`: from the series of a panel to numbers on their scale, by [`Trained::forecast`]. The weights are those before a training, held in `precision`, and the values are made up; no time depends on either. A window
/// of a multivariate network holds all of its series.
///
/// # Errors
/// If the hyper-parameters do not fit together, there are more than 1024 threads, the model and its largest batch do not fit into
/// memory, or the program was built without this precision (the feature `amp`).
///
/// # Panics
/// If there are no batches, or one is 0.
pub fn forecast_curve(
    spec: &NetworkSpec,
    batches: &[usize],
    threads: usize,
    precision: WeightPrecision,
    limit: &MemoryLimit,
) -> Result<ForecastCurve, NetworkError> {
    assert!(!batches.is_empty() && !batches.contains(&0), "batches of {batches:?} windows");
    check_amp(precision.name())?;
    spec.check()?;
    let workers = Workers::new(threads)?;
    let mut table = Table::default();
    let network = spec.build(&mut table)?;
    let largest = batches.iter().copied().max().unwrap_or(1);
    let remedy = || format!("choose smaller layers, or lower h, input_size or {}", Setting::Batch);
    let held = MemoryEstimate::default()
        .and_numbers("parameters", table.total_len())
        .and("weights as forecasts hold them", table.held_copies_bytes(precision) as u64);
    held.clone().check(limit, "the bench", remedy())?;
    let mut params = table.initialise(spec.common().random_seed);
    params.hold(precision);
    let network = TrainedNetwork::new(spec.clone(), network, params, None);
    let needs = spec.needs();
    let (h, n_series) = (spec.horizon(), needs.n_series.unwrap_or(1));
    let forecasts = network.forecast_memory(largest.saturating_mul(n_series), h, workers.threads());
    held.and_all(forecasts).check(limit, "the bench", remedy())?;

    let freq = Freq::parse("1").expect("integers");
    let mut points = Vec::new();
    for &batch in batches {
        // A window begins with every row from the first that has a whole history.
        let rows = needs.rows_of_a_forecast() + h + batch - 1;
        let panel = made_up_panel(spec, freq, n_series, rows).map_err(EstimatorError::from)?;
        let span = Span::Test { test_size: h + batch - 1, step_size: 1 };
        let asked = Asked { span, h, quantiles: None };
        let mut forecast = || network.forecast(&panel, &asked, &workers).map(drop);
        (0..WARM_UP.min(RUNS)).try_for_each(|_| forecast())?;
        let (seconds, _) = median_seconds(&mut forecast, RUNS, SECONDS)?;
        points.push(CurvePoint { batch, ms: seconds * 1e3, per_second: batch as f64 / seconds });
    }
    Ok(ForecastCurve {
        model: spec.name().to_owned(),
        acceleration: Acceleration::current(),
        precision,
        threads: workers.threads(),
        parameters: network.parameters(),
        choice: choice(&points),
        points,
    })
}

/// The smallest batch whose rate is near the best one.
fn choice(points: &[CurvePoint]) -> usize {
    let best = points.iter().map(|point| point.per_second).fold(0.0, f64::max);
    let enough = points.iter().filter(|point| point.per_second >= ENOUGH * best);
    enough.map(|point| point.batch).min().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_smallest_batch_near_the_best_rate_is_chosen() {
        let chosen = |rates: &[f64]| {
            let point =
                |(place, &per_second): (usize, &f64)| CurvePoint { batch: 1 << place, ms: 1.0, per_second };
            choice(&rates.iter().enumerate().map(point).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[10.0, 50.0, 89.0, 90.0, 100.0, 99.0]), 8);
        assert_eq!(chosen(&[100.0, 100.0, 50.0]), 1);
        assert_eq!(chosen(&[1.0, 2.0, 4.0]), 4);
    }

    #[test]
    fn networks_of_one_series_and_of_all_are_measured_with_what_they_read() {
        let limit = MemoryLimit::of_machine();
        let columns = [
            ("hist_exog_list", json!(["a"])),
            ("futr_exog_list", json!(["b"])),
            ("stat_exog_list", json!(["c"])),
        ];
        let set = |spec: NetworkSpec, (name, value): (&str, _)| spec.set(name, value).unwrap();
        let mlp = columns
            .into_iter()
            .fold(NetworkSpec::new("MLP", 3, 6).unwrap(), set)
            .set("hidden_size", json!(8))
            .unwrap();
        let lstm = [
            ("recurrent", json!(true)),
            ("encoder_hidden_size", json!(4)),
            ("decoder_hidden_size", json!(4)),
        ];
        let lstm = lstm.into_iter().fold(NetworkSpec::new("LSTM", 3, 6).unwrap(), set);
        let all = [("n_series", json!(2)), ("ff_dim", json!(4))];
        let all = all.into_iter().fold(NetworkSpec::new("TSMixer", 3, 6).unwrap(), set);
        for spec in [mlp, lstm, all] {
            let curve = forecast_curve(&spec, &[1, 3], 1, WeightPrecision::F32, &limit).unwrap();
            assert_eq!((&*curve.model, curve.threads), (spec.name(), 1));
            assert_eq!(curve.points.iter().map(|point| point.batch).collect::<Vec<_>>(), [1, 3]);
            for CurvePoint { batch, ms, per_second } in curve.points {
                assert!(
                    ms > 0.0 && (per_second * ms / 1e3 / batch as f64 - 1.0).abs() < 1e-9,
                    "{ms} {per_second}"
                );
            }
            assert!([1, 3].contains(&curve.choice));
        }
        let small = MemoryLimit::of_bytes(10_000);
        let error =
            forecast_curve(&NetworkSpec::new("MLP", 3, 6).unwrap(), &[1], 1, WeightPrecision::F32, &small);
        assert!(matches!(error, Err(NetworkError::Memory(_))), "{error:?}");
    }
}
