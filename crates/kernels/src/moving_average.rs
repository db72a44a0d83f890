//! The centred moving average of DLinear's series decomposition (Zeng et al. 2022, section 4), with the
//! ends of the row repeated: `trend[t] = mean(x[t - k/2 ..= t + k/2])`.

/// Averages rows of `len` steps over `kernel` (odd) steps: `x [rows, len]` to `out [rows, len]`.
///
/// Sums are kept in `f64`, so the running total does not drift.
///
/// # Panics
/// If `kernel` is even, or the slices differ in length or do not hold whole rows.
#[track_caller]
pub fn forward(x: &[f32], len: usize, kernel: usize, out: &mut [f32]) {
    let half = check(x.len(), len, kernel, out.len());
    let norm = 1.0 / kernel as f64;
    for (row, averages) in x.chunks_exact(len.max(1)).zip(out.chunks_exact_mut(len.max(1))) {
        let (first, last) = (f64::from(row[0]), f64::from(row[len - 1]));
        // The part of the window around step 0 that is in the row, and what is repeated before and after.
        let inside = (half + 1).min(len);
        let mut total: f64 = row[..inside].iter().map(|&x| f64::from(x)).sum();
        total += first * half as f64 + last * (half + 1 - inside) as f64;
        for (t, average) in averages.iter_mut().enumerate() {
            *average = (total * norm) as f32;
            let entering = row.get((t + half).saturating_add(1)).map_or(last, |&x| f64::from(x));
            let leaving = t.checked_sub(half).map_or(first, |s| f64::from(row[s]));
            total += entering - leaving;
        }
    }
}

/// Adds to `grad_x [rows, len]` the gradient of [`forward`], given that of its output.
///
/// # Panics
/// If `kernel` is even, or the slices differ in length or do not hold whole rows.
#[track_caller]
pub fn backward(grad_out: &[f32], len: usize, kernel: usize, grad_x: &mut [f32]) {
    let half = check(grad_out.len(), len, kernel, grad_x.len());
    let norm = 1.0 / kernel as f64;
    for (grads, row) in grad_out.chunks_exact(len.max(1)).zip(grad_x.chunks_exact_mut(len.max(1))) {
        let at = |t: usize| grads.get(t).map_or(0.0, |&g| f64::from(g));
        // x[s] is in the averages of s - half ..= s + half; the repeated ends are in those further out too.
        let mut total: f64 = grads[..(half + 1).min(len)].iter().map(|&g| f64::from(g)).sum();
        for (s, grad) in row.iter_mut().enumerate() {
            *grad += (total * norm) as f32;
            total += at((s + half).saturating_add(1)) - s.checked_sub(half).map_or(0.0, at);
        }
        // The average at t reaches half - t steps before the row, all of which are x[0].
        for t in 0..half.min(len) {
            let beyond = (half - t) as f64 * norm;
            row[0] += (at(t) * beyond) as f32;
            row[len - 1] += (at(len - 1 - t) * beyond) as f32;
        }
    }
}

/// Half the window, once the sizes are known to fit.
fn check(values: usize, len: usize, kernel: usize, other: usize) -> usize {
    assert!(kernel % 2 == 1, "a centred moving average needs an odd window, got {kernel}");
    let whole = values == other && (len == 0 || values.is_multiple_of(len));
    assert!(whole, "moving average over rows of {len}: {values} values in, {other} out");
    kernel / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_with_repeated_ends() {
        let mut out = [0.0; 4];
        forward(&[1.0, 2.0, 6.0, 3.0], 4, 3, &mut out);
        assert_eq!(out, [4.0 / 3.0, 3.0, 11.0 / 3.0, 4.0]);
        let mut wide = [0.0; 2];
        forward(&[1.0, 2.0], 2, 7, &mut wide);
        assert_eq!(wide, [10.0 / 7.0, 11.0 / 7.0]);
    }

    #[test]
    fn a_window_far_wider_than_the_row_is_the_mean_of_its_ends() {
        let mut out = [0.0; 3];
        forward(&[1.0, 50.0, 3.0], 3, usize::MAX, &mut out);
        assert_eq!(out, [2.0; 3]);
        let mut grad = [0.0; 3];
        backward(&[1.0, 1.0, 1.0], 3, usize::MAX, &mut grad);
        assert_eq!([grad[0], grad[2]], [1.5, 1.5]);
        assert!(grad[1] < 1e-12, "{}", grad[1]);
    }

    #[test]
    fn backward_is_the_transpose_of_forward() {
        for (len, kernel) in [(1, 1), (1, 5), (2, 7), (5, 3), (6, 11), (9, 5)] {
            for s in 0..len {
                let mut unit = vec![0.0; len];
                unit[s] = 1.0;
                let mut column = vec![0.0; len];
                forward(&unit, len, kernel, &mut column);
                for (t, expected) in column.into_iter().enumerate() {
                    let (mut seed, mut grad) = (vec![0.0; len], vec![0.0; len]);
                    seed[t] = 1.0;
                    backward(&seed, len, kernel, &mut grad);
                    assert!(
                        (grad[s] - expected).abs() < 1e-6,
                        "len {len} kernel {kernel} s {s} t {t}: {} {expected}",
                        grad[s]
                    );
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "odd window, got 4")]
    fn an_even_window_panics() {
        forward(&[0.0; 4], 4, 4, &mut [0.0; 4]);
    }
}
