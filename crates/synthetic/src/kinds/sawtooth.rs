//! Sawteeth and triangles: a slow rise and a quick fall in each period, as of stocks that are filled up and of batteries.

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{noise, period, trend};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let (period, phase) = (period(draws), draws.unit());
    // The share of the period in which it rises; 1 is a sawtooth.
    let rise = if draws.chance(0.6) { 1.0 } else { draws.between(0.05, 0.95) };
    let sign = if draws.chance(0.5) { 1.0 } else { -1.0 };
    let tooth = |t: usize| sign * tooth((t as f64 / period + phase).fract(), rise);
    let (slope, spread) = (draws.log_between(0.05, 3.0), draws.log_between(0.003, 0.4));
    let (trend, noise) = (trend(draws, len), noise(draws, len));
    let values = (0..len).map(|t| tooth(t) + slope * trend[t] + spread * noise[t]).collect();
    Drawn { values, seasons: vec![period] }
}

/// The height of a tooth from 0 to 1 at a share of its period, in which it rises for the share `rise`.
fn tooth(u: f64, rise: f64) -> f64 {
    if u < rise { u / rise } else { (1.0 - u) / (1.0 - rise) }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn a_tooth_rises_and_falls_within_its_period() {
        assert_eq!([0.0, 0.25, 0.5, 0.75].map(|u| tooth(u, 0.5)), [0.0, 0.5, 1.0, 0.5]);
        assert_eq!([0.0, 0.5, 0.75].map(|u| tooth(u, 1.0)), [0.0, 0.5, 0.75]);
    }

    #[test]
    fn series_are_finite_and_name_their_period() {
        for seed in 0..20 {
            let Drawn { values, seasons } = draw(&mut Draws::new(Key::new(seed)), 800);
            assert!(values.iter().all(|value| value.is_finite()));
            assert!(matches!(seasons[..], [period] if (3.0..=200.0).contains(&period)));
        }
    }
}
