//! Forecasts of windows that do not depend on each other, on all threads.

use foretell_threads::Workers;

use crate::error::EstimatorError;
use crate::forecasts::Cutoff;

/// The forecasts of windows, `[cutoffs, each]`: `forecast` is called once for each and writes its numbers, which are zeros before.
///
/// # Errors
/// The error of the first window that has one.
pub fn each_window(
    cutoffs: &[Cutoff],
    each: usize,
    workers: &Workers,
    forecast: impl Fn(Cutoff, &mut [f32]) -> Result<(), EstimatorError> + Sync,
) -> Result<Vec<f32>, EstimatorError> {
    let mut values = vec![0.0; cutoffs.len() * each];
    let mut windows: Vec<(&mut [f32], Result<(), EstimatorError>)> =
        values.chunks_exact_mut(each).map(|window| (window, Ok(()))).collect();
    workers.each(&mut windows, true, |i, (out, result)| *result = forecast(cutoffs[i], out));
    windows.into_iter().try_for_each(|(_, result)| result)?;
    Ok(values)
}
