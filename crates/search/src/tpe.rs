//! Tree-structured Parzen estimators (Bergstra, Bardenet, Bengio and Kégl 2011, "Algorithms for hyper-parameter optimization").
//!
//! The trials are divided into the few best and the others. A density is estimated of each, `l` and `g`; of some points drawn from
//! `l` the one is proposed at which `l / g` is largest, as the improvement that is expected grows with it. The densities are
//! of all coordinates together (Falkner, Klein and Hutter 2018): a mixture of a kernel around each trial and of one that covers
//! everything, the prior. A kernel is a product of truncated Gaussians, as wide in each coordinate as the further of the two
//! neighbouring trials is away, and of distributions over the choices. Weights and widths are those of Optuna's sampler (Watanabe
//! 2023, "Tree-structured Parzen estimator: understanding its algorithm components"). More trials are good ones and more points are
//! drawn than by Optuna (a tenth and 24), which makes up for the trials of a round that do not know each other's scores.

use libm::{erf, erfc};

use crate::domain::Domain;
use crate::draws::Draws;

/// Points that are drawn, of which one is proposed.
const CANDIDATES: usize = 64;

/// Good trials, at most.
const MOST_GOOD: usize = 25;

/// The latest trials, which weigh 1; those before weigh less, the first next to nothing.
const RECENT: usize = 25;

/// Kernels up to which a kernel may be narrower the more there are.
const NARROWEST: usize = 100;

/// A point of a space: near the good points rather than the bad ones, each in the order in which they were tried.
pub(crate) fn propose(space: &[Domain], good: &[&[f64]], bad: &[&[f64]], draws: &mut Draws) -> Vec<f64> {
    let (good, bad) = (Mixture::around(space, good), Mixture::around(space, bad));
    let candidates = (0..CANDIDATES).map(|_| good.draw(draws));
    let scored = candidates.map(|point| (good.ln_density(&point) - bad.ln_density(&point), point));
    scored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, point)| point).unwrap_or_default()
}

/// How many of this many trials are good ones.
pub(crate) fn good_count(trials: usize) -> usize {
    trials.div_ceil(8).min(MOST_GOOD)
}

/// A density over a space.
struct Mixture<'a> {
    space: &'a [Domain],
    /// A kernel around each point and, last, the prior, which has none for choices.
    kernels: Vec<Kernel>,
    /// How often each is drawn from.
    weights: Vec<f64>,
    /// The weight of each choice in a kernel, relative to that of its own one.
    smoothing: f64,
}

/// A product of distributions, one for each domain.
struct Kernel {
    /// The middle of each, as a share of the domain's extent.
    centre: Vec<f64>,
    /// The deviations of its Gaussians.
    width: Vec<f64>,
    /// The logarithm of its weight and of what scales its Gaussians.
    ln_scale: f64,
}

impl<'a> Mixture<'a> {
    fn around(space: &'a [Domain], points: &[&[f64]]) -> Self {
        let unit = |point: &&[f64]| -> Vec<f64> {
            space.iter().zip(*point).map(|(domain, &value)| domain.unit(value)).collect()
        };
        let mut centres: Vec<Vec<f64>> = points.iter().map(unit).collect();
        let widths: Vec<Vec<f64>> = (0..space.len()).map(|place| widths(&centres, place)).collect();
        let n = points.len();
        centres.push(vec![0.5; space.len()]);
        let mut weights = weights(n);
        weights.push(1.0);
        let total: f64 = weights.iter().sum();
        let kernel = |(number, centre): (usize, Vec<f64>)| {
            let width: Vec<f64> =
                widths.iter().map(|of_place| of_place.get(number).copied().unwrap_or(1.0)).collect();
            let parts = space.iter().zip(&centre).zip(&width);
            let scales = parts.map(|((domain, centre), width)| ln_scale(domain, *centre, *width));
            let ln_scale = (weights[number] / total).ln() + scales.sum::<f64>();
            Kernel { centre, width, ln_scale }
        };
        let kernels = centres.into_iter().enumerate().map(kernel).collect();
        Self { space, kernels, weights, smoothing: 1.0 / (n as f64 + 1.0) }
    }

    fn is_prior(&self, number: usize) -> bool {
        number + 1 == self.kernels.len()
    }

