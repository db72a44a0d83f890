//! Quantiles of a lopsided distribution whose mean is known, so that its samples have this mean.

use statrs::distribution::{Continuous as _, ContinuousCDF as _, Normal};

/// How far beyond the last quantile the end of the distribution is set, in deviations of a normal distribution.
const BEYOND: f64 = 0.5;

/// Numbers that differ by less, relative to the distance of the quantiles, are the same.
const SAME: f64 = 1e-6;

/// Quantiles of probabilities that rise, of cells each: `[probability][cell]`.
pub type KnownQuantiles = (Vec<f64>, Vec<Vec<f64>>);

/// Quantiles with more above the median: one in the middle of each two known ones, and one beyond the last. Where a cell's number is not its
/// median it is a mean, and these are set so that samples have this mean, as near as can be, by one number: how much of the way from each known
/// quantile to the next is gone at the middle. In other cells it is half the way, which changes nothing. So sums of rare demand, which is 0 at
/// most steps, are neither those of medians nor of normal distributions between 0 and what is sold at once. Unchanged without a median
/// between others, and where each number is the median.
pub fn with_means(number: &[f64], (known_at, values): KnownQuantiles) -> KnownQuantiles {
    let Some(median) = known_at.iter().position(|q| (q - 0.5).abs() < 1e-9) else {
        return (known_at, values);
    };
    let last = known_at.len() - 1;
    let is_mean = |cell: usize| {
        let width = values[last][cell] - values[0][cell];
        (number[cell] - values[median][cell]).abs() > SAME * width.abs()
    };
    let has_means = (0..number.len()).any(|cell| number[cell].is_finite() && is_mean(cell));
    let normal = Normal::standard();
    let at: Vec<f64> = known_at.iter().map(|q| normal.inverse_cdf(*q)).collect();
    let far = at[last] + BEYOND;
    if median == 0 || median == last || normal.cdf(far) >= 1.0 || !has_means {
        return (known_at, values);
    }
    // With what is added between and beyond: the middle of each two from the median on, and the end.
    let with_added = |known: &[f64], middle: &dyn Fn(usize) -> f64, end: f64| -> Vec<f64> {
        let above = (median..last).flat_map(|place| [known[place], middle(place)]);
        known[..median].iter().copied().chain(above).chain([known[last], end]).collect()
    };
    let points_at = with_added(&at, &|place| (at[place] + at[place + 1]) / 2.0, far);
    let known_at =
        with_added(&known_at, &|place| normal.cdf((at[place] + at[place + 1]) / 2.0), normal.cdf(far));
    let mut found = vec![Vec::new(); known_at.len()];
    for (cell, number) in number.iter().enumerate() {
        let mut known: Vec<f64> = values.iter().map(|values| values[cell]).collect();
        known.sort_unstable_by(f64::total_cmp);
        // At 0 all comes late, and there is nothing beyond the last quantile.
        let of = |rise: f64| {
            let slope = 2.0 * rise * (known[last] - known[last - 1]) / (at[last] - at[last - 1]);
            let middle = |place: usize| known[place] + rise * (known[place + 1] - known[place]);
            with_added(&known, &middle, known[last] + slope * BEYOND)
        };
        let mean =
            |rise: f64| mean_of_lines(&points_at.iter().copied().zip(of(rise)).collect::<Vec<(f64, f64)>>());
        // Each value, and so the mean, is linear in the rise.
        let (least, most) = (mean(0.0), mean(1.0));
        let rise = (number - least) / (most - least);
        let rise = if is_mean(cell) && rise.is_finite() { rise.clamp(0.0, 1.0) } else { 0.5 };
        found.iter_mut().zip(of(rise)).for_each(|(found, value)| found.push(value));
    }
    (known_at, found)
}

