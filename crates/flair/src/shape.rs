//! The shape of a season, and what the cycles of the history were beside it.

use foretell_estimator::median;

/// Cycles whose mean the shape is.
const SHAPE_CYCLES: usize = 2;

/// Cycles whose errors are drawn.
const NOISE_CYCLES: usize = 50;

/// Cycles from which the means of errors are told.
const LEAST_CYCLES: usize = 4;

const TINY: f64 = 1e-10;

/// What each step of a cycle has of the cycle's sum, and how far the last cycles were off.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// `[period]`; they sum up to 1.
    pub(crate) parts: Vec<f64>,
    /// Relative errors of the last cycles, `[cycles, period]`; none of a cycle of one step, which is its level.
    pub(crate) errors: Vec<Vec<f64>>,
}

impl Shape {
    /// The shape of cycles of `period` values above zero, whose sums are `levels`.
    pub(crate) fn of(y: &[f64], period: usize, levels: &[f64]) -> Self {
        if period == 1 {
            return Self { parts: vec![1.0], errors: Vec::new() };
        }
        let cycles: Vec<&[f64]> = y.chunks_exact(period).collect();
        let last = |count: usize| cycles.len() - count.min(cycles.len())..cycles.len();
        let mut parts = vec![0.0; period];
        for cycle in last(SHAPE_CYCLES) {
            let level = levels[cycle];
            let part = |y: &f64| if level > TINY { y / level } else { 1.0 / period as f64 };
            parts.iter_mut().zip(cycles[cycle]).for_each(|(sum, y)| *sum += part(y));
        }
        let sum = parts.iter().sum::<f64>().max(TINY);
        parts.iter_mut().for_each(|part| *part /= sum);
        let mut errors: Vec<Vec<f64>> = Vec::new();
        let fitted = |cycle: usize| parts.iter().map(move |part| part * levels[cycle]);
        // Where next to nothing is expected, errors are relative to a tenth of what is usual.
        let mut usual: Vec<f64> =
            last(NOISE_CYCLES).flat_map(fitted).map(f64::abs).filter(|y| *y > TINY).collect();
        let least = if usual.is_empty() { 0.0 } else { 0.1 * median(&mut usual) }.max(1e-8);
        for cycle in last(NOISE_CYCLES) {
            let rows = cycles[cycle].iter().zip(fitted(cycle));
            errors.push(rows.map(|(y, fitted)| (y - fitted) / fitted.abs().max(least)).collect());
        }
        if errors.len() >= LEAST_CYCLES {
            center(&mut errors, period);
        }
        Self { parts, errors }
    }
}

/// Takes the part of the mean error of each step away that is by chance: a mean `m` with the standard error `s` keeps
/// `m^2 / (m^2 + s^2)` of itself.
fn center(errors: &mut [Vec<f64>], period: usize) {
    let count = errors.len() as f64;
    for step in 0..period {
        let mean = errors.iter().map(|cycle| cycle[step]).sum::<f64>() / count;
        let squares: f64 = errors.iter().map(|cycle| (cycle[step] - mean).powi(2)).sum();
        let by_chance = squares / (count - 1.0) / count;
        let taken = mean * by_chance / (mean * mean + by_chance + TINY);
        errors.iter_mut().for_each(|cycle| cycle[step] -= taken);
    }
}

