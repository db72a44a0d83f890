//! A series by its seed and index: a kind of the mix, and what instruments and tables do to values.

use foretell_simd::Key;

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::kinds::Kind;

/// A synthetic series.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticSeries {
    /// Its values, all of them finite.
    pub values: Vec<f32>,
    /// The periods that it was made with, in steps, the shortest first; none where it has no season.
    pub seasons: Vec<f32>,
    /// How it came about.
    pub kind: Kind,
}

/// Values are at most this large, whatever grew without bound.
const LARGEST: f64 = 1e9;

impl SyntheticSeries {
    /// The series of this seed and index, of `len` steps. It depends on nothing else.
    ///
    /// # Panics
    /// If `len` is below 16.
    #[track_caller]
    pub fn new(seed: u64, index: u64, len: usize) -> Self {
        let mut draws = Draws::new(Key::new(seed).fold(index));
        let kind = Kind::pick(&mut draws);
        Self::drawn(kind, draws, len)
    }

    /// A series of this kind.
    ///
    /// # Panics
    /// If `len` is below 16.
    #[track_caller]
    pub fn of_kind(kind: Kind, seed: u64, index: u64, len: usize) -> Self {
        Self::drawn(kind, Draws::new(Key::new(seed).fold(index).fold(kind as u64)), len)
    }

    #[track_caller]
    fn drawn(kind: Kind, mut draws: Draws, len: usize) -> Self {
        assert!(len >= 16, "a synthetic series of {len} steps; it has at least 16");
        let mut drawn = kind.draw(&mut draws, len);
        measure(&mut draws, &mut drawn, kind);
        drawn.seasons.sort_by(f64::total_cmp);
        drawn.seasons.dedup();
        let value = |value: &f64| {
            if value.is_finite() { value.clamp(-LARGEST, LARGEST) as f32 } else { 0.0 }
        };
        Self {
            values: drawn.values.iter().map(value).collect(),
            seasons: drawn.seasons.iter().map(|season| *season as f32).collect(),
            kind,
        }
    }
}

/// What instruments and tables do: few digits, wrong values now and then, a limit of the scale. Zeros that mean nothing happened stay.
fn measure(draws: &mut Draws, drawn: &mut Drawn, kind: Kind) {
    let values = &mut drawn.values;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    if !(deviation > 0.0 && deviation.is_finite()) {
        return;
    }
    if draws.chance(0.08) {
        let digit = deviation * draws.log_between(0.02, 0.5);
        values.iter_mut().for_each(|value| *value = (*value / digit).round() * digit);
    }
    let may_be_any = !matches!(kind, Kind::Intermittent | Kind::Counts | Kind::Daylight);
    if may_be_any && draws.chance(0.05) {
        let rate = draws.log_between(0.002, 0.02);
        for value in values.iter_mut() {
            if draws.chance(rate) {
                *value += deviation * 4.0 * draws.student(3.0);
            }
        }
    }
    if draws.chance(0.04) {
        let limit = mean + deviation * draws.between(0.5, 1.5);
        values.iter_mut().for_each(|value| *value = value.min(limit));
    }
    if may_be_any && draws.chance(0.03) {
        let limit = mean - deviation * draws.between(0.0, 1.5);
        values.iter_mut().for_each(|value| *value = value.max(limit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_a_function_of_seed_and_index() {
        for index in 0..20 {
            let series = SyntheticSeries::new(7, index, 256);
            assert_eq!(series, SyntheticSeries::new(7, index, 256));
            assert_ne!(series.values, SyntheticSeries::new(8, index, 256).values);
            assert_ne!(series.values, SyntheticSeries::new(7, index + 1, 256).values);
        }
    }

    #[test]
    fn every_kind_is_finite_and_most_series_vary() {
        for (kind, _) in Kind::MIX {
            let mut constant = 0;
            for index in 0..25 {
                let series = SyntheticSeries::of_kind(kind, 3, index, 512);
                assert_eq!((series.values.len(), series.kind), (512, kind));
                assert!(series.values.iter().all(|value| value.is_finite()), "{kind:?} {index}");
                assert!(series.seasons.is_sorted() && series.seasons.iter().all(|season| *season >= 2.0));
                constant += usize::from(series.values.iter().all(|value| *value == series.values[0]));
            }
            assert!(constant <= 3, "{constant} of 25 of {kind:?} are constant");
        }
    }

    #[test]
    fn kinds_have_their_shares_of_the_mix() {
        assert!((Kind::MIX.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
        let mut draws = Draws::new(Key::new(1));
        let picked: Vec<Kind> = (0..20_000).map(|_| Kind::pick(&mut draws)).collect();
        for (kind, share) in Kind::MIX {
            let found = picked.iter().filter(|picked| **picked == kind).count() as f64 / 2e4;
            assert!((found - share).abs() < 0.015, "{kind:?}: {found}, not {share}");
        }
    }

    #[test]
    #[should_panic(expected = "a synthetic series of 8 steps; it has at least 16")]
    fn short_series_are_refused() {
        SyntheticSeries::new(1, 1, 8);
    }
}
