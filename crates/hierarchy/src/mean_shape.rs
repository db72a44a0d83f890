//! Quantiles of a lopsided distribution whose mean is known, so that its samples have this mean.

use statrs::distribution::{Continuous as _, ContinuousCDF as _, Normal};

/// Beyond the outermost quantile, where the end of the distribution is set.
const FAR: f64 = 0.999;

/// Numbers that differ by less, relative to the distance of the quantiles, are the same.
const SAME: f64 = 1e-6;

/// Quantiles of probabilities that rise, of cells each: `[probability][cell]`.
pub type KnownQuantiles = (Vec<f64>, Vec<Vec<f64>>);

/// Quantiles with two more above: between the last two known ones, and beyond the last. Where a cell's number is not its median it is a mean, and
/// these are set so that samples have this mean, as near as can be; else they lie on the lines that the others make. So sums of rare demand, which is 0
/// at most steps, are neither those of medians nor of normal distributions between 0 and what is sold at once. Unchanged without a median
/// between others, and where no number is another.
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
    if median == 0 || median == last || known_at[last] > FAR - SAME || !has_means {
        return (known_at, values);
    }
    let normal = Normal::standard();
    let at: Vec<f64> = known_at.iter().map(|q| normal.inverse_cdf(*q)).collect();
    let [below, above, far] = [at[last - 1], at[last], normal.inverse_cdf(FAR)];
    let knot = (below + above) / 2.0;
    let mut known_at = known_at;
    known_at.insert(last, normal.cdf(knot));
    known_at.push(FAR);
    let (mut at_knot, mut at_far) = (Vec::new(), Vec::new());
    for (cell, number) in number.iter().enumerate() {
        let mut known: Vec<f64> = values.iter().map(|values| values[cell]).collect();
        known.sort_unstable_by(f64::total_cmp);
        let (low, high) = (known[last - 1], known[last]);
        // At half the rise is a line, as before; at 0 it comes late, and there is nothing beyond the last quantile.
        let of = |rise: f64| {
            let slope = 2.0 * rise * (high - low) / (above - below);
            [low + rise * (high - low), high + slope * (far - above)]
        };
        let mean = |rise: f64| {
            let [knotted, end] = of(rise);
            let mut points: Vec<(f64, f64)> = at.iter().copied().zip(known.iter().copied()).collect();
            points.insert(last, (knot, knotted));
            points.push((far, end));
            mean_of_lines(&points)
        };
        // The mean rises in proportion.
        let (least, most) = (mean(0.0), mean(1.0));
        let rise = (number - least) / (most - least);
        let rise = if is_mean(cell) && rise.is_finite() { rise.clamp(0.0, 1.0) } else { 0.5 };
        let [knotted, end] = of(rise);
        at_knot.push(knotted);
        at_far.push(end);
    }
    let mut values = values;
    values.insert(last, at_knot);
    values.push(at_far);
    (known_at, values)
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
}
