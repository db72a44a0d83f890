//! Demand that comes now and then (Croston 1972): most steps are exactly 0, the others have a size. Intervals may lengthen until
//! demand ends (obsolescence), come in bursts, or follow a season.

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, period};

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let rate = draws.log_between(0.02, 0.7);
    let (whole, dispersion, size) =
        (draws.chance(0.7), draws.log_between(0.5, 10.0), draws.log_between(1.0, 50.0));
    let mut seasons = Vec::new();
    let season = draws.chance(0.4).then(|| {
        let period = period(draws);
        seasons.push(period);
        (Profile::draw(draws, period).steps(period, 0.0, len), draws.between(0.3, 2.0))
    });
    let fading = if draws.chance(0.2) { draws.between(-2.0, 3.0) } else { 0.0 };
    let bursts = draws.chance(0.25);
    let mut busy = true;
    let values = (0..len).map(|t| {
        if bursts && draws.chance(0.05) {
            busy = !busy;
        }
        let odds = season.as_ref().map_or(0.0, |(steps, size)| size * steps[t]);
        let chance = rate * (odds - fading * t as f64 / len as f64).exp() * if busy { 1.0 } else { 0.1 };
        if !draws.chance(chance.min(0.98)) {
            return 0.0;
        }
        let demand = size * draws.gamma(dispersion) / dispersion;
        if whole { demand.ceil() } else { demand }
    });
    Drawn { values: values.collect(), seasons }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn many_steps_are_exactly_0_and_none_is_below() {
        let (mut zeros, mut all) = (0, 0);
        for seed in 0..60 {
            let drawn = draw(&mut Draws::new(Key::new(seed)), 300);
            assert!(drawn.values.iter().all(|value| *value >= 0.0 && value.is_finite()));
            zeros += drawn.values.iter().filter(|value| **value == 0.0).count();
            all += 300;
        }
        assert!(zeros * 10 > all * 5 && zeros * 100 < all * 95, "{zeros} of {all}");
    }
}