/// The mean of a standard normal variable that is mapped by these points and the lines between them and beyond the outermost.
fn mean_of_lines(points: &[(f64, f64)]) -> f64 {
    let normal = Normal::standard();
    let ends = |z: f64| {
        if z.is_finite() { [normal.cdf(z), normal.pdf(z)] } else { [f64::from(u8::from(z > 0.0)), 0.0] }
    };
    let lines = points.windows(2).enumerate().map(|(place, pair)| {
        let from = if place == 0 { f64::NEG_INFINITY } else { pair[0].0 };
        let to = if place + 2 == points.len() { f64::INFINITY } else { pair[1].0 };
        let slope = (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
        let [[below, density_below], [above, density_above]] = [ends(from), ends(to)];
        (pair[0].1 - slope * pair[0].0) * (above - below) + slope * (density_below - density_above)
    });
    lines.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean((known_at, values): &KnownQuantiles, cell: usize) -> f64 {
        let normal = Normal::standard();
        let points = known_at.iter().zip(values).map(|(q, values)| (normal.inverse_cdf(*q), values[cell]));
        mean_of_lines(&points.collect::<Vec<_>>())
    }

    #[test]
    fn the_mean_of_a_normal_distribution_is_its_median() {
        let normal = (vec![0.1, 0.5, 0.9], vec![vec![3.0], vec![5.0], vec![7.0]]);
        assert!((mean(&normal, 0) - 5.0).abs() < 1e-12);
        assert_eq!(with_means(&[5.0], normal.clone()), normal);
    }

    #[test]
    fn samples_of_rare_demand_have_its_mean() {
        // Rare demand, one that is sold at most steps, and one whose mean no shape has.
        let quantiles =
            (vec![0.1, 0.5, 0.9], vec![vec![0.0, 2.0, 0.0], vec![0.0, 5.0, 0.0], vec![5.0, 8.0, 5.0]]);
        assert!((mean(&quantiles, 0) - 1.56).abs() < 0.01, "half as much again");
        let found = with_means(&[0.98, 5.0, 0.1], quantiles);
        assert_eq!(found.0.len(), 5);
        assert!((mean(&found, 0) - 0.98).abs() < 1e-9 && (mean(&found, 1) - 5.0).abs() < 1e-9);
        // The known ones stay, and what is between and beyond rises.
        assert_eq!((found.1[0][0], found.1[1][0], found.1[3][0]), (0.0, 0.0, 5.0));
        assert!((0..3).all(|cell| found.1.windows(2).all(|pair| pair[0][cell] <= pair[1][cell])));
        // There is nothing beyond the largest where even that is too much.
        assert_eq!((found.1[2][2], found.1[4][2]), (0.0, 5.0));
    }

    #[test]
    fn samples_have_the_mean_whatever_levels_there_are() {
        let normal = Normal::standard();
        // Poisson demand of 1.2 has these quantiles.
        let poisson = |q: f64| {
            let (mut value, mut chance) = (0.0, (-1.2_f64).exp());
            let mut below = chance;
            while below < q {
                value += 1.0;
                chance *= 1.2 / value;
                below += chance;
            }
            value
        };
        for levels in [&[80.0][..], &[95.0, 80.0], &[99.9], &[99.9, 50.0]] {
            let low = levels.iter().map(|level| 0.5 - level / 200.0);
            let high = levels.iter().rev().map(|level| 0.5 + level / 200.0);
            let known_at: Vec<f64> = low.chain([0.5]).chain(high).collect();
            let known = known_at.iter().map(|q| vec![poisson(*q)]).collect();
            let found = with_means(&[1.2], (known_at, known));
            assert!((mean(&found, 0) - 1.2).abs() < 1e-9, "{levels:?}: {}", mean(&found, 0));
            assert!(found.1.windows(2).all(|pair| pair[0][0] <= pair[1][0]), "{found:?}");
            // Two above the median: the middle between them is halfway in deviations.
            let middle = 2.0 * normal.inverse_cdf(found.0[found.0.len() - 3]);
            let around =
                [found.0.len() - 2, found.0.len() - 4].map(|place| normal.inverse_cdf(found.0[place]));
            assert!((middle - around[0] - around[1]).abs() < 1e-9);
        }
    }
}
