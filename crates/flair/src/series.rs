//! One series: its history taken apart, and paths of its future.

use foretell_data::Key;
use foretell_estimator::{KnownColumn, is_hardly_known, mean, median};

use crate::draws::Draws;
use crate::history::History;
use crate::level::{LEAST_LEVELS, Level, LevelColumn};
use crate::season::{MOST_CYCLES, Season};
use crate::shape::{Shape, second_shape};

/// Changes of a history that is too short for a level, from which its errors are told.
const CHANGES: usize = 50;

/// Deviations within which the errors of such a history stay.
const MOST_DEVIATIONS: f64 = 10.0;

/// Means of a column over cycles: the last ones of the past, and those ahead.
fn of_cycles(column: &KnownColumn, period: usize, cycles: usize) -> LevelColumn {
    let past = &column.past[column.past.len() - period * cycles..];
    let means = |values: &[f64]| values.chunks(period).map(mean).collect();
    LevelColumn { past: means(past), ahead: means(&column.ahead) }
}

/// A series that is ready to be forecast.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeriesModel {
    /// No value is known.
    Unknown,
    /// Too short for a level, or of too few values that are the same: the last value, and the deviation of changes, in units.
    Short { history: History, deviation: f64 },
    /// A level and a shape.
    Whole(Box<Whole>),
}

/// A series of a level and a shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whole {
    history: History,
    shape: Shape,
    /// What the cycles ahead have of their level in a longer season; nothing without one.
    second: Vec<f64>,
    level: Level,
}

impl SeriesModel {
    /// The model of a history, NaN where it is unknown, with one of these seasons, ascending, and columns known ahead, for a
    /// forecast of `h` steps.
    pub(crate) fn new(values: &[f64], seasons: &[usize], columns: &[KnownColumn], h: usize) -> Self {
        let Some(history) = History::new(values) else { return Self::Unknown };
        let tells_nothing = is_hardly_known(values.iter().filter(|y| y.is_finite()));
        if history.y.len() < LEAST_LEVELS || tells_nothing {
            let deviation = match tells_nothing {
                true => history.deviation_unknown(),
                false => root_mean_square_change(&history.y),
            };
            return Self::Short { history, deviation };
        }
        let mut season = Season::choose(&history.y, seasons);
        if season.period > 1 && !season.suffices(history.y.len(), seasons, columns.len()) {
            season = Season::none();
        }
        let period = season.period;
        let cycles = (history.y.len() / period).min(MOST_CYCLES);
        let y = &history.y[history.y.len() - cycles * period..];
        let mut levels: Vec<f64> = y.chunks_exact(period).map(|cycle| cycle.iter().sum()).collect();
        let shape = Shape::of(y, period, &levels);
        levels.iter_mut().for_each(|level| *level *= season.kept);
        let ahead = h.div_ceil(period);
        let longer = season.longer_in_cycles(cycles, seasons);
        let parts = longer.first().and_then(|&longer| second_shape(&levels, longer));
        let mut second = vec![1.0; ahead];
        if let Some(parts) = parts {
            let part = |cycle: usize| parts[cycle % parts.len()];
            levels.iter_mut().enumerate().for_each(|(cycle, level)| *level /= part(cycle));
            second.iter_mut().enumerate().for_each(|(cycle, second)| *second = part(cycles + cycle));
        }
        let columns: Vec<LevelColumn> =
            columns.iter().map(|column| of_cycles(column, period, cycles)).collect();
        let longest = longer.last().copied().unwrap_or(0);
        let level = Level::fit(&levels, longest, &columns, ahead);
        Self::Whole(Box::new(Whole { history, shape, second, level }))
    }

    /// Paths of `h` steps, `[h, paths]`; they are drawn by this key.
    pub(crate) fn paths(&self, h: usize, paths: usize, key: Key) -> Vec<Vec<f64>> {
        let draws = Draws::new(key, paths);
        match self {
            Self::Unknown => vec![vec![0.0; paths]; h],
            Self::Short { history, deviation } => {
                let last = history.y[history.y.len() - 1];
                let bounds = [f64::NEG_INFINITY, f64::INFINITY];
                let most = MOST_DEVIATIONS * deviation;
                let value = |error: f64| history.value(last + error.clamp(-most, most), bounds);
                (0..h).map(|step| draws.normal(step, *deviation).into_iter().map(value).collect()).collect()
            }
            Self::Whole(whole) => whole.paths(h, &draws),
        }
    }

