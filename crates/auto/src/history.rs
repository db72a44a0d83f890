//! What is known of a series before a forecast of it.

use serde::{Deserialize, Serialize};

/// Kinds of series whose best models differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesGroup {
    /// Never below zero, and zero at 3 of 10 steps or more.
    Intermittent,
    /// Of fewer than three seasons, or of fewer than 16 steps.
    Short,
    /// What remains.
    Regular,
}

impl SeriesGroup {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Intermittent, Self::Short, Self::Regular];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Intermittent => "intermittent",
            Self::Short => "short",
            Self::Regular => "regular",
        }
    }
}

/// The share of zeros from which a series without negative values is intermittent.
const MANY_ZEROS: f64 = 0.3;

/// What is known of a series before a forecast of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct History {
    /// Steps, those without a known value included.
    pub(crate) len: usize,
    pub(crate) group: SeriesGroup,
    /// The mean absolute change over a season: what errors are divided by.
    pub(crate) scale: f64,
    /// Its least and largest value.
    pub(crate) range: [f64; 2],
    /// The last known value.
    pub(crate) last: f64,
    /// What stands for zero, if no value is below it: forecasts are not either.
    pub(crate) least: Option<f64>,
    /// Whether it has [ended](has_ended): what is not sold any more.
    pub(crate) has_ended: bool,
    /// Whether it is zero at more than half of its steps, so that its median says nothing of the amount.
    pub(crate) is_rare: bool,
}

/// The share of zeros above which a median is next to nothing.
const RARE: f64 = 0.5;

/// Fewest zeros at the end of a series that has ended.
const ENDED: usize = 8;

/// Whether values that were above zero are zero for longer than a season, and for more than twice as long as ever before.
fn has_ended(y: &[f32], season: usize, zero: f64) -> bool {
    let is_zero = |y: &&f32| y.is_nan() || f64::from(**y) == zero;
    let at_end = y.iter().rev().take_while(is_zero).count();
    let before = &y[..y.len() - at_end];
    // Before the first sale there is no gap.
    let since_first = &before[before.iter().take_while(is_zero).count()..];
    let gaps = since_first.split(|y| !is_zero(&y)).map(<[f32]>::len);
    let known = y[y.len() - at_end..].iter().filter(|y| !y.is_nan()).count();
    known >= ENDED.max(season + 1) && !before.is_empty() && at_end > 2 * gaps.max().unwrap_or(0)
}

impl History {
    /// The same where forecasts may be below zero although no value is.
    pub(crate) fn below_zero(self, may_be: bool) -> Self {
        Self { least: self.least.filter(|_| !may_be), ..self }
    }

    /// Of values of which some may be NaN, and the steps of a season. `zero` is the value that stands for zero.
    pub(crate) fn of(y: &[f32], season: usize, zero: f64) -> Self {
        let known = || y.iter().filter(|y| !y.is_nan()).map(|&y| f64::from(y));
        let count = known().count();
        let share =
            |is: &dyn Fn(f64) -> bool| known().filter(|&y| is(y)).count() as f64 / count.max(1) as f64;
        let range =
            known().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)]);
        let positive = count > 0 && range[0] >= zero;
        let zeros = share(&|y| y == zero);
        let group = match () {
            () if positive && zeros >= MANY_ZEROS => SeriesGroup::Intermittent,
            () if count < 16.max(3 * season) => SeriesGroup::Short,
            () => SeriesGroup::Regular,
        };
        let change = |lag: usize| -> Option<f64> {
            let pairs = y.iter().zip(y.get(lag..).unwrap_or_default());
            let changes = pairs.map(|(a, b)| f64::from(b - a).abs()).filter(|change| !change.is_nan());
            let (sum, n) = changes.fold((0.0, 0_usize), |(sum, n), change| (sum + change, n + 1));
            (n > 0 && sum > 0.0).then(|| sum / n as f64)
        };
        let size = || known().map(|y| (y - zero).abs()).sum::<f64>() / count.max(1) as f64;
        let scale = change(season.max(1)).or_else(|| change(1)).unwrap_or_else(|| match size() {
            size if size > 0.0 => 0.1 * size,
            _ => 1.0,
        });
        let has_ended = positive && has_ended(y, season, zero);
        Self {
            len: y.len(),
            group,
            scale,
            range: if count == 0 { [zero; 2] } else { range },
            last: known().next_back().unwrap_or(zero),
            least: positive.then_some(zero),
            has_ended,
            is_rare: positive && !has_ended && zeros > RARE && range[1] > zero,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_told_apart_by_their_values() {
        let season: Vec<f32> = (0..48).map(|t| 10.0 + (t % 12) as f32 + (t / 12) as f32).collect();
        let history = History::of(&season, 12, 0.0);
        assert_eq!((history.group, history.scale, history.range), (SeriesGroup::Regular, 1.0, [10.0, 24.0]));
        assert_eq!(History::of(&season[..30], 12, 0.0).group, SeriesGroup::Short);
        let demand: Vec<f32> = (0..40).map(|t| if t % 3 == 0 { 2.0 } else { 0.0 }).collect();
        let history = History::of(&demand, 1, 0.0);
        assert!(history.group == SeriesGroup::Intermittent && history.least == Some(0.0) && history.is_rare);
        let often: Vec<f32> = (0..40).map(|t| if t % 3 == 0 { 0.0 } else { 2.0 }).collect();
        assert!(!History::of(&often, 1, 0.0).is_rare && !History::of(&[0.0; 40], 1, 0.0).is_rare);
        let signs: Vec<f32> = demand.iter().map(|y| y - 1.0).collect();
        assert_eq!(History::of(&signs, 1, 0.0).least, None);
    }

    #[test]
    fn a_series_has_ended_that_is_zero_for_longer_than_ever() {
        let ended = |y: &[f32], season: usize| History::of(y, season, 0.0).has_ended;
        let sold: Vec<f32> = (0..30).map(|t| if t % 4 == 0 { 0.0 } else { 5.0 }).collect();
        let then_zeros = |count: usize| [&sold[..], &vec![0.0; count]].concat();
        assert!(ended(&then_zeros(13), 12) && !ended(&then_zeros(12), 12), "for more than a season");
        assert!(ended(&then_zeros(8), 1) && !ended(&then_zeros(7), 1));
        // Ice is sold in summer.
        let summers: Vec<f32> = (0..43).map(|t| if t % 12 < 4 { 5.0 } else { 0.0 }).collect();
        assert!(!ended(&summers, 7) && !ended(&[0.0; 40], 1) && !ended(&sold, 1));
        assert!(ended(&[&[0.0; 20], &sold[1..], &[0.0; 9]].concat(), 1), "it began late");
    }

    #[test]
    fn a_scale_is_never_zero() {
        for y in [&[][..], &[3.0], &[5.0; 30], &[0.0; 30], &[f32::NAN; 4]] {
            let history = History::of(y, 7, 0.0);
            assert!(history.scale > 0.0 && history.last.is_finite(), "{y:?}");
        }
    }
}
