//! Values that are far from all others of their series, as slips of a key are. Marks of missing values, such as -999, are noted by the reader
//! ([`ReadNote::Mark`]).

use foretell_data::Panel;
use foretell_estimator::Workers;
use foretell_tables::ReadNote;

use crate::by_series::by_series;
use crate::warning::OddValue;

/// How much farther from the nearest other value a value is than the others are from each other, to be odd.
const FAR: f64 = 100.0;

/// The most values at one end that are odd.
const MOST: usize = 3;

/// Known values of a series without which none of them is odd.
const LEAST: usize = 10;

/// The series that have odd values at one of their ends, with the outermost of these, but for those that the reader has noted.
pub(super) fn odd_values(panel: &Panel, workers: &Workers) -> Vec<OddValue> {
    let noted = |odd: &OddValue| {
        let value = odd.value.to_string();
        panel.notes().iter().any(|note| matches!(note, ReadNote::Mark { value: mark, .. } if *mark == value))
    };
    by_series(panel, workers, |series| odd_value(panel, series).filter(|odd| !noted(odd)))
}

fn odd_value(panel: &Panel, series: usize) -> Option<OddValue> {
    let y = panel.known_y(series, 0..panel.len(series));
    let known = || y.iter().copied().filter(|y| !y.is_nan());
    if known().count() < LEAST {
        return None;
    }
    let (high, low) = (outermost(known(), |y| y), outermost(known(), |y| -y));
    let odd = odd_end(&high, low[0]).or_else(|| odd_end(&low, high[0]));
    let (value, count) =
        odd.or_else(|| decimal_slip(&known().collect::<Vec<_>>()).map(|value| (value, 1)))?;
    let row = y.iter().position(|y| *y == value)?;
    let time = panel.freq().kind().display_in(panel.zone(), panel.time(series, row));
    let level = panel.level(series);
    // As it was written, without the digits that a wider type adds.
    let written = if level.is_default() { value.to_string().parse().ok()? } else { level.value(value) };
    Some(OddValue { series: panel.id(series).to_string(), time, value: written, count })
}

/// The outermost values of a series at the end where `sign` is large, the farthest first: one more than may be odd.
fn outermost(values: impl Iterator<Item = f32>, sign: fn(f32) -> f32) -> Vec<f32> {
    let mut ends: Vec<f32> = Vec::with_capacity(MOST + 2);
    for value in values {
        let place = ends.iter().position(|end| sign(*end) < sign(value)).unwrap_or(ends.len());
        if place <= MOST {
            ends.insert(place, value);
            ends.truncate(MOST + 1);
        }
    }
    ends
}

/// The value that is ten, a hundred or a thousand times as large as the values around it, as where the mark before decimals was left out, where no
/// other is three times as large as those around it or a third of them.
fn decimal_slip(y: &[f32]) -> Option<f32> {
    if y.len() < 2 * LEAST || y.iter().any(|y| *y <= 0.0) {
        return None;
    }
    // The lesser of two values on each side, as a slip may be among them; of both sides the larger, as where a new level begins.
    let least = |values: &[f32]| values.iter().copied().reduce(f32::min);
    let ratio = |place: usize| {
        let before = least(&y[place.saturating_sub(2)..place]);
        let after = least(&y[place + 1..(place + 3).min(y.len())]);
        f64::from(y[place]) / f64::from(before.into_iter().chain(after).fold(0.0, f32::max))
    };
    let is_slip = |ratio: f64| {
        let digits = ratio.log10().round();
        (1.0..=3.0).contains(&digits) && (0.7..1.4).contains(&(ratio / 10_f64.powf(digits)))
    };
    let mut found = None;
    for place in 0..y.len() {
        let ratio = ratio(place);
        if (1.0 / 3.0..3.0).contains(&ratio) {
            continue;
        }
        // A last value has a question of its own.
        if !is_slip(ratio) || found.is_some() || place + 1 == y.len() {
            return None;
        }
        found = Some(y[place]);
    }
    found
}

