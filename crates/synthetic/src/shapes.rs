//! Parts that several kinds of series are made of: seasonal profiles, trends and noise.

use std::f64::consts::TAU;

use crate::draws::Draws;

/// The numbers of steps in a day, week, month or year of usual frequencies.
pub(crate) const CALENDAR_PERIODS: [f64; 22] = [
    4.0, 5.0, 6.0, 7.0, 10.0, 12.0, 12.0, 14.0, 24.0, 24.0, 24.0, 26.0, 30.0, 48.0, 48.0, 52.0, 60.0, 72.0,
    96.0, 96.0, 144.0, 168.0,
];

/// A period: three times in four one of the calendar's, else any.
pub(crate) fn period(draws: &mut Draws) -> f64 {
    if draws.chance(0.75) { draws.pick(&CALENDAR_PERIODS) } else { draws.log_between(3.0, 200.0) }
}

/// A periodic function with mean 0 and variance 1 over a period, by the fraction of the period that has passed.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    table: Vec<f64>,
    is_smooth: bool,
}

impl Profile {
    /// A sum of a few sines, of bumps such as rush hours, or a level of its own for each step.
    pub(crate) fn draw(draws: &mut Draws, period: f64) -> Self {
        let points = (period.ceil() as usize).clamp(2, 256);
        match draws.weighted(&[0.5, 0.3, 0.2]) {
            0 => Self::sines(draws, points.max(32), period),
            1 => Self::bumps(draws, points.max(32)),
            _ => Self::levels(draws, points),
        }
    }

    fn sines(draws: &mut Draws, points: usize, period: f64) -> Self {
        let most = ((period / 2.0) as usize).clamp(1, 6);
        let (harmonics, fading) = (draws.whole(1, most), draws.between(0.5, 2.0));
        let waves: Vec<[f64; 3]> = (1..=harmonics)
            .map(|k| [k as f64, draws.normal() * (k as f64).powf(-fading), draws.unit()])
            .collect();
        let at = |u: f64| waves.iter().map(|[k, size, phase]| size * (TAU * (k * u + phase)).sin()).sum();
        Self::of((0..points).map(|i| at(i as f64 / points as f64)).collect(), true)
    }

    fn bumps(draws: &mut Draws, points: usize) -> Self {
        let bumps: Vec<[f64; 3]> = (0..draws.whole(1, 3))
            .map(|_| [draws.unit(), draws.log_between(0.03, 0.25), draws.between(0.3, 1.0)])
            .collect();
        let at = |u: f64| {
            let one = |[centre, width, height]: &[f64; 3]| {
                let away = (u - centre).rem_euclid(1.0);
                height * (-0.5 * (away.min(1.0 - away) / width).powi(2)).exp()
            };
            bumps.iter().map(one).sum()
        };
        Self::of((0..points).map(|i| at(i as f64 / points as f64)).collect(), true)
    }

    fn levels(draws: &mut Draws, points: usize) -> Self {
        let peaked = draws.chance(0.5);
        let level = |draws: &mut Draws| if peaked { draws.gamma(0.5) } else { draws.normal() };
        Self::of((0..points).map(|_| level(draws)).collect(), false)
    }

    fn of(mut table: Vec<f64>, is_smooth: bool) -> Self {
        standardise(&mut table);
        Self { table, is_smooth }
    }

    /// Its value after the fraction `u` of a period.
    pub(crate) fn at(&self, u: f64) -> f64 {
        let place = u.rem_euclid(1.0) * self.table.len() as f64;
        let before = (place as usize).min(self.table.len() - 1);
        let value = self.table[before];
        if !self.is_smooth {
            return value;
        }
        value + (place - before as f64) * (self.table[(before + 1) % self.table.len()] - value)
    }

    /// Its values at steps 0 and on, of a period in steps.
    pub(crate) fn steps(&self, period: f64, phase: f64, len: usize) -> Vec<f64> {
        (0..len).map(|t| self.at(t as f64 / period + phase)).collect()
    }
}

