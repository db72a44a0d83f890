//! A search: which points are tried next.

use crate::domain::{BadDomain, Domain};
use crate::draws::Draws;
use crate::grid::Grid;
use crate::halving::Halving;
use crate::tpe::{good_count, propose};
use crate::trial::{Point, Trial, ranked};

/// Trials that are drawn at random before densities are estimated.
const STARTUP: usize = 10;

/// The same within one of several spaces.
const STARTUP_OF_SPACE: usize = 4;

/// Draws for one trial, at most: a space of which this many in a row are refused or known is taken to have no others.
const ATTEMPTS: u64 = 512;

/// How points are proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampler {
    /// Where the best trials are dense, compared with the others: tree-structured Parzen estimators.
    Tpe,
    /// Anywhere.
    Random,
    /// Every combination once, in an order that is spread over them.
    Grid {
        /// Values of a domain without steps.
        points: usize,
    },
}

/// A search for the best point of some spaces.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Study {
    /// The spaces, each a list of domains; they need not have anything in common.
    pub spaces: Vec<Vec<Domain>>,
    /// How points are proposed.
    pub sampler: Sampler,
    /// Whether the first trials are a point of each space without values of its own, by which a caller means what it has without
    /// a search: so the best is never worse than that. A grid has no such points.
    pub begins_as_given: bool,
    /// Trials to begin.
    pub trials: usize,
    /// Trials of a round, which are proposed together. Those of a round do not learn from each other.
    pub round: usize,
    /// The seed of the draws.
    pub seed: u64,
    /// The rungs, one by default.
    pub halving: Halving,
}

/// Something to be done in a round.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Score a new point at the lowest rung; it becomes the next trial.
    Begin(Point),
    /// Score this trial at its next rung.
    GoOn(usize),
}

impl Study {
    /// A search with this many trials, 4 a round, of one rung.
    ///
    /// # Panics
    /// If a domain has no values; [`Study::try_new`] returns it.
    #[track_caller]
    pub fn new(spaces: Vec<Vec<Domain>>, sampler: Sampler, trials: usize) -> Self {
        Self::try_new(spaces, sampler, trials).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`Study::new`] of spaces that someone else has chosen.
    ///
    /// # Errors
    /// The first domain without values ([`Domain::check`]).
    pub fn try_new(spaces: Vec<Vec<Domain>>, sampler: Sampler, trials: usize) -> Result<Self, BadDomain> {
        spaces.iter().flatten().try_for_each(Domain::check)?;
        let halving = Halving::new(1);
        Ok(Self { spaces, sampler, begins_as_given: false, trials, round: 4, seed: 0, halving })
    }

    /// The points of the grid over all spaces.
    pub fn grid_size(&self) -> u64 {
        self.grid().size()
    }

    /// All points that the search can propose, those without values included, if they can be counted and are no more than this many.
    pub fn points(&self, most: usize) -> Option<Vec<Point>> {
        let countable = |space: &Vec<Domain>| space.iter().all(|domain| domain.count().is_some());
        let is_grid = matches!(self.sampler, Sampler::Grid { .. });
        let grid = self.grid();
        if !(is_grid || self.spaces.iter().all(countable)) || grid.size() > most as u64 {
            return None;
        }
        let given = (0..self.spaces.len()).map(|space| Point { space, values: Vec::new() });
        let given = given.filter(|_| self.begins_as_given && !is_grid);
        Some((0..grid.size()).map(|place| grid.nth(place, self.seed)).chain(given).collect())
    }