    /// The level of the median path beside each of `h` steps: what the step has without its season.
    pub(crate) fn level(&self, h: usize, paths: usize, key: Key) -> Vec<f64> {
        let Self::Whole(whole) = self else {
            return self.paths(h, paths, key).iter_mut().map(|values| median(values)).collect();
        };
        let period = whole.shape.parts.len();
        let paths = whole.level.paths(&Draws::new(key, paths));
        let of_cycle = |cycle: usize| {
            let mut levels: Vec<f64> = paths.iter().map(|path| path[cycle]).collect();
            whole.history.exact(whole.second[cycle] * median(&mut levels) / period as f64)
        };
        let levels: Vec<f64> = (0..h.div_ceil(period)).map(of_cycle).collect();
        (0..h).map(|step| levels[step / period]).collect()
    }
}

impl Whole {
    /// A path is the level of each cycle times the shape, and the errors of one cycle of the history, which may be any. Where the level's
    /// own errors widen, those of the cycle shrink, as they are in both.
    fn paths(&self, h: usize, draws: &Draws) -> Vec<Vec<f64>> {
        let Self { history, shape, second, level } = self;
        let levels = level.paths(draws);
        let (period, bounds) = (shape.parts.len(), history.bounds(h));
        let cycles = if shape.errors.is_empty() { Vec::new() } else { draws.cycles(shape.errors.len()) };
        let step = |step: usize| {
            let (cycle, place) = (step / period, step % period);
            let of_shape = second[cycle] * shape.parts[place];
            let value = |(path, levels): (usize, &Vec<f64>)| {
                let error = cycles.get(path).map_or(0.0, |&drawn| shape.errors[drawn][place]);
                history.value(levels[cycle] * of_shape * (1.0 + error / level.wider[cycle]), bounds)
            };
            levels.iter().enumerate().map(value).collect()
        };
        (0..h).map(step).collect()
    }
}

impl Season {
    /// Whether there are twice as many levels as the regression has columns, so that its errors of rows left out tell something.
    fn suffices(&self, rows: usize, seasons: &[usize], columns: usize) -> bool {
        let cycles = rows / self.period;
        let longest = self.longer_in_cycles(cycles, seasons).last().copied().unwrap_or(0);
        let width = 3 + usize::from(longest > 0) + columns;
        cycles.saturating_sub(longest.max(1)) >= 2 * width
    }

    /// The longer seasons in cycles, those of which there are two; without a season, the shortest candidate at least.
    fn longer_in_cycles(&self, cycles: usize, seasons: &[usize]) -> Vec<usize> {
        let fits = |longer: &usize| (2..=cycles / 2).contains(longer);
        let mut longer: Vec<usize> =
            self.longer.iter().map(|longer| longer / self.period).filter(fits).collect();
        if self.period == 1 {
            longer.extend(seasons.first().copied().filter(fits));
            longer.sort_unstable();
            longer.dedup();
        }
        longer
    }
}

