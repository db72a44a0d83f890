//! Pooling over time with stride equal to the window, as `torch.nn.MaxPool1d` and `AvgPool1d` do with
//! `kernel_size = stride = k` and `ceil_mode = True`: the last window holds what is left of the row.

/// What a window is reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The largest value; the first of equals takes the whole gradient. NaN wins, as in PyTorch.
    Max,
    /// The mean of the values, those beyond the end not counted.
    Average,
}

/// The number of windows of `kernel` steps that cover `len` steps.
pub fn pooled_len(len: usize, kernel: usize) -> usize {
    len.div_ceil(kernel)
}

impl Pooling {
    /// Pools rows of `len` steps: `x [rows, len]` to `out [rows, pooled_len(len, kernel)]`.
    ///
    /// # Panics
    /// If the slices do not hold the same number of rows, or `kernel` is 0.
    pub fn forward(self, x: &[f32], len: usize, kernel: usize, out: &mut [f32]) {
        for (row, pooled) in
            rows(x, len, kernel, out.len()).zip(out.chunks_exact_mut(pooled_len(len, kernel).max(1)))
        {
            for (window, value) in row.chunks(kernel).zip(pooled) {
                *value = match self {
                    Self::Max => window[argmax(window)],
                    Self::Average => window.iter().sum::<f32>() / window.len() as f32,
                };
            }
        }
    }

    /// Adds to `grad_x [rows, len]` the gradient of [`Pooling::forward`], given that of its output.
    ///
    /// # Panics
    /// If the slices do not hold the same number of rows, or `kernel` is 0.
    pub fn backward(self, x: &[f32], len: usize, kernel: usize, grad_out: &[f32], grad_x: &mut [f32]) {
        assert_eq!(x.len(), grad_x.len(), "pooling: {} values, {} gradients", x.len(), grad_x.len());
        let pooled = pooled_len(len, kernel).max(1);
        for ((row, grad), grad_row) in rows(x, len, kernel, grad_out.len())
            .zip(grad_out.chunks_exact(pooled))
            .zip(grad_x.chunks_exact_mut(len.max(1)))
        {
            for ((window, &grad), grad_window) in
                row.chunks(kernel).zip(grad).zip(grad_row.chunks_mut(kernel))
            {
                match self {
                    Self::Max => grad_window[argmax(window)] += grad,
                    Self::Average => {
                        let share = grad / window.len() as f32;
                        grad_window.iter_mut().for_each(|value| *value += share);
                    }
                }
            }
        }
    }
}

/// The rows of `x`, once the sizes are known to fit.
fn rows(x: &[f32], len: usize, kernel: usize, pooled: usize) -> std::slice::ChunksExact<'_, f32> {
    assert!(kernel > 0, "pooling over windows of 0 steps");
    let whole =
        len == 0 || (x.len().is_multiple_of(len) && x.len() / len * pooled_len(len, kernel) == pooled);
    assert!(whole, "pooling rows of {len} by {kernel}: {} values in, {pooled} out", x.len());
    x.chunks_exact(len.max(1))
}

/// The position of the largest value: the first NaN if there is one, else the first of equals.
fn argmax(window: &[f32]) -> usize {
    let mut best = 0;
    for (i, &value) in window.iter().enumerate().skip(1) {
        if value > window[best] || (value.is_nan() && !window[best].is_nan()) {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_window_holds_the_rest() {
        let x = [1.0, 5.0, 2.0, 3.0, 4.0, 0.0, -1.0, -2.0, 7.0, 7.0];
        let mut max = [0.0; 4];
        Pooling::Max.forward(&x, 5, 3, &mut max);
        assert_eq!(max, [5.0, 4.0, 0.0, 7.0]);
        let mut average = [0.0; 4];
        Pooling::Average.forward(&x, 5, 3, &mut average);
        assert_eq!(average, [8.0 / 3.0, 3.5, -1.0, 7.0]);
    }

    #[test]
    fn gradients_go_where_the_values_came_from() {
        let x = [1.0, 5.0, 5.0, 3.0, 4.0];
        let mut grad = [1.0; 5];
        Pooling::Max.backward(&x, 5, 3, &[10.0, 20.0], &mut grad);
        assert_eq!(grad, [1.0, 11.0, 1.0, 1.0, 21.0]);
        let mut grad = [0.0; 5];
        Pooling::Average.backward(&x, 5, 3, &[9.0, 4.0], &mut grad);
        assert_eq!(grad, [3.0, 3.0, 3.0, 2.0, 2.0]);
    }

    #[test]
    fn nan_is_the_largest() {
        let mut out = [0.0];
        Pooling::Max.forward(&[1.0, f32::NAN, 2.0], 3, 3, &mut out);
        assert!(out[0].is_nan());
    }

    #[test]
    #[should_panic(expected = "pooling rows of 4 by 2: 8 values in, 3 out")]
    fn sizes_must_fit() {
        Pooling::Max.forward(&[0.0; 8], 4, 2, &mut [0.0; 3]);
    }
}
