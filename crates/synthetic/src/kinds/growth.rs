//! Growth to a limit (Verhulst 1838, Gompertz 1825), growth without one, decay, and an adoption that rises and falls (Bass 1969).

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, noise, period};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let (middle, steepness) = (draws.between(-0.2, 1.2), draws.log_between(2.0, 40.0));
    let curve: fn(f64) -> f64 = draws.pick(&[logistic, gompertz, adoption, exponential, decay]);
    let mut values: Vec<f64> =
        (0..len).map(|t| curve(steepness * (t as f64 / len as f64 - middle))).collect();
    let mut seasons = Vec::new();
    if draws.chance(0.5) {
        let (period, size) = (period(draws), draws.log_between(0.02, 0.4));
        let steps = Profile::draw(draws, period).steps(period, draws.unit(), len);
        values.iter_mut().zip(steps).for_each(|(value, step)| *value *= (1.0 + size * step).max(0.0));
        seasons.push(period);
    }
    let (spread, multiplies) = (draws.log_between(0.003, 0.15), draws.chance(0.5));
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    for (value, noise) in values.iter_mut().zip(noise(draws, len)) {
        *value += spread * noise * if multiplies { *value } else { largest };
    }
    Drawn { values, seasons }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn gompertz(x: f64) -> f64 {
    (-(-x).clamp(-30.0, 30.0).exp()).exp()
}

/// The slope of the logistic curve, times 4.
fn adoption(x: f64) -> f64 {
    4.0 * logistic(x) * logistic(-x)
}

fn exponential(x: f64) -> f64 {
    (0.2 * x).clamp(-20.0, 8.0).exp()
}

fn decay(x: f64) -> f64 {
    exponential(-x)
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn curves_have_their_limits() {
        assert!(logistic(-40.0) < 1e-9 && (logistic(40.0) - 1.0).abs() < 1e-9 && logistic(0.0) == 0.5);
        assert!(gompertz(-40.0) < 1e-9 && (gompertz(40.0) - 1.0).abs() < 1e-9);
        assert!((adoption(0.0) - 1.0).abs() < 1e-12 && adoption(30.0) < 1e-9);
        assert!(
            (exponential(5.0) - 1_f64.exp()).abs() < 1e-9
                && (decay(5.0) * exponential(5.0) - 1.0).abs() < 1e-9
        );
    }

    #[test]
    fn series_are_finite() {
        for seed in 0..40 {
            assert!(draw(&mut Draws::new(Key::new(seed)), 500).values.iter().all(|value| value.is_finite()));
        }
    }
}
