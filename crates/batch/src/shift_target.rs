//! The inputs of a model that forecasts step by step, in training.

use foretell_nn::{Tensor, Windows};

/// Shifts the target by one step (teacher forcing): place t holds the target of step t and the columns of step t + 1;
/// historic columns are zeros in the horizon. `ahead` and `ahead_mask`, `[batch, horizon]`, continue the target; its
/// last step is only ever a target, so it is left out.
///
/// ```
/// use foretell_batch::{Tensor, Windows, shift_target};
///
/// let row = |values: &[f32]| Tensor::from_slice(values, [1, values.len()]);
/// let column = |values: &[f32]| Tensor::from_slice(values, [1, values.len(), 1]);
/// let windows = Windows {
///     insample_y: row(&[1.0, 2.0, 3.0]),
///     insample_mask: row(&[0.0, 1.0, 1.0]),
///     hist_exog: Some(column(&[10.0, 20.0, 30.0])),
///     futr_exog: Some(column(&[100.0, 200.0, 300.0, 400.0, 500.0])),
///     stat_exog: Some(row(&[7.0])),
/// };
/// let shifted = shift_target(&windows, &row(&[4.0, 5.0]), &row(&[1.0, 0.0]));
/// assert_eq!(shifted.insample_y.to_vec(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(shifted.insample_mask.to_vec(), [0.0, 1.0, 1.0, 1.0]);
/// assert_eq!(shifted.hist_exog.unwrap().to_vec(), [20.0, 30.0, 0.0, 0.0]);
/// assert_eq!(shifted.futr_exog.unwrap().to_vec(), [200.0, 300.0, 400.0, 500.0]);
/// assert_eq!(shifted.stat_exog.unwrap().to_vec(), [7.0]);
/// ```
pub fn shift_target(windows: &Windows, ahead: &Tensor, ahead_mask: &Tensor) -> Windows {
    let (batch, horizon) = (ahead.shape()[0], ahead.shape()[1]);
    let history = windows.insample_y.shape()[1];
    let onward = |past: &Tensor, ahead: &Tensor| Tensor::concat(&[past, &ahead.narrow(1, 0, horizon - 1)], 1);
    Windows {
        insample_y: onward(&windows.insample_y, ahead),
        insample_mask: onward(&windows.insample_mask, ahead_mask),
        hist_exog: windows.hist_exog.as_ref().map(|columns| {
            let zeros = Tensor::zeros([batch, horizon, columns.shape()[2]]);
            Tensor::concat(&[&columns.narrow(1, 1, history - 1), &zeros], 1)
        }),
        futr_exog: windows.futr_exog.as_ref().map(|columns| columns.narrow(1, 1, history + horizon - 1)),
        stat_exog: windows.stat_exog.clone(),
    }
}
