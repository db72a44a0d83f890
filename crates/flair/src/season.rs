//! The choice of the season, and how much of its first singular value is noise.

use crate::spectrum::squared_singular_values;

/// Cycles that a season must be seen.
pub(crate) const LEAST_CYCLES: usize = 3;

/// Cycles that are looked at.
pub(crate) const MOST_CYCLES: usize = 500;

/// The part of the mean square below which errors are rounding.
const ROUNDING: f64 = 1e-15;

/// The season of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Season {
    /// Its steps; 1 without one.
    pub(crate) period: usize,
    /// The longer candidates.
    pub(crate) longer: Vec<usize>,
    /// The part of the level that is no noise.
    pub(crate) kept: f64,
}

impl Season {
    /// No season.
    pub(crate) fn none() -> Self {
        Self { period: 1, longer: Vec::new(), kept: 1.0 }
    }

    /// The one among `candidates`, ascending, that explains most: a table of its cycles is a product of one shape and the levels of
    /// the cycles, whose numbers the Bayesian information criterion counts, and whose errors are what the first singular value leaves.
    /// No season is a mean.
    pub(crate) fn choose(y: &[f64], candidates: &[usize]) -> Self {
        let fits = |period: &&usize| **period >= 2 && y.len() / **period >= LEAST_CYCLES;
        let Some(shortest) = candidates.iter().find(fits) else { return Self::none() };
        let recent = &y[y.len() - y.len().min(MOST_CYCLES * shortest)..];
        let count = recent.len() as f64;
        let mean = recent.iter().sum::<f64>() / count;
        let floor = ROUNDING * recent.iter().map(|y| y * y).sum::<f64>() / count;
        let criterion = |squares: f64, count: f64, numbers: usize| {
            count * (squares / count).max(floor).max(f64::MIN_POSITIVE).ln() + numbers as f64 * count.ln()
        };
        let mut best = criterion(recent.iter().map(|y| (y - mean).powi(2)).sum(), count, 1);
        let mut season =
            Self { longer: candidates.iter().copied().filter(|&p| p > 1).collect(), ..Self::none() };
        for &period in candidates.iter().filter(fits) {
            let cycles = recent.len() / period;
            if cycles < LEAST_CYCLES {
                continue;
            }
            let table = &recent[recent.len() - cycles * period..];
            let squares = squared_singular_values(table, period);
            let found = criterion(squares[1..].iter().sum(), table.len() as f64, period + cycles - 1);
            if found < best {
                best = found;
                let longer = candidates.iter().copied().filter(|&longer| longer > period).collect();
                season = Self { period, longer, kept: kept(&squares, period, cycles) };
            }
        }
        season
    }
}

/// The part of the first singular value of a table that is no noise: the shrinkage of least squared error of Gavish and Donoho (2017,
/// Optimal Shrinkage of Singular Values, equation 7), where noise is told by the median of all singular values (2014, The Optimal
/// Hard Threshold for Singular Values is 4/sqrt(3), equation 23).
fn kept(squares: &[f64], period: usize, cycles: usize) -> f64 {
    let (first, n) = (squares[0], squares.len());
    let root = |i: usize| squares[i].sqrt();
    let median = if n % 2 == 1 { root(n / 2) } else { 0.5 * (root(n / 2 - 1) + root(n / 2)) };
    if n < 2 || first <= 0.0 || median <= 0.0 {
        return 1.0;
    }
    let aspect = period.min(cycles) as f64 / period.max(cycles) as f64;
    let noise = median * median / marchenko_pastur_median(aspect);
    if first <= (1.0 + aspect.sqrt()).powi(2) * noise {
        return 1.0;
    }
    let a = first - (1.0 + aspect) * noise;
    let under = a * a - 4.0 * aspect * noise * noise;
    if under <= 0.0 {
        return 1.0;
    }
    (((a + under.sqrt()) / 2.0).sqrt() / first.sqrt()).clamp(1e-10, 1.0)
}

/// The median of the law of Marchenko and Pastur: of the squared singular values of noise, at this ratio of the table's sides.
///
/// With `x = 1 + b - 2 sqrt(b) cos(t)` the density over `t` in `[0, pi]` is `2 / pi sin(t)^2 / x`, which is smooth.
fn marchenko_pastur_median(aspect: f64) -> f64 {
    const STEPS: usize = 512;
    let at = |t: f64| 1.0 + aspect - 2.0 * aspect.sqrt() * t.cos();
    let density = |t: f64| {
        // At a ratio of 1 both vanish at 0, where their ratio is 1.
        let x = at(t);
        if x <= 0.0 { 1.0 } else { t.sin().powi(2) / x }
    };
    let step = std::f64::consts::PI / STEPS as f64;
    let half = std::f64::consts::FRAC_PI_4;
    let (mut sum, mut before) = (0.0, density(0.0));
    for i in 1..=STEPS {
        let next = density(i as f64 * step);
        let more = 0.5 * step * (before + next);
        if sum + more >= half {
            return at((i as f64 - 1.0 + (half - sum) / more) * step);
        }
        (sum, before) = (sum + more, next);
    }
    at(std::f64::consts::PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(t: usize) -> f64 {
        ((t * t) as f64 * 0.7391).sin() + ((t * t * t) as f64 * 0.237).cos()
    }

    #[test]
    fn medians_of_noise_are_those_of_the_law() {
        // By scipy, which integrates the density and looks for where it is a half.
        for (aspect, expected) in [(0.05, 0.983_308), (0.5, 0.830_466), (1.0, 0.652_776)] {
            let found = marchenko_pastur_median(aspect);
            assert!((found - expected).abs() < 1e-4, "{aspect}: {found}, not {expected}");
        }
    }

    #[test]
    fn the_season_that_is_there_is_chosen() {
        let y = |wave: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..24 * 60).map(|t| 50.0 + wave(t) + noise(t)).collect()
        };
        let day = |t: usize| 9.0 * (t as f64 * std::f64::consts::TAU / 24.0).sin();
        let candidates = [24, 168];
        let of_days = Season::choose(&y(&day), &candidates);
        assert_eq!((of_days.period, &of_days.longer[..]), (24, &[168][..]));
        assert!(of_days.kept < 1.0 && of_days.kept > 0.99, "{}", of_days.kept);
        let of_weeks =
            Season::choose(&y(&|t| if t % 168 > 120 { 3.0 * day(t) } else { -day(t) }), &candidates);
        assert_eq!((of_weeks.period, of_weeks.longer.len()), (168, 0));
        assert_eq!(Season::choose(&y(&|_| 0.0), &candidates).period, 1);
        assert_eq!(Season::choose(&[7.0; 200], &candidates).period, 1);
        assert_eq!(Season::choose(&y(&day)[..60], &candidates), Season::none());
    }
}
