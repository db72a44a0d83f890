//! How far forecasts of a history are off, row by row: for any growth and mode.

use foretell_estimator::dot;

use crate::posterior::Places;
use crate::trend::{Changes, Segment};

/// A scaled history, and room for the work on it.
#[derive(Debug)]
pub(crate) struct ErrorsByRow<'a> {
    changes: Changes<'a>,
    places: Places,
    y: &'a [f64],
    t: &'a [f64],
    cap: &'a [f64],
    x: &'a [f64],
    additive: usize,
    rows_before: Vec<usize>,
    segments: Vec<Segment>,
    by_segment: Vec<Segment>,
}

impl<'a> ErrorsByRow<'a> {
    /// Values, times and capacities of rows, and their columns `x`, `[rows, coefficients]`, of which this many are added and the
    /// others parts of the trend.
    pub(crate) fn new(
        changes: Changes<'a>,
        places: Places,
        [y, t, cap]: [&'a [f64]; 3],
        x: &'a [f64],
        additive: usize,
    ) -> Self {
        let rows_before = changes.rows_before(t);
        let (segments, by_segment) = (Vec::new(), Vec::new());
        Self { changes, places, y, t, cap, x, additive, rows_before, segments, by_segment }
    }

    /// The sum of squared errors; half its gradient is written.
    pub(crate) fn squares(&mut self, parameters: &[f64], half_gradient: &mut [f64]) -> f64 {
        let (growth, rows, places) = (self.changes.growth, self.y.len(), self.places);
        let first = Segment { rate: parameters[Places::RATE], offset: parameters[Places::OFFSET] };
        self.changes.segments(first, &parameters[places.delta()], &mut self.segments);
        self.by_segment.clear();
        self.by_segment.resize(self.segments.len(), Segment { rate: 0.0, offset: 0.0 });
        half_gradient.fill(0.0);
        let (beta_added, beta_part) = parameters[places.beta()].split_at(self.additive);
        let (by_added, by_part) = half_gradient[places.beta()].split_at_mut(self.additive);
        let (mut squares, mut start, width) = (0.0, 0, places.coefficients);
        for (s, segment) in self.segments.iter().enumerate() {
            let end = self.rows_before.get(s).copied().unwrap_or(rows);
            let by_segment = &mut self.by_segment[s];
            for i in start..end {
                let (added, part) = self.x[i * width..][..width].split_at(self.additive);
                let (t, cap) = (self.t[i], self.cap[i]);
                let trend = segment.at(growth, t, cap);
                let factor = 1.0 + dot(part, beta_part);
                let error = trend * factor + dot(added, beta_added) - self.y[i];
                squares += error * error;
                add_scaled(by_added, added, error);
                add_scaled(by_part, part, error * trend);
                let (by_rate, by_offset) = segment.gradient(growth, t, trend, cap);
                by_segment.rate += error * factor * by_rate;
                by_segment.offset += error * factor * by_offset;
            }
            start = end;
        }
        let by_delta = &mut half_gradient[places.delta()];
        let first = self.changes.backward(&self.segments, &mut self.by_segment, by_delta);
        half_gradient[Places::RATE] = first.rate;
        half_gradient[Places::OFFSET] = first.offset;
        squares
    }
}

fn add_scaled(sum: &mut [f64], x: &[f64], factor: f64) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x * factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::Moments;
    use crate::settings::Growth;

    const TIMES: [f64; 3] = [0.2, 0.35, 0.6];
    const ROWS: usize = 40;

    /// Times, values, capacities and four columns of rows, and parameters.
    fn history() -> ([Vec<f64>; 3], Vec<f64>, Vec<f64>) {
        let t: Vec<f64> = (0..ROWS).map(|i| i as f64 / (ROWS - 1) as f64).collect();
        let y = t.iter().map(|t| 0.4 + 0.3 * t + (7.0 * t).sin() / 9.0).collect();
        let x = (0..ROWS * 4).map(|i| ((i * i) as f64 * 0.37).sin()).collect();
        let parameters = vec![0.8, 0.3, -1.0, 0.5, -0.9, 0.4, 0.2, -0.3, 0.1, 0.25];
        ([y, t, vec![1.3; ROWS]], x, parameters)
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let ([y, t, cap], x, parameters) = history();
        let places = Places { changes: 3, coefficients: 4 };
        for growth in [Growth::Linear, Growth::Logistic, Growth::Flat] {
            for additive in [4, 2, 0] {
                let changes = Changes { growth, times: &TIMES };
                let mut errors = ErrorsByRow::new(changes, places, [&y, &t, &cap], &x, additive);
                let (mut gradient, mut unused) = (vec![0.0; 10], vec![0.0; 10]);
                errors.squares(&parameters, &mut gradient);
                for i in 0..10 {
                    let mut at = |step: f64| {
                        let mut moved = parameters.clone();
                        moved[i] += step;
                        errors.squares(&moved, &mut unused)
                    };
                    let difference = (at(1e-6) - at(-1e-6)) / 4e-6;
                    let close = (difference - gradient[i]).abs() < 1e-6 * difference.abs().max(1.0);
                    assert!(close, "{growth:?} {additive} {i}: {difference} and {}", gradient[i]);
                }
            }
        }
    }

    #[test]
    fn moments_say_the_same_of_what_is_linear() {
        let ([y, t, cap], x, parameters) = history();
        let places = Places { changes: 3, coefficients: 4 };
        for growth in [Growth::Linear, Growth::Flat] {
            let changes = Changes { growth, times: &TIMES };
            let (mut by_row, mut by_moments) = (vec![0.0; 10], vec![0.0; 10]);
            let squares =
                ErrorsByRow::new(changes, places, [&y, &t, &cap], &x, 4).squares(&parameters, &mut by_row);
            let moments = Moments::new(changes, places, [&y, &t], &x).squares(&parameters, &mut by_moments);
            assert!((squares - moments).abs() < 1e-12 * squares, "{squares} {moments}");
            for (a, b) in by_row.iter().zip(&by_moments) {
                assert!((a - b).abs() < 1e-11, "{growth:?} {by_row:?} {by_moments:?}");
            }
        }
    }
}
