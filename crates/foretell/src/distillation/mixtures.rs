//! Series that are mixed of stretches of others, to have more to teach by (Ansari et al. 2024, "Chronos", arXiv 2403.07815, section 4.1).

use std::ops::Range;

use foretell_data::{Excerpt, Key, Panel, Stream};

/// For each series of a panel `per_series` mixtures of at least `rows` rows: a stretch of the series and one of any series, each by its own
/// mean and deviation, weighted at random and brought to the mean and deviation of the first. Times and other columns are those of the first
/// stretch. Series that are too short for it have none.
pub(super) fn mixtures(panel: &Panel, per_series: usize, rows: usize, seed: u64) -> Vec<Excerpt> {
    let long: Vec<usize> = (0..panel.n_series()).filter(|&series| panel.len(series) > rows).collect();
    let mut all = Vec::with_capacity(per_series * long.len());
    for &series in &long {
        for number in 0..per_series as u64 {
            let key = Key::new(seed).fold(series as u64).fold(number);
            let mut stream = Stream::new(key);
            let mut below = |n: usize| stream.below(n as u64) as usize;
            let other = long[below(long.len())];
            let most = panel.len(series).min(panel.len(other));
            // Of one series, two stretches that differ.
            let len = if series == other { rows.max(most / 2) } else { most };
            let [own_starts, other_starts] = [series, other].map(|series| panel.len(series) - len + 1);
            let from = below(own_starts);
            let other_from = match series == other {
                true => (from + 1 + below(own_starts - 1)) % own_starts,
                false => below(other_starts),
            };
            let (own, others) = (from..from + len, other_from..other_from + len);
            let share = 0.5 + 0.4 * stream.uniform_f64();
            let ends = mixed(panel, (series, own.clone()), (other, others), share);
            all.push(Excerpt { series, rows: own, ends });
        }
    }
    all
}

/// Two stretches in shares of `share` and the rest, at the mean and the deviation of the first; NaN where one of the two is not known.
fn mixed(
    panel: &Panel,
    (series, own): (usize, Range<usize>),
    (other, others): (usize, Range<usize>),
    share: f64,
) -> Vec<f32> {
    let [own, others] =
        [(series, own), (other, others)].map(|(series, rows)| panel.known_values(series, rows));
    let ([mean, deviation], [other_mean, other_deviation]) = (moments(&own), moments(&others));
    let never_negative = own.iter().all(|y| *y >= 0.0 || y.is_nan());
    let level = panel.level(series);
    let mix = |(own, other): (&f64, &f64)| {
        let standard = if other_deviation > 0.0 { (other - other_mean) / other_deviation } else { 0.0 };
        let y = share * own + (1.0 - share) * (mean + deviation * standard);
        level.hold(if never_negative && y < 0.0 { 0.0 } else { y })
    };
    own.iter().zip(&others).map(mix).collect()
}

/// The mean and the standard deviation of the known values.
fn moments(values: &[f64]) -> [f64; 2] {
    let known = || values.iter().filter(|y| !y.is_nan());
    let count = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / count;
    let variance = known().map(|y| (y - mean).powi(2)).sum::<f64>() / count;
    [mean, variance.sqrt()]
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    #[test]
    fn mixtures_have_the_level_of_their_series_and_depend_on_the_seed() {
        let wave = |level: f32, width: f32, speed: f32| -> Vec<f32> {
            (0..60).map(|t| level + width * (t as f32 * speed).sin()).collect()
        };
        let series =
            [("a", 0, wave(10.0, 2.0, 0.7)), ("b", 0, wave(-500.0, 90.0, 1.1)), ("c", 0, vec![1.0; 12])];
        let panel = Panel::from_series(Freq::parse("1").expect("integers"), series).expect("a panel");
        let mixed = mixtures(&panel, 3, 20, 1);
        assert_eq!(mixed.iter().map(|mixture| mixture.series).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
        for Excerpt { series, rows, ends } in &mixed {
            assert_eq!(rows.len(), ends.len());
            assert!(rows.end <= 60 && ends.len() >= 20);
            let (level, width) = [(10.0, 2.0), (-500.0, 90.0)][*series];
            assert!(ends.iter().all(|y| (y - level).abs() < 1.5 * width), "{ends:?}");
            let own = &panel.y(*series)[rows.clone()];
            assert!(ends.iter().zip(own).any(|(mixed, own)| (mixed - own).abs() > 0.01 * width));
        }
        assert_eq!(mixed, mixtures(&panel, 3, 20, 1));
        assert_ne!(mixed, mixtures(&panel, 3, 20, 2));
        assert!(mixtures(&panel, 1, 60, 1).is_empty(), "series of 60 rows have no two stretches of 60");
    }
}
