//! From losses on windows to the weights of members.

use std::collections::BTreeMap;

use crate::greedy::greedy;
use crate::grid::{MEDIAN, WIDTH};
use crate::history::SeriesGroup;
use crate::loss::{Case, Criterion};
use crate::mix::Mix;

/// A member whose loss is within this share of the best one's is a good one.
const GOOD: f64 = 0.10;

/// The same of a member that is good as a rule.
const FAVOURED: f64 = 0.25;

/// This many times farther off a good member may be where windows tell nothing.
const DOUBT: f64 = 1.0;

/// Most members among which weight is shared where windows tell little.
const SHARED: usize = 5;

/// This many series, a window each, tell as much as the belief that good members deserve the same weight.
const BELIEF: f64 = 8.0;

/// The share of the seasonal naive where windows say nothing for the others, and how many standard errors their gain is to be for none of it.
const NO_EVIDENCE: f64 = 0.5;
const SURE: f64 = 1.5;

/// The deviation of a gain from one window of a series to the next, as a share of the seasonal naive's error, that is taken for granted
/// beside the one that is seen.
const USUAL_DEVIATION: f64 = 0.3;

/// A weight below this one is not worth the time of its member.
const LEAST: f64 = 0.05;

/// A group has weights of its own if it has this number of series, and these lower its loss by this share on series that did not choose them.
const GROUP_SERIES: usize = 10;
const GROUP_GAIN: f64 = 0.01;

/// What members forecast of the cases that weights are chosen by: `[member][case]`, quantiles `[h, WIDTH]`.
pub(crate) struct Rehearsal<'a> {
    pub(crate) cases: &'a [Case],
    pub(crate) forecasts: &'a [Vec<Vec<f32>>],
    pub(crate) criterion: Criterion,
    /// The place of the seasonal naive among the members.
    pub(crate) baseline: usize,
    /// The places of members that are good as a rule.
    pub(crate) favoured: Vec<usize>,
    /// Whether the best member alone is to forecast.
    pub(crate) best_alone: bool,
}

