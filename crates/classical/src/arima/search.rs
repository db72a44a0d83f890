//! The orders of an ARIMA model, found step by step.
//!
//! Hyndman and Khandakar 2008: from a few models on, always to the neighbour that is better, until none is.

use super::fit::{Coefficients, Criterion, Fit, constant, fit};
use super::order::{Order, Polynomials, Terms};
use super::stationary::roots_are_outside;
use super::unit_root::{is_constant, season_differences, step_differences};
use crate::numeric::least_squares::least_squares_of;

/// The space of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pub period: usize,
    /// Differences of a step, and of a season; `None` to test for them.
    pub differences: [Option<usize>; 2],
    /// The most that tests may find.
    pub max_differences: [usize; 2],
    /// The most autoregression and moving average of a step, then of a season.
    pub most: [usize; 4],
    /// Where the search starts.
    pub start: [usize; 4],
    /// Whether there may be a level, and a drift.
    pub allow: [bool; 2],
    pub criterion: Criterion,
    /// Models to try at most.
    pub budget: usize,
}

/// Roots of the polynomials nearer to the unit circle than this are not accepted.
const NEAREST_ROOT: f64 = 1.01;

/// Moves from a model to its neighbours: in the autoregression and moving average of a step, then of a season, in the order in which
/// they are tried.
const MOVES: [[isize; 4]; 16] = [
    [0, 0, -1, 0],
    [0, 0, 0, -1],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [0, 0, -1, -1],
    [0, 0, -1, 1],
    [0, 0, 1, -1],
    [0, 0, 1, 1],
    [-1, 0, 0, 0],
    [0, -1, 0, 0],
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [-1, -1, 0, 0],
    [-1, 1, 0, 0],
    [1, -1, 0, 0],
    [1, 1, 0, 0],
];

/// The models that were tried, and the best of them.
struct Tried<'a> {
    y: &'a [f64],
    columns: &'a [Vec<f64>],
    space: Space,
    differences: [usize; 2],
    /// Orders and whether there is a constant.
    keys: Vec<([usize; 4], bool)>,
    best: Option<Fit>,
}

impl Tried<'_> {
    fn order(&self, [ar, ma, season_ar, season_ma]: [usize; 4], constant: bool) -> Order {
        let [step, season] = self.differences;
        Order {
            step: Terms { ar, differences: step, ma },
            season: Terms { ar: season_ar, differences: season, ma: season_ma },
            period: self.space.period,
            constant,
        }
    }

    /// Tries a model; whether it is better than all before.
    fn is_better(&mut self, terms: [usize; 4], constant: bool) -> bool {
        if self.keys.len() >= self.space.budget || self.keys.contains(&(terms, constant)) {
            return false;
        }
        self.keys.push((terms, constant));
        // Of differences the likeliest moving average is often on the unit circle, above all a season's, and would be refused.
        let coefficients =
            if self.differences == [0, 0] { Coefficients::Likeliest } else { Coefficients::Conditional };
        let order = self.order(terms, constant);
        let found = fit(self.y, self.columns, order, self.space.criterion, coefficients);
        let Some(fit) = found.filter(|fit| !fit.criterion.is_nan() && is_acceptable(fit)) else {
            return false;
        };
        let better = self.best.as_ref().is_none_or(|best| fit.criterion < best.criterion);
        if better {
            self.best = Some(fit);
        }
        better
    }
}

/// Whether the roots of both polynomials are far enough from the unit circle, if they have more than one lag.
fn is_acceptable(fit: &Fit) -> bool {
    let mut whole = Polynomials::default();
    fit.order.polynomials(&fit.coefficients, &mut whole);
    let outside = |coefficients: &[f64]| {
        let lags = coefficients.iter().rposition(|x| x.abs() > 1e-8).map_or(0, |last| last + 1);
        lags <= 1 || roots_are_outside(&coefficients[..lags], NEAREST_ROOT)
    };
    whole.theta.iter_mut().for_each(|theta| *theta = -*theta);
    outside(&whole.phi) && outside(&whole.theta)
}

/// What is left of a series that columns explain.
fn without_columns(y: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
    let telling = columns.iter().filter(|column| !is_constant(column)).cloned();
    let all: Vec<Vec<f64>> = std::iter::once(vec![1.0; y.len()]).chain(telling).collect();
    let coefficients = least_squares_of(all.clone(), y);
    let explained = |t: usize| all.iter().zip(&coefficients).map(|(column, b)| b * column[t]).sum::<f64>();
    y.iter().enumerate().map(|(t, y)| y - explained(t)).collect()
}

