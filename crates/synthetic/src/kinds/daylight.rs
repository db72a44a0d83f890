//! What the sun makes: a clipped sine by day, exact zeros at night, days that lengthen and shorten over a year, clouds that come and go
//! (a clear-sky curve times a clearness index, Graham and Hollands 1990).

use std::f64::consts::TAU;

use crate::drawn::Drawn;
use crate::draws::Draws;

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let day = draws.pick(&[24.0, 24.0, 48.0, 96.0, 144.0]);
    let (phase, year_phase) = (draws.unit(), draws.unit());
    // Above 0 days are longer than nights.
    let (mean_height, seasonal) = (draws.between(-0.2, 0.4), draws.between(0.0, 0.4));
    let keep = draws.between(0.5, 0.98);
    let (cloudy, sharpness) = (draws.log_between(0.05, 1.2), draws.between(0.7, 1.4));
    let limit = draws.chance(0.2).then(|| draws.between(0.4, 0.9));
    let mut clouds = 0.0;
    let values = (0..len).map(|t| {
        let time = t as f64 / day;
        let height = mean_height + seasonal * (TAU * (time / 365.25 + year_phase)).sin();
        let sun = height - (TAU * (time + phase)).cos();
        clouds = keep * clouds + (1.0 - keep * keep).sqrt() * draws.normal();
        if sun <= 0.0 {
            return 0.0;
        }
        let clear = sun.powf(sharpness) * (cloudy * (clouds - 0.5)).exp().min(1.2);
        limit.map_or(clear, |limit| clear.min(limit))
    });
    Drawn { values: values.collect(), seasons: vec![day] }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn nights_are_exactly_0_and_days_are_not() {
        for seed in 0..20 {
            let Drawn { values, seasons } = draw(&mut Draws::new(Key::new(seed)), 1440);
            let dark = values.iter().filter(|value| **value == 0.0).count() as f64 / 1440.0;
            assert!((0.15..0.85).contains(&dark), "{dark}");
            let day = seasons[0] as usize;
            assert!(values.chunks_exact(day).all(|day| day.iter().any(|value| *value > 0.0)));
        }
    }
}