/// What the levels of a longer season have of their mean, `[period]`; nothing without two such seasons.
///
/// Means of the history are drawn towards one harmonic, if that explains enough of them by the Bayesian criterion, or else
/// towards no season, the more the fewer seasons there are.
pub(crate) fn second_shape(levels: &[f64], period: usize) -> Option<Vec<f64>> {
    let seasons = levels.len() / period;
    if seasons < 2 {
        return None;
    }
    let (mut sums, mut counts) = (vec![0.0; period], vec![0.0; period]);
    for (i, level) in levels.iter().enumerate() {
        sums[i % period] += level;
        counts[i % period] += 1.0;
    }
    let mut parts: Vec<f64> = sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect();
    let steps = period as f64;
    let mean = parts.iter().sum::<f64>() / steps;
    if mean < TINY {
        return None;
    }
    parts.iter_mut().for_each(|part| *part /= mean);
    let wave = |i: usize| (std::f64::consts::TAU * i as f64 / steps).sin_cos();
    let (mut sine, mut cosine) = (0.0, 0.0);
    for (i, part) in parts.iter().enumerate() {
        let (s, c) = wave(i);
        sine += 2.0 / steps * (part - 1.0) * s;
        cosine += 2.0 / steps * (part - 1.0) * c;
    }
    let harmonic = |i: usize| {
        let (s, c) = wave(i);
        1.0 + sine * s + cosine * c
    };
    let squares = |of: &dyn Fn(usize) -> f64| {
        parts.iter().enumerate().map(|(i, part)| (part - of(i)).powi(2)).sum::<f64>()
    };
    let criterion =
        |squares: f64, numbers: f64| steps * (squares / steps).max(1e-30).ln() + numbers * steps.ln();
    let is_harmonic = criterion(squares(&harmonic), 2.0) < criterion(squares(&|_| 1.0), 0.0);
    let weight = seasons as f64 / (seasons + period) as f64;
    for (i, part) in parts.iter_mut().enumerate() {
        let towards = if is_harmonic { harmonic(i) } else { 1.0 };
        *part = (weight * *part + (1.0 - weight) * towards).max(1e-6);
    }
    let mean = parts.iter().sum::<f64>() / steps;
    parts.iter_mut().for_each(|part| *part /= mean);
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_times_a_level_has_no_errors() {
        let parts = [0.1, 0.5, 0.25, 0.15];
        let levels = [100.0, 140.0, 90.0, 200.0, 120.0];
        let y: Vec<f64> = levels.iter().flat_map(|level| parts.map(|part| part * level)).collect();
        let shape = Shape::of(&y, 4, &levels);
        assert!(shape.parts.iter().zip(parts).all(|(found, part)| (found - part).abs() < 1e-12), "{shape:?}");
        assert_eq!(shape.errors.len(), 5);
        assert!(shape.errors.iter().flatten().all(|error| error.abs() < 1e-12));
        assert_eq!(Shape::of(&levels, 1, &levels), Shape { parts: vec![1.0], errors: Vec::new() });
    }

    #[test]
    fn means_of_errors_by_chance_are_taken_away() {
        let mut errors: Vec<Vec<f64>> =
            (0..8).map(|i| vec![f64::from(i % 2), 5.0 + 1e-3 * f64::from(i % 2)]).collect();
        center(&mut errors, 2);
        let mean = |step: usize| errors.iter().map(|cycle| cycle[step]).sum::<f64>() / 8.0;
        // By chance: 0.5 with a standard error of 0.189. A mean of 5 among errors of 0.001 is none.
        assert!(
            (mean(0) - 0.4375).abs() < 1e-6 && (mean(1) - 5.0005).abs() < 1e-6,
            "{} {}",
            mean(0),
            mean(1)
        );
    }

    #[test]
    fn a_longer_season_is_drawn_towards_a_wave() {
        let wave = |i: usize| 1.0 + 0.3 * (std::f64::consts::TAU * i as f64 / 12.0).sin();
        let levels: Vec<f64> = (0..36).map(|i| 50.0 * wave(i)).collect();
        let parts = second_shape(&levels, 12).expect("three seasons");
        assert!(parts.iter().enumerate().all(|(i, part)| (part - wave(i)).abs() < 1e-9), "{parts:?}");
        // A single high month is drawn towards none: three of fifteen parts remain.
        let peak: Vec<f64> = (0..36).map(|i| if i % 12 == 5 { 62.0 } else { 50.0 }).collect();
        let parts = second_shape(&peak, 12).expect("three seasons");
        assert!((parts[5] - (1.0 + 0.2 * (62.0 / 51.0 - 1.0))).abs() < 1e-9, "{parts:?}");
        assert_eq!(second_shape(&levels[..23], 12), None);
    }
}