impl Rehearsal<'_> {
    /// How members are to be combined.
    pub(crate) fn mix(&self) -> Mix {
        let all: Vec<usize> = (0..self.cases.len()).collect();
        let losses = self.losses(&all);
        let mut order: Vec<usize> = (0..losses.len()).collect();
        order.sort_by(|&a, &b| losses[a].total_cmp(&losses[b]).then(a.cmp(&b)));
        let weights = self.weights(&all);
        let mut mix = Mix { weights, groups: Vec::new(), order, width: 1.0 };
        if !self.best_alone {
            for group in SeriesGroup::ALL {
                let own: Vec<usize> =
                    all.iter().copied().filter(|&case| self.cases[case].history.group == group).collect();
                if own.len() < all.len() && self.gains(&own, &mix.weights) {
                    mix.groups.push((group, self.weights(&own)));
                }
            }
        }
        mix.width = self.width(&mix);
        // Never worse than the seasonal naive, as far as windows tell, and are to be trusted.
        if self.loss_of(&mix, &all) > losses[self.baseline]
            && mix.weight(self.baseline) < 1.0
            && !self.best_alone
        {
            let share = match self.trust(&all) {
                trust if trust > 0.7 => 1.0,
                trust => trust.sqrt(),
            };
            mix.weights.iter_mut().for_each(|weight| *weight *= 1.0 - share);
            mix.weights[self.baseline] += share;
            mix.groups.clear();
            mix.width = self.width(&mix);
        }
        if !self.best_alone {
            let share = NO_EVIDENCE * (1.0 - self.evidence(&mix) / SURE).clamp(0.0, 1.0);
            if share >= LEAST {
                let of_groups = mix.groups.iter_mut().map(|(_, weights)| weights);
                for weights in of_groups.chain([&mut mix.weights]) {
                    // No more than the share, where the seasonal naive has a weight already.
                    let more =
                        (share - weights[self.baseline]).max(0.0) / (1.0 - weights[self.baseline]).max(LEAST);
                    weights.iter_mut().for_each(|weight| *weight *= 1.0 - more);
                    weights[self.baseline] += more;
                }
                mix.width = self.width(&mix);
            }
        }
        mix
    }

    /// By how many of its standard errors the median that is combined is better than the seasonal naive: over series, or over the windows of
    /// the only one.
    fn evidence(&self, mix: &Mix) -> f64 {
        let loss = |case: usize, values: &[f32]| Criterion::Mase.loss(&self.cases[case], values);
        let mut by_series: BTreeMap<usize, Vec<[f64; 2]>> = BTreeMap::new();
        for (case, known) in self.cases.iter().enumerate() {
            let naive = loss(case, &self.forecasts[self.baseline][case]);
            let gain = naive - loss(case, &self.combined(mix, case));
            by_series.entry(known.series).or_default().push([naive, gain]);
        }
        let mean = |all: &[[f64; 2]], which: usize| {
            all.iter().map(|pair| pair[which]).sum::<f64>() / all.len() as f64
        };
        let units: Vec<[f64; 2]> = match by_series.len() {
            1 => by_series.into_values().flatten().collect(),
            _ => by_series.values().map(|windows| [0, 1].map(|which| mean(windows, which))).collect(),
        };
        let (naive, gain) = (mean(&units, 0), mean(&units, 1));
        let squares: f64 = units.iter().map(|[_, own]| (own - gain).powi(2)).sum();
        let n = units.len() as f64;
        let deviation = squares / (n - 1.0).max(1.0) + (USUAL_DEVIATION * naive).powi(2);
        match gain / (deviation / n).sqrt() {
            evidence if evidence.is_finite() => evidence,
            _ => SURE,
        }
    }

    /// The mean loss of each member.
    fn losses(&self, cases: &[usize]) -> Vec<f64> {
        let of_member = |forecasts: &Vec<Vec<f32>>| {
            let loss = |&case: &usize| self.criterion.loss(&self.cases[case], &forecasts[case]);
            cases.iter().map(loss).sum::<f64>() / cases.len().max(1) as f64
        };
        self.forecasts.iter().map(of_member).collect()
    }

    /// The weights of members that these cases choose: those of greedy selection, and the fewer series there are, the more those that
    /// the best ones share.
    fn weights(&self, cases: &[usize]) -> Vec<f64> {
        let losses = self.losses(cases);
        let best =
            (0..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(self.baseline);
        if self.best_alone {
            return alone(best, losses.len());
        }
        let trust = self.trust(cases);
        let within = |member: &usize| {
            let share = if self.favoured.contains(member) { FAVOURED } else { GOOD };
            losses[*member] <= (1.0 + share * (1.0 + DOUBT * (1.0 - trust))) * losses[best]
        };
        let mut good: Vec<usize> = (0..losses.len()).filter(within).collect();
        let is_other = |member: &usize| !self.favoured.contains(member);
        good.sort_by(|a, b| {
            is_other(a).cmp(&is_other(b)).then(losses[*a].total_cmp(&losses[*b])).then(a.cmp(b))
        });
        good.truncate(SHARED);
        let chosen: Vec<&Case> = cases.iter().map(|&case| &self.cases[case]).collect();
        let forecasts: Vec<Vec<&[f32]>> = self
            .forecasts
            .iter()
            .map(|forecasts| cases.iter().map(|&case| &forecasts[case][..]).collect())
            .collect();
        let found = greedy(&chosen, &forecasts, self.criterion);
        let mut weights: Vec<f64> = found.iter().map(|weight| trust * weight).collect();
        good.iter().for_each(|&member| weights[member] += (1.0 - trust) / good.len() as f64);
        weights.iter_mut().filter(|weight| **weight < LEAST).for_each(|weight| *weight = 0.0);
        let all: f64 = weights.iter().sum();
        if all > 0.0 {
            weights.iter().map(|weight| weight / all).collect()
        } else {
            alone(best, losses.len())
        }
    }

    /// How far what these cases choose is to be trusted: windows of one series tell less than as many series do.
    fn trust(&self, cases: &[usize]) -> f64 {
        let mut series: Vec<usize> = cases.iter().map(|&case| self.cases[case].series).collect();
        series.sort_unstable();
        series.dedup();
        let told = series.len() as f64 + 0.5 * (cases.len() - series.len()) as f64;
        told / (told + BELIEF)
    }

    /// Whether weights of their own make forecasts of these cases better that did not choose them.
    fn gains(&self, cases: &[usize], weights: &[f64]) -> bool {
        let halves = [0, 1].map(|half| -> Vec<usize> {
            cases.iter().copied().filter(|&case| self.cases[case].series % 2 == half).collect()
        });
        let series = |cases: &[usize]| {
            let mut series: Vec<usize> = cases.iter().map(|&case| self.cases[case].series).collect();
            series.sort_unstable();
            series.dedup();
            series.len()
        };
        if halves.iter().any(|half| 2 * series(half) < GROUP_SERIES) {
            return false;
        }
        let plain = |weights: Vec<f64>| Mix { weights, groups: Vec::new(), order: Vec::new(), width: 1.0 };
        let [mut own, mut common] = [0.0; 2];
        for (by, on) in [(&halves[0], &halves[1]), (&halves[1], &halves[0])] {
            own += self.loss_of(&plain(self.weights(by)), on) * on.len() as f64;
            common += self.loss_of(&plain(weights.to_vec()), on) * on.len() as f64;
        }
        own < (1.0 - GROUP_GAIN) * common
    }

    /// The mean loss of what is combined.
    pub(crate) fn loss_of(&self, mix: &Mix, cases: &[usize]) -> f64 {
        let loss = |&case: &usize| self.criterion.loss(&self.cases[case], &self.combined(mix, case));
        cases.iter().map(loss).sum::<f64>() / cases.len().max(1) as f64
    }

    /// The combined quantiles of a case.
    fn combined(&self, mix: &Mix, case: usize) -> Vec<f32> {
        let history = &self.cases[case].history;
        let weights = mix.weights_of(history.group);
        let mut sums = vec![0.0_f32; self.cases[case].y.len() * WIDTH];
        for (weight, forecasts) in weights.iter().zip(self.forecasts).filter(|(weight, _)| **weight > 0.0) {
            sums.iter_mut().zip(&forecasts[case]).for_each(|(sum, value)| *sum += *weight as f32 * value);
        }
        mix.widen(history, &mut sums);
        sums
    }

    /// The distance of quantiles from the median with the least pinball loss, as far as the cases are to be trusted.
    fn width(&self, mix: &Mix) -> f64 {
        let all: Vec<usize> = (0..self.cases.len()).collect();
        let plain: Vec<Vec<f32>> =
            all.iter().map(|&case| self.combined(&Mix { width: 1.0, ..mix.clone() }, case)).collect();
        let loss = |width: f64| -> f64 {
            let of_case = |(case, values): (&Case, &Vec<f32>)| {
                let wide: Vec<f32> = values
                    .chunks_exact(WIDTH)
                    .flat_map(|step| {
                        step.iter().map(|value| step[MEDIAN] + (value - step[MEDIAN]) * width as f32)
                    })
                    .collect();
                Criterion::ScaledCrps.loss(case, &wide)
            };
            self.cases.iter().zip(&plain).map(of_case).sum()
        };
        let widths = (0..=24).map(|i| 0.5 * 1.06_f64.powi(i));
        let best = widths.map(|width| (width, loss(width))).min_by(|a, b| a.1.total_cmp(&b.1));
        let best = best.map_or(1.0, |(width, _)| width);
        best.powf(self.trust(&all))
    }
}