/// The root of the mean square of the last changes; 0 of a single value.
fn root_mean_square_change(y: &[f64]) -> f64 {
    let recent = &y[y.len() - y.len().min(CHANGES)..];
    let squares: f64 = recent.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    if recent.len() < 2 { 0.0 } else { (squares / (recent.len() - 1) as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medians(values: &[f64], seasons: &[usize], columns: &[KnownColumn], h: usize) -> Vec<f64> {
        let paths = SeriesModel::new(values, seasons, columns, h).paths(h, 200, Key::new(1));
        paths.into_iter().map(|mut values| median(&mut values)).collect()
    }

    #[test]
    fn a_season_on_a_trend_goes_on() {
        let value =
            |t: usize| (200.0 + t as f64) * (1.0 + 0.3 * (t as f64 * std::f64::consts::FRAC_PI_6).sin());
        let y: Vec<f64> = (0..144).map(value).collect();
        for (step, found) in medians(&y, &[12], &[], 12).iter().enumerate() {
            let expected = value(144 + step);
            assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
        }
    }

    #[test]
    fn a_week_of_days_that_are_alike_in_themselves_is_a_second_shape() {
        let value = |t: usize| {
            let weekend = if t / 24 % 7 > 4 { 0.6 } else { 1.0 };
            weekend * (50.0 + 30.0 * (t as f64 * std::f64::consts::TAU / 24.0).sin())
        };
        let y: Vec<f64> = (0..24 * 70).map(value).collect();
        for (step, found) in medians(&y, &[24, 168], &[], 168).iter().enumerate() {
            let expected = value(24 * 70 + step);
            assert!((found - expected).abs() < 5.0, "{step}: {found} {expected}");
        }
    }

    #[test]
    fn multiples_by_powers_of_two_are_forecast_as_multiples() {
        let wave = |t: usize| (10.0 + (t % 12) as f64) * (1.0 + 0.1 * ((t * t) as f64).sin());
        let of_waves: Vec<f64> = (0..100).map(wave).collect();
        let counts: Vec<f64> = (0..100).map(|t| ((t * t * 7) % 11) as f64 - 3.0).collect();
        for y in [of_waves, counts] {
            let before = SeriesModel::new(&y, &[12], &[], 15).paths(15, 50, Key::new(7));
            for factor in [2.0_f64.powi(-70), 0.5, 1024.0] {
                let y: Vec<f64> = y.iter().map(|y| y * factor).collect();
                let after = SeriesModel::new(&y, &[12], &[], 15).paths(15, 50, Key::new(7));
                let expected = before.iter().flatten().map(|y| y * factor);
                assert!(after.iter().flatten().zip(expected).all(|(found, expected)| *found == expected));
            }
        }
    }

    #[test]
    fn any_history_has_a_finite_forecast_within_reach() {
        let histories: [&[f64]; 12] = [
            &[5.0],
            &[5.0, 7.0],
            &[5.0, 7.0, -6.0],
            &[5.0, f64::NAN, 7.0, 9.0],
            &[0.0; 40],
            &[3.5; 40],
            &[-1e30; 9],
            &[1e38, -1e38, 1e38, 1e37, 1e38, 1e38, -1e38, 0.0, 1e38],
            &[1e-38, 2e-38, 3e-38, 1e-38, 1e-38, 2e-38, 1e-38, 9e-38, 1e-38],
            &[f64::NAN, 2.0, f64::NAN],
            &[f64::NAN; 4],
            &[1e-30, 1e30, 1e-30, 1e30, 1e-30, 1e30, 1e-30, 1e30],
        ];
        for y in histories {
            let known = || y.iter().filter(|y| y.is_finite());
            let most = known().fold(0.0, |most: f64, y| most.max(y.abs()));
            for seasons in [&[][..], &[4], &[2, 12]] {
                let model = SeriesModel::new(y, seasons, &[], 9);
                let paths = model.paths(9, 40, Key::new(1));
                let within = |y: &f64| y.is_finite() && y.abs() <= 50.0 * most;
                assert!(
                    paths.len() == 9 && paths.iter().flatten().all(within),
                    "{y:?} {seasons:?}: {paths:?}"
                );
                let alike = known().count() > 3 && known().all(|other| (other - y[0]).abs() == 0.0);
                let same = |found: &f64| (found - y[0]).abs() <= 1e-6 * most;
                assert!(!alike || y[0].is_nan() || paths.iter().flatten().all(same), "{y:?}: {paths:?}");
                assert!(model.level(9, 40, Key::new(1)).iter().all(|level| level.is_finite()));
            }
        }
    }

    #[test]
    fn what_has_hardly_begun_is_not_certain() {
        let ends = |y: &[f64]| -> [f64; 3] {
            let mut paths = SeriesModel::new(y, &[12], &[], 2).paths(2, 200, Key::new(1)).remove(1);
            paths.sort_by(f64::total_cmp);
            [20, 100, 180].map(|place| paths[place])
        };
        // As in the combination of models: an eighth of the value, of 80 % of a normal distribution.
        for y in [&[58.0][..], &[58.0, 58.0], &[58.0; 3], &[f64::NAN, 58.0, f64::NAN]] {
            let [low, middle, high] = ends(y);
            assert!((middle - 58.0).abs() < 0.1, "{y:?}: {middle}");
            assert!((low - 48.7).abs() < 0.3 && (high - 67.3).abs() < 0.3, "{y:?}: {low} to {high}");
        }
        let [low, _, high] = ends(&[0.0]);
        assert!(low < -1.0 && high > 1.0, "{low} to {high}");
        assert_eq!(ends(&[58.0; 4]), [58.0; 3]);
    }

    #[test]
    fn columns_enter_by_cycles() {
        let on = |t: usize| f64::from(u8::from(t / 7 % 3 == 1));
        let y: Vec<f64> = (0..210).map(|t| 80.0 + 40.0 * on(t) + 9.0 * (t % 7) as f64).collect();
        let column = KnownColumn { past: (0..210).map(on).collect(), ahead: (210..224).map(on).collect() };
        let found = medians(&y, &[7], std::slice::from_ref(&column), 14);
        let without = medians(&y, &[7], &[], 14);
        let off = |found: &[f64]| -> f64 {
            let expected = |t: usize| 80.0 + 40.0 * on(t) + 9.0 * (t % 7) as f64;
            found.iter().enumerate().map(|(step, y)| (y - expected(210 + step)).abs()).sum()
        };
        assert!(off(&found) < 0.5 * off(&without), "{} {}", off(&found), off(&without));
    }
}
