//! Counts: Poisson numbers whose mean follows a season and a slow process, and wider ones (negative binomial: a Poisson number of a gamma
//! mean), as in INGARCH and doubly stochastic models (Davis, Fokianos, Holan, Joe, Livsey, Lund, Pipiras and Ravishanker 2021).

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, period, trend};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let level = draws.log_between(0.3, 200.0);
    let mut log_mean: Vec<f64> = trend(draws, len).iter().map(|value| 0.7 * value).collect();
    let mut seasons = Vec::new();
    if draws.chance(0.7) {
        let (period, size) = (period(draws), draws.log_between(0.1, 1.0));
        let steps = Profile::draw(draws, period).steps(period, draws.unit(), len);
        log_mean.iter_mut().zip(steps).for_each(|(mean, step)| *mean += size * step);
        seasons.push(period);
    }
    let (keep, wander) = (draws.between(0.5, 0.99), draws.log_between(0.01, 0.3));
    let dispersion = draws.chance(0.5).then(|| draws.log_between(0.7, 20.0));
    let mut state = 0.0;
    let values = log_mean.into_iter().map(|log_mean| {
        state = keep * state + wander * draws.normal();
        let mean = level * (log_mean + state).clamp(-6.0, 3.0).exp();
        let mean = dispersion.map_or(mean, |shape| mean * draws.gamma(shape) / shape);
        draws.poisson(mean)
    });
    Drawn { values: values.collect(), seasons }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn counts_are_whole_and_not_below_0() {
        for seed in 0..40 {
            let drawn = draw(&mut Draws::new(Key::new(seed)), 300);
            assert!(drawn.values.iter().all(|value| *value >= 0.0 && value.fract() == 0.0));
        }
    }
}