    fn draw(&self, draws: &mut Draws) -> Vec<f64> {
        let number = draws.weighted(&self.weights);
        let kernel = &self.kernels[number];
        let coordinate = |(place, domain): (usize, &Domain)| match choices(domain) {
            Some(count) => {
                let all = self.smoothing * count;
                match self.is_prior(number) || draws.uniform() * (1.0 + all) < all {
                    true => domain.draw(draws),
                    false => domain.at(kernel.centre[place]),
                }
            }
            None => domain.at(truncated(kernel.centre[place], kernel.width[place], draws)),
        };
        self.space.iter().enumerate().map(coordinate).collect()
    }

    fn ln_density(&self, point: &[f64]) -> f64 {
        let unit: Vec<f64> =
            self.space.iter().zip(point).map(|(domain, &value)| domain.unit(value)).collect();
        let kernel = |(number, kernel): (usize, &Kernel)| -> f64 {
            let coordinate = |(place, domain): (usize, &Domain)| {
                let (centre, at) = (kernel.centre[place], unit[place]);
                match choices(domain) {
                    Some(count) if self.is_prior(number) => -count.ln(),
                    Some(count) => {
                        let own = if domain.at(centre) == domain.at(at) { 1.0 } else { 0.0 };
                        ((own + self.smoothing) / (1.0 + self.smoothing * count)).ln()
                    }
                    None => ln_gaussian(domain, centre, kernel.width[place], at),
                }
            };
            kernel.ln_scale + self.space.iter().enumerate().map(coordinate).sum::<f64>()
        };
        ln_sum_exp(&self.kernels.iter().enumerate().map(kernel).collect::<Vec<_>>())
    }
}

/// The weights of this many points in the order in which they were tried.
fn weights(n: usize) -> Vec<f64> {
    let early = n.saturating_sub(RECENT);
    let least = 1.0 / n.max(1) as f64;
    let step = (1.0 - least) / early.saturating_sub(1).max(1) as f64;
    (0..n).map(|number| if number < early { least + step * number as f64 } else { 1.0 }).collect()
}

/// How wide the kernels are in a coordinate: as far as the further neighbour is, for the outermost the only one. So the kernels
/// cover what is between the points.
fn widths(centres: &[Vec<f64>], place: usize) -> Vec<f64> {
    let n = centres.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| centres[a][place].total_cmp(&centres[b][place]));
    let at = |rank: usize| centres[order[rank]][place];
    let least = 1.0 / (n + 2).min(NARROWEST) as f64;
    let mut widths = vec![1.0; n];
    for rank in 0..n {
        let below = rank.checked_sub(1).map(|before| at(rank) - at(before));
        let above = (rank + 1 < n).then(|| at(rank + 1) - at(rank));
        let to_ends = at(rank).max(1.0 - at(rank));
        let width = below.into_iter().chain(above).reduce(f64::max).unwrap_or(to_ends);
        widths[order[rank]] = width.clamp(least, 1.0);
    }
    widths
}

/// The logarithm of what scales a truncated Gaussian, whatever it is asked at: its mass between the ends of the domain and, of a
/// density, its width.
fn ln_scale(domain: &Domain, centre: f64, width: f64) -> f64 {
    let within = ln_mass(-centre / width, (1.0 - centre) / width);
    match (domain, domain.count()) {
        (Domain::Choice { .. }, _) => 0.0,
        (_, Some(count)) => (count as f64).ln() - within,
        (_, None) => -within - width.ln() - 0.5 * std::f64::consts::TAU.ln(),
    }
}

/// The logarithm of a Gaussian at a share of a domain's extent, but for its scale: of its density, or of its mass over the part of
/// a step.
fn ln_gaussian(domain: &Domain, centre: f64, width: f64, at: f64) -> f64 {
    match domain.count() {
        Some(count) => {
            let half = 0.5 / count as f64;
            let [low, high] = [at - half, at + half].map(|end| (end - centre) / width);
            ln_mass(low, high)
        }
        None => -0.5 * ((at - centre) / width).powi(2),
    }
}

fn choices(domain: &Domain) -> Option<f64> {
    match *domain {
        Domain::Choice { count } => Some(count as f64),
        Domain::Uniform { .. } | Domain::Stepped { .. } => None,
    }
}

/// A number between 0 and 1 with a normal distribution around `centre`, which is between them as well: draws outside are drawn again.
fn truncated(centre: f64, width: f64, draws: &mut Draws) -> f64 {
    loop {
        let drawn = centre + width * draws.normal();
        if (0.0..=1.0).contains(&drawn) {
            return drawn;
        }
    }
}

