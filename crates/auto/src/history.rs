//! What is known of a series before a forecast of it.

use foretell::Panel;
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
    /// By what values above zero have been multiplied from the first third of the history to the last; 1 where one is not above zero.
    pub(crate) grown: f64,
    /// What stands for zero, if no value is below it: forecasts are not either.
    pub(crate) least: Option<f64>,
    /// Whether it has [ended](has_ended): what is not sold any more.
    pub(crate) has_ended: bool,
    /// Whether it is zero at more than half of its steps from the first that is not, and no season says at which, so that its median says
    /// nothing of the amount.
    pub(crate) is_rare: bool,
}

/// The share of zeros above which a median is next to nothing.
const RARE: f64 = 0.5;

/// Fewest seasons that show what a season explains.
const SEASONS_SHOWN: usize = 3;

/// The share of the variance within the steps of a season below which the season says when there is something, as the sun of a day does
/// or the opening hours of a shop: one mean of all steps would be far from each of them.
const WITHIN_SEASON: f64 = 0.5;

/// Whether the steps of a season explain most of the values: of rare demand they explain next to nothing.
fn follows_season(y: &[f32], season: usize) -> bool {
    if season < 2 || y.len() < SEASONS_SHOWN * season {
        return false;
    }
    let deviation = |values: &mut dyn Iterator<Item = f64>| {
        // Count, mean and squared deviations (Welford).
        values.fold((0_usize, 0.0, 0.0), |(count, mean, squares), y| {
            let moved = mean + (y - mean) / (count + 1) as f64;
            (count + 1, moved, squares + (y - mean) * (y - moved))
        })
    };
    let known = |y: &&f32| !y.is_nan();
    let (count, _, all) = deviation(&mut y.iter().filter(known).map(|&y| f64::from(y)));
    let (phases, within) = (0..season).fold((0, 0.0), |(phases, within), phase| {
        let own = y.iter().skip(phase).step_by(season).filter(known);
        let (count, _, squares) = deviation(&mut own.map(|&y| f64::from(y)));
        (phases + usize::from(count > 0), within + squares)
    });
    // By degrees of freedom, so that chance explains nothing in the mean.
    count > phases + 1 && within / ((count - phases) as f64) < WITHIN_SEASON * all / (count - 1) as f64
}

/// Steps from the first sale on that tell how often something is sold, or of which none is without a sale.
const BEGUN: [usize; 2] = [8, 3];

/// Whether values, none of which is below zero, are zero at more than half of the steps since the first sale (before it nothing was to be
/// sold) and no season says at which.
fn is_rare(y: &[f32], season: usize, zero: f64) -> bool {
    let is_sold = |y: &&f32| f64::from(**y) != zero;
    let counts = |y: &[f32]| {
        let known = || y.iter().filter(|y| !y.is_nan());
        (known().count(), known().count() - known().filter(is_sold).count())
    };
    let Some(first) = y.iter().position(|y| !y.is_nan() && is_sold(&y)) else { return false };
    let (known, zeros) = counts(&y[first..]);
    let has_begun = known >= BEGUN[0] || known >= BEGUN[1] && zeros == 0;
    let since = if has_begun { &y[first..] } else { y };
    let (known, zeros) = counts(since);
    zeros as f64 > RARE * known as f64 && !follows_season(since, season)
}

