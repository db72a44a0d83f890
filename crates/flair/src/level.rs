//! The level of a series, cycle by cycle: a ridge regression on its own past, and paths of its future.

use foretell_estimator::{mean, variance};

use crate::box_cox::BoxCox;
use crate::draws::Draws;
use crate::ridge::Ridge;

/// Levels that a regression needs.
pub(crate) const LEAST_LEVELS: usize = 3;

/// Errors from which others are drawn; of fewer, their mean square is that of a distribution.
const LEAST_ERRORS: usize = 4;

/// The largest leverage that widens intervals.
const MOST_LEVERAGE: f64 = 10.0;

const TINY: f64 = 1e-10;

/// A column known ahead, as the level sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LevelColumn {
    /// Means of the cycles of the history.
    pub(crate) past: Vec<f64>,
    /// Means of the cycles ahead.
    pub(crate) ahead: Vec<f64>,
}

/// A regression of levels, and what it says of the cycles ahead.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    by: BoxCox,
    /// Transformed levels, relative to the last.
    past: Vec<f64>,
    last: f64,
    /// What each cycle ahead has beside its past: constant, trend, columns.
    beside: Vec<f64>,
    /// The coefficient of the level before.
    previous: f64,
    /// The cycles of a longer season, and the coefficient of the level one of them before.
    season: Option<(usize, f64)>,
    /// Errors to draw from, or the root of their mean square.
    errors: Result<Vec<f64>, f64>,
    /// What the errors of each cycle ahead are multiplied by: the root of 1 and its leverage.
    pub(crate) wider: Vec<f64>,
}

impl Level {
    /// Fits levels above zero, of which the one a longer season ago may say more, and forecasts `ahead` cycles.
    pub(crate) fn fit(levels: &[f64], season: usize, columns: &[LevelColumn], ahead: usize) -> Self {
        let count = levels.len();
        let by = BoxCox::likeliest(levels);
        let mut past: Vec<f64> = levels.iter().map(|&level| by.forward(level)).collect();
        let trend = Trend::of(&past);
        let last = past[count - 1];
        past.iter_mut().for_each(|level| *level -= last);
        let mut start = season.max(1);
        let mut season = (season >= 2).then_some(season);
        if season.is_some() && count < start + LEAST_LEVELS {
            (start, season) = (1, None);
        }
        let rows = count - start;
        // With the change as the target and the level before with the other sign, a penalty draws towards the level before.
        let is_change = rows >= LEAST_LEVELS;
        let sign = if is_change { -1.0 } else { 1.0 };
        let columns: Vec<LevelColumn> = columns.iter().map(|column| column.standard(start)).collect();
        let mut design = vec![vec![1.0; rows], (start..count).map(|t| t as f64 / count as f64).collect()];
        design.push(past[start - 1..count - 1].iter().map(|level| sign * level).collect());
        design.extend(season.map(|season| past[start - season..count - season].to_vec()));
        design.extend(columns.iter().map(|column| column.past[start..].to_vec()));
        let before = |t: usize| if is_change { past[t - 1] } else { 0.0 };
        let target: Vec<f64> = (start..count).map(|t| past[t] - before(t)).collect();
        let ridge = Ridge::fit(design, &target);
        let [constant, slope, previous] = [0, 1, 2].map(|i| ridge.coefficients[i]);
        let previous = if is_change { 1.0 - previous } else { previous };
        let (of_season, of_columns) = ridge.coefficients[3..].split_at(usize::from(season.is_some()));
        let season = season.zip(of_season.first().copied());
        let beside: Vec<f64> = (0..ahead)
            .map(|cycle| {
                let known: f64 =
                    columns.iter().zip(of_columns).map(|(column, b)| column.ahead[cycle] * b).sum();
                constant + slope * trend.at(cycle + 1) + known
            })
            .collect();
        let mut level =
            Self { by, past, last, beside, previous, season, errors: Err(0.0), wider: Vec::new() };
        // The expected path, and the row of the regression that each of its cycles is.
        let mut expected = Vec::with_capacity(ahead);
        for cycle in 0..ahead {
            let mut row = vec![1.0, trend.at(cycle + 1), sign * level.before(&expected, 1)];
            row.extend(level.season.map(|(season, _)| level.before(&expected, season)));
            row.extend(columns.iter().map(|column| column.ahead[cycle]));
            level.wider.push((1.0 + ridge.leverage(&row).clamp(0.0, MOST_LEVERAGE)).sqrt());
            expected.push(level.next(&expected));
        }
        let mut errors = ridge.errors;
        let rows = errors.len() as f64;
        level.errors = if errors.len() < LEAST_ERRORS {
            Err((errors.iter().map(|error| error * error).sum::<f64>() / rows).sqrt())
        } else {
            let mean = mean(&errors);
            errors.iter_mut().for_each(|error| *error -= mean);
            Ok(errors)
        };
        level
    }

    /// The level `cycles` before the one that follows `path`.
    fn before(&self, path: &[f64], cycles: usize) -> f64 {
        match path.len().checked_sub(cycles) {
            Some(place) => path[place],
            None => self.past[self.past.len() + path.len() - cycles],
        }
    }

