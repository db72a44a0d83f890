//! The trend: a curve whose rate of growth changes at change points, and its gradient.
//!
//! Between two change points the curve is a straight line `rate * t + offset`, or logistic,
//! `cap / (1 + exp(-rate * (t - offset)))`. At a change point the rate changes by `delta`, and the offset so that the curve does
//! not jump (Taylor and Letham 2018, sections 3.1.1 and 3.1.2).

use crate::settings::Growth;

/// The curve from one change point to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segment {
    pub(crate) rate: f64,
    pub(crate) offset: f64,
}

impl Segment {
    /// The segment after a change of the rate at time `at`.
    pub(crate) fn changed(self, growth: Growth, at: f64, delta: f64) -> Self {
        let rate = self.rate + delta;
        let offset = match growth {
            Growth::Linear => self.offset - at * delta,
            Growth::Logistic => self.offset + (at - self.offset) * (1.0 - self.rate / rate),
            Growth::Flat => self.offset,
        };
        Self { rate, offset }
    }

    /// The trend at time `t`, on the scale of the model.
    pub(crate) fn at(self, growth: Growth, t: f64, cap: f64) -> f64 {
        match growth {
            Growth::Linear => self.rate * t + self.offset,
            Growth::Logistic => cap * sigmoid(self.rate * (t - self.offset)),
            Growth::Flat => self.offset,
        }
    }

    /// The derivatives of the trend at time `t`, where it has that value, by rate and offset.
    pub(crate) fn gradient(self, growth: Growth, t: f64, trend: f64, cap: f64) -> (f64, f64) {
        match growth {
            Growth::Linear => (t, 1.0),
            Growth::Logistic => {
                let slope = trend * (1.0 - trend / cap);
                (slope * (t - self.offset), -slope * self.rate)
            }
            Growth::Flat => (0.0, 1.0),
        }
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Rates at the beginning and the times of their changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changes<'a> {
    pub(crate) growth: Growth,
    /// In order.
    pub(crate) times: &'a [f64],
}

impl Changes<'_> {
    /// All segments: one more than change points.
    pub(crate) fn segments(self, first: Segment, delta: &[f64], out: &mut Vec<Segment>) {
        out.clear();
        out.push(first);
        for (&at, &delta) in self.times.iter().zip(delta) {
            let last = out[out.len() - 1];
            out.push(last.changed(self.growth, at, delta));
        }
    }

    /// The number of rows that lie before each change point; times are in order.
    pub(crate) fn rows_before(self, t: &[f64]) -> Vec<usize> {
        self.times.iter().map(|&at| t.partition_point(|&t| t < at)).collect()
    }

    /// The trend at times in order.
    pub(crate) fn trend(self, first: Segment, delta: &[f64], t: &[f64], cap: &[f64]) -> Vec<f64> {
        let mut segments = Vec::new();
        self.segments(first, delta, &mut segments);
        let segment = |t: f64| segments[self.times.partition_point(|&at| at <= t)];
        t.iter().zip(cap).map(|(&t, &cap)| segment(t).at(self.growth, t, cap)).collect()
    }

    /// From the gradient of a function by the rate and offset of each segment its gradient by those of the first, which it
    /// returns, and by the changes, `by_delta`.
    pub(crate) fn backward(
        self,
        segments: &[Segment],
        by_segment: &mut [Segment],
        by_delta: &mut [f64],
    ) -> Segment {
        for (s, &at) in self.times.iter().enumerate().rev() {
            let (before, after, upstream) = (segments[s], segments[s + 1], by_segment[s + 1]);
            let Segment { rate, offset } = upstream;
            // `by_rate` and `by_offset` of the segment before, and what the change itself moves.
            let (by_rate, by_offset, change) = match self.growth {
                Growth::Linear => (rate, offset, rate - at * offset),
                Growth::Logistic => {
                    let (share, distance) = (before.rate / after.rate, at - before.offset);
                    let by_after = rate + offset * distance * share / after.rate;
                    (by_after - offset * distance / after.rate, offset * share, by_after)
                }
                Growth::Flat => (0.0, offset, 0.0),
            };
            by_delta[s] = change;
            by_segment[s].rate += by_rate;
            by_segment[s].offset += by_offset;
        }
        by_segment[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: [f64; 2] = [0.25, 0.5];
    const DELTA: [f64; 2] = [0.7, -0.4];

    #[test]
    fn the_curve_does_not_jump_and_bends_at_change_points() {
        for growth in [Growth::Linear, Growth::Logistic] {
            let changes = Changes { growth, times: &TIMES };
            let trend = |t: f64| changes.trend(Segment { rate: 1.0, offset: 0.3 }, &DELTA, &[t], &[2.0])[0];
            for at in TIMES {
                assert!((trend(at + 1e-9) - trend(at - 1e-9)).abs() < 1e-8, "{growth:?}");
                let slopes = [trend(at) - trend(at - 1e-4), trend(at + 1e-4) - trend(at)];
                assert!((slopes[0] - slopes[1]).abs() > 1e-5, "{growth:?} {slopes:?}");
            }
        }
        let changes = Changes { growth: Growth::Linear, times: &TIMES };
        let trend = changes.trend(Segment { rate: 1.0, offset: 0.0 }, &DELTA, &[0.25, 0.5, 1.0], &[0.0; 3]);
        for (found, by_hand) in trend.iter().zip([0.25, 0.25 + 0.25 * 1.7, 0.25 + 0.25 * 1.7 + 0.5 * 1.3]) {
            assert!((found - by_hand).abs() < 1e-12, "{found} {by_hand}");
        }
    }

    #[test]
    fn rows_at_a_change_point_are_behind_it() {
        let changes = Changes { growth: Growth::Linear, times: &TIMES };
        assert_eq!(changes.rows_before(&[0.0, 0.25, 0.3, 0.5, 0.6]), [1, 3]);
    }
}