/// The mean of the last third of some values by that of the first; 1 where there is none, or a value is not above zero.
fn grown(y: &[f32], zero: f64) -> f64 {
    let third = y.len() / 3;
    let is_above = |y: &f32| y.is_nan() || f64::from(*y) > zero;
    if third == 0 || !y.iter().all(is_above) {
        return 1.0;
    }
    let mean = |y: &[f32]| {
        let known = || y.iter().filter(|y| !y.is_nan()).map(|&y| f64::from(y) - zero);
        known().sum::<f64>() / known().count() as f64
    };
    let grown = mean(&y[y.len() - third..]) / mean(&y[..third]);
    // A third may have no value.
    if grown.is_finite() { grown } else { 1.0 }
}

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
    /// By what its values grow over this many steps, at the pace of the history; 1 of what does not grow.
    pub(crate) fn growth(&self, steps: f64) -> f64 {
        // From one third to the other it is two thirds of the way.
        self.grown.max(1.0).powf(1.5 * steps / self.len.max(1) as f64)
    }

    /// The same where forecasts may be below zero although no value is.
    pub(crate) fn below_zero(self, may_be: bool) -> Self {
        Self { least: self.least.filter(|_| !may_be), ..self }
    }

    /// Of the first `rows` of a series.
    pub(crate) fn of_series(panel: &Panel, series: usize, rows: usize, season: usize) -> Self {
        let zero = f64::from(panel.level(series).hold(0.0));
        Self::of(&panel.known_y(series, 0..rows), season, zero)
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
            grown: grown(y, zero),
            least: positive.then_some(zero),
            has_ended,
            is_rare: positive && !has_ended && is_rare(y, season, zero),
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
    fn growth_goes_on_at_its_pace() {
        let doubled: Vec<f32> = (0..30).map(|t| 2.0_f32.powi(t)).collect();
        let history = History::of(&doubled, 1, 0.0);
        assert!((history.grown.log2() - 20.0).abs() < 1e-6 && (history.growth(3.0) - 8.0).abs() < 1e-6);
        let halved: Vec<f32> = doubled.iter().rev().copied().collect();
        let history = History::of(&halved, 1, 0.0);
        assert!((history.grown.log2() + 20.0).abs() < 1e-6 && history.growth(3.0) == 1.0);
        let grown = |y: &[f32]| History::of(y, 1, 0.0).grown;
        let with_zero = [&[0.0], &doubled[..]].concat();
        assert_eq!([grown(&with_zero), grown(&[f32::NAN; 6]), grown(&[1.0, 9.0])], [1.0; 3]);
    }

    #[test]
    fn what_a_season_explains_is_not_rare() {
        let is_rare = |y: &[f32], season| History::of(y, season, 0.0).is_rare;
        // Sun of eight hours, and a shop that is open for nine on weekdays.
        let hour = |t: usize| (t % 24) as f32;
        let sun: Vec<f32> = (0..240)
            .map(|t| {
                ((hour(t) - 8.0) * std::f32::consts::PI / 8.0).sin().max(0.0)
                    * f32::from(u8::from(hour(t) < 16.0 && hour(t) > 8.0))
            })
            .collect();
        assert!(sun.iter().filter(|y| **y == 0.0).count() > 120 && !is_rare(&sun, 24));
        let shop: Vec<f32> =
            (0..672)
                .map(|t| {
                    if t / 24 % 7 < 5 && (9..18).contains(&(t % 24)) {
                        15.0 + (t * 7 % 10) as f32
                    } else {
                        0.0
                    }
                })
                .collect();
        assert!(!is_rare(&shop, 24) && !is_rare(&shop, 168) && is_rare(&shop, 1));
        assert!(is_rare(&sun[..80], 24), "of less than three seasons from the first sale nothing is known");
        // What was listed before it was sold.
        let launched: Vec<f32> =
            (0..100).map(|t| if t < 60 { 0.0 } else { 17.0 + (t * 5 % 7) as f32 }).collect();
        assert!(!is_rare(&launched, 7) && !is_rare(&launched[..63], 7) && is_rare(&launched[..61], 7));
        // What was not sold for long, and a few times of late.
        let slow: Vec<f32> = [0.0; 97].iter().chain(&[4.0, 0.0, 3.0]).copied().collect();
        assert!(is_rare(&slow, 7));
        // Demand at random, more of it on one weekday.
        let chance = |t: usize| (t * 7919 + t * t * 31) % 101;
        let rare: Vec<f32> = (0..364)
            .map(|t| f32::from(u8::from(chance(t) < if t % 7 == 2 { 40 } else { 15 })) * (1 + t % 3) as f32)
            .collect();
        assert!(is_rare(&rare, 7) && is_rare(&rare, 52));
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
