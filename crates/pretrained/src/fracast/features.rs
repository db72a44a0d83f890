//! What a step is told of its place: the distance from the end, and the phases of periods.

/// Numbers that tell the distance from the end.
pub(super) const RECENCY: usize = 5;

/// The distance of a step from the last one of the window, in windows, in five bounded forms.
pub(super) fn recency(position: usize, window: usize) -> [f32; RECENCY] {
    let distance = (position as f32 - (window - 1) as f32) / window as f32;
    let size = distance.abs();
    let sign = if distance == 0.0 { 0.0 } else { distance.signum() };
    let logarithm = sign * size.ln_1p() / std::f32::consts::LN_2;
    [distance, logarithm, (-0.5 * size).exp(), (-2.0 * size).exp(), (-8.0 * size).exp()]
}

/// Sine and cosine of the phase of a step in each period and its harmonics; zeros for a period of 0. In the package's own precision: the
/// phase is not taken modulo the period before it is rounded to 32 bits.
pub(super) fn phases(position: usize, periods: &[usize], harmonics: usize, out: &mut [f32]) {
    for (&period, out) in periods.iter().zip(out.chunks_exact_mut(2 * harmonics)) {
        let phase = std::f32::consts::TAU * position as f32 / period.max(1) as f32;
        for (harmonic, pair) in (1..=harmonics).zip(out.chunks_exact_mut(2)) {
            let (sine, cosine) = f64::from(phase * harmonic as f32).sin_cos();
            pair.copy_from_slice(&if period == 0 { [0.0; 2] } else { [sine as f32, cosine as f32] });
        }
    }
}

/// The values at the phases of the steps ahead: the mean of the known values that share the bin of a phase of `period`, or of all of
/// them where none does. `known` is 1 or 0, and values that are not known are 0.
pub(super) fn seasonal_fill(
    values: &[f32],
    known: &[f32],
    period: usize,
    bins: usize,
    sums: &mut Vec<[f32; 2]>,
    fill: &mut [f32],
) {
    let period = period.max(1);
    let bin = |position: usize| {
        let phase = (position % period) as f32 / period as f32 * bins as f32;
        (phase as usize).min(bins - 1)
    };
    sums.clear();
    sums.resize(bins, [0.0; 2]);
    let mut all = [0.0_f32; 2];
    for (position, (&value, &known)) in values.iter().zip(known).enumerate() {
        let [sum, count] = &mut sums[bin(position)];
        *sum += value;
        *count += known;
        all[0] += value;
        all[1] += known;
    }
    for (step, fill) in fill.iter_mut().enumerate() {
        let [sum, count] = sums[bin(values.len() + step)];
        *fill = if count > 0.0 { sum / count } else { all[0] / all[1].max(1.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_of_the_window_is_now() {
        let now = recency(15, 16);
        assert_eq!(now, [0.0, 0.0, 1.0, 1.0, 1.0]);
        let [before, after] = [recency(11, 16), recency(19, 16)];
        assert_eq!(before[0], -0.25);
        assert_eq!((after[0], after[1]), (-before[0], -before[1]));
        assert!((after[1] - 1.25_f32.log2()).abs() < 1e-6 && (after[4] - (-2.0_f32).exp()).abs() < 1e-6);
    }

    #[test]
    fn steps_ahead_have_the_mean_of_their_phase() {
        let values = [1.0, 2.0, 3.0, 5.0, 0.0, 5.0];
        let known = [1.0, 1.0, 1.0, 1.0, 0.0, 1.0];
        let mut fill = [0.0; 3];
        seasonal_fill(&values, &known, 3, 3, &mut Vec::new(), &mut fill);
        assert_eq!(fill, [3.0, 2.0, 4.0]);
        // Without a period all are of one phase.
        seasonal_fill(&values, &known, 0, 4, &mut Vec::new(), &mut fill);
        assert_eq!(fill, [3.2; 3]);
    }
}
