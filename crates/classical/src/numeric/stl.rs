//! A series in trend, season and rest by local regression.
//!
//! Cleveland, Cleveland, McRae and Terpenning 1990, STL: A seasonal-trend decomposition procedure based on loess. Windows, degrees and
//! rounds are those with which statsforecast calls statsmodels: seasons by local means, trends by local lines, five rounds, all
//! values of the same weight.

const ROUNDS: usize = 5;

/// The steps that a local regression sees, and whether it fits a line, not a mean.
#[derive(Clone, Copy)]
struct Loess {
    window: usize,
    line: bool,
}

/// Trend and season of a series.
pub(crate) struct Stl {
    pub trend: Vec<f64>,
    pub season: Vec<f64>,
}

/// Takes a series apart; `window` is the number of seasons that its season changes over.
pub(crate) fn stl(y: &[f64], period: usize, window: usize) -> Stl {
    let n = y.len();
    let odd = |steps: usize| steps + usize::from(steps.is_multiple_of(2));
    let trend_steps = (1.5 * period as f64 / (1.0 - 1.5 / window as f64)).ceil() as usize;
    let of_season = Loess { window, line: false };
    let of_trend = Loess { window: odd(trend_steps), line: true };
    let of_rest = Loess { window: odd(period + 1), line: true };
    let (mut trend, mut season) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..ROUNDS {
        let detrended: Vec<f64> = y.iter().zip(&trend).map(|(y, trend)| y - trend).collect();
        let cycles = cycles(&detrended, period, of_season);
        // What is left of the trend in the season.
        let slow = averages(&averages(&averages(&cycles, period), period), 3);
        let slow = of_rest.smooth(&slow);
        season = cycles[period..period + n].iter().zip(&slow).map(|(cycle, slow)| cycle - slow).collect();
        let without: Vec<f64> = y.iter().zip(&season).map(|(y, season)| y - season).collect();
        trend = of_trend.smooth(&without);
    }
    Stl { trend, season }
}

/// The values of each step of the period smoothed over the periods, with a period more at both ends.
fn cycles(y: &[f64], period: usize, loess: Loess) -> Vec<f64> {
    let mut cycles = vec![0.0; y.len() + 2 * period];
    for step in 0..period {
        let values: Vec<f64> = y.iter().skip(step).step_by(period).copied().collect();
        let count = values.len();
        if count == 0 {
            continue;
        }
        let smooth = loess.smooth(&values);
        let first = loess.at(&values, -1.0, 0, loess.window.min(count)).unwrap_or(smooth[0]);
        let last = loess.at(&values, count as f64, count.saturating_sub(loess.window), count);
        let all = std::iter::once(first).chain(smooth.iter().copied());
        let all = all.chain([last.unwrap_or(smooth[count - 1])]);
        for (cycle, value) in all.enumerate() {
            cycles[cycle * period + step] = value;
        }
    }
    cycles
}

/// The means of this many neighbours.
fn averages(y: &[f64], steps: usize) -> Vec<f64> {
    let mut sum: f64 = y[..steps].iter().sum();
    let mut means = vec![sum / steps as f64];
    for (last, next) in y.iter().zip(&y[steps..]) {
        sum += next - last;
        means.push(sum / steps as f64);
    }
    means
}

impl Loess {
    /// A series smoothed at each of its steps.
    fn smooth(self, y: &[f64]) -> Vec<f64> {
        let n = y.len();
        let steps = self.window.min(n);
        let half = self.window.div_ceil(2);
        let value = |t: usize| {
            let first = (t + 1).saturating_sub(half).min(n - steps);
            self.at(y, t as f64, first, first + steps).unwrap_or(y[t])
        };
        (0..n).map(value).collect()
    }

    /// The regression on the steps `[first, end)` at a place; `None` where no step has any weight.
    fn at(self, y: &[f64], place: f64, first: usize, end: usize) -> Option<f64> {
        let mut reach = (place - first as f64).max((end - 1) as f64 - place);
        reach += (self.window.saturating_sub(y.len()) / 2) as f64;
        let weight = |t: usize| {
            let distance = (t as f64 - place).abs();
            if distance > 0.999 * reach {
                0.0
            } else if distance <= 0.001 * reach {
                1.0
            } else {
                let share = distance / reach;
                (1.0 - share * share * share).powi(3)
            }
        };
        // Sums of the weights, with the distance and its square.
        let [mut sum, mut first_moment, mut second_moment, mut values, mut products] = [0.0; 5];
        for t in first..end {
            let (weight, distance) = (weight(t), t as f64 - place);
            sum += weight;
            first_moment += weight * distance;
            second_moment += weight * distance * distance;
            values += weight * y[t];
            products += weight * distance * y[t];
        }
        if sum <= 0.0 {
            return None;
        }
        let (mean, centre) = (values / sum, first_moment / sum);
        let spread = second_moment / sum - centre * centre;
        if !self.line || reach <= 0.0 || spread.max(0.0).sqrt() <= 0.001 * (y.len() - 1) as f64 {
            return Some(mean);
        }
        let slope = (products / sum - centre * mean) / spread;
        Some(mean - slope * centre)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_a_season_that_stays_are_found() {
        let shape = [2.0, -1.0, 0.0, -1.0];
        let y: Vec<f64> = (0..40).map(|t| 3.0 + 0.25 * t as f64 + shape[t % 4]).collect();
        let found = stl(&y, 4, 11);
        for t in 0..y.len() {
            assert!((found.season[t] - shape[t % 4]).abs() < 0.02, "{t}: {}", found.season[t]);
            assert!((found.trend[t] - 3.0 - 0.25 * t as f64).abs() < 0.03, "{t}: {}", found.trend[t]);
        }
    }

    #[test]
    fn a_local_line_goes_through_a_line_and_averages_shorten() {
        let y: Vec<f64> = (0..9).map(|t| 2.0 * f64::from(t)).collect();
        let smooth = Loess { window: 5, line: true }.smooth(&y);
        assert!(smooth.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-9), "{smooth:?}");
        assert_eq!(averages(&[1.0, 2.0, 3.0, 4.0], 3), [2.0, 3.0]);
    }
}