/// Shifts and scales to mean 0 and variance 1; a constant becomes 0.
pub(crate) fn standardise(values: &mut [f64]) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let scale = if variance > 1e-20 { variance.sqrt().recip() } else { 0.0 };
    values.iter_mut().for_each(|value| *value = (*value - mean) * scale);
}

/// A trend of a size of about 1 over the whole series: none, a line, a line with bends, growth to a limit, a curve.
pub(crate) fn trend(draws: &mut Draws, len: usize) -> Vec<f64> {
    let n = len as f64;
    match draws.weighted(&[0.25, 0.3, 0.25, 0.1, 0.1]) {
        0 => vec![0.0; len],
        1 => {
            let slope = draws.normal();
            (0..len).map(|t| slope * t as f64 / n).collect()
        }
        2 => bends(draws, len),
        3 => {
            let (size, middle, steepness) = (draws.normal(), draws.unit(), draws.log_between(4.0, 40.0));
            (0..len).map(|t| size / (1.0 + (-steepness * (t as f64 / n - middle)).exp())).collect()
        }
        _ => {
            let (size, power) = (draws.normal(), draws.log_between(0.4, 3.0));
            (0..len).map(|t| size * (t as f64 / n).powf(power)).collect()
        }
    }
}

/// A line whose slope changes at a few times.
pub(crate) fn bends(draws: &mut Draws, len: usize) -> Vec<f64> {
    let changes = draws.whole(1, 6);
    let rate = changes as f64 / len as f64;
    let (mut slope, mut level) = (2.0 * draws.normal() / len as f64, 0.0);
    let step = |_| {
        if draws.chance(rate) {
            slope = 3.0 * draws.normal() / len as f64;
        }
        level += slope;
        level
    };
    (0..len).map(step).collect()
}

/// Noise of variance 1: white, correlated from step to step, of heavy tails, or of a variance that itself varies.
pub(crate) fn noise(draws: &mut Draws, len: usize) -> Vec<f64> {
    let mut values: Vec<f64> = match draws.weighted(&[0.45, 0.25, 0.15, 0.15]) {
        0 => (0..len).map(|_| draws.normal()).collect(),
        1 => {
            let keep = draws.between(0.2, 0.95);
            let mut state = draws.normal() / (1.0 - keep * keep).sqrt();
            let step = |_| {
                state = keep * state + draws.normal();
                state
            };
            (0..len).map(step).collect()
        }
        2 => {
            let degrees = draws.between(2.5, 6.0);
            (0..len).map(|_| draws.student(degrees)).collect()
        }
        _ => {
            let (keep, size) = (draws.between(0.9, 0.995), draws.between(0.05, 0.3));
            let mut log_deviation = 0.0;
            let step = |_| {
                log_deviation = keep * log_deviation + size * draws.normal();
                log_deviation.exp() * draws.normal()
            };
            (0..len).map(step).collect()
        }
    };
    standardise(&mut values);
    values
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn profiles_repeat_and_have_variance_1() {
        for seed in 0..30 {
            let mut draws = Draws::new(Key::new(seed));
            let profile = Profile::draw(&mut draws, 24.0);
            let steps = profile.steps(24.0, 0.3, 240);
            for t in 24..240 {
                assert!((steps[t] - steps[t - 24]).abs() < 1e-6, "seed {seed}");
            }
            let variance = profile.table.iter().map(|x| x * x).sum::<f64>() / profile.table.len() as f64;
            assert!((variance - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn noise_has_variance_1_and_trends_are_finite() {
        for seed in 0..30 {
            let mut draws = Draws::new(Key::new(seed));
            let variance = noise(&mut draws, 500).iter().map(|x| x * x).sum::<f64>() / 500.0;
            assert!((variance - 1.0).abs() < 1e-9, "{variance}");
            assert!(trend(&mut draws, 500).iter().all(|x| x.is_finite() && x.abs() < 20.0));
        }
    }
}