/// The outermost value of one end, and how many values there are far from all others, which reach to `other_end`.
fn odd_end(ends: &[f32], other_end: f32) -> Option<(f32, usize)> {
    let distance = |one: f32, other: f32| (f64::from(one) - f64::from(other)).abs();
    let is_far = |pair: &[f32]| {
        let range = distance(pair[1], other_end);
        range > 0.0 && distance(pair[0], pair[1]) > FAR * range
    };
    let count = ends.windows(2).position(is_far)? + 1;
    Some((ends[0], count))
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    fn found(y: Vec<f32>) -> Option<(String, f64, usize)> {
        let panel = Panel::from_series(Freq::parse("1").expect("integers"), [("a", 0, y)]).expect("a panel");
        odd_values(&panel, &Workers::apart(1)).pop().map(|odd| (odd.time, odd.value, odd.count))
    }

    /// A wave between 10 and 30 with some values in place of its own.
    fn wave(others: impl Fn(usize) -> Option<f32>) -> Vec<f32> {
        (0..60).map(|t| others(t).unwrap_or(20.0 + 10.0 * (t as f32 * 0.4).sin())).collect()
    }

    fn with_one(place: usize, value: f32) -> Vec<f32> {
        wave(|t| (t == place).then_some(value))
    }

    #[test]
    fn slips_are_odd() {
        assert_eq!(found(with_one(17, 1e9)), Some(("17".to_owned(), 1e9, 1)));
        assert_eq!(found(with_one(3, -90_000.0)), Some(("3".to_owned(), -90_000.0, 1)));
        assert_eq!(found(with_one(3, -9999.1)), Some(("3".to_owned(), -9999.1, 1)));
        let two =
            wave(|t| [(5, 70_000.0), (9, 71_000.0)].into_iter().find(|(at, _)| *at == t).map(|(_, y)| y));
        assert_eq!(found(two), Some(("9".to_owned(), 71_000.0, 2)));
    }

    #[test]
    fn a_mark_before_decimals_that_was_left_out_is_odd() {
        let slip = |factor: f32| with_one(20, factor * (20.0 + 10.0 * 8_f32.sin()));
        for factor in [10.0, 100.0, 1000.0] {
            assert_eq!(found(slip(factor)).map(|(time, ..)| time), Some("20".to_owned()), "{factor}");
        }
        // Peaks of other sizes, and two of them.
        assert_eq!(found(slip(5.0)), None);
        assert_eq!(found(slip(25.0)), None);
        assert_eq!(found(wave(|t| [20, 40].contains(&t).then_some(200.0))), None);
    }

    #[test]
    fn many_series_are_looked_at_on_all_threads_in_their_order() {
        let series =
            (0..1200).map(|s| (format!("{s:04}"), 0, with_one(3, if s % 7 == 0 { 1e9 } else { 20.0 })));
        let panel = Panel::from_series(Freq::parse("1").expect("integers"), series).expect("a panel");
        let [one, others @ ..] =
            [1, 2, 5].map(|threads| odd_values(&panel, &Workers::new(threads).expect("threads")));
        assert!(one.len() == 172 && one[1].series == "0007");
        assert!(others.iter().all(|other| *other == one));
    }

    #[test]
    fn what_happens_is_not_odd() {
        assert_eq!(found(wave(|_| None)), None);
        assert_eq!(found(with_one(30, 500.0)), None, "a peak");
        assert_eq!(found(wave(|t| (t % 7 == 2).then_some(70_000.0))), None, "too many to be slips");
        assert_eq!(found((0..60).map(|t| 1.4_f32.powi(t)).collect()), None, "growth");
        assert_eq!(found(wave(|t| (t > 40).then_some(1e6 + t as f32))), None, "a new level");
        assert_eq!(found(vec![1.0, 2.0, 1e9]), None, "too few to tell");
        assert_eq!(found(vec![7.0; 40]), None, "constant");
        let rare: Vec<f32> = (0..60).map(|t| if t == 20 { 8.0 } else { 0.0 }).collect();
        assert_eq!(found(rare), None, "rare demand");
    }
}