/// The best model of a series, and of the columns that it depends on; `None` if the series is too short for any. Differences are found
/// by tests of what columns leave of the values.
pub(super) fn search(y: &[f64], columns: &[Vec<f64>], mut space: Space) -> Option<Fit> {
    if y.is_empty() {
        return None;
    }
    let none =
        Order { step: Terms::default(), season: Terms::default(), period: space.period, constant: true };
    if is_constant(y) {
        return Some(constant(none, y[0]));
    }
    let n = y.len();
    let (period, third) = (space.period, n / 3);
    let limits = [third, third, third / period, third / period];
    space.most.iter_mut().zip(limits).for_each(|(most, limit)| *most = (*most).min(limit));
    let left = if columns.is_empty() { y.to_vec() } else { without_columns(y, columns) };
    let season = match space.differences[1] {
        _ if period == 1 => 0,
        Some(differences) => differences,
        None if n <= 2 * period => 0,
        None => season_differences(&left, period, space.max_differences[1]),
    };
    let mut order = none;
    order.season.differences = season;
    let deseasoned = order.differenced(&left);
    order.step.differences =
        space.differences[0].unwrap_or_else(|| step_differences(&deseasoned, space.max_differences[0]));
    // A column of which differences leave nothing needs one less.
    let says_nothing = |order: Order| {
        let telling = columns.iter().filter(|column| !is_constant(column));
        telling.map(|column| order.differenced(column)).any(|column| is_constant(&column))
    };
    if space.differences[0].is_none() && order.step.differences > 0 && says_nothing(order) {
        order.step.differences -= 1;
    }
    let w = order.differenced(&left);
    if w.is_empty() {
        return None;
    }
    if is_constant(&w) && columns.is_empty() {
        return Some(constant(order, w[0]));
    }
    if period == 1 {
        space.most[2..].fill(0);
    } else {
        space.most[..2].iter_mut().filter(|most| **most > 0).for_each(|most| *most = (*most).min(period - 1));
    }
    if n <= 3 {
        space.criterion = Criterion::Aic;
    }
    if n < 10 {
        space.start = [space.start[0].min(1), space.start[1].min(1), 0, 0];
    }
    space.start.iter_mut().zip(space.most).for_each(|(start, most)| *start = (*start).min(most));
    let differences = [order.step.differences, season];
    let tried = Tried { y, columns, space, differences, keys: Vec::new(), best: None };
    walk(tried, order.may_have_constant())
}

/// The search itself.
fn walk(mut tried: Tried<'_>, may_have_constant: bool) -> Option<Fit> {
    let Space { most, start, allow, period, .. } = tried.space;
    let is_level = tried.differences == [0, 0];
    let allowed = may_have_constant && allow[usize::from(!is_level)];
    let mut constant = allowed;
    let mut now = start;
    tried.is_better(now, constant);
    let one = |most: usize| most.min(1);
    let seasons = if period > 1 { [one(most[2]), one(most[3])] } else { [0, 0] };
    for terms in [[0; 4], [one(most[0]), 0, seasons[0], 0], [0, one(most[1]), 0, seasons[1]]] {
        if tried.is_better(terms, constant) {
            now = terms;
        }
    }
    if constant && tried.is_better([0; 4], false) {
        // Its neighbours are tried with a constant, as those of all.
        now = [0; 4];
    }
    loop {
        let neighbours = MOVES.iter().filter_map(|step| neighbour(now, *step, most));
        let better = neighbours
            .into_iter()
            .collect::<Vec<_>>()
            .into_iter()
            .find(|&terms| tried.is_better(terms, constant));
        match better {
            Some(terms) => now = terms,
            None if allowed && tried.is_better(now, !constant) => constant = !constant,
            None => return tried.best,
        }
    }
}

/// The terms after a move, within bounds.
fn neighbour(terms: [usize; 4], step: [isize; 4], most: [usize; 4]) -> Option<[usize; 4]> {
    let mut moved = [0; 4];
    for i in 0..4 {
        moved[i] = terms[i].checked_add_signed(step[i]).filter(|&term| term <= most[i])?;
    }
    Some(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(period: usize) -> Space {
        Space {
            period,
            differences: [None; 2],
            max_differences: [2, 1],
            most: [5, 5, 2, 2],
            start: [2, 2, 1, 1],
            allow: [true; 2],
            criterion: Criterion::Aicc,
            budget: 94,
        }
    }

    #[test]
    fn lines_and_levels_need_no_coefficients() {
        let line: Vec<f64> = (0..30).map(|t| 3.0 + 2.0 * f64::from(t)).collect();
        let found = search(&line, &[], space(1)).expect("a model");
        assert_eq!((found.order.step.differences, found.mean, found.sigma2), (1, 2.0, 0.0));
        let level = search(&[4.0; 12], &[], space(4)).expect("a model");
        assert_eq!((level.order.lost(), level.mean), (0, 4.0));
        assert_eq!(search(&[], &[], space(1)), None);
    }

    #[test]
    fn a_budget_bounds_the_search() {
        let y: Vec<f64> = (0..60).map(|t| f64::from((t * 37) % 23) + f64::from(t) / 9.0).collect();
        let found = search(&y, &[], Space { budget: 2, ..space(1) }).expect("a model");
        let terms = [found.order.step.ar, found.order.step.ma];
        assert!(terms == [2, 2] || terms == [0, 0], "{found:?}");
    }
}
