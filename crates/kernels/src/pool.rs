//! Pooling over time: [`Pooling`] with stride equal to the window, as `torch.nn.MaxPool1d` and `AvgPool1d` do with
//! `kernel_size = stride = k` and `ceil_mode = True`, where the last window may be shorter; [`MaxOfSteps`] by
//! overlapping windows.

use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads as threads;

/// The number that a window is reduced to.
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
    #[track_caller]
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
    #[track_caller]
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

/// Max pooling over the steps of sequences whose channels are last, as `torch.nn.MaxPool1d` does it with this kernel, stride and
/// padding: what is beyond the ends is never the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxOfSteps {
    /// Steps of a window.
    pub kernel: usize,
    /// Steps from one window to the next.
    pub stride: usize,
    /// Steps that windows reach beyond either end, at most half of the kernel.
    pub padding: usize,
}

impl MaxOfSteps {
    /// The number of windows over `steps` steps.
    pub fn output(self, steps: usize) -> usize {
        let Self { kernel, stride, padding } = self;
        (steps + 2 * padding + stride).saturating_sub(kernel) / stride
    }

    /// The steps of a window that lie within the input.
    fn window(self, steps: usize, i: usize) -> std::ops::Range<usize> {
        let end = i * self.stride + self.kernel;
        (i * self.stride).saturating_sub(self.padding)..(end - self.padding).min(steps)
    }

    #[track_caller]
    fn check(self, x: usize, [batch, steps, channels]: [usize; 3], out: usize) {
        let Self { kernel, stride, padding } = self;
        let sound = stride > 0 && kernel > 0 && padding <= kernel / 2;
        let fit = x == batch * steps * channels && out == batch * self.output(steps) * channels;
        assert!(
            sound && fit && steps > 0,
            "{self:?} over {steps} steps of {channels}: {x} values in, {out} out"
        );
    }

    /// `x [batch, steps, channels]` to `out [batch, output(steps), channels]`; NaN is the largest.
    ///
    /// # Panics
    /// If a length does not fit, there are no steps, or a window is in the padding alone.
    #[track_caller]
    pub fn forward(self, x: &[f32], sizes: [usize; 3], out: &mut [f32]) {
        self.check(x.len(), sizes, out.len());
        let [batch, steps, channels] = sizes;
        if out.is_empty() {
            return;
        }
        let (len, pooled) = (steps * channels, self.output(steps) * channels);
        threads::rows(batch, self.kernel * pooled, [out], |range, [out]| {
            for (b, out) in range.zip(out.chunks_exact_mut(pooled)) {
                for (i, out) in out.chunks_exact_mut(channels).enumerate() {
                    let window = self.window(steps, i);
                    let rows = &x[b * len..][window.start * channels..window.end * channels];
                    let (first, later) = rows.split_at(channels);
                    out.copy_from_slice(first);
                    later.chunks_exact(channels).for_each(|row| simd::max_assign(row, out));
                }
            }
        });
    }

    /// Adds to `grad_x` the gradient of [`MaxOfSteps::forward`], given its result and the gradient of that; the first of
    /// equals takes all of it.
    ///
    /// # Panics
    /// If a length does not fit, there are no steps, or a window is in the padding alone.
    #[track_caller]
    pub fn backward(self, [x, y]: [&[f32]; 2], sizes: [usize; 3], grad: &[f32], grad_x: &mut [f32]) {
        self.check(x.len(), sizes, y.len());
        assert_eq!((grad.len(), grad_x.len()), (y.len(), x.len()), "gradients of {self:?}");
        let [batch, steps, channels] = sizes;
        if y.is_empty() {
            return;
        }
        let (len, pooled) = (steps * channels, self.output(steps) * channels);
        threads::rows(batch, 2 * self.kernel * pooled, [grad_x], |range, [grad_x]| {
            let mut left = Buffer::<f32>::zeroed(channels);
            for (b, grad_x) in range.zip(grad_x.chunks_exact_mut(len)) {
                let (x, at) = (&x[b * len..][..len], b * pooled);
                let outs = y[at..][..pooled].chunks_exact(channels);
                let outs = outs.zip(grad[at..][..pooled].chunks_exact(channels));
                for (i, (y, grad)) in outs.enumerate() {
                    left.copy_from_slice(grad);
                    for step in self.window(steps, i) {
                        let row = step * channels..(step + 1) * channels;
                        simd::max_assign_backward([&x[row.clone()], y], &mut left, &mut grad_x[row]);
                    }
                }
            }
        });
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

    /// Each window on its own; the gradient goes to the first of the largest.
    #[test]
    fn windows_that_overlap_and_reach_beyond_the_ends() {
        for (kernel, stride, padding) in [(3, 2, 1), (2, 2, 0), (5, 1, 2), (1, 3, 0), (3, 3, 1)] {
            let pool = MaxOfSteps { kernel, stride, padding };
            for [batch, steps, channels] in [[1, 2, 1], [2, 7, 3], [3, 8, 17], [2, 5, 1]] {
                if steps + 2 * padding < kernel {
                    continue;
                }
                let out = (steps + 2 * padding - kernel) / stride + 1;
                assert_eq!(pool.output(steps), out);
                // Few different values, so that there are ties.
                let values = crate::testing::numbers(batch * steps * channels, 1);
                let x: Vec<f32> = values.iter().map(|x| x.round() + 0.0).collect();
                let grad = crate::testing::numbers(batch * out * channels, 2);
                let sizes = [batch, steps, channels];
                let (mut y, mut grad_x) = (vec![f32::NAN; grad.len()], vec![1.0; x.len()]);
                pool.forward(&x, sizes, &mut y);
                pool.backward([&x, &y], sizes, &grad, &mut grad_x);
                let mut expected = vec![1.0; x.len()];
                for (b, i, c) in
                    (0..batch).flat_map(|b| (0..out).flat_map(move |i| (0..channels).map(move |c| (b, i, c))))
                {
                    let from = (i * stride).saturating_sub(padding);
                    let places = (from..(i * stride + kernel - padding).min(steps))
                        .map(|t| (b * steps + t) * channels + c);
                    let best = places.reduce(|best, at| if x[at] > x[best] { at } else { best });
                    let (best, at) = (best.unwrap(), (b * out + i) * channels + c);
                    assert_eq!(y[at], x[best], "{pool:?} {sizes:?}");
                    expected[best] += grad[at];
                }
                assert_eq!(grad_x, expected, "{pool:?} {sizes:?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "8 values in, 2 out")]
    fn steps_must_fit() {
        let pool = MaxOfSteps { kernel: 3, stride: 2, padding: 1 };
        pool.forward(&[0.0; 8], [1, 8, 1], &mut [0.0; 2]);
    }
}