    /// The level that is expected after a path.
    fn next(&self, path: &[f64]) -> f64 {
        let of_season = self.season.map_or(0.0, |(season, b)| b * self.before(path, season));
        self.beside[path.len()] + self.previous * self.before(path, 1) + of_season
    }

    /// Paths of the cycles ahead, `[paths, cycles]`.
    pub(crate) fn paths(&self, draws: &Draws) -> Vec<Vec<f64>> {
        let mut paths = vec![Vec::with_capacity(self.beside.len()); draws.paths()];
        for (cycle, wider) in self.wider.iter().enumerate() {
            let errors = match &self.errors {
                Ok(errors) => draws.among(cycle, errors),
                Err(deviation) => draws.student(cycle, *deviation),
            };
            for (path, error) in paths.iter_mut().zip(errors) {
                path.push(self.next(path) + wider * error);
            }
        }
        for level in paths.iter_mut().flatten() {
            *level = self.by.back(*level + self.last);
        }
        paths
    }
}

impl LevelColumn {
    /// The column with mean 0 and deviation 1 from a cycle on.
    fn standard(&self, start: usize) -> Self {
        let rows = &self.past[start..];
        let (mean, deviation) = (mean(rows), variance(rows).sqrt());
        let scale = if deviation > TINY * mean.abs() { deviation } else { 1.0 };
        let of = |values: &[f64]| values.iter().map(|x| (x - mean) / scale).collect();
        Self { past: of(&self.past), ahead: of(&self.ahead) }
    }
}

/// A trend that fades: as fast as changes of the level lose touch with those before.
struct Trend {
    count: f64,
    persistence: f64,
}

impl Trend {
    fn of(levels: &[f64]) -> Self {
        let count = levels.len() as f64;
        let mut changes: Vec<f64> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = mean(&changes);
        changes.iter_mut().for_each(|change| *change -= mean);
        let squares: f64 = changes.iter().map(|change| change * change).sum();
        let products: f64 = changes.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let told = changes.len() >= 5 && squares >= TINY;
        Self { count, persistence: if told { (products / squares).clamp(0.0, 1.0 - TINY) } else { 0.0 } }
    }

    /// The trend's column some cycles ahead.
    fn at(&self, cycles: usize) -> f64 {
        let p = self.persistence;
        let more = if p <= TINY { 0.0 } else { p * (1.0 - p.powi(cycles as i32)) / (1.0 - p) };
        (self.count - 1.0 + more) / self.count
    }
}

#[cfg(test)]
mod tests {
    use foretell_data::Key;

    use super::*;

    fn median_path(level: &Level) -> Vec<f64> {
        let paths = level.paths(&Draws::new(Key::new(1), 101));
        (0..paths[0].len())
            .map(|cycle| {
                let mut values: Vec<f64> = paths.iter().map(|path| path[cycle]).collect();
                foretell_estimator::median(&mut values)
            })
            .collect()
    }

    #[test]
    fn a_level_that_stays_is_forecast_to_stay() {
        let level = Level::fit(&[5000.0; 20], 0, &[], 4);
        assert!(median_path(&level).iter().all(|y| (y - 5000.0).abs() < 1e-6), "{level:?}");
    }

    #[test]
    fn a_level_of_seasons_follows_them() {
        let y: Vec<f64> = (0..40).map(|t| 2000.0 + [0.0, 400.0, -300.0, 100.0][t % 4]).collect();
        let level = Level::fit(&y, 4, &[], 8);
        for (found, expected) in median_path(&level).iter().zip(&y[..8]) {
            assert!((found - expected).abs() < 20.0, "{found} {expected}");
        }
    }

    #[test]
    fn a_column_moves_the_level() {
        let on = |t: usize| f64::from(u8::from(t % 5 == 2 || t % 7 == 3));
        let y: Vec<f64> = (0..60).map(|t| 3000.0 + 500.0 * on(t) + 10.0 * (t as f64).sin()).collect();
        let column = LevelColumn { past: (0..60).map(on).collect(), ahead: (60..66).map(on).collect() };
        let level = Level::fit(&y, 0, std::slice::from_ref(&column), 6);
        for (found, on) in median_path(&level).iter().zip(&column.ahead) {
            assert!((found - 3000.0 - 500.0 * on).abs() < 60.0, "{found} {on}");
        }
    }

    #[test]
    fn a_trend_fades_as_its_changes_do() {
        let alternating: Vec<f64> = (0..20).map(|t| f64::from(t % 2)).collect();
        assert_eq!(Trend::of(&alternating).at(7), 19.0 / 20.0);
        let waves: Vec<f64> = (0..40).map(|t| (f64::from(t) * 0.3).sin()).collect();
        let trend = Trend::of(&waves);
        assert!(trend.persistence > 0.8, "{}", trend.persistence);
        assert!(trend.at(2) > trend.at(1) && trend.at(500) < 39.0 / 40.0 + 1.0);
    }

    #[test]
    fn three_levels_are_enough() {
        let level = Level::fit(&[900.0, 1000.0, 1100.0], 0, &[], 3);
        assert!(level.errors.is_err());
        assert!(median_path(&level).iter().all(|y| y.is_finite()), "{level:?}");
    }
}
