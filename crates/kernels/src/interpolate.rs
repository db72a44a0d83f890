//! Interpolation of a row of knots to another length, as `torch.nn.functional.interpolate` does with
//! `align_corners=False`: the knots are the centres of equal cells.

/// How values between knots are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The knot of the cell that the position falls into, rounded down (torch's `nearest`).
    Nearest,
    /// A straight line between the two neighbours, constant beyond the outer knots.
    Linear,
    /// Cubic convolution over four neighbours with a = -0.75, the outer knots repeated (torch's `bicubic`
    /// along one dimension; R. Keys 1981, eq. 4 with another a).
    Cubic,
}

/// The weights of up to four neighbouring knots for each output position: computed once, applied to many
/// rows.
#[derive(Clone, Debug)]
pub struct Resampler {
    knots: usize,
    taps: Vec<Tap>,
}

/// Where one output value comes from.
#[derive(Clone, Copy, Debug)]
struct Tap {
    knot: [usize; 4],
    weight: [f32; 4],
}

impl Resampler {
    /// Computes the weights that take `knots` values to `len`.
    ///
    /// # Panics
    /// If there are no knots but values are asked for.
    #[track_caller]
    pub fn new(kind: Interpolation, knots: usize, len: usize) -> Self {
        assert!(knots > 0 || len == 0, "cannot interpolate {len} values from no knots");
        let ratio = knots as f32 / len as f32;
        let taps = (0..len).map(|i| Tap::new(kind, knots, ratio, i)).collect();
        Self { knots, taps }
    }

    /// The number of knots in a row.
    pub fn knots(&self) -> usize {
        self.knots
    }

    /// The number of values that a row becomes.
    pub fn output_len(&self) -> usize {
        self.taps.len()
    }

    /// Interpolates rows: `x [rows, knots]` to `out [rows, len]`.
    ///
    /// # Panics
    /// If the slices do not hold the same number of whole rows.
    #[track_caller]
    pub fn forward(&self, x: &[f32], out: &mut [f32]) {
        self.check(x.len(), out.len());
        for (row, values) in
            x.chunks_exact(self.knots.max(1)).zip(out.chunks_exact_mut(self.taps.len().max(1)))
        {
            for (tap, value) in self.taps.iter().zip(values) {
                *value = tap.knot.iter().zip(tap.weight).map(|(&knot, weight)| row[knot] * weight).sum();
            }
        }
    }

    /// Adds to `grad_x [rows, knots]` the gradient of [`Resampler::forward`], given that of its output.
    ///
    /// # Panics
    /// If the slices do not hold the same number of whole rows.
    #[track_caller]
    pub fn backward(&self, grad_out: &[f32], grad_x: &mut [f32]) {
        self.check(grad_x.len(), grad_out.len());
        for (row, grads) in
            grad_x.chunks_exact_mut(self.knots.max(1)).zip(grad_out.chunks_exact(self.taps.len().max(1)))
        {
            for (tap, grad) in self.taps.iter().zip(grads) {
                tap.knot.iter().zip(tap.weight).for_each(|(&knot, weight)| row[knot] += grad * weight);
            }
        }
    }

    fn check(&self, knots: usize, values: usize) {
        let (k, len) = (self.knots, self.taps.len());
        let whole = k == 0 || (knots.is_multiple_of(k) && knots / k * len == values);
        assert!(whole, "interpolating rows of {k} to {len}: {knots} values in, {values} out");
    }
}

impl Tap {
    fn new(kind: Interpolation, knots: usize, ratio: f32, i: usize) -> Self {
        let last = knots - 1;
        match kind {
            Interpolation::Nearest => {
                let knot = ((i as f32 * ratio) as usize).min(last);
                Self { knot: [knot; 4], weight: [1.0, 0.0, 0.0, 0.0] }
            }
            Interpolation::Linear => {
                let position = (ratio * (i as f32 + 0.5) - 0.5).max(0.0);
                let left = (position as usize).min(last);
                let share = position - left as f32;
                let right = (left + 1).min(last);
                Self { knot: [left, right, left, left], weight: [1.0 - share, share, 0.0, 0.0] }
            }
            Interpolation::Cubic => {
                let position = ratio * (i as f32 + 0.5) - 0.5;
                let base = position.floor();
                let neighbour = |offset: isize| (base as isize + offset).clamp(0, last as isize) as usize;
                Self { knot: [-1, 0, 1, 2].map(neighbour), weight: cubic_weights(position - base) }
            }
        }
    }
}

/// Keys' cubic convolution weights of the neighbours at distances 1 + t, t, 1 - t, 2 - t.
fn cubic_weights(t: f32) -> [f32; 4] {
    const A: f32 = -0.75;
    let near = |x: f32| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f32| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(1.0 + t), near(t), near(1.0 - t), far(2.0 - t)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resample(kind: Interpolation, x: &[f32], len: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; len];
        Resampler::new(kind, x.len(), len).forward(x, &mut out);
        out
    }

    #[test]
    fn linear_is_constant_beyond_the_outer_knots() {
        assert_eq!(resample(Interpolation::Linear, &[0.0, 4.0], 4), [0.0, 1.0, 3.0, 4.0]);
        assert_eq!(resample(Interpolation::Linear, &[3.0], 3), [3.0, 3.0, 3.0]);
        assert_eq!(resample(Interpolation::Linear, &[0.0, 1.0, 2.0, 3.0], 2), [0.5, 2.5]);
    }

    #[test]
    fn nearest_rounds_down() {
        assert_eq!(resample(Interpolation::Nearest, &[1.0, 2.0, 3.0], 5), [1.0, 1.0, 2.0, 2.0, 3.0]);
    }

    #[test]
    fn cubic_keeps_a_constant() {
        for value in resample(Interpolation::Cubic, &[2.5; 4], 11) {
            assert!((value - 2.5).abs() < 5e-6, "{value}");
        }
    }

    #[test]
    fn backward_is_the_transpose_of_forward() {
        for kind in [Interpolation::Nearest, Interpolation::Linear, Interpolation::Cubic] {
            let resampler = Resampler::new(kind, 3, 7);
            for knot in 0..3 {
                let mut unit = [0.0; 3];
                unit[knot] = 1.0;
                let mut column = [0.0; 7];
                resampler.forward(&unit, &mut column);
                for (i, expected) in column.into_iter().enumerate() {
                    let (mut seed, mut grad) = ([0.0; 7], [0.0; 3]);
                    seed[i] = 1.0;
                    resampler.backward(&seed, &mut grad);
                    assert_eq!(grad[knot], expected, "{kind:?} knot {knot} output {i}");
                }
            }
        }
    }
}
