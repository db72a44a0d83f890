//! Simulated exponential smoothing in its state-space form (Hyndman, Koehler, Ord and Snyder 2008): errors and seasons that add or
//! multiply, a trend that may fade.

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, period};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let (multiplies, has_trend, has_season) = (draws.chance(0.4), draws.chance(0.5), draws.chance(0.65));
    let alpha = draws.between(0.02, 0.99);
    let beta = alpha * draws.log_between(0.005, 0.4);
    let gamma = (1.0 - alpha) * draws.log_between(0.005, 0.5);
    let fade = if draws.chance(0.5) { draws.between(0.8, 0.995) } else { 1.0 };
    let spread = if multiplies { draws.log_between(0.005, 0.08) } else { 1.0 };
    let (mut level, mut slope) = if multiplies {
        (100.0, if has_trend { 0.2 * draws.normal() } else { 0.0 })
    } else {
        (0.0, if has_trend { 0.1 * draws.normal() } else { 0.0 })
    };
    let (mut season, mut seasons) = (vec![if multiplies { 1.0 } else { 0.0 }], Vec::new());
    if has_season {
        let period = period(draws).round().clamp(2.0, 200.0);
        let size = if multiplies { draws.log_between(0.03, 0.3) } else { draws.log_between(0.5, 10.0) };
        season = Profile::draw(draws, period).steps(period, 0.0, period as usize);
        let effect = |value: f64| if multiplies { (1.0 + size * value).max(0.05) } else { size * value };
        season.iter_mut().for_each(|value| *value = effect(*value));
        seasons.push(period);
    }
    let m = season.len();
    let mut values = Vec::with_capacity(len);
    for t in 0..len {
        let (base, effect) = (level + fade * slope, season[t % m]);
        let noise = spread * draws.normal();
        let season_moves = if has_season { gamma } else { 0.0 };
        if multiplies {
            let fitted = base * effect;
            values.push(fitted * (1.0 + noise));
            level = base * (1.0 + alpha * noise);
            slope = fade * slope + if has_trend { beta * base * noise } else { 0.0 };
            season[t % m] = effect * (1.0 + season_moves * noise);
        } else {
            values.push(base + effect + noise);
            level = base + alpha * noise;
            slope = fade * slope + if has_trend { beta * noise } else { 0.0 };
            season[t % m] = effect + season_moves * noise;
        }
    }
    Drawn { values, seasons }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn series_are_finite_and_seasons_show() {
        let (mut seasonal, mut shown) = (0, 0);
        for seed in 0..60 {
            let drawn = draw(&mut Draws::new(Key::new(seed)), 600);
            assert!(drawn.values.iter().all(|value| value.is_finite()), "seed {seed}");
            if let [period] = drawn.seasons[..] {
                let period = period as usize;
                let change = |lag: usize| -> f64 {
                    (200..600).map(|t| (drawn.values[t] - drawn.values[t - lag]).abs()).sum()
                };
                seasonal += 1;
                shown += usize::from(change(period) < change(period - period / 2 + 1));
            }
        }
        assert!(seasonal > 25 && shown * 2 > seasonal, "{shown} of {seasonal}");
    }
}
