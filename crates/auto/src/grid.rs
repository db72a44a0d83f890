//! The quantiles that all members are combined at, and others between them.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// The quantiles that members forecast and that are averaged.
pub const QUANTILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// How many there are.
pub(crate) const WIDTH: usize = QUANTILES.len();

/// The place of the median among them.
pub(crate) const MEDIAN: usize = WIDTH / 2;

/// The value of a quantile between those of the grid: on the line through the two next to it, over the quantiles of the normal
/// distribution.
pub(crate) fn value_at(grid: &[f32], q: f64) -> f32 {
    if let Some(place) = QUANTILES.iter().position(|known| (known - q).abs() < 1e-9) {
        return grid[place];
    }
    let normal = Normal::standard();
    let above = QUANTILES.partition_point(|known| *known < q).clamp(1, WIDTH - 1);
    let [low, high, at] =
        [QUANTILES[above - 1], QUANTILES[above], q].map(|q| normal.inverse_cdf(q.clamp(1e-9, 1.0 - 1e-9)));
    let [from, to] = [grid[above - 1], grid[above]].map(f64::from);
    (from + (to - from) * (at - low) / (high - low)) as f32
}

/// Sorts the quantiles of each step.
pub(crate) fn sort_steps(values: &mut [f32]) {
    values.chunks_exact_mut(WIDTH).for_each(|step| step.sort_unstable_by(f32::total_cmp));
}

/// Twice the mean pinball loss of the quantiles of a step.
pub(crate) fn pinball(grid: &[f32], y: f64) -> f64 {
    let loss = |(q, &value): (&f64, &f32)| {
        let over = y - f64::from(value);
        if over >= 0.0 { q * over } else { (q - 1.0) * over }
    };
    2.0 * QUANTILES.iter().zip(grid).map(loss).sum::<f64>() / WIDTH as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_between_those_of_the_grid_are_those_of_a_normal_forecast() {
        let normal = Normal::new(10.0, 2.0).unwrap();
        let grid = QUANTILES.map(|q| normal.inverse_cdf(q) as f32);
        for q in [0.1, 0.15, 0.5, 0.77, 0.9] {
            assert!((f64::from(value_at(&grid, q)) - normal.inverse_cdf(q)).abs() < 1e-4, "{q}");
        }
    }

    #[test]
    fn pinball_loss_of_a_single_number_is_its_absolute_error() {
        assert!((pinball(&[3.0; WIDTH], 5.0) - 2.0).abs() < 1e-12);
        let mut steps: Vec<f32> = (0..18).map(|i| -(i as f32)).collect();
        sort_steps(&mut steps);
        assert_eq!((steps[0], steps[8], steps[9]), (-8.0, 0.0, -17.0));
    }
}
