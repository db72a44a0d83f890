//! Series whose values are of another size from some row on, as after a change from kilograms to tons.

use foretell_data::Panel;
use foretell_estimator::{Workers, upper_median};

use crate::by_series::by_series;
use crate::warning::LevelBreak;

/// Values other than 0 on each side of a break, at least.
const LEAST: usize = 6;

/// How many times as large every value on one side is as every one on the other.
const APART: f64 = 5.0;

/// How many times as large a value in the middle of one side is as one of the other: growth needs many rows for that, in which values
/// of all sizes are.
const FACTOR: f64 = 20.0;

/// The series with a break, each with its first row after it.
pub(super) fn level_breaks(panel: &Panel, workers: &Workers) -> Vec<LevelBreak> {
    by_series(panel, workers, |series| level_break(panel, series))
}

fn level_break(panel: &Panel, series: usize) -> Option<LevelBreak> {
    let level = panel.level(series);
    let y = panel.known_y(series, 0..panel.len(series));
    let sizes: Vec<(usize, f64)> = (y.iter().enumerate())
        .map(|(row, y)| (row, level.value(*y).abs()))
        .filter(|(_, size)| *size > 0.0)
        .collect();
    if sizes.len() < 2 * LEAST {
        return None;
    }
    // The least and the largest of each value and all after it.
    let mut after = vec![(f64::INFINITY, 0.0_f64); sizes.len() + 1];
    for (place, (_, size)) in sizes.iter().enumerate().rev() {
        let (low, high) = after[place + 1];
        after[place] = (low.min(*size), high.max(*size));
    }
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for (place, (row, size)) in sizes.iter().enumerate() {
        let (low_after, high_after) = after[place];
        let apart = low > APART * high_after || low_after > APART * high;
        if apart && place >= LEAST && sizes.len() - place >= LEAST {
            let factor = middle(&sizes[place..]) / middle(&sizes[..place]);
            if factor.max(1.0 / factor) >= FACTOR {
                let time = panel.freq().kind().display_in(panel.zone(), panel.time(series, *row));
                return Some(LevelBreak { series: panel.id(series).to_string(), time, factor });
            }
        }
        (low, high) = (low.min(*size), high.max(*size));
    }
    None
}

/// The median size.
fn middle(sizes: &[(usize, f64)]) -> f64 {
    let mut sizes: Vec<f64> = sizes.iter().map(|(_, size)| *size).collect();
    upper_median(&mut sizes).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    fn found(y: impl IntoIterator<Item = f32>) -> Option<(String, f64)> {
        let y: Vec<f32> = y.into_iter().collect();
        let panel = Panel::from_series(Freq::parse("1").expect("integers"), [("a", 0, y)]).expect("a panel");
        level_breaks(&panel, &Workers::apart(1)).pop().map(|found| (found.time, found.factor))
    }

    fn wave(t: usize) -> f32 {
        1000.0 + 300.0 * (t as f32 * 0.5).sin()
    }

    #[test]
    fn another_unit_is_told_with_its_first_row() {
        let tons = |from: usize| (0..60).map(move |t| if t < from { wave(t) } else { wave(t) / 1000.0 });
        for from in [6, 30, 54] {
            let (time, factor) = found(tons(from)).expect("a break");
            assert_eq!(time, from.to_string());
            assert!((1.0 / factor / 1000.0 - 1.0).abs() < 0.4, "{factor}");
        }
        let (time, factor) =
            found((0..60).map(|t| if t < 20 { -0.01 * wave(t) } else { -wave(t) })).expect("a break");
        assert!(time == "20" && (60.0..140.0).contains(&factor), "{time}, {factor}");
    }

    #[test]
    fn what_happens_is_no_break() {
        assert_eq!(found((0..60).map(wave)), None);
        assert_eq!(found((0..60).map(|t| 1.2_f32.powi(t))), None, "growth");
        assert_eq!(found((0..60).map(|t| if t < 30 { wave(t) } else { 4.0 * wave(t) })), None, "a new level");
        assert_eq!(found((0..60).map(|t| if t < 57 { wave(t) } else { 1.0 })), None, "too few to tell");
        assert_eq!(found((0..60).map(|t| if t < 30 { 0.0 } else { wave(t) })), None, "a beginning");
        assert_eq!(found((0..60).map(|t| if t % 12 < 6 { wave(t) } else { 1.0 })), None, "a season");
    }
}