/// The logarithm of a standard normal distribution's share between two numbers.
fn ln_mass(low: f64, high: f64) -> f64 {
    let scaled = [low, high].map(|z| z / std::f64::consts::SQRT_2);
    // Where both are on one side, the difference of what is beyond them keeps its digits.
    let twice = match scaled {
        [low, high] if low > 0.0 => erfc(low) - erfc(high),
        [low, high] if high < 0.0 => erfc(-high) - erfc(-low),
        [low, high] => erf(high) - erf(low),
    };
    (0.5 * twice).ln()
}

fn ln_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + values.iter().map(|value| (value - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: [Domain; 3] = [
        Domain::Uniform { low: 0.0, high: 1.0, log: false },
        Domain::Choice { count: 3 },
        Domain::Stepped { low: 1.0, high: 8.0, step: 1.0 },
    ];

    #[test]
    fn a_density_has_the_sum_1() {
        let points: [&[f64]; 3] = [&[0.02, 0.0, 1.0], &[0.7, 2.0, 8.0], &[0.99, 2.0, 4.0]];
        for count in 0..=3 {
            let mixture = Mixture::around(&SPACE, &points[..count]);
            let (cells, mut sum) = (400, 0.0);
            for cell in 0..cells {
                let x = (f64::from(cell) + 0.5) / f64::from(cells);
                for choice in 0..3 {
                    // A step's density is the mean over its part of the extent.
                    let of_steps = (1..=8)
                        .map(|step| mixture.ln_density(&[x, f64::from(choice), f64::from(step)]).exp());
                    sum += of_steps.sum::<f64>() / 8.0;
                }
            }
            let sum = sum / f64::from(cells);
            assert!((sum - 1.0).abs() < 1e-3, "{count} points: {sum}");
        }
    }

    #[test]
    fn kernels_reach_to_their_further_neighbours() {
        let centres = [0.5, 0.1, 0.2, 0.21].map(|at| vec![at]);
        // The least is 1 of the six that four points and two ends make.
        let expected = [0.29, 1.0 / 6.0, 1.0 / 6.0, 0.29];
        for (width, expected) in widths(&centres, 0).iter().zip(expected) {
            assert!((width - expected).abs() < 1e-12, "{width} {expected}");
        }
        assert_eq!(widths(&[vec![0.3]], 0), [0.7]);
    }

    #[test]
    fn early_trials_weigh_less() {
        assert_eq!(weights(25), [1.0; 25]);
        let weights = weights(50);
        assert!((weights[0] - 0.02).abs() < 1e-12 && weights[24..] == [1.0; 26], "{weights:?}");
        assert!(weights[..25].is_sorted(), "{weights:?}");
    }

    #[test]
    fn shares_far_out_keep_their_digits() {
        // The share of a normal distribution beyond 10 deviations is 7.62e-24.
        assert!((ln_mass(10.0, 40.0) - 7.619_853e-24_f64.ln()).abs() < 1e-6);
        assert!((ln_mass(-40.0, -10.0) - ln_mass(10.0, 40.0)).abs() < 1e-12);
    }

    #[test]
    fn what_was_good_is_proposed_more_often() {
        let mut ranked: Vec<Vec<f64>> = Vec::new();
        for step in 0..40 {
            // The best are near 0.3, of choice 1.
            let near = f64::from(step) / 40.0;
            ranked.push(vec![0.3 + 0.7 * near, if step < 8 { 1.0 } else { f64::from(step % 3) }, 4.0]);
        }
        let ranked: Vec<&[f64]> = ranked.iter().map(Vec::as_slice).collect();
        let (good, bad) = ranked.split_at(good_count(ranked.len()));
        let proposals = (0..200).map(|trial| propose(&SPACE, good, bad, &mut Draws::new([7, trial, 0])));
        let near = proposals.filter(|point| (point[0] - 0.3).abs() < 0.2 && point[1] == 1.0).count();
        // Draws from anywhere would put 27 of them there.
        assert!(near > 90, "{near} of 200");
    }

    #[test]
    fn without_trials_a_proposal_is_any_point() {
        let mean =
            (0..500).map(|trial| propose(&SPACE, &[], &[], &mut Draws::new([1, trial, 0]))[0]).sum::<f64>();
        assert!((mean / 500.0 - 0.5).abs() < 0.06, "{mean}");
    }
}