    fn grid(&self) -> Grid<'_> {
        let points = if let Sampler::Grid { points } = self.sampler { points } else { 1 };
        Grid::new(&self.spaces, points)
    }

    /// The tasks of the next round, given the trials of all rounds before; none if the search is at its end. New trials are
    /// numbered in the order of their tasks. A point that `accepts` refuses, or that was tried, is drawn again; the search ends
    /// early where there seem to be no others.
    pub fn next_round(&self, trials: &[Trial], mut accepts: impl FnMut(&Point) -> bool) -> Vec<Task> {
        let mut round: Vec<Task> = self.halving.promotions(trials).into_iter().map(Task::GoOn).collect();
        let mut known: Vec<Point> = trials.iter().map(|trial| trial.point.clone()).collect();
        let order = ranked(trials);
        while round.len() < self.round.max(1) && known.len() < self.trials {
            let mut fits = |point: &Point| !known.contains(point) && accepts(point);
            let pending = &known[trials.len()..];
            let Some(point) = self.point(trials, pending, &order, &mut fits) else { break };
            known.push(point.clone());
            round.push(Task::Begin(point));
        }
        if round.is_empty() {
            round.extend(self.halving.last_promotion(trials).map(Task::GoOn));
        }
        round
    }

    /// The trials from the best on, without those that failed.
    pub fn order(&self, trials: &[Trial]) -> Vec<usize> {
        let mut order = ranked(trials);
        order.retain(|&trial| !trials[trial].score().is_nan());
        order
    }

    /// The best of these trials; nothing if all failed.
    pub fn best(&self, trials: &[Trial]) -> Option<usize> {
        self.order(trials).first().copied()
    }

    /// The point of the next trial, given those before with their order from the best on, and the points that the round has so far.
    fn point(
        &self,
        trials: &[Trial],
        pending: &[Point],
        order: &[usize],
        fits: &mut impl FnMut(&Point) -> bool,
    ) -> Option<Point> {
        if let Sampler::Grid { .. } = self.sampler {
            let grid = self.grid();
            return (0..grid.size()).map(|place| grid.nth(place, self.seed)).find(|point| fits(point));
        }
        let number = trials.len() + pending.len();
        if self.begins_as_given && number < self.spaces.len() {
            let given = Point { space: number, values: Vec::new() };
            if fits(&given) {
                return Some(given);
            }
        }
        let drawn = |attempt| self.drawn(attempt, trials, pending, order);
        (0..ATTEMPTS).map(drawn).find(|point| fits(point))
    }

    fn drawn(&self, attempt: u64, trials: &[Trial], pending: &[Point], order: &[usize]) -> Point {
        let number = trials.len() + pending.len();
        let mut draws = Draws::new([self.seed, number as u64, attempt]);
        let learns = self.sampler == Sampler::Tpe && trials.len() >= STARTUP;
        let space = match learns {
            true => draws.weighted(&self.weights_of_spaces(trials, order)),
            // Each in its turn, and any other where that is refused.
            false => (number + attempt as usize) % self.spaces.len().max(1),
        };
        let domains = self.spaces.get(space).map_or(&[][..], Vec::as_slice);
        let is_of_space = |point: &&Point| point.space == space && point.values.len() == domains.len();
        let tried = order.iter().copied().filter(|&trial| is_of_space(&&trials[trial].point));
        let mut tried: Vec<usize> = tried.collect();
        // Where what is proposed is refused again and again, the estimate has narrowed too far.
        let values = match learns && tried.len() >= STARTUP_OF_SPACE && attempt < ATTEMPTS / 2 {
            true => {
                let count = good_count(tried.len());
                let (good, bad) = tried.split_at_mut(count);
                good.sort_unstable();
                bad.sort_unstable();
                let values = |&trial: &usize| trials[trial].point.values.as_slice();
                let good: Vec<&[f64]> = good.iter().map(values).collect();
                // What is not scored yet counts as bad, so that a round spreads.
                let unscored = pending.iter().filter(is_of_space).map(|point| point.values.as_slice());
                let bad: Vec<&[f64]> = bad.iter().map(values).chain(unscored).collect();
                propose(domains, &good, &bad, &mut draws)
            }
            false => domains.iter().map(|domain| domain.draw(&mut draws)).collect(),
        };
        Point { space, values }
    }

    /// How often each space is drawn from: by its share among the good trials, and by a prior that counts as one of them.
    fn weights_of_spaces(&self, trials: &[Trial], order: &[usize]) -> Vec<f64> {
        let mut weights = vec![1.0 / self.spaces.len() as f64; self.spaces.len()];
        for &good in &order[..good_count(trials.len())] {
            weights[trials[good].point.space] += 1.0;
        }
        weights
    }
}
