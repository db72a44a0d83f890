//! The forecasts of all members of one series as one.

use serde::{Deserialize, Serialize};

use crate::grid::{MEDIAN, WIDTH, sort_steps};
use crate::guard::justifies;
use crate::history::{History, SeriesGroup};
use crate::spread::normal;

/// How members are combined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mix {
    /// The weight of each member, which add up to 1.
    pub(crate) weights: Vec<f64>,
    /// Those of groups of series whose own are better.
    pub(crate) groups: Vec<(SeriesGroup, Vec<f64>)>,
    /// The members from the best to the worst, by their places: who stands in for whom.
    pub(crate) order: Vec<usize>,
    /// The distance of the quantiles from the median, relative to the members' own.
    pub(crate) width: f64,
}

impl Mix {
    /// The weights of members for a series of this group.
    pub(crate) fn weights_of(&self, group: SeriesGroup) -> &[f64] {
        self.groups.iter().find(|(known, _)| *known == group).map_or(&self.weights, |(_, weights)| weights)
    }

    /// Members that have a weight for some series, or stand in for others.
    pub(crate) fn weight(&self, member: usize) -> f64 {
        let of_groups = self.groups.iter().map(|(_, weights)| weights[member]);
        of_groups.fold(self.weights[member], f64::max)
    }

    /// The quantiles `[h, WIDTH]` of a series from those of its members, some of which have none, and how many of them were left out
    /// as nothing in the history justifies them. A series that has ended stays at zero.
    pub(crate) fn combined(
        &self,
        history: &History,
        h: usize,
        members: &[Option<&[f32]>],
    ) -> (Vec<f32>, usize) {
        if history.has_ended {
            return (vec![history.range[0] as f32; h * WIDTH], 0);
        }
        let (shares, refused) = self.shares(history, members);
        let Some(shares) = shares else { return (last_value(history, h), refused) };
        let mut values = weighted(&shares, members, h * WIDTH);
        if history.len < FEW_ROWS {
            spread_out(history, &mut values);
        }
        keep_width(history, &mut values);
        self.widen(history, &mut values);
        (values, refused)
    }

    /// The weights of the members of a series, which add up to 1, without those whose forecasts nothing in the history justifies; nothing
    /// where that leaves none. And how many were left out.
    pub(crate) fn shares(&self, history: &History, members: &[Option<&[f32]>]) -> (Option<Vec<f64>>, usize) {
        let is_sound: Vec<bool> =
            members.iter().map(|values| values.is_some_and(|values| justifies(history, values))).collect();
        let left_out = |member: usize| members[member].is_some() && !is_sound[member];
        let own = self.weights_of(history.group);
        let mut weights: Vec<f64> =
            own.iter().zip(&is_sound).map(|(weight, sound)| if *sound { *weight } else { 0.0 }).collect();
        let refused =
            own.iter().enumerate().filter(|(member, weight)| **weight > 0.0 && left_out(*member)).count();
        if weights.iter().all(|weight| *weight == 0.0) {
            match self.order.iter().find(|member| is_sound[**member]) {
                Some(&member) => weights[member] = 1.0,
                None => return (None, refused),
            }
        }
        let all: f64 = weights.iter().sum();
        (Some(weights.into_iter().map(|weight| weight / all).collect()), refused)
    }

    /// The mean demand `[h]` of a series that is zero at most steps, whose median says nothing of the amount: that of the members which
    /// forecast it, by their weights; without any weight the best one's. Nothing of other series, and where no member forecasts it.
    pub(crate) fn mean(&self, history: &History, h: usize, means: &[Option<&[f32]>]) -> Option<Vec<f32>> {
        if !history.is_rare {
            return None;
        }
        let is_sound = |mean: &[f32]| {
            mean.iter().all(|value| (history.range[0]..=history.range[1]).contains(&f64::from(*value)))
        };
        let known = |member: usize| means[member].filter(|mean| is_sound(mean));
        let own = self.weights_of(history.group);
        let weighed: Vec<(f64, &[f32])> =
            own.iter().enumerate().filter_map(|(member, weight)| Some((*weight, known(member)?))).collect();
        let all: f64 = weighed.iter().map(|(weight, _)| weight).sum();
        if all == 0.0 {
            return self.order.iter().find_map(|&member| known(member)).map(<[f32]>::to_vec);
        }
        let mean = |step: usize| {
            weighed.iter().map(|(weight, mean)| weight / all * f64::from(mean[step])).sum::<f64>()
        };
        Some((0..h).map(|step| mean(step) as f32).collect())
    }

    /// Sorts the quantiles, sets their distance from the median, and ends them at zero where the history is never below.
    pub(crate) fn widen(&self, history: &History, values: &mut [f32]) {
        sort_steps(values);
        for step in values.chunks_exact_mut(WIDTH) {
            let median = step[MEDIAN];
            step.iter_mut().for_each(|value| *value = median + (*value - median) * self.width as f32);
        }
        stop_at_least(history, values);
    }
}

