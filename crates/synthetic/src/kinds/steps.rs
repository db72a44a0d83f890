//! Levels that change at once and stay, ramps between levels, and a switch that is on and off in turn: what smooth processes never do.

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{bends, noise, period};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let mut seasons = Vec::new();
    let mut values = match draws.weighted(&[0.4, 0.3, 0.3]) {
        0 => levels(draws, len),
        1 => bends(draws, len).into_iter().map(|value| 4.0 * value).collect(),
        _ => {
            let (period, share) = (period(draws), draws.between(0.1, 0.9));
            seasons.push(period);
            let slow = levels(draws, len);
            let weight = if draws.chance(0.5) { 0.0 } else { draws.unit() };
            let on = |t: usize| if (t as f64 / period).fract() < share { 1.0 } else { 0.0 };
            (0..len).map(|t| on(t) + weight * slow[t]).collect()
        }
    };
    if draws.chance(0.8) {
        let spread = draws.log_between(0.005, 0.5);
        values.iter_mut().zip(noise(draws, len)).for_each(|(value, noise)| *value += spread * noise);
    }
    Drawn { values, seasons }
}

/// A level that jumps a few times.
fn levels(draws: &mut Draws, len: usize) -> Vec<f64> {
    let rate = draws.log_between(1.0, 20.0) / len as f64;
    let wanders = draws.chance(0.5);
    let mut level = draws.normal();
    let step = |_| {
        if draws.chance(rate) {
            level = draws.normal() + if wanders { level } else { 0.0 };
        }
        level
    };
    (0..len).map(step).collect()
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn levels_stay_and_jump() {
        let mut jumps = 0;
        for seed in 0..20 {
            let values = levels(&mut Draws::new(Key::new(seed)), 500);
            jumps += values.windows(2).filter(|pair| pair[0] != pair[1]).count();
        }
        assert!((20..400).contains(&jumps), "{jumps} jumps in 10,000 steps");
    }
}
