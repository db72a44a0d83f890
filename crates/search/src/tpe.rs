//! Tree-structured Parzen estimators (Bergstra, Bardenet, Bengio and Kégl 2011, "Algorithms for hyper-parameter optimization").
//!
//! The trials are divided into the few best and the others. A density is estimated of each, `l` and `g`; of some points drawn from
//! `l` the one is proposed at which `l / g` is largest, as the improvement that is expected grows with it. The densities are
//! of all coordinates together (Falkner, Klein and Hutter 2018): a mixture of a kernel around each trial and of one that covers
//! everything, the prior. A kernel is a product of truncated Gaussians, and of distributions over the choices.

use libm::erf;

use crate::domain::Domain;
use crate::draws::Draws;

/// Points that are drawn, of which one is proposed.
const CANDIDATES: usize = 24;

/// The width of a kernel of a single trial, relative to the extent of a domain.
const WIDTH: f64 = 0.2;

/// A point of a space: near those of `ranked`, the points that were tried, best first, that are good.
pub(crate) fn propose(space: &[Domain], ranked: &[&[f64]], draws: &mut Draws) -> Vec<f64> {
    let (good, bad) = ranked.split_at(good_count(ranked.len()));
    let (good, bad) = (Mixture::around(space, good), Mixture::around(space, bad));
    let candidates = (0..CANDIDATES).map(|_| good.draw(draws));
    let scored = candidates.map(|point| (good.ln_density(&point) - bad.ln_density(&point), point));
    scored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, point)| point).unwrap_or_default()
}

/// How many of this many trials are good ones.
pub(crate) fn good_count(trials: usize) -> usize {
    (trials as f64 * 0.15).ceil() as usize
}

/// A density over a space.
struct Mixture<'a> {
    space: &'a [Domain],
    /// The points that have a kernel, by the share of each domain's extent; the prior is beside them.
    centres: Vec<Vec<f64>>,
    /// The deviation of their Gaussians.
    width: f64,
    /// The weight of all choices together in a kernel of a choice, relative to its own one.
    smoothing: f64,
}

impl<'a> Mixture<'a> {
    fn around(space: &'a [Domain], points: &[&[f64]]) -> Self {
        let unit =
            |point: &&[f64]| space.iter().zip(*point).map(|(domain, &value)| domain.unit(value)).collect();
        let n = points.len().max(1) as f64;
        // Scott's rule; so narrow that a kernel would cover nothing it is never.
        let width = (WIDTH * n.powf(-1.0 / (space.len() as f64 + 4.0))).max(1.0 / (n + 1.0).min(100.0) / 4.0);
        Self { space, centres: points.iter().map(unit).collect(), width, smoothing: 1.0 / (n + 1.0) }
    }

    fn draw(&self, draws: &mut Draws) -> Vec<f64> {
        // The last is the prior.
        let centre = self.centres.get(draws.below(self.centres.len() + 1));
        let coordinate = |(place, domain): (usize, &Domain)| {
            let Some(centre) = centre else { return domain.draw(draws) };
            match *domain {
                Domain::Choice { count } => {
                    let all = self.smoothing * count as f64;
                    match draws.uniform() * (1.0 + all) < all {
                        true => domain.draw(draws),
                        false => domain.at(centre[place]),
                    }
                }
                Domain::Uniform { .. } | Domain::Stepped { .. } => {
                    domain.at(truncated(centre[place], self.width, draws))
                }
            }
        };
        self.space.iter().enumerate().map(coordinate).collect()
    }

    fn ln_density(&self, point: &[f64]) -> f64 {
        let unit: Vec<f64> =
            self.space.iter().zip(point).map(|(domain, &value)| domain.unit(value)).collect();
        // The prior's density is 1 but for choices, where it is a probability.
        let prior: f64 = self.space.iter().map(|domain| -choices(domain).map_or(0.0, f64::ln)).sum();
        let kernel = |centre: &Vec<f64>| -> f64 {
            let coordinates = self.space.iter().zip(centre).zip(&unit);
            coordinates.map(|((domain, &centre), &at)| self.ln_kernel(domain, centre, at)).sum()
        };
        ln_mean_exp(&self.centres.iter().map(kernel).chain([prior]).collect::<Vec<_>>())
    }

    fn ln_kernel(&self, domain: &Domain, centre: f64, at: f64) -> f64 {
        match choices(domain) {
            Some(count) => {
                let own = if domain.at(centre) == domain.at(at) { 1.0 } else { 0.0 };
                ((own + self.smoothing) / (1.0 + self.smoothing * count)).ln()
            }
            None => {
                let z = (at - centre) / self.width;
                let within = share_below((1.0 - centre) / self.width) - share_below(-centre / self.width);
                -0.5 * z * z - (self.width * within).ln() - 0.5 * std::f64::consts::TAU.ln()
            }
        }
    }
}

fn choices(domain: &Domain) -> Option<f64> {
    match *domain {
        Domain::Choice { count } => Some(count as f64),
        Domain::Uniform { .. } | Domain::Stepped { .. } => None,
    }
}

/// A number between 0 and 1 with a normal distribution around `centre`, which lies there: others are drawn again.
fn truncated(centre: f64, width: f64, draws: &mut Draws) -> f64 {
    loop {
        let drawn = centre + width * draws.normal();
        if (0.0..=1.0).contains(&drawn) {
            return drawn;
        }
    }
}

/// The share of a standard normal distribution below a number.
fn share_below(z: f64) -> f64 {
    0.5 * (1.0 + erf(z / std::f64::consts::SQRT_2))
}

fn ln_mean_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = values.iter().map(|value| (value - largest).exp()).sum();
    largest + (sum / values.len() as f64).ln()
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
                for choice in 0..3 {
                    // The steps are points of a continuum, whose density is compared at each.
                    for part in 0..cells {
                        let (x, z) = (
                            (f64::from(cell) + 0.5) / f64::from(cells),
                            (f64::from(part) + 0.5) / f64::from(cells),
                        );
                        let space = [SPACE[0], SPACE[1], Domain::Uniform { low: 0.0, high: 1.0, log: false }];
                        let mixture = Mixture { space: &space, centres: mixture.centres.clone(), ..mixture };
                        sum += mixture.ln_density(&[x, f64::from(choice), z]).exp();
                    }
                }
            }
            let sum = sum / f64::from(cells * cells);
            assert!((sum - 1.0).abs() < 1e-3, "{count} points: {sum}");
        }
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
        let proposals = (0..200).map(|trial| propose(&SPACE, &ranked, &mut Draws::new([7, trial, 0])));
        let near = proposals.filter(|point| (point[0] - 0.3).abs() < 0.2 && point[1] == 1.0).count();
        // Draws from anywhere would put 27 of them there.
        assert!(near > 90, "{near} of 200");
    }

    #[test]
    fn without_trials_a_proposal_is_any_point() {
        let mean = (0..500).map(|trial| propose(&SPACE, &[], &mut Draws::new([1, trial, 0]))[0]).sum::<f64>();
        assert!((mean / 500.0 - 0.5).abs() < 0.06, "{mean}");
    }
}