/// The weighted mean of what members forecast.
pub(crate) fn weighted(shares: &[f64], members: &[Option<&[f32]>], each: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; each];
    for (share, values) in shares.iter().zip(members) {
        if let Some(values) = values.filter(|_| *share > 0.0) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += share * f64::from(*value));
        }
    }
    sums.into_iter().map(|value| value as f32).collect()
}

/// Keeps what was never below zero there: a trend that continues would sell less than nothing.
fn stop_at_least(history: &History, values: &mut [f32]) {
    if let Some(least) = history.least {
        values.iter_mut().for_each(|value| *value = value.max(least as f32));
    }
}

/// Of fewer rows no model sees how far values spread.
const FEW_ROWS: usize = 4;

/// Gives steps without any width the quantiles of a walk at random: what has hardly begun is not certain.
fn spread_out(history: &History, values: &mut [f32]) {
    for (step, values) in values.chunks_exact_mut(WIDTH).enumerate() {
        if values[0] == values[WIDTH - 1] {
            values
                .iter_mut()
                .zip(normal(step))
                .for_each(|(value, offset)| *value += (offset * history.scale) as f32);
        }
    }
}

/// A model that lets no forecast go further than a bound, as FLAIR does, has one number for all quantiles there: beyond all that was, a step is
/// no more certain than the one before it.
fn keep_width(history: &History, values: &mut [f32]) {
    let [low, high] = history.range;
    let mut before = [0.0; WIDTH];
    for step in values.chunks_exact_mut(WIDTH) {
        let median = step[MEDIAN];
        let at_bound = match f64::from(median) {
            value if value > high && step[WIDTH - 1] <= median => MEDIAN..WIDTH,
            value if value < low && step[0] >= median => 0..MEDIAN,
            _ => 0..0,
        };
        for (value, offset) in step[at_bound.clone()].iter_mut().zip(&before[at_bound]) {
            *value = median + offset;
        }
        before.iter_mut().zip(&*step).for_each(|(offset, value)| *offset = value - median);
    }
}

