//! Basis functions of splines (de Boor 1978, "A practical guide to splines", chapter X), as KAN has them (Liu et al. 2024, "KAN:
//! Kolmogorov-Arnold networks", arXiv 2404.19756).
//!
//! With knots t, function i of order 0 is 1 from t_i to below t_(i+1), else 0. Of order k it is
//!
//! B_(i,k)(x) = (x - t_i) / (t_(i+k) - t_i) B_(i,k-1)(x) + (t_(i+k+1) - x) / (t_(i+k+1) - t_(i+1)) B_(i+1,k-1)(x),
//!
//! and its derivative k / (t_(i+k) - t_i) B_(i,k-1)(x) - k / (t_(i+k+1) - t_(i+1)) B_(i+1,k-1)(x).
//!
//! So at an x between t_j and t_(j+1) only the functions j - k to j are not 0, and only these are computed, from the order 0
//! upwards. Those of them that would need knots outside of the grid are left out: no other depends on them.

use foretell_threads as threads;

/// The highest order of a [`SplineBasis`].
pub const MAX_ORDER: usize = 15;

/// The work of a basis at an x, relative to a number in a plain pass over memory.
const COST: usize = 64;

/// Knots of some features, each with a grid of its own, ascending.
#[derive(Clone, Copy, Debug)]
pub struct SplineBasis<'a> {
    /// `[features, knots]`.
    grid: &'a [f32],
    knots: usize,
    order: usize,
}

/// The functions that are not 0 at an x: `values[r]` is that of function `first + r`, where there is such a function.
struct Local {
    first: isize,
    order: usize,
    values: [f32; MAX_ORDER + 1],
}

impl<'a> SplineBasis<'a> {
    /// The basis of this order on a grid `[features, knots]`.
    ///
    /// # Panics
    /// If there are too few knots for a function, the order is above [`MAX_ORDER`], or the grid is no whole rows.
    #[track_caller]
    pub fn new(grid: &'a [f32], knots: usize, order: usize) -> Self {
        assert!(
            order <= MAX_ORDER && knots >= order + 2 && grid.len().is_multiple_of(knots),
            "a grid of {} knots, {knots} a feature, for splines of order {order}",
            grid.len()
        );
        Self { grid, knots, order }
    }

    /// The number of functions of a feature.
    pub fn functions(&self) -> usize {
        self.knots - 1 - self.order
    }

    fn features(&self) -> usize {
        self.grid.len() / self.knots
    }

    /// `x [rows, features]` to `out [rows, features, functions]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(&self, x: &[f32], out: &mut [f32]) {
        let functions = self.functions();
        assert_eq!(x.len() * functions, out.len(), "values of {functions} functions at {} points", x.len());
        // Loops of a known length, for the usual order, take a fraction of the time.
        match self.order {
            3 => self.values(x, 3, out),
            order => self.values(x, order, out),
        }
    }

    #[inline(always)]
    fn values(&self, x: &[f32], order: usize, out: &mut [f32]) {
        let functions = self.functions();
        self.for_each_row(x, out, functions, |x, grid, out| {
            out.fill(0.0);
            if let Some(local) = Local::of(x, grid, order) {
                local.within(functions).for_each(|(i, value)| out[i] = value);
            }
        });
    }

    /// The gradient of `x`, to `grad_x [rows, features]`, of [`SplineBasis::forward`], given that of its output.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(&self, x: &[f32], grad_out: &[f32], grad_x: &mut [f32]) {
        let (functions, order) = (self.functions(), self.order);
        assert_eq!(
            x.len() * functions,
            grad_out.len(),
            "values of {functions} functions at {} points",
            x.len()
        );
        match order {
            0 => grad_x.fill(0.0),
            3 => self.slopes(x, 3, grad_out, grad_x),
            order => self.slopes(x, order, grad_out, grad_x),
        }
    }

    #[inline(always)]
    fn slopes(&self, x: &[f32], order: usize, grad_out: &[f32], grad_x: &mut [f32]) {
        let functions = self.functions();
        let features = self.features();
        threads::rows(x.len() / features, features * COST, [grad_x], |range, [slopes]| {
            for (i, slope) in slopes.iter_mut().enumerate() {
                let at = range.start * features + i;
                let (grid, grads) = (self.grid_of(i % features), &grad_out[at * functions..][..functions]);
                *slope = 0.0;
                let Some(below) = Local::of(x[at], grid, order - 1) else { continue };
                // B_(i,k-1) is a part of B_(i,k), rising, and of B_(i-1,k), falling.
                for (i, value) in below.within(functions + 1) {
                    let rate = order as f32 * value / (grid[i + order] - grid[i]);
                    let rising = grads.get(i).copied().unwrap_or(0.0);
                    let falling = i.checked_sub(1).map_or(0.0, |i| grads[i]);
                    *slope += rate * (rising - falling);
                }
            }
        });
    }

    fn grid_of(&self, feature: usize) -> &'a [f32] {
        &self.grid[feature * self.knots..][..self.knots]
    }

    /// Calls `work` with each x, the grid of its feature, and its `width` values of `out`.
    fn for_each_row(
        &self,
        x: &[f32],
        out: &mut [f32],
        width: usize,
        work: impl Fn(f32, &[f32], &mut [f32]) + Sync,
    ) {
        let features = self.features();
        assert!(
            features > 0 && x.len().is_multiple_of(features),
            "{} points of {features} features",
            x.len()
        );
        threads::rows(x.len() / features, features * COST, [out], |range, [out]| {
            let x = &x[range.start * features..range.end * features];
            for (i, (&x, out)) in x.iter().zip(out.chunks_exact_mut(width)).enumerate() {
                work(x, self.grid_of(i % features), out);
            }
        });
    }
}

