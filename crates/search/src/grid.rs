//! All points of a grid, each once, in an order that is spread over it.

use crate::domain::Domain;
use crate::trial::Point;

/// The points of several spaces, where domains without steps have `points` values each, evenly from end to end.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    spaces: &'a [Vec<Domain>],
    points: usize,
    sizes: Vec<u64>,
}

impl<'a> Grid<'a> {
    pub(crate) fn new(spaces: &'a [Vec<Domain>], points: usize) -> Self {
        let count = |domain: &Domain| domain.count().unwrap_or(points.max(1)) as u64;
        let size = |space: &Vec<Domain>| space.iter().map(count).fold(1, u64::saturating_mul);
        Self { spaces, points: points.max(1), sizes: spaces.iter().map(size).collect() }
    }

    /// How many points there are.
    pub(crate) fn size(&self) -> u64 {
        self.sizes.iter().copied().fold(0, u64::saturating_add)
    }

    /// The point of this number below the size; `seed` turns the order.
    pub(crate) fn nth(&self, number: u64, seed: u64) -> Point {
        let size = self.size();
        // Steps of the golden ratio visit every point once, neighbours late.
        let mut step = (size as f64 / 1.618_033_988_749_895) as u64;
        while gcd(step, size) != 1 {
            step += 1;
        }
        let place = (u128::from(number) * u128::from(step) + u128::from(seed)) % u128::from(size);
        let (mut place, mut space) = (place as u64, 0);
        while place >= self.sizes[space] {
            place -= self.sizes[space];
            space += 1;
        }
        let value = |domain: &Domain| {
            let count = domain.count().unwrap_or(self.points) as u64;
            let digit = (place % count) as usize;
            place /= count;
            match domain.count() {
                Some(_) => domain.nth(digit),
                None if count == 1 => domain.at(0.5),
                None => domain.at(digit as f64 / (count - 1) as f64),
            }
        };
        Point { space, values: self.spaces[space].iter().map(value).collect() }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_comes_once() {
        let spaces = [
            vec![Domain::Choice { count: 4 }, Domain::Uniform { low: 1e-3, high: 1e-1, log: true }],
            vec![Domain::Stepped { low: 1.0, high: 3.0, step: 1.0 }],
            Vec::new(),
        ];
        let grid = Grid::new(&spaces, 3);
        assert_eq!(grid.size(), 4 * 3 + 3 + 1);
        for seed in [0, 5, u64::MAX] {
            let mut seen: Vec<Point> = (0..16).map(|number| grid.nth(number, seed)).collect();
            let rates: Vec<f64> =
                seen.iter().filter(|point| point.space == 0).map(|point| point.values[1]).collect();
            assert!(
                rates.iter().all(|rate| [1e-3, 1e-2, 1e-1].iter().any(|at| (rate / at - 1.0).abs() < 1e-9))
            );
            while let Some(point) = seen.pop() {
                assert!(!seen.contains(&point), "{point:?} twice");
            }
        }
    }

    #[test]
    fn a_single_point_is_a_grid() {
        let spaces = [vec![Domain::Choice { count: 1 }]];
        let grid = Grid::new(&spaces, 3);
        assert_eq!((grid.size(), grid.nth(0, 9).values), (1, vec![0.0]));
    }
}