/// All weight for one member.
fn alone(member: usize, members: usize) -> Vec<f64> {
    (0..members).map(|other| f64::from(u8::from(other == member))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;

    /// Cases of a number of series with the value 5, and flat forecasts of members; the even half of them by the first list, the odd by
    /// the second.
    fn rehearsed(series: usize, even: &[f32], odd: &[f32], best_alone: bool) -> Mix {
        let regular = History::of(&(0..40).map(|t| (t % 4) as f32).collect::<Vec<_>>(), 1, -1.0);
        let of = |series: usize| match series % 4 < 2 {
            true => regular,
            false => History { group: SeriesGroup::Short, ..regular },
        };
        let cases: Vec<Case> =
            (0..series).map(|series| Case { series, y: vec![5.0; 2], history: of(series) }).collect();
        let value = |case: &Case, member: usize| {
            if case.history.group == SeriesGroup::Regular { even[member] } else { odd[member] }
        };
        let forecasts: Vec<Vec<Vec<f32>>> = (0..even.len())
            .map(|member| cases.iter().map(|case| vec![value(case, member); 2 * WIDTH]).collect())
            .collect();
        let criterion = Criterion::Balanced;
        let favoured = Vec::new();
        Rehearsal { cases: &cases, forecasts: &forecasts, criterion, baseline: 0, favoured, best_alone }.mix()
    }

    #[test]
    fn weight_goes_to_what_is_good_and_is_shared_where_little_is_known() {
        // Two that are as good, on both sides of the truth, and the seasonal naive far off.
        let mix = rehearsed(40, &[9.0, 4.0, 6.0], &[9.0, 4.0, 6.0], false);
        assert!((mix.weights[1] - 0.5).abs() < 0.05 && mix.weights[0] == 0.0, "{mix:?}");
        assert!(mix.groups.is_empty(), "{mix:?}");
        // One series tells little: what it likes best does not get all.
        let mix = rehearsed(1, &[9.0, 5.1, 5.105], &[9.0, 5.1, 5.105], false);
        assert!(mix.weights[1] < 0.7 && mix.weights[2] > 0.3, "{mix:?}");
        let mix = rehearsed(1, &[9.0, 5.1, 5.105], &[9.0, 5.1, 5.105], true);
        assert_eq!(mix.weights, [0.0, 1.0, 0.0]);
        assert_eq!(mix.order, [1, 2, 0]);
    }

    #[test]
    fn groups_have_their_own_weights_where_these_are_better() {
        let mix = rehearsed(80, &[9.0, 5.0, 8.0], &[9.0, 8.0, 5.0], false);
        let own: Vec<SeriesGroup> = mix.groups.iter().map(|(group, _)| *group).collect();
        assert_eq!(own, [SeriesGroup::Short, SeriesGroup::Regular]);
        assert!(mix.weights_of(SeriesGroup::Short)[2] > 0.9 && mix.weights_of(SeriesGroup::Regular)[1] > 0.9);
    }

    #[test]
    fn the_seasonal_naive_has_a_share_where_few_windows_say_little() {
        // A gain of a tenth: one series says nothing of it, many do.
        let share = |series: usize| rehearsed(series, &[6.0, 5.9, 5.9], &[6.0, 5.9, 5.9], false).weights[0];
        assert!(share(1) > 0.3 && share(1) <= 0.5 && share(400) < 0.05, "{} {}", share(1), share(400));
        assert!(share(1) > share(8) && share(8) > share(40));
        // Far off it has none.
        assert_eq!(rehearsed(1, &[9.0, 5.1, 5.105], &[9.0, 5.1, 5.105], false).weights[0], 0.0);
    }

    #[test]
    fn the_seasonal_naive_forecasts_where_nothing_is_better() {
        let mix = rehearsed(30, &[5.2, 9.0, 9.0], &[5.2, 9.0, 9.0], false);
        assert_eq!(mix.weights, [1.0, 0.0, 0.0]);
    }
}