/// The last value, and the quantiles of a walk at random: of a series that no member can forecast.
fn last_value(history: &History, h: usize) -> Vec<f32> {
    let of_step = |step| normal(step).map(|offset| (history.last + offset * history.scale) as f32);
    let mut values: Vec<f32> = (0..h).flat_map(of_step).collect();
    stop_at_least(history, &mut values);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: f32) -> Vec<f32> {
        (0..2).flat_map(|_| (0..WIDTH).map(move |q| value + q as f32 - 4.0)).collect()
    }

    #[test]
    fn quantiles_are_averaged_by_the_weights_of_the_group() {
        let history = History::of(&(0..40).map(|t| 10.0 + (t % 4) as f32).collect::<Vec<_>>(), 1, 0.0);
        let mix = Mix {
            weights: vec![0.75, 0.25, 0.0],
            groups: vec![(SeriesGroup::Short, vec![0.0, 1.0, 0.0])],
            order: vec![2, 1, 0],
            width: 0.5,
        };
        let (a, b, wild) = (flat(10.0), flat(14.0), flat(1e6));
        let (values, refused) = mix.combined(&history, 2, &[Some(&a), Some(&b), None]);
        assert_eq!((values[MEDIAN], values[0], values[WIDTH - 1], refused), (11.0, 9.0, 13.0, 0));
        let short = History { group: SeriesGroup::Short, ..history };
        assert_eq!(mix.combined(&short, 2, &[Some(&a), Some(&b), None]).0[MEDIAN], 14.0);
        // What cannot be is left to the others, and then to the next best.
        let (values, refused) = mix.combined(&history, 2, &[Some(&wild), Some(&b), None]);
        assert_eq!((values[MEDIAN], refused), (14.0, 1));
        let (values, refused) = mix.combined(&history, 2, &[Some(&wild), None, Some(&a)]);
        assert_eq!((values[MEDIAN], refused), (10.0, 1));
        let (values, _) = mix.combined(&history, 2, &[Some(&wild), None, None]);
        assert_eq!(values[MEDIAN], 13.0, "the last value");
        assert_eq!((mix.weight(0), mix.weight(1), mix.weight(2)), (0.75, 1.0, 0.0));
    }

    #[test]
    fn the_mean_of_rare_demand_is_that_of_members_which_forecast_it() {
        let rare =
            History::of(&(0..40).map(|t| if t % 4 == 0 { 8.0 } else { 0.0 }).collect::<Vec<_>>(), 1, 0.0);
        let mix = |weights: [f64; 3]| Mix {
            weights: weights.into(),
            groups: Vec::new(),
            order: vec![1, 0, 2],
            width: 1.0,
        };
        let means = [None, Some(&[1.0, 1.0][..]), Some(&[3.0, 3.0][..])];
        let mean = |weights, history: &History| mix(weights).mean(history, 2, &means);
        assert_eq!(mean([0.2, 0.6, 0.2], &rare), Some(vec![1.5, 1.5]));
        assert_eq!(mean([1.0, 0.0, 0.0], &rare), Some(vec![1.0, 1.0]), "the best of them");
        assert_eq!(mix([1.0, 0.0, 0.0]).mean(&rare, 2, &[None; 3]), None);
        // What was never sold so often is not the mean, and others have a median.
        assert_eq!(mix([0.0, 1.0, 0.0]).mean(&rare, 2, &[None, Some(&[9.0, 9.0]), None]), None);
        let often = History::of(&[5.0, 6.0].repeat(20), 1, 0.0);
        assert_eq!(mean([0.2, 0.6, 0.2], &often), None);
    }

    #[test]
    fn a_series_that_has_ended_stays_at_zero() {
        let mix = Mix { weights: vec![1.0], groups: Vec::new(), order: vec![0], width: 1.0 };
        let history = History::of(&[&[5.0, 6.0].repeat(10)[..], &[0.0; 20]].concat(), 7, 0.0);
        assert_eq!(mix.combined(&history, 2, &[Some(&flat(5.0))]).0, vec![0.0; 2 * WIDTH]);
    }

    #[test]
    fn a_series_of_one_row_is_not_certain() {
        let mix = Mix { weights: vec![1.0], groups: Vec::new(), order: vec![0], width: 1.0 };
        let sure = vec![58.0; 2 * WIDTH];
        let (values, _) = mix.combined(&History::of(&[58.0], 1, 0.0), 2, &[Some(&sure)]);
        assert!(values[MEDIAN] == 58.0 && values[0] < 52.0 && values[WIDTH - 1] > 64.0, "{values:?}");
        // What was the same four times may stay so.
        assert_eq!(mix.combined(&History::of(&[58.0; 4], 1, 0.0), 2, &[Some(&sure)]).0, sure);
    }

    #[test]
    fn what_is_beyond_all_that_was_is_no_more_certain_than_the_step_before() {
        let mix = Mix { weights: vec![1.0], groups: Vec::new(), order: vec![0], width: 1.0 };
        let growing = History::of(&(0..20).map(|t| 1.2_f32.powi(t)).collect::<Vec<_>>(), 1, 0.0);
        let bounded: Vec<f32> = flat(40.0)[..WIDTH].iter().chain(&[45.0; WIDTH]).copied().collect();
        let values = mix.combined(&growing, 2, &[Some(&bounded)]).0;
        assert_eq!((values[WIDTH + MEDIAN], values[2 * WIDTH - 1]), (45.0, 49.0), "{values:?}");
        let falling = History::of(&(0..20).map(|t| -1.2_f32.powi(t)).collect::<Vec<_>>(), 1, 0.0);
        let mirrored: Vec<f32> =
            bounded.chunks_exact(WIDTH).flat_map(|step| step.iter().rev().map(|y| -y)).collect();
        let values = mix.combined(&falling, 2, &[Some(&mirrored)]).0;
        assert_eq!((values[WIDTH], values[WIDTH + MEDIAN]), (-49.0, -45.0), "{values:?}");
        // What is certain from the first step on is, and so is what the history had.
        let certain: Vec<f32> = [[40.0; WIDTH], [45.0; WIDTH]].concat();
        assert_eq!(mix.combined(&growing, 2, &[Some(&certain)]).0, certain);
        let known: Vec<f32> = flat(20.0)[..WIDTH].iter().chain(&[0.0; WIDTH]).copied().collect();
        assert_eq!(mix.combined(&growing, 2, &[Some(&known)]).0[WIDTH..], [0.0; WIDTH]);
    }

    #[test]
    fn quantiles_of_what_is_never_negative_end_at_zero() {
        let history = History::of(&[0.0, 2.0, 1.0, 0.0, 3.0].repeat(8), 1, 0.0);
        let mix = Mix { weights: vec![1.0], groups: Vec::new(), order: vec![0], width: 1.0 };
        let values = mix.combined(&history, 2, &[Some(&flat(2.0))]).0;
        assert_eq!((values[0], values[MEDIAN], values[WIDTH - 1]), (0.0, 2.0, 6.0));
        // One that falls, and is not yet there.
        let falling = History::of(&(0..40).map(|t| 80.0 - 2.0 * t as f32).collect::<Vec<_>>(), 1, 0.0);
        let values = mix.combined(&falling, 2, &[Some(&flat(-3.0))]).0;
        assert_eq!((values[0], values[MEDIAN], values[WIDTH - 1]), (0.0, 0.0, 1.0));
        let free = History { least: None, ..falling };
        assert_eq!(mix.combined(&free, 2, &[Some(&flat(-3.0))]).0[MEDIAN], -3.0);
    }
}
