//! Trend times seasons times noise with the features of a calendar (the prior of ForecastPFN: Dooley et al. 2023, arXiv 2311.01933,
//! widened): hours of a day, days of a week, weeks and months of a year; months of unequal lengths; holidays that come again each
//! year; days and hours that are closed, whose values are exactly 0.

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::{Profile, noise, trend};

/// Steps of a cycle and those of the next longer one, by frequency; 0 where there is none.
const FREQUENCIES: [[f64; 3]; 11] = [
    [24.0, 168.0, 0.0],
    [24.0, 168.0, 0.0],
    [48.0, 336.0, 0.0],
    [96.0, 0.0, 0.0],
    [144.0, 0.0, 0.0],
    [7.0, 365.25, 30.44],
    [7.0, 365.25, 0.0],
    [5.0, 21.0, 261.0],
    [52.18, 0.0, 0.0],
    [12.0, 0.0, 0.0],
    [4.0, 0.0, 0.0],
];

const MONTHS: [f64; 12] = [31.0, 28.25, 31.0, 30.0, 31.0, 30.0, 31.0, 31.0, 30.0, 31.0, 30.0, 31.0];

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let periods = draws.pick(&FREQUENCIES);
    let multiplicative = draws.chance(0.6);
    let start = draws.below(400);
    let mut pattern = vec![0.0; len];
    let mut seasons = Vec::new();
    for (place, period) in periods.into_iter().filter(|period| *period > 0.0).enumerate() {
        if place > 0 && draws.chance(0.3) {
            continue;
        }
        let profile = Profile::draw(draws, period);
        let size = draws.log_between(0.1, 1.0) * if place == 0 { 1.0 } else { 0.7 };
        let (phase, evolves) = (start as f64 / period, draws.chance(0.2));
        let change = if evolves { draws.normal() } else { 0.0 };
        for (t, (value, step)) in pattern.iter_mut().zip(profile.steps(period, phase, len)).enumerate() {
            *value += size * step * (1.0 + change * t as f64 / len as f64);
        }
        seasons.push(period);
    }
    let trend = trend(draws, len);
    let noise = noise(draws, len);
    let (slope, spread) = (draws.log_between(0.05, 2.0), draws.log_between(0.01, 0.6));
    let mut values: Vec<f64> = if multiplicative {
        // In the logarithm, so that nothing falls below 0.
        let log = |t: usize| slope * trend[t] + 0.6 * pattern[t] + 0.6 * spread * noise[t];
        (0..len).map(|t| log(t).clamp(-8.0, 8.0).exp()).collect()
    } else {
        let level = draws.between(0.0, 5.0);
        (0..len).map(|t| level + 2.0 * slope * trend[t] + pattern[t] + spread * noise[t]).collect()
    };
    if periods[0] == 12.0 && draws.chance(0.5) {
        values.iter_mut().enumerate().for_each(|(t, value)| *value *= MONTHS[(start + t) % 12] / 30.4);
    }
    if periods[1] > 300.0 && periods[1] < 366.0 && draws.chance(0.4) {
        holidays(draws, &mut values, start);
    }
    if multiplicative && draws.chance(0.3) {
        close(draws, &mut values, periods, start);
    }
    Drawn { values, seasons }
}

/// Days that are like no other, on the same days of each year.
fn holidays(draws: &mut Draws, values: &mut [f64], start: usize) {
    for _ in 0..draws.whole(1, 8) {
        let (day, factor) = (draws.below(365), draws.log_between(0.1, 4.0));
        for (t, value) in values.iter_mut().enumerate() {
            if ((start + t) as f64 % 365.25) as usize == day {
                *value *= factor;
            }
        }
    }
}

/// Weekdays or hours of a day without any value but 0.
fn close(draws: &mut Draws, values: &mut [f64], [day, week, _]: [f64; 3], start: usize) {
    let (cycle, from, to) = match day as usize {
        7 => (7, 0, draws.whole(1, 2)),
        steps @ (24 | 48 | 96 | 144) if week == 0.0 || draws.chance(0.6) => {
            let open = draws.whole(steps / 4, 3 * steps / 4);
            (steps, 0, steps - open)
        }
        steps @ (24 | 48) => (7 * steps, 0, steps * draws.whole(1, 2)),
        _ => return,
    };
    for (t, value) in values.iter_mut().enumerate() {
        if (from..to).contains(&((start + t) % cycle)) {
            *value = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn closed_steps_are_exactly_0_in_every_cycle() {
        let mut draws = Draws::new(Key::new(8));
        for periods in [[7.0, 365.25, 0.0], [24.0, 168.0, 0.0], [96.0, 0.0, 0.0]] {
            let mut values = vec![1.0; 2000];
            close(&mut draws, &mut values, periods, 3);
            let zeros = values.iter().filter(|value| **value == 0.0).count();
            assert!(zeros > 200 && zeros < 1800, "{zeros}");
            let cycle =
                [7, 168, 96].into_iter().find(|cycle| (*cycle..2000).all(|t| values[t] == values[t - cycle]));
            assert!(cycle.is_some());
        }
    }

    #[test]
    fn holidays_come_again_each_year() {
        let mut values = vec![1.0; 1500];
        holidays(&mut Draws::new(Key::new(2)), &mut values, 0);
        let changed: Vec<usize> = (0..1500).filter(|t| values[*t] != 1.0).collect();
        assert!(changed.len() >= 4);
        let again = |t: &usize| (364..=366).any(|year| changed.contains(&(t + year)));
        assert!(changed.iter().filter(|t| **t < 1000).all(again), "{changed:?}");
    }

    #[test]
    fn factors_leave_nothing_below_0() {
        let mut nothing_below = 0;
        for seed in 0..40 {
            let drawn = draw(&mut Draws::new(Key::new(seed)), 400);
            assert!(drawn.values.iter().all(|value| value.is_finite()));
            nothing_below += usize::from(drawn.values.iter().all(|value| *value >= 0.0));
        }
        assert!(nothing_below > 20, "{nothing_below} of 40");
    }
}
