//! Whether a history can justify a forecast.

use crate::grid::{MEDIAN, WIDTH};
use crate::history::History;

/// How far a forecast may lie beyond its history, in ranges of that history.
const BEYOND: f64 = 2.0;

/// Whether the history can justify the quantiles `[h, WIDTH]` of a series: all are numbers, the median stays within two ranges of what
/// was, and the inner 80 % are not wider than four of these ranges and eight times the change that a season of walking at random makes. What
/// has grown by a share may go on, at twice its pace.
pub(crate) fn justifies(history: &History, values: &[f32]) -> bool {
    let [low, high] = history.range;
    let range = (high - low).max(4.0 * history.scale);
    let wide = (4.0 * range).max(8.0 * history.scale * (values.len() as f64 / WIDTH as f64).sqrt());
    values.iter().all(|value| value.is_finite())
        && values.chunks_exact(WIDTH).enumerate().all(|(number, step)| {
            let [first, median, last] = [step[0], step[MEDIAN], step[WIDTH - 1]].map(f64::from);
            let grown = history.growth(2.0 * (number + 1) as f64);
            median >= low - BEYOND * range
                && median <= high + BEYOND * range * grown
                && last - first <= wide * grown
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_beyond_what_was_are_refused() {
        let y: Vec<f32> = (0..40).map(|t| 100.0 + (t % 5) as f32).collect();
        let history = History::of(&y, 1, 0.0);
        let flat = |median: f32, spread: f32| -> Vec<f32> {
            (0..3).flat_map(|_| (0..WIDTH).map(move |q| median + (q as f32 - 4.0) * spread)).collect()
        };
        assert!(justifies(&history, &flat(102.0, 1.0)));
        assert!(justifies(&history, &flat(109.0, 0.5)));
        assert!(!justifies(&history, &flat(1000.0, 1.0)));
        assert!(!justifies(&history, &flat(102.0, 50.0)));
        assert!(!justifies(&history, &flat(f32::NAN, 1.0)));
    }

    #[test]
    fn what_doubled_at_each_step_may_go_on() {
        let doubled: Vec<f32> = (0..20).map(|t| 2.0_f32.powi(t)).collect();
        let next = |by: f32| -> Vec<f32> {
            (20..26).flat_map(|t| (0..WIDTH).map(move |q| by.powi(t) * (0.9 + 0.025 * q as f32))).collect()
        };
        let history = History::of(&doubled, 1, 0.0);
        assert!(justifies(&history, &next(2.0)) && !justifies(&history, &next(4.0)));
        let same: Vec<f32> = doubled.iter().map(|y| 100.0 + y % 3.0).collect();
        assert!(!justifies(&History::of(&same, 1, 0.0), &next(2.0)), "it did not grow");
    }
}
