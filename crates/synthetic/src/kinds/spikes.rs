//! Spikes and pulses over a calm base: at random times or regular ones, of one step or with a tail (shot noise: Schottky 1918).

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, noise, period};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let mut seasons = Vec::new();
    let spread = draws.log_between(0.01, 1.0);
    let mut values: Vec<f64> = match draws.weighted(&[0.4, 0.3, 0.3]) {
        0 => vec![0.0; len],
        1 => noise(draws, len).into_iter().map(|value| spread * value).collect(),
        _ => {
            let period = period(draws);
            seasons.push(period);
            let steps = Profile::draw(draws, period).steps(period, 0.0, len);
            steps.iter().zip(noise(draws, len)).map(|(step, noise)| step + spread * noise).collect()
        }
    };
    let sign = if draws.chance(0.8) { 1.0 } else { -1.0 };
    let (size, tail) = (draws.log_between(2.0, 20.0), if draws.chance(0.5) { 0.0 } else { draws.unit() });
    let regular = draws.chance(0.6).then(|| period(draws));
    let rate = draws.log_between(0.005, 0.1);
    let (wide, vary) = (draws.whole(1, 4), draws.between(0.0, 0.6));
    let (mut after, mut left) = (0.0, 0);
    for (t, value) in values.iter_mut().enumerate() {
        let begins = match regular {
            Some(period) => ((t + 1) as f64 / period) as usize > (t as f64 / period) as usize,
            None => draws.chance(rate),
        };
        if begins {
            left = wide;
        }
        after *= tail;
        if left > 0 {
            left -= 1;
            after = sign * size * (vary * draws.normal()).exp();
        }
        *value += after;
    }
    seasons.extend(regular);
    Drawn { values, seasons }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn a_few_steps_stand_out() {
        let mut stands_out = 0;
        for seed in 0..60 {
            let mut values = draw(&mut Draws::new(Key::new(seed)), 600).values;
            values.iter_mut().for_each(|value| *value = value.abs());
            values.sort_by(f64::total_cmp);
            assert!(values[599].is_finite());
            stands_out += usize::from(values[599] > 2.0 * values[300]);
        }
        assert!(stands_out > 45, "{stands_out} of 60");
    }
}