impl Local {
    /// The functions of this order at `x`; `None` outside of the grid.
    #[inline(always)]
    fn of(x: f32, grid: &[f32], order: usize) -> Option<Self> {
        let last = grid.len() - 1;
        // A count, not a search: it takes no branches.
        let above = grid.iter().map(|&knot| usize::from(knot <= x)).sum::<usize>();
        if above == 0 || above > last {
            return None;
        }
        let interval = above - 1;
        // Those between which the recursion interpolates, `order` on either side of x.
        let mut around = [0.0; 2 * MAX_ORDER];
        let around = &mut around[..2 * order];
        match (interval + 1).checked_sub(order).and_then(|first| grid.get(first..first + 2 * order)) {
            Some(within) => around.copy_from_slice(within),
            // Beyond the grid any knots will do: no function within it depends on them.
            None => around.iter_mut().enumerate().for_each(|(i, knot)| {
                let place = (interval + 1 + i) as isize - order as isize;
                let nearest = place.clamp(0, last as isize);
                *knot = grid[nearest as usize] + (place - nearest) as f32;
            }),
        }
        let mut values = [0.0; MAX_ORDER + 1];
        values[0] = 1.0;
        for k in 1..=order {
            let mut rising = 0.0;
            for r in 0..k {
                let (low, high) = (around[order - k + r], around[order + r]);
                let share = values[r] / (high - low);
                values[r] = rising + (high - x) * share;
                rising = (x - low) * share;
            }
            values[k] = rising;
        }
        Some(Self { first: interval as isize - order as isize, order, values })
    }

    /// Number and value of those that are among the first `functions`.
    fn within(&self, functions: usize) -> impl Iterator<Item = (usize, f32)> {
        let numbered = self.values[..=self.order].iter().enumerate();
        let numbered = numbered.filter_map(|(r, &value)| Some((self.first.checked_add_unsigned(r)?, value)));
        numbered
            .filter_map(move |(i, value)| Some((usize::try_from(i).ok().filter(|&i| i < functions)?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbers;

    /// The recursion of the module's documentation, in double precision.
    fn exact(x: f32, grid: &[f32], i: usize, order: usize) -> f64 {
        let knot = |i: usize| f64::from(grid[i]);
        if order == 0 {
            return f64::from(u8::from(grid[i] <= x && x < grid[i + 1]));
        }
        let x = (f64::from(x), x);
        (x.0 - knot(i)) / (knot(i + order) - knot(i)) * exact(x.1, grid, i, order - 1)
            + (knot(i + order + 1) - x.0) / (knot(i + order + 1) - knot(i + 1))
                * exact(x.1, grid, i + 1, order - 1)
    }

    /// Grids of two features, not evenly spaced.
    fn grids(knots: usize) -> Vec<f32> {
        let steps: Vec<f32> = numbers(2 * knots, 3).iter().map(|x| 0.2 + 0.2 * x.abs()).collect();
        let mut grid = steps.clone();
        for row in grid.chunks_exact_mut(knots) {
            row[0] -= 2.0;
            (1..knots).for_each(|i| row[i] += row[i - 1]);
        }
        grid
    }

    #[test]
    fn spline_functions_are_those_of_the_recursion() {
        for (knots, order) in [(2, 0), (3, 1), (9, 1), (9, 3), (5, 3), (12, 3), (14, 6)] {
            let grid = grids(knots);
            let basis = SplineBasis::new(&grid, knots, order);
            let mut x = numbers(100, 1);
            x.extend([grid[0], grid[knots], grid[knots - 1], grid[2 * knots - 1], -9.0, 9.0]);
            let mut out = vec![9.0; x.len() * basis.functions()];
            basis.forward(&x, &mut out);
            for (i, found) in out.iter().enumerate() {
                let (at, function) = (i / basis.functions(), i % basis.functions());
                let expected = exact(x[at], &grid[at % 2 * knots..][..knots], function, order);
                assert!((f64::from(*found) - expected).abs() < 2e-6, "{found} at {}, not {expected}", x[at]);
            }
        }
    }

    #[test]
    fn spline_slopes_are_those_of_the_recursion() {
        for (knots, order) in [(2, 0), (3, 1), (9, 3), (5, 3), (12, 2), (14, 6)] {
            let grid = grids(knots);
            let basis = SplineBasis::new(&grid, knots, order);
            let x = numbers(100, 2);
            let grads = numbers(100 * basis.functions(), 4);
            let mut found = vec![9.0; 100];
            basis.backward(&x, &grads, &mut found);
            for (at, (&x, found)) in x.iter().zip(found).enumerate() {
                let grid = &grid[at % 2 * knots..][..knots];
                let slope = |i: usize| {
                    let rate = |i: usize| match order {
                        0 => 0.0,
                        _ => {
                            order as f64 / f64::from(grid[i + order] - grid[i]) * exact(x, grid, i, order - 1)
                        }
                    };
                    rate(i) - if order > 0 { rate(i + 1) } else { 0.0 }
                };
                let own = &grads[at * basis.functions()..][..basis.functions()];
                let expected: f64 = own.iter().enumerate().map(|(i, &g)| f64::from(g) * slope(i)).sum();
                assert!((f64::from(found) - expected).abs() < 1e-4, "{found} at {x}, not {expected}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a grid of 4 knots, 4 a feature, for splines of order 3")]
    fn a_function_needs_its_knots() {
        SplineBasis::new(&[0.0, 1.0, 2.0, 3.0], 4, 3);
    }
}
